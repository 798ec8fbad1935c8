//! Sections that list places with what happened there.
//!
//! Of many entries at one place only a few are shown: the first ones, and the first of each
//! side or case, because it is the odd one out that people look for.

use std::collections::{HashMap, HashSet};

use parallax_abi::trace::EventKind;

use super::super::explain::Words;
use super::super::{Folded, Place, words};
use super::Writer;
use crate::palette::Palette;
use crate::words::{counted, printable, shorten, show_count};

/// A kind of section.
struct Section {
    title: &'static str,
    /// What its entries are, in the form that `counted` takes.
    noun: &'static str,
    /// Show the first entry of each tag, however far down it comes.
    every_tag: bool,
    /// Short: the side taken, the kind of operation.
    tag: fn(&Writer, &Folded) -> Tag,
    text: fn(&Writer, &Folded) -> Words,
}

#[derive(Clone)]
struct Tag {
    text: String,
    style: fn(&Palette, &str) -> String,
}

impl Writer<'_> {
    /// All sections that have entries.
    pub(super) fn sections(&mut self) {
        let report = self.report;
        let branches = Section {
            title: "Branches on the input",
            noun: "condition",
            every_tag: true,
            tag: |writer, branch| writer.branch_tag(branch),
            text: |writer, branch| Words {
                expression: writer.explain.expression(branch.first.label),
                note: String::new(),
            },
        };
        self.section(&branches, &report.branches());
        let sensitive = Section {
            title: "Sensitive operations",
            noun: "expression",
            every_tag: false,
            tag: |_, operation| Tag {
                text: words::event(operation.kind).to_owned(),
                style: Palette::warn,
            },
            text: |writer, operation| writer.explain.operation(operation),
        };
        self.section(&sensitive, &report.sensitive());
        let fixed = Section {
            title: "Values fixed to what they were",
            noun: "expression",
            every_tag: false,
            tag: |writer, fixed| Tag {
                text: writer.explain.value(fixed.first.label),
                style: Palette::warn,
            },
            text: |writer, fixed| writer.explain.fixed(fixed),
        };
        self.section(&fixed, &report.fixed());
    }

    fn branch_tag(&self, branch: &Folded) -> Tag {
        let took_default = || self.report.took_default(&branch.first) == Some(true);
        let (text, style): (String, fn(&Palette, &str) -> String) = match branch.kind {
            EventKind::Branch | EventKind::Select if branch.first.detail != 0 => {
                ("true".to_owned(), Palette::good)
            }
            EventKind::Branch | EventKind::Select => ("false".to_owned(), Palette::warn),
            EventKind::Switch if took_default() => ("default".to_owned(), Palette::warn),
            EventKind::Switch => (self.explain.case(&branch.first), Palette::good),
            _ => ("calls".to_owned(), Palette::good),
        };
        Tag { text, style }
    }

    fn section(&mut self, section: &Section, entries: &[Folded]) {
        if entries.is_empty() {
            return;
        }
        let groups = by_place(entries);
        let times: u64 = entries.iter().map(|entry| entry.count).sum();
        let mut summary = format!(
            "{}, {}",
            counted(groups.len() as u64, "place"),
            counted(entries.len() as u64, section.noun)
        );
        if times > entries.len() as u64 {
            summary.push_str(&format!(", executed {}", counted(times, "time")));
        }
        self.line(&format!(
            "\n{} {}",
            Palette.heading(section.title),
            Palette.dim(&summary)
        ));
        let shown = self.detail.places();
        for (place, members) in groups.iter().take(shown) {
            self.group(section, *place, members);
        }
        if groups.len() > shown {
            let more = counted((groups.len() - shown) as u64, "place");
            self.line(&Palette.dim(&format!("  … {more} more, --all")));
        }
    }

    /// One place with its entries.
    fn group(&mut self, section: &Section, place: Place, members: &[&Folded]) {
        let tags: Vec<Tag> = members
            .iter()
            .map(|entry| (section.tag)(self, entry))
            .collect();
        let kept = keep(&tags, self.detail.rows(), section.every_tag);
        self.place(place);
        let width = kept.iter().map(|at| tags[*at].text.chars().count()).max();
        let width = width.unwrap_or(0);
        let mut next = 0;
        for at in kept {
            self.skipped(&members[next..at], &tags[next..at]);
            next = at + 1;
            let text = (section.text)(self, members[at]);
            self.row(&tags[at], width, &text, members[at].count);
        }
        self.skipped(&members[next..], &tags[next..]);
    }

    fn place(&mut self, place: Place) {
        let site = place.site;
        let mut line = format!("  {}", Palette.place(&self.places.name(site)));
        let function = self.places.function(site);
        if !function.is_empty() {
            line.push_str(&format!(" in {function}"));
        }
        if let Some(inside) = place.inside {
            line.push_str(&format!(", inside {inside}"));
        }
        self.line(&line);
        if let Some(source) = self.places.line(site) {
            let room = self.detail.width.saturating_sub(6);
            let source = shorten(&printable(source.as_bytes()), room);
            self.line(&format!(
                "    {} {}",
                Palette.dim("│"),
                Palette.dim(&source)
            ));
        }
    }

    fn row(&mut self, tag: &Tag, width: usize, words: &Words, count: u64) {
        let padding = " ".repeat(width - tag.text.chars().count());
        let mut note = String::new();
        if !words.note.is_empty() {
            note.push_str(&format!(", {}", words.note));
        }
        if count > 1 {
            note.push_str(&format!(" ×{}", show_count(count)));
        }
        let taken = 6 + width + 2 + note.chars().count();
        // Never less than can be recognised, even if the line becomes too long.
        let room = self.detail.width.saturating_sub(taken).max(24);
        let expression = if self.detail.all {
            words.expression.clone()
        } else {
            shorten(&words.expression, room)
        };
        let tag = (tag.style)(&Palette, &tag.text);
        let note = Palette.dim(&note);
        self.line(&format!("      {tag}{padding}  {expression}{note}"));
    }

    /// Says what is left out between two rows.
    fn skipped(&mut self, members: &[&Folded], tags: &[Tag]) {
        if members.is_empty() {
            return;
        }
        let times: u64 = members.iter().map(|entry| entry.count).sum();
        let mut text = format!("      … {} more", show_count(members.len() as u64));
        if let [first, rest @ ..] = tags
            && rest.iter().all(|tag| tag.text == first.text)
        {
            text.push_str(&format!(" {}", first.text));
        }
        if times > members.len() as u64 {
            text.push_str(&format!(", {}", counted(times, "time")));
        }
        self.line(&Palette.dim(&text));
    }
}

