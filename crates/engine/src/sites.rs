//! What the site ids of a derived program stand for.
//!
//! Derived programs carry a site table per module in their `.parallax` section; so
//! do derived shared libraries. [`SiteMap::load`] reads the program's and those
//! of the libraries it is linked with.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use parallax_abi::{SiteId, SiteKind};
use parallax_record::{Kind, RecordError, SECTION, SiteTable, frames};

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

/// One site, with everything that can be said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteView<'a> {
    pub id: SiteId,
    pub kind: SiteKind,
    pub file: &'a str,
    /// 0 if the compiler gave none.
    pub line: u32,
    pub column: u32,
    pub function: &'a str,
    /// Case values of a `switch` in successor order, the default (0) not listed.
    pub cases: &'a [u64],
    /// Called function, or kind of instruction; may be empty.
    pub text: &'a str,
}

impl SiteView<'_> {
    /// The successor that a `switch` takes for a value; 0 is the default.
    pub fn successor_of(&self, value: u64) -> u32 {
        let case = self.cases.iter().position(|case| *case == value);
        case.map_or(0, |case| case as u32 + 1)
    }
}

/// All sites of a program.
#[derive(Debug, Default)]
pub struct SiteMap {
    tables: Vec<SiteTable>,
    /// Table, function, site.
    index: HashMap<u64, (u32, u32, u32)>,
}

impl SiteMap {
    /// Reads the tables of a program, of shared libraries that are known to belong to it, and
    /// of those it says it needs.
    pub fn load(program: &Path, libraries: &[PathBuf]) -> Result<SiteMap, SitesError> {
        let mut map = SiteMap::default();
        map.add_file(program)?;
        for library in libraries {
            map.add_file(library)?;
        }
        for library in libraries::needed(program) {
            if !libraries.contains(&library) {
                map.add_file(&library)?;
            }
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

    fn add_file(&mut self, path: &Path) -> Result<(), SitesError> {
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
                self.add(serde_json::from_slice(&data).map_err(|error| table(error.into()))?);
            }
        }
        Ok(())
    }

    /// The source files of all modules, each once or more.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let tables = self.tables.iter();
        tables.flat_map(|table| table.files.iter().map(String::as_str))
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// What a site id stands for; `None` for 0 and for sites of code that was not loaded.
    pub fn get(&self, id: SiteId) -> Option<SiteView<'_>> {
        let (t, f, s) = *self.index.get(&id.0)?;
        let table = &self.tables[t as usize];
        let function = &table.functions[f as usize];
        let site = &function.sites[s as usize];
        Some(SiteView {
            id,
            kind: SiteKind::from_byte(site.kind).unwrap_or(SiteKind::Other),
            file: table.files.get(site.file as usize).map_or("", |file| file),
            line: site.line,
            column: site.column,
            function: &function.name,
            cases: &site.cases,
            text: &site.text,
        })
    }
}

#[cfg(test)]
mod tests {
    use parallax_record::{FunctionSites, Site};

    use super::*;

    #[test]
    fn sites_are_found_by_id_with_file_and_function() {
        let mut map = SiteMap::default();
        map.add(SiteTable {
            files: vec!["a.c".into(), "a.h".into()],
            functions: vec![FunctionSites {
                name: "main".into(),
                file: 0,
                line: 1,
                sites: vec![Site {
                    id: 77,
                    kind: SiteKind::Branch as u8,
                    file: 1,
                    line: 12,
                    column: 3,
                    cases: Vec::new(),
                    successors: Vec::new(),
                    text: String::new(),
                }],
            }],
        });
        let site = map.get(SiteId(77)).unwrap();
        assert_eq!(
            (site.file, site.line, site.column, site.function, site.kind),
            ("a.h", 12, 3, "main", SiteKind::Branch)
        );
        assert_eq!(map.get(SiteId(78)), None);
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
