//! What `parallax diverge` costs: bringing two versions side by side against tracing one, and the memory that many
//! divergences take.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use parallax_torture::process::{self, End};
use serde_json::{Value, json};

use super::Bench;

/// A command line and its standard input.
pub(super) type Seed = (&'static [&'static str], &'static str);

/// Command lines of `cut`.
pub(super) const CUT: [Seed; 12] = [
    (&["-d:", "-f1,3-"], "a:b:c\n"),
    (&["-d:", "-f4"], "a:b:c\n"),
    (&["-c4"], "123\n1"),
    (&["-s", "-d:", "-f2-4"], ":::\n:1\n"),
    (&["-c1-3,2,5-", "--output-d=:"], "abcdefg\n"),
    (&["-b1-2,3-4", "--output-d=:"], "abcd\n"),
    (&["--complement", "-b3,4-4,5,2-"], "123456\n"),
    (&["-f", "2-0"], ""),
    (&["-s", "-b4"], ":\n"),
    (&["-d:", "--output-d=_._", "-f2,3"], "a:b:c\n"),
    (&["-z", "-c1"], "ab\0cd\0"),
    (&["-b1234567890-"], "abc\n"),
];

/// Command lines of `expr`.
pub(super) const EXPR: [Seed; 8] = [
    (&["12", "+", "30", "*", "2"], ""),
    (&["5", "-", "9"], ""),
    (&["(", "100", "/", "7", ")", "%", "4"], ""),
    (&["3", "<", "4", "&", "b", "=", "c"], ""),
    (&["abcde", ":", "ab\\(.*\\)e"], ""),
    (&["substr", "abcdefg", "2", "3"], ""),
    (&["index", "abcdef", "dc"], ""),
    (&["length", "abc", "|", "0"], ""),
];

/// Conditions of the program with many divergences; each parts the versions in two ways, and so do all that come after it.
const CONDITIONS: usize = 200;
/// Conditions in one function.
const PART: usize = 50;
/// How long it is compared.
const TIME: Duration = Duration::from_secs(150);

impl Bench<'_> {
    pub(super) fn diverging(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### Comparing two versions\n\n");
        let folder = self.scratch.path().join("diverge");
        self.side_by_side(&folder, text)?;
        self.many_divergences(&folder, text)
    }

    /// The same program twice: nothing is asked, so that only tracing and comparing are there to be measured.
    fn side_by_side(&self, folder: &Path, text: &mut String) -> Result<()> {
        write_seeds(&folder.join("seeds"), &CUT)?;
        let cut = self.place.program("cut");
        let mut ratios = Vec::new();
        for _ in 0..self.repeat {
            let mut command = Command::new(self.place.parallax());
            command
                .arg("diverge")
                .args([&cut, &cut])
                .args([
                    "--no-sanitizers",
                    "--json",
                    "--runs",
                    "200",
                    "--seeds",
                    "seeds",
                ])
                .current_dir(folder);
            let (report, _) = compare(&mut command)?;
            let seconds = |name: &str| report["stats"][name].as_f64();
            let one = seconds("tracing_one_seconds").context("no time of tracing")?;
            let both = seconds("comparing_seconds").context("no time of comparing")?;
            ratios.push(both / one.max(1e-6));
        }
        let _ = writeln!(
            text,
            "* tracing both versions of `cut` and bringing them side by side, against tracing one: {:.2}× CPU time (aim: 2.5)",
            super::median(ratios)
        );
        Ok(())
    }

    fn many_divergences(&self, folder: &Path, text: &mut String) -> Result<()> {
        for (name, byte) in [("old", 'x'), ("new", 'y')] {
            // Compilers take their time with functions of thousands of branches.
            let mut source = String::from(
                "#include <stdio.h>\nstatic unsigned char text[8192];\nstatic unsigned count;\n",
            );
            let mut calls = String::new();
            for (part, first) in (0..CONDITIONS).step_by(PART).enumerate() {
                let _ = writeln!(source, "static void part{part}(void) {{");
                for at in first..first + PART {
                    let _ = writeln!(source, "  if (text[{at}] == '{byte}')\n    count += {at};");
                }
                source.push_str("}\n");
                let _ = writeln!(calls, "  part{part}();");
            }
            source.push_str(
                "int main(void) {\n  if (fread(text, 1, sizeof text, stdin) == 0)\n    return 1;\n",
            );
            source.push_str(&calls);
            source.push_str("  printf(\"%u\\n\", count);\n  return 0;\n}\n");
            let directory = folder.join(name);
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("prog.c"), source)?;
            let mut command = Command::new(self.place.parallax());
            command
                .args(["cc", "--", "-g", "-o", "prog", "prog.c"])
                .current_dir(&directory);
            let finished = process::run(&mut command, super::TIMEOUT)?;
            ensure!(finished.end == End::Exit(0), "prog.c does not compile");
        }
        fs::write(folder.join("input"), "a".repeat(CONDITIONS))?;
        let mut command = Command::new(self.place.parallax());
        command
            .args([
                "diverge",
                "old/prog",
                "new/prog",
                "--no-sanitizers",
                "--json",
            ])
            .args(["--stdin", "input", "--time"])
            .arg(format!("{}s", TIME.as_secs()))
            .current_dir(folder);
        let (report, memory) = compare(&mut command)?;
        let counts = report["stats"]["divergences"].as_object();
        let counts = counts.context("no count of divergences")?.values();
        let divergences: u64 = counts.filter_map(Value::as_u64).sum();
        let _ = writeln!(
            text,
            "* memory after {divergences} divergences (in {} s): {} MB (aim: 2,000 after 10,000)",
            TIME.as_secs(),
            memory >> 20,
        );
        Ok(())
    }
}

/// Writes command lines as scenarios.
pub(super) fn write_seeds(folder: &Path, seeds: &[Seed]) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (number, (arguments, stdin)) in seeds.iter().enumerate() {
        let scenario = json!({"argv": arguments, "stdin": stdin});
        fs::write(
            folder.join(format!("{number:02}.json")),
            scenario.to_string(),
        )?;
    }
    Ok(())
}

/// The report, and the most memory that the comparing process had at a time.
fn compare(command: &mut Command) -> Result<(Value, u64)> {
    let finished = process::run(command, TIME * 2)?;
    ensure!(
        matches!(finished.end, End::Exit(0 | 1)),
        "parallax diverge: {:?} {}",
        finished.end,
        String::from_utf8_lossy(&finished.stderr)
    );
    let report = serde_json::from_slice(&finished.stdout)?;
    Ok((report, finished.memory))
}
