//! One version of a program, with everything that a comparison needs of it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use parallax_analysis::ModuleCode;
use parallax_analysis::lines::normalise;
use parallax_annotate::Side;
use parallax_capture::{Program, Store, Variant};
use parallax_exec::sites::{ModuleSites, SiteMap, read_tables};
use parallax_scenario::Scenario;
use parallax_search::diverge::correspond::{Correspondence, Source};
use parallax_search::explore::Programs;
use parallax_search::sources::vocabulary::Vocabulary;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::setup::Setup;
use crate::variants;

/// One version, ready to be compared.
pub struct Version {
    pub programs: Programs,
    pub sites: SiteMap,
    tables: Vec<ModuleSites>,
    texts: HashMap<String, PathBuf>,
    /// Which version of the texts it is, if they are annotated.
    side: Option<Side>,
    /// Its code, for the words in it; nothing if there is no covered variant.
    code: Vec<ModuleCode>,
}

impl Version {
    pub fn new(path: &Path, setup: &Setup) -> Result<Version, Failure> {
        let program = variants::read(path)?;
        let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
        Version::of(&program, absolute, None, setup)
    }

    /// One version of a program whose source is annotated.
    pub fn annotated(path: &Path, side: Side, setup: &Setup) -> Result<Version, Failure> {
        let (version, plain) = Version::side(path, side, setup)?;
        Version::of(&version, plain, Some(side), setup)
    }

    /// What it is made from, and as it would be built.
    pub fn side(path: &Path, side: Side, setup: &Setup) -> Result<(Program, PathBuf), Failure> {
        let program = variants::read(path)?;
        let Some(version) = variants::side(&program, side)? else {
            let text = format!(
                "{} is only one program, and no source of it says what was changed",
                path.display()
            );
            return Err(Failure::new(Exit::Usage, text).hint(
                "name the old and the new program, or mark changes with change(old, new) and #include <parallax.h>",
            ));
        };
        let plain = variants::derive(&setup.context, &version, Variant::Plain)?;
        Ok((version, plain.path))
    }

    fn of(
        program: &Program,
        plain: PathBuf,
        side: Option<Side>,
        setup: &Setup,
    ) -> Result<Version, Failure> {
        // Without counters it is searched all the same, with less to go by.
        let covered = variants::derive(&setup.context, program, Variant::Covered).ok();
        let code = match &covered {
            Some(covered) => variants::read_code(covered)?,
            None => Vec::new(),
        };
        let programs = setup.programs(program, plain, covered.as_ref())?;
        let tables = read_tables(&programs.traced, &programs.traced_libraries)?;
        let mut sites = SiteMap::default();
        for module in &tables {
            sites.add(module.table.clone());
        }
        let mut texts = texts(program);
        for library in variants::libraries(program)? {
            texts.extend(self::texts(&library));
        }
        Ok(Version {
            texts,
            side,
            code,
            programs,
            sites,
            tables,
        })
    }

    /// The text of a source as it was when the program was built.
    fn text(&self, file: &str) -> Option<String> {
        let bytes = fs::read(self.texts.get(&normalise(file))?).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Some(match self.side {
            Some(side) => parallax_annotate::side(&text, side),
            None => text.into_owned(),
        })
    }

    /// The files that it is made of, as far as they are below a folder, relative to that.
    pub fn files(&self, top: &Path) -> BTreeSet<String> {
        let inside = self.texts.keys().filter_map(|file| {
            let inside = Path::new(file).strip_prefix(top).ok()?;
            Some(inside.to_string_lossy().into_owned())
        });
        inside.collect()
    }

    /// The words that it and these inputs are made of.
    pub fn vocabulary<'s>(&self, inputs: impl Iterator<Item = &'s Scenario>) -> Vocabulary {
        Vocabulary::new(&parallax_analysis::Program::link(self.code.clone()), inputs)
    }

    /// What corresponds in an old and a new version.
    pub fn correspondence(old: &Version, new: &Version) -> Correspondence {
        let (old_text, new_text) = (|file: &str| old.text(file), |file: &str| new.text(file));
        Correspondence::new(
            Source {
                tables: &old.tables,
                text: &old_text,
            },
            Source {
                tables: &new.tables,
                text: &new_text,
            },
        )
    }
}

/// Whether all sources of a program are kept: a cache may have been cleared since it was built.
pub fn has_texts(program: &Program) -> bool {
    let store = Store::open();
    program.modules.iter().all(|module| {
        let kept = module.record.sources.as_ref().zip(store.as_ref());
        kept.is_some_and(|(key, store)| store.sources(key).is_ok())
    })
}

/// Where the sources of a program are kept, by path.
pub fn texts(program: &Program) -> HashMap<String, PathBuf> {
    let mut texts = HashMap::new();
    let Some(store) = Store::open() else {
        return texts;
    };
    for module in &program.modules {
        let record = &module.record;
        let key = record.sources.as_ref();
        let Some(sources) = key.and_then(|key| store.sources(key).ok()) else {
            continue;
        };
        let main = Path::new(&record.compile.directory).join(&record.source);
        let main = normalise(&main.to_string_lossy());
        texts.insert(main, store.file_path(&sources.main));
        for file in &sources.files {
            texts.insert(normalise(&file.path), store.file_path(&file.content));
        }
    }
    texts
}
