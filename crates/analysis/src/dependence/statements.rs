//! Statements of the source: what a function has in one line.
//!
//! Diffs, people and debug information speak of lines. A line that two functions share (a macro, a header's function in two modules)
//! is a statement of each. Instructions without a line (the compiler's own) belong to no statement; dependences go through them.

use std::collections::HashMap;

use super::{Dependences, Kind, Meaning, Node, Nodes};
use crate::lines::normalise;
use crate::program::{FunctionId, Program};

/// Number of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementId(pub u32);

impl StatementId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line of a function, or the line of a global variable's definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    /// Normalised.
    pub file: String,
    pub line: u32,
    pub function: Option<FunctionId>,
    /// Its nodes, in the program's order.
    pub nodes: Vec<Node>,
}

/// All statements of a program.
#[derive(Debug, Default)]
pub struct Statements {
    list: Vec<Statement>,
    /// Per node; `u32::MAX` for none.
    of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Statements {
    pub fn new(program: &Program, nodes: &Nodes) -> Statements {
        let names: Vec<String> = program.files.iter().map(|file| normalise(file)).collect();
        let mut found: HashMap<(u32, u32, Option<FunctionId>), Vec<Node>> = HashMap::new();
        for node in nodes.all() {
            let (file, line, function) = match nodes.meaning(program, node) {
                Meaning::Spot(spot) | Meaning::Enters(spot) => {
                    let block = program.block(spot.block);
                    let places = &mut block.places();
                    let Some(place) = places.nth(spot.number as usize) else {
                        continue;
                    };
                    (place.file, place.line, Some(block.function))
                }
                Meaning::Initial(global) => {
                    let global = program.global(global);
                    if global.constant && global.text.is_some() {
                        // A text is part of the statement that it stands in.
                        continue;
                    }
                    (global.file, global.line, None)
                }
                Meaning::Parameter(..) | Meaning::Block(_) | Meaning::Entry(_) => continue,
            };
            if line != 0 {
                found.entry((file, line, function)).or_default().push(node);
            }
        }
        let mut list: Vec<Statement> = found
            .into_iter()
            .map(|((file, line, function), nodes)| Statement {
                file: names[file as usize].clone(),
                line,
                function,
                nodes,
            })
            .collect();
        list.sort_unstable();
        let mut of = vec![NONE; nodes.len()];
        for (number, statement) in (0..).zip(&list) {
            for node in &statement.nodes {
                of[node.index()] = number;
            }
        }
        Statements { list, of }
    }

    pub fn get(&self, id: StatementId) -> &Statement {
        &self.list[id.index()]
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = StatementId> + use<> {
        (0..self.list.len() as u32).map(StatementId)
    }

    /// The statement that a node belongs to.
    pub fn of(&self, node: Node) -> Option<StatementId> {
        let number = self.of[node.index()];
        (number != NONE).then_some(StatementId(number))
    }

    /// All statements of a line of a file, whose normalised name is given.
    pub fn at(&self, file: &str, line: u32) -> impl Iterator<Item = StatementId> {
        let from = self
            .list
            .partition_point(|one| (one.file.as_str(), one.line) < (file, line));
        let same = move |statement: &&Statement| statement.file == file && statement.line == line;
        let count = self.list[from..].iter().take_while(same).count();
        (from as u32..(from + count) as u32).map(StatementId)
    }
}

impl Dependences {
    /// The statements that a statement depends on directly, and whether that is for control; itself only if it depends on
    /// what it did before, or if one part of it decides whether another runs.
    pub fn statement_on(&self, id: StatementId) -> Vec<(StatementId, bool)> {
        let mut found: Vec<(StatementId, bool)> = Vec::new();
        let mut seen: Vec<(Node, bool)> = Vec::new();
        let mut work: Vec<(Node, bool)> = Vec::new();
        let begin = |node: Node, work: &mut Vec<(Node, bool)>| {
            for edge in self.on(node) {
                // Results by way of called functions are their returns' matter.
                if edge.kind != Kind::Summary {
                    work.push((edge.to, edge.kind == Kind::Control));
                }
            }
        };
        for node in &self.statements.get(id).nodes {
            for edge in self.on(*node) {
                let is_inside = self.statements.of(edge.to) == Some(id);
                // Inside of the statement only what goes round a loop is a dependence.
                let goes_round = matches!(edge.kind, Kind::Memory | Kind::Across);
                if edge.kind != Kind::Summary && (!is_inside || goes_round) {
                    work.push((edge.to, edge.kind == Kind::Control));
                }
            }
        }
        while let Some((node, is_control)) = work.pop() {
            if seen.contains(&(node, is_control)) {
                continue;
            }
            seen.push((node, is_control));
            match self.statements.of(node) {
                Some(other) => found.push((other, is_control)),
                None => {
                    let mut next = Vec::new();
                    begin(node, &mut next);
                    // Data that got here by way of nodes without a line stays data.
                    work.extend(
                        next.into_iter()
                            .map(|(to, control)| (to, is_control || control)),
                    );
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
