//! What a line of a source file is to a program: code, or why not.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use super::Lines;
use super::text::{SourceText, is_name};
use crate::program::BlockId;

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has code of its own.
    Code(Vec<BlockId>),
    /// It has none, but the statement that it is a part of has, in this line.
    PartOf(u32, Vec<BlockId>),
    /// It is part of a macro; these lines (file and number) use it, and have code.
    Macro {
        name: String,
        uses: Vec<(String, u32)>,
    },
    NoCode(Why),
}

/// Why a line has no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    Blank,
    Comment,
    /// `#include`, `#if` and so on.
    Directive,
    /// Types, prototypes, variables, heads of functions, braces and labels.
    Declaration,
    /// The compiler saw it, or the whole file, not at all, or found no use for the function.
    NotCompiled,
    /// A macro that no code of this program uses.
    UnusedMacro,
    /// The file has no such line.
    NoSuchLine,
}

impl Why {
    /// For reports.
    pub fn text(self) -> &'static str {
        match self {
            Why::Blank => "blank",
            Why::Comment => "comment",
            Why::Directive => "directive",
            Why::Declaration => "declaration",
            Why::NotCompiled => "not compiled here",
            Why::UnusedMacro => "macro that is not used here",
            Why::NoSuchLine => "no such line",
        }
    }
}

/// The texts of a program's files, by normalised name.
#[derive(Debug, Default)]
pub struct Texts {
    files: HashMap<String, SourceText>,
    /// Where words occur: file and line. A patch can change thousands of macros, and each is looked for everywhere.
    words: OnceCell<HashMap<String, Vec<(String, u32)>>>,
}

impl Texts {
    pub fn new() -> Texts {
        Texts::default()
    }

    pub fn contains_key(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    pub fn get(&self, file: &str) -> Option<&SourceText> {
        self.files.get(file)
    }

    pub fn insert(&mut self, file: String, text: SourceText) {
        self.words = OnceCell::new();
        self.files.insert(file, text);
    }

    /// Lines that a word occurs in.
    fn mentions(&self, word: &str) -> &[(String, u32)] {
        let words = self.words.get_or_init(|| {
            let mut words: HashMap<String, Vec<(String, u32)>> = HashMap::new();
            for (file, source) in &self.files {
                for (number, line) in source.lines() {
                    let found = line.code.split(|character| !is_name(character));
                    let found: BTreeSet<&str> = found.filter(|word| !word.is_empty()).collect();
                    for word in found {
                        let places = words.entry(word.to_owned()).or_default();
                        places.push((file.clone(), number));
                    }
                }
            }
            words
        });
        words.get(word).map_or(&[], Vec::as_slice)
    }
}

impl Lines {
    /// What a line is. `file` is a name of the program's if it has one for the file; `texts` should have all files in which
    /// uses of a macro are to be found.
    pub fn status(&self, file: &str, number: u32, texts: &Texts) -> Status {
        let blocks = self.blocks(file, number);
        if !blocks.is_empty() {
            return Status::Code(blocks.to_vec());
        }
        let Some(source) = texts.get(file) else {
            return Status::NoCode(Why::NotCompiled);
        };
        let Some(line) = source.line(number) else {
            return Status::NoCode(Why::NoSuchLine);
        };
        if line.code.is_empty() {
            return Status::NoCode(if line.is_blank {
                Why::Blank
            } else {
                Why::Comment
            });
        }
        if let Some(name) = &line.macro_name {
            let uses = self.uses_of_macro(name, texts);
            if uses.is_empty() {
                return Status::NoCode(Why::UnusedMacro);
            }
            return Status::Macro {
                name: name.clone(),
                uses,
            };
        }
        if line.is_directive {
            return Status::NoCode(Why::Directive);
        }
        if self.of_file(file).next().is_none() && !self.has_definitions(file) {
            // Nothing tells whether a header that only declares was read.
            let in_function = source
                .outermost(line)
                .is_some_and(|block| block.is_function);
            return Status::NoCode(if file.ends_with(".h") && !in_function {
                Why::Declaration
            } else {
                Why::NotCompiled
            });
        }
        let has_code = |number: u32| !self.blocks(file, number).is_empty();
        if line.group != 0 && self.is_left_out(file, source, line.group) {
            return Status::NoCode(Why::NotCompiled);
        }
        match source.outermost(line) {
            Some(block) if block.is_function => {
                if !(block.first..=block.last).any(has_code) {
                    return Status::NoCode(Why::NotCompiled);
                }
                let statement = source.statement(number);
                let is_bare = ["{", "}", "else", "} else {", "else {", "do", "do {"];
                if !is_bare.contains(&line.code.as_str())
                    && !line.code.ends_with(':')
                    && let Some(with_code) = statement.clone().find(|line| has_code(*line))
                    && (statement.start() != statement.end())
                {
                    let blocks = self.blocks(file, with_code).to_vec();
                    return Status::PartOf(with_code, blocks);
                }
                Status::NoCode(Why::Declaration)
            }
            _ => Status::NoCode(Why::Declaration),
        }
    }

    /// Whether nothing of a preprocessor group came into the program although it reads like statements or definitions.
    fn is_left_out(&self, file: &str, source: &SourceText, group: usize) -> bool {
        let mut looks_like_code = false;
        for (number, line) in source.lines().filter(|(_, line)| line.group == group) {
            if !self.blocks(file, number).is_empty() || self.defines(file, number) {
                return false;
            }
            let in_function = source
                .outermost(line)
                .is_some_and(|block| block.is_function);
            looks_like_code |= !line.is_directive && in_function && line.code.contains(';');
        }
        looks_like_code
    }

    /// Lines with code that use a macro, by itself or through other macros.
    fn uses_of_macro(&self, name: &str, texts: &Texts) -> Vec<(String, u32)> {
        let mut wanted = vec![name.to_owned()];
        let mut known: BTreeSet<String> = wanted.iter().cloned().collect();
        let mut uses = BTreeSet::new();
        while let Some(name) = wanted.pop() {
            for (file, number) in texts.mentions(&name) {
                let Some(source) = texts.get(file) else {
                    continue;
                };
                let Some(line) = source.line(*number) else {
                    continue;
                };
                match &line.macro_name {
                    Some(user) if *user == name => {}
                    Some(user) => {
                        if known.insert(user.clone()) {
                            wanted.push(user.clone());
                        }
                    }
                    None if line.is_directive => {}
                    None => {
                        let statement = source.statement(*number);
                        let place = std::iter::once(*number)
                            .chain(statement)
                            .find(|number| !self.blocks(file, *number).is_empty());
                        uses.extend(place.map(|number| (file.clone(), number)));
                    }
                }
            }
        }
        uses.into_iter().collect()
    }
}
