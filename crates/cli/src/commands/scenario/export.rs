//! `parallax scenario export`: scenarios for other tools.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parallax_scenario::{Bytes, Scenario, klee, ktest, shell_word};
use parallax_store::{Filter, Kept, Store};

use crate::console;
use crate::exit::Exit;
use crate::size::counted;
use parallax_campaign::Failure;
use parallax_campaign::stored;

/// Write scenarios as .ktest files, or as queues for AFL
///
/// A queue is for one command line: scenarios that differ in more than one input get queues of their own, each
/// with a file `command` that says how the program is run (@@ stands for the input file).
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// For which tool
    #[arg(long, value_enum, value_name = "TOOL")]
    to: Tool,

    /// Of this program only
    #[arg(long, value_name = "NAME")]
    program: Option<PathBuf>,

    /// Where to; it is made if need be
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Scenarios (default: all that were not generated)
    #[arg(value_name = "ID")]
    ids: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Tool {
    Ktest,
    Afl,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Some(store) = stored::open_existing()? else {
        return Err(Failure::new(Exit::Usage, "there are no scenarios here")
            .hint("parallax record and parallax scenario add make some"));
    };
    let ids = wanted(&store, arguments)?;
    let mut writer = Writer {
        directory: &arguments.directory,
        queues: BTreeMap::new(),
        lost: BTreeMap::new(),
        written: 0,
    };
    for id in &ids {
        let kept = store.get(id)?;
        let result = match arguments.to {
            Tool::Ktest => writer.ktest(&kept),
            Tool::Afl => writer.afl(&kept),
        };
        result.map_err(|error| {
            let directory = &arguments.directory;
            Failure::of_file(Exit::Usage, "cannot write below", directory, &error)
        })?;
    }
    for (what, count) in &writer.lost {
        let note = format!("{what}: left out of {}", counted(*count, "scenario"));
        console::note(&note);
    }
    console::print(&format!(
        "{} written to {}\n",
        counted(writer.written, "scenario"),
        arguments.directory.display()
    ))?;
    Ok(Exit::Clean)
}

fn wanted(store: &Store, arguments: &Arguments) -> Result<Vec<String>, Failure> {
    if !arguments.ids.is_empty() {
        let find = |id: &String| store.find(id).map_err(Failure::from);
        return arguments.ids.iter().map(find).collect();
    }
    let filter = Filter {
        program: arguments
            .program
            .as_ref()
            .map(|name| name.as_os_str().as_encoded_bytes().into()),
        origins: stored::SEEDS.to_vec(),
        ..Filter::default()
    };
    Ok(store.list(&filter)?.into_iter().map(|one| one.id).collect())
}

struct Writer<'w> {
    directory: &'w Path,
    /// Program and command line → number of the queue, inputs in it.
    queues: BTreeMap<(Bytes, Vec<Bytes>), (usize, usize)>,
    /// What could not be expressed → in how many scenarios.
    lost: BTreeMap<&'static str, u64>,
    written: u64,
}

impl Writer<'_> {
    fn ktest(&mut self, kept: &Kept) -> io::Result<()> {
        let (test, lost) = klee::from_scenario(&kept.recorded.scenario);
        self.note(&lost);
        let name = file_name(&kept.recorded.program);
        let path = self
            .directory
            .join(format!("{name}-{}.ktest", &kept.id[..stored::SHOWN_ID]));
        fs::create_dir_all(self.directory)?;
        fs::write(path, ktest::write(&test))?;
        self.written += 1;
        Ok(())
    }

    fn afl(&mut self, kept: &Kept) -> io::Result<()> {
        let recorded = &kept.recorded;
        let (words, input, lost) = single_input(&recorded.scenario);
        self.note(&lost);
        let next = self.queues.len();
        let key = (recorded.program.clone(), words);
        let name = file_name(&recorded.program);
        let mut command = shell_word(&recorded.program);
        for word in &key.1 {
            command.push(' ');
            command.push_str(&shell_word(word));
        }
        command.push('\n');
        let (queue, count) = self.queues.entry(key).or_insert((next, 0));
        let directory = self.directory.join(format!("{name}-{queue:03}"));
        fs::create_dir_all(directory.join("queue"))?;
        fs::write(directory.join("command"), command)?;
        let input_name = format!("id:{count:06},orig:{}", &kept.id[..stored::SHOWN_ID]);
        fs::write(directory.join("queue").join(input_name), &input.0)?;
        *count += 1;
        self.written += 1;
        Ok(())
    }

    fn note(&mut self, lost: &[&'static str]) {
        for what in lost {
            *self.lost.entry(what).or_default() += 1;
        }
    }
}

/// The one input that a fuzzer changes, the command line with a mark for it, and what else there was.
fn single_input(scenario: &Scenario) -> (Vec<Bytes>, Bytes, Vec<&'static str>) {
    let mut words = scenario.argv.clone();
    let named = scenario.files.iter().find_map(|(name, contents)| {
        let at = words.iter().position(|word| word == name)?;
        Some((at, contents.clone()))
    });
    let mut lost = Vec::new();
    if !scenario.env.is_empty() {
        lost.push("environment variables");
    }
    if !scenario.streams.is_empty() || !scenario.objects.is_empty() {
        lost.push("streams and objects");
    }
    match named {
        Some((at, contents)) => {
            words[at] = "@@".into();
            if scenario.files.len() > 1 || !scenario.stdin.is_empty() {
                lost.push("inputs besides the first file");
            }
            (words, contents, lost)
        }
        None => {
            if !scenario.files.is_empty() {
                lost.push("files that no argument names");
            }
            (words, scenario.stdin.clone(), lost)
        }
    }
}

/// The last part of a program's name, fit for a file.
fn file_name(program: &[u8]) -> String {
    let last = program
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or(program);
    let safe = |byte: &u8| match byte {
        b'.' | b'-' | b'_' => char::from(*byte),
        _ if byte.is_ascii_alphanumeric() => char::from(*byte),
        _ => '_',
    };
    last.iter().map(safe).collect()
}
