//! A scenario as commands for a shell: to be shown, to be pasted into a terminal, or as a script.
//!
//! Reports, replay hints, test files and the scripts beside findings are all made here. Whatever names, contents and arguments consist
//! of, dash and bash both give the program exactly the bytes of the scenario; a test runs them.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use crate::shell::{printf_command, script_word, shell_word};
use crate::{Bytes, Scenario, Sink, WORK, ktest};

/// Larger inputs do not help on a screen; they are replayed from the store.
const MOST_PASTED: usize = 1024;
/// Ends a text in a script.
const END: &str = "PARALLAX_END";

/// The command line. `program` is a word already.
pub fn command_line(program: &str, scenario: &Scenario) -> String {
    let mut words = Vec::new();
    for (name, value) in &scenario.env {
        words.push(format!("{}={}", shell_word(name), shell_word(value)));
    }
    words.push(program.to_owned());
    words.extend(scenario.argv.iter().map(|argument| shell_word(argument)));
    if scenario.closed_stdin {
        words.push("<&-".to_owned());
    }
    // Any file will do for what goes to one without a name.
    let file = |_, path: &Bytes| match path.is_empty() {
        true => "out".to_owned(),
        false => shell_word(&path_from(scenario, path)),
    };
    // As near as a shell comes to it, and only bash.
    let broken = |_, sink: &Sink| (*sink == Sink::Broken).then(|| " >(exec true)".to_owned());
    words.extend(redirections(scenario, file, broken));
    words.join(" ")
}

/// The path of one of the scenario's files as seen from where the program starts.
fn path_from(scenario: &Scenario, path: &[u8]) -> Vec<u8> {
    let start = &scenario.directory;
    let below = path.strip_prefix(&start[..]);
    match below.and_then(|rest| rest.strip_prefix(b"/")) {
        Some(rest) => rest.to_vec(),
        None if start.is_empty() => path.to_vec(),
        None => [WORK.as_bytes(), b"/", path].concat(),
    }
}

