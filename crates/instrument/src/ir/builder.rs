//! Making instructions.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::{Block, LLVMIntPredicate, LLVMOpcode, Type, Value};

/// Owns an LLVM builder.
pub struct Builder(LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

/// The name of a temporary: empty, LLVM numbers it.
const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

impl Builder {
    pub fn new(context: LLVMContextRef) -> Builder {
        Builder(unsafe { LLVMCreateBuilderInContext(context) })
    }

    pub fn raw(&self) -> LLVMBuilderRef {
        self.0
    }

    pub fn before(&self, instruction: Value) {
        unsafe { LLVMPositionBuilderBefore(self.0, instruction.0) }
    }

    /// Behind an instruction; for a phi, behind all phis of its block.
    pub fn after(&self, instruction: Value) {
        let mut next = instruction.next().expect("not a terminator");
        while next.opcode() == LLVMOpcode::LLVMPHI {
            next = next.next().expect("not a terminator");
        }
        self.before(next);
    }

    pub fn at_end(&self, block: Block) {
        unsafe { LLVMPositionBuilderAtEnd(self.0, block.0) }
    }

    pub fn insert(&self, instruction: Value) {
        unsafe { LLVMInsertIntoBuilder(self.0, instruction.0) }
    }

    pub fn call(&self, ty: Type, function: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|value| value.0).collect();
        Value(unsafe {
            LLVMBuildCall2(
                self.0,
                ty.0,
                function.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                UNNAMED,
            )
        })
    }

    pub fn phi(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildPhi(self.0, ty.0, UNNAMED) })
    }

    pub fn alloca(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildAlloca(self.0, ty.0, UNNAMED) })
    }

    pub fn load(&self, ty: Type, address: Value) -> Value {
        Value(unsafe { LLVMBuildLoad2(self.0, ty.0, address.0, UNNAMED) })
    }

    /// An instruction that stands for a value until it is replaced.
    pub fn placeholder(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildFreeze(self.0, LLVMGetUndef(ty.0), UNNAMED) })
    }

    /// The same value, in a way that hides from the optimiser where it came from; stays where it is.
    pub fn opaque(&self, value: Value) -> Value {
        let constraints = "=r,0";
        unsafe {
            let ty = LLVMTypeOf(value.0);
            let function = LLVMFunctionType(ty, [ty].as_mut_ptr(), 1, 0);
            let has_side_effects = 1;
            let assembly = LLVMGetInlineAsm(
                function,
                c"".as_ptr(),
                0,
                constraints.as_ptr().cast(),
                constraints.len(),
                has_side_effects,
                0,
                llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            self.call(Type(function), Value(assembly), &[value])
        }
    }

    pub fn store(&self, value: Value, address: Value) -> Value {
        Value(unsafe { LLVMBuildStore(self.0, value.0, address.0) })
    }

    pub fn binary(&self, opcode: LLVMOpcode, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildBinOp(self.0, opcode, a.0, b.0, UNNAMED) })
    }

    pub fn or(&self, a: Value, b: Value) -> Value {
        self.binary(LLVMOpcode::LLVMOr, a, b)
    }

    pub fn compare(&self, predicate: LLVMIntPredicate, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildICmp(self.0, predicate, a.0, b.0, UNNAMED) })
    }

    pub fn equal(&self, a: Value, b: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntEQ, a, b)
    }

    pub fn not_equal(&self, a: Value, b: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntNE, a, b)
    }

    pub fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.0, condition.0, then.0, otherwise.0, UNNAMED) })
    }

    pub fn cast(&self, opcode: LLVMOpcode, value: Value, ty: Type) -> Value {
        if value.ty() == ty {
            return value;
        }
        Value(unsafe { LLVMBuildCast(self.0, opcode, value.0, ty.0, UNNAMED) })
    }

    /// Zero-extends or truncates an integer.
    pub fn resize(&self, value: Value, ty: Type) -> Value {
        let (from, to) = (value.ty().int_width(), ty.int_width());
        if from < to {
            self.cast(LLVMOpcode::LLVMZExt, value, ty)
        } else {
            self.cast(LLVMOpcode::LLVMTrunc, value, ty)
        }
    }

    /// Address `offset` bytes behind `base`.
    pub fn offset(&self, byte: Type, base: Value, offset: Value) -> Value {
        let mut index = [offset.0];
        Value(unsafe { LLVMBuildGEP2(self.0, byte.0, base.0, index.as_mut_ptr(), 1, UNNAMED) })
    }

    /// The block that the builder stands in.
    pub fn block(&self) -> Block {
        Block(unsafe { LLVMGetInsertBlock(self.0) })
    }

    pub fn ret(&self, value: Option<Value>) -> Value {
        Value(unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.0, value.0),
                None => LLVMBuildRetVoid(self.0),
            }
        })
    }

    pub fn branch(&self, target: Block) -> Value {
        Value(unsafe { LLVMBuildBr(self.0, target.0) })
    }

    pub fn conditional(&self, condition: Value, then: Block, otherwise: Block) -> Value {
        Value(unsafe { LLVMBuildCondBr(self.0, condition.0, then.0, otherwise.0) })
    }

    /// A branch whose `then` side is rare.
    pub fn unlikely(&self, condition: Value, then: Block, otherwise: Block) {
        let branch = self.conditional(condition, then, otherwise);
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(condition.0));
            let text = "branch_weights";
            let int = LLVMInt32TypeInContext(context);
            let mut operands = [
                LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len()),
                LLVMValueAsMetadata(LLVMConstInt(int, 1, 0)),
                LLVMValueAsMetadata(LLVMConstInt(int, 2000, 0)),
            ];
            let node = LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len());
            let kind = LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4);
            LLVMSetMetadata(branch.0, kind, LLVMMetadataAsValue(context, node));
        }
    }

    pub fn extract_value(&self, aggregate: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildExtractValue(self.0, aggregate.0, index, UNNAMED) })
    }
}
