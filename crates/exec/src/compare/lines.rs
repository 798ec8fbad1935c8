//! The difference of two texts, line by line.

use serde::Serialize;

use parallax_scenario::Bytes;

/// Which lines two texts share, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    pub lines: Vec<Line>,
}

/// A line, with its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    Same(Bytes),
    /// Only in the first text.
    One(Bytes),
    /// Only in the second.
    Other(Bytes),
}

impl Diff {
    /// The lines that differ, with so many of those around them; `None` where some are left out.
    pub fn around(&self, context: usize) -> Vec<Option<&Line>> {
        let is_change = |line: &Line| !matches!(line, Line::Same(_));
        let changes: Vec<usize> = (0..self.lines.len())
            .filter(|at| is_change(&self.lines[*at]))
            .collect();
        let mut shown = Vec::new();
        let mut next = 0;
        for at in changes {
            let from = at.saturating_sub(context).max(next);
            if from > next {
                shown.push(None);
            }
            let to = (at + context + 1).min(self.lines.len());
            shown.extend((from..to).map(|at| Some(&self.lines[at])));
            next = next.max(to);
        }
        if next < self.lines.len() {
            shown.push(None);
        }
        shown
    }
}

/// Texts that differ in more lines than this are not looked at more closely: one replaces the other.
const MOST_CHANGES: usize = 2000;

/// The shortest way from one text to the other by removing and adding lines (Myers' greedy search).
pub fn diff(one: &[u8], other: &[u8]) -> Diff {
    let one: Vec<&[u8]> = one.split_inclusive(|byte| *byte == b'\n').collect();
    let other: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    let head = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let tails = one[head..].iter().rev().zip(other[head..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    let middle = (
        &one[head..one.len() - tail],
        &other[head..other.len() - tail],
    );
    let mut lines: Vec<Line> = one[..head].iter().map(|line| same(line)).collect();
    match shortest(middle.0, middle.1) {
        Some(changes) => lines.extend(changes),
        None => {
            lines.extend(middle.0.iter().map(|line| Line::One((*line).into())));
            lines.extend(middle.1.iter().map(|line| Line::Other((*line).into())));
        }
    }
    lines.extend(one[one.len() - tail..].iter().map(|line| same(line)));
    Diff { lines }
}

fn same(line: &[u8]) -> Line {
    Line::Same(line.into())
}

/// `None` if there are too many changes.
fn shortest(one: &[&[u8]], other: &[&[u8]]) -> Option<Vec<Line>> {
    let (n, m) = (one.len() as isize, other.len() as isize);
    let most = (one.len() + other.len()).min(MOST_CHANGES) as isize;
    // How far along the first text one comes on each diagonal, for each number of changes.
    let width = (2 * most + 3) as usize;
    let index = |diagonal: isize| (diagonal + most + 1) as usize;
    let mut reach = vec![0_isize; width];
    let mut history: Vec<Vec<isize>> = Vec::new();
    let mut found = None;
    'search: for changes in 0..=most {
        history.push(reach[index(-changes - 1)..=index(changes + 1)].to_vec());
        for diagonal in (-changes..=changes).step_by(2) {
            let down = diagonal == -changes
                || diagonal != changes && reach[index(diagonal - 1)] < reach[index(diagonal + 1)];
            let mut x = match down {
                true => reach[index(diagonal + 1)],
                false => reach[index(diagonal - 1)] + 1,
            };
            while x < n && x - diagonal < m && one[x as usize] == other[(x - diagonal) as usize] {
                x += 1;
            }
            reach[index(diagonal)] = x;
            if x >= n && x - diagonal >= m {
                found = Some(changes);
                break 'search;
            }
        }
    }
    let mut lines = Vec::new();
    let (mut x, mut y) = (n, m);
    for changes in (0..=found?).rev() {
        let before = &history[changes as usize];
        let at = |diagonal: isize| before[(diagonal + changes + 1) as usize];
        let diagonal = x - y;
        let down =
            diagonal == -changes || diagonal != changes && at(diagonal - 1) < at(diagonal + 1);
        let from = if down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) = match changes {
            0 => (0, 0),
            _ => (at(from), at(from) - from),
        };
        while x > from_x && y > from_y {
            x -= 1;
            y -= 1;
            lines.push(same(one[x as usize]));
        }
        if changes > 0 {
            lines.push(match down {
                true => Line::Other(other[from_y as usize].into()),
                false => Line::One(one[from_x as usize].into()),
            });
        }
        (x, y) = (from_x, from_y);
    }
    lines.reverse();
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(one: &str, other: &str) -> String {
        let line = |line: &Line| {
            let (sign, text) = match line {
                Line::Same(text) => (' ', text),
                Line::One(text) => ('-', text),
                Line::Other(text) => ('+', text),
            };
            format!("{sign}{}", String::from_utf8_lossy(text).trim_end())
        };
        let all = diff(one.as_bytes(), other.as_bytes());
        all.lines.iter().map(line).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn lines_are_kept_removed_and_added() {
        assert_eq!(shown("a\nb\nc\n", "a\nc\nd\n"), " a|-b| c|+d");
        assert_eq!(shown("", "a\n"), "+a");
        assert_eq!(shown("a\n", ""), "-a");
        assert_eq!(shown("a\n", "b\n"), "-a|+b");
        assert_eq!(shown("a\nb\n", "a\nb\n"), " a| b");
    }

    #[test]
    fn applying_a_difference_gives_the_other_text() {
        // Texts over a small alphabet have many ways to be matched.
        let mut state = 1_u64;
        let mut text = |length: u64| -> Vec<u8> {
            let mut text = Vec::new();
            for _ in 0..length {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.extend([b'a' + (state >> 60) as u8 % 3, b'\n']);
            }
            text
        };
        for round in 0..200 {
            let (one, other) = (text(round % 23), text(round % 17));
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for line in diff(&one, &other).lines {
                match line {
                    Line::Same(line) => {
                        left.extend(line.0.clone());
                        right.extend(line.0);
                    }
                    Line::One(line) => left.extend(line.0),
                    Line::Other(line) => right.extend(line.0),
                }
            }
            assert_eq!((left, right), (one, other));
        }
    }

    #[test]
    fn what_is_far_from_a_change_is_left_out() {
        let one: String = (0..20).map(|n| format!("{n}\n")).collect();
        let other = one.replace("10\n", "x\n");
        let diff = diff(one.as_bytes(), other.as_bytes());
        let around = diff.around(1);
        assert_eq!(around.len(), 6);
        assert_eq!((around[0], around[5]), (None, None));
    }

    #[test]
    fn texts_that_have_little_in_common_replace_each_other() {
        let one: String = (0..3000).map(|n| format!("a{n}\n")).collect();
        let other: String = (0..3000).map(|n| format!("b{n}\n")).collect();
        assert_eq!(diff(one.as_bytes(), other.as_bytes()).lines.len(), 6000);
    }
}
