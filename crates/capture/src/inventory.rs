//! How much of a program was captured.

use crate::Program;
use crate::arguments::{assembler_source, parse};
use crate::store::Store;
use parallax_record::{InputKind, LinkInput};
use std::path::PathBuf;

/// What is known about a program's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// Captured translation units.
    pub modules: usize,
    /// Functions that they define.
    pub functions: u64,
    /// Pieces of inline assembly in them, which stay as they are in every variant.
    pub inline_assembly: u64,
    /// Modules whose source is not in the capture store: their checked
    /// variant has AddressSanitizer only.
    pub without_source: Vec<String>,
    /// Files that the link named and that were not built with parallax-cc.
    pub foreign: Vec<Foreign>,
    /// Shared libraries that the link named and that were captured, too.
    pub captured_libraries: Vec<PathBuf>,
}

/// A file that variants use as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub path: PathBuf,
    pub kind: InputKind,
    /// Members without a record, if the file is an archive.
    pub members: Vec<String>,
}

/// Takes stock of a program.
pub fn inventory(program: &Program) -> Inventory {
    let store = Store::open();
    let has_source = |key: &Option<String>| match (key, &store) {
        (Some(key), Some(store)) => store.sources(key).is_ok(),
        _ => false,
    };
    let records = || program.modules.iter().map(|module| &module.record);
    Inventory {
        modules: program.modules.len(),
        functions: records().map(|record| u64::from(record.functions)).sum(),
        inline_assembly: records()
            .map(|record| u64::from(record.inline_assembly))
            .sum(),
        without_source: records()
            .filter(|record| !has_source(&record.sources))
            .map(|record| record.source.clone())
            .collect(),
        foreign: program
            .link
            .inputs
            .iter()
            .filter_map(foreign)
            .chain(assembly(program))
            .collect(),
        captured_libraries: program
            .link
            .inputs
            .iter()
            .filter(|input| input.kind == InputKind::SharedLibrary && input.captured > 0)
            .map(|input| PathBuf::from(&input.path))
            .collect(),
    }
}

fn foreign(input: &LinkInput) -> Option<Foreign> {
    if input.foreign.is_empty() {
        return None;
    }
    let members = match input.kind {
        InputKind::Archive => input.foreign.clone(),
        InputKind::Object | InputKind::SharedLibrary => Vec::new(),
    };
    Some(Foreign {
        path: PathBuf::from(&input.path),
        kind: input.kind,
        members,
    })
}

/// Assembler sources on the link line.
fn assembly(program: &Program) -> Vec<Foreign> {
    let items = parse(program.link.link.arguments.get(1..).unwrap_or_default());
    let sources = items.iter().filter_map(assembler_source);
    sources
        .map(|(path, _)| Foreign {
            path: PathBuf::from(&program.link.link.directory).join(path),
            kind: InputKind::Object,
            members: Vec::new(),
        })
        .collect()
}
