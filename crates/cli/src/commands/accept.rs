//! `parallax accept`: says that a difference between versions is as it should be, in a file that is reviewed like code.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use parallax_project::accepted::{self, Accepted, FILE_NAME};
use parallax_report::{PatchReport, kept};
use parallax_store::KeptFinding;

use super::project::ProjectArguments;
use crate::console::{self, Palette, printable};
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::stored;

/// Say that findings are as they should be
///
/// Adds them to parallax-accepted.toml at the top of the project, with the reason. Commit that file with the change:
/// `parallax check` shows what is in it as accepted, and does not fail because of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax accept difference-1a2b3c4d --because \"lower bounds count from 1 now\"
  parallax accept difference-1a2b3c4d --alike --because \"lower bounds count from 1 now\"
  parallax accept difference-1a2b3c4d difference-5e6f7a8b --because \"messages name the field\"
  parallax accept --list

Remove an entry from the file to take it back. `parallax check` names entries that it saw nothing of.")]
pub struct Arguments {
    /// The findings' names, as parallax check prints them, or enough of each
    #[arg(
        required_unless_present = "list",
        conflicts_with = "list",
        value_name = "FINDING"
    )]
    findings: Vec<String>,

    /// Also those that the report of the last check lists with them: of the same kind, from the same change
    #[arg(long, conflicts_with = "list")]
    alike: bool,

    /// Why it is right so
    #[arg(long, value_name = "REASON", required_unless_present = "list")]
    because: Option<String>,

    /// Show what has been accepted
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let root = arguments.project.find()?.root;
    let known = accepted::read(&root)?;
    let Some(because) = &arguments.because else {
        console::print(&list(&known))?;
        return Ok(Exit::Clean);
    };
    let because = because.trim();
    if because.is_empty() {
        let message = "the reason is empty";
        return Err(Failure::new(Exit::Usage, message)
            .hint("whoever reads the file next year will want to know why"));
    }
    let store = stored::open_existing()?;
    let all = store.map(|store| store.findings(None)).transpose()?;
    let all = all.unwrap_or_default();
    let report = match arguments.alike {
        true => Some(kept::load(&stored::directory())?.unwrap_or_default()),
        false => None,
    };
    let chosen = choose(&all, &known, &arguments.findings, report.as_ref())?;
    let entries = chosen.into_iter().map(|finding| Accepted {
        finding: finding.id.clone(),
        because: because.to_owned(),
        program: printable(&finding.program),
        message: finding.message.clone(),
    });
    let entries: Vec<Accepted> = entries.collect();
    accepted::add(&root, &entries)?;
    let mut text = String::new();
    for entry in &entries {
        let name = Palette.heading(&entry.finding);
        let message = printable(entry.message.as_bytes());
        let _ = writeln!(text, "accepted {name} ({}: {message})", entry.program);
    }
    let are = match entries.len() {
        1 => "it is",
        _ => "they are",
    };
    let _ = writeln!(
        text,
        "{are} in {FILE_NAME}, to be committed with the change"
    );
    console::print(&text)?;
    Ok(Exit::Clean)
}

/// What is meant, each finding once, nothing of it accepted before. With a report, also what that shows as one thing with it.
fn choose<'f>(
    all: &'f [KeptFinding],
    known: &[Accepted],
    words: &[String],
    report: Option<&PatchReport>,
) -> Result<Vec<&'f KeptFinding>, Failure> {
    let mut chosen: Vec<&KeptFinding> = Vec::new();
    for word in words {
        let finding = find(all, word)?;
        match report {
            Some(report) => chosen.extend(alike(all, finding, report)?),
            None => chosen.push(finding),
        }
    }
    let entry_of = |finding: &KeptFinding| known.iter().find(|entry| entry.finding == finding.id);
    let accepted: Vec<&Accepted> = chosen.iter().copied().filter_map(entry_of).collect();
    let mut names = BTreeSet::new();
    chosen.retain(|finding| entry_of(finding).is_none() && names.insert(&finding.id));
    // Of those that are alike, some may have been accepted by name.
    let is_enough = report.is_some() && !chosen.is_empty();
    match accepted.first() {
        Some(entry) if !is_enough => {
            let message = format!("{} is accepted already: {}", entry.finding, entry.because);
            Err(Failure::new(Exit::Usage, message)
                .hint(format!("to say something else about it, edit {FILE_NAME}")))
        }
        _ => Ok(chosen),
    }
}

/// The findings that a report shows as one thing with this one, itself included.
fn alike<'f>(
    all: &'f [KeptFinding],
    finding: &KeptFinding,
    report: &PatchReport,
) -> Result<Vec<&'f KeptFinding>, Failure> {
    let alike = report.alike(&finding.id);
    if alike.is_empty() {
        let message = format!("{} is not in the report of the last check", finding.id);
        return Err(Failure::new(Exit::Usage, message)
            .hint("without --alike it is accepted alone; parallax check makes a new report"));
    }
    alike.into_iter().map(|one| find(all, &one.id)).collect()
}

