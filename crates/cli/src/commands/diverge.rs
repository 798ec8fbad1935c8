//! `parallax diverge`: inputs on which two versions of a program behave differently.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_analysis::lines::normalise;
use parallax_annotate::Side;
use parallax_capture::{Program, Store, Variant};
use parallax_engine::archive::Archive;
use parallax_engine::diverge::clusters::Cluster;
use parallax_engine::diverge::correspond::{Correspondence, Source};
use parallax_engine::diverge::walk::Both;
use parallax_engine::diverge::{
    DivergeError, Diverger, Observer, Options, Phase, Progress, Subjects, Versions,
};
use parallax_engine::execute::Settings;
use parallax_engine::explore::{self, Bounds, Programs, Shape};
use parallax_engine::region::Symbolic;
use parallax_engine::scenario::Scenario;
use parallax_engine::sites::{ModuleSites, SiteMap, read_tables};

use super::explore::seed;
use super::explore::watch::{self, Watcher};
use super::means::{DEFAULT_TIME, Means, TRACE_MEMORY};
use super::shared;
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::diverge::{self as report, DivergeReport};
use crate::size::{counted, parse_time};

/// What a run may write before it is ended: what comes after so much is more of the same, and a trace of it is no use.
const MOST_WRITTEN: u64 = 256 << 10;

/// Find inputs on which two versions of a captured program behave differently
///
/// Both versions run the same command line. Where a condition is not the same in both, inputs are looked for that one version
/// decides otherwise than the other; then the new version is explored from there. Every such input is run on both
/// versions, plain and with sanitizers: errors that only the new version has are regressions, errors that only the old
/// one has are fixed, and what else differs is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax diverge old/prog new/prog -- -x file.txt
  parallax diverge old/prog new/prog --golden fixed/prog --time 30s --stdin input.txt
  parallax diverge old/prog new/prog --seeds tests/         # each file in it is a scenario
  parallax diverge old/prog new/prog --json -- 1 | jq '.findings[] | {kind, argv: .scenario.argv}'
  parallax diverge annotated/prog -- -x file.txt      # its source: if (change(x > 10, x > 20)) …

Files that the arguments name are copied; every run has a directory of its own. Generated inputs are run in a
sandbox. An input for each difference is kept in .parallax/diverge/ (--output).
Exit code: 1 if a difference was seen, 0 if not.")]
pub struct Arguments {
    /// The version before the change, built with parallax-cc; or the only program, if its source says what was changed
    /// with change(old, new) of <parallax.h>
    old: PathBuf,

    /// The version after the change, built with parallax-cc
    new: Option<PathBuf>,

    /// A version that is known to be right: tells regressions from what was intended
    #[arg(long, value_name = "PROGRAM")]
    golden: Option<PathBuf>,

    #[command(flatten)]
    start: seed::StartArguments,

    /// Start from these scenarios instead of a command line: files of JSON, or directories of them (may be repeated)
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with_all = ["arguments", "stdin", "file", "env", "sym_stdin", "sym_file"]
    )]
    seeds: Vec<PathBuf>,

    /// End after this time (default: 60 s, unless --runs is given)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,

    /// End after this many traced runs
    #[arg(long, value_name = "N")]
    runs: Option<u64>,

    #[command(flatten)]
    means: Means,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// One version, ready to be compared.
struct Version {
    programs: Programs,
    sites: SiteMap,
    tables: Vec<ModuleSites>,
    texts: HashMap<String, PathBuf>,
    /// Which version of the texts it is, if they are annotated.
    side: Option<Side>,
}

impl Version {
    fn new(path: &Path, means: &Means) -> Result<Version, Failure> {
        let program = shared::read(path)?;
        Version::of(&program, std::path::absolute(path)?, None, means)
    }

    /// One version of a program whose source is annotated.
    fn annotated(path: &Path, side: Side, means: &Means) -> Result<Version, Failure> {
        let program = shared::read(path)?;
        let Some(version) = shared::side(&program, side)? else {
            let text = format!(
                "{} is only one program, and no source of it says what was changed",
                path.display()
            );
            return Err(Failure::new(Exit::Usage, text).hint(
                "name the old and the new program, or mark changes with change(old, new) and #include <parallax.h>",
            ));
        };
        let plain = shared::derive(&version, Variant::Plain)?;
        Version::of(&version, plain.path, Some(side), means)
    }

