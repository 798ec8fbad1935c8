//! Static distances: what a target is, and how many decisions lie between it and every decision of a run.

use std::rc::Rc;

use parallax_abi::SiteId;
use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::effects::Effects;
use parallax_analysis::program::Terminator;
use parallax_analysis::seeds::{self, Closest, Executed};
use parallax_analysis::{Analysis, BlockId, FunctionId, Spot};
use rustc_hash::FxHashMap;

use crate::worker::Traced;
use parallax_exec::sites::SiteMap;
use parallax_trace::path::{Choice, DEFAULT, Decision};

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
    /// Measures how far everything is from some blocks, and no more than that.
    pub fn plain(analysis: &'m Analysis, blocks: &[BlockId]) -> Guide<'m> {
        let pruned = Pruned::default();
        let (program, graph) = (&analysis.program, &analysis.graph);
        Guide {
            analysis,
            distances: Distances::measure(program, graph, blocks, &pruned, OverCalls::Free),
            pruned,
            is_refuted: false,
        }
    }

    /// Measures how far everything is from some blocks, without ways that cannot lead there.
    pub fn with_preconditions(
        analysis: &'m Analysis,
        effects: &Effects<'_>,
        blocks: &[BlockId],
    ) -> Guide<'m> {
        let towards = analysis.towards(blocks, effects, OverCalls::Free);
        let main = analysis.program.function_named("main");
        let entry = main.and_then(|main| analysis.program.function(main).entry());
        let starts = |distances: &Distances| {
            entry.is_some_and(|entry| distances.at(&analysis.graph, entry).is_some())
        };
        let is_refuted = starts(&towards.plain) && !starts(&towards.distances);
        // What is refuted is searched for as if nothing were known: the analysis may be wrong.
        let (distances, pruned) = match is_refuted {
            true => (towards.plain, Pruned::default()),
            false => (towards.distances, towards.conditions.pruned().clone()),
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
    /// The closest that a run came to the target.
    pub fn closest(&self, executed: &dyn Executed) -> Option<Closest> {
        let Analysis { program, graph, .. } = self.analysis;
        let main = program.function_named("main");
        let entry = main.and_then(|main| program.function(main).entry());
        let entries: Vec<BlockId> = entry.into_iter().collect();
        let (distances, pruned) = (&self.distances, &self.pruned);
        seeds::closest(program, graph, distances, pruned, executed, &entries)
    }

    /// Decisions between a side of a branch and the target, without returning; `None` if no way is known.
    pub fn beyond(&self, branch: BlockId, side: BlockId) -> Option<u32> {
        let is_pruned = self.pruned.sides.contains(&(branch, side));
        let distance = self.distances.at(&self.analysis.graph, side);
        distance.filter(|_| !is_pruned)
    }

    /// Decisions between the begin of a function that is entered by a call and the target; `None` if no way is known.
    pub fn entering(&self, call: Spot, callee: FunctionId) -> Option<u32> {
        let is_pruned = self.pruned.calls.contains(&(call, callee));
        let graph = &self.analysis.graph;
        let distance = self.distances.at_node(graph.entry(callee)?);
        distance.filter(|_| !is_pruned)
    }

    /// The decisions on the shortest way from a block to the target.
    pub fn way(&self, from: BlockId) -> Vec<(BlockId, BlockId)> {
        let Analysis { program, graph, .. } = self.analysis;
        let start = graph.start(from);
        self.distances.way(program, graph, &self.pruned, start)
    }

    /// How many decisions lie between the target and one of a run, once that has gone for a value; `None` if no way
    /// is known.
    pub fn behind(&self, standing: &Standing<'_>, value: u128) -> Option<u32> {
        let Guide {
            analysis,
            distances,
            pruned,
            ..
        } = self;
        let graph = &analysis.graph;
        let stack = &standing.stack;
        if standing.spots.is_empty() {
            // In a function that is not the program's, such as a model of libc's: it returns to its caller.
            let (caller, outer) = stack.split_last()?;
            return distances.under_stack(graph, graph.node_of(*caller), outer);
        }
        let ways = standing.spots.iter().map(|spot| {
            let Some(successor) = self.successor(*spot, standing.decision, value) else {
                return distances.under_stack(graph, graph.node_of(*spot), stack);
            };
            let node = graph.start(successor);
            // The target may still lie behind a return.
            match pruned.sides.contains(&(spot.block, successor)) {
                true => distances.after_returning(graph, node, stack),
                false => distances.under_stack(graph, node, stack),
            }
        });
        ways.flatten().min()
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

/// A decision of a run as a place in the program.
pub struct Standing<'d> {
    decision: &'d Decision,
    /// All copies of the place.
    spots: &'d [Spot],
    /// The calls that have not returned, the outermost first.
    stack: Rc<[Spot]>,
    /// The site, or the call in the program's own code that led there.
    pub place: SiteId,
}

impl Standing<'_> {
    /// The place in the program's own code, or the call in it that led there.
    pub fn here(&self) -> &[Spot] {
        match self.spots.is_empty() {
            true => self.stack.last().map_or(&[], std::slice::from_ref),
            false => self.spots,
        }
    }
}

/// Where the decisions of one run are made.
pub struct Standings<'d> {
    analysis: &'d Analysis,
    sites: &'d SiteMap,
    traced: &'d Traced,
    /// By calling context.
    stacks: FxHashMap<u32, Rc<[Spot]>>,
}

impl<'d> Standings<'d> {
    pub fn new(analysis: &'d Analysis, sites: &'d SiteMap, traced: &'d Traced) -> Standings<'d> {
        Standings {
            analysis,
            sites,
            traced,
            stacks: FxHashMap::default(),
        }
    }

    pub fn of(&mut self, decision: &'d Decision) -> Standing<'d> {
        let (analysis, sites, trace) = (self.analysis, self.sites, &self.traced.trace);
        let stack = self.stacks.entry(decision.context).or_insert_with(|| {
            let outward = trace.calls_outward(decision.context).take(MOST_CALLS);
            let first = |site| spots(analysis, sites, site).first().copied();
            let mut stack: Vec<Spot> = outward.filter_map(first).collect();
            stack.reverse();
            stack.into()
        });
        let here = spots(analysis, sites, decision.site);
        let own = |site: &SiteId| !spots(analysis, sites, *site).is_empty();
        let caller = || trace.calls_outward(decision.context).find(own);
        let place = match here.is_empty() {
            true => caller().unwrap_or(decision.site),
            false => decision.site,
        };
        Standing {
            decision,
            spots: here,
            stack: Rc::clone(stack),
            place,
        }
    }
}

fn spots<'d>(analysis: &'d Analysis, sites: &SiteMap, site: SiteId) -> &'d [Spot] {
    let original = sites.get(site).map_or(site, |view| view.original);
    match analysis.program.instructions_of(site) {
        [] => analysis.program.instructions_of(original),
        spots => spots,
    }
}
