//! Values put together with shifts and `|`: rule 13, and what is known to be zero.

use super::slice::comes_apart;
use super::term::{Term, constant_of};
use super::{concat, constant, extract, zext};
use crate::bits::{mask, shift_left, slice};
use crate::store::{Label, Store};
use parallax_abi::Op;

/// Bits that are 0 for every input. Sees extensions, concatenations, and constant masks and
/// shifts; 0 (nothing known) for everything else.
pub(super) fn known_zeros<S: Store + ?Sized>(s: &S, x: &Term) -> u128 {
    let mut x = *x;
    let mut zeros = 0;
    loop {
        match x.op {
            Op::Const => return zeros | (!x.value & mask(x.width)),
            Op::ZExt => {
                let inner = Term::get(s, x.a);
                zeros |= mask(x.width) & !mask(inner.width);
                x = inner;
            }
            // A sign that is known to be 0 would have made it a zero extension.
            Op::SExt => x = Term::get(s, x.a),
            Op::Concat => {
                let low = Term::get(s, x.b);
                let high = Term::get(s, x.a);
                zeros |= shift_left(shallow_zeros(s, &high), low.width);
                x = low;
            }
            _ => return zeros | shallow_zeros(s, &x),
        }
    }
}

/// What is known about a term that is no concatenation or extension.
fn shallow_zeros<S: Store + ?Sized>(s: &S, x: &Term) -> u128 {
    match x.op {
        Op::Const => !x.value & mask(x.width),
        Op::And => constant_of(s, x.b).map_or(0, |k| !k & mask(x.width)),
        Op::Shl => constant_of(s, x.b).map_or(0, |k| mask(k.min(u128::from(x.width)) as u32)),
        _ => 0,
    }
}

/// Whether [`known_zeros`] can know anything.
fn may_have_zeros(x: &Term) -> bool {
    matches!(
        x.op,
        Op::Const | Op::ZExt | Op::SExt | Op::Concat | Op::And | Op::Shl
    )
}

/// Whether `x` is an extension of something whose lowest bit is not known: two of these
/// are the most frequent operands, and never disjoint.
fn reaches_bit_zero<S: Store + ?Sized>(s: &S, x: &Term) -> bool {
    if !matches!(x.op, Op::ZExt | Op::SExt) {
        return false;
    }
    let inner = Op::from_byte(s.node(x.a).op).unwrap_or(Op::Nothing);
    !matches!(inner, Op::Const | Op::Concat | Op::And | Op::Shl)
}

/// Bits `low..low + length` of the result come from one operand, or are 0.
#[derive(Clone, Copy)]
struct Run {
    from: From,
    low: u32,
    length: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum From {
    Zero,
    X,
    Y,
}

/// As many parts as a 128-bit value has bytes.
const MAX_RUNS: usize = 16;

/// `x | y` as a concatenation, if no bit can be set in both and every
/// part can be had from its operand: as whole pieces, or, if it is the operand's only
/// part, without leaving an extract behind (unless a mask or shift disappears for it).
pub(super) fn disjoint<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Option<Label> {
    if !may_have_zeros(&x) || !may_have_zeros(&y) {
        return None;
    }
    if reaches_bit_zero(s, &x) && reaches_bit_zero(s, &y) {
        return None;
    }
    let all = mask(x.width);
    let in_x = all & !known_zeros(s, &x);
    let mut in_y = all & !known_zeros(s, &y);
    if in_x & in_y != 0 {
        return None;
    }
    if in_x == 0 {
        return Some(y.label);
    }
    if in_y == 0 {
        return Some(x.label);
    }
    if y.op == Op::Const {
        // Its zeros are as good as zeros of our own, and make fewer parts.
        in_y = all & !in_x;
    }
    let mut runs = [Run {
        from: From::Zero,
        low: 0,
        length: 0,
    }; MAX_RUNS];
    let runs = split(in_x, in_y, x.width, &mut runs)?;
    let extended = usize::from(runs.last().is_some_and(|run| run.from == From::Zero));
    let few = runs.len() - extended <= 2;
    for (from, operand) in [(From::X, &x), (From::Y, &y)] {
        let mut own = runs.iter().filter(|run| run.from == from);
        let single = own.clone().count() == 1;
        if !own.all(|run| can_take(s, operand, run, single, few)) {
            return None;
        }
    }
    let mut result = 0;
    for (index, run) in runs[..runs.len() - extended].iter().enumerate() {
        let piece = match run.from {
            From::Zero => constant(s, run.length, 0),
            From::X => extract(s, x.label, run.low, run.length),
            From::Y => extract(s, y.label, run.low, run.length),
        };
        result = if index == 0 {
            piece
        } else {
            concat(s, piece, result)
        };
    }
    Some(zext(s, result, x.width))
}

/// Runs from the lowest bit up; `None` if there are too many.
fn split(in_x: u128, in_y: u128, width: u32, runs: &mut [Run; MAX_RUNS]) -> Option<&[Run]> {
    let mut count = 0;
    let mut low = 0;
    while low < width {
        let (x, y) = (in_x >> low, in_y >> low);
        let (from, length) = if x & 1 == 1 {
            (From::X, length_before(x, y))
        } else if y & 1 == 1 {
            (From::Y, length_before(y, x))
        } else {
            (From::Zero, (x | y).trailing_zeros())
        };
        let length = length.min(width - low);
        *runs.get_mut(count)? = Run { from, low, length };
        count += 1;
        low += length;
    }
    Some(&runs[..count])
}

/// Up to the last bit of `own` below the first of `other`: zeros between bits of one operand
/// belong to its part.
fn length_before(own: u128, other: u128) -> u32 {
    128 - (own & mask(other.trailing_zeros())).leading_zeros()
}

/// Whether a part can be had without making the expression larger. `single`: it is the
/// only one of its operand; `few`: the result has at most two parts.
fn can_take<S: Store + ?Sized>(s: &S, x: &Term, run: &Run, single: bool, few: bool) -> bool {
    if !single {
        return ends_at_seams(s, *x, run.low, run.length);
    }
    // A mask or shift whose only part this is goes away, which pays for the extract.
    let pays = match (x.op, constant_of(s, x.b)) {
        _ if !few => false,
        (Op::And, Some(k)) => slice(k, run.low, run.length) == mask(run.length),
        (Op::Shl, Some(_)) => true,
        _ => false,
    };
    pays || comes_apart(s, x, run.low, run.length)
}

/// Whether these bits are whole pieces of a concatenation.
fn ends_at_seams<S: Store + ?Sized>(s: &S, x: Term, low: u32, length: u32) -> bool {
    let (mut x, mut low, mut length) = (x, low, length);
    loop {
        if length >= x.width || x.op == Op::Const {
            return true;
        }
        match x.op {
            Op::ZExt => {
                x = Term::get(s, x.a);
                if low >= x.width {
                    return true;
                }
                length = length.min(x.width - low);
            }
            Op::Concat => {
                let (above, below) = (Term::get(s, x.a), Term::get(s, x.b));
                if low >= below.width {
                    low -= below.width;
                    x = above;
                    continue;
                }
                if low + length > below.width {
                    if !ends_at_seams(s, above, 0, low + length - below.width) {
                        return false;
                    }
                    length = below.width - low;
                }
                x = below;
            }
            _ => return false,
        }
    }
}