/// Commands to be pasted in an empty directory: files first, then the command line, with standard input by a pipe. `None` if the
/// scenario has parts that a few lines of shell cannot make, or is too large.
pub fn pasted(command: &str, scenario: &Scenario) -> Option<Vec<String>> {
    if scenario.size() > MOST_PASTED || !is_simple(scenario) {
        return None;
    }
    let mut lines = layout(scenario, shell_word, |name, contents| {
        format!("{} >{name}", printf_command(contents))
    });
    lines.extend(modes(scenario));
    lines.push(match scenario.stdin.is_empty() {
        true if scenario.closed_stdin => command.to_owned(),
        true => format!("{command} </dev/null"),
        false => format!("{} | {command}", printf_command(&scenario.stdin)),
    });
    Some(lines)
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

/// The part of a script that lays out everything in the working directory, `$root`, and standard input in `$work/stdin`.
pub fn script_layout(scenario: &Scenario) -> String {
    let mut lines = layout(scenario, rooted_word, |name, contents| {
        let mut commands = script_file(name, contents);
        if contents
            .windows(WORK.len())
            .any(|part| part == WORK.as_bytes())
        {
            commands.push_str(&format!("\nsed -i \"s|{WORK}|$root|g\" {name}"));
        }
        commands
    });
    if let Some((name, bytes)) = ktest::layout(scenario) {
        lines.push(script_file(&path_word(name.as_os_str().as_bytes()), &bytes));
    }
    lines.push(script_file("\"$work/stdin\"", &scenario.stdin));
    for (name, time) in scenario.times.iter().rev() {
        let (seconds, rest) = (
            time.div_euclid(1_000_000_000),
            time.rem_euclid(1_000_000_000),
        );
        lines.push(format!(
            "touch -h -d @{seconds}.{rest:09} {}",
            path_word(name)
        ));
    }
    lines.extend(modes(scenario));
    lines.push(String::new());
    lines.join("\n")
}

/// The part of a script that runs `$program` as Parallax would, with the files in `$root` and standard input in `$work/stdin`. What it prints
/// goes to `$work/stdout` and `$work/stderr` if it `is_kept`.
pub fn script_run(scenario: &Scenario, is_kept: bool) -> String {
    let mut lines = vec![match scenario.piped_stdin && !scenario.closed_stdin {
        true => "cat \"$work/stdin\" | (".to_owned(),
        false => "(".to_owned(),
    }];
    if !scenario.directory.is_empty() {
        lines.push(format!(
            "  cd {} || exit 99",
            path_word(&scenario.directory)
        ));
    }
    if let Some(umask) = scenario.umask {
        lines.push(format!("  umask {umask:03o}"));
    }
    let unset = |before: &str, names: &str| {
        format!("  unset {before}$(env | sed -n 's/^\\({names}\\)=.*/\\1/p')")
    };
    if scenario.env_order.is_some() {
        lines.push(unset("", "[A-Za-z_][A-Za-z_0-9]*"));
    } else {
        lines.push(unset("LANG ", "LC_[A-Z]*"));
        let is_locale = |name: &Bytes| name.starts_with(b"LC_") || name.starts_with(b"LANG");
        for (name, value) in [("LC_ALL", "C"), ("TZ", "UTC0"), ("HOME", "/")] {
            let is_set = scenario.env.contains_key(&Bytes::from(name))
                || name == "LC_ALL" && scenario.env.keys().any(is_locale);
            if !is_set {
                lines.push(format!("  export {name}={value}"));
            }
        }
    }
    for (name, value) in &scenario.env {
        lines.push(format!(
            "  export {}={}",
            shell_word(name),
            rooted_word(value)
        ));
    }
    if let Some((name, _)) = ktest::layout(scenario) {
        let (variable, name) = (ktest::VARIABLE, name.display());
        lines.push(format!("  export {variable}=\"$root/{name}\""));
    }
    let mut command = String::from("  exec");
    if let Some(name) = &scenario.name {
        // Only bash can call a program by another name.
        command.push_str(&format!(
            " /bin/bash -c 'exec -a \"$0\" \"$@\"' {}",
            rooted_word(name)
        ));
    }
    command.push_str(" \"$program\"");
    for argument in &scenario.argv {
        command.push(' ');
        command.push_str(&rooted_word(argument));
    }
    lines.push(command);
    let mut words = vec![")".to_owned()];
    if scenario.closed_stdin {
        words.push("<&-".to_owned());
    } else if !scenario.piped_stdin {
        words.push("<\"$work/stdin\"".to_owned());
    }
    let kept = |name| format!("\"$work/{name}\"");
    let file = |name, path: &Bytes| match path.is_empty() {
        true => kept(name),
        false => path_word(path),
    };
    let read = |name, _: &Sink| is_kept.then(|| kept(name));
    words.extend(redirections(scenario, file, read));
    lines.push(words.join(" ") + "\n");
    lines.join("\n")
}

/// Commands of a script that write a file. The name is a word already.
pub fn script_file(name: &str, contents: &[u8]) -> String {
    let is_plain = |character: char| matches!(character, '\n' | '\t') || !character.is_control();
    match std::str::from_utf8(contents) {
        Ok("") => format!(": >{name}"),
        Ok(text)
            if text.ends_with('\n')
                && text.chars().all(is_plain)
                && text.lines().all(|line| line != END) =>
        {
            format!("cat >{name} <<'{END}'\n{text}{END}")
        }
        _ => {
            let lines = contents.split_inclusive(|byte| *byte == b'\n');
            let lines: Vec<String> = lines
                .map(|line| format!("  {}\n", printf_command(line)))
                .collect();
            format!("{{\n{}}} >{name}", lines.concat())
        }
    }
}

/// Commands that make directories, files and links in the working directory.
fn layout(
    scenario: &Scenario,
    word: fn(&[u8]) -> String,
    write: impl Fn(&str, &[u8]) -> String,
) -> Vec<String> {
    let parent = |path: &'_ Bytes| path.iter().rposition(|byte| *byte == b'/');
    let mut folders: BTreeSet<&[u8]> = scenario.directories.iter().map(|name| &name[..]).collect();
    folders.insert(&scenario.directory);
    let named = scenario.files.keys().chain(scenario.hard_links.keys());
    for name in named.chain(scenario.links.keys()) {
        folders.extend(parent(name).map(|end| &name[..end]));
    }
    folders.remove(&[][..]);
    let mut lines = Vec::new();
    if !folders.is_empty() {
        let names: Vec<String> = folders.iter().map(|name| path_word(name)).collect();
        lines.push(format!("mkdir -p {}", names.join(" ")));
    }
    for (name, contents) in &scenario.files {
        let name = path_word(name);
        lines.push(match contents.is_empty() {
            true => format!(": >{name}"),
            false => write(&name, contents),
        });
    }
    for (name, size) in &scenario.sizes {
        lines.push(format!("truncate -s {size} {}", path_word(name)));
    }
    for (name, first) in &scenario.hard_links {
        lines.push(format!("ln {} {}", path_word(first), path_word(name)));
    }
    for (name, target) in &scenario.links {
        lines.push(format!("ln -s -- {} {}", word(target), path_word(name)));
    }
    lines
}

/// Children come before their directories, which may lock us out.
fn modes(scenario: &Scenario) -> impl Iterator<Item = String> {
    let modes = scenario.modes.iter().rev();
    modes.map(|(name, mode)| format!("chmod {mode:03o} {}", path_word(name)))
}

/// A name below the working directory, or that itself, as a word that is not an option.
fn path_word(path: &[u8]) -> String {
    match path.first() {
        None => ".".to_owned(),
        Some(b'-') => shell_word(&[b"./", path].concat()),
        _ => shell_word(path),
    }
}

/// The bytes as one word of a script; where the files of a run lie becomes `$root`.
fn rooted_word(bytes: &[u8]) -> String {
    let mut rest = bytes;
    let mut text = String::new();
    while let Some(at) = rest
        .windows(WORK.len())
        .position(|part| part == WORK.as_bytes())
    {
        if at > 0 {
            text.push_str(&script_word(&rest[..at]));
        }
        text.push_str("\"$root\"");
        rest = &rest[at + WORK.len()..];
    }
    if !rest.is_empty() || text.is_empty() {
        text.push_str(&script_word(rest));
    }
    text
}

/// What tells a shell where both outputs go: `file` names the file for one that goes to a file, `pipe` whatever one goes to that is a pipe.
fn redirections(
    scenario: &Scenario,
    file: impl Fn(&'static str, &Bytes) -> String,
    pipe: impl Fn(&'static str, &Sink) -> Option<String>,
) -> Vec<String> {
    let outputs = [
        ("", "stdout", &scenario.stdout),
        ("2", "stderr", &scenario.stderr),
    ];
    let target = |name, sink: &Sink| match sink {
        Sink::Read | Sink::Broken => pipe(name, sink).map(|pipe| format!(">{pipe}")),
        Sink::Full => Some(">/dev/full".to_owned()),
        Sink::Closed => Some(">&-".to_owned()),
        Sink::File(output) => {
            let arrow = if output.keeps() { ">>" } else { ">" };
            Some(format!("{arrow}{}", file(name, &output.path)))
        }
    };
    let words = outputs.into_iter().filter_map(|(number, name, sink)| {
        target(name, sink).map(|target| format!("{number}{target}"))
    });
    words.collect()
}

#[cfg(test)]
mod tests;
