//! What the site ids of a derived program stand for.
//!
//! Derived programs carry a site table per module in their `.parallax` section; so
//! do derived shared libraries. [`SiteMap::load`] reads the program's and those
//! of the libraries it is linked with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use parallax_abi::entry::symbol::MODEL_SOURCES;
use parallax_abi::{SiteId, SiteKind};
use parallax_record::{
    FunctionSites, Kind, RecordError, SECTION, Site, SiteTable, SitesMeta, frames,
};
use rustc_hash::FxHashMap;

use crate::libraries;

/// Why site tables could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SitesError {
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not an ELF file", path.display())]
    Format {
        path: PathBuf,
        #[source]
        source: object::Error,
    },
    #[error("the site table of {} is unreadable", path.display())]
    Table {
        path: PathBuf,
        #[source]
        source: RecordError,
    },
}

/// The sites of one module, and the name by which its counters are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSites {
    /// As in `abi::cover`.
    pub module: u64,
    pub table: SiteTable,
}

/// Reads the tables of a derived program, of shared libraries that are known to belong to it, and of those
/// it says it needs.
pub fn read_tables(program: &Path, libraries: &[PathBuf]) -> Result<Vec<ModuleSites>, SitesError> {
    let mut tables = Vec::new();
    read_file(program, &mut tables)?;
    for library in libraries {
        read_file(library, &mut tables)?;
    }
    for library in libraries::needed(program) {
        if !libraries.contains(&library) {
            read_file(&library, &mut tables)?;
        }
    }
    Ok(tables)
}

fn read_file(path: &Path, tables: &mut Vec<ModuleSites>) -> Result<(), SitesError> {
    let bytes = fs::read(path).map_err(|source| SitesError::Read {
        path: path.to_owned(),
        source,
    })?;
    let format = |source| SitesError::Format {
        path: path.to_owned(),
        source,
    };
    let table = |source| SitesError::Table {
        path: path.to_owned(),
        source,
    };
    let file = object::File::parse(&*bytes).map_err(format)?;
    let Some(section) = file.section_by_name(SECTION) else {
        return Ok(());
    };
    for frame in frames(section.data().map_err(format)?).map_err(table)? {
        if frame.kind == Kind::Sites as u32 {
            let data = frame.data().map_err(table)?;
            let meta: SitesMeta = frame.meta().map_err(table)?;
            tables.push(ModuleSites {
                module: meta.module,
                table: SiteTable::from_bytes(&data).map_err(|error| table(error.into()))?,
            });
        }
    }
    Ok(())
}

/// One site, with everything that can be said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteView<'a> {
    pub id: SiteId,
    pub kind: SiteKind,
    pub file: &'a str,
    /// 0 if the compiler gave none.
    pub line: u32,
    pub column: u32,
    /// The function that the code was written in.
    pub function: &'a str,
    /// The function that the code is part of: another one if it was inlined before tracing.
    pub host: &'a str,
    /// The site that this one is an inlined copy of, else itself.
    pub original: SiteId,
    /// The calls through which it was inlined, outermost first.
    pub within: &'a [u64],
    /// Case values of a `switch` in successor order, the default (0) not listed.
    pub cases: &'a [u64],
    /// First block site of where a `switch` leads, the default first; of a branch, false side first.
    pub successors: &'a [u64],
    /// Called function, or kind of instruction; may be empty.
    pub text: &'a str,
}

impl SiteView<'_> {
    /// The successor that a `switch` takes for a value; 0 is the default.
    pub fn successor_of(&self, value: u64) -> u32 {
        let case = self.cases.iter().position(|case| *case == value);
        case.map_or(0, |case| case as u32 + 1)
    }

    /// The same for all successors of a `switch` that are one block: the first of them.
    pub fn first_like(&self, successor: u32) -> u32 {
        let Some(block) = self.successors.get(successor as usize) else {
            return successor;
        };
        let first = self.successors.iter().position(|other| other == block);
        first.map_or(successor, |first| first as u32)
    }
}

