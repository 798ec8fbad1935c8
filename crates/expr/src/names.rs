//! Names of the operators in the text forms.

use parallax_abi::Op;

/// `(operator, name)`, in the operators' order.
const NAMES: &[(Op, &str)] = &[
    (Op::Nothing, "nothing"),
    (Op::Const, "const"),
    (Op::Input, "input"),
    (Op::Object, "object"),
    (Op::Table, "table"),
    (Op::Not, "not"),
    (Op::Neg, "neg"),
    (Op::ZExt, "zext"),
    (Op::SExt, "sext"),
    (Op::Extract, "extract"),
    (Op::Concat, "concat"),
    (Op::PopCount, "popcount"),
    (Op::LeadingZeros, "clz"),
    (Op::TrailingZeros, "ctz"),
    (Op::ByteSwap, "bswap"),
    (Op::BitReverse, "bitreverse"),
    (Op::Add, "add"),
    (Op::Sub, "sub"),
    (Op::Mul, "mul"),
    (Op::UDiv, "udiv"),
    (Op::SDiv, "sdiv"),
    (Op::URem, "urem"),
    (Op::SRem, "srem"),
    (Op::Shl, "shl"),
    (Op::LShr, "lshr"),
    (Op::AShr, "ashr"),
    (Op::And, "and"),
    (Op::Or, "or"),
    (Op::Xor, "xor"),
    (Op::Eq, "eq"),
    (Op::Ult, "ult"),
    (Op::Ule, "ule"),
    (Op::Slt, "slt"),
    (Op::Sle, "sle"),
    (Op::Ite, "ite"),
    (Op::FAdd, "fadd"),
    (Op::FSub, "fsub"),
    (Op::FMul, "fmul"),
    (Op::FDiv, "fdiv"),
    (Op::FRem, "frem"),
    (Op::FSqrt, "fsqrt"),
    (Op::FRound, "fround"),
    (Op::FEq, "feq"),
    (Op::FLt, "flt"),
    (Op::FLe, "fle"),
    (Op::FIsNan, "fisnan"),
    (Op::FToF, "ftof"),
    (Op::FToS, "ftos"),
    (Op::FToU, "ftou"),
    (Op::SToF, "stof"),
    (Op::UToF, "utof"),
];

// A new operator at the end needs a name.
const _: () = assert!(NAMES.len() == Op::LAST as usize + 1);

pub(crate) fn name(op: Op) -> &'static str {
    NAMES[op as usize].1
}

pub(crate) fn operator(name: &str) -> Option<Op> {
    NAMES
        .iter()
        .find(|(_, own)| *own == name)
        .map(|(op, _)| *op)
}
