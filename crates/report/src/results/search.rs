//! What reports of all searches have in common.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use parallax_search::core::limits::Limits;
use parallax_search::engine::{Ended, Yield};
use serde_json::{Value, json};

use crate::palette::Palette;
use crate::words::{counted, show_count};

/// Losses that are listed.
pub const LISTED: usize = 6;

/// A report for people as far as it is written.
pub struct Sheet {
    pub text: String,
}

impl Sheet {
    /// Begins with what was searched and how many errors were found.
    pub fn new(what: &str, errors: usize) -> Sheet {
        let verdict = match errors as u64 {
            0 => Palette.good("no errors found"),
            errors => Palette.bad(&format!("{} found", counted(errors, "error"))),
        };
        Sheet {
            text: format!("{}: {verdict}\n", Palette.heading(what)),
        }
    }

    /// A row; one without a name belongs to the row above.
    pub fn row(&mut self, name: &str, value: &str) {
        let name = Palette.dim(&format!("{name:<9}"));
        let _ = writeln!(self.text, "  {name} {value}");
    }

    /// The row about where the connection to the input got lost, if it did.
    pub fn losses(&mut self, losses: &[(String, u64)]) {
        if losses.is_empty() {
            return;
        }
        let shown = losses.iter().take(LISTED);
        let mut list: Vec<String> = shown
            .map(|(name, count)| format!("{name} ({})", show_count(*count)))
            .collect();
        if losses.len() > LISTED {
            list.push(format!("{} more", losses.len() - LISTED));
        }
        let list = list.join(", ");
        self.row("lost", &format!("track of the input in {list}"));
    }

    /// A row for each limit that was hit.
    pub fn limits(&mut self, limits: &Limits) {
        for (number, (limit, hits)) in limits.iter().enumerate() {
            let name = if number == 0 { "limits" } else { "" };
            let (value, unit) = (show_count(limit.value()), limit.unit());
            let lost = format!("{} left out: {}", show_count(hits), limit.lost());
            self.row(name, &format!("{value} {unit}: {lost}"));
        }
    }
}

/// Which limits were hit.
pub fn limits(limits: &Limits) -> Value {
    let each = limits.iter().map(|(limit, hits)| {
        json!({
            "limit": limit.value(),
            "unit": limit.unit(),
            "lost": limit.lost(),
            "hits": hits,
        })
    });
    each.collect()
}

/// What each kind of work cost and yielded.
pub fn yields(yields: &[Yield]) -> Value {
    let each = yields.iter().map(|one| {
        json!({
            "source": one.name,
            "turns": one.turns,
            "cost": (one.cost * 1e3).round() / 1e3,
            "new": one.new,
            "found": one.found,
        })
    });
    each.collect()
}

/// Why a search ended; `all` says what was tried if nothing was left.
pub fn ended(ended: Ended, all: &'static str) -> &'static str {
    match ended {
        Ended::Exhausted => all,
        Ended::Runs => "the runs asked for were made",
        Ended::Time => "the time is over",
        Ended::Stopped => "stopped",
    }
}

/// Where the connection to the input got lost, most often first.
pub fn ranked(losses: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let losses = losses.iter();
    let mut ranked: Vec<_> = losses.map(|(name, count)| (name.clone(), *count)).collect();
    ranked.sort_by_key(|(_, count)| Reverse(*count));
    ranked
}
