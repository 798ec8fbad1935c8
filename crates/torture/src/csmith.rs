//! Programs from csmith, made to depend on an argument.
//!
//! csmith's programs read no input, so nothing in them would carry a label. After
//! generation, some bytes of the global variables are combined with bytes of `argv[2]` in
//! a way that changes nothing as long as that argument is [`KEY`]: the program computes
//! what csmith made it compute, and labels flow everywhere.

use crate::process::{self, End};
use crate::trial::{Failure, Trial};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The argument with which the program computes what csmith intended.
pub const KEY: &str = "parallax";

/// csmith itself sometimes takes forever.
const TIMEOUT: Duration = Duration::from_secs(60);
/// And so do its programs; their CPU time is limited besides.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// Programs with fewer variables to label are boring.
const ENOUGH_GLOBALS: usize = 4;
/// At most this many are labelled, so that path conditions stay in proportion.
const MOST_GLOBALS: usize = 24;

/// csmith's own seeds that are tried for one of ours.
const ATTEMPTS: u64 = 12;
/// A program that takes longer than this plain would take minutes traced.
const QUICK: Duration = Duration::from_millis(40);

/// Compiles the first program for `seed` that has enough to label, ends, and ends soon; false if
/// there is none. Which one that is depends on csmith alone but for programs at the edge of the
/// time limit.
pub fn find(seed: u64, trial: &Trial) -> Result<bool, Failure> {
    for attempt in 0..ATTEMPTS {
        let Some(source) = generate(seed * ATTEMPTS + attempt, trial.directory)? else {
            continue;
        };
        trial.compile(&source)?;
        // By CPU time: an endless program shall not cost more on a quiet machine, nor a quick one
        // be given up on a busy one.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -t 1; exec \"$0\" \"$@\""]);
        command.arg(trial.program()).args(["1", KEY]);
        let finished = process::run(&mut command, RUN_TIMEOUT)?;
        if finished.success() && finished.cpu < QUICK {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The program of csmith's seed, or nothing if it is of no interest. csmith leaves a file in the
/// folder that it runs in.
fn generate(seed: u64, folder: &Path) -> io::Result<Option<String>> {
    let mut command = Command::new("csmith");
    command.current_dir(folder);
    command.args(["--seed", &seed.to_string()]);
    command.args(["--concise", "--max-funcs", "5", "--max-block-depth", "4"]);
    command.args(["--max-array-dim", "2", "--max-array-len-per-dim", "6"]);
    if seed.is_multiple_of(3) {
        command.arg("--float");
    }
    if seed.is_multiple_of(2) {
        command.arg("--builtins");
    }
    let finished = process::run(&mut command, TIMEOUT)?;
    if finished.end != End::Exit(0) {
        return Ok(None);
    }
    let source = String::from_utf8_lossy(&finished.stdout);
    // Builtins of processors that nobody asked the compiler to compile for.
    if source.contains("__builtin_ia32_") {
        return Ok(None);
    }
    Ok(depend_on_argument(&source))
}

/// Adds the prologue to `main`.
fn depend_on_argument(source: &str) -> Option<String> {
    let mut prologue = String::new();
    let globals: Vec<&str> = source.lines().filter_map(writable_global).collect();
    if globals.len() < ENOUGH_GLOBALS {
        return None;
    }
    for (number, name) in globals.iter().take(MOST_GLOBALS).enumerate() {
        let _ = writeln!(
            prologue,
            "    if (argc > 2) stir((unsigned char *)&{name}, sizeof {name}, argv[2], {number});"
        );
    }
    let start = source.find("int main (")?;
    let begin = start + source[start..].find("    platform_main_begin();")?;
    let stir = format!(
        "static void stir(unsigned char *at, unsigned long size, const char *key, unsigned from)\n\
         {{\n\
         \x20   for (unsigned long i = 0; i < size && i < 8; i++)\n\
         \x20       at[i] ^= (unsigned char)key[(from + i) % {length}] ^ (unsigned char)\"{KEY}\"[(from + i) % {length}];\n\
         }}\n\n",
        length = KEY.len()
    );
    // csmith prints the hash of each variable only if there is exactly one argument.
    let main = source[start..begin].replace("argc == 2", "argc >= 2");
    Some(format!(
        "{}{stir}{main}{prologue}{}",
        &source[..start],
        &source[begin..]
    ))
}

/// The name of the variable if the line defines a global that may be
/// written to and is not a pointer (those keep pointing where they should).
fn writable_global(line: &str) -> Option<&str> {
    let definition = line.strip_prefix("static ")?;
    let (left, _) = definition.split_once(" = ")?;
    if left.contains('*') || left.contains("const ") {
        return None;
    }
    let name = left.rsplit(' ').next()?;
    let name = name.split('[').next()?;
    name.starts_with("g_").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writable_variables_are_stirred() {
        assert_eq!(writable_global("static int32_t g_2 = 0x1L;"), Some("g_2"));
        assert_eq!(
            writable_global("static volatile struct S1 g_33[2][3] = {{1}};/* VOLATILE */"),
            Some("g_33")
        );
        assert_eq!(writable_global("static int32_t *g_4 = &g_2;"), None);
        assert_eq!(writable_global("static const uint8_t g_5 = 3;"), None);
        assert_eq!(writable_global("static int32_t  func_1(void);"), None);
        assert_eq!(writable_global("    static int x = 1;"), None);
    }
}
