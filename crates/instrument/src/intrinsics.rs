//! Labels of LLVM's intrinsic functions.
//!
//! Those with an operator of their own use it; the others are composed of operators so that
//! the concrete value of each intermediate result is computed beside its label.

use parallax_abi::Op;
use parallax_abi::entry::{self, code};
use parallax_abi::op::Rounding;
use parallax_abi::trace::LossKind;

use crate::ir::{LLVMIntPredicate, LLVMOpcode, Value};
use crate::tracer::{Operand, Tracer};
use crate::types::{is_float, scalar_bits};

impl Tracer<'_> {
    /// The builder stands before the call.
    pub fn intrinsic(&mut self, call: Value, name: &str, site: Value) {
        let stem = name.trim_start_matches("llvm.");
        let is = |prefix: &str| stem == prefix || stem.starts_with(&format!("{prefix}."));
        if is("memcpy") || is("memmove") || is("memcpy.inline") {
            return self.bulk_memory(call, true, site);
        }
        if is("memset") || is("memset.inline") {
            return self.bulk_memory(call, false, site);
        }
        if has_no_labels(stem) {
            return;
        }
        self.builder.after(call);
        match stem {
            "va_start" | "va_start.p0" => return self.va_start(call),
            "va_copy" | "va_copy.p0" => return self.va_copy(call),
            "lifetime.start" | "lifetime.start.p0" => {
                return clear_fresh_memory(self.module, &self.builder, call);
            }
            _ => {}
        }
        if is("expect")
            || is("expect.with.probability")
            || is("ssa.copy")
            || is("annotation")
            || is("ptr.annotation")
            || is("launder.invariant.group")
            || is("strip.invariant.group")
            || is("arithmetic.fence")
        {
            let labels = self.labels_of(call.operand(0));
            self.labels.insert(call, labels);
            return;
        }
        let label = if call.argument_count() == 0 {
            None
        } else {
            self.scalar_intrinsic(call, stem, site)
        };
        match label {
            Some(labels) => {
                self.labels.insert(call, labels);
            }
            None => {
                let labels: Vec<Value> = (0..call.argument_count())
                    .flat_map(|index| self.labels_of(call.operand(index)))
                    .collect();
                self.give_up(&labels, LossKind::Instruction, name, site);
            }
        }
    }

    /// Labels of an intrinsic on scalars, or nothing if there is no expression for it.
    fn scalar_intrinsic(&mut self, call: Value, stem: &str, site: Value) -> Option<Vec<Value>> {
        use LLVMIntPredicate::*;
        let argument_type = call.operand(0).ty();
        let bits = scalar_bits(self.module, argument_type)?;
        let float = is_float(argument_type);
        if !float && argument_type.int_width() == 0 && !argument_type.is_pointer() {
            return None;
        }
        let a = self.operand(call.operand(0));
        let root: String = stem
            .split('.')
            .take_while(|part| !is_type_suffix(part))
            .collect::<Vec<_>>()
            .join(".");
        let unary = |tracer: &Self, op| Some(vec![tracer.unary_label(op, a, bits, 0, site)]);
        let b = |tracer: &Self| tracer.operand(call.operand(1));
        let rounded = |tracer: &Self, mode: Rounding| {
            Some(vec![tracer.unary_label(
                Op::FRound,
                a,
                bits,
                mode as u32,
                site,
            )])
        };
        match root.as_str() {
            "ctpop" => unary(self, Op::PopCount),
            "ctlz" => self.count_zeros(Op::LeadingZeros, call, a, site),
            "cttz" => self.count_zeros(Op::TrailingZeros, call, a, site),
            "bswap" => unary(self, Op::ByteSwap),
            "bitreverse" => unary(self, Op::BitReverse),
            "abs" => {
                let zero = self.constant(bits, 0);
                let negative = self.compute_compare(LLVMIntSLT, a, zero, site);
                let negated = self.compute(Op::Sub, zero, a, site);
                Some(vec![self.choose(negative, negated, a, site)?.label])
            }
            "smax" => self.extremum(LLVMIntSGT, a, b(self), site),
            "smin" => self.extremum(LLVMIntSLT, a, b(self), site),
            "umax" => self.extremum(LLVMIntUGT, a, b(self), site),
            "umin" => self.extremum(LLVMIntULT, a, b(self), site),
            "fshl" => self.funnel_shift(call, true, site),
            "fshr" => self.funnel_shift(call, false, site),
            "sadd.with.overflow" => self.with_overflow(Op::Add, true, a, b(self), site),
            "uadd.with.overflow" => self.with_overflow(Op::Add, false, a, b(self), site),
            "ssub.with.overflow" => self.with_overflow(Op::Sub, true, a, b(self), site),
            "usub.with.overflow" => self.with_overflow(Op::Sub, false, a, b(self), site),
            "smul.with.overflow" => self.with_overflow(Op::Mul, true, a, b(self), site),
            "umul.with.overflow" => self.with_overflow(Op::Mul, false, a, b(self), site),
            "sadd.sat" => self.saturating(Op::Add, true, a, b(self), site),
            "uadd.sat" => self.saturating(Op::Add, false, a, b(self), site),
            "ssub.sat" => self.saturating(Op::Sub, true, a, b(self), site),
            "usub.sat" => self.saturating(Op::Sub, false, a, b(self), site),
            "fabs" => {
                let sign = self.sign_bit(bits);
                let mask = self.complement(sign);
                Some(vec![self.mask_label(Op::And, a, mask, site)])
            }
            "copysign" => {
                let sign = self.sign_bit(bits);
                let magnitude = self.masked(a, self.complement(sign), site);
                let sign = self.masked(b(self), sign, site);
                Some(vec![self.compute(Op::Or, magnitude, sign, site).label])
            }
            "sqrt" => unary(self, Op::FSqrt),
            "floor" => rounded(self, Rounding::Down),
            "ceil" => rounded(self, Rounding::Up),
            "trunc" => rounded(self, Rounding::TowardZero),
            "rint" | "nearbyint" | "roundeven" => rounded(self, Rounding::NearestEven),
            "round" => rounded(self, Rounding::NearestAway),
            "ptrmask" => Some(vec![self.binary_label(
                code::pack(Op::And, bits, bits, 0),
                a,
                b(self),
                site,
            )]),
            _ => None,
        }
    }

    /// The second argument says whether the result for 0 is undefined.
    fn count_zeros(&self, op: Op, call: Value, a: Operand, site: Value) -> Option<Vec<Value>> {
        let mut code_bits = code::pack(op, a.bits, a.bits, 0);
        if call.operand(1).constant_int() != Some(0) {
            code_bits |= code::ZERO_IS_UNDEFINED;
        }
        Some(vec![self.unary_code_label(code_bits, a, site)])
    }

    fn constant(&self, bits: u32, value: u64) -> Operand {
        let value = self.module.number(self.module.int(bits), value);
        Operand {
            label: self.zero(),
            value,
            bits,
        }
    }

    fn complement(&self, integer: Value) -> Value {
        let ones = Value(unsafe { llvm_sys::core::LLVMConstAllOnes(integer.ty().0) });
        self.builder.binary(LLVMOpcode::LLVMXor, integer, ones)
    }

    fn masked(&self, a: Operand, mask: Value, site: Value) -> Operand {
        let mask = Operand {
            label: self.zero(),
            value: mask,
            bits: a.bits,
        };
        self.compute(Op::And, a, mask, site)
    }

    /// An integer operation with its value beside its label.
    fn compute(&self, op: Op, a: Operand, b: Operand, site: Value) -> Operand {
        let opcode = match op {
            Op::Add => LLVMOpcode::LLVMAdd,
            Op::Sub => LLVMOpcode::LLVMSub,
            Op::Mul => LLVMOpcode::LLVMMul,
            Op::And => LLVMOpcode::LLVMAnd,
            Op::Or => LLVMOpcode::LLVMOr,
            Op::URem => LLVMOpcode::LLVMURem,
            Op::Shl => LLVMOpcode::LLVMShl,
            _ => LLVMOpcode::LLVMLShr,
        };
        Operand {
            label: self.binary_label(code::pack(op, a.bits, a.bits, 0), a, b, site),
            value: self.builder.binary(opcode, a.value, b.value),
            bits: a.bits,
        }
    }

    fn compute_compare(
        &self,
        predicate: LLVMIntPredicate,
        a: Operand,
        b: Operand,
        site: Value,
    ) -> Operand {
        Operand {
            label: self.compare_label(predicate, a, b, site),
            value: self.builder.compare(predicate, a.value, b.value),
            bits: 1,
        }
    }

    /// `condition ? a : b` as an expression; nothing above 64 bits.
    fn choose(&self, condition: Operand, a: Operand, b: Operand, site: Value) -> Option<Operand> {
        if a.bits > 64 {
            return None;
        }
        let value = self.builder.select(condition.value, a.value, b.value);
        let labels = [condition.label, a.label, b.label];
        let label = if labels.iter().all(|label| self.is_zero(*label)) {
            self.zero()
        } else {
            let code = self.module.n64(code::pack(Op::Ite, a.bits, a.bits, 0));
            let word = |operand: Operand| self.words(operand.value).0;
            self.helper(
                "plx.ite",
                &[
                    code,
                    condition.label,
                    a.label,
                    b.label,
                    word(condition),
                    word(a),
                    word(b),
                    site,
                ],
            )
        };
        Some(Operand {
            label,
            value,
            bits: a.bits,
        })
    }

    fn extremum(
        &self,
        predicate: LLVMIntPredicate,
        a: Operand,
        b: Operand,
        site: Value,
    ) -> Option<Vec<Value>> {
        let first = self.compute_compare(predicate, a, b, site);
        Some(vec![self.choose(first, a, b, site)?.label])
    }

    /// Upper (`fshl`) or lower (`fshr`) part of the shifted double word.
    fn funnel_shift(&self, call: Value, left: bool, site: Value) -> Option<Vec<Value>> {
        let (high, low, amount) = (
            self.operand(call.operand(0)),
            self.operand(call.operand(1)),
            self.operand(call.operand(2)),
        );
        let bits = high.bits;
        if bits > 64 {
            return None;
        }
        let double = 2 * bits;
        let wide = |operand| self.extend(operand, double, false, site);
        let distance = self.constant(double, u64::from(bits));
        let shifted_high = self.compute(Op::Shl, wide(high), distance, site);
        let both = self.compute(Op::Or, shifted_high, wide(low), site);
        let modulo = self.compute(Op::URem, amount, self.constant(bits, u64::from(bits)), site);
        let op = if left { Op::Shl } else { Op::LShr };
        let shifted = self.compute(op, both, wide(modulo), site);
        let from = if left { bits } else { 0 };
        Some(vec![self.unary_label(
            Op::Extract,
            shifted,
            bits,
            from,
            site,
        )])
    }

    /// Result and overflow bit: computed in twice the width, where nothing overflows.
    fn overflow_parts(
        &self,
        op: Op,
        signed: bool,
        a: Operand,
        b: Operand,
        site: Value,
    ) -> Option<(Operand, Operand)> {
        if a.bits > 64 {
            return None;
        }
        let double = 2 * a.bits;
        let exact = self.compute(
            op,
            self.extend(a, double, signed, site),
            self.extend(b, double, signed, site),
            site,
        );
        let result = self.compute(op, a, b, site);
        let widened = self.extend(result, double, signed, site);
        let overflow = self.compute_compare(LLVMIntPredicate::LLVMIntNE, widened, exact, site);
        Some((result, overflow))
    }

    fn with_overflow(
        &self,
        op: Op,
        signed: bool,
        a: Operand,
        b: Operand,
        site: Value,
    ) -> Option<Vec<Value>> {
        let (result, overflow) = self.overflow_parts(op, signed, a, b, site)?;
        Some(vec![result.label, overflow.label])
    }

    fn saturating(
        &self,
        op: Op,
        signed: bool,
        a: Operand,
        b: Operand,
        site: Value,
    ) -> Option<Vec<Value>> {
        let (result, overflow) = self.overflow_parts(op, signed, a, b, site)?;
        let bits = a.bits;
        let limit = if signed {
            // The sign of the exact result is the sign of `a` when a sum or difference overflows.
            let top = self.sign_bit(bits);
            let smallest = Operand {
                label: self.zero(),
                value: top,
                bits,
            };
            let largest = Operand {
                label: self.zero(),
                value: self.complement(top),
                bits,
            };
            let negative = self.compute_compare(
                LLVMIntPredicate::LLVMIntSLT,
                a,
                self.constant(bits, 0),
                site,
            );
            self.choose(negative, smallest, largest, site)?
        } else if op == Op::Add {
            let ones = self.complement(self.constant(bits, 0).value);
            Operand {
                label: self.zero(),
                value: ones,
                bits,
            }
        } else {
            self.constant(bits, 0)
        };
        Some(vec![self.choose(overflow, limit, result, site)?.label])
    }

    fn va_start(&mut self, call: Value) {
        let (labels, overflow) = self
            .activation
            .variadic
            .unwrap_or((self.module.ptr.null(), self.module.n64(0)));
        let list = call.operand(0);
        self.module.call(
            &self.builder,
            entry::VA_START.name,
            &[list, labels, overflow],
        );
    }

    /// A `va_list` holds addresses and offsets, never labels; the copy's memory may be stale.
    fn va_copy(&mut self, call: Value) {
        self.helper("plx.clear", &[call.operand(0), self.module.n64(24)]);
    }
}

