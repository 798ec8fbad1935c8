//! Marks functions for AddressSanitizer.

use crate::module::{attribute_kind, functions};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMModuleRef;

/// Adds `sanitize_address` to every function with a body. clang adds the sanitizer's
/// pass when `-fsanitize=address` is given, but the pass skips functions that the front end
/// did not mark.
///
/// # Safety
/// `module` must be a valid module that nobody else uses during the call.
pub unsafe fn mark(module: LLVMModuleRef) {
    // Safety: the caller's promise; attributes belong to the module's context.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let sanitize = LLVMCreateEnumAttribute(context, attribute_kind("sanitize_address"), 0);
        let unwanted = attribute_kind("disable_sanitizer_instrumentation");
        for function in functions(module) {
            let index = llvm_sys::LLVMAttributeFunctionIndex;
            let excluded = !LLVMGetEnumAttributeAtIndex(function, index, unwanted).is_null();
            if LLVMIsDeclaration(function) == 0 && !excluded {
                LLVMAddAttributeAtIndex(function, index, sanitize);
            }
        }
    }
}
