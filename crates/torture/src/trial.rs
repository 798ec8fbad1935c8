//! One program against the tracer: plain and traced runs must agree, every
//! expression must have the value that the program computed.

use crate::compile::{Flavour, compile, compile_checked};
use crate::inputs::{FILE_NAME, Inputs};
use crate::process::{self, End, Finished};
use crate::report::Report;
use parallax_scenario::shell_word;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Limits of the runs. A traced run is allowed to be many times slower, and includes a compile; on
/// a busy machine that takes minutes. `parallax` itself ends programs that hang.
const PLAIN_TIMEOUT: Duration = Duration::from_secs(60);
const TRACED_TIMEOUT: Duration = Duration::from_secs(900);

/// The installation under test.
#[derive(Clone, Debug)]
pub struct Tool {
    pub parallax: PathBuf,
    pub compiler: PathBuf,
}

impl Tool {
    /// The compiler wrapper is the same binary under another name, beside it.
    pub fn new(parallax: PathBuf) -> Tool {
        let compiler = parallax.with_file_name("parallax-cc");
        Tool { parallax, compiler }
    }
}

/// One run of the program.
#[derive(Clone, Debug)]
pub struct Run {
    pub arguments: Vec<OsString>,
    pub stdin: Vec<u8>,
    /// Contents of [`FILE_NAME`] in the working directory.
    pub file: Vec<u8>,
}

impl Run {
    pub fn of(inputs: &Inputs) -> Run {
        let mut arguments = vec![OsString::from(FILE_NAME)];
        arguments.extend(inputs.arguments.iter().cloned().map(OsString::from_vec));
        Run {
            arguments,
            stdin: inputs.stdin.clone(),
            file: inputs.file.clone(),
        }
    }
}

/// What a successful trial saw, summed over its runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub branches: u64,
    pub nodes: u64,
    pub losses: u64,
}

/// Why a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("cannot run the trial")]
    Io(#[from] std::io::Error),
    #[error("{compiler} does not compile the program:\n{stderr}")]
    Compile { compiler: String, stderr: String },
    /// The generator's fault, not the tracer's.
    #[error("the program itself is at fault (run {run}): {end:?}\n{stderr}")]
    Undefined {
        run: usize,
        end: End,
        stderr: String,
    },
    #[error("the program gives other output with sanitizers (run {run})")]
    Unstable { run: usize },
    #[error("the plain program does not end (run {run})")]
    Endless { run: usize },
    #[error("`parallax` failed (run {run}): {end:?}\n{stderr}")]
    Trace {
        run: usize,
        end: End,
        stderr: String,
    },
    #[error("what `parallax --json` says is not understood (run {run})")]
    Report {
        run: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("{what} differs (run {run})\n  plain:  {plain}\n  traced: {traced}")]
    Differs {
        run: usize,
        what: &'static str,
        plain: String,
        traced: String,
    },
    #[error("{} self-check mismatches (run {run}):\n{}", mismatches.len(), mismatches.join("\n"))]
    Mismatches { run: usize, mismatches: Vec<String> },
    #[error("nothing was traced although there was input (run {run})")]
    Untraced { run: usize },
}

/// A program to try, in a folder of its own that keeps everything needed to look at a failure.
pub struct Trial<'a> {
    pub tool: &'a Tool,
    pub directory: &'a Path,
    pub flavour: &'a Flavour,
}

