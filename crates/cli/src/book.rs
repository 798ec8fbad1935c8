//! Command lines in the documentation exist: every command and option that the book, the README, the CI files and the help itself show.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use crate::CommandLine;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Pages of the book.
fn pages() -> Vec<PathBuf> {
    let list = fs::read_dir(top().join("docs/book/src")).unwrap();
    let mut pages: Vec<PathBuf> = list.map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// Everything with command lines in it.
fn texts() -> Vec<(String, String)> {
    let others = [
        "README.md",
        "action.yml",
        "ci/gitlab.yml",
        "scripts/pre-push",
    ];
    let others = others.iter().map(|name| top().join(name));
    let files = pages().into_iter().chain(others);
    let mut texts: Vec<(String, String)> = files
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.display().to_string(), text.replace("\\\n", " "))
        })
        .collect();
    for command in CommandLine::command().get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string);
        texts.push((command.get_name().to_owned(), help.unwrap_or_default()));
    }
    texts
}

/// The words of each `parallax …` in a line, up to what the shell or the program under test reads.
fn calls(line: &str) -> Vec<Vec<&str>> {
    let mut calls = Vec::new();
    for (at, _) in line.match_indices("parallax ") {
        let is_word = at == 0 || " `(".contains(&line[at - 1..at]);
        let is_command = is_word && (at == 0 || !line[..at].ends_with("install "));
        if is_command {
            let words = line[at..].split(' ').skip(1);
            let ends = |word: &&str| !["--", "#", "|", ">", "&&", "||", "…", ""].contains(word);
            calls.push(words.take_while(ends).collect());
        }
    }
    calls
}

/// What is wrong with a call.
fn fault(words: &[&str]) -> Option<String> {
    let clean = |word: &str| {
        let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
        word[..end.unwrap_or(word.len())].to_owned()
    };
    let root = CommandLine::command();
    let name = clean(words.first()?);
    let mut command: &Command = match root.find_subcommand(&name) {
        Some(command) => command,
        None => return Some(format!("there is no parallax {name}")),
    };
    for word in &words[1..] {
        if let Some(inner) = command.find_subcommand(word) {
            command = inner;
        }
        let known = |is: &dyn Fn(&clap::Arg) -> bool| command.get_arguments().any(is);
        let is_known = if let Some(long) = word.strip_prefix("--") {
            let long = clean(long);
            long.is_empty() || long == "help" || known(&|one| one.get_long() == Some(&long))
        } else if let Some(short) = word.strip_prefix('-').and_then(|word| word.chars().next()) {
            known(&|one| one.get_short() == Some(short))
        } else {
            true
        };
        if !is_known {
            return Some(format!("parallax {name} has no {word}"));
        }
        // What comes after a word in quotes may belong to it.
        if word.contains(['\'', '"']) {
            break;
        }
    }
    None
}

/// Lines of code, and spans of code in text.
fn shown(text: &str, is_page: bool) -> Vec<&str> {
    if !is_page {
        return text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .collect();
    }
    let mut shown = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            shown.push(line.trim_start().trim_start_matches("$ "));
        } else {
            shown.extend(line.split('`').skip(1).step_by(2));
        }
    }
    shown
}

#[test]
fn every_command_and_option_that_is_shown_exists() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (name, text) in texts() {
        for line in shown(&text, name.ends_with(".md")) {
            for words in calls(line) {
                // Prose: "parallax is", "with parallax and".
                if words.first().is_none_or(|word| word.starts_with('<')) {
                    continue;
                }
                count += 1;
                faults.extend(fault(&words).map(|fault| format!("{name}: {fault} in {line}")));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(count > 100, "only {count} command lines were found");
}

#[test]
fn what_does_not_exist_is_noticed() {
    assert_eq!(fault(&["diverge", "HEAD~1..HEAD", "--golden", "v1"]), None);
    assert_eq!(fault(&["scenario", "add"]), None);
    assert!(fault(&["converge"]).is_some());
    assert!(fault(&["diverge", "--gold", "v1"]).is_some());
    assert!(fault(&["diverge", "-Z"]).is_some());
    let calls = calls("a | parallax report -v && parallax why x:1 -- --nothing");
    assert_eq!(calls, [vec!["report", "-v"], vec!["why", "x:1"]]);
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let folder = top().join("docs/book/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap();
        if name != "SUMMARY.md" {
            assert!(summary.contains(&format!("]({name})")), "{name}");
        }
        let text = fs::read_to_string(&page).unwrap();
        for (_, after) in text
            .match_indices("](")
            .map(|(at, _)| text.split_at(at + 2))
        {
            let link = after.split(')').next().unwrap();
            let file = link.split('#').next().unwrap();
            let is_here = link.starts_with("http") || folder.join(file).is_file();
            assert!(is_here, "{name}: {link}");
        }
    }
}

#[test]
fn every_command_is_in_the_book_or_the_readme() {
    let all: String = texts()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".md"))
        .map(|(_, text)| text)
        .collect();
    for command in CommandLine::command().get_subcommands() {
        let name = command.get_name();
        if !command.is_hide_set() && name != "help" && name != "cc" {
            let is_there = all.contains(&format!("parallax {name}"));
            assert!(
                is_there,
                "docs/book/src/commands.md does not list parallax {name}"
            );
        }
    }
}
