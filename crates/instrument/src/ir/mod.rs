//! A thin layer over LLVM's C interface: copyable handles with the few methods that the
//! pass needs.
//!
//! inkwell's typed values do not fit a pass that walks over arbitrary
//! instructions, so the raw interface is wrapped here, and only here is it called. A handle is valid as long as the
//! module is and the thing it names has not been erased; the pass erases nothing that it
//! still holds.

mod builder;
mod constant;
mod debug;
mod function;
mod types;

use std::ffi::{CStr, CString};

pub use builder::Builder;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
pub use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

unsafe extern "C" {
    fn plx_split_before(inst: LLVMValueRef) -> LLVMBasicBlockRef;
    fn plx_set_incoming_block(phi: LLVMValueRef, index: u32, block: LLVMBasicBlockRef);
    fn plx_returns_twice(call: LLVMValueRef) -> i32;
    fn plx_drop_poison_flags(inst: LLVMValueRef);
    fn plx_relax_function(function: LLVMValueRef);
    fn plx_relax_call(call: LLVMValueRef);
    fn plx_is_ordered(inst: LLVMValueRef) -> i32;
    fn plx_inline(call: LLVMValueRef) -> i32;
}

/// Any value: constant, argument, instruction, function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub LLVMValueRef);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub LLVMTypeRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block(pub LLVMBasicBlockRef);

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("no NUL is left")
}

fn some_value(value: LLVMValueRef) -> Option<Value> {
    (!value.is_null()).then_some(Value(value))
}

impl Value {
    pub fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub fn name(self) -> String {
        let mut length = 0;
        unsafe {
            let bytes = LLVMGetValueName2(self.0, &mut length);
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
            String::from_utf8_lossy(bytes).into_owned()
        }
    }

