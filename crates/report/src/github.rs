//! Workflow commands of GitHub Actions: findings as annotations at the changed lines.

use std::fmt::Write as _;

use crate::headline;
use crate::model::{Level, PatchReport};
use crate::words::show_command;

pub fn render(report: &PatchReport) -> String {
    let mut text = String::new();
    for found in report.ranked() {
        let command = match report.level(found) {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let (file, line) = headline::spot(report, found);
        let title = format!("{}: {}", found.program, headline::title(found));
        let message = format!("{}\n{}", show_command(&found.command), found.replay);
        let _ = writeln!(
            text,
            "::{command} file={},line={line},title={}::{}",
            property(&file),
            property(&title),
            data(message.trim_end())
        );
    }
    let _ = writeln!(
        text,
        "::notice title=parallax::{}",
        data(&format!(
            "{}: {}",
            report.patch.range,
            headline::sentence(report)
        ))
    );
    text
}

/// What ends a command must not be in it.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// What separates properties must not be in one.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_begins_a_command_of_its_own() {
        assert_eq!(data("a\r\n::error::b 100%"), "a%0D%0A::error::b 100%25");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
