//! A finding: an input, and what it shows.

use parallax_scenario::{Bytes, Ending, Golden, Scenario};
use serde::{Deserialize, Serialize};

use super::Step;

/// An input on which the new version has an error, or does something else than the old one. It was run natively.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Short, stable from run to run, fit for a command line: what `parallax accept` takes.
    pub id: String,
    /// The same for the same finding in every run, and for no other: a hash of program and what differs, without values and lines.
    pub fingerprint: String,
    pub class: Class,
    /// Of an error: what kind, as in `parallax_exec::finding::Kind::name` (`out-of-bounds`).
    pub kind: Option<String>,
    pub program: String,
    /// What is seen, in a few words: `stdout differs`, `out-of-bounds at src/a.c:12 in the new version only`.
    pub message: String,
    pub technique: Technique,
    /// Where the error is, else where the versions part.
    pub file: Option<String>,
    pub line: u32,
    /// To be pasted into a shell, in the directory that [`Finding::scenario`]'s files lie in.
    pub command: String,
    pub scenario: Scenario,
    /// The scenario's name in the store.
    pub scenario_id: Option<String>,
    /// A command that shows it again.
    pub replay: String,
    /// What the plain builds did; `None` where a version has no such program or was not run.
    pub old: Option<Ending>,
    pub new: Option<Ending>,
    /// What differs after addresses, times and the like were taken out.
    pub differences: Vec<Difference>,
    /// Errors that are in the version that the class says.
    pub problems: Vec<Problem>,
    /// Where it comes from; empty if that was not looked for.
    pub hunks: Vec<Guilty>,
    /// Whether it is known that none of these could be left out.
    pub hunks_minimal: bool,
    /// Where the versions part.
    pub parting: Option<Parting>,
    /// How the input was made, decision by decision.
    pub steps: Vec<Step>,
    /// What a version that is known to be right says.
    pub golden: Option<Golden>,
    /// Of inputs found for combinations of changes.
    pub interaction: Option<Interaction>,
    /// Inputs that show the same.
    pub count: u64,
    /// After so many seconds of searching it was first seen.
    pub seconds: f64,
    /// A person says that it is as it should be.
    pub accepted: Option<Accepted>,
}

/// What a finding is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// An error that only the new version has.
    Regression,
    /// An error of the new version, of which is not known whether the old one has it.
    Error,
    /// Output or end differ.
    #[default]
    Difference,
    /// An error that both versions have.
    Both,
    /// An error that only the old version has.
    Fixed,
}

impl Class {
    pub const ALL: [Class; 5] = [
        Class::Regression,
        Class::Error,
        Class::Difference,
        Class::Both,
        Class::Fixed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Class::Regression => "regression",
            Class::Error => "error",
            Class::Difference => "difference",
            Class::Both => "both",
            Class::Fixed => "fixed",
        }
    }

    /// Above a list of them.
    pub fn heading(self) -> &'static str {
        match self {
            Class::Regression => "Errors that the patch brings",
            Class::Error => "Errors in the new version",
            Class::Difference => "Behaviour that the patch changes",
            Class::Both => "Errors that were there before",
            Class::Fixed => "Errors that the patch fixes",
        }
    }

    /// What it means, in a sentence.
    pub fn explained(self) -> &'static str {
        match self {
            Class::Regression => {
                "On this input the new version has an error that the old one has not."
            }
            Class::Error => "On this input the new version has an error.",
            Class::Difference => {
                "On this input the new version prints something else or ends otherwise than the old one."
            }
            Class::Both => "On this input both versions have the error.",
            Class::Fixed => "On this input the old version has an error that the new one has not.",
        }
    }

    /// How bad it is, by what a version that is known to be right does.
    pub fn level(self, golden: Option<Golden>) -> Level {
        match (self, golden) {
            (_, Some(Golden::Intended)) => Level::Note,
            (Class::Regression | Class::Error, _) | (_, Some(Golden::Regression)) => Level::Error,
            (Class::Difference | Class::Both, _) => Level::Warning,
            (Class::Fixed, _) => Level::Note,
        }
    }
}

/// Who found it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Technique {
    #[default]
    Diverge,
    Cover,
    Amplify,
    Interact,
}

