//! What constants consist of.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::{LLVMOpcode, Value, some_value};

unsafe extern "C" {
    fn plx_constant_base(
        module: LLVMModuleRef,
        constant: LLVMValueRef,
        offset: *mut i64,
    ) -> LLVMValueRef;
}

impl Value {
    /// The constant that an address constant is an offset from, and the offset in bytes.
    pub fn constant_base(self, module: LLVMModuleRef) -> (Value, i64) {
        let mut offset = 0;
        let base = unsafe { plx_constant_base(module, self.0, &mut offset) };
        (Value(base), offset)
    }

    /// What a global variable holds at first.
    pub fn initializer(self) -> Option<Value> {
        some_value(unsafe { LLVMGetInitializer(self.0) })
    }

    pub fn is_null_pointer(self) -> bool {
        unsafe { !LLVMIsAConstantPointerNull(self.0).is_null() }
    }

    pub fn is_constant_expression(self) -> bool {
        unsafe { !LLVMIsAConstantExpr(self.0).is_null() }
    }

    /// Opcode of a constant expression.
    pub fn constant_opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetConstOpcode(self.0) }
    }

    /// What an alias stands for.
    pub fn aliased(self) -> Option<Value> {
        unsafe {
            if LLVMIsAGlobalAlias(self.0).is_null() {
                return None;
            }
            some_value(LLVMAliasGetAliasee(self.0))
        }
    }

    /// Whether a constant array keeps its elements as plain data, not as operands.
    pub fn is_data_sequence(self) -> bool {
        unsafe { !LLVMIsAConstantDataSequential(self.0).is_null() }
    }

    /// The bytes of a constant that is an array of bytes kept as plain data.
    pub fn text(self) -> Option<Vec<u8>> {
        unsafe {
            if !self.is_data_sequence() || LLVMIsConstantString(self.0) == 0 {
                return None;
            }
            let mut length = 0;
            let bytes = LLVMGetAsString(self.0, &mut length);
            Some(std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec())
        }
    }

    pub fn data_element(self, index: u32) -> Value {
        Value(unsafe { LLVMGetAggregateElement(self.0, index) })
    }
}
