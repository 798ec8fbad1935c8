//! Words that a program itself says it understands: options in the tables of `getopt` and texts that it compares with.
//!
//! A branch on the result of such a function cannot be turned round by looking at the branch: the function is outside of the
//! program. But what it was given says which word leads to which result (KATCH, section 4.3).

mod options;

use std::collections::BTreeSet;

pub use options::{OptionWord, Takes, getopt_calls, is_getopt, options, options_of};

use crate::definitions::Read;
use crate::effects::{Variable, base_of};
use crate::preconditions::Values;
use crate::program::{Callee, FunctionId, GlobalId, Layout, Operand, Operation, Program, Spot};

/// What gives a call outside of the program a certain result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One of these options on the command line.
    Options(Vec<OptionWord>),
    /// One of these texts in place of what it is compared with.
    Texts(Vec<Vec<u8>>),
    /// An environment variable of this name.
    Variable(Vec<u8>),
    /// What the system says.
    System(System),
    /// A text of so many bytes.
    Length(u64),
}

/// What functions outside of the program ask the system about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum System {
    /// Whether a file can be opened or a name is there.
    Opening,
    /// What a file is.
    Kind,
    /// Whether output is written.
    Writing,
    /// How characters are encoded.
    Locale,
}

/// Functions whose answer is the system's.
const SYSTEM: &[(System, &[&str])] = &[
    (
        System::Opening,
        &[
            "open",
            "open64",
            "openat",
            "openat64",
            "fopen",
            "fopen64",
            "freopen",
            "freopen64",
            "opendir",
            "access",
            "chdir",
            "readlink",
            "unlink",
            "rename",
            "fts_open",
            "read",
        ],
    ),
    (
        System::Kind,
        &[
            "stat",
            "lstat",
            "fstat",
            "stat64",
            "lstat64",
            "fstat64",
            "fstatat",
            "fstatat64",
            "__xstat",
            "__lxstat",
            "__fxstat",
            "lseek",
            "lseek64",
            "fseeko",
            "fseek",
        ],
    ),
    (
        System::Writing,
        &[
            "fclose",
            "fflush",
            "ferror",
            "ferror_unlocked",
            "fwrite",
            "fwrite_unlocked",
            "write",
            "fputs",
            "fputs_unlocked",
            "putchar",
            "puts",
            "printf",
            "fprintf",
        ],
    ),
    (
        System::Locale,
        &[
            "__ctype_get_mb_cur_max",
            "setlocale",
            "nl_langinfo",
            "mbrtowc",
            "rpl_mbrtowc",
            "mbrlen",
            "iswprint",
            "wcwidth",
        ],
    ),
];

/// Functions that compare two texts, and are 0 if these are the same.
const COMPARE: &[&str] = &[
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "memcmp",
    "bcmp",
    "strcoll",
    "c_strcasecmp",
    "c_strncasecmp",
];
/// Functions that tell how long a text is.
const LENGTH: &[&str] = &["strlen", "strnlen", "getline", "getdelim", "__getdelim"];
/// Functions that compare two texts, and are not 0 if these are the same.
const SAME: &[&str] = &["streq", "STREQ", "str_eq"];

/// Name and arguments of a call of a named function.
pub fn called(program: &Program, spot: Spot) -> Option<(&str, &[Operand])> {
    let block = program.block(spot.block);
    match &block.instructions.get(spot.number as usize)?.operation {
        Operation::Call {
            callee: Callee::Function(index),
            arguments,
            ..
        } => Some((&program.functions[*index as usize].name, arguments)),
        _ => None,
    }
}

