// The part of the plug-in that needs LLVM's C++ interface: the C interface can
// neither register a pass with clang's pass builder nor report an error.

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"

extern "C" {
// Does the work; returns an error message to be released with
// parallax_release_message, or null.
char *parallax_run(llvm::Module *module);
void parallax_release_message(char *message);
void parallax_register(llvm::PassBuilder *builder);
}

namespace {

struct ParallaxPass : llvm::PassInfoMixin<ParallaxPass> {
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
    if (char *message = parallax_run(&module)) {
      module.getContext().emitError(message);
      parallax_release_message(message);
    }
    return llvm::PreservedAnalyses::none();
  }

  // Runs at every optimisation level and whatever the functions' attributes say.
  static bool isRequired() { return true; }
};

} // namespace

void parallax_register(llvm::PassBuilder *builder) {
  builder->registerPipelineStartEPCallback(
      [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(ParallaxPass());
      });
}
