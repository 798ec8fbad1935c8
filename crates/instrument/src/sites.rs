//! Names every place that an event can speak of, before anything is changed.
//!
//! Definitions. The *shape* of a block is the sequence of its instructions' opcodes, types,
//! constant operands and called functions. A block's id is the hash of (base
//! name of the source file, function, shape, ordinal among the function's blocks of the same shape); a
//! site's id is the hash of (block id, kind, ordinal of that kind within the
//! block). So an id survives rebuilds, another build folder, and changes
//! elsewhere in the function; it does not survive a change of its own block,
//! which is what a patch is.
//!
//! Ids are attached to the instructions as metadata and so survive the passes that run before
//! instrumentation. Code that is in several modules (functions in headers) has the
//! same ids in all of them: it is the same place in the source.

use std::collections::HashMap;

use parallax_abi::SiteKind;
use parallax_record::{FunctionSites, Site, SiteTable};

use crate::ir::{Block, LLVMOpcode, LLVMTypeKind, Type, Value};
use crate::module::Module;

/// Walks the whole module; attaches ids; gives the table.
pub fn assign(module: &Module) -> SiteTable {
    let mut files = Files::default();
    let mut functions = Vec::new();
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        functions.push(assign_function(module, function, &mut files));
    }
    SiteTable {
        files: files.names,
        functions,
    }
}

/// Id of the copy of a site that was inlined through a call.
pub fn inlined_id(site: u64, call: u64) -> u64 {
    hash_words(&site.to_le_bytes(), &[call])
}

/// Identity of a module's table, by which counters find it.
pub fn table_id(table: &SiteTable) -> Result<u64, serde_json::Error> {
    Ok(hash_words(&serde_json::to_vec(table)?, &[]))
}

/// Source files in order of first appearance.
#[derive(Default)]
pub struct Files {
    pub names: Vec<String>,
    index: HashMap<(String, String), u32>,
}

impl Files {
    pub fn index_of(&mut self, file: (String, String)) -> u32 {
        if let Some(index) = self.index.get(&file) {
            return *index;
        }
        let path = std::path::Path::new(&file.0).join(&file.1);
        let index = self.names.len() as u32;
        self.names.push(path.to_string_lossy().into_owned());
        self.index.insert(file, index);
        index
    }
}

fn assign_function(module: &Module, function: Value, files: &mut Files) -> FunctionSites {
    let name = function.name();
    let (file, line) = function
        .subprogram()
        .unwrap_or_else(|| ((String::new(), module.source_name()), 0));
    let base_name = file.1.rsplit('/').next().unwrap_or_default().to_owned();
    let file = files.index_of(file);

    let mut seen: HashMap<[u8; 32], u32> = HashMap::new();
    let mut block_ids: HashMap<Block, u64> = HashMap::new();
    let blocks = function.blocks();
    for block in &blocks {
        let mut shape = blake3::Hasher::new();
        for part in [&base_name, &name] {
            shape.update(part.as_bytes());
            shape.update(&[0]);
        }
        for instruction in block.instructions() {
            hash_instruction(&mut shape, instruction);
        }
        let shape = *shape.finalize().as_bytes();
        let ordinal = seen.entry(shape).or_insert(0);
        block_ids.insert(*block, hash_words(&shape, &[u64::from(*ordinal)]));
        *ordinal += 1;
    }

    let mut sites = Vec::new();
    for block in &blocks {
        let block_id = block_ids[block];
        let mut counts: HashMap<SiteKind, u64> = HashMap::new();
        let instructions = block.instructions();
        let place = instructions
            .iter()
            .find(|instruction| instruction.line().0 != 0)
            .copied()
            .unwrap_or(block.terminator());
        let successors = successors(block.terminator());
        let describe = |files: &mut Files, instruction: Value, id, kind: SiteKind| {
            let (line, column) = instruction.line();
            Site {
                id,
                kind: kind as u8,
                file: instruction.file().map_or(file, |file| files.index_of(file)),
                line,
                column,
                cases: Vec::new(),
                successors: Vec::new(),
                original: 0,
                within: Vec::new(),
                text: String::new(),
            }
        };
        let mut site = describe(files, place, block_id, SiteKind::Block);
        site.successors = successors
            .iter()
            .map(|successor| block_ids[successor])
            .collect();
        sites.push(site);
        for instruction in instructions {
            instruction.set_number(module.block_kind, block_id);
            let Some(kind) = kind_of(instruction) else {
                continue;
            };
            let ordinal = counts.entry(kind).or_insert(0);
            let id = hash_words(&block_id.to_le_bytes(), &[kind as u64, *ordinal]);
            *ordinal += 1;
            instruction.set_number(module.site_kind, id);
            let mut site = describe(files, instruction, id, kind);
            match kind {
                SiteKind::Branch => {
                    site.successors = [1, 0]
                        .map(|side| block_ids[&instruction.successor(side)])
                        .to_vec();
                }
                SiteKind::Switch => {
                    site.successors = successors
                        .iter()
                        .map(|successor| block_ids[successor])
                        .collect();
                    site.cases = (1..instruction.operand_count() / 2)
                        .map(|case| instruction.operand(2 * case).constant_int().unwrap_or(0))
                        .collect();
                }
                SiteKind::Call => {
                    let callee = instruction.called_value();
                    if callee.is_function() {
                        site.text = callee.name();
                    }
                }
                SiteKind::Arithmetic => site.text = opcode_name(instruction.opcode()).into(),
                _ => {}
            }
            sites.push(site);
        }
    }
    FunctionSites {
        name,
        file,
        line,
        sites,
    }
}

