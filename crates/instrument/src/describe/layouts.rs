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
        let layout = self.as_array(layout);
        let number = self.list.len() as u32;
        self.list.push(layout);
        self.numbers.insert(ty, number);
        number
    }

    /// The front end writes an array of structures with unions in them as a nameless structure, whose fields are the elements.
    fn as_array(&self, layout: Layout) -> Layout {
        let Layout::Struct { name, size, fields } = &layout else {
            return layout;
        };
        let Some((_, first)) = fields.first().filter(|_| name.is_empty()) else {
            return layout;
        };
        let count = fields.len() as u64;
        let stride = size / count;
        let is_element = |(number, (offset, field)): (u64, &(u64, u32))| {
            let is_whole = matches!(&self.list[*field as usize],
                Layout::Struct { size, .. } if *size == stride);
            is_whole && *offset == number * stride
        };
        if count > 1 && (0..).zip(fields).all(is_element) {
            return Layout::Array {
                count,
                stride,
                element: *first,
            };
        }
        layout
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
