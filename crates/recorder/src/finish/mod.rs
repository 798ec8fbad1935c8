//! Makes a scenario of a finished recording: one that no longer depends on where it was recorded.

mod environment;
mod layout;
mod rewrite;
mod test;

use std::collections::BTreeSet;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use parallax_scenario::{Bytes, Ending, Listening, OutputFile, Recorded, Scenario, Sink, WORK};

use crate::files::Files;
use crate::programs::Program;
use crate::recording::{Connection, End, Output, Recording, Stdin};
use crate::territory::Territory;

use environment::Environments;
use layout::Layout;
use rewrite::Rewriter;

/// What stdio asks about standard input and output before it uses them: how large a buffer should be. Nothing of standard error, which
/// has none.
const USUAL_QUESTIONS: u32 = 1;
const READER_GONE: &str = "its reader went away before it had printed everything";
/// What every shell starts with.
const USUAL_UMASK: u32 = 0o022;

/// Turns recordings into scenarios.
pub struct Finisher<'a> {
    programs: &'a [Program],
    territory: &'a Territory,
    /// The trees that tests lie in: names of tests are shown relative to them.
    trees: &'a [PathBuf],
    environments: Environments<'a>,
}

impl<'a> Finisher<'a> {
    /// `variables` are those that are always kept.
    pub fn new(
        programs: &'a [Program],
        territory: &'a Territory,
        trees: &'a [PathBuf],
        variables: &'a [Vec<u8>],
    ) -> Finisher<'a> {
        Finisher {
            programs,
            territory,
            trees,
            environments: Environments::new(variables),
        }
    }

    /// The recorded run as a scenario and its result.
    pub fn finish(&mut self, recording: Recording, end: End) -> Recorded {
        let Recording {
            began,
            start,
            mut files,
            stdin,
            stdout,
            stderr,
            server,
            signal,
            has_executed,
            executed,
            mut notes,
            mut unsteady,
            ..
        } = recording;
        let seconds = began.elapsed().as_secs_f64();
        notes.append(&mut files.notes);
        notes.extend(outside_notes(&files));
        let mut libraries = std::mem::take(&mut files.libraries);
        libraries.extend(executed);
        let inodes = files.inodes();
        let program = &self.programs[start.program];

        let highest = self.territory.highest(&start.directory);
        let layout = Layout::new(files.into_found(), &start.directory, &highest);
        let mut binaries = layout.binaries();
        // The program itself, in whose name it speaks.
        let own = [&program.path, &start.executable];
        binaries.extend(own.map(|path| path.as_os_str().as_bytes().to_vec()));
        let rewriter =
            Rewriter::new(layout.root.as_os_str().as_bytes(), WORK.as_bytes()).keeping(binaries);

        let mut words = start.command_line.split(|byte| *byte == 0);
        let name = words.next().unwrap_or_default();
        let mut argv: Vec<Bytes> = words.map(|word| rewriter.apply(word).into()).collect();
        // Behind the last terminator.
        argv.pop();
        let is_path = own.iter().any(|path| path.as_os_str().as_bytes() == name);

        let chosen = environment::Question {
            start: &start,
            program: &program.path,
            libraries: &libraries,
            with_path: has_executed,
        };
        let mut env = self.environments.choose(&chosen);
        if server.is_some() {
            // They pass a socket on to the process with a certain number; without them a server makes its own.
            env.retain(|name, _| !name.starts_with(b"LISTEN_"));
        }
        let shown = Environments::shown(&start, &env, &stdout.written.bytes);
        let name_of = |(name, _): &(Vec<u8>, Vec<u8>)| Bytes::from(name.clone());
        let env_order = shown.as_ref().map(|all| all.iter().map(name_of).collect());
        env.extend(shown.into_iter().flatten());
        let env = env
            .into_iter()
            .map(|(name, value)| {
                // Where programs are is no matter of the scenario's own files.
                let value = match name.as_slice() {
                    b"PATH" => value,
                    _ => rewriter.apply(&value),
                };
                (name.into(), value.into())
            })
            .collect();
        let mut scenario = Scenario {
            argv,
            env,
            env_order,
            umask: start.umask.filter(|mask| *mask != USUAL_UMASK),
            name: (!is_path).then(|| rewriter.apply(name).into()),
            directory: layout.directory(),
            ..Scenario::default()
        };
        let outputs = [(&stdout, USUAL_QUESTIONS), (&stderr, 0)];
        let sinks = outputs.map(|(output, usual)| sink(output, usual, &layout, &mut unsteady));
        layout.fill(&mut scenario, &rewriter, self.territory, &mut notes);
        [scenario.stdout, scenario.stderr] = sinks;
        take_back(&mut scenario, [&stdout, &stderr]);
        if end == End::Signal(libc::SIGPIPE) && scenario.stdout != Sink::Broken {
            unsteady.insert(READER_GONE);
        }
        fill_stdin(&mut scenario, stdin, &mut notes);
        let mut answers = Vec::new();
        if let Some(server) = server {
            scenario.listening = Some(Listening {
                address: server.address.into(),
                pauses: server.connections.iter().map(pauses).collect(),
                end: match end {
                    End::Signal(signal) => signal,
                    End::Exit(_) => signal,
                },
            });
            for connection in server.connections {
                if connection.received.lost > 0 {
                    notes.insert(cut("what a client sent", connection.received.lost));
                }
                scenario.streams.push(connection.received.bytes.into());
                if connection.sent.lost > 0 {
                    notes.insert(cut("what a client was answered", connection.sent.lost));
                }
                answers.push(rewriter.apply(&connection.sent.bytes).into());
            }
        }
        if prints_number(&stdout.written.bytes, &inodes) {
            unsteady.insert("prints the number of a file (inode or device)");
        }
        let mut printed = |output: Output, what: &str| -> Bytes {
            if output.written.lost > 0 {
                notes.insert(cut(what, output.written.lost));
            }
            rewriter.apply(&output.written.bytes).into()
        };
        let result = Ending {
            exit: match end {
                End::Exit(status) => Some(status),
                End::Signal(_) => None,
            },
            signal: match end {
                End::Exit(_) => None,
                End::Signal(signal) => Some(signal),
            },
            stdout: printed(stdout, "standard output"),
            stderr: printed(stderr, "standard error"),
            sanitizer: None,
            answers,
        };
        Recorded {
            program: program.name.clone().into_os_string().into_vec().into(),
            scenario,
            result,
            test: test::name(&start, self.trees),
            notes: notes.into_iter().collect(),
            unsteady: unsteady.into_iter().map(str::to_owned).collect(),
            seconds,
        }
    }
}