fn successors(terminator: Value) -> Vec<Block> {
    (0..terminator.successor_count())
        .map(|index| terminator.successor(index))
        .collect()
}

/// Which instructions are sites of their own; all others are named by their block.
fn kind_of(instruction: Value) -> Option<SiteKind> {
    use LLVMOpcode::*;
    Some(match instruction.opcode() {
        LLVMBr if instruction.is_conditional() => SiteKind::Branch,
        LLVMSwitch => SiteKind::Switch,
        LLVMSelect => SiteKind::Select,
        LLVMCall | LLVMInvoke => {
            let callee = instruction.called_value();
            if callee
                .intrinsic_name()
                .is_some_and(|name| name.starts_with("llvm.dbg"))
            {
                return None;
            }
            SiteKind::Call
        }
        LLVMLoad => SiteKind::Load,
        LLVMStore => SiteKind::Store,
        LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr => {
            SiteKind::Arithmetic
        }
        LLVMAdd | LLVMSub | LLVMMul if instruction.no_signed_wrap() => SiteKind::Arithmetic,
        _ => return None,
    })
}

fn hash_words(seed: &[u8], words: &[u64]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(seed);
    for word in words {
        hasher.update(&word.to_le_bytes());
    }
    let bytes: [u8; 8] = hasher.finalize().as_bytes()[..8]
        .try_into()
        .expect("8 of 32 bytes");
    // 0 means "no site".
    u64::from_le_bytes(bytes).max(1)
}

fn hash_instruction(hasher: &mut blake3::Hasher, instruction: Value) {
    let opcode = instruction.opcode();
    hasher.update(&(opcode as u32).to_le_bytes());
    hash_type(hasher, instruction.ty(), 3);
    if opcode == LLVMOpcode::LLVMICmp {
        hasher.update(&(instruction.int_predicate() as u32).to_le_bytes());
    }
    if opcode == LLVMOpcode::LLVMFCmp {
        hasher.update(&instruction.real_predicate().to_le_bytes());
    }
    if opcode == LLVMOpcode::LLVMPHI {
        return;
    }
    for operand in instruction.operands() {
        if let Some(number) = operand.constant_int() {
            hasher.update(b"i");
            hasher.update(&number.to_le_bytes());
        } else if operand.is_function() {
            hasher.update(b"f");
            hasher.update(operand.name().as_bytes());
        } else if operand.is_constant() {
            // Names of globals; private ones (string literals) are numbered by
            // appearance in the module, so their names would not be stable.
            let name = operand.name();
            hasher.update(b"c");
            if !name.starts_with(".str") && !name.starts_with("__const.") {
                hasher.update(name.as_bytes());
            }
        } else {
            hasher.update(b"v");
            hash_type(hasher, operand.ty(), 1);
        }
    }
}

fn hash_type(hasher: &mut blake3::Hasher, ty: Type, depth: u32) {
    let kind = ty.kind();
    hasher.update(&[kind as u8]);
    match kind {
        LLVMTypeKind::LLVMIntegerTypeKind => {
            hasher.update(&ty.int_width().to_le_bytes());
        }
        LLVMTypeKind::LLVMStructTypeKind if depth > 0 => {
            for field in ty.struct_fields() {
                hash_type(hasher, field, depth - 1);
            }
        }
        LLVMTypeKind::LLVMArrayTypeKind if depth > 0 => {
            hasher.update(&ty.array_length().to_le_bytes());
            hash_type(hasher, ty.element(), depth - 1);
        }
        _ => {}
    }
}

/// How an instruction is called in tables and loss records.
pub fn opcode_name(opcode: LLVMOpcode) -> &'static str {
    use LLVMOpcode::*;
    match opcode {
        LLVMAdd => "add",
        LLVMSub => "sub",
        LLVMMul => "mul",
        LLVMUDiv => "udiv",
        LLVMSDiv => "sdiv",
        LLVMURem => "urem",
        LLVMSRem => "srem",
        LLVMShl => "shl",
        LLVMLShr => "lshr",
        LLVMAShr => "ashr",
        LLVMAnd => "and",
        LLVMOr => "or",
        LLVMXor => "xor",
        LLVMFAdd => "fadd",
        LLVMFSub => "fsub",
        LLVMFMul => "fmul",
        LLVMFDiv => "fdiv",
        LLVMFRem => "frem",
        LLVMFNeg => "fneg",
        LLVMICmp => "icmp",
        LLVMFCmp => "fcmp",
        LLVMLoad => "load",
        LLVMStore => "store",
        LLVMAtomicRMW => "atomicrmw",
        LLVMAtomicCmpXchg => "cmpxchg",
        LLVMExtractElement => "extractelement",
        LLVMInsertElement => "insertelement",
        LLVMShuffleVector => "shufflevector",
        LLVMVAArg => "va_arg",
        LLVMIndirectBr => "indirectbr",
        LLVMCall => "call",
        LLVMSelect => "select",
        _ => "instruction",
    }
}
