//! Tells the runtime the bounds of the module's global variables.

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use parallax_abi::entry;

use crate::ir::Value;
use crate::module::Module;

/// Adds a table of `entry::Global` and a constructor that registers it.
pub fn register(module: &Module, globals: &[Value]) {
    let globals: Vec<Value> = globals
        .iter()
        .copied()
        .filter(|global| wanted(module, *global))
        .collect();
    if globals.is_empty() {
        return;
    }
    let record = module.structure(&[module.ptr, module.i64, module.ptr]);
    unsafe {
        let mut records: Vec<_> = globals
            .iter()
            .map(|global| {
                let size = module.alloc_size(global.function_type());
                let mut fields = [
                    global.0,
                    module.n64(size).0,
                    module.string(&global.name()).0,
                ];
                LLVMConstStructInContext(module.context, fields.as_mut_ptr(), 3, 0)
            })
            .collect();
        let count = records.len();
        let array = LLVMConstArray2(record.0, records.as_mut_ptr(), count as u64);
        let table = LLVMAddGlobal(module.raw, LLVMTypeOf(array), c"plx.globals".as_ptr());
        LLVMSetInitializer(table, array);
        LLVMSetLinkage(table, LLVMLinkage::LLVMPrivateLinkage);

        let register = module.function(entry::MODULE.name).expect("linked in");
        module.add_constructor_calling(register, &[Value(table), module.n64(count as u64)]);
    }
}

/// Defined here, with an address and a size that hold for the whole run.
fn wanted(module: &Module, global: Value) -> bool {
    let name = global.name();
    let section = unsafe {
        let section = LLVMGetSection(global.0);
        !section.is_null() && *section != 0
    };
    !global.is_declaration()
        && !name.starts_with("llvm.")
        && !name.starts_with("plx.")
        && !section
        && unsafe { LLVMIsThreadLocal(global.0) } == 0
        && global.linkage() != LLVMLinkage::LLVMAvailableExternallyLinkage
        && module.is_sized(global.function_type())
        && module.alloc_size(global.function_type()) > 0
}
