//! From lines to targets, over all programs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use parallax_analysis::lines::{Lines, SourceText, Status, Texts, normalise};
use parallax_analysis::seeds::Executed as _;
use parallax_analysis::{BlockId, FunctionId, Program};
use parallax_capture::Variant;
use parallax_exec::coverage::Counter;
use parallax_exec::sites::read_tables;
use parallax_search::core::counts::Counts;
use parallax_store::Store;

use super::{Place, Scope, Skipped, Suite, Target};
use crate::failure::Failure;
use crate::variants;

/// What is known about a line so far.
#[derive(Default)]
struct Line {
    function: String,
    places: Vec<Place>,
    blocks: BTreeSet<u64>,
    covered_by: Option<String>,
    /// Scenarios that run it.
    hits: BTreeSet<String>,
    why: Option<String>,
}

/// What is known about all lines so far.
#[derive(Default)]
pub struct Gathered {
    lines: BTreeMap<(String, u32), Line>,
}

impl Gathered {
    /// Looks for the lines in one program.
    pub fn look_at(
        &mut self,
        scope: &Scope,
        subject: usize,
        store: Option<&Store>,
    ) -> Result<(), Failure> {
        let path = &scope.subjects[subject].path;
        let derived = variants::derive(&scope.context, &variants::read(path)?, Variant::Covered)?;
        let program = Program::link(variants::read_code(&derived)?);
        let lines = Lines::new(&program);
        let counts = Counts::new(&program, &read_tables(&derived.path, &derived.libraries)?);
        let suite = match store {
            Some(store) => Suite::read(store, path)?,
            None => Suite::default(),
        };
        let ran = suite.ran();
        let seen = counts.seen(&ran);
        let look = Look {
            scope,
            texts: texts(&lines, scope),
            program: &program,
            lines: &lines,
            ran: program
                .functions
                .iter()
                .map(|function| {
                    function
                        .block_ids()
                        .filter(|block| seen.ran(*block))
                        .count()
                })
                .collect(),
            counts: &counts,
            suite: &suite,
            subject,
        };
        match &scope.wanted {
            Some(wanted) => {
                for (file, line) in wanted {
                    look.line(file, *line, &mut self.lines);
                }
            }
            None => look.everything(&mut self.lines),
        }
        Ok(())
    }

    /// Lines with the same blocks become one target.
    pub fn finish(self) -> (Vec<Target>, Vec<Skipped>) {
        let mut grouped: BTreeMap<(String, BTreeSet<u64>), usize> = BTreeMap::new();
        let mut targets: Vec<Target> = Vec::new();
        let mut skipped = Vec::new();
        for ((file, number), line) in self.lines {
            if line.blocks.is_empty() {
                skipped.push(Skipped {
                    file,
                    line: number,
                    why: line.why.unwrap_or_else(|| "not compiled here".to_owned()),
                });
                continue;
            }
            let key = (file.clone(), line.blocks.clone());
            let at = *grouped.entry(key).or_insert_with(|| {
                targets.push(Target {
                    file,
                    lines: Vec::new(),
                    function: line.function,
                    places: line.places,
                    blocks: line.blocks,
                    covered_by: line.covered_by,
                    hits: line.hits.len() as u64,
                });
                targets.len() - 1
            });
            targets[at].lines.push(number);
        }
        (targets, skipped)
    }
}

/// The counters of the code that is wanted, in the first program.
pub fn counters(scope: &Scope) -> Result<HashSet<Counter>, Failure> {
    let path = &scope.subjects[0].path;
    let derived = variants::derive(&scope.context, &variants::read(path)?, Variant::Covered)?;
    let program = Program::link(variants::read_code(&derived)?);
    let lines = Lines::new(&program);
    let counts = Counts::new(&program, &read_tables(&derived.path, &derived.libraries)?);
    let look = Look {
        scope,
        texts: texts(&lines, scope),
        program: &program,
        lines: &lines,
        ran: vec![0; program.functions.len()],
        counts: &counts,
        suite: &Suite::default(),
        subject: 0,
    };
    let mut known = BTreeMap::new();
    for (file, line) in scope.wanted.iter().flatten() {
        look.line(file, *line, &mut known);
    }
    let places = known.into_values().flat_map(|line| line.places);
    let blocks: Vec<BlockId> = places.flat_map(|place| place.blocks).collect();
    Ok(counts.of(&blocks))
}

