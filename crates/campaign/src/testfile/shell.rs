//! The pieces of a test in the shell's language, and the files that are made of nothing else.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use parallax_scenario::shell_quoted;
use parallax_scenario::{Bytes, Scenario, Sink, WORK, ktest};

use super::write::{MOST, contents, find, replaced, word};
use super::{Test, Unwritable};

/// Stands for the program in what is expected.
const PROGRAM: &[u8] = b"@PROGRAM@";
/// Who did not come to an end by itself is killed with this signal.
const KILLED: i32 = 9;

/// What test files are put together from.
#[derive(Clone, Debug)]
pub struct Pieces {
    pub name: String,
    pub title: String,
    /// A word.
    pub program: Vec<u8>,
    /// Its name in the build tree, if it is to be looked for.
    pub built_as: Option<String>,
    /// Makes `$work` and lays out everything below `$root`.
    pub setup: Vec<u8>,
    /// Runs `$program`; sets `status`.
    pub run: Vec<u8>,
    /// Ends with 1 if something is not as expected.
    pub check: Vec<u8>,
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
    let stdout = replaced(&ending.stdout, path, PROGRAM);
    let stderr = replaced(&ending.stderr, path, PROGRAM);
    let mut check = check(scenario, exit, &stdout);
    if test.has_stderr && is_kept(&scenario.stderr) {
        check.extend(compared("stderr", &stderr));
    }
    Ok(Pieces {
        name: test.name.to_owned(),
        title: test.title.replace('\n', " "),
        program: match test.built_as {
            Some(name) => shell_quoted(name.as_bytes()),
            None => shell_quoted(path),
        },
        built_as: test.built_as.map(str::to_owned),
        setup: setup(scenario),
        run: run(scenario),
        check,
        exit,
        stdout,
    })
}

fn setup(scenario: &Scenario) -> Vec<u8> {
    let mut text = b"work=$(mktemp -d) || exit 99\n\
        trap 'chmod -R u+rwx \"$work\" 2>/dev/null; rm -rf \"$work\"' EXIT\n\
        root=$work/files\n\
        umask 022\n\
        mkdir \"$root\" && cd \"$root\" || exit 99\n"
        .to_vec();
    let mut line = |parts: &[&[u8]]| {
        text.extend(parts.concat());
        text.push(b'\n');
    };
    let parent = |path: &Bytes| {
        let at = path.iter().rposition(|byte| *byte == b'/');
        at.map(|at| path[..at].to_vec())
    };
    let mut directories: BTreeSet<Vec<u8>> = scenario
        .directories
        .iter()
        .map(|directory| directory.0.clone())
        .collect();
    if !scenario.directory.is_empty() {
        directories.insert(scenario.directory.0.clone());
    }
    let named = scenario.files.keys().chain(scenario.hard_links.keys());
    directories.extend(named.chain(scenario.links.keys()).filter_map(parent));
    for directory in directories {
        line(&[b"mkdir -p ", &path_word(&directory)]);
    }
    for (name, bytes) in &scenario.files {
        let word = path_word(name);
        let written = contents(&word, bytes);
        line(&[written.strip_suffix(b"\n").unwrap_or(&written)]);
        if find(bytes, WORK.as_bytes()).is_some() {
            let script = format!("sed -i \"s|{WORK}|$root|g\" ");
            line(&[script.as_bytes(), &word]);
        }
    }
    for (name, size) in &scenario.sizes {
        line(&[format!("truncate -s {size} ").as_bytes(), &path_word(name)]);
    }
    for (name, first) in &scenario.hard_links {
        line(&[b"ln ", &path_word(first), b" ", &path_word(name)]);
    }
    for (name, target) in &scenario.links {
        line(&[b"ln -s -- ", &word(target), b" ", &path_word(name)]);
    }
    if let Some((name, bytes)) = ktest::layout(scenario) {
        let name = path_word(name.as_os_str().as_bytes());
        let written = contents(&name, &bytes);
        line(&[written.strip_suffix(b"\n").unwrap_or(&written)]);
    }
    let written = contents(b"\"$work/stdin\"", &scenario.stdin);
    line(&[written.strip_suffix(b"\n").unwrap_or(&written)]);
    for (name, time) in scenario.times.iter().rev() {
        let (seconds, rest) = (
            time.div_euclid(1_000_000_000),
            time.rem_euclid(1_000_000_000),
        );
        let touch = format!("touch -h -d @{seconds}.{rest:09} ");
        line(&[touch.as_bytes(), &path_or_root(name)]);
    }
    // Children before their directories, which may lock us out.
    for (name, mode) in scenario.modes.iter().rev() {
        line(&[format!("chmod {mode:o} ").as_bytes(), &path_or_root(name)]);
    }
    text
}

/// A name below the root as a word that is no option.
fn path_word(path: &[u8]) -> Vec<u8> {
    match path.first() {
        Some(b'-') => shell_quoted(&[b"./", path].concat()),
        _ => shell_quoted(path),
    }
}

fn path_or_root(path: &[u8]) -> Vec<u8> {
    match path.is_empty() {
        true => b".".to_vec(),
        false => path_word(path),
    }
}