    pub fn set_name(self, name: &str) {
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) };
    }

    pub fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    pub fn is_instruction(self) -> bool {
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    pub fn is_function(self) -> bool {
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    pub fn is_argument(self) -> bool {
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    pub fn is_inline_asm(self) -> bool {
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    pub fn is_block_address(self) -> bool {
        unsafe { !LLVMIsABlockAddress(self.0).is_null() }
    }

    /// Value of a constant integer of at most 64 bits.
    pub fn constant_int(self) -> Option<u64> {
        unsafe {
            if LLVMIsAConstantInt(self.0).is_null() || self.ty().int_width() > 64 {
                return None;
            }
            Some(LLVMConstIntGetZExtValue(self.0))
        }
    }

    /// Sign-extended value of a constant integer of at most 64 bits.
    pub fn constant_signed(self) -> Option<i64> {
        self.constant_int()?;
        Some(unsafe { LLVMConstIntGetSExtValue(self.0) })
    }

    pub fn is_global_constant(self) -> bool {
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() && LLVMIsGlobalConstant(self.0) != 0 }
    }

    pub fn opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub fn operand_count(self) -> u32 {
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }

    pub fn operand(self, index: u32) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    pub fn set_operand(self, index: u32, value: Value) {
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    pub fn parent(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    pub fn next(self) -> Option<Value> {
        some_value(unsafe { LLVMGetNextInstruction(self.0) })
    }

    pub fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    pub fn clone_instruction(self) -> Value {
        Value(unsafe { LLVMInstructionClone(self.0) })
    }

    pub fn replace_uses(self, with: Value) {
        unsafe { LLVMReplaceAllUsesWith(self.0, with.0) }
    }

    /// The instructions (or constants) that use this value, one entry per use.
    pub fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        unsafe {
            let mut at = LLVMGetFirstUse(self.0);
            while !at.is_null() {
                users.push(Value(LLVMGetUser(at)));
                at = LLVMGetNextUse(at);
            }
        }
        users
    }

    pub fn int_predicate(self) -> LLVMIntPredicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    /// Number of the floating-point predicate, 0 to 15.
    pub fn real_predicate(self) -> u32 {
        unsafe { LLVMGetFCmpPredicate(self.0) as u32 }
    }

    pub fn no_signed_wrap(self) -> bool {
        unsafe { LLVMGetNSW(self.0) != 0 }
    }

    pub fn drop_poison_flags(self) {
        unsafe { plx_drop_poison_flags(self.0) }
    }

    /// Whether the instruction is a volatile or atomic access to memory.
    pub fn is_ordered(self) -> bool {
        unsafe { plx_is_ordered(self.0) != 0 }
    }

    pub fn allocated_type(self) -> Type {
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    pub fn gep_source_type(self) -> Type {
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    pub fn aggregate_indices(self) -> Vec<u32> {
        unsafe {
            let count = LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0), count).to_vec()
        }
    }

    // Calls.

    pub fn called_value(self) -> Value {
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    pub fn called_type(self) -> Type {
        Type(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub fn argument_count(self) -> u32 {
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    pub fn returns_twice(self) -> bool {
        unsafe { plx_returns_twice(self.0) != 0 }
    }

    pub fn is_must_tail(self) -> bool {
        unsafe {
            !LLVMIsACallInst(self.0).is_null()
                && LLVMGetTailCallKind(self.0)
                    == llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
        }
    }

    pub fn clear_tail(self) {
        unsafe {
            if !LLVMIsACallInst(self.0).is_null() {
                LLVMSetTailCall(self.0, 0);
            }
        }
    }

    pub fn relax_call(self) {
        unsafe { plx_relax_call(self.0) }
    }

    /// The call is not inlined, whatever the callee wants.
    pub fn keep_call(self) {
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute("noinline"), 0);
            LLVMAddCallSiteAttribute(self.0, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Replaces a call by the callee's body; false if that cannot be done.
    pub fn inline_call(self) -> bool {
        unsafe { plx_inline(self.0) != 0 }
    }

    /// Type given by a type attribute (`byval`, `sret`) of a call's argument.
    pub fn call_type_attribute(self, argument: u32, kind: &str) -> Option<Type> {
        unsafe {
            let attribute = LLVMGetCallSiteEnumAttribute(self.0, argument + 1, attribute(kind));
            (!attribute.is_null()).then(|| Type(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    // Phis and terminators.

    pub fn incoming(self) -> Vec<(Value, Block)> {
        unsafe {
            (0..LLVMCountIncoming(self.0))
                .map(|index| {
                    (
                        Value(LLVMGetIncomingValue(self.0, index)),
                        Block(LLVMGetIncomingBlock(self.0, index)),
                    )
                })
                .collect()
        }
    }

    pub fn add_incoming(self, value: Value, block: Block) {
        let (mut values, mut blocks) = ([value.0], [block.0]);
        unsafe { LLVMAddIncoming(self.0, values.as_mut_ptr(), blocks.as_mut_ptr(), 1) }
    }

    pub fn set_incoming_block(self, index: u32, block: Block) {
        unsafe { plx_set_incoming_block(self.0, index, block.0) }
    }

    pub fn is_conditional(self) -> bool {
        unsafe { LLVMIsConditional(self.0) != 0 }
    }

    pub fn successor_count(self) -> u32 {
        unsafe { LLVMGetNumSuccessors(self.0) }
    }

    pub fn successor(self, index: u32) -> Block {
        Block(unsafe { LLVMGetSuccessor(self.0, index) })
    }

    pub fn set_successor(self, index: u32, block: Block) {
        unsafe { LLVMSetSuccessor(self.0, index, block.0) }
    }
}

/// Number of a named enum attribute.
fn attribute(kind: &str) -> u32 {
    unsafe { LLVMGetEnumAttributeKindForName(kind.as_ptr().cast(), kind.len()) }
}

impl Block {
    pub fn instructions(self) -> Vec<Value> {
        let mut instructions = Vec::new();
        let mut at = self.first();
        while let Some(instruction) = at {
            instructions.push(instruction);
            at = instruction.next();
        }
        instructions
    }

    pub fn first(self) -> Option<Value> {
        some_value(unsafe { LLVMGetFirstInstruction(self.0) })
    }

    /// First instruction that is not a phi.
    pub fn first_after_phis(self) -> Value {
        let mut at = self.first().expect("a block has a terminator");
        while at.opcode() == LLVMOpcode::LLVMPHI {
            at = at.next().expect("a block has a terminator");
        }
        at
    }

    pub fn terminator(self) -> Value {
        some_value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
            .expect("a block has a terminator")
    }

    pub fn erase(self) {
        unsafe { LLVMDeleteBasicBlock(self.0) }
    }

    pub fn move_before(self, other: Block) {
        unsafe { LLVMMoveBasicBlockBefore(self.0, other.0) }
    }

    pub fn phis(self) -> Vec<Value> {
        self.instructions()
            .into_iter()
            .take_while(|instruction| instruction.opcode() == LLVMOpcode::LLVMPHI)
            .collect()
    }
}

/// Splits a block before `instruction`; the new block starts with it.
pub fn split_before(instruction: Value) -> Block {
    Block(unsafe { plx_split_before(instruction.0) })
}

/// A readable message of LLVM's, freed.
pub unsafe fn take_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}
