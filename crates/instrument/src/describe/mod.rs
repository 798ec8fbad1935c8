//! Writes a module down as plain data, for analyses outside of clang.
//!
//! Runs right after the sites were named and before anything is changed: see [`parallax_record::code`] for
//! what is kept. What has no plain form becomes `Unknown` or `Other`, which analyses must expect anything of.

mod constants;
mod function;
mod layouts;

use std::collections::HashMap;

use llvm_sys::LLVMLinkage;
use parallax_record::code::{Global, Linkage, ModuleCode};

use crate::ir::{Type, Value};
use crate::module::Module;
use crate::sites::Files;
use layouts::Layouts;

/// Describes a module whose sites have been assigned.
pub fn describe(module: &Module) -> ModuleCode {
    let globals = module.globals();
    let functions: Vec<Value> = module
        .functions()
        .into_iter()
        .filter(|function| function.intrinsic_name().is_none())
        .collect();
    let numbered = |values: &[Value]| {
        let pairs = values.iter().enumerate();
        pairs
            .map(|(number, value)| (*value, number as u32))
            .collect()
    };
    let mut writer = Writer {
        module,
        global_numbers: numbered(&globals),
        function_numbers: numbered(&functions),
        files: Files::default(),
        layouts: Layouts::default(),
        signatures: Vec::new(),
        signature_numbers: HashMap::new(),
    };
    let globals = globals
        .iter()
        .map(|global| writer.global(*global))
        .collect();
    let functions = functions
        .iter()
        .map(|function| writer.function(*function))
        .collect();
    ModuleCode {
        files: writer.files.names,
        layouts: writer.layouts.list,
        signatures: writer.signatures,
        globals,
        functions,
    }
}

/// What all parts share while a module is written down.
struct Writer<'a> {
    module: &'a Module,
    global_numbers: HashMap<Value, u32>,
    function_numbers: HashMap<Value, u32>,
    files: Files,
    layouts: Layouts,
    signatures: Vec<String>,
    signature_numbers: HashMap<String, u32>,
}

impl Writer<'_> {
    fn global(&mut self, global: Value) -> Global {
        let layout = self.layouts.of(self.module, global.function_type());
        let (file, line) = match global.global_place() {
            Some((file, line)) => (self.files.index_of(file), line),
            None => (0, 0),
        };
        let mut contents = constants::Contents::default();
        if let Some(initializer) = global.initializer() {
            self.contents(initializer, 0, &mut contents);
        }
        Global {
            name: global.name(),
            linkage: linkage(global),
            constant: global.is_global_constant(),
            layout,
            pointers: contents.pointers,
            numbers: contents.numbers,
            numbers_complete: !contents.numbers_left_out,
            text: contents.text,
            file,
            line,
        }
    }

    /// Number of a function type's text.
    fn signature(&mut self, ty: Type) -> u32 {
        let mut text = layouts::type_text(self.module, ty.result());
        text.push('(');
        for parameter in ty.parameters() {
            text.push_str(&layouts::type_text(self.module, parameter));
            text.push(',');
        }
        if ty.is_variadic() {
            text.push_str("...");
        }
        text.push(')');
        if let Some(number) = self.signature_numbers.get(&text) {
            return *number;
        }
        let number = self.signatures.len() as u32;
        self.signatures.push(text.clone());
        self.signature_numbers.insert(text, number);
        number
    }
}

fn linkage(value: Value) -> Linkage {
    if value.is_declaration() {
        return Linkage::Declared;
    }
    match value.linkage() {
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => Linkage::Local,
        LLVMLinkage::LLVMExternalLinkage | LLVMLinkage::LLVMAppendingLinkage => Linkage::Strong,
        // The traced variant makes a copy of its own of such bodies.
        LLVMLinkage::LLVMAvailableExternallyLinkage => Linkage::Local,
        _ => Linkage::Weak,
    }
}

/// Bits of integers and pointers of at most 64 bits, else 0.
fn width(ty: Type) -> u16 {
    if ty.is_pointer() {
        return 64;
    }
    match ty.int_width() {
        bits @ 1..=64 => bits as u16,
        _ => 0,
    }
}