fn run(scenario: &Scenario) -> Vec<u8> {
    let mut text = match scenario.piped_stdin {
        true => b"cat \"$work/stdin\" | (\n".to_vec(),
        false => b"(\n".to_vec(),
    };
    if !scenario.directory.is_empty() {
        text.extend(b"  cd ");
        text.extend(path_word(&scenario.directory));
        text.extend(b" || exit 99\n");
    }
    if let Some(umask) = scenario.umask {
        text.extend(format!("  umask {umask:03o}\n").into_bytes());
    }
    match &scenario.env_order {
        Some(_) => {
            text.extend(b"  unset $(env | sed -n 's/^\\([A-Za-z_][A-Za-z_0-9]*\\)=.*/\\1/p')\n")
        }
        None => {
            text.extend(b"  unset LANG $(env | sed -n 's/^\\(LC_[A-Z]*\\)=.*/\\1/p')\n");
            let usual: [(&str, &str); 3] = [("LC_ALL", "C"), ("TZ", "UTC0"), ("HOME", "/")];
            for (name, value) in usual {
                let is_locale =
                    |name: &Bytes| name.starts_with(b"LC_") || name.starts_with(b"LANG");
                let is_set = scenario.env.contains_key(&Bytes::from(name))
                    || name == "LC_ALL" && scenario.env.keys().any(is_locale);
                if !is_set {
                    text.extend(format!("  export {name}={value}\n").into_bytes());
                }
            }
        }
    }
    for (name, value) in &scenario.env {
        text.extend(b"  export ");
        text.extend(&name.0);
        text.push(b'=');
        text.extend(word(value));
        text.push(b'\n');
    }
    if let Some((name, _)) = ktest::layout(scenario) {
        text.extend(
            format!(
                "  export {}=\"$root/{}\"\n",
                ktest::VARIABLE,
                name.display()
            )
            .into_bytes(),
        );
    }
    text.extend(b"  exec ");
    if let Some(name) = &scenario.name {
        // Only bash can call a program by another name.
        text.extend(b"/bin/bash -c 'exec -a \"$0\" \"$@\"' ");
        text.extend(word(name));
        text.push(b' ');
    }
    text.extend(b"\"$program\"");
    for argument in &scenario.argv {
        text.push(b' ');
        text.extend(word(argument));
    }
    text.extend(b"\n) ");
    text.extend(match (scenario.closed_stdin, scenario.piped_stdin) {
        (true, _) => &b"<&-"[..],
        (false, true) => b"",
        (false, false) => b"<\"$work/stdin\"",
    });
    text.extend(redirected(" ", &scenario.stdout, "stdout"));
    text.extend(redirected(" 2", &scenario.stderr, "stderr"));
    text.extend(b"\nstatus=$?\n");
    text
}

fn redirected(number: &str, sink: &Sink, name: &str) -> Vec<u8> {
    let mut text = number.as_bytes().to_vec();
    match sink {
        Sink::Full => text.extend(b">/dev/full"),
        Sink::Closed => text.extend(b">&-"),
        Sink::File(file) if !file.path.is_empty() => {
            text.extend(if file.keeps() { &b">>"[..] } else { b">" });
            text.extend(path_word(&file.path));
        }
        // What is written to a file without a name is looked at afterwards, like what is read.
        Sink::Read | Sink::Broken | Sink::File(_) => {
            text.extend(format!(">\"$work/{name}\"").bytes());
        }
    }
    text
}

fn check(scenario: &Scenario, exit: i32, stdout: &[u8]) -> Vec<u8> {
    let mut text = format!(
        "if [ \"$status\" -ne {exit} ]; then\n  \
           echo \"exit code $status, expected {exit}\" >&2\n  \
           cat \"$work/stderr\" >&2 2>/dev/null\n  exit 1\nfi\n"
    )
    .into_bytes();
    if is_kept(&scenario.stdout) {
        text.extend(compared("stdout", stdout));
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
fn compared(name: &str, expected: &[u8]) -> Vec<u8> {
    let mut text = contents(b"\"$work/expected\"", expected);
    let script = format!(
        "sed -e \"s|$root|{WORK}|g\" -e \"s|$program|{}|g\" \"$work/{name}\" >\"$work/actual\"\n\
         diff \"$work/expected\" \"$work/actual\" >&2 || exit 1\n",
        String::from_utf8_lossy(PROGRAM)
    );
    text.extend(script.into_bytes());
    text
}

impl Pieces {
    /// What finds the program: `given`, the environment, or where it was; in a build tree, wherever that is seen from here.
    fn find_program(&self, given: &str, here: &str) -> Vec<u8> {
        let Some(name) = &self.built_as else {
            let given = format!("program=${{{given}");
            let close = "}".repeat(given.matches("${").count());
            let word = &self.program[..];
            return [given.as_bytes(), word, close.as_bytes(), b"\n"].concat();
        };
        let word = String::from_utf8_lossy(&self.program);
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
        .into_bytes()
    }

    pub fn script(&self) -> Vec<u8> {
        let place = match self.built_as {
            Some(_) => "or in the build tree that this is run in",
            None => "or where it was when this was made",
        };
        let head = format!(
            "#!/bin/sh\n# {}\n# The program is $1, $PROGRAM, {place}.\n",
            self.title
        );
        [
            head.as_bytes(),
            &self.find_program("1:-${PROGRAM:-", "$(dirname \"$0\")"),
            &self.setup,
            &self.run,
            &self.check,
        ]
        .concat()
    }

    pub fn bats(&self) -> Vec<u8> {
        let title = self.title.replace(['"', '\\', '$', '`'], "_");
        let program = self.find_program("PROGRAM:-", "$BATS_TEST_DIRNAME");
        // bats has a trap of its own.
        let lines = self.setup.split_inclusive(|byte| *byte == b'\n');
        let body: Vec<u8> = lines
            .filter(|line| !line.starts_with(b"trap "))
            .flatten()
            .copied()
            .collect();
        [
            format!("#!/usr/bin/env bats\n@test \"{title}\" {{\n").as_bytes(),
            &program,
            &body,
            b"set +e\n",
            &self.run,
            b"set -e\n",
            &self.check,
            b"}\n",
        ]
        .concat()
    }
}