/// What gives a call one of these results; `None` if nothing is known about the function.
pub fn source_of(program: &Program, spot: Spot, values: Option<&Values>) -> Option<Source> {
    let (name, arguments) = called(program, spot)?;
    let function = program.block(spot.block).function;
    if is_getopt(name) {
        let mut options = options_of(program, spot);
        let fits = |option: &OptionWord| {
            let result = if option.flag.is_some() {
                0
            } else {
                option.value
            };
            values.is_none_or(|values| values.contains(result as u64))
        };
        options.retain(fits);
        return Some(Source::Options(options));
    }
    let holds = |value: u64| values.is_none_or(|values| values.contains(value));
    let is_comparison = COMPARE.contains(&name) && holds(0);
    let is_equality = SAME.contains(&name) && holds(1);
    if is_comparison || is_equality {
        let mut operands = arguments.iter().take(2);
        let texts = operands.find_map(|operand| {
            let one = text_of(program, function, *operand).map(|text| vec![text]);
            one.or_else(|| table_of(program, function, *operand))
        })?;
        let texts = texts.into_iter().map(<[u8]>::to_vec);
        return Some(Source::Texts(texts.collect()));
    }
    let is_there = values.is_none_or(|values| !values.contains(0));
    if matches!(name, "getenv" | "secure_getenv") && is_there {
        let name = text_of(program, function, *arguments.first()?)?;
        return Some(Source::Variable(name.to_vec()));
    }
    if LENGTH.contains(&name)
        && let Some((least, _)) = values.and_then(|values| values.ranges().first())
        && *least > 0
    {
        return Some(Source::Length(*least));
    }
    asked(name).map(Source::System)
}

/// The texts that a program has in it.
pub fn texts(program: &Program) -> impl Iterator<Item = &[u8]> {
    let texts = program
        .globals
        .iter()
        .filter_map(|global| global.text.as_deref());
    let whole = texts.flat_map(|text| text.split(|byte| *byte == 0).next());
    whole.filter(|text| !text.is_empty())
}

/// What a function asks the system about.
fn asked(name: &str) -> Option<System> {
    let own = name.strip_prefix("rpl_").unwrap_or(name);
    let mut kinds = SYSTEM.iter();
    kinds
        .find(|(_, names)| names.contains(&own))
        .map(|(kind, _)| *kind)
}

/// What a call asks the system about that writes its answer to memory.
pub fn answer_at(program: &Program, spot: Spot) -> Option<System> {
    called(program, spot).and_then(|(name, _)| asked(name))
}

/// The options that store one of the values to a variable, of all calls of `getopt` functions.
pub fn flags_of(
    program: &Program,
    calls: &[Spot],
    read: &Read,
    values: Option<&Values>,
) -> Vec<OptionWord> {
    let Read::Memory { spot, address, .. } = read else {
        return Vec::new();
    };
    let function = program.block(spot.block).function;
    let Some((Variable::Global(global), Some(0))) = base_of(program, function, *address) else {
        return Vec::new();
    };
    let options = calls.iter().flat_map(|call| options_of(program, *call));
    options
        .filter(|option| option.flag == Some(global))
        .filter(|option| values.is_none_or(|values| values.contains(option.value as u64)))
        .collect()
}

