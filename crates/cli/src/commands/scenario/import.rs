//! `parallax scenario import`: corpora of fuzzers and KLEE's test cases become scenarios.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use parallax_scenario::{Bytes, Scenario, klee, ktest};
use parallax_store::Origin;

use super::{RunArguments, Runner};
use crate::commands::explore::seed;
use crate::console;
use crate::exit::Exit;
use crate::size::counted;
use parallax_campaign::Failure;
use parallax_campaign::stored;

/// Keep inputs that another tool made as scenarios; each is run once, in a sandbox
///
/// The command line is the fuzzer's: `@@` stands for the name of the input file; without it the input is standard input.
/// A .ktest file has its own arguments where KLEE's model of the environment was used (--sym-args and the like).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax scenario import --from afl out/default/queue -- ./prog -d @@
  parallax scenario import --from libfuzzer corpus --as stdin -- ./prog
  parallax scenario import --from ktest klee-last -- ./prog")]
pub struct Arguments {
    /// What made them
    #[arg(long, value_enum, value_name = "TOOL")]
    from: Tool,

    /// What the input is to the program (default: a file if the command has @@, else standard input)
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    role: Option<Role>,

    /// Name of the input file in the scenario
    #[arg(long, value_name = "NAME", default_value = "input")]
    name: OsString,

    #[command(flatten)]
    run: RunArguments,

    /// Files, or directories of them
    #[arg(required = true, value_name = "FILES")]
    paths: Vec<PathBuf>,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Tool {
    Afl,
    Libfuzzer,
    Ktest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    /// Standard input
    Stdin,
    /// The file that @@ names
    File,
    /// The argument @@ itself
    Argument,
}

/// Stands for the input in a command line.
const MARK: &[u8] = b"@@";
/// Scenarios that are kept in one go.
const BATCH: usize = 256;

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Some((program, words)) = arguments.command.split_first() else {
        return Err(Failure::new(Exit::Usage, "no command line was given")
            .hint("give the program and its arguments behind --"));
    };
    let program = Path::new(program);
    let template = Template::new(arguments, words)?;
    let mut files = Vec::new();
    for path in &arguments.paths {
        collect(path, arguments.from, &mut files)?;
    }
    if files.is_empty() {
        return Err(Failure::new(Exit::Usage, "there are no inputs to import").hint("name their files, or the folder that they are in; --from says which tool made them"));
    }
    let store = stored::open()?;
    let in_use = store.begin("parallax scenario import")?;
    let name = super::name(&store, program, &arguments.run)?;
    let mut runner = Runner::new(program, name, &arguments.run)?;
    let (mut new, mut known, mut refused) = (0, 0, 0);
    for batch in files.chunks(BATCH) {
        let mut list = Vec::new();
        for path in batch {
            match template.scenario(path) {
                Ok(scenario) => list.push(runner.record(scenario, None)?),
                Err(why) => {
                    refused += 1;
                    let note = format!("{} is left out: {why}", path.display());
                    console::note(&note);
                }
            }
        }
        for added in store.add_all(&list, Origin::Imported)? {
            match added.is_new {
                true => new += 1,
                false => known += 1,
            }
        }
    }
    let mut text = format!("{} imported", counted(new, "scenario"));
    if known > 0 {
        text.push_str(&format!(", {known} known already"));
    }
    if refused > 0 {
        text.push_str(&format!(", {refused} left out"));
    }
    console::print(&format!("{text}\n"))?;
    in_use.end(Exit::Clean as u8)?;
    Ok(Exit::Clean)
}

/// What all scenarios have in common.
struct Template {
    from: Tool,
    role: Role,
    name: Bytes,
    base: Scenario,
}

impl Template {
    fn new(arguments: &Arguments, words: &[OsString]) -> Result<Template, Failure> {
        let has_mark = words.iter().any(|word| find(word.as_bytes()).is_some());
        let role = arguments.role.unwrap_or(match has_mark {
            true => Role::File,
            false => Role::Stdin,
        });
        if role == Role::Argument && !has_mark {
            return Err(Failure::new(Exit::Usage, "the command has no @@")
                .hint("as in: --as argument -- ./prog -n @@"));
        }
        let mut notes = Vec::new();
        let base = seed::given(words, &[], &[], &mut notes)?;
        for note in &notes {
            console::note(note);
        }
        Ok(Template {
            from: arguments.from,
            role,
            name: arguments.name.as_bytes().into(),
            base,
        })
    }

    fn scenario(&self, path: &Path) -> Result<Scenario, String> {
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        if self.from == Tool::Ktest {
            let test = ktest::read(&bytes).map_err(|error| error.to_string())?;
            let mut scenario = klee::to_scenario(&test);
            scenario.argv.splice(0..0, self.base.argv.iter().cloned());
            scenario.files.extend(self.base.files.clone());
            return Ok(scenario);
        }
        let mut scenario = self.base.clone();
        match self.role {
            Role::Stdin => scenario.stdin = bytes.into(),
            Role::File => {
                put(&mut scenario, &self.name);
                scenario.files.insert(self.name.clone(), bytes.into());
            }
            Role::Argument if bytes.contains(&0) => {
                return Err("an argument cannot have a zero byte".into());
            }
            Role::Argument => put(&mut scenario, &bytes),
        }
        Ok(scenario)
    }
}

/// Puts something in the place of the mark.
fn put(scenario: &mut Scenario, replacement: &[u8]) {
    for word in &mut scenario.argv {
        if let Some(at) = find(word) {
            word.splice(at..at + MARK.len(), replacement.iter().copied());
        }
    }
}

fn find(word: &[u8]) -> Option<usize> {
    word.windows(MARK.len()).position(|window| window == MARK)
}

/// Files below a path that are inputs; those of the tools themselves are not.
fn collect(path: &Path, tool: Tool, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fail = |error| Failure::of_file(Exit::Usage, "cannot read", path, &error);
    if !path.metadata().map_err(fail)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(fail)? {
        entries.push(entry.map_err(fail)?.file_name());
    }
    entries.sort();
    let queue = OsStr::new("queue");
    // The output of AFL, not one of its queues.
    if tool == Tool::Afl && entries.iter().any(|name| name == queue) {
        return collect(&path.join(queue), tool, files);
    }
    for name in entries {
        let bytes = name.clone().into_vec();
        let is_wanted = match tool {
            Tool::Ktest => bytes.ends_with(b".ktest"),
            Tool::Afl => !bytes.starts_with(b".") && name != OsStr::new("README.txt"),
            Tool::Libfuzzer => !bytes.starts_with(b"."),
        };
        let inner = path.join(&name);
        if inner.is_dir() && !bytes.starts_with(b".") || is_wanted {
            collect(&inner, tool, files)?;
        }
    }
    Ok(())
}