/// The finding that a word names: whole, or the beginning of only one.
fn find<'f>(all: &'f [KeptFinding], word: &str) -> Result<&'f KeptFinding, Failure> {
    if let Some(exact) = all.iter().find(|finding| finding.id == word) {
        return Ok(exact);
    }
    let begins: Vec<&KeptFinding> = all
        .iter()
        .filter(|finding| !word.is_empty() && finding.id.starts_with(word))
        .collect();
    match begins.as_slice() {
        [one] => Ok(one),
        [] => Err(
            Failure::new(Exit::Usage, format!("there is no finding {word:?}"))
                .hint("parallax check shows the names of what it finds"),
        ),
        several => {
            let names: Vec<&str> = several.iter().map(|one| one.id.as_str()).collect();
            let message = format!("{word:?} is the beginning of several findings");
            Err(Failure::new(Exit::Usage, message)
                .detail(&names.join("\n"))
                .hint("give more of the name"))
        }
    }
}

fn list(known: &[Accepted]) -> String {
    if known.is_empty() {
        return "nothing has been accepted\n".to_owned();
    }
    let mut text = String::new();
    for entry in known {
        let _ = writeln!(text, "{}", Palette.heading(&entry.finding));
        let mut row = |name: &str, value: &str| {
            if !value.is_empty() {
                let value = printable(value.replace('\n', " ").as_bytes());
                let _ = writeln!(text, "  {} {value}", Palette.dim(&format!("{name:<8}")));
            }
        };
        row("because", &entry.because);
        row("program", &entry.program);
        row("what", &entry.message);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_report::model::{Finding, Guilty, Role};
    use parallax_scenario::Scenario;
    use parallax_store::State;

    fn named(id: &str) -> KeptFinding {
        KeptFinding {
            program: "prog".into(),
            id: id.to_owned(),
            command: "diverge".to_owned(),
            kind: "difference".to_owned(),
            location: None,
            message: String::new(),
            scenario: Scenario::default(),
            old: None,
            new: None,
            distance: None,
            depth: None,
            state: State::Confirmed,
            directory: None,
        }
    }

    #[test]
    fn a_finding_is_named_by_the_beginning_of_its_name_if_no_other_begins_so() {
        let all = [
            named("difference-12"),
            named("difference-1"),
            named("fixed-1"),
        ];
        assert_eq!(find(&all, "difference-1").unwrap().id, "difference-1");
        assert_eq!(find(&all, "fix").unwrap().id, "fixed-1");
        assert!(find(&all, "diff").is_err());
        assert!(find(&all, "").is_err());
        assert!(find(&all, "regression").is_err());
    }

    /// The names of what is chosen by these words, or what is wrong.
    fn chosen(
        words: &[&str],
        known: &[&str],
        report: Option<&PatchReport>,
    ) -> Result<Vec<String>, String> {
        let all = ["one-1", "one-2", "one-3", "two-1"].map(named);
        let known: Vec<Accepted> = known
            .iter()
            .map(|id| Accepted {
                finding: (*id).to_owned(),
                because: "it is so".to_owned(),
                program: String::new(),
                message: String::new(),
            })
            .collect();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let chosen = choose(&all, &known, &words, report);
        let chosen = chosen.map_err(|failure| failure.in_a_line())?;
        Ok(chosen.iter().map(|finding| finding.id.clone()).collect())
    }

    #[test]
    fn several_are_accepted_at_once_or_none() {
        let found = chosen(&["two", "one-1", "two-1"], &[], None);
        assert_eq!(found.unwrap(), ["two-1", "one-1"]);
        let unknown = chosen(&["two", "three"], &[], None).unwrap_err();
        assert!(unknown.contains("no finding \"three\""), "{unknown}");
        let again = chosen(&["two", "one-1"], &["one-1"], None).unwrap_err();
        assert!(again.contains("one-1 is accepted already"), "{again}");
    }

    #[test]
    fn what_the_report_shows_as_one_thing_is_accepted_with_it() {
        let of = |id: &str, hunk: usize| Finding {
            id: id.to_owned(),
            hunks: vec![Guilty {
                hunk,
                role: Role::Guilty,
            }],
            ..Finding::default()
        };
        let report = PatchReport {
            findings: vec![of("one-1", 0), of("one-2", 0), of("two-1", 1)],
            ..PatchReport::default()
        };
        let all = ["one-1", "one-2"];
        assert_eq!(chosen(&["one-2"], &[], Some(&report)).unwrap(), all);
        let rest = chosen(&["one-2"], &["one-2"], Some(&report));
        assert_eq!(rest.unwrap(), ["one-1"]);
        let again = chosen(&["one-2"], &all, Some(&report)).unwrap_err();
        assert!(again.contains("accepted already"), "{again}");
        let other = chosen(&["one-3"], &[], Some(&report)).unwrap_err();
        assert!(other.contains("not in the report"), "{other}");
    }
}