    fn of(
        program: &Program,
        plain: PathBuf,
        side: Option<Side>,
        means: &Means,
    ) -> Result<Version, Failure> {
        let traced = shared::derive(program, Variant::Traced)?;
        for note in &traced.notes {
            console::print_error(&format!("{} {note}\n", Palette.warn("note:")));
        }
        let tables = read_tables(&traced.path, &traced.libraries)?;
        let mut sites = SiteMap::default();
        for module in &tables {
            sites.add(module.table.clone());
        }
        Ok(Version {
            texts: texts(program),
            side,
            programs: Programs {
                plain,
                traced: traced.path,
                covered: None,
                checked: means.checked(program),
                traced_libraries: traced.libraries,
                covered_libraries: Vec::new(),
            },
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
}

/// Where the sources of a program are kept, by path.
pub(super) fn texts(program: &Program) -> HashMap<String, PathBuf> {
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

/// What a comparison starts from.
struct Start {
    seeds: Vec<Scenario>,
    shape: Shape,
    /// Names of the symbolic environment variables.
    environment: Vec<Vec<u8>>,
}

fn start(arguments: &Arguments) -> Result<Start, Failure> {
    if !arguments.seeds.is_empty() {
        let seeds = seed::read_all(&arguments.seeds)?;
        let names = seeds.iter().flat_map(|seed| seed.env.keys());
        let names: BTreeSet<Vec<u8>> = names.map(|name| name.0.clone()).collect();
        return Ok(Start {
            shape: Shape::Bounded(Bounds::around(&seeds)),
            environment: names.into_iter().collect(),
            seeds,
        });
    }
    let seed = seed::shape(&arguments.start, &arguments.arguments)?;
    for note in &seed.notes {
        console::print_error(&format!("{} {note}\n", Palette.warn("note:")));
    }
    Ok(Start {
        seeds: seed.shape.seeds(),
        shape: seed.shape,
        environment: seed.environment,
    })
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Start {
        seeds,
        shape,
        environment,
    } = start(arguments)?;
    let means = &arguments.means;
    let (old, new) = match &arguments.new {
        Some(new) => (
            Version::new(&arguments.old, means)?,
            Version::new(new, means)?,
        ),
        None => (
            Version::annotated(&arguments.old, Side::Old, means)?,
            Version::annotated(&arguments.old, Side::New, means)?,
        ),
    };
    let new_name = arguments.new.as_ref().unwrap_or(&arguments.old);
    let golden = match &arguments.golden {
        Some(path) => {
            let program = shared::read(path)?;
            Some((std::path::absolute(path)?, means.checked(&program)))
        }
        None => None,
    };
    let subjects = Subjects {
        programs: Both {
            old: old.programs.clone(),
            new: new.programs.clone(),
        },
        golden,
    };
    let unlimited = arguments.time.is_none() && arguments.runs.is_none();
    let time = arguments.time.or(unlimited.then_some(DEFAULT_TIME));
    let options = Options {
        seeds,
        explore: explore::Options {
            shape,
            symbolic: Symbolic {
                environment,
                following: true,
                ..Symbolic::ALL
            },
            runs: arguments.runs,
            time,
            generations: None,
            jobs: means.jobs(),
            seed: 0,
            limits: means.limits(),
            // Programs print what they are called: both are called the same.
            settings: Settings {
                written: Some(MOST_WRITTEN),
                ..means.settings(new_name)
            },
            solver: means.solver(),
            keep_paths: false,
            trace_memory: TRACE_MEMORY,
        },
    };
    let (old_text, new_text) = (|file: &str| old.text(file), |file: &str| new.text(file));
    let correspondence = Correspondence::new(
        Source {
            tables: &old.tables,
            text: &old_text,
        },
        Source {
            tables: &new.tables,
            text: &new_text,
        },
    );
    let versions = Versions {
        sites: Both {
            old: &old.sites,
            new: &new.sites,
        },
        correspondence: &correspondence,
    };
    let output = means.output("diverge", new_name);
    let archive = Archive::open(&output)?;
    let mut watcher = Watcher::new(
        vec![(output.clone(), subjects.programs.new.plain.clone())],
        time,
    );
    let diverger = Diverger::new(&subjects, &options, versions)?;
    let summary = diverger.run(&mut watcher)?;
    watcher.finish(&[])?;
    let mut kept = Vec::new();
    for cluster in &summary.clusters {
        kept.push(archive.add_test(&cluster.scenario)?);
    }
    let report = DivergeReport {
        names: Both {
            old: &arguments.old,
            new: new_name,
        },
        is_annotated: arguments.new.is_none(),
        summary: &summary,
        versions,
        kept: &kept,
        directory: &output,
    };
    match means.json {
        true => console::print_data(&report::render_json(&report))?,
        false => console::print(&report::render_text(&report))?,
    }
    Ok(match (watch::interrupted(), summary.clusters.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Clean,
        (false, false) => Exit::Findings,
    })
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        let pace = self.pace(progress.runs);
        let phase = match progress.phase {
            Phase::Given | Phase::Concolic => "comparing",
            Phase::Bounded => "exploring the new version",
            Phase::Common => "comparing other paths",
            Phase::Numbers => "trying other numbers",
        };
        self.tell(format!(
            "{pace}  {}, {} shown, {} open  {phase}",
            counted(progress.divergences, "divergence"),
            progress.clusters,
            progress.open,
        ));
    }

    fn found(&mut self, cluster: &Cluster) {
        self.announce(&report::headline(cluster));
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}

impl From<DivergeError> for Failure {
    fn from(error: DivergeError) -> Failure {
        match error {
            DivergeError::Explore(error) => error.into(),
            DivergeError::Replay(error) => error.into(),
        }
    }
}