/// Which of the entries at a place to show: the first `most`, and the first of each tag if asked for, within reason.
fn keep(tags: &[Tag], most: usize, every_tag: bool) -> Vec<usize> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut kept = Vec::new();
    for (at, tag) in tags.iter().enumerate() {
        let is_new = seen.insert(&tag.text);
        if at < most || (every_tag && is_new && kept.len() < most.saturating_mul(2)) {
            kept.push(at);
        }
    }
    // Showing a single one costs no more than saying that there is one more.
    let mut filled = Vec::new();
    for at in kept.into_iter().chain([tags.len()]) {
        let next = filled.last().map_or(0, |last| last + 1);
        if at == next + 1 {
            filled.push(next);
        }
        filled.push(at);
    }
    filled.pop();
    filled
}

/// Groups by place, in order of first occurrence.
fn by_place<'a, 'b>(entries: &'b [Folded<'a>]) -> Vec<(Place<'a>, Vec<&'b Folded<'a>>)> {
    let mut groups: Vec<(Place, Vec<&Folded>)> = Vec::new();
    let mut index = HashMap::new();
    for entry in entries {
        let key = (entry.place.site, entry.place.inside);
        let at = *index.entry(key).or_insert_with(|| {
            groups.push((entry.place, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(entry);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(tags: &[&str], most: usize) -> Vec<usize> {
        let tags: Vec<Tag> = tags
            .iter()
            .map(|text| Tag {
                text: (*text).to_owned(),
                style: Palette::good,
            })
            .collect();
        keep(&tags, most, true)
    }

    #[test]
    fn the_odd_one_out_is_shown() {
        let mut tags = vec!["false"; 40];
        tags[30] = "true";
        assert_eq!(kept(&tags, 3), [0, 1, 2, 30]);
    }

    #[test]
    fn a_single_entry_is_not_hidden() {
        assert_eq!(kept(&["false"; 4], 3), [0, 1, 2, 3]);
        assert_eq!(kept(&["a", "a", "a", "a", "b"], 3), [0, 1, 2, 3, 4]);
        assert_eq!(kept(&["false"; 5], 3), [0, 1, 2]);
    }

    #[test]
    fn a_switch_with_many_cases_stays_short() {
        let cases: Vec<String> = (0..100).map(|case| case.to_string()).collect();
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        assert_eq!(kept(&cases, 3).len(), 6);
    }
}
