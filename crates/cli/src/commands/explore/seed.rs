//! What an exploration starts from: a command line with its files, or a described shape.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component as Part, Path, PathBuf};

use parallax_campaign::{Failure, Given, Start};
use parallax_scenario::{Bytes, Scenario};
use parallax_search::explore::{ArgumentGroup, Described, Shape};

use super::groups::Groups;
use crate::exit::Exit;

/// What the program is given besides its arguments.
#[derive(Debug, clap::Args)]
pub struct GivenArguments {
    /// Standard input of the program (default: empty)
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,

    /// A further file that the program reads; those that the arguments name are found
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// An environment variable that is part of the input
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<OsString>,
}

impl GivenArguments {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.stdin.is_none() && self.file.is_empty() && self.env.is_empty()
    }
}

/// Where to start.
#[derive(Debug, clap::Args)]
pub struct StartArguments {
    #[command(flatten)]
    given: GivenArguments,

    #[command(flatten)]
    groups: Groups,

    /// From nothing: a standard input of N bytes
    #[arg(long, value_name = "N", conflicts_with = "stdin")]
    sym_stdin: Option<usize>,

    /// From nothing: a file NAME of N bytes (may be repeated)
    #[arg(long, num_args = 2, value_names = ["NAME", "N"], action = clap::ArgAction::Append)]
    sym_file: Vec<OsString>,
}

impl StartArguments {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && !self.is_described()
    }

    /// Whether to start from nothing.
    fn is_described(&self) -> bool {
        !self.groups.0.is_empty() || self.sym_stdin.is_some() || !self.sym_file.is_empty()
    }
}

/// Files larger than this are not copied for every run.
const MOST_BYTES: u64 = 16 << 20;

/// What a command line and everything that is given with it make.
pub fn start(asked: &GivenArguments, arguments: &[OsString]) -> Result<Given, Failure> {
    let mut notes = Vec::new();
    let mut scenario = given(arguments, &asked.file, &asked.env, &mut notes)?;
    if let Some(path) = &asked.stdin {
        scenario.stdin = read(path)?;
    }
    let environment = scenario.env.keys().map(|name| name.0.clone()).collect();
    Ok(Given {
        scenario,
        environment,
        notes,
    })
}

/// The command line as a shape of inputs, or the shape that was described.
pub fn shape(asked: &StartArguments, arguments: &[OsString]) -> Result<Start, Failure> {
    let Given {
        scenario,
        environment,
        notes,
    } = start(&asked.given, arguments)?;
    let shape = if asked.is_described() {
        Shape::Described(Box::new(described(asked, scenario)?))
    } else {
        Shape::Near(Box::new(scenario))
    };
    Ok(Start {
        seeds: shape.seeds(),
        shape,
        environment,
        notes,
    })
}

/// The scenario of a command line, with the files that it names and further ones.
pub fn given(
    arguments: &[OsString],
    files: &[PathBuf],
    variables: &[OsString],
    notes: &mut Vec<String>,
) -> Result<Scenario, Failure> {
    let mut scenario = Scenario::default();
    for argument in arguments {
        let argument = take_file(&mut scenario, argument, notes)?;
        scenario.argv.push(argument.into_vec().into());
    }
    for file in files {
        let (name, contents) = (file_name(file)?, read(file)?);
        scenario.files.insert(name, contents);
    }
    for variable in variables {
        let bytes = variable.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=');
        let Some(at) = at.filter(|at| *at > 0) else {
            let shown = variable.to_string_lossy();
            let failure = Failure::new(
                Exit::Usage,
                format!("{shown} is not of the form NAME=VALUE"),
            );
            return Err(failure.hint("as in --env LANG=C"));
        };
        scenario
            .env
            .insert(bytes[..at].into(), bytes[at + 1..].into());
    }
    Ok(scenario)
}

fn described(asked: &StartArguments, given: Scenario) -> Result<Described, Failure> {
    let groups = asked.groups.0.clone();
    if let Some(group) = groups.iter().find(|group| group.least > group.most) {
        let ArgumentGroup {
            least,
            most,
            length,
        } = group;
        let message = format!("--sym-args {least} {most} {length}: MIN is larger than MAX");
        return Err(Failure::new(Exit::Usage, message).hint("as in --sym-args 0 2 8"));
    }
    let mut files: Vec<(Bytes, usize)> = Vec::new();
    for file in asked.sym_file.chunks(2) {
        if let [name, size] = file {
            let Some(bytes) = size.to_str().and_then(|text| text.parse().ok()) else {
                let message = format!(
                    "--sym-file: {} is not a number of bytes",
                    size.to_string_lossy()
                );
                return Err(Failure::new(Exit::Usage, message).hint("as in --sym-file A 8"));
            };
            files.push((file_name(Path::new(name))?, bytes));
        }
    }
    Ok(Described {
        given,
        groups,
        stdin: asked.sym_stdin,
        files,
    })
}

/// What in an argument would be the name of a file, `--option=FILE` included, and what is before it.
fn parts(argument: &OsStr) -> (&[u8], &[u8]) {
    let bytes = argument.as_bytes();
    let start = match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) if bytes.starts_with(b"-") => at + 1,
        _ => 0,
    };
    bytes.split_at(start)
}

/// Names of the files that arguments name.
pub fn named_files(arguments: &[OsString]) -> impl Iterator<Item = Vec<u8>> {
    let names = arguments.iter().map(|argument| parts(argument).1);
    names
        .filter(|name| Path::new(OsStr::from_bytes(name)).is_file())
        .map(<[u8]>::to_vec)
}

/// If an argument names a file, the file becomes part of the scenario. What lies elsewhere is copied into
/// the working directory of the runs and named by its last part.
fn take_file(
    scenario: &mut Scenario,
    argument: &OsStr,
    notes: &mut Vec<String>,
) -> Result<OsString, Failure> {
    let (before, name) = parts(argument);
    let path = Path::new(OsStr::from_bytes(name));
    if !name.is_empty() && path.is_dir() {
        notes.push(format!(
            "{} is a directory: what is in it is not part of the input (--file adds files)",
            path.display()
        ));
    }
    if name.is_empty() || !path.is_file() {
        return Ok(argument.to_owned());
    }
    let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size > MOST_BYTES {
        notes.push(format!(
            "{} is too large to be part of the input",
            path.display()
        ));
        return Ok(argument.to_owned());
    }
    let contents = read(path)?;
    if is_inside(path) {
        scenario.files.insert(name.into(), contents);
        return Ok(argument.to_owned());
    }
    let last = path.file_name().unwrap_or(path.as_os_str());
    scenario.files.insert(last.as_bytes().into(), contents);
    notes.push(format!(
        "{} is used as {}",
        path.display(),
        Path::new(last).display()
    ));
    Ok(OsString::from_vec([before, last.as_bytes()].concat()))
}

/// Whether a path is below the working directory, written plainly.
fn is_inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Part::Normal(_) | Part::CurDir))
}

fn file_name(path: &Path) -> Result<Bytes, Failure> {
    if is_inside(path) {
        return Ok(path.as_os_str().as_bytes().into());
    }
    let message = format!("{} is not below the working directory", path.display());
    Err(Failure::new(Exit::Usage, message)
        .hint("name files relative to the directory that the program is started in"))
}

fn read(path: &Path) -> Result<Bytes, Failure> {
    fs::read(path)
        .map(Bytes)
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot read", path, &error))
}
