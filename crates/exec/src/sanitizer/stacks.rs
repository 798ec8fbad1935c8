//! Stacks of reports without names: what tells them apart, and the names that they were found to have.
//!
//! Names of functions and places are found by another program, which takes longer than most runs. But one stack has the same
//! names each time: it is enough to ask once.

use std::collections::HashMap;

use super::{Frame, Report, address_report, undefined_report};
use crate::finding::{Kind, Location};

/// Calls that tell stacks apart.
const FRAMES: usize = 12;

/// Something that is the same if kind and stack of two reports are the same; only within one build, without address
/// randomisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    kind: Kind,
    place: Option<Location>,
    /// `program+0x12`, innermost first.
    frames: Vec<String>,
}

/// A report without names, and what it is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unnamed {
    report: Report,
    pub signature: Signature,
}

/// All reports in a text that was made with [`super::quick_environment`], in order.
pub fn unnamed(text: &[u8]) -> Vec<Unnamed> {
    let text = String::from_utf8_lossy(text);
    let mut found: Vec<Unnamed> = Vec::new();
    let mut in_stack = false;
    for line in text.lines() {
        if let Some(report) = address_report(line).or_else(|| undefined_report(line)) {
            let signature = Signature {
                kind: report.kind,
                place: report.location().cloned(),
                frames: Vec::new(),
            };
            found.push(Unnamed { report, signature });
            in_stack = true;
        } else if let Some(offset) = raw_frame(line) {
            if let (true, Some(last)) = (in_stack, found.last_mut())
                // However deep a recursion is, it is the same.
                && last.signature.frames.last().is_none_or(|last| last != offset)
                && last.signature.frames.len() < FRAMES
            {
                last.signature.frames.push(offset.to_owned());
            }
        } else if found
            .last()
            .is_some_and(|last| !last.signature.frames.is_empty())
        {
            in_stack = false;
        }
    }
    found
}

/// What the reports in a text are known by, each once.
pub fn signatures(text: &[u8]) -> Vec<Signature> {
    let mut found: Vec<_> = unnamed(text).into_iter().map(|one| one.signature).collect();
    found.sort();
    found.dedup();
    found
}

/// `    #0 0x55d3  (/dir/program+0x12) (BuildId: …)`
fn raw_frame(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix('#')?;
    let (_, rest) = line.split_once('(')?;
    let (offset, _) = rest.split_once(')')?;
    offset.contains("+0x").then_some(offset)
}

/// The names of stacks that have been asked for.
#[derive(Debug, Default)]
pub struct Stacks {
    known: HashMap<Signature, Vec<Frame>>,
}

impl Stacks {
    /// The reports with names; `None` if some of them have not been learnt.
    pub fn name(&self, reports: &[Unnamed]) -> Option<Vec<Report>> {
        let name = |one: &Unnamed| {
            let stack = self.known.get(&one.signature)?.clone();
            Some(Report {
                stack,
                // Values in it are those of this run.
                ..one.report.clone()
            })
        };
        reports.iter().map(name).collect()
    }

    /// Learns from another run of the same input, unless something else happened there.
    pub fn learn(&mut self, reports: &[Unnamed], named: &[Report]) {
        let kinds = reports.iter().map(|one| one.signature.kind);
        if kinds.eq(named.iter().map(|report| report.kind)) {
            for (one, report) in reports.iter().zip(named) {
                self.known
                    .insert(one.signature.clone(), report.stack.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reports;
    use super::*;

    fn overflow(offset: &str, depth: usize) -> String {
        let recursion = "    #1 0x55  (/dir/prog+0x30) (BuildId: 1)\n".repeat(depth);
        format!(
            "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x1\n\
             \x20   #0 0x55  (/dir/prog+{offset}) (BuildId: 1)\n{recursion}\n\
             allocated by thread T0 here:\n    #0 0x55  (/dir/prog+0x99) (BuildId: 1)\n"
        )
    }

    #[test]
    fn signatures_tell_stacks_apart_without_names() {
        let report = |offset: &str, depth: usize| signatures(overflow(offset, depth).as_bytes());
        assert_eq!(report("0x20", 1), report("0x20", 7));
        assert_ne!(report("0x20", 1), report("0x24", 1));
        assert_eq!(
            report("0x20", 1)[0].frames,
            ["/dir/prog+0x20", "/dir/prog+0x30"]
        );
        let place = |line: u32| {
            let text = format!("a.c:{line}:9: runtime error: division by zero\n");
            signatures(text.as_bytes())
        };
        assert_ne!(place(3), place(4));
        assert_eq!(signatures(b"a.c:3: fine\n"), []);
    }

    #[test]
    fn a_stack_that_was_named_once_needs_no_names_again_but_keeps_its_own_message() {
        let quick = |index: u32| {
            let text = format!(
                "a.c:3:9: runtime error: index {index} out of bounds for type 'int[4]'\n\
                 \x20   #0 0x55  (/dir/prog+0x20) (BuildId: 1)\n"
            );
            unnamed(text.as_bytes())
        };
        let named = reports(
            b"a.c:3:9: runtime error: index 9 out of bounds for type 'int[4]'\n    #0 0x55 in get a.c:3:9\n",
        );
        let mut stacks = Stacks::default();
        assert_eq!(stacks.name(&quick(9)), None);
        stacks.learn(&quick(9), &named);
        assert_eq!(stacks.name(&quick(9)).as_ref(), Some(&named));
        let other = stacks.name(&quick(7)).unwrap();
        assert_eq!(other[0].stack, named[0].stack);
        assert!(other[0].message.starts_with("index 7"), "{other:?}");
    }

    #[test]
    fn nothing_is_learnt_from_a_run_that_reported_something_else() {
        let first = unnamed(overflow("0x20", 1).as_bytes());
        let mut stacks = Stacks::default();
        stacks.learn(
            &first,
            &reports(b"a.c:3:9: runtime error: division by zero\n"),
        );
        stacks.learn(&first, &[]);
        assert_eq!(stacks.name(&first), None);
    }
}
