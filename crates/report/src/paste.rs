//! An input as commands that can be pasted into a shell in an empty directory.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use parallax_scenario::{Scenario, Sink, printf_command, shell_word};

use crate::words::show_command;

/// Larger inputs are no help on a screen; they are replayed from the store.
const MOST_BYTES: usize = 1024;

/// The command line with what it needs: files first, standard input by a pipe. `None` if the input has parts that a few
/// lines of shell cannot make, or is too large.
pub fn commands(command: &str, scenario: &Scenario) -> Option<Vec<String>> {
    if scenario.size() > MOST_BYTES || !is_simple(scenario) {
        return None;
    }
    let mut lines = Vec::new();
    let mut folders: BTreeSet<&[u8]> = scenario.directories.iter().map(|name| &name[..]).collect();
    for name in scenario.files.keys() {
        let end = name.iter().rposition(|byte| *byte == b'/');
        folders.extend(end.map(|end| &name[..end]));
    }
    if !folders.is_empty() {
        let names: Vec<String> = folders.iter().map(|name| shell_word(name)).collect();
        lines.push(format!("mkdir -p {}", names.join(" ")));
    }
    for (name, contents) in &scenario.files {
        let name = shell_word(name);
        lines.push(match contents.is_empty() {
            true => format!(": >{name}"),
            false => format!("{} >{name}", printf_command(contents)),
        });
    }
    for (name, target) in &scenario.links {
        let (target, name) = (shell_word(target), shell_word(name));
        lines.push(format!("ln -s {target} {name}"));
    }
    for (name, mode) in &scenario.modes {
        lines.push(format!("chmod {mode:03o} {}", shell_word(name)));
    }
    let mut last = String::new();
    if !scenario.stdin.is_empty() {
        let _ = write!(last, "{} | ", printf_command(&scenario.stdin));
    }
    last.push_str(command);
    if scenario.stdin.is_empty() && !scenario.closed_stdin {
        last.push_str(" </dev/null");
    }
    lines.push(last);
    Some(lines)
}

/// Likewise in one line, for lists. Of what is too much for that, the command line with a sign that there is more.
pub fn line(command: &str, scenario: &Scenario) -> String {
    match commands(command, scenario) {
        Some(lines) => lines.join("; "),
        None => format!("{} …", show_command(command)),
    }
}

fn is_simple(scenario: &Scenario) -> bool {
    let is_file = |sink: &Sink| matches!(sink, Sink::File(_));
    scenario.directory.is_empty()
        && scenario.streams.is_empty()
        && scenario.objects.is_empty()
        && scenario.pipes.is_empty()
        && scenario.sizes.is_empty()
        && scenario.holes.is_empty()
        && scenario.hard_links.is_empty()
        && scenario.elsewhere.is_empty()
        && scenario.listening.is_none()
        && scenario.env_order.is_none()
        && scenario.name.is_none()
        && !is_file(&scenario.stdout)
        && !is_file(&scenario.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Runs the commands in an empty directory with both shells that people have.
    fn run(scenario: &Scenario, command: &str) -> Vec<Vec<u8>> {
        let lines = commands(command, scenario).unwrap().join("\n");
        let shells = ["sh", "bash"].into_iter().map(|shell| {
            let folder = tempfile::tempdir().unwrap();
            let mut process = Command::new(shell);
            process.args(["-c", &lines]).current_dir(folder.path());
            process.output().unwrap().stdout
        });
        shells.collect()
    }

    #[test]
    fn what_is_pasted_gives_the_program_its_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut scenario = Scenario {
            stdin: b"-n 100% 'quoted' \\n\n".to_vec().into(),
            ..Scenario::default()
        };
        scenario
            .files
            .insert("dir/all bytes".into(), bytes.clone().into());
        scenario.files.insert("empty".into(), Vec::new().into());
        for output in run(&scenario, "cat - 'dir/all bytes' empty") {
            assert_eq!(output, [&scenario.stdin[..], &bytes[..]].concat());
        }
    }

    #[test]
    fn what_a_shell_cannot_make_is_not_pasted() {
        let mut scenario = Scenario::default();
        scenario.pipes.insert("fifo".into());
        assert_eq!(commands("cat fifo", &scenario), None);
        let large = Scenario {
            stdin: vec![b'a'; 4096].into(),
            ..Scenario::default()
        };
        assert_eq!(commands("cat", &large), None);
    }
}