/// What an output was. That it is a file matters if the program knows the file by name, or asks more about its output than `usual`
/// questions; otherwise it could as well be a pipe, and runs that differ in nothing else are the same.
fn sink(
    output: &Output,
    usual: u32,
    layout: &Layout,
    unsteady: &mut BTreeSet<&'static str>,
) -> Sink {
    let Some(own) = &output.descriptor else {
        return Sink::Closed;
    };
    if own.is_full() {
        return Sink::Full;
    }
    if output.is_broken {
        if output.written.bytes.is_empty() {
            return Sink::Broken;
        }
        unsteady.insert(READER_GONE);
    }
    let Some(position) = output.position else {
        return Sink::Read;
    };
    match layout.name_of(own.identity) {
        Some(path) => Sink::File(OutputFile {
            path,
            offset: match position.append {
                true => 0,
                false => position.offset,
            },
            append: position.append,
        }),
        None if output.is_used_as_file || output.questions > usual => {
            Sink::File(OutputFile::default())
        }
        None => Sink::Read,
    }
}

/// Takes out of the scenario's files what the program itself had written to them when it first looked.
fn take_back(scenario: &mut Scenario, outputs: [&Output; 2]) {
    for (sink, output) in [&scenario.stdout, &scenario.stderr]
        .into_iter()
        .zip(outputs)
    {
        let (Sink::File(file), Some(began)) = (sink, output.position) else {
            continue;
        };
        if let Some(contents) = scenario.files.get_mut(&file.path) {
            contents.0.truncate(began.size as usize);
        }
        if let Some(size) = scenario.sizes.get_mut(&file.path) {
            *size = began.size.min(*size);
        }
    }
}

/// Whether one of some numbers stands in a text by itself.
fn prints_number(text: &[u8], numbers: &BTreeSet<u64>) -> bool {
    let words = text.split(|byte| !byte.is_ascii_alphanumeric());
    let mut texts = words.filter_map(|word| std::str::from_utf8(word).ok());
    texts.any(|word| word.parse().is_ok_and(|number| numbers.contains(&number)))
}

fn cut(what: &str, lost: u64) -> String {
    format!("{what}: {lost} bytes more than are kept")
}

fn outside_notes(files: &Files) -> impl Iterator<Item = String> {
    files
        .outside
        .iter()
        .map(|path| format!("{}: read, but outside of the project", path.display()))
}

/// Offsets at which a client waited: where the server answered before more came.
fn pauses(connection: &Connection) -> Vec<u64> {
    let length = connection.received.bytes.len() as u64;
    let is_inside = |offset: &&u64| **offset > 0 && **offset < length;
    connection
        .answers
        .iter()
        .filter(is_inside)
        .copied()
        .collect()
}

fn fill_stdin(scenario: &mut Scenario, stdin: Stdin, notes: &mut BTreeSet<String>) {
    match stdin {
        Stdin::Closed => scenario.closed_stdin = true,
        Stdin::Empty | Stdin::File { contents: None, .. } => {}
        Stdin::File {
            contents: Some(contents),
            ..
        } => {
            let lost = contents.size.saturating_sub(contents.bytes.len() as u64);
            if lost > 0 {
                notes.insert(cut("standard input", lost));
            }
            scenario.stdin = contents.bytes.into();
        }
        Stdin::Stream {
            taken,
            is_tried,
            questions,
            ..
        } => {
            scenario.piped_stdin = is_tried || questions > USUAL_QUESTIONS;
            if taken.lost > 0 {
                notes.insert(cut("standard input", taken.lost));
            }
            scenario.stdin = taken.bytes.into();
        }
        Stdin::Other(what) => {
            notes.insert(format!("standard input was {what}"));
        }
    }
}
