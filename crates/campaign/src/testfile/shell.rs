//! The pieces of a test in the shell's language, and the files that are made of nothing else.

use std::os::unix::ffi::OsStrExt;

use parallax_scenario::commands::{script_file, script_layout, script_run};
use parallax_scenario::{Scenario, Sink, WORK, shell_word};

use super::{Test, Unwritable};

/// Bytes of input and output that a test file may have.
pub const MOST: usize = 256 << 10;
/// Stands for the program in what is expected.
const PROGRAM: &str = "@PROGRAM@";
/// Who did not come to an end by itself is killed with this signal.
const KILLED: i32 = 9;

/// What test files are put together from.
#[derive(Clone, Debug)]
pub struct Pieces {
    pub name: String,
    pub title: String,
    /// A word.
    pub program: String,
    /// Its name in the build tree, if it is to be looked for.
    pub built_as: Option<String>,
    /// Makes `$work` and lays out everything below `$root`.
    pub setup: String,
    /// Runs `$program`; sets `status`.
    pub run: String,
    /// Ends with 1 if something is not as expected.
    pub check: String,
    pub exit: i32,
    pub stdout: Vec<u8>,
}

/// Takes a test to pieces.
pub fn pieces(test: &Test<'_>) -> Result<Pieces, Unwritable> {
    let Test {
        scenario, ending, ..
    } = test;
    let Scenario { pipes, streams, .. } = scenario;
    if scenario.listening.is_some() {
        return Err(Unwritable::Server);
    }
    if !streams.is_empty() || !pipes.is_empty() {
        return Err(Unwritable::Streams);
    }
    if [&scenario.stdout, &scenario.stderr].contains(&&Sink::Broken) {
        return Err(Unwritable::BrokenPipe);
    }
    let exit = match (ending.exit, ending.signal) {
        (Some(exit), _) => exit,
        (None, Some(signal)) if signal != KILLED => 128 + signal,
        _ => return Err(Unwritable::NoEnd),
    };
    let expected = match test.has_stderr {
        true => ending.stdout.len() + ending.stderr.len(),
        false => ending.stdout.len(),
    };
    if scenario.size() + expected > MOST {
        return Err(Unwritable::Large);
    }
    let path = test.program.as_os_str().as_bytes();
    let stdout = replaced(&ending.stdout, path, PROGRAM.as_bytes());
    let stderr = replaced(&ending.stderr, path, PROGRAM.as_bytes());
    let mut check = check(scenario, exit, &stdout);
    if test.has_stderr && is_kept(&scenario.stderr) {
        check.push_str(&compared("stderr", &stderr));
    }
    Ok(Pieces {
        name: test.name.to_owned(),
        title: test.title.replace('\n', " "),
        program: shell_word(test.built_as.map_or(path, str::as_bytes)),
        built_as: test.built_as.map(str::to_owned),
        setup: setup(scenario),
        run: script_run(scenario, true) + "status=$?\n",
        check,
        exit,
        stdout,
    })
}

/// Makes the directories and lays everything out.
fn setup(scenario: &Scenario) -> String {
    format!(
        "work=$(mktemp -d) || exit 99\n\
         trap 'chmod -R u+rwx \"$work\" 2>/dev/null; rm -rf \"$work\"' EXIT\n\
         root=$work/files\n\
         umask 022\n\
         mkdir \"$root\" && cd \"$root\" || exit 99\n{}",
        script_layout(scenario)
    )
}

fn check(scenario: &Scenario, exit: i32, stdout: &[u8]) -> String {
    let mut text = format!(
        "if [ \"$status\" -ne {exit} ]; then\n  \
           echo \"exit code $status, expected {exit}\" >&2\n  \
           cat \"$work/stderr\" >&2 2>/dev/null\n  exit 1\nfi\n"
    );
    if is_kept(&scenario.stdout) {
        text.push_str(&compared("stdout", stdout));
    }
    text
}

/// Whether what is written there can be looked at afterwards.
fn is_kept(sink: &Sink) -> bool {
    match sink {
        Sink::Read => true,
        Sink::File(file) => file.path.is_empty(),
        Sink::Full | Sink::Broken | Sink::Closed => false,
    }
}

/// Compares what was written with what is expected.
fn compared(name: &str, expected: &[u8]) -> String {
    format!(
        "{}\n\
         sed -e \"s|$root|{WORK}|g\" -e \"s|$program|{PROGRAM}|g\" \"$work/{name}\" >\"$work/actual\"\n\
         diff \"$work/expected\" \"$work/actual\" >&2 || exit 1\n",
        script_file("\"$work/expected\"", expected)
    )
}

/// All places of a part replaced by something else.
fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let find = |rest: &[u8]| rest.windows(part.len()).position(|window| window == part);
    while let Some(at) = find(rest) {
        result.extend(&rest[..at]);
        result.extend(by);
        rest = &rest[at + part.len()..];
    }
    result.extend(rest);
    result
}

impl Pieces {
    /// What finds the program: `given`, the environment, or where it was; in a build tree, wherever that is seen from here.
    fn find_program(&self, given: &str, here: &str) -> String {
        let Some(name) = &self.built_as else {
            let close = "}".repeat(given.matches("${").count() + 1);
            return format!("program=${{{given}{}{close}\n", self.program);
        };
        let word = &self.program;
        let close = "}".repeat(given.matches("${").count() + 1);
        format!(
            "program=${{{given}{close}\n\
             for top in \"${{abs_top_builddir:-.}}\" . .. ../.. \"{here}/..\" \"{here}/../..\"; do\n  \
               [ -z \"$program\" ] && [ -x \"$top\"/{word} ] && program=$top/{word}\n\
             done\n\
             case $program in\n  \
               '') echo \"where is {}? PROGRAM=... says so\" >&2; exit 99 ;;\n  \
               /*) ;;\n  \
               *) program=$(pwd)/$program ;;\n\
             esac\n",
            name.replace(['"', '`', '$', '\\'], "_"),
        )
    }

    pub fn script(&self) -> String {
        let place = match self.built_as {
            Some(_) => "or in the build tree that this is run in",
            None => "or where it was when this was made",
        };
        [
            "#!/bin/sh\n# ",
            &self.title,
            "\n# The program is $1, $PROGRAM, ",
            place,
            ".\n",
            &self.find_program("1:-${PROGRAM:-", "$(dirname \"$0\")"),
            &self.setup,
            &self.run,
            &self.check,
        ]
        .concat()
    }

    pub fn bats(&self) -> String {
        let title = self.title.replace(['"', '\\', '$', '`'], "_");
        let program = self.find_program("PROGRAM:-", "$BATS_TEST_DIRNAME");
        // bats has a trap of its own.
        let lines = self.setup.split_inclusive('\n');
        let setup: String = lines.filter(|line| !line.starts_with("trap ")).collect();
        let (run, check) = (&self.run, &self.check);
        format!(
            "#!/usr/bin/env bats\n@test \"{title}\" {{\n{program}{setup}set +e\n{run}set -e\n{check}}}\n"
        )
    }
}
