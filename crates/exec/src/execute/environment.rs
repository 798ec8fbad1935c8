//! The environment that a program is given: small, and the same on every machine.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::LazyLock;

use parallax_abi::serve;

use crate::run::prepare::VARIABLES;
use parallax_scenario::{Bytes, Scenario, ktest};

/// Name and value.
pub type Variable = (OsString, OsString);

/// What is given to all runs, with what a scenario adds; nothing but what it has if it says in which order.
pub fn of_run(given: &[Variable], scenario: &Scenario, work: &Path) -> Vec<Variable> {
    let mut environment = match &scenario.env_order {
        None => {
            let mut environment = given.to_vec();
            environment.retain(|(name, _)| !VARIABLES.iter().any(|variable| name == variable));
            for (name, value) in &scenario.env {
                let mut known = environment.iter_mut();
                match known.find(|(other, _)| other == name.as_os_str()) {
                    Some((_, old)) => *old = value.to_os_string(),
                    None => environment.push((name.to_os_string(), value.to_os_string())),
                }
            }
            fixed(&environment)
        }
        Some(names) => {
            let variable = |name: &Bytes| {
                let value = scenario.env.get(name)?;
                Some((name.to_os_string(), value.to_os_string()))
            };
            names.iter().filter_map(variable).collect()
        }
    };
    if let Some((name, _)) = ktest::layout(scenario) {
        environment.retain(|(name, _)| name != ktest::VARIABLE);
        environment.push((ktest::VARIABLE.into(), work.join(name).into()));
    }
    environment
}

/// Those variables that are read before `main`, by the dynamic linker, libc or a sanitizer: a server serves only runs that have
/// the same ones.
pub fn read_at_start(environment: &[Variable]) -> impl Iterator<Item = &Variable> {
    const PREFIXES: [&str; 4] = ["LD_", "GLIBC_", "MALLOC_", "PTHREAD_"];
    const SUFFIX: &str = "SAN_OPTIONS";
    environment.iter().filter(|(name, _)| {
        let name = name.as_bytes();
        let mut prefixes = PREFIXES.iter();
        prefixes.any(|prefix| name.starts_with(prefix.as_bytes()))
            || name.ends_with(SUFFIX.as_bytes())
    })
}

/// What a server is started with, whose runs are like this one.
pub fn of_server(given: &[Variable], run: &[Variable]) -> Vec<Variable> {
    let mut environment = fixed(given);
    let own: Vec<Variable> = read_at_start(&environment).cloned().collect();
    environment.retain(|variable| !own.contains(variable));
    environment.extend(read_at_start(run).cloned());
    environment
}

/// Whether a program has plans of its own with what a server needs.
pub fn is_in_the_way(environment: &[Variable]) -> bool {
    environment.iter().any(|(name, _)| name == serve::PRELOAD)
}

/// With the locale and the time zone of all runs, unless something else was asked for. Plain `C`: a byte is a character there, whatever
/// locales a machine has, and test suites that compare messages use it.
pub fn fixed(given: &[Variable]) -> Vec<Variable> {
    let mut environment = given.to_vec();
    fix(&mut environment, &["LC_", "LANG"], "LC_ALL", "C");
    // Where that is the machine's own time zone, programs need not be told, and do as they do without a variable.
    if !*IS_UTC {
        fix(&mut environment, &["TZ"], "TZ", "UTC0");
    }
    environment
}

/// Whether local time is UTC on this machine.
static IS_UTC: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: plain data, filled in by the call.
    let here = unsafe {
        let (now, mut local) = (0, std::mem::zeroed());
        libc::localtime_r(&now, &mut local);
        local
    };
    let own = std::env::var_os("TZ").is_some();
    let file = std::fs::canonicalize("/etc/localtime");
    let names_utc = file.is_ok_and(|path| path.ends_with("UTC") || path.ends_with("UCT"));
    !own && here.tm_gmtoff == 0 && (names_utc || !Path::new("/etc/localtime").exists())
});

/// Gives a variable a value, unless one whose name begins like these is there.
fn fix(environment: &mut Vec<Variable>, known: &[&str], name: &str, value: &str) {
    let is_there = environment.iter().any(|(other, _)| {
        known
            .iter()
            .any(|known| other.as_bytes().starts_with(known.as_bytes()))
    });
    if !is_there {
        environment.push((name.into(), value.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &[(&str, &str)]) -> Vec<Variable> {
        let own = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
        list.iter().map(own).collect()
    }

    #[test]
    fn a_server_starts_with_what_its_runs_would_start_with() {
        let given = variables(&[
            ("A", "1"),
            ("ASAN_OPTIONS", "x"),
            ("LC_ALL", "C"),
            ("TZ", "UTC0"),
        ]);
        let run = variables(&[
            ("LD_LIBRARY_PATH", "/lib"),
            ("B", "2"),
            ("UBSAN_OPTIONS", "y"),
        ]);
        let expected = [
            ("A", "1"),
            ("LC_ALL", "C"),
            ("TZ", "UTC0"),
            ("LD_LIBRARY_PATH", "/lib"),
            ("UBSAN_OPTIONS", "y"),
        ];
        assert_eq!(of_server(&given, &run), variables(&expected));
        assert!(!is_in_the_way(&run) && is_in_the_way(&variables(&[("LD_PRELOAD", "x")])));
    }
}