impl Technique {
    pub fn name(self) -> &'static str {
        match self {
            Technique::Diverge => "diverge",
            Technique::Cover => "cover",
            Technique::Amplify => "amplify",
            Technique::Interact => "interact",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Error,
    Warning,
    Note,
}

/// A part of what a run shows that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `end`, `stdout`, `stderr`, `answer 1`.
    pub part: String,
    /// Of `end`: how each version ended, in words; else empty.
    pub old: String,
    pub new: String,
    /// Of output: lines, those that differ and those around them; `None` stands for some that are left out.
    pub lines: Vec<Option<DifferenceLine>>,
}

/// A line of output, with its end if it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceLine {
    Same(Bytes),
    Old(Bytes),
    New(Bytes),
}

/// An error that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// `out-of-bounds`.
    pub kind: String,
    pub message: String,
    /// Relative to the top of the project if it is below it.
    pub file: Option<String>,
    pub line: u32,
    /// The innermost functions that were under way, the innermost first.
    pub functions: Vec<String>,
}

/// A hunk that a finding comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guilty {
    /// Number in [`super::Patch::hunks`].
    pub hunk: usize,
    pub role: Role,
}

/// What a hunk is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Without it the finding vanishes.
    Guilty,
    /// There was no time to find out.
    Open,
    /// Without it the others do not build, or do something else again.
    Needed,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Guilty => "guilty",
            Role::Open => "open",
            Role::Needed => "needed",
        }
    }

    /// Before the place of the hunk.
    pub fn in_words(self) -> &'static str {
        match self {
            Role::Guilty => "does not happen without the change at",
            Role::Open => "may come from",
            Role::Needed => "which needs the change at",
        }
    }
}

/// A condition or an output that is not the same in both versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parting {
    /// In the new version if that has the place, else in the old one.
    pub file: String,
    pub line: u32,
    /// The line in each version that has it.
    pub old: Option<String>,
    pub new: Option<String>,
}

/// Changes that were executed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interaction {
    /// Hunks, statements or lines in the order in which the input executed them: file, line, text.
    pub sequence: Vec<(String, u32, String)>,
    /// Whether no input seen that skips one of these changes shows the error.
    pub critical: bool,
    /// How many inputs that rests on.
    pub inputs: u64,
    /// `regression`, `incomplete fix`, `progression`, where a version known to be right was given.
    pub judgement: Option<String>,
}

/// A person's word that a finding is intended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub because: String,
}

impl Finding {
    /// How bad it is. `promised`: a commit says that nothing that can be seen changes.
    pub fn level(&self, promised: bool) -> Level {
        if self.accepted.is_some() {
            return Level::Note;
        }
        // What is fixed was to be seen, or not.
        let is_broken = promised
            && match self.class {
                Class::Difference => true,
                Class::Fixed => !self.differences.is_empty(),
                _ => false,
            };
        let golden = self
            .golden
            .filter(|golden| !promised || *golden != Golden::Intended);
        match is_broken {
            true => Level::Error,
            false => self.class.level(golden),
        }
    }

    /// Whether the patch is to blame for it: then the check does not pass.
    pub fn fails(&self, promised: bool) -> bool {
        self.class != Class::Both && self.level(promised) != Level::Note
    }

    /// Whether several changes have to run for it, as far as is known: no input that leaves one out shows it, and leaving out parts of the patch
    /// did not show that one of them is enough.
    pub fn needs_several(&self) -> bool {
        let guilty = self.hunks.iter().filter(|one| one.role == Role::Guilty);
        let is_critical = self.interaction.as_ref().is_some_and(|one| one.critical);
        is_critical && !(self.hunks_minimal && guilty.count() == 1)
    }

    /// What comes first is worse; of those alike, the smaller input.
    pub fn rank(&self, promised: bool) -> (bool, Level, Class, usize, &str) {
        (
            !self.fails(promised),
            self.level(promised),
            self.class,
            self.scenario.size(),
            &self.id,
        )
    }

    /// `src/a.c:12`, if it is known.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            0 => file.clone(),
            line => format!("{file}:{line}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_interact_unless_one_hunk_is_known_to_be_enough() {
        let guilty = |hunk| Guilty {
            hunk,
            role: Role::Guilty,
        };
        let mut finding = Finding {
            interaction: Some(Interaction {
                critical: true,
                ..Interaction::default()
            }),
            ..Finding::default()
        };
        assert!(finding.needs_several());
        finding.hunks = vec![guilty(0)];
        assert!(finding.needs_several(), "it may need more");
        finding.hunks_minimal = true;
        assert!(!finding.needs_several());
        finding.hunks.push(guilty(1));
        assert!(finding.needs_several());
        finding.interaction = Some(Interaction::default());
        assert!(!finding.needs_several());
    }
}
