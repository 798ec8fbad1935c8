//! Compiler, plug-in, sanitizer libraries.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Check;

const INSTALL_CLANG: &str = "apt-get install clang-19";
const INSTALL_RUNTIMES: &str = "apt-get install libclang-rt-19-dev";

pub(super) fn checks(clang: &Path, plugin: Option<&Path>) -> Vec<Check> {
    let (compiler, works) = compiler(clang);
    let mut checks = vec![compiler];
    if works {
        checks.push(linker(clang));
        checks.extend(plugin.map(|plugin| loads_plugin(clang, plugin)));
        checks.push(sanitizers(clang));
    }
    checks
}

fn run(clang: &Path, arguments: &[&str]) -> io::Result<Output> {
    Command::new(clang)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or_default().trim().to_owned()
}

fn compiler(clang: &Path) -> (Check, bool) {
    const NAME: &str = "clang 19";
    let shown = clang.display();
    let check = match run(clang, &["--version"]) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Check::missing(NAME, format!("{shown} not found"), INSTALL_CLANG)
        }
        Err(error) => Check::missing(NAME, format!("{shown}: {error}"), INSTALL_CLANG),
        Ok(output) => {
            let version = first_line(&output.stdout);
            if version.contains("clang version 19.") {
                return (Check::good(NAME, version), true);
            }
            let found = format!("{shown} is {version:?}, not clang 19");
            Check::missing(NAME, found, INSTALL_CLANG)
        }
    };
    (check, false)
}

fn linker(clang: &Path) -> Check {
    const NAME: &str = "linker";
    let found = run(clang, &["-print-prog-name=ld"])
        .map(|output| PathBuf::from(first_line(&output.stdout)));
    match found {
        // Clang answers with the bare name when there is none.
        Ok(path) if path.is_absolute() => Check::good(NAME, path.display().to_string()),
        _ => Check::missing(NAME, "no ld found by clang", "apt-get install binutils"),
    }
}

fn loads_plugin(clang: &Path, plugin: &Path) -> Check {
    const NAME: &str = "plug-in";
    let flag = format!("-fpass-plugin={}", plugin.display());
    let arguments = [
        &flag,
        "-x",
        "c",
        "-O1",
        "-S",
        "-o",
        "/dev/null",
        "/dev/null",
    ];
    match run(clang, &arguments) {
        Ok(output) if output.status.success() => {
            Check::good(NAME, format!("{} loads", plugin.display()))
        }
        Ok(output) => Check::missing(
            NAME,
            format!("clang cannot load it: {}", first_line(&output.stderr)),
            "parallax clean, if its unpacked copy is damaged; else build Parallax on this machine: make build",
        ),
        Err(error) => Check::missing(NAME, error.to_string(), INSTALL_CLANG),
    }
}

fn sanitizers(clang: &Path) -> Check {
    const NAME: &str = "sanitizer libraries";
    let found = run(clang, &["-print-resource-dir"])
        .map(|output| PathBuf::from(first_line(&output.stdout)))
        .map(|directory| directory.join("lib/linux/libclang_rt.asan-x86_64.a"));
    match found {
        Ok(library) if library.is_file() => Check::good(NAME, library.display().to_string()),
        _ => Check::missing(
            NAME,
            "checked builds (AddressSanitizer) cannot be linked",
            INSTALL_RUNTIMES,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn a_missing_compiler_is_the_only_finding_and_names_the_package() {
        let checks = checks(Path::new("/no/such/clang"), None);
        assert_eq!(checks.len(), 1);
        assert_eq!(checks[0].status, Status::Missing);
        assert!(checks[0].advice.as_ref().unwrap().contains("clang-19"));
    }

    #[test]
    fn another_program_is_not_taken_for_clang() {
        let checks = checks(Path::new("/bin/true"), None);
        assert_eq!(checks[0].status, Status::Missing);
    }

    #[test]
    fn a_file_that_is_no_plug_in_is_found_out() {
        let check = loads_plugin(Path::new("clang-19"), Path::new("/etc/passwd"));
        assert_eq!(check.status, Status::Missing);
        assert!(check.found.contains("cannot load"), "{}", check.found);
    }
}
