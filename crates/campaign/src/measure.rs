//! What scenarios cover: measured once for each build, then looked up.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use parallax_capture::Variant;
use parallax_exec::coverage::{Counted, CoverageRegion, counted};
use parallax_exec::execute::{Executor, Settings};
use parallax_exec::sites::read_tables;
use parallax_scenario::{Bytes, Scenario};
use parallax_store::{Block, Covered, Listed, Store};

use crate::context::Context;
use crate::failure::Failure;
use crate::stored::SHOWN_ID;
use crate::variants;

/// Measures what is not known yet, with the programs below `tree`, which may read these folders, too. Programs that are not there
/// are named and left out.
pub fn measure(
    context: &Context,
    store: &Store,
    listed: &[Listed],
    tree: &Path,
    folders: &[PathBuf],
) -> Result<(), Failure> {
    let mut by_program: BTreeMap<&Bytes, Vec<&str>> = BTreeMap::new();
    for one in listed {
        by_program.entry(&one.program).or_default().push(&one.id);
    }
    for (name, ids) in by_program {
        let path = tree.join(name.as_os_str());
        if !path.is_file() {
            let note = format!(
                "{} is not there: its scenarios are not measured",
                path.display()
            );
            context.note(&note);
            continue;
        }
        let identity = variants::identity(&path)?;
        let mut counter: Option<Counter> = None;
        for id in ids {
            if store.coverage(id, &identity)?.is_some() {
                continue;
            }
            let counter = match &mut counter {
                Some(counter) => counter,
                None => counter.insert(Counter::new(context, &path, folders)?),
            };
            let scenario = store.get(id)?.recorded.scenario;
            let covered = match counter.run(&scenario) {
                Ok(covered) => covered,
                Err(failure) => {
                    let note = format!(
                        "scenario {} is not measured: {}",
                        &id[..SHOWN_ID],
                        failure.in_a_line()
                    );
                    context.note(&note);
                    continue;
                }
            };
            store.put_coverage(id, name, &identity, &covered)?;
        }
    }
    Ok(())
}

/// The covered variant of a program, ready to run.
pub struct Counter {
    executor: Executor,
    region: CoverageRegion,
    /// Counts so far.
    counts: BTreeMap<u64, Vec<u32>>,
    /// What counters count, by module.
    meanings: HashMap<u64, Vec<Counted>>,
}

impl Counter {
    /// The program may read these folders besides what it needs itself.
    pub fn new(context: &Context, path: &Path, folders: &[PathBuf]) -> Result<Counter, Failure> {
        let program = variants::read(path)?;
        let derived = variants::derive(context, &program, Variant::Covered)?;
        let tables = read_tables(&derived.path, &derived.libraries)?;
        let settings = Settings {
            argv0: path.into(),
            readable: folders.to_vec(),
            ..variants::settings(true)
        };
        Ok(Counter {
            executor: Executor::new(&derived.path, settings)?,
            region: CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?,
            counts: BTreeMap::new(),
            meanings: tables
                .iter()
                .map(|module| (module.module, counted(&module.table)))
                .collect(),
        })
    }

    /// What a scenario runs.
    pub fn run(&mut self, scenario: &Scenario) -> Result<Covered, Failure> {
        self.executor.run(scenario, &[self.region.shared()])?;
        let ran = self.region.counted_since(&mut self.counts);
        let mut covered = Covered::default();
        let mut blocks = BTreeSet::new();
        for counter in ran {
            let list = self.meanings.get(&counter.module);
            let meaning = list.and_then(|list| list.get(counter.index as usize));
            // Code that several modules contain is one place in the source.
            if let Some(Counted::Block(site)) = meaning {
                blocks.insert(site.0);
            }
            covered.counters.insert(Block {
                module: counter.module,
                index: counter.index,
            });
        }
        covered.blocks = blocks.len() as u64;
        Ok(covered)
    }
}
