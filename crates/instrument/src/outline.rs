//! The function that holds the symbolic copy of another one's body.
//!
//! The concrete copy stays where it was; the symbolic one is a function of its own, entered with
//! the number of a segment and the address of the state that both share. Two things are gained.
//! The concrete copy is compiled as if the other did not exist: its registers, its stack frame,
//! its chance to be inlined. And the symbolic copy, several times as large and
//! mostly calls into the runtime, is spared the optimiser (`optnone`), which had little to
//! gain from it and spent most of a compile on it.
//!
//! Without the optimiser on the symbolic copies a traced program compiles in half the time, and is not measurably slower.

use std::collections::HashMap;

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;

use crate::activation::{Activation, link_frame};
use crate::ir::{Block, Builder, Value};
use crate::module::Module;
use crate::slots::Slots;

/// The symbolic copy's function.
pub struct Outline {
    pub function: Value,
    /// Its parameter that points to the [slots](crate::slots).
    pub state: Value,
    entry: Block,
}

impl Outline {
    /// Makes the function, with an entry block that is empty until [`Ways::finish`].
    pub fn declare(module: &Module, original: Value) -> Outline {
        let result = original.function_type().result();
        let ty = module.function_type(result, &[module.i32, module.ptr]);
        let function = module.declare(&format!("{}.plx.symbolic", original.name()), ty);
        function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        function.copy_function_attributes(original);
        for unfit in ["alwaysinline", "inlinehint", "minsize", "optsize"] {
            function.remove_attribute(unfit);
        }
        for wanted in ["noinline", "optnone", "cold"] {
            function.add_attribute(wanted);
        }
        Outline {
            function,
            state: function.parameters()[1],
            entry: function.append_block("plx.entry"),
        }
    }
}

/// All ways from the concrete to the symbolic copy. They meet in one block, which calls the
/// function and returns what it returns.
pub struct Ways<'a> {
    module: &'a Module,
    outline: &'a Outline,
    /// Meeting point of those whose labels are all 0: clears them.
    unlabelled: Meeting,
    labelled: Meeting,
    /// Numbers of the segments that are entered.
    entries: HashMap<Block, u32>,
}

/// A block with the number of the segment to enter.
struct Meeting {
    block: Block,
    number: Value,
}

impl Meeting {
    fn new(module: &Module, function: Value, name: &str) -> Meeting {
        let block = function.append_block(name);
        let builder = module.builder();
        builder.at_end(block);
        let number = builder.phi(module.i32);
        Meeting { block, number }
    }
}

impl<'a> Ways<'a> {
    pub fn new(module: &'a Module, original: Value, outline: &'a Outline) -> Ways<'a> {
        Ways {
            module,
            outline,
            unlabelled: Meeting::new(module, original, "plx.unlabelled"),
            labelled: Meeting::new(module, original, "plx.over"),
            entries: HashMap::new(),
        }
    }

    /// Ends a block of the concrete copy by going to the twin of a segment. `labels`
    /// says that the label slots are filled already.
    pub fn go(&mut self, builder: &Builder, twin: Block, labels: bool) {
        let next = self.entries.len() as u32;
        let number = *self.entries.entry(twin).or_insert(next);
        let meeting = if labels {
            &self.labelled
        } else {
            &self.unlabelled
        };
        let from = builder.block();
        builder.branch(meeting.block);
        meeting.number.add_incoming(self.module.n32(number), from);
    }

    /// Builds the meeting points and the way into the segments. `link` says that the activation's
    /// frame is not linked yet.
    pub fn finish(self, slots: &Slots, activation: &Activation, link: bool) {
        let module = self.module;
        let builder = module.builder();
        if self.unlabelled.number.incoming().is_empty() {
            self.unlabelled.block.erase();
        } else {
            builder.at_end(self.unlabelled.block);
            slots.clear_labels(&builder, slots.state(&builder));
            builder.branch(self.labelled.block);
            self.labelled
                .number
                .add_incoming(self.unlabelled.number, self.unlabelled.block);
        }

        builder.at_end(self.labelled.block);
        if link {
            link_frame(module, &builder, activation.frame);
        }
        let state = slots.state(&builder);
        slots.store_outer(&builder, state);
        let function = self.outline.function;
        let result = builder.call(
            function.function_type(),
            function,
            &[self.labelled.number, state],
        );
        builder.ret((!result.ty().is_void()).then_some(result));

        builder.at_end(self.outline.entry);
        let mut entries: Vec<(Block, u32)> = self.entries.into_iter().collect();
        entries.sort_by_key(|(_, number)| *number);
        let (first, _) = entries[0];
        unsafe {
            let switch = LLVMBuildSwitch(
                builder.raw(),
                function.parameters()[0].0,
                first.0,
                entries.len() as u32,
            );
            for (twin, number) in &entries[1..] {
                LLVMAddCase(switch, module.n32(*number).0, twin.0);
            }
        }
    }
}
