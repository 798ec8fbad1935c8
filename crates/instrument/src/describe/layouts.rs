//! How types lie in memory.

use std::collections::HashMap;

use parallax_record::code::Layout;

use crate::ir::{LLVMTypeKind, Type};
use crate::module::Module;

/// The layouts that a module's code speaks of.
#[derive(Default)]
pub struct Layouts {
    pub list: Vec<Layout>,
    numbers: HashMap<Type, u32>,
}

impl Layouts {
    pub fn of(&mut self, module: &Module, ty: Type) -> u32 {
        if let Some(number) = self.numbers.get(&ty) {
            return *number;
        }
        // Pointers are scalars, so the recursion ends.
        let layout = match ty.kind() {
            LLVMTypeKind::LLVMStructTypeKind if module.is_sized(ty) => Layout::Struct {
                name: ty.struct_name(),
                size: module.alloc_size(ty),
                fields: (0u32..)
                    .zip(ty.struct_fields())
                    .map(|(number, field)| {
                        (module.field_offset(ty, number), self.of(module, field))
                    })
                    .collect(),
            },
            LLVMTypeKind::LLVMArrayTypeKind => Layout::Array {
                count: ty.array_length(),
                stride: module.alloc_size(ty.element()),
                element: self.of(module, ty.element()),
            },
            _ => Layout::Scalar {
                size: if module.is_sized(ty) {
                    module.alloc_size(ty)
                } else {
                    0
                },
            },
        };
        let number = self.list.len() as u32;
        self.list.push(layout);
        self.numbers.insert(ty, number);
        number
    }
}

/// A text of a type that is the same in all modules: structures by their fields, since names differ.
pub fn type_text(module: &Module, ty: Type) -> String {
    match ty.kind() {
        LLVMTypeKind::LLVMVoidTypeKind => "void".to_owned(),
        LLVMTypeKind::LLVMPointerTypeKind => "ptr".to_owned(),
        LLVMTypeKind::LLVMIntegerTypeKind => format!("i{}", ty.int_width()),
        LLVMTypeKind::LLVMFloatTypeKind => "float".to_owned(),
        LLVMTypeKind::LLVMDoubleTypeKind => "double".to_owned(),
        LLVMTypeKind::LLVMStructTypeKind => {
            let fields = ty.struct_fields();
            let fields = fields.iter().map(|field| type_text(module, *field));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        kind => {
            let size = if module.is_sized(ty) {
                module.alloc_size(ty)
            } else {
                0
            };
            format!("{}:{size}", kind as u32)
        }
    }
}
