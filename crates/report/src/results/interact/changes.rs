//! Changes, the orders in which they were executed, and what these showed.
//!
//! A change has its line the first time that it is named, and orders in which nothing differs are counted; all of it is there for who asks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use parallax_search::goals::orders::sequences::Row;

use crate::palette::Palette;
use crate::results::graph;
use crate::words::{counted, printable, shorten, show_count};

/// Orders, and changes of one order or one finding, that are shown unless all are asked for.
const MOST_ORDERS: usize = 5;
const MOST_CHANGES: usize = 8;

/// The changes of one program.
pub struct Changes<'c> {
    graph: &'c graph::Shown<'c>,
    names: Vec<String>,
    is_whole: bool,
    /// Columns of text.
    pub width: usize,
    /// Those whose lines were shown.
    known: BTreeSet<usize>,
}

impl<'c> Changes<'c> {
    pub fn new(graph: &'c graph::Shown<'c>, is_whole: bool, width: usize) -> Changes<'c> {
        Changes {
            names: graph::names(graph),
            graph,
            is_whole,
            width,
            known: BTreeSet::new(),
        }
    }

    fn most(&self, most: usize) -> usize {
        if self.is_whole { usize::MAX } else { most }
    }

    /// An order of changes as people read it.
    pub fn order(&self, sequence: &[usize]) -> String {
        let words = sequence.iter().map(|node| self.names[*node].as_str());
        let words: Vec<&str> = words.take(self.most(MOST_CHANGES)).collect();
        let left = sequence.len() - words.len();
        let words = words.join(" → ");
        match left {
            0 => words,
            left => format!("{words} → … ({} more)", show_count(left as u64)),
        }
    }

    /// The different changes of an order, in order of first execution.
    pub fn each(&self, sequence: &[usize]) -> String {
        let mut seen = BTreeSet::new();
        let different = sequence.iter().filter(|node| seen.insert(**node));
        let words: Vec<&str> = different.map(|node| self.names[*node].as_str()).collect();
        let most = self.most(MOST_CHANGES);
        match words.len() > most {
            true => format!("these {} changes", words.len()),
            false => words.join(", "),
        }
    }

    /// Places and lines of the changes of an order, unless they were shown before.
    pub fn list(&mut self, text: &mut String, sequence: &[usize]) {
        let all: BTreeSet<usize> = sequence.iter().copied().collect();
        let is_known = |node: &usize| !self.is_whole && self.known.contains(node);
        let (known, new): (Vec<usize>, Vec<usize>) = all.into_iter().partition(is_known);
        let shown: Vec<usize> = new.iter().copied().take(self.most(MOST_CHANGES)).collect();
        let place = |node: &usize| graph::place(self.graph, *node);
        let places: Vec<String> = shown.iter().map(place).collect();
        let column = places.iter().map(String::len).max().unwrap_or(0);
        let room = self.width.saturating_sub(column + 14);
        for (node, place) in shown.iter().zip(&places) {
            let code = printable(self.graph.places[*node].text.as_bytes());
            let name = &self.names[*node];
            let padded = Palette.place(&format!("{place:column$}"));
            let _ = writeln!(text, "    {name:4} {padded}  {}", shorten(&code, room));
        }
        let mut rest = Vec::new();
        if new.len() > shown.len() {
            let more = (new.len() - shown.len()) as u64;
            rest.push(format!("… {} more (-v lists all)", show_count(more)));
        }
        if !known.is_empty() {
            rest.push(format!("{} as above", self.each(&known)));
        }
        for line in rest {
            let _ = writeln!(text, "    {}", Palette.dim(&line));
        }
        self.known.extend(shown);
    }

    /// Which orders were executed, and what they showed: those that say something, or all.
    pub fn orders(&self, text: &mut String, rows: &[Row]) {
        let tells = |row: &&Row| self.is_whole || row.differences > 0 || row.errors > 0;
        let telling: Vec<&Row> = rows.iter().filter(tells).collect();
        let shown = telling.iter().take(self.most(MOST_ORDERS));
        let shown: Vec<(&Row, String)> = shown
            .map(|row| {
                let room = self.width.saturating_sub(40);
                (*row, shorten(&self.order(&row.sequence), room))
            })
            .collect();
        if !rows.is_empty() {
            text.push('\n');
        }
        if !shown.is_empty() {
            table(text, &shown);
        }
        let mut rest = Vec::new();
        for (count, what) in [
            (telling.len() - shown.len(), "something"),
            (rows.len() - telling.len(), "nothing"),
        ] {
            if count > 0 {
                let orders = counted(count as u64, "order");
                rest.push(format!("{orders} in which {what} differs"));
            }
        }
        if !rest.is_empty() {
            let rest = format!("not listed without -v: {}", rest.join(", "));
            let _ = writeln!(text, "{}", Palette.dim(&rest));
        }
        let is_twice = |(row, _): &(&Row, String)| {
            row.sequence.iter().collect::<BTreeSet<_>>().len() < row.sequence.len()
        };
        if shown.iter().any(is_twice) {
            let note = "a change that is executed over and over is there twice";
            let _ = writeln!(text, "{}", Palette.dim(note));
        }
    }
}

fn table(text: &mut String, shown: &[(&Row, String)]) {
    let column = shown.iter().map(|(_, order)| order.chars().count()).max();
    let column = column.unwrap_or(0).max("orders of changes".len());
    let _ = writeln!(
        text,
        "{} {}",
        Palette.heading(&format!("{:column$}", "orders of changes")),
        Palette.dim("  inputs  differ  errors"),
    );
    for (row, order) in shown {
        let padding = " ".repeat(column - order.chars().count());
        let critical = match row.is_critical {
            true => format!("  {}", Palette.bad("critical")),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "{order}{padding}   {:>6}  {:>6}  {:>6}{critical}",
            row.tests, row.differences, row.errors
        );
    }
}
