//! `parallax accept`: says that a difference between versions is as it should be, in a file that is reviewed like code.

use std::fmt::Write as _;

use parallax_project::accepted::{self, Accepted, AcceptedError, FILE_NAME};
use parallax_store::KeptFinding;

use super::project::ProjectArguments;
use super::stored;
use crate::console::{self, Palette, printable};
use crate::exit::Exit;
use crate::failure::Failure;

/// Say that a finding is as it should be
///
/// Adds it to parallax-accepted.toml at the top of the project, with the reason. Commit that file with the change:
/// `parallax check` shows what is in it as accepted, and does not fail because of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax accept difference-1a2b3c4d --because \"lower bounds count from 1 now\"
  parallax accept --list

Remove an entry from the file to take it back. `parallax check` names entries that it saw nothing of.")]
pub struct Arguments {
    /// The finding's name, as parallax check prints it, or enough of it
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    finding: Option<String>,

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
    let (Some(word), Some(because)) = (&arguments.finding, &arguments.because) else {
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
    let finding = find(&all, word)?;
    if let Some(entry) = known.iter().find(|entry| entry.finding == finding.id) {
        let message = format!("{} is accepted already: {}", entry.finding, entry.because);
        return Err(Failure::new(Exit::Usage, message)
            .hint(format!("to say something else about it, edit {FILE_NAME}")));
    }
    let entry = Accepted {
        finding: finding.id.clone(),
        because: because.to_owned(),
        program: printable(&finding.program),
        message: finding.message.clone(),
    };
    accepted::add(&root, &entry)?;
    console::print(&format!(
        "accepted {} ({}: {})\nit is in {FILE_NAME}, to be committed with the change\n",
        Palette.heading(&entry.finding),
        entry.program,
        printable(entry.message.as_bytes())
    ))?;
    Ok(Exit::Clean)
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

impl From<AcceptedError> for Failure {
    fn from(error: AcceptedError) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            AcceptedError::Io { path, error } => {
                Failure::of_file(Exit::Usage, "cannot use", &path, &error)
            }
            AcceptedError::Form { message, .. } => failure
                .detail(&message)
                .hint("each entry is [[accepted]] with finding = \"...\" and because = \"...\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
