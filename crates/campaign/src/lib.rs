//! The work on a project: builds of both versions of a patch, recorded tests, searches and what is kept of them, tests made of what
//! was found.
//!
//! Options are plain structs, so that commands call functions and never each other's argument parsers. What happens while
//! something takes time goes to [`Events`], and whatever takes time asks a [`Cancel`] whether to end. Nothing here prints or
//! knows a terminal. What a command has to say in the end is an [`Answer`].

pub mod amplify;
pub mod budget;
pub mod build;
pub mod changes;
pub mod check;
pub mod checkpoint;
mod context;
pub mod cover;
pub mod diverge;
mod exit;
pub mod explore;
pub mod failure;
pub mod interact;
pub mod keeper;
pub mod measure;
pub mod patch;
pub mod project;
pub mod record;
pub mod setup;
pub mod stored;
pub mod testfile;
pub mod tests;
pub mod variants;
pub mod versions;
pub mod watch;

use parallax_scenario::Scenario;
use parallax_search::explore::Shape;

pub use budget::Budget;
pub use context::{Cancel, Context, Event, Events, Progress, Runs, Step, Task};
pub use exit::Exit;
pub use failure::Failure;
pub use setup::{Running, Setup};

/// What a search has to say in the end, in each form.
#[derive(Clone, Debug)]
pub struct Answer {
    pub exit: Exit,
    pub text: String,
    pub json: String,
    /// Where there is such a form.
    pub sarif: String,
}

impl Answer {
    /// In the two forms that every search has.
    pub fn new(exit: Exit, text: String, json: String) -> Answer {
        Answer {
            exit,
            text,
            json,
            sarif: String::new(),
        }
    }
}

/// A command line with its input.
pub struct Given {
    pub scenario: Scenario,
    /// Names of the symbolic environment variables.
    pub environment: Vec<Vec<u8>>,
    /// What there is to say about it.
    pub notes: Vec<String>,
}

/// What a search of a single program starts from.
pub struct Start {
    pub seeds: Vec<Scenario>,
    pub shape: Shape,
    /// Names of the symbolic environment variables.
    pub environment: Vec<Vec<u8>>,
    /// What there is to say about it.
    pub notes: Vec<String>,
}
