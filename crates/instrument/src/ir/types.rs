//! Types.

use std::ffi::CStr;

use llvm_sys::core::*;

use super::{LLVMTypeKind, Type, Value};

impl Type {
    pub fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    pub fn int_width(self) -> u32 {
        if self.kind() == LLVMTypeKind::LLVMIntegerTypeKind {
            unsafe { LLVMGetIntTypeWidth(self.0) }
        } else {
            0
        }
    }

    pub fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// What functions of this type return.
    pub fn result(self) -> Type {
        Type(unsafe { LLVMGetReturnType(self.0) })
    }

    pub fn parameter_count(self) -> u32 {
        unsafe { LLVMCountParamTypes(self.0) }
    }

    pub fn parameters(self) -> Vec<Type> {
        let mut types = vec![std::ptr::null_mut(); self.parameter_count() as usize];
        unsafe { LLVMGetParamTypes(self.0, types.as_mut_ptr()) };
        types.into_iter().map(Type).collect()
    }

    /// As in the source (`struct.option`); empty for nameless structures.
    pub fn struct_name(self) -> String {
        unsafe {
            let name = LLVMGetStructName(self.0);
            if name.is_null() {
                return String::new();
            }
            CStr::from_ptr(name).to_string_lossy().into_owned()
        }
    }

    pub fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    pub fn struct_fields(self) -> Vec<Type> {
        let count = unsafe { LLVMCountStructElementTypes(self.0) };
        (0..count)
            .map(|index| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, index) }))
            .collect()
    }

    pub fn element(self) -> Type {
        Type(unsafe { LLVMGetElementType(self.0) })
    }

    pub fn array_length(self) -> u64 {
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    pub fn null(self) -> Value {
        Value(unsafe { LLVMConstNull(self.0) })
    }
}
