//! Puts modules together: the same names mean the same things, as for a linker.

use std::collections::HashMap;

use parallax_abi::SiteId;
use parallax_record::code::{self, ModuleCode};

use super::sites::Index;
use super::{
    Block, BlockId, Callee, Function, FunctionId, Global, Layout, Linkage, Operand, Operation,
    Program, Terminator,
};

impl Program {
    /// Links the modules of a program, and of the captured libraries that it uses, in that order: of two
    /// definitions that everybody can name the first counts.
    pub fn link(modules: Vec<ModuleCode>) -> Program {
        let mut linker = Linker::default();
        for module in modules {
            linker.add(module);
        }
        let mut program = linker.program;
        program.names = linker.functions;
        program.connect();
        program.sites = Index::new(&program);
        program
    }

    /// Fills in predecessors, from successors.
    fn connect(&mut self) {
        for id in 0..self.blocks.len() as u32 {
            for successor in self.blocks[id as usize].successors.clone() {
                self.blocks[successor.index()]
                    .predecessors
                    .push(BlockId(id));
            }
        }
    }
}

#[derive(Default)]
struct Linker {
    program: Program,
    functions: HashMap<String, FunctionId>,
    globals: HashMap<String, u32>,
    files: HashMap<String, u32>,
    layouts: HashMap<Layout, u32>,
    signatures: HashMap<String, u32>,
}

/// What a module's numbers are in the program.
struct Translation {
    files: Vec<u32>,
    layouts: Vec<u32>,
    signatures: Vec<u32>,
    globals: Vec<u32>,
    functions: Vec<u32>,
}

/// Number of something in a list without repetitions.
fn intern<T: Clone + Eq + std::hash::Hash>(
    list: &mut Vec<T>,
    numbers: &mut HashMap<T, u32>,
    item: T,
) -> u32 {
    *numbers.entry(item.clone()).or_insert_with(|| {
        list.push(item);
        list.len() as u32 - 1
    })
}

impl Linker {
    fn add(&mut self, module: ModuleCode) {
        let mut translation = Translation {
            files: Vec::new(),
            layouts: Vec::new(),
            signatures: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        };
        for file in module.files {
            let number = intern(&mut self.program.files, &mut self.files, file);
            translation.files.push(number);
        }
        for layout in module.layouts {
            // Parts come before the whole, so their numbers are known.
            let layout = match layout {
                Layout::Struct { name, size, fields } => Layout::Struct {
                    name,
                    size,
                    fields: fields
                        .into_iter()
                        .map(|(offset, part)| (offset, translation.layouts[part as usize]))
                        .collect(),
                },
                Layout::Array {
                    count,
                    stride,
                    element,
                } => Layout::Array {
                    count,
                    stride,
                    element: translation.layouts[element as usize],
                },
                scalar @ Layout::Scalar { .. } => scalar,
            };
            let number = intern(&mut self.program.layouts, &mut self.layouts, layout);
            translation.layouts.push(number);
        }
        for signature in module.signatures {
            let number = intern(
                &mut self.program.signatures,
                &mut self.signatures,
                signature,
            );
            translation.signatures.push(number);
        }
        let (kept_globals, globals) = self.place_globals(&module.globals, &translation);
        translation.globals = globals;
        let (kept_functions, functions) = self.place_functions(&module.functions, &translation);
        translation.functions = functions;
        for (global, number) in module.globals.into_iter().zip(kept_globals) {
            if let Some(number) = number {
                self.define_global(number, global, &translation);
            }
        }
        for (function, id) in module.functions.into_iter().zip(kept_functions) {
            if let Some(id) = id {
                self.define_function(id, function.blocks, &translation);
            }
        }
    }

    /// Gives every global a number; the first list has those that this module's definition counts for.
    fn place_globals(
        &mut self,
        globals: &[code::Global],
        translation: &Translation,
    ) -> (Vec<Option<u32>>, Vec<u32>) {
        let mut kept = Vec::new();
        let mut numbers = Vec::new();
        for global in globals {
            let known = match global.linkage {
                Linkage::Local => None,
                _ => self.globals.get(&global.name).copied(),
            };
            let number = known.unwrap_or_else(|| {
                let number = self.program.globals.len() as u32;
                self.program.globals.push(Global {
                    name: global.name.clone(),
                    linkage: Linkage::Declared,
                    constant: global.constant,
                    layout: translation.layouts[global.layout as usize],
                    pointers: Vec::new(),
                    numbers: Vec::new(),
                    numbers_complete: false,
                    text: None,
                    file: 0,
                    line: 0,
                });
                if global.linkage != Linkage::Local {
                    self.globals.insert(global.name.clone(), number);
                }
                number
            });
            let present = self.program.globals[number as usize].linkage;
            let counts = prevails(global.linkage, present);
            kept.push(counts.then_some(number));
            numbers.push(number);
        }
        (kept, numbers)
    }

    fn define_global(&mut self, number: u32, global: code::Global, translation: &Translation) {
        let pointers = global.pointers.into_iter();
        self.program.globals[number as usize] = Global {
            name: global.name,
            linkage: global.linkage,
            constant: global.constant,
            layout: translation.layouts[global.layout as usize],
            pointers: pointers
                .map(|(offset, pointer)| (offset, translation.operand(pointer)))
                .collect(),
            numbers: global.numbers,
            numbers_complete: global.numbers_complete,
            text: global.text,
            file: translation.file(global.file),
            line: global.line,
        };
    }