/// The environment variables that a program asks for by name.
pub fn variables(program: &Program) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for block in program.block_ids() {
        let function = program.block(block).function;
        for number in 0..program.block(block).instructions.len() as u32 {
            if let Some(("getenv" | "secure_getenv", [name, ..])) =
                called(program, Spot { block, number })
                && let Some(name) = text_of(program, function, *name)
            {
                names.push(name.to_vec());
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

/// The texts that a program compares others with.
pub fn compared(program: &Program) -> BTreeSet<Vec<u8>> {
    let mut texts = BTreeSet::new();
    for block in program.block_ids() {
        let function = program.block(block).function;
        for number in 0..program.block(block).instructions.len() as u32 {
            let Some((name, arguments)) = called(program, Spot { block, number }) else {
                continue;
            };
            if COMPARE.contains(&name) || SAME.contains(&name) {
                for operand in arguments.iter().take(2) {
                    let one = text_of(program, function, *operand).map(|text| vec![text]);
                    let some = one.or_else(|| table_of(program, function, *operand));
                    texts.extend(some.into_iter().flatten().map(<[u8]>::to_vec));
                }
            }
        }
    }
    texts
}

/// The texts in the tables of a program: names of commands, of formats, of whatever it looks up.
pub fn listed(program: &Program) -> BTreeSet<Vec<u8>> {
    /// Fewer texts are no table.
    const FEWEST: usize = 3;
    let mut texts = BTreeSet::new();
    for global in &program.globals {
        let is_array = matches!(
            program.layouts[global.layout as usize],
            Layout::Array { .. }
        );
        if !is_array || global.pointers.len() > 4 * MOST_ENTRIES {
            continue;
        }
        let pointers = global.pointers.iter();
        let own: Vec<&[u8]> = pointers
            .filter_map(|(_, operand)| text_of(program, FunctionId(0), *operand))
            .collect();
        if own.len() >= FEWEST {
            texts.extend(own.into_iter().map(<[u8]>::to_vec));
        }
    }
    texts
}

/// Entries of a table that are looked at.
const MOST_ENTRIES: usize = 256;

/// The texts of a table, one of which is read at an address that depends on a variable.
fn table_of(program: &Program, function: FunctionId, operand: Operand) -> Option<Vec<&[u8]>> {
    let Operand::Value(value) = operand else {
        return None;
    };
    let Operation::Load { address, .. } = program.operation(function, value)? else {
        return None;
    };
    let (Variable::Global(global), _) = base_of(program, function, *address)? else {
        return None;
    };
    let pointers = program.global(global).pointers.iter().take(MOST_ENTRIES);
    let texts = pointers.filter_map(|(_, operand)| text_of(program, FunctionId(0), *operand));
    Some(texts.collect())
}

/// The texts that stand beside a function in tables: the names that it is found by.
pub fn names_of(program: &Program, function: FunctionId) -> Vec<&[u8]> {
    names_beside(program, &|operand| {
        *operand == Operand::Function(function.0)
    })
}

/// The texts that stand beside the address of a variable in tables: the names that it is set by.
pub fn names_of_variable<'p>(program: &'p Program, read: &Read) -> Vec<&'p [u8]> {
    let Read::Memory { spot, address, .. } = read else {
        return Vec::new();
    };
    let function = program.block(spot.block).function;
    let Some((Variable::Global(global), Some(at))) = base_of(program, function, *address) else {
        return Vec::new();
    };
    names_beside(program, &|operand| {
        let Operand::Global { index, offset } = *operand else {
            return false;
        };
        index == global.0 && offset == at
    })
}

/// The texts in those entries of tables that have a certain pointer.
fn names_beside<'p>(program: &'p Program, is_it: &dyn Fn(&Operand) -> bool) -> Vec<&'p [u8]> {
    let mut names = Vec::new();
    for global in &program.globals {
        let Layout::Array { stride, .. } = program.layouts[global.layout as usize] else {
            continue;
        };
        let places = global.pointers.iter().filter(|(_, operand)| is_it(operand));
        for (at, _) in places {
            let begin = at - at % stride.max(1);
            let entry = begin..begin + stride;
            let beside = global.pointers.iter().filter(|(at, _)| entry.contains(at));
            names.extend(
                beside.filter_map(|(_, operand)| text_of(program, FunctionId(0), *operand)),
            );
        }
    }
    names
}

/// The text that an operand is the address of.
pub fn text_of(program: &Program, function: FunctionId, operand: Operand) -> Option<&[u8]> {
    let (global, offset) = constant_address(program, function, operand)?;
    let text = program.global(global).text.as_deref()?;
    let text = text.get(usize::try_from(offset).ok()?..)?;
    // Without what is behind its end.
    text.split(|byte| *byte == 0).next()
}

/// Where a constant pointer points to, also if it is kept in a variable that is never written to.
fn constant_address(
    program: &Program,
    function: FunctionId,
    operand: Operand,
) -> Option<(GlobalId, u64)> {
    match operand {
        Operand::Global { index, offset } => Some((GlobalId(index), u64::try_from(offset).ok()?)),
        Operand::Value(value) => match program.operation(function, value)? {
            Operation::Load { address, .. } => {
                let (Variable::Global(global), Some(offset)) =
                    base_of(program, function, *address)?
                else {
                    return None;
                };
                let global = program.global(global);
                let mut pointers = global.pointers.iter();
                let offset = u64::try_from(offset).ok()?;
                let (_, pointer) = pointers.find(|(at, _)| *at == offset)?;
                match pointer {
                    Operand::Global { index, offset } => {
                        Some((GlobalId(*index), u64::try_from(*offset).ok()?))
                    }
                    _ => None,
                }
            }
            Operation::Offset {
                base,
                constant,
                scaled,
                ..
            } if scaled.is_empty() => {
                let (global, offset) = constant_address(program, function, *base)?;
                Some((global, offset.checked_add_signed(*constant)?))
            }
            _ => None,
        },
        _ => None,
    }
}
