//! Which values carry labels, and how many.
//!
//! A *scalar* (integer up to 128 bits, pointer, `float`, `double`, `long
//! double`, and a vector of at most 128 bits, seen as one bit pattern) has one
//! label. An aggregate has one per scalar *leaf*, in field order. Types with more than
//! [`MAX_LEAVES`] leaves or with an unsupported one have none: values of
//! such types are always concrete, and dropping a label there is recorded.

use crate::ir::{LLVMTypeKind, Type};
use crate::module::Module;

/// Aggregates with more leaves than this carry no labels.
pub const MAX_LEAVES: usize = 16;

/// One scalar inside a value.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Field numbers from the outermost aggregate inwards; empty for a scalar value.
    pub path: Vec<u32>,
    pub ty: Type,
    /// Offset in memory.
    pub offset: u64,
}

/// Width in bits of a scalar that carries a label.
pub fn scalar_bits(module: &Module, ty: Type) -> Option<u32> {
    use LLVMTypeKind::*;
    let bits = match ty.kind() {
        LLVMIntegerTypeKind => ty.int_width(),
        LLVMPointerTypeKind => 64,
        LLVMFloatTypeKind => 32,
        LLVMDoubleTypeKind => 64,
        LLVMX86_FP80TypeKind => 80,
        LLVMVectorTypeKind => {
            let element = ty.element();
            // Vectors of odd-sized elements (i1, i24) are packed differently in memory than as bits.
            let bits = scalar_bits(module, element)?;
            if element.kind() == LLVMPointerTypeKind || !bits.is_multiple_of(8) || bits == 80 {
                return None;
            }
            u32::try_from(module.bits(ty)).ok()?
        }
        _ => return None,
    };
    (bits <= 128).then_some(bits)
}

/// Whether the type is one of the floating-point types with expressions.
pub fn is_float(ty: Type) -> bool {
    use LLVMTypeKind::*;
    matches!(
        ty.kind(),
        LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMX86_FP80TypeKind
    )
}

/// The leaves of a type; empty if it carries no labels.
pub fn leaves(module: &Module, ty: Type) -> Vec<Leaf> {
    let mut found = Vec::new();
    if collect(module, ty, &mut Vec::new(), 0, &mut found).is_none() {
        found.clear();
    }
    found
}

fn collect(
    module: &Module,
    ty: Type,
    path: &mut Vec<u32>,
    offset: u64,
    found: &mut Vec<Leaf>,
) -> Option<()> {
    if scalar_bits(module, ty).is_some() {
        found.push(Leaf {
            path: path.clone(),
            ty,
            offset,
        });
        return (found.len() <= MAX_LEAVES).then_some(());
    }
    match ty.kind() {
        LLVMTypeKind::LLVMStructTypeKind => {
            for (field, field_type) in ty.struct_fields().into_iter().enumerate() {
                path.push(field as u32);
                let at = offset + module.field_offset(ty, field as u32);
                collect(module, field_type, path, at, found)?;
                path.pop();
            }
            Some(())
        }
        LLVMTypeKind::LLVMArrayTypeKind => {
            if ty.array_length() > MAX_LEAVES as u64 {
                return None;
            }
            let element = ty.element();
            for index in 0..ty.array_length() {
                path.push(index as u32);
                let at = offset + index * module.alloc_size(element);
                collect(module, element, path, at, found)?;
                path.pop();
            }
            Some(())
        }
        _ => None,
    }
}
