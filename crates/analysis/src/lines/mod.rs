//! From lines of source files to the blocks that have code of them.
//!
//! A line can be in several blocks (a condition with `&&`, a loop's head), and in blocks of several functions or copies
//! (functions in headers, included files). A block has many lines.

mod status;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::program::{BlockId, Program};
pub use status::{Status, Texts, Why};
pub use text::SourceText;

/// The lines of a program that have code.
#[derive(Debug, Default)]
pub struct Lines {
    /// By normalised name of the file.
    files: BTreeMap<String, BTreeMap<u32, Vec<BlockId>>>,
    /// By normalised name: lines of definitions without code (variables) and of functions.
    definitions: HashMap<String, BTreeSet<u32>>,
}

impl Lines {
    pub fn new(program: &Program) -> Lines {
        let names: Vec<String> = program.files.iter().map(|name| normalise(name)).collect();
        let mut by_number: Vec<BTreeMap<u32, Vec<BlockId>>> = vec![BTreeMap::new(); names.len()];
        for id in program.block_ids() {
            for place in program.block(id).places() {
                if place.line == 0 {
                    continue;
                }
                let blocks = by_number[place.file as usize]
                    .entry(place.line)
                    .or_default();
                // All places of a block come one after the other.
                if blocks.last() != Some(&id) {
                    blocks.push(id);
                }
            }
        }
        let mut lines = Lines::default();
        let functions = program.functions.iter();
        let functions = functions
            .filter(|function| function.is_defined())
            .map(|function| (function.file, function.line));
        let globals = program
            .globals
            .iter()
            .map(|global| (global.file, global.line));
        for (file, line) in functions.chain(globals).filter(|(_, line)| *line != 0) {
            let name = names[file as usize].clone();
            lines.definitions.entry(name).or_default().insert(line);
        }
        for (name, mut of_file) in names.into_iter().zip(by_number) {
            // One file can have several spellings.
            match lines.files.get_mut(&name) {
                None => {
                    lines.files.insert(name, of_file);
                }
                Some(known) => {
                    for (line, blocks) in &mut of_file {
                        let known = known.entry(*line).or_default();
                        known.append(blocks);
                        known.sort_unstable();
                        known.dedup();
                    }
                }
            }
        }
        lines
    }

    /// Files of the program that a name can mean: all whose path ends with it, whole components only. An exact
    /// match is the only one.
    pub fn files_named(&self, name: &str) -> Vec<&str> {
        let wanted = normalise(name);
        if let Some((exact, _)) = self.files.get_key_value(&wanted) {
            return vec![exact];
        }
        let ends_so = |path: &&str| {
            path.strip_suffix(&wanted)
                .is_some_and(|before| before.ends_with('/'))
        };
        self.files
            .keys()
            .map(String::as_str)
            .filter(ends_so)
            .collect()
    }

    /// All files that the program's debug information names, by normalised name.
    pub fn all_files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// All files that have code in this program, by normalised name.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let with_code = self.files.iter().filter(|(_, lines)| !lines.is_empty());
        with_code.map(|(name, _)| name.as_str())
    }

    /// The lines of a file that have code, with the blocks that have it.
    pub fn of_file(&self, file: &str) -> impl Iterator<Item = (u32, &[BlockId])> {
        let lines = self.files.get(file).into_iter().flatten();
        lines.map(|(line, blocks)| (*line, blocks.as_slice()))
    }

    /// The blocks that have code of a line; none if the line has no code.
    pub fn blocks(&self, file: &str, line: u32) -> &[BlockId] {
        let blocks = self.files.get(file).and_then(|lines| lines.get(&line));
        blocks.map_or(&[], Vec::as_slice)
    }

    /// Whether any function or variable of the program is defined in a file.
    pub fn has_definitions(&self, file: &str) -> bool {
        self.definitions.contains_key(file)
    }

    /// Whether a function or a variable of the program is defined in a line.
    pub fn defines(&self, file: &str, line: u32) -> bool {
        let lines = self.definitions.get(file);
        lines.is_some_and(|lines| lines.contains(&line))
    }
}

/// A path without `.` and `..`, as far as names alone can tell.
pub fn normalise(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn paths_lose_what_means_nothing() {
        assert_eq!(normalise("/a/./b/../c.h"), "/a/c.h");
        assert_eq!(normalise("../x//y.c"), "../x/y.c");
        assert_eq!(normalise("/../a"), "/a");
        assert_eq!(normalise("a/../../b"), "../b");
    }
}
