//! The static side of a search: what a target is, and how far every decision of a run is from it.

use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::effects::Effects;
use parallax_analysis::program::Terminator;
use parallax_analysis::{Analysis, BlockId, Spot};

use crate::path::{Choice, DEFAULT, Decision};
use crate::sites::SiteMap;
use crate::worker::Traced;

/// Calls of a stack that are looked at: recursion makes stacks of any depth.
const MOST_CALLS: usize = 64;

/// A line to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As the debug information names it.
    pub file: String,
    pub line: u32,
    /// The function that most of its code is in.
    pub function: String,
    /// Reached when one of them runs.
    pub blocks: Vec<BlockId>,
}

/// Why a place is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    #[error("no source file of the program is called {name}")]
    NoFile { name: String },
    #[error("several source files of the program are called {name}: {}", files.join(", "))]
    Ambiguous { name: String, files: Vec<String> },
    #[error("{file}:{line} has no code{}", next.map_or_else(String::new, |next| format!("; the next line that has is {next}")))]
    NoCode {
        file: String,
        line: u32,
        next: Option<u32>,
    },
}

impl Target {
    /// The target that a user names.
    pub fn named(analysis: &Analysis, name: &str, line: u32) -> Result<Target, NoTarget> {
        let (program, lines) = (&analysis.program, &analysis.lines);
        let files = lines.files_named(name);
        let file = match files.as_slice() {
            [] => return Err(NoTarget::NoFile { name: name.into() }),
            [file] => (*file).to_owned(),
            _ => {
                return Err(NoTarget::Ambiguous {
                    name: name.into(),
                    files: files.into_iter().map(str::to_owned).collect(),
                });
            }
        };
        let blocks = lines.blocks(&file, line).to_vec();
        let Some(first) = blocks.first() else {
            let mut others = lines.of_file(&file).map(|(other, _)| other);
            let next = others.find(|other| *other > line);
            drop(others);
            return Err(NoTarget::NoCode { line, next, file });
        };
        let function = program.block(*first).function;
        Ok(Target {
            function: program.function(function).name.clone(),
            file,
            line,
            blocks,
        })
    }
}

/// Distances from one target.
pub struct Guide<'m> {
    analysis: &'m Analysis,
    distances: Distances,
    pruned: Pruned,
    /// Preconditions say that nothing leads from `main` to the target.
    pub is_refuted: bool,
}

impl<'m> Guide<'m> {
    /// Measures how far everything is from a target. With preconditions, ways that cannot lead there do not count.
    pub fn new(
        analysis: &'m Analysis,
        effects: &Effects<'_>,
        target: &Target,
        with_preconditions: bool,
    ) -> Guide<'m> {
        let towards = analysis.towards(&target.blocks, effects, OverCalls::Free);
        let main = analysis.program.function_named("main");
        let entry = main.and_then(|main| analysis.program.function(main).entry());
        let starts = |distances: &Distances| {
            entry.is_some_and(|entry| distances.at(&analysis.graph, entry).is_some())
        };
        let is_refuted =
            with_preconditions && starts(&towards.plain) && !starts(&towards.distances);
        // What is refuted is searched for as if nothing were known: the analysis may be wrong.
        let (distances, pruned) = match with_preconditions && !is_refuted {
            true => (towards.distances, towards.conditions.pruned().clone()),
            false => (towards.plain, Pruned::default()),
        };
        Guide {
            analysis,
            distances,
            pruned,
            is_refuted,
        }
    }
}

impl Guide<'_> {
    /// Where a decision of a run is made.
    pub fn standing<'d>(
        &'d self,
        sites: &SiteMap,
        traced: &Traced,
        decision: &'d Decision,
    ) -> Standing<'d> {
        let outward = traced.trace.calls_outward(decision.context);
        let mut stack: Vec<Spot> = outward
            .take(MOST_CALLS)
            .filter_map(|site| self.spots(sites, site).first().copied())
            .collect();
        stack.reverse();
        Standing {
            guide: self,
            decision,
            spots: self.spots(sites, decision.site),
            stack,
        }
    }

    fn spots(&self, sites: &SiteMap, site: parallax_abi::SiteId) -> &[Spot] {
        let original = sites.get(site).map_or(site, |view| view.original);
        match self.analysis.program.instructions_of(site) {
            [] => self.analysis.program.instructions_of(original),
            spots => spots,
        }
    }

    /// Where a branch or `switch` leads with a value; `None` if the spot is none.
    fn successor(&self, spot: Spot, decision: &Decision, value: u128) -> Option<BlockId> {
        let program = &self.analysis.program;
        let block = program.block(spot.block);
        if spot.number as usize != block.instructions.len() {
            return None;
        }
        let to = match (&block.terminator, decision.choice) {
            (
                Terminator::Branch {
                    then, otherwise, ..
                },
                Choice::Side,
            ) => match value {
                0 => *otherwise,
                _ => *then,
            },
            (Terminator::Switch { default, .. }, Choice::Case) if value == DEFAULT => *default,
            (
                Terminator::Switch {
                    width,
                    default,
                    cases,
                    ..
                },
                Choice::Case,
            ) => {
                let mask = 1u128
                    .checked_shl((*width).into())
                    .unwrap_or(0)
                    .wrapping_sub(1);
                let is_it = |case: &&(i64, u32)| case.0 as i128 as u128 & mask == value;
                cases.iter().find(is_it).map_or(*default, |(_, to)| *to)
            }
            _ => return None,
        };
        Some(program.successor(block.function, to))
    }
}

/// A decision of a run, seen from the target.
pub struct Standing<'d> {
    guide: &'d Guide<'d>,
    decision: &'d Decision,
    /// All copies of the place.
    spots: &'d [Spot],
    /// The calls that have not returned, the outermost first.
    stack: Vec<Spot>,
}

impl Standing<'_> {
    /// How many decisions lie between the target and this one, once that has gone for a value; `None` if no way is
    /// known.
    pub fn behind(&self, value: u128) -> Option<u32> {
        let Guide {
            analysis,
            distances,
            pruned,
            ..
        } = self.guide;
        let graph = &analysis.graph;
        if self.spots.is_empty() {
            // In a function that is not the program's, such as a model of libc's: it returns to its caller.
            let (caller, outer) = self.stack.split_last()?;
            return distances.under_stack(graph, graph.node_of(*caller), outer);
        }
        let ways = self.spots.iter().map(|spot| {
            let Some(successor) = self.guide.successor(*spot, self.decision, value) else {
                return distances.under_stack(graph, graph.node_of(*spot), &self.stack);
            };
            let node = graph.start(successor);
            // The target may still lie behind a return.
            match pruned.sides.contains(&(spot.block, successor)) {
                true => distances.after_returning(graph, node, &self.stack),
                false => distances.under_stack(graph, node, &self.stack),
            }
        });
        ways.flatten().min()
    }
}