/// The lifetime of a local variable begins: whatever labels are there are another's.
pub fn clear_fresh_memory(
    module: &crate::module::Module,
    builder: &crate::ir::Builder,
    call: Value,
) {
    let size = call.operand(0).constant_signed().unwrap_or(-1);
    if size > 0 {
        let helper = module.function("plx.clear").expect("helpers are linked in");
        builder.call(
            helper.function_type(),
            helper,
            &[call.operand(1), module.n64(size as u64)],
        );
    }
}

/// The part of an intrinsic's name that names types: `i32`, `f64`, `p0`, `v4i32`, `x86` …
fn is_type_suffix(part: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    part.strip_prefix(['i', 'f', 'p', 'v', 'n'])
        .is_some_and(|rest| {
            rest.bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_digit())
                && (digits(rest)
                    || part.starts_with('v')
                    || part.starts_with('n')
                    || rest.starts_with("80"))
        })
}

/// Intrinsics through which no label can pass.
fn has_no_labels(stem: &str) -> bool {
    const NONE: &[&str] = &[
        "dbg.",
        "lifetime.end",
        "assume",
        "stacksave",
        "stackrestore",
        "trap",
        "debugtrap",
        "ubsantrap",
        "va_end",
        "prefetch",
        "eh.",
        "returnaddress",
        "frameaddress",
        "addressofreturnaddress",
        "threadlocal.address",
        "invariant.",
        "donothing",
        "pcmarker",
        "readcyclecounter",
        "var.annotation",
        "experimental.noalias.scope.decl",
        "sideeffect",
        "clear_cache",
        "objectsize",
        "is.constant",
        "get.",
        "set.",
        "sponentry",
        "localescape",
    ];
    NONE.iter().any(|name| stem.starts_with(name))
}
