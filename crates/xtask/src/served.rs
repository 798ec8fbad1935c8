//! Served runs against runs of fresh processes, over many command lines of coreutils.
//!
//! For each: output, end and trace must be the same. Also says how many runs a second both ways give.

use crate::commands::{self, CommandFile, CommandLine};
use anyhow::{Context, Result, bail, ensure};
use parallax_exec::execute::{Executor, Settings};
use parallax_exec::run::Outcome;
use parallax_scenario::Scenario;
use parallax_trace::Trace;
use parallax_trace::region::{Limits, Region, Symbolic};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Both ways of running a program.
struct Pair {
    served: Executor,
    alone: Executor,
}

/// Compares on every `step`th command line that contains `only`; true if none differs.
pub fn compare(parallax: &Path, programs: &Path, only: &str, step: usize) -> Result<bool> {
    let path = crate::root().join("tests/coreutils-commands.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let file = commands::parse(&text)?;
    let chosen = file.commands.iter().filter(|line| line.text.contains(only));
    let mut pairs = BTreeMap::new();
    let (mut same, mut differing, mut unserved) = (0, 0, 0);
    for line in chosen.step_by(step.max(1)) {
        if !pairs.contains_key(&line.program) {
            let pair = Pair::new(
                &derive(parallax, &programs.join(&line.program))?,
                &line.program,
            )?;
            pairs.insert(line.program.clone(), pair);
        }
        let pair = pairs.get_mut(&line.program).expect("just made");
        match pair.compare(&scenario(&file, line)) {
            Ok(()) => same += 1,
            Err(error) => {
                differing += 1;
                println!("{}\n    {error:#}", line.text);
            }
        }
        unserved += usize::from(!pair.served.is_serving());
    }
    println!("{same} the same, {differing} different, {unserved} not served");
    Ok(differing == 0)
}

/// Runs `expr` again and again, each time with a new trace.
pub fn measure(parallax: &Path, programs: &Path, runs: u32) -> Result<()> {
    let program = derive(parallax, &programs.join("expr"))?;
    let arguments = ["12", "+", "30", "*", "2"];
    let scenario = Scenario {
        argv: arguments.iter().map(|word| (*word).into()).collect(),
        ..Scenario::default()
    };
    let Pair {
        mut served,
        mut alone,
    } = Pair::new(&program, "expr")?;
    for (name, executor) in [("served", &mut served), ("alone", &mut alone)] {
        executor.run(&scenario, &[])?;
        let (started, cpu) = (Instant::now(), cpu_seconds());
        for _ in 0..runs {
            traced(executor, &scenario)?;
        }
        let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let runs = f64::from(runs);
        println!(
            "{name}: {:.0} runs/s, {:.2} ms of the engine's own CPU each",
            runs / wall,
            cpu / runs * 1e3
        );
    }
    Ok(())
}

/// CPU time of this process, without its children.
fn cpu_seconds() -> f64 {
    // SAFETY: plain data, filled in by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn derive(parallax: &Path, program: &Path) -> Result<PathBuf> {
    let output = Command::new(parallax)
        .args(["variant", "--kind", "traced"])
        .arg(program)
        .output()
        .with_context(|| parallax.display().to_string())?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?.trim().into())
}

fn scenario(file: &CommandFile, line: &CommandLine) -> Scenario {
    let fixtures = file.fixtures.iter();
    let files: BTreeMap<_, _> = fixtures
        .map(|fixture| {
            (
                fixture.name.as_str().into(),
                fixture.contents.clone().into(),
            )
        })
        .collect();
    let stdin = line.stdin.as_deref();
    let variables = line.environment.iter();
    Scenario {
        argv: line
            .arguments
            .iter()
            .map(|bytes| bytes.clone().into())
            .collect(),
        stdin: stdin
            .and_then(|name| files.get(&name.into()).cloned())
            .unwrap_or_default(),
        env: variables
            .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
            .collect(),
        files,
        ..Scenario::default()
    }
}

fn traced(executor: &mut Executor, scenario: &Scenario) -> Result<(Outcome, Trace)> {
    let region = Region::create(Limits::within(1 << 30), &Symbolic::ALL, false)?;
    let outcome = executor.run(scenario, &[region.shared()])?;
    let trace = Trace::read(region);
    ensure!(trace.attached(), "there is no trace");
    Ok((outcome, trace))
}

impl Pair {
    fn new(program: &Path, name: &str) -> Result<Pair> {
        let settings = |server| Settings {
            argv0: name.into(),
            timeout: Duration::from_secs(60),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            server,
            ..Settings::default()
        };
        Ok(Pair {
            served: Executor::new(program, settings(true))?,
            alone: Executor::new(program, settings(false))?,
        })
    }

    fn compare(&mut self, scenario: &Scenario) -> Result<()> {
        let (outcome, trace) = traced(&mut self.served, scenario)?;
        let (expected, expected_trace) = traced(&mut self.alone, scenario)?;
        ensure!(
            outcome.end == expected.end,
            "{:?}, not {:?}",
            outcome.end,
            expected.end
        );
        ensure!(outcome.stdout == expected.stdout, "standard output differs");
        ensure!(outcome.stderr == expected.stderr, "standard error differs");
        let nodes = [&trace, &expected_trace].map(Trace::node_count);
        let events = [&trace, &expected_trace].map(|trace| {
            let events = trace.events();
            events
                .map(|(kind, event)| (kind, event.site, event.detail))
                .collect::<Vec<_>>()
        });
        let first = events[0].iter().zip(&events[1]).position(|(a, b)| a != b);
        ensure!(
            events[0] == events[1] && nodes[0] == nodes[1],
            "the trace differs: {} nodes and {} events, not {} and {}; first at event {first:?}",
            nodes[0],
            events[0].len(),
            nodes[1],
            events[1].len(),
        );
        Ok(())
    }
}
