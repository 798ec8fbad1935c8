// What the pass needs of LLVM and its C interface does not offer.

#include "llvm-c/Core.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

extern "C" {

// Splits the block before the instruction; gives the new block, which starts with it.
LLVMBasicBlockRef plx_split_before(LLVMValueRef inst) {
  Instruction *I = cast<Instruction>(unwrap(inst));
  return wrap(I->getParent()->splitBasicBlock(I->getIterator(), I->getParent()->getName()));
}

// Replaces one predecessor of a phi.
void plx_set_incoming_block(LLVMValueRef phi, unsigned index, LLVMBasicBlockRef block) {
  cast<PHINode>(unwrap(phi))->setIncomingBlock(index, unwrap(block));
}

// Whether the call may return a second time (setjmp).
LLVMBool plx_returns_twice(LLVMValueRef call) {
  return cast<CallBase>(unwrap(call))->hasFnAttr(Attribute::ReturnsTwice);
}

// Forgets poison-generating flags and metadata: a traced program computes what
// the machine computes, also where C leaves the result open.
void plx_drop_poison_flags(LLVMValueRef inst) {
  Instruction *I = cast<Instruction>(unwrap(inst));
  I->dropPoisonGeneratingFlags();
  I->dropPoisonGeneratingMetadata();
}

// Removes every attribute of function and results that promises something about memory,
// termination or values and is no longer true once the code is traced.
void plx_relax_function(LLVMValueRef fn) {
  Function *F = cast<Function>(unwrap(fn));
  for (Attribute::AttrKind K :
       {Attribute::Memory, Attribute::Speculatable, Attribute::WillReturn, Attribute::NoSync,
        Attribute::NoRecurse, Attribute::NoFree, Attribute::MustProgress, Attribute::NoCallback,
        Attribute::OptimizeNone, Attribute::AllocKind, Attribute::AllocSize, Attribute::Convergent})
    F->removeFnAttr(K);
  F->removeFnAttr("alloc-family");
  for (unsigned I = 0; I < F->arg_size(); ++I)
    for (Attribute::AttrKind K : {Attribute::ReadOnly, Attribute::ReadNone, Attribute::WriteOnly,
                                  Attribute::NoUndef, Attribute::Returned, Attribute::NoCapture,
                                  Attribute::NoAlias, Attribute::Writable, Attribute::DeadOnUnwind})
      F->removeParamAttr(I, K);
  F->removeRetAttr(Attribute::NoUndef);
  F->removeRetAttr(Attribute::NoAlias);
  F->removeRetAttr(Attribute::Range);
}

// The same for one call.
void plx_relax_call(LLVMValueRef call) {
  CallBase *C = cast<CallBase>(unwrap(call));
  for (Attribute::AttrKind K :
       {Attribute::Memory, Attribute::Speculatable, Attribute::WillReturn, Attribute::NoSync,
        Attribute::NoFree, Attribute::NoCallback, Attribute::AllocKind, Attribute::AllocSize,
        Attribute::Convergent, Attribute::NoMerge, Attribute::Builtin})
    C->removeFnAttr(K);
  C->removeFnAttr("alloc-family");
  for (unsigned I = 0; I < C->arg_size(); ++I)
    for (Attribute::AttrKind K : {Attribute::ReadOnly, Attribute::ReadNone, Attribute::WriteOnly,
                                  Attribute::NoUndef, Attribute::Returned, Attribute::NoCapture,
                                  Attribute::NoAlias})
      C->removeParamAttr(I, K);
  C->removeRetAttr(Attribute::NoUndef);
  C->removeRetAttr(Attribute::NoAlias);
  C->removeRetAttr(Attribute::Range);
}

// Replaces a call by the callee's body. False if that is not possible; then nothing changed.
LLVMBool plx_inline(LLVMValueRef call) {
  InlineFunctionInfo Info;
  return InlineFunction(*cast<CallBase>(unwrap(call)), Info).isSuccess();
}

// Whether any memory access of the instruction is volatile or atomic.
LLVMBool plx_is_ordered(LLVMValueRef inst) {
  Instruction *I = cast<Instruction>(unwrap(inst));
  return I->isVolatile() || I->isAtomic();
}

// What an address constant is an offset from; the offset in bytes goes to `offset`.
LLVMValueRef plx_constant_base(LLVMModuleRef module, LLVMValueRef constant, int64_t *offset) {
  const DataLayout &Layout = unwrap(module)->getDataLayout();
  Value *V = unwrap(constant);
  APInt Sum(Layout.getIndexTypeSizeInBits(V->getType()), 0);
  Value *Base = V->stripAndAccumulateConstantOffsets(Layout, Sum, /*AllowNonInbounds=*/true);
  *offset = Sum.getSExtValue();
  return wrap(Base);
}

// Name of the source's variable that lives at an address on the stack; null if it has none.
const char *plx_variable_name(LLVMValueRef alloca, size_t *length) {
  DILocalVariable *Variable = nullptr;
  for (DbgDeclareInst *Declare : findDbgDeclares(unwrap(alloca)))
    Variable = Declare->getVariable();
  for (DbgVariableRecord *Declare : findDVRDeclares(unwrap(alloca)))
    Variable = Declare->getVariable();
  if (!Variable)
    return nullptr;
  *length = Variable->getName().size();
  return Variable->getName().data();
}

// Debug scope (with a file) and line of a global variable; null if there is none.
LLVMMetadataRef plx_global_place(LLVMValueRef global, unsigned *line) {
  SmallVector<DIGlobalVariableExpression *, 1> Expressions;
  cast<GlobalVariable>(unwrap(global))->getDebugInfo(Expressions);
  for (DIGlobalVariableExpression *Expression : Expressions) {
    *line = Expression->getVariable()->getLine();
    return wrap(Expression->getVariable()->getFile());
  }
  return nullptr;
}
}
