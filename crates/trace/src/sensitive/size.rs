//! Sizes and lengths that cannot be right: of allocations and of copies.

use std::collections::HashSet;

use parallax_abi::Op;
use parallax_abi::trace::{Event, ObjectKind};
use parallax_expr::{Label, Store, build};
use parallax_solver::Overlay;

use super::{Condition, NEAR, either};
use crate::trace::Trace;

/// No machine has so much memory to give.
const HUGE: u128 = 1 << 40;
/// Less than what anybody allocates memory for.
const LITTLE: u128 = 8;
/// Parts of a size that are looked at for arithmetic that can wrap round.
const MOST_PARTS: usize = 32;

/// The size was computed with a carry that got lost, so that less is allocated than is meant; or it is so large that there
/// is no such memory, and the program had better look at what it got.
pub fn unobtainable(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Condition> {
    let width = u32::from(overlay.base().node(event.label)?.width);
    let wrapped = wraps(overlay, event.label);
    let mut any = wrapped;
    if width > 40 {
        let most = build::constant(overlay, width, HUGE);
        let huge = build::binary(overlay, Op::Ult, most, event.label);
        any = either(overlay, any, huge);
    }
    // Of what wrapped round, next to nothing is left: then the first use goes wrong.
    let near = (wrapped != 0).then(|| {
        let little = build::constant(overlay, width, LITTLE);
        let is_little = build::binary(overlay, Op::Ult, event.label, little);
        build::and(overlay, wrapped, is_little)
    });
    (any != 0).then_some(Condition { any, near })
}

/// Some addition or multiplication in the expression loses a carry; 0 if none can. One that loses it on the
/// present input is meant to: a negative number is added.
fn wraps(overlay: &mut Overlay<'_, Trace>, size: Label) -> Label {
    let mut pending = vec![size];
    let mut looked_at = HashSet::new();
    let mut any = 0;
    while let Some(label) = pending.pop() {
        if looked_at.len() >= MOST_PARTS || !looked_at.insert(label) {
            continue;
        }
        let node = overlay.node(label);
        let width = u32::from(node.width);
        let carries = match Op::from_byte(node.op) {
            Some(Op::Add) => {
                pending.extend([node.a, node.b]);
                build::binary(overlay, Op::Ult, label, node.a)
            }
            Some(Op::Mul) if width <= 64 => {
                pending.extend([node.a, node.b]);
                let a = build::zext(overlay, node.a, 2 * width);
                let b = build::zext(overlay, node.b, 2 * width);
                let exact = build::binary(overlay, Op::Mul, a, b);
                let high = build::extract(overlay, exact, width, width);
                let zero = build::constant(overlay, width, 0);
                let none = build::eq(overlay, high, zero);
                build::not(overlay, none)
            }
            Some(Op::Shl) => {
                pending.push(node.a);
                let back = build::binary(overlay, Op::LShr, label, node.b);
                let same = build::eq(overlay, back, node.a);
                build::not(overlay, same)
            }
            Some(Op::ZExt | Op::SExt) => {
                pending.push(node.a);
                continue;
            }
            _ => continue,
        };
        if carries != 0 && overlay.node(carries).lo == 0 {
            any = either(overlay, any, carries);
        }
    }
    any
}

/// More bytes than there are from the place on to the end of its object.
pub fn too_long(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Condition> {
    let room = overlay.base().object(event.x)?;
    let width = u32::from(overlay.base().node(event.label)?.width);
    if room.kind == ObjectKind::Unknown {
        return None;
    }
    let limit = build::constant(overlay, width, room.size.into());
    let any = build::binary(overlay, Op::Ult, limit, event.label);
    let end = build::constant(overlay, width, u128::from(room.size) + u128::from(NEAR));
    let not_far = build::binary(overlay, Op::Ule, event.label, end);
    let near = build::binary(overlay, Op::And, any, not_far);
    Some(Condition {
        any,
        near: Some(near),
    })
}