impl Trial<'_> {
    fn source(&self) -> PathBuf {
        self.directory.join("program.c")
    }

    /// The captured program, once [`Trial::compile`] has made it.
    pub fn program(&self) -> PathBuf {
        self.directory.join("program")
    }

    /// Compiles the program with `parallax-cc`.
    pub fn compile(&self, source: &str) -> Result<(), Failure> {
        fs::write(self.source(), source)?;
        let compiled = compile(
            &self.tool.compiler,
            self.flavour,
            &self.source(),
            &self.program(),
        )?;
        require_compiled(&compiled, "parallax-cc")
    }

    /// Tries every run of the compiled program.
    pub fn run(&self, runs: &[Run]) -> Result<Seen, Failure> {
        let mut seen = Seen::default();
        for (number, run) in runs.iter().enumerate() {
            let place = Place::prepare(self.directory, number, run)?;
            let plain = process::run(&mut place.command(&self.program()), PLAIN_TIMEOUT)?;
            if plain.end == End::Timeout {
                return Err(Failure::Endless { run: number });
            }
            place.keep("plain", &plain)?;
            let report = place.trace(self.tool, &self.program())?;
            compare(&place, &plain, &report)?;
            if report.nodes == 0 && (!run.stdin.is_empty() || run.arguments.len() > 1) {
                return Err(Failure::Untraced { run: number });
            }
            seen.branches += report.branches;
            seen.nodes += report.nodes;
            seen.losses += report.losses.iter().map(|loss| loss.count).sum::<u64>();
        }
        Ok(seen)
    }

    /// Whether the program does without optimisation what it does as compiled. An endless loop
    /// without effect may be optimised away; a traced one has effects and stays. Asked about
    /// programs that failed.
    pub fn is_the_same_unoptimised(&self, run: &Run) -> Result<bool, Failure> {
        let unoptimised = self.directory.join("unoptimised");
        let flavour = Flavour { flags: vec!["-O0"] };
        let compiled = compile("clang-19", &flavour, &self.source(), &unoptimised)?;
        require_compiled(&compiled, "clang-19")?;
        let place = Place::prepare(self.directory, 0, run)?;
        let one = process::run(&mut place.command(&self.program()), PLAIN_TIMEOUT)?;
        let other = process::run(&mut place.command(&unoptimised), PLAIN_TIMEOUT)?;
        Ok(one.end == other.end && one.stdout == other.stdout)
    }

    /// Whether the generator is to blame: it promises programs without undefined behaviour. Asked
    /// about programs that failed; a second compile for each that passes would be half of a
    /// campaign's time.
    pub fn check_definedness(&self, runs: &[Run]) -> Result<(), Failure> {
        let checked = self.directory.join("checked");
        require_compiled(&compile_checked(&self.source(), &checked)?, "clang-19")?;
        for (number, run) in runs.iter().enumerate() {
            let place = Place::prepare(self.directory, number, run)?;
            let plain = process::run(&mut place.command(&self.program()), PLAIN_TIMEOUT)?;
            check_definedness(&place, &checked, &plain)?;
        }
        Ok(())
    }
}

fn require_compiled(compiled: &Finished, compiler: &str) -> Result<(), Failure> {
    if compiled.success() {
        return Ok(());
    }
    Err(Failure::Compile {
        compiler: compiler.to_owned(),
        stderr: excerpt(&compiled.stderr),
    })
}

/// Where one run happens: a folder with the input file and standard input.
pub(crate) struct Place<'a> {
    number: usize,
    folder: PathBuf,
    stdin: PathBuf,
    run: &'a Run,
}