    fn place_functions(
        &mut self,
        functions: &[code::Function],
        translation: &Translation,
    ) -> (Vec<Option<FunctionId>>, Vec<u32>) {
        let mut kept = Vec::new();
        let mut numbers = Vec::new();
        for function in functions {
            let known = match function.linkage {
                Linkage::Local => None,
                _ => self.functions.get(&function.name).copied(),
            };
            let id = known.unwrap_or_else(|| {
                let id = FunctionId(self.program.functions.len() as u32);
                self.program.functions.push(Function {
                    name: function.name.clone(),
                    linkage: Linkage::Declared,
                    file: 0,
                    line: 0,
                    signature: translation.signatures[function.signature as usize],
                    parameters: function.parameters.clone(),
                    variadic: function.variadic,
                    never_returns: function.never_returns,
                    blocks: 0..0,
                    values: function.parameters.len() as u32,
                });
                if function.linkage != Linkage::Local {
                    self.functions.insert(function.name.clone(), id);
                }
                id
            });
            let present = &mut self.program.functions[id.index()];
            present.never_returns |= function.never_returns;
            let counts = prevails(function.linkage, present.linkage);
            if counts {
                present.linkage = function.linkage;
                present.file = translation.file(function.file);
                present.line = function.line;
                present.signature = translation.signatures[function.signature as usize];
                present.parameters.clone_from(&function.parameters);
                present.variadic = function.variadic;
            }
            kept.push(counts.then_some(id));
            numbers.push(id.0);
        }
        (kept, numbers)
    }

    fn define_function(
        &mut self,
        id: FunctionId,
        blocks: Vec<code::Block>,
        translation: &Translation,
    ) {
        // A weak definition that a strong one replaced leaves its blocks behind, outside of every function.
        let start = self.program.blocks.len() as u32;
        let mut value = self.program.function(id).parameters.len() as u32;
        for block in blocks {
            let first_value = value;
            value += block.instructions.len() as u32;
            let instructions = block.instructions.into_iter().map(|mut instruction| {
                instruction.place.file = translation.file(instruction.place.file);
                translation.operation(&mut instruction.operation);
                instruction
            });
            let mut end = block.end;
            end.file = translation.file(end.file);
            let mut successors: Vec<BlockId> = Vec::new();
            for number in block.terminator.successors() {
                let successor = BlockId(start + number);
                if !successors.contains(&successor) {
                    successors.push(successor);
                }
            }
            let block = Block {
                function: id,
                site: SiteId(block.site),
                first_value,
                instructions: instructions.collect(),
                terminator: translation.terminator(block.terminator),
                end,
                successors,
                predecessors: Vec::new(),
            };
            self.program.blocks.push(block);
        }
        let function = &mut self.program.functions[id.index()];
        function.blocks = start..self.program.blocks.len() as u32;
        function.values = value;
    }
}

/// Whether a definition replaces what is known so far.
fn prevails(new: Linkage, present: Linkage) -> bool {
    match new {
        Linkage::Declared => false,
        Linkage::Local => true,
        Linkage::Strong => present != Linkage::Strong,
        Linkage::Weak => present == Linkage::Declared,
    }
}

impl Translation {
    fn file(&self, file: u32) -> u32 {
        self.files.get(file as usize).copied().unwrap_or(0)
    }

    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Global { index, offset } => Operand::Global {
                index: self.globals[index as usize],
                offset,
            },
            Operand::Function(index) => Operand::Function(self.functions[index as usize]),
            other => other,
        }
    }

    fn change(&self, operand: &mut Operand) {
        *operand = self.operand(*operand);
    }

    fn operation(&self, operation: &mut Operation) {
        match operation {
            Operation::Variable { layout, .. } => *layout = self.layouts[*layout as usize],
            Operation::Load { address, .. } => self.change(address),
            Operation::Store { address, value, .. } => {
                self.change(address);
                self.change(value);
            }
            Operation::Offset {
                base,
                scaled,
                field,
                ..
            } => {
                self.change(base);
                scaled.iter_mut().for_each(|(index, _)| self.change(index));
                if let Some(field) = field {
                    field.layout = self.layouts[field.layout as usize];
                }
            }
            Operation::Compare { left, right, .. } | Operation::Arithmetic { left, right, .. } => {
                self.change(left);
                self.change(right);
            }
            Operation::Convert { value, .. } => self.change(value),
            Operation::Phi { incoming, .. } => {
                incoming
                    .iter_mut()
                    .for_each(|(_, value)| self.change(value));
            }
            Operation::Select {
                condition,
                then,
                otherwise,
                ..
            } => {
                self.change(condition);
                self.change(then);
                self.change(otherwise);
            }
            Operation::Call {
                callee,
                arguments,
                signature,
                ..
            } => {
                match callee {
                    Callee::Function(index) => *index = self.functions[*index as usize],
                    Callee::Pointer(pointer) => self.change(pointer),
                    Callee::Assembly => {}
                }
                arguments.iter_mut().for_each(|value| self.change(value));
                *signature = self.signatures[*signature as usize];
            }
            Operation::Copy { to, from, length } => {
                self.change(to);
                self.change(from);
                self.change(length);
            }
            Operation::Fill { to, value, length } => {
                self.change(to);
                self.change(value);
                self.change(length);
            }
            Operation::Other { operands, .. } => {
                operands.iter_mut().for_each(|value| self.change(value));
            }
        }
    }

    fn terminator(&self, mut terminator: Terminator) -> Terminator {
        match &mut terminator {
            Terminator::Branch { condition, .. } => self.change(condition),
            Terminator::Switch { value, .. } => self.change(value),
            Terminator::Return(Some(value)) => self.change(value),
            _ => {}
        }
        terminator
    }
}
