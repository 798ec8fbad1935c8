//! `parallax trace`: runs a program once and shows what it did with its input.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::str::FromStr;
use std::time::SystemTime;

use parallax_capture::Variant;
use parallax_exec::run::{Launch, Output, run as run_program};
use parallax_exec::sites::SiteMap;
use parallax_scenario::{Object, ktest};
use parallax_trace::Trace;
use parallax_trace::region::{Limits, Region, Symbolic};
use parallax_trace::selfcheck::{self, ActualInput};

use super::explore::seed;
use super::once::OnceArguments;
use crate::console;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_report::results::trace::{self as report, Detail, Report};

/// Run a captured program once and show what it did with its input
///
/// Shows how the program ended, every branch that depended on the input with its condition over the input
/// bytes (argv[1][0], stdin[3], file("x")[12], env("HOME")[0], argc), operations that could fail for another input, and where
/// precision was lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax trace ./prog -- -x file.txt
  parallax trace ./prog --stdin input.txt --self-check
  echo 1+2 | parallax trace ./calc --symbolic stdin
  parallax trace ./prog --json -- arg | jq '.branches[].condition'

However the program ends (crash, time-out, out of memory), the trace up to there is shown and the
exit code is 0; it is 1 if --self-check finds a mismatch.",
    mut_arg("memory", |memory| memory.help("Memory for the program and its trace")))]
pub struct Arguments {
    #[command(flatten)]
    once: OnceArguments,

    /// Which input is symbolic: argv (bytes of the arguments), argc (their number), stdin, files, streams
    /// (sockets and pipes), env:NAME (value of a variable)
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "argv,stdin,files",
        value_name = "INPUTS"
    )]
    symbolic: Vec<Input>,

    /// Evaluate every expression on the actual input and compare with what the program computed
    #[arg(long)]
    self_check: bool,

    /// Show everything (default: the first places and conditions; JSON: the first 10,000 of each list)
    #[arg(long)]
    all: bool,

    /// List the events one by one in the order in which they happened
    #[arg(long)]
    events: bool,

    /// Print the report as JSON
    #[arg(long, conflicts_with = "events")]
    json: bool,

    /// Let the program write to the terminal directly instead of showing its output in the report
    #[arg(long, conflicts_with = "json")]
    pass_through: bool,
}

/// A kind of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Argv,
    Argc,
    Stdin,
    Files,
    Streams,
    Environment(String),
}

impl FromStr for Input {
    type Err = String;

    fn from_str(text: &str) -> Result<Input, String> {
        match text {
            "argv" => Ok(Input::Argv),
            "argc" => Ok(Input::Argc),
            "stdin" => Ok(Input::Stdin),
            "files" => Ok(Input::Files),
            "streams" => Ok(Input::Streams),
            _ => match text.strip_prefix("env:") {
                Some(name) if !name.is_empty() && !name.contains('=') => {
                    Ok(Input::Environment(name.to_owned()))
                }
                _ => Err("give argv, argc, stdin, files, streams or env:NAME".to_owned()),
            },
        }
    }
}

/// All kinds together.
pub fn symbolic(inputs: &[Input]) -> Symbolic {
    let mut symbolic = Symbolic::default();
    for input in inputs {
        match input {
            Input::Argv => symbolic.argv = true,
            Input::Argc => symbolic.argument_count = true,
            Input::Stdin => symbolic.stdin = true,
            Input::Files => symbolic.files = true,
            Input::Streams => symbolic.streams = true,
            Input::Environment(name) => symbolic.environment.push(name.clone().into_bytes()),
        }
    }
    symbolic
}

pub fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let once = &arguments.once;
    let derived = once.derive(Variant::Traced)?;
    let symbolic = symbolic(&arguments.symbolic);
    let limits = Limits::within(once.memory);
    let mut region = Region::create(limits, &symbolic, arguments.self_check)?;
    region.give(seed::named_files(&once.arguments));
    let launch = Launch {
        output: if arguments.pass_through {
            Output::Inherit
        } else {
            Output::capture()
        },
        ..once.launch(&derived)
    };
    let actual = ActualInput {
        args: once.arguments.clone(),
        stdin: read_stdin(once.stdin.as_deref()),
        environment: std::env::vars_os().collect(),
        objects: read_objects(),
        directory: std::env::current_dir().map_err(Failure::cannot("find", Path::new(".")))?,
        started: SystemTime::now(),
    };
    let outcome = run_program(&launch, &[region.shared()])?;
    let trace = Trace::read(region);
    let sites = SiteMap::load(&derived.path, &derived.libraries)?;
    let self_check = arguments
        .self_check
        .then(|| selfcheck::check(&trace, &actual));
    let report = Report {
        program: once.program.clone(),
        outcome: &outcome,
        trace: &trace,
        sites: &sites,
        self_check: self_check.as_ref(),
        timeout: once.timeout,
        memory: once.memory,
    };
    if arguments.json {
        console::print_data(&report::render_json(&report, arguments.all))?;
    } else {
        let detail = Detail {
            all: arguments.all,
            events: arguments.events,
            output: !arguments.pass_through,
            width: console::width(),
        };
        console::print(&report::render_text(&report, &detail))?;
    }
    Ok(if report.has_findings() {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

/// Contents of the memory objects that the program will declare as input.
fn read_objects() -> Vec<Vec<u8>> {
    let Some(path) = std::env::var_os(ktest::VARIABLE) else {
        return Vec::new();
    };
    // A program without such objects does not care whether the file is good.
    let read = fs::read(&path).ok();
    let objects = read.and_then(|bytes| ktest::decode(&bytes).ok());
    let bytes = |object: Object| object.bytes.0;
    objects.unwrap_or_default().into_iter().map(bytes).collect()
}

/// What the program will read from standard input, if that can be known beforehand.
fn read_stdin(named: Option<&Path>) -> Option<Vec<u8>> {
    let path = named.unwrap_or(Path::new("/proc/self/fd/0"));
    let kind = fs::metadata(path).ok()?.file_type();
    let is_null = || {
        path.canonicalize()
            .is_ok_and(|path| path == Path::new("/dev/null"))
    };
    if kind.is_file() || (kind.is_char_device() && is_null()) {
        // Opened anew, so that the program's own position stays where it is.
        fs::read(path).ok()
    } else {
        None
    }
}