impl<'a> Place<'a> {
    pub fn prepare(directory: &Path, number: usize, run: &'a Run) -> Result<Place<'a>, Failure> {
        let folder = directory.join(format!("run-{number}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(FILE_NAME), &run.file)?;
        let stdin = folder.join("stdin");
        fs::write(&stdin, &run.stdin)?;
        let script: Vec<String> = run
            .arguments
            .iter()
            .map(|argument| shell_word(argument.as_encoded_bytes()))
            .collect();
        fs::write(
            folder.join("repeat.sh"),
            format!(
                "cd \"$(dirname \"$0\")\" && exec ${{1:-../program}} {} < stdin\n",
                script.join(" ")
            ),
        )?;
        Ok(Place {
            number,
            folder,
            stdin,
            run,
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file with the standard input.
    pub fn stdin(&self) -> &Path {
        &self.stdin
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(&self.run.arguments).current_dir(&self.folder);
        if let Ok(stdin) = fs::File::open(&self.stdin) {
            command.stdin(Stdio::from(stdin));
        }
        command
    }

    fn keep(&self, name: &str, finished: &Finished) -> Result<(), Failure> {
        fs::write(self.folder.join(format!("{name}.out")), &finished.stdout)?;
        fs::write(self.folder.join(format!("{name}.err")), &finished.stderr)?;
        Ok(())
    }

    /// Runs `parallax trace --self-check --json`.
    fn trace(&self, tool: &Tool, program: &Path) -> Result<Report, Failure> {
        let mut command = Command::new(&tool.parallax);
        command
            .args(["trace", "--self-check", "--json", "--timeout", "60"])
            .arg("--stdin")
            .arg(&self.stdin)
            .arg(program)
            .arg("--")
            .args(&self.run.arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        let finished = process::run(&mut command, TRACED_TIMEOUT)?;
        self.keep("trace", &finished)?;
        // 1 means findings: mismatches, which the report lists.
        if !matches!(finished.end, End::Exit(0 | 1)) {
            return Err(Failure::Trace {
                run: self.number,
                end: finished.end,
                stderr: excerpt(&finished.stderr),
            });
        }
        let report = Report::parse(&finished.stdout).map_err(|source| Failure::Report {
            run: self.number,
            source,
        })?;
        fs::write(self.folder.join("traced.out"), &report.stdout.bytes)?;
        Ok(report)
    }
}

fn check_definedness(place: &Place, checked: &Path, plain: &Finished) -> Result<(), Failure> {
    let mut command = place.command(checked);
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    let sanitized = process::run(&mut command, TRACED_TIMEOUT)?;
    let report = String::from_utf8_lossy(&sanitized.stderr);
    if report.contains("runtime error:") || report.contains("Sanitizer") {
        return Err(Failure::Undefined {
            run: place.number,
            end: sanitized.end,
            stderr: excerpt(&sanitized.stderr),
        });
    }
    if sanitized.stdout != plain.stdout || sanitized.end != plain.end {
        return Err(Failure::Unstable { run: place.number });
    }
    Ok(())
}

fn compare(place: &Place, plain: &Finished, report: &Report) -> Result<(), Failure> {
    let run = place.number;
    let plain_end = format!("{:?}", plain.end);
    let traced_end = format!("{:?}", report.end);
    if plain_end != traced_end {
        return Err(Failure::Differs {
            run,
            what: "the way it ends",
            plain: plain_end,
            traced: traced_end,
        });
    }
    if !report.stdout.is(&plain.stdout) {
        let (plain, traced) = first_difference(&plain.stdout, &report.stdout.bytes);
        return Err(Failure::Differs {
            run,
            what: "standard output",
            plain,
            traced,
        });
    }
    if !report.mismatches.is_empty() {
        return Err(Failure::Mismatches {
            run,
            mismatches: report.mismatches.clone(),
        });
    }
    Ok(())
}

/// The first lines that differ.
fn first_difference(a: &[u8], b: &[u8]) -> (String, String) {
    let mut left = a.split(|byte| *byte == b'\n');
    let mut right = b.split(|byte| *byte == b'\n');
    loop {
        match (left.next(), right.next()) {
            (None, None) => return (String::new(), String::new()),
            (x, y) if x == y => {}
            (x, y) => {
                let text = |line: Option<&[u8]>| {
                    line.map_or("(end)".to_owned(), |line| {
                        String::from_utf8_lossy(line).into_owned()
                    })
                };
                return (text(x), text(y));
            }
        }
    }
}

/// The beginning of what a program said, enough to understand a failure.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().take(20);
    let short = lines.map(|line| line.chars().take(200).collect::<String>());
    short.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let (left, right) = first_difference(b"a\nb\nc\n", b"a\nx\nc\n");
        assert_eq!((left.as_str(), right.as_str()), ("b", "x"));
        let (left, right) = first_difference(b"a\n", b"a\nmore");
        assert_eq!((left.as_str(), right.as_str()), ("", "more"));
    }
}
