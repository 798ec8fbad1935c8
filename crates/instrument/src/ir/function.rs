//! Functions: parameters, blocks, attributes, linkage.

use llvm_sys::core::*;

use super::{Block, Type, Value, attribute, c_string, plx_relax_function};

impl Value {
    pub fn function_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    pub fn intrinsic_name(self) -> Option<String> {
        self.is_function()
            .then(|| self.name())
            .filter(|name| name.starts_with("llvm."))
    }

    pub fn parameters(self) -> Vec<Value> {
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count)
            .map(|index| Value(unsafe { LLVMGetParam(self.0, index) }))
            .collect()
    }

    pub fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        unsafe {
            let mut at = LLVMGetFirstBasicBlock(self.0);
            while !at.is_null() {
                blocks.push(Block(at));
                at = LLVMGetNextBasicBlock(at);
            }
        }
        blocks
    }

    pub fn append_block(self, name: &str) -> Block {
        let name = c_string(name);
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            Block(LLVMAppendBasicBlockInContext(
                context,
                self.0,
                name.as_ptr(),
            ))
        }
    }

    pub fn relax_function(self) {
        unsafe { plx_relax_function(self.0) }
    }

    pub fn has_attribute(self, kind: &str) -> bool {
        unsafe {
            !LLVMGetEnumAttributeAtIndex(
                self.0,
                llvm_sys::LLVMAttributeFunctionIndex,
                attribute(kind),
            )
            .is_null()
        }
    }

    pub fn add_attribute(self, kind: &str) {
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute(kind), 0);
            LLVMAddAttributeAtIndex(self.0, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Gives this function what another one has of attributes of the whole function: target
    /// features, stack protection, rounding …
    pub fn copy_function_attributes(self, other: Value) {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        unsafe {
            let count = LLVMGetAttributeCountAtIndex(other.0, index) as usize;
            let mut attributes = vec![std::ptr::null_mut(); count];
            LLVMGetAttributesAtIndex(other.0, index, attributes.as_mut_ptr());
            for attribute in attributes {
                LLVMAddAttributeAtIndex(self.0, index, attribute);
            }
        }
    }

    pub fn remove_attribute(self, kind: &str) {
        unsafe {
            LLVMRemoveEnumAttributeAtIndex(
                self.0,
                llvm_sys::LLVMAttributeFunctionIndex,
                attribute(kind),
            )
        }
    }

    pub fn add_string_attribute(self, key: &str, value: &str) {
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateStringAttribute(
                context,
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.0, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    pub fn parameter_type_attribute(self, parameter: u32, kind: &str) -> Option<Type> {
        unsafe {
            let attribute = LLVMGetEnumAttributeAtIndex(self.0, parameter + 1, attribute(kind));
            (!attribute.is_null()).then(|| Type(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    pub fn linkage(self) -> llvm_sys::LLVMLinkage {
        unsafe { LLVMGetLinkage(self.0) }
    }

    pub fn set_linkage(self, linkage: llvm_sys::LLVMLinkage) {
        unsafe { LLVMSetLinkage(self.0, linkage) }
    }
}
