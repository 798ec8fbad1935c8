//! Copies of blocks in another function, and what belongs together.

use std::collections::HashMap;

use crate::ir::{Block, LLVMOpcode, Value};
use crate::module::Module;

/// Blocks and their copies.
pub struct Twins {
    pub blocks: HashMap<Block, Block>,
    /// From a copied instruction to its original.
    pub original: HashMap<Value, Value>,
    pub copies: HashMap<Value, Value>,
}

impl Twins {
    /// Copies blocks into another function.
    pub fn copy(module: &Module, function: Value, segments: &[Block]) -> Twins {
        let builder = module.builder();
        let mut twins = Twins {
            blocks: HashMap::new(),
            original: HashMap::new(),
            copies: HashMap::new(),
        };
        for block in segments {
            let twin = function.append_block("plx.symbolic");
            twins.blocks.insert(*block, twin);
            builder.at_end(twin);
            for instruction in block.instructions() {
                let clone = instruction.clone_instruction();
                builder.insert(clone);
                twins.copies.insert(instruction, clone);
                twins.original.insert(clone, instruction);
            }
        }
        for clone in twins.original.keys() {
            for index in 0..clone.operand_count() {
                if let Some(copied) = twins.copies.get(&clone.operand(index)) {
                    clone.set_operand(index, *copied);
                }
            }
            if clone.opcode() == LLVMOpcode::LLVMPHI {
                for (index, (_, block)) in clone.incoming().into_iter().enumerate() {
                    clone.set_incoming_block(index as u32, twins.blocks[&block]);
                }
            }
            if clone.next().is_none() {
                for index in 0..clone.successor_count() {
                    clone.set_successor(index, twins.blocks[&clone.successor(index)]);
                }
            }
        }
        twins
    }

    /// Variables whose lives end and begin in one copy must not share memory on that account: the
    /// other copy, in another function, may have both alive.
    pub fn erase_lifetimes(&self) {
        for instruction in self.original.keys().chain(self.copies.keys()) {
            if instruction.opcode() == LLVMOpcode::LLVMCall
                && instruction
                    .called_value()
                    .intrinsic_name()
                    .is_some_and(|name| name.starts_with("llvm.lifetime."))
            {
                instruction.erase();
            }
        }
    }
}
