//! Options: what calls of `getopt` functions are given says which ones a program has.

use super::{called, constant_address, text_of};
use crate::program::{FunctionId, GlobalId, Operand, Program, Spot};

/// Whether an option has an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Takes {
    Nothing,
    /// One that must be there.
    Argument,
    /// One that may be there, in the same word.
    Optional,
}

/// One option of a `getopt` function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OptionWord {
    /// With its dashes.
    pub spelling: Vec<u8>,
    pub takes: Takes,
    /// What the function returns for it; what it stores instead if there is a flag.
    pub value: i64,
    /// The variable that gets the value.
    pub flag: Option<GlobalId>,
}

/// Functions that read options, by the last part of their names: programs bring their own.
const GETOPT: &[&str] = &["getopt", "getopt_long", "getopt_long_only"];

/// Whether a function reads options as `getopt` does.
pub fn is_getopt(name: &str) -> bool {
    let own = name.trim_start_matches('_');
    let own = own.strip_prefix("rpl_").unwrap_or(own);
    GETOPT.contains(&own)
}

/// All calls of `getopt` functions.
pub fn getopt_calls(program: &Program) -> Vec<Spot> {
    let mut calls = Vec::new();
    for block in program.block_ids() {
        for number in 0..program.block(block).instructions.len() as u32 {
            let spot = Spot { block, number };
            if called(program, spot).is_some_and(|(name, _)| is_getopt(name)) {
                calls.push(spot);
            }
        }
    }
    calls
}

/// The options that calls of `getopt` functions know, each once.
pub fn options(program: &Program, calls: &[Spot]) -> Vec<OptionWord> {
    let calls = calls.iter();
    let mut options: Vec<OptionWord> = calls.flat_map(|call| options_of(program, *call)).collect();
    options.sort();
    options.dedup();
    options
}

/// The options that a call of a `getopt` function knows.
pub fn options_of(program: &Program, call: Spot) -> Vec<OptionWord> {
    let Some((name, arguments)) = called(program, call) else {
        return Vec::new();
    };
    let function = program.block(call.block).function;
    let letters = arguments
        .get(2)
        .and_then(|argument| text_of(program, function, *argument));
    let mut options = letters.map_or_else(Vec::new, short_options);
    if name.contains("long")
        && let Some(table) = arguments.get(3)
        && let Some((table, offset)) = constant_address(program, function, *table)
    {
        options.extend(long_options(program, table, offset));
    }
    options
}

/// `"ab:c::"`
fn short_options(letters: &[u8]) -> Vec<OptionWord> {
    let mut options = Vec::new();
    let mut rest = letters;
    while let Some((letter, after)) = rest.split_first() {
        let colons = after.iter().take_while(|byte| **byte == b':').count();
        rest = &after[colons..];
        // `+`, `-` and `:` at the beginning say how to read, `W;` is for long names.
        if !letter.is_ascii_graphic() || b"+-:;".contains(letter) {
            continue;
        }
        options.push(OptionWord {
            spelling: vec![b'-', *letter],
            takes: match colons {
                0 => Takes::Nothing,
                1 => Takes::Argument,
                _ => Takes::Optional,
            },
            value: i64::from(*letter),
            flag: None,
        });
    }
    options
}

/// An array of `struct option`: name, whether there is an argument, flag, value.
fn long_options(program: &Program, table: GlobalId, begin: u64) -> Vec<OptionWord> {
    const STRIDE: u64 = 32;
    let table = program.global(table);
    let number = |at: u64| {
        let mut numbers = table.numbers.iter();
        numbers
            .find(|(offset, ..)| *offset == at)
            .map_or(0, |(.., value)| *value)
    };
    let pointer = |at: u64| {
        let mut pointers = table.pointers.iter();
        pointers
            .find(|(offset, _)| *offset == at)
            .map(|(_, operand)| *operand)
    };
    let mut options = Vec::new();
    let mut at = begin;
    while let Some(name) = pointer(at).and_then(|name| text_of(program, FunctionId(0), name)) {
        let flag = match pointer(at + 16) {
            Some(Operand::Global { index, offset: 0 }) => Some(GlobalId(index)),
            _ => None,
        };
        options.push(OptionWord {
            spelling: [b"--", name].concat(),
            takes: match number(at + 8) {
                0 => Takes::Nothing,
                1 => Takes::Argument,
                _ => Takes::Optional,
            },
            value: number(at + 24),
            flag,
        });
        at += STRIDE;
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_arguments_that_colons_say() {
        let spelled: Vec<(Vec<u8>, Takes)> = short_options(b"+ab:c::W;")
            .into_iter()
            .map(|option| (option.spelling, option.takes))
            .collect();
        let expected = [
            (b"-a".to_vec(), Takes::Nothing),
            (b"-b".to_vec(), Takes::Argument),
            (b"-c".to_vec(), Takes::Optional),
            (b"-W".to_vec(), Takes::Nothing),
        ];
        assert_eq!(spelled, expected);
    }

    #[test]
    fn programs_may_bring_their_own_getopt() {
        assert!(is_getopt("rpl_getopt_long") && is_getopt("getopt") && is_getopt("_getopt_long"));
        assert!(!is_getopt("getopt_clip") && !is_getopt("parse"));
    }
}
