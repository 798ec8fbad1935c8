//! An input as commands that can be pasted into a shell in an empty directory.

use parallax_scenario::Scenario;
pub use parallax_scenario::commands::pasted as commands;

use crate::words::show_command;

/// Likewise in one line, for lists. Of what is too much for that, the command line with a sign that there is more.
pub fn line(command: &str, scenario: &Scenario) -> String {
    match commands(command, scenario) {
        Some(lines) => lines.join("; "),
        None => format!("{} …", show_command(command)),
    }
}
