//! What a choice costs when a million alternatives are open.
//!
//! Two kinds of ranks, as explorations have them. By *place*: an attempt makes the other alternatives of one group worse. By
//! *mode*: groups belong to modes that take turns, so that some attempts make all groups of a mode worse at once. CPU time of
//! this process, which does nothing else.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use parallax_search::core::frontier::Frontier;
use parallax_search::core::limits::{Limit, Limits};
use parallax_search::core::random::mix;

use super::Bench;
use super::exploration::processor_time;

/// Alternatives that are open when the last choice is made.
const OPEN: u64 = 1_000_000;
/// Choices that are timed.
const CHOICES: u64 = 20_000;
/// So many attempts in a mode are one turn.
const TURN: u32 = 16;
/// Groups that all alternatives are spread over.
const GROUPS: [u64; 3] = [1_000, 10_000, 100_000];

/// How groups are ranked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Places,
    /// So many.
    Modes(u64),
}

/// What ranks are made of: attempts at each group, and in each mode.
struct Attempts {
    groups: Vec<u32>,
    /// Empty if they do not count.
    modes: Vec<u32>,
}

/// Orders members of a group.
type Merit = (u32, u64);
/// Orders groups.
type Rank = (u32, u32, u64);

impl Attempts {
    fn new(order: Order, groups: u64) -> Attempts {
        let modes = match order {
            Order::Places => 0,
            Order::Modes(count) => count as usize,
        };
        Attempts {
            groups: vec![0; groups as usize],
            modes: vec![0; modes],
        }
    }

    fn rank(&self, group: u64, merit: &Merit) -> Rank {
        let turns = match self.modes.len() {
            0 => 0,
            count => self.modes[group as usize % count] / TURN,
        };
        let tried = self.groups[group as usize] + 1;
        (turns, tried << merit.0, merit.1)
    }

    fn count(&mut self, group: u64) {
        self.groups[group as usize] += 1;
        let count = self.modes.len();
        if count > 0 {
            self.modes[group as usize % count] += 1;
        }
    }
}

/// CPU microseconds.
struct Cost {
    offer: f64,
    choice: f64,
}

impl Bench<'_> {
    pub(super) fn frontier(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### Choosing from a million open alternatives (CPU microseconds)\n\n");
        text.push_str("| order | groups | offer | choice |\n|---|---|---|---|\n");
        for (order, name) in [
            (Order::Places, "by place"),
            (Order::Modes(50), "by mode, 50 modes"),
            (Order::Modes(5), "by mode, 5 modes"),
        ] {
            for groups in GROUPS {
                let Cost { offer, choice } = measure(order, groups, OPEN, CHOICES)?;
                let _ = writeln!(text, "| {name} | {groups} | {offer:.2} | {choice:.2} |");
            }
        }
        Ok(())
    }
}

/// Fills a frontier, and makes choices until so many alternatives are left.
fn measure(order: Order, groups: u64, open: u64, choices: u64) -> Result<Cost> {
    let mut attempts = Attempts::new(order, groups);
    let mut frontier: Frontier<Merit, Rank, u64> = Frontier::bounded(usize::MAX);
    let mut limits = Limits::default();
    let started = processor_time();
    for number in 0..open + choices {
        let chance = mix(number);
        let group = chance % groups;
        // Calls between `main` and the place.
        let merit = ((chance >> 32) as u32 % 8, chance);
        let rank = |group, merit: &Merit| attempts.rank(group, merit);
        frontier.offer(group, merit, group, rank, &mut limits);
    }
    let filled = processor_time();
    for _ in 0..choices {
        let group = frontier.take(|group, merit| attempts.rank(group, merit));
        attempts.count(group.unwrap_or(0));
    }
    let chosen = processor_time();
    ensure!(
        frontier.len() as u64 == open && limits.hits(Limit::OpenAlternatives) == 0,
        "{} alternatives are left, not {open}",
        frontier.len()
    );
    let each = |time: std::time::Duration, count: u64| time.as_secs_f64() * 1e6 / count as f64;
    Ok(Cost {
        offer: each(filled - started, open + choices),
        choice: each(chosen - filled, choices),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_alternatives_are_open_as_the_table_says() {
        for order in [Order::Places, Order::Modes(7)] {
            let cost = measure(order, 100, 2000, 500).unwrap();
            assert!(cost.offer > 0.0 && cost.choice > 0.0);
        }
    }
}