/// All sites of a program.
#[derive(Debug, Default)]
pub struct SiteMap {
    tables: Vec<SiteTable>,
    /// Table, function, site.
    index: FxHashMap<u64, (u32, u32, u32)>,
}

impl SiteMap {
    /// Reads the tables of a program as [`read_tables`] does.
    pub fn load(program: &Path, libraries: &[PathBuf]) -> Result<SiteMap, SitesError> {
        let mut map = SiteMap::default();
        for module in read_tables(program, libraries)? {
            map.add(module.table);
        }
        Ok(map)
    }

    /// Adds a module's table.
    pub fn add(&mut self, table: SiteTable) {
        let number = self.tables.len() as u32;
        for (f, function) in table.functions.iter().enumerate() {
            for (s, site) in function.sites.iter().enumerate() {
                // A function that several modules contain (inline ones) has the
                // same sites in each; the first table is as good as any.
                self.index
                    .entry(site.id)
                    .or_insert((number, f as u32, s as u32));
            }
        }
        self.tables.push(table);
    }

    /// The source files of all modules, each once or more.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let tables = self.tables.iter();
        tables.flat_map(|table| table.files.iter().map(String::as_str))
    }

    /// Whether a site is in a model of a library function, and so not in the program.
    pub fn is_model(&self, id: SiteId) -> bool {
        self.get(id)
            .is_some_and(|view| view.file.contains(MODEL_SOURCES))
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    fn find(&self, id: u64) -> Option<(&SiteTable, &FunctionSites, &Site)> {
        let (t, f, s) = *self.index.get(&id)?;
        let table = &self.tables[t as usize];
        let function = &table.functions[f as usize];
        Some((table, function, &function.sites[s as usize]))
    }

    /// The calls that led to a site, outermost first: those of the calling context, and between and after
    /// them those that were inlined before tracing. All are original sites.
    pub fn call_stack(&self, context: &[SiteId], site: SiteId) -> Vec<SiteId> {
        let mut stack = Vec::new();
        for id in context.iter().chain([&site]) {
            match self.get(*id) {
                Some(view) => {
                    stack.extend(view.within.iter().map(|call| self.original(SiteId(*call))));
                    stack.push(view.original);
                }
                None => stack.push(*id),
            }
        }
        // The site itself is not a call.
        stack.pop();
        stack
    }

    fn original(&self, id: SiteId) -> SiteId {
        self.get(id).map_or(id, |view| view.original)
    }

    /// Whether a side of a branch leads straight to the end of the program: `abort`, or a failed assertion.
    pub fn gives_up(&self, branch: SiteId, side: bool) -> bool {
        /// What assertions call when they do not hold.
        const ENDS: [&str; 4] = ["abort", "__assert_fail", "__assert_perror_fail", "__assert"];
        let target = |branch: u64| {
            let (_, _, site) = self.find(branch)?;
            site.successors.get(usize::from(side)).copied()
        };
        let Some(&(t, f, s)) = target(branch.0).and_then(|block| self.index.get(&block)) else {
            return false;
        };
        let sites = &self.tables[t as usize].functions[f as usize].sites[s as usize..];
        let is_block = |site: &Site| site.kind == SiteKind::Block as u8;
        let inside = sites.iter().skip(1).take_while(|site| !is_block(site));
        let leads_on = sites
            .first()
            .is_none_or(|block| !block.successors.is_empty());
        !leads_on
            && inside
                .into_iter()
                .any(|site| ENDS.contains(&site.text.as_str()))
    }

    /// What a site id stands for; `None` for 0 and for sites of code that was not loaded.
    pub fn get(&self, id: SiteId) -> Option<SiteView<'_>> {
        let (table, host, site) = self.find(id.0)?;
        let original = if site.original == 0 {
            id
        } else {
            SiteId(site.original)
        };
        let function = self
            .find(original.0)
            .map_or(host, |(_, function, _)| function);
        Some(SiteView {
            id,
            original,
            within: &site.within,
            host: &host.name,
            kind: SiteKind::from_byte(site.kind).unwrap_or(SiteKind::Other),
            file: table.files.get(site.file as usize).map_or("", |file| file),
            line: site.line,
            column: site.column,
            function: &function.name,
            cases: &site.cases,
            successors: &site.successors,
            text: &site.text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(id: u64, line: u32) -> Site {
        Site {
            id,
            kind: SiteKind::Branch as u8,
            file: 0,
            line,
            column: 3,
            cases: Vec::new(),
            successors: Vec::new(),
            original: 0,
            within: Vec::new(),
            text: String::new(),
        }
    }

    fn map(functions: Vec<(&str, Vec<Site>)>) -> SiteMap {
        let functions = functions.into_iter().map(|(name, sites)| FunctionSites {
            name: name.into(),
            file: 0,
            line: 1,
            sites,
        });
        let mut map = SiteMap::default();
        map.add(SiteTable {
            files: vec!["a.c".into(), "a.h".into()],
            functions: functions.collect(),
        });
        map
    }

    #[test]
    fn sites_are_found_by_id_with_file_and_function() {
        let in_header = Site {
            file: 1,
            ..site(77, 12)
        };
        let map = map(vec![("main", vec![in_header])]);
        let site = map.get(SiteId(77)).unwrap();
        assert_eq!(
            (site.file, site.line, site.column, site.function, site.kind),
            ("a.h", 12, 3, "main", SiteKind::Branch)
        );
        assert_eq!(map.get(SiteId(78)), None);
    }

    #[test]
    fn cases_that_share_a_block_are_alike() {
        let switch = Site {
            cases: vec![97, 98, 99, 100],
            successors: vec![40, 41, 42, 41, 40],
            ..site(8, 3)
        };
        let map = map(vec![("main", vec![switch])]);
        let view = map.get(SiteId(8)).unwrap();
        let block_of = |value| view.first_like(view.successor_of(value));
        assert_eq!([97, 98, 99, 100, 5].map(block_of), [1, 2, 1, 0, 0]);
    }

    #[test]
    fn an_inlined_copy_is_shown_as_where_it_was_written() {
        let copy = Site {
            original: 1,
            within: vec![2],
            ..site(3, 5)
        };
        let map = map(vec![
            ("small", vec![site(1, 5)]),
            ("main", vec![site(2, 9), copy]),
        ]);
        let view = map.get(SiteId(3)).unwrap();
        assert_eq!(
            (view.function, view.host, view.original),
            ("small", "main", SiteId(1))
        );
    }

    #[test]
    fn call_stacks_contain_the_calls_that_were_inlined() {
        // main calls outer (4); outer's call of small (2) was inlined, its copy of small's
        // site 1 is 3; and outer's call (5) happens inside inlined code itself.
        let copy = Site {
            original: 1,
            within: vec![2],
            ..site(3, 5)
        };
        let inlined_call = Site {
            original: 7,
            within: vec![6],
            ..site(5, 20)
        };
        let map = map(vec![
            ("small", vec![site(1, 5)]),
            ("outer", vec![site(2, 9), copy]),
            ("main", vec![site(4, 1), site(6, 2), inlined_call]),
            ("middle", vec![site(7, 20)]),
        ]);
        let ids = |stack: &[u64]| stack.iter().map(|id| SiteId(*id)).collect::<Vec<_>>();
        assert_eq!(map.call_stack(&ids(&[4]), SiteId(3)), ids(&[4, 2]));
        assert_eq!(map.call_stack(&ids(&[5]), SiteId(1)), ids(&[6, 7]));
        assert_eq!(map.call_stack(&ids(&[99]), SiteId(1)), ids(&[99]));
        assert_eq!(map.call_stack(&[], SiteId(98)), []);
    }

    #[test]
    fn programs_without_tables_have_no_sites_and_text_is_refused() {
        assert!(SiteMap::load(Path::new("/bin/sh"), &[]).unwrap().is_empty());
        assert!(matches!(
            SiteMap::load(Path::new("/etc/passwd"), &[]),
            Err(SitesError::Format { .. })
        ));
        assert!(matches!(
            SiteMap::load(Path::new("/no/such/file"), &[]),
            Err(SitesError::Read { .. })
        ));
    }
}
