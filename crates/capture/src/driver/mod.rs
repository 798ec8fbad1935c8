//! `parallax-cc`: clang, with the plug-in loaded.
//!
//! Whatever Parallax does here is in addition to what clang does, and clang gets the user's own
//! words. When something of ours fails, the user is told in one line and gets clang's plain
//! result: a build must never break because it is watched.

mod capture;
mod descriptors;
mod fuzzer;
mod link;
mod sources;

use crate::arguments::{Analysis, Goal, Item, analyse, expand, parse};
use crate::inputs;
use crate::tools::{Compiler, clang};
use parallax_bundle::Bundle;
use parallax_record::Invocation;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

/// Runs the compiler with these arguments (without the program's name). Does not return when
/// clang can simply take this process over.
pub fn run(compiler: Compiler, arguments: Vec<OsString>) -> ExitCode {
    let mut clang = match clang(compiler) {
        Ok(clang) => clang,
        Err(error) => {
            notice(&error.to_string());
            notice(&error.advice());
            return ExitCode::FAILURE;
        }
    };
    let Some(job) = Job::understand(compiler, &clang, &arguments) else {
        add_headers(&mut clang, &arguments);
        clang.args(&arguments);
        return execute(clang);
    };
    let mut arguments = job.arguments.clone().unwrap_or(arguments);
    let bundle = match Bundle::unpack() {
        Ok(bundle) => bundle,
        Err(error) => {
            notice(&format!("not captured: {error}; {}", error.advice()));
            clang.args(&arguments);
            return execute(clang);
        }
    };
    // Before the user's words, because a `--` among them would make ours file names.
    if job.analysis.goal == Goal::Link {
        match link::object(&job) {
            Ok(object) => {
                clang.arg(object);
            }
            Err(error) => notice(&format!("link not captured: {error}")),
        }
        arguments.extend(support(&job, &bundle));
    }
    if job.analysis.units.is_empty() {
        clang.args(&arguments);
        return execute(clang);
    }
    match capture::compile(clang, &arguments, &job, &bundle) {
        Ok(status) => exit_code(status),
        Err(error) => {
            notice(&format!("cannot run clang: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Steps that read headers but make nothing to capture find those that we bring, too.
fn add_headers(clang: &mut Command, arguments: &[OsString]) {
    const READING: &[&str] = &["-E", "-M", "-MM", "-fsyntax-only", "-emit-llvm"];
    let reads = |word: &OsString| READING.iter().any(|option| word == option);
    if arguments.iter().any(reads)
        && let Ok(bundle) = Bundle::unpack()
    {
        clang.args(header_flags(&bundle));
    }
}

/// Where headers of other tools are found by programs that do not bring their own.
fn header_flags(bundle: &Bundle) -> [OsString; 4] {
    [
        "--start-no-unused-arguments".into(),
        "-idirafter".into(),
        bundle.include().into(),
        "--end-no-unused-arguments".into(),
    ]
}

/// What a link gets after all of the user's inputs: functions of other tools, of which it takes what it needs, and the
/// `main` that libFuzzer would have brought. Libraries leave them to the program.
fn support(job: &Job, bundle: &Bundle) -> Vec<OsString> {
    if job.is_shared() || job.analysis.other_target {
        return Vec::new();
    }
    let mut files = Vec::new();
    if job.needs_fuzzer_main {
        match fuzzer::main_object(bundle) {
            Ok(object) => files.push(object),
            Err(error) => notice(&format!("no main for the fuzz target: {error}")),
        }
    }
    files.push(bundle.declared());
    // Behind `--` there are only files.
    let only_files = job.invocation.arguments.iter().any(|word| word == "--");
    let mut words: Vec<OsString> = Vec::new();
    for file in files {
        if !only_files {
            words.push("-Xlinker".into());
        }
        words.push(file.into());
    }
    words
}

/// A command line that Parallax takes part in.
struct Job {
    compiler: Compiler,
    items: Vec<Item>,
    analysis: Analysis,
    invocation: Invocation,
    /// What clang gets, if that is not the user's own words.
    arguments: Option<Vec<OsString>>,
    needs_fuzzer_main: bool,
}

impl Job {
    /// `None` if clang is to be executed as it is.
    fn understand(compiler: Compiler, clang: &Command, arguments: &[OsString]) -> Option<Job> {
        // Words that are no UTF-8 cannot be recorded.
        let words: Vec<String> = arguments
            .iter()
            .map(|word| word.to_str().map(str::to_owned))
            .collect::<Option<_>>()?;
        let words = expand(&words)?;
        let stripped = fuzzer::strip(&words);
        let needs_fuzzer_main = stripped.as_ref().is_some_and(|found| found.needs_main);
        let arguments = stripped
            .as_ref()
            .map(|found| found.words.iter().map(Into::into).collect());
        let words = stripped.map_or(words, |found| found.words);
        let items = parse(&words);
        let analysis = analyse(&items, compiler == Compiler::Cplusplus);
        // What clang says about a missing file depends on what else it is given.
        let missing = |item: &Item| match item {
            Item::Input { path, .. } => path != "-" && !Path::new(path).exists(),
            _ => false,
        };
        if analysis.goal == Goal::PassThrough || items.iter().any(missing) {
            return None;
        }
        let directory = std::env::current_dir().ok()?.to_str()?.to_owned();
        let mut recorded = vec![clang.get_program().to_str()?.to_owned()];
        recorded.extend(
            clang
                .get_args()
                .map(|word| word.to_string_lossy().into_owned()),
        );
        recorded.extend(words);
        let invocation = Invocation {
            directory,
            arguments: recorded,
        };
        Some(Job {
            compiler,
            items,
            analysis,
            invocation,
            arguments,
            needs_fuzzer_main,
        })
    }

    /// Whether a library is made, not a program.
    fn is_shared(&self) -> bool {
        let shared = |item: &Item| *item == Item::Option(vec!["-shared".to_owned()]);
        self.items.iter().any(shared)
    }

    /// What the linker is given, as it is now.
    fn link_inputs(&self) -> Vec<parallax_record::LinkInput> {
        inputs::examine(&self.items, self.invocation.directory.as_ref())
    }
}

/// Becomes clang.
fn execute(mut clang: Command) -> ExitCode {
    let error = clang.exec();
    notice(&format!(
        "cannot run {}: {error}",
        clang.get_program().display()
    ));
    ExitCode::FAILURE
}

/// clang's own exit code; a signal's as a shell would give it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// One line for the user. Standard error may be closed: then there is nobody to tell.
fn notice(text: &str) {
    let _ = writeln!(std::io::stderr(), "parallax-cc: {text}");
}