/// One program, ready to be asked about lines.
struct Look<'a> {
    scope: &'a Scope,
    texts: Texts,
    program: &'a Program,
    lines: &'a Lines,
    counts: &'a Counts<'a>,
    suite: &'a Suite,
    /// Of each function: how many of its blocks the suite runs.
    ran: Vec<usize>,
    subject: usize,
}

impl Look<'_> {
    fn line(&self, file: &str, line: u32, known: &mut BTreeMap<(String, u32), Line>) {
        let source = self.scope.source.as_deref();
        let top = |file: &str| Some(normalise(&source?.join(file).to_string_lossy()));
        // A header with nothing but macros is no file of the program's, but its text is there.
        let names = match top(file).filter(|path| self.texts.contains_key(path)) {
            Some(path) => vec![path],
            None => {
                let named = self.lines.files_named(file);
                named.into_iter().map(str::to_owned).collect()
            }
        };
        let known = known.entry((file.to_owned(), line)).or_default();
        for name in names {
            match self.lines.status(&name, line, &self.texts) {
                Status::Code(blocks) | Status::PartOf(_, blocks) => self.add(known, &name, &blocks),
                Status::Macro { uses, .. } => {
                    for (file, line) in uses {
                        self.add(known, &name, self.lines.blocks(&file, line));
                    }
                }
                Status::NoCode(why) => known.why = Some(why.text().to_owned()),
            }
        }
    }

    fn everything(&self, known: &mut BTreeMap<(String, u32), Line>) {
        for file in self.lines.files() {
            let shown = match &self.scope.source {
                None => file.to_owned(),
                Some(top) => match Path::new(file).strip_prefix(top) {
                    Ok(inside) => inside.to_string_lossy().into_owned(),
                    // Headers of the system are nobody's patch.
                    Err(_) => continue,
                },
            };
            if !(self.scope.counts)(&shown) {
                continue;
            }
            for (line, blocks) in self.lines.of_file(file) {
                let known = known.entry((shown.clone(), line)).or_default();
                self.add(known, file, blocks);
            }
        }
    }

    fn add(&self, known: &mut Line, file: &str, blocks: &[BlockId]) {
        let Some(first) = blocks.first() else {
            return;
        };
        if known.function.is_empty() {
            let function = self.program.block(*first).function;
            known
                .function
                .clone_from(&self.program.function(function).name);
        }
        for block in blocks {
            known.blocks.insert(self.program.block(*block).site.0);
        }
        for test in self.suite.all_to_run(&self.counts.of(blocks)) {
            known.covered_by.get_or_insert_with(|| test.id.clone());
            known.hits.insert(test.id.clone());
        }
        let is_new = known
            .places
            .last()
            .is_none_or(|place| place.subject != self.subject);
        if is_new {
            known.places.push(Place {
                subject: self.subject,
                file: file.to_owned(),
                blocks: Vec::new(),
                nearby: 0,
            });
        }
        if let Some(place) = known.places.last_mut() {
            place.blocks.extend(blocks);
            place.blocks.sort_unstable();
            place.blocks.dedup();
            place.nearby = self.nearby(&place.blocks);
        }
    }

    /// How many blocks of the functions around these the suite runs.
    fn nearby(&self, blocks: &[BlockId]) -> usize {
        let functions: BTreeSet<FunctionId> = blocks
            .iter()
            .map(|block| self.program.block(*block).function)
            .collect();
        let ran = functions.iter().map(|function| self.ran[function.index()]);
        ran.sum()
    }
}

/// The texts of the program's own files and of those that are asked about, as far as they are there.
fn texts(lines: &Lines, scope: &Scope) -> Texts {
    let is_own = |file: &&str| match &scope.source {
        Some(top) => Path::new(file).starts_with(top),
        None => !file.starts_with("/usr/"),
    };
    let own = lines.all_files().filter(is_own).map(str::to_owned);
    let asked = scope.wanted.iter().flatten().filter_map(|(file, _)| {
        let path = scope.source.as_ref()?.join(file);
        Some(normalise(&path.to_string_lossy()))
    });
    let mut texts = Texts::new();
    for file in own.chain(asked) {
        if !texts.contains_key(&file)
            && let Ok(bytes) = fs::read(&file)
        {
            let text = SourceText::new(&String::from_utf8_lossy(&bytes));
            texts.insert(file, text);
        }
    }
    texts
}
