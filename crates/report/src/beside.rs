//! Two outputs next to each other: which line of the old one stands beside which of the new one.

use crate::model::DifferenceLine;
use crate::words::printable;

/// A row of two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// The line is in both.
    Same(String),
    /// Lines that differ; `None` where one side has none.
    Differs(Option<String>, Option<String>),
    /// Lines that are left out.
    Gap,
}

/// Lines that only one side has stand beside each other as far as they go.
pub fn rows(lines: &[Option<DifferenceLine>]) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut old, mut new): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in lines {
        match line {
            Some(DifferenceLine::Old(bytes)) => old.push(shown(bytes)),
            Some(DifferenceLine::New(bytes)) => new.push(shown(bytes)),
            Some(DifferenceLine::Same(bytes)) => {
                pair(&mut rows, &mut old, &mut new);
                rows.push(Row::Same(shown(bytes)));
            }
            None => {
                pair(&mut rows, &mut old, &mut new);
                rows.push(Row::Gap);
            }
        }
    }
    pair(&mut rows, &mut old, &mut new);
    rows
}

fn pair(rows: &mut Vec<Row>, old: &mut Vec<String>, new: &mut Vec<String>) {
    let (mut left, mut right) = (old.drain(..), new.drain(..));
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (left, right) => rows.push(Row::Differs(left, right)),
        }
    }
}

/// A line without its end; that there is none is said, since it may be all that differs.
fn shown(line: &[u8]) -> String {
    match line.strip_suffix(b"\n") {
        Some(line) => printable(line),
        None => format!("{} (no newline)", printable(line)),
    }
}

/// The lines of an output, safe to be shown, at most so many; then how many are left.
pub fn lines(output: &[u8], most: usize) -> (Vec<String>, usize) {
    let all: Vec<&[u8]> = output.split_inclusive(|byte| *byte == b'\n').collect();
    let kept = all.iter().take(most);
    let kept = kept.map(|line| printable(line.strip_suffix(b"\n").unwrap_or(line)));
    (kept.collect(), all.len().saturating_sub(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> parallax_scenario::Bytes {
        text.as_bytes().into()
    }

    #[test]
    fn lines_that_differ_stand_beside_each_other() {
        let lines = [
            Some(DifferenceLine::Same(line("head\n"))),
            Some(DifferenceLine::Old(line("a\n"))),
            Some(DifferenceLine::Old(line("b\n"))),
            Some(DifferenceLine::New(line("A"))),
            None,
        ];
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            rows(&lines),
            [
                Row::Same("head".into()),
                Row::Differs(text("a"), text("A (no newline)")),
                Row::Differs(text("b"), None),
                Row::Gap,
            ]
        );
    }

    #[test]
    fn of_a_long_output_the_beginning_is_shown() {
        assert_eq!(lines(b"a\nb\nc", 2), (vec!["a".into(), "b".into()], 1));
        assert_eq!(lines(b"", 2), (vec![], 0));
    }
}
