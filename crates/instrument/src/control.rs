//! Events of control flow: branches, choices, switches, returns.

use parallax_abi::tls;
use parallax_abi::trace::{Concretized, LossKind};

use crate::activation::{self, register_dynamic_alloca};
use crate::ir::{LLVMOpcode, Value};
use crate::tracer::Tracer;

impl Tracer<'_> {
    pub fn selection(&mut self, instruction: Value, site: Value) {
        let condition = instruction.operand(0);
        if condition.ty().int_width() != 1 {
            return self.unsupported(instruction, site);
        }
        let label = self.label_of(condition);
        self.side_event("plx.select", label, condition, site);
        let (then, otherwise) = (
            self.labels_of(instruction.operand(1)),
            self.labels_of(instruction.operand(2)),
        );
        let labels = then
            .into_iter()
            .zip(otherwise)
            .map(|(a, b)| {
                if a == b {
                    a
                } else {
                    self.builder.select(condition, a, b)
                }
            })
            .collect();
        self.labels.insert(instruction, labels);
    }

    pub fn side_event(&self, helper: &str, label: Value, condition: Value, site: Value) {
        if !self.is_zero(label) {
            let taken = self.builder.resize(condition, self.module.i32);
            self.helper(helper, &[label, taken, site]);
        }
    }

    pub fn branch(&mut self, instruction: Value, site: Value) {
        if instruction.is_conditional() {
            let condition = instruction.operand(0);
            self.side_event("plx.branch", self.label_of(condition), condition, site);
        }
    }

    pub fn switch(&mut self, instruction: Value, site: Value) {
        let a = self.operand(instruction.operand(0));
        if a.bits > 64 {
            return self.concretize(a, Concretized::Operand, site);
        }
        if !self.is_zero(a.label) {
            let value = self.words(a.value).0;
            self.helper("plx.switch", &[a.label, value, site]);
        }
    }

    pub fn ret(&mut self, instruction: Value) {
        let module = self.module;
        if instruction.operand_count() == 1 {
            let site = module.site(instruction);
            let labels = self.labels_of(instruction.operand(0));
            let any = self.any(&labels);
            let returned = if self.is_zero(any) {
                module.n64(0)
            } else {
                for (leaf, label) in labels.iter().take(tls::MAX_RESULTS).enumerate() {
                    self.builder
                        .store(*label, self.tls(tls::RESULT_OFFSET + 4 * leaf));
                }
                for label in labels.iter().skip(tls::MAX_RESULTS) {
                    self.give_up(&[*label], LossKind::Arguments, "return", site);
                }
                let own = self
                    .builder
                    .cast(LLVMOpcode::LLVMPtrToInt, self.function, module.i64);
                let some = self.builder.not_equal(any, self.zero());
                self.builder.select(some, own, module.n64(0))
            };
            self.builder.store(returned, self.tls(tls::RETURNED_OFFSET));
        }
        self.leave();
    }

    /// Unlinks the activation; the builder stands before a return.
    pub fn leave(&self) {
        activation::leave(self.module, &self.builder, &self.activation);
    }

    pub fn dynamic_alloca(&mut self, instruction: Value, site: Value) {
        let count = self.operand(instruction.operand(0));
        self.concretize(count, Concretized::Size, site);
        register_dynamic_alloca(self.module, &self.builder, instruction);
    }
}
