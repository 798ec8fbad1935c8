//! What is attached to instructions: numbers as metadata, and debug information.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::Value;

unsafe extern "C" {
    fn plx_variable_name(alloca: LLVMValueRef, length: *mut usize) -> *const std::ffi::c_char;
    fn plx_global_place(global: LLVMValueRef, line: *mut u32) -> LLVMMetadataRef;
}

impl Value {
    /// The source's name of a variable on the stack; empty if it has none.
    pub fn variable_name(self) -> String {
        unsafe {
            let mut length = 0;
            let bytes = plx_variable_name(self.0, &mut length);
            if bytes.is_null() {
                return String::new();
            }
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
            String::from_utf8_lossy(bytes).into_owned()
        }
    }

    /// File and line of a global variable's definition.
    pub fn global_place(self) -> Option<((String, String), u32)> {
        unsafe {
            let mut line = 0;
            let file = plx_global_place(self.0, &mut line);
            Some((scope_file(file)?, line))
        }
    }

    pub fn set_number(self, kind: u32, number: u64) {
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let constant = LLVMConstInt(LLVMInt64TypeInContext(context), number, 0);
            let mut operand = LLVMValueAsMetadata(constant);
            let node = LLVMMDNodeInContext2(context, &mut operand, 1);
            LLVMSetMetadata(self.0, kind, LLVMMetadataAsValue(context, node));
        }
    }

    pub fn number(self, kind: u32) -> Option<u64> {
        unsafe {
            let node = LLVMGetMetadata(self.0, kind);
            if node.is_null() {
                return None;
            }
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(node, &mut operand);
            Some(LLVMConstIntGetZExtValue(operand))
        }
    }

    /// Source line and column of an instruction; 0 if unknown.
    pub fn line(self) -> (u32, u32) {
        unsafe {
            let location = llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(self.0);
            if location.is_null() {
                return (0, 0);
            }
            (
                llvm_sys::debuginfo::LLVMDILocationGetLine(location),
                llvm_sys::debuginfo::LLVMDILocationGetColumn(location),
            )
        }
    }

    /// File of an instruction's location: directory and name.
    pub fn file(self) -> Option<(String, String)> {
        unsafe {
            let location = llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(self.0);
            if location.is_null() {
                return None;
            }
            let scope = llvm_sys::debuginfo::LLVMDILocationGetScope(location);
            scope_file(scope)
        }
    }

    /// File and line of a function's definition.
    pub fn subprogram(self) -> Option<((String, String), u32)> {
        unsafe {
            let subprogram = llvm_sys::debuginfo::LLVMGetSubprogram(self.0);
            if subprogram.is_null() {
                return None;
            }
            let line = llvm_sys::debuginfo::LLVMDISubprogramGetLine(subprogram);
            Some((scope_file(subprogram)?, line))
        }
    }
}

/// Directory and name of a debug scope's file.
unsafe fn scope_file(scope: LLVMMetadataRef) -> Option<(String, String)> {
    unsafe {
        if scope.is_null() {
            return None;
        }
        let file = llvm_sys::debuginfo::LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return None;
        }
        let read =
            |get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const std::ffi::c_char| {
                let mut length = 0;
                let bytes = get(file, &mut length);
                if bytes.is_null() {
                    return String::new();
                }
                let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
                String::from_utf8_lossy(bytes).into_owned()
            };
        Some((
            read(llvm_sys::debuginfo::LLVMDIFileGetDirectory),
            read(llvm_sys::debuginfo::LLVMDIFileGetFilename),
        ))
    }
}
