//! Inclusion constraints between sets of cells, solved by propagation.
//!
//! Sets flow along edges; what is loaded, stored or called through a pointer makes new edges when cells arrive. That goes
//! in waves: in each, nodes are visited in the order of the edges, so that most of them only once. Nodes on a cycle have equal
//! sets and are made one, whenever many edges have come up since the last time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::objects::{Cell, Objects};
use crate::program::{Field, Program};
use crate::set::Set;

/// Number of a node: something that holds pointers.
pub type Node = u32;

/// What to do with cells that arrive at a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reaction {
    /// Load from the cell at this distance, into a node.
    Load(i64, Node),
    /// Store a node to the cell at this distance.
    Store(i64, Node),
    /// A pointer at a distance goes to a node; to a field, if one is named.
    Shift(Node, i64, Option<Field>),
    /// Functions that arrive are called. Whoever asks for calls finds the number there.
    Call(u32),
}

/// A pointer to more cells than this is as good as one that nothing is known about: only what is lasting is kept.
const MAX_CELLS: usize = 400;

/// The constraints and their solution.
pub struct Solver<'a> {
    pub program: &'a Program,
    pub objects: Objects,
    parent: Vec<Node>,
    sets: Vec<Set>,
    /// What has gone along the edges, and what reactions have seen.
    sent: Vec<Set>,
    seen: Vec<Set>,
    edges: Vec<Vec<Node>>,
    known: HashSet<(Node, Node)>,
    reactions: Vec<Vec<Reaction>>,
    cell_nodes: Vec<Node>,
    /// Place of each node in the order of the edges; cycles make that a matter of choice.
    order: Vec<u32>,
    /// Nodes to visit in this wave, behind the place where it is; and in the next one.
    wave: BinaryHeap<Reverse<(u32, Node)>>,
    next: Vec<Node>,
    at: u32,
    queued: Vec<bool>,
    edges_at_collapse: usize,
    /// Nodes that have too many cells, and what such nodes keep.
    full: Vec<bool>,
    lasting: Set,
    /// Calls through pointers that reached a function: number of the call, and the cell.
    pub called: Vec<(u32, Cell)>,
}

impl<'a> Solver<'a> {
    pub fn new(program: &'a Program, by_type: bool) -> Solver<'a> {
        Solver {
            program,
            objects: Objects::new(by_type),
            parent: Vec::new(),
            sets: Vec::new(),
            sent: Vec::new(),
            seen: Vec::new(),
            edges: Vec::new(),
            known: HashSet::new(),
            reactions: Vec::new(),
            cell_nodes: Vec::new(),
            order: Vec::new(),
            wave: BinaryHeap::new(),
            next: Vec::new(),
            at: 0,
            queued: Vec::new(),
            edges_at_collapse: 0,
            full: Vec::new(),
            lasting: Set::default(),
            called: Vec::new(),
        }
    }

    pub fn add_nodes(&mut self, count: usize) -> Node {
        let first = self.parent.len() as Node;
        let total = self.parent.len() + count;
        self.parent.extend(first..total as Node);
        self.sets.resize(total, Set::default());
        self.sent.resize(total, Set::default());
        self.seen.resize(total, Set::default());
        self.edges.resize(total, Vec::new());
        self.reactions.resize(total, Vec::new());
        self.queued.resize(total, false);
        self.full.resize(total, false);
        self.order.resize(total, u32::MAX);
        first
    }

    /// The node that stands for all that were made one with this.
    fn find(&mut self, mut node: Node) -> Node {
        while self.parent[node as usize] != node {
            let above = self.parent[node as usize];
            self.parent[node as usize] = self.parent[above as usize];
            node = self.parent[node as usize];
        }
        node
    }

    /// What a node may point to.
    pub fn set(&self, mut node: Node) -> &Set {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        &self.sets[node as usize]
    }

    /// The node for what is in a cell.
    pub fn contents(&mut self, cell: Cell) -> Node {
        while self.cell_nodes.len() <= cell as usize {
            let number = self.cell_nodes.len() as Cell;
            if self.objects.is_lasting(self.program, number) {
                self.lasting.insert(number);
            }
            let node = self.add_nodes(1);
            self.cell_nodes.push(node);
        }
        self.cell_nodes[cell as usize]
    }

    /// The same, if somebody has asked for it before.
    pub fn known_contents(&self, cell: Cell) -> Option<Node> {
        self.cell_nodes.get(cell as usize).copied()
    }

    fn enqueue(&mut self, node: Node) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            let place = self.order[node as usize];
            if place > self.at {
                self.wave.push(Reverse((place, node)));
            } else {
                self.next.push(node);
            }
        }
    }

    pub fn add_cell(&mut self, node: Node, cell: Cell) {
        let node = self.find(node);
        if self.full[node as usize] && !self.lasting.contains(cell) {
            return;
        }
        if self.sets[node as usize].insert(cell) {
            self.enqueue(node);
        }
    }

    /// Adds cells to a node, as long as there is room. Visits it if anything is new.
    fn add_cells(&mut self, node: Node, cells: &Set) {
        let index = node as usize;
        let new = if self.full[index] {
            self.sets[index].extend(&cells.common(&self.lasting))
        } else {
            self.sets[index].extend(cells)
        };
        if new {
            self.restrict(node);
            self.enqueue(node);
        }
    }

    fn restrict(&mut self, node: Node) {
        let index = node as usize;
        if !self.full[index] && self.sets[index].len() > MAX_CELLS {
            self.full[index] = true;
            self.sets[index] = self.sets[index].common(&self.lasting);
        }
    }

    /// How many nodes have too many cells.
    pub fn full_count(&self) -> usize {
        self.full.iter().filter(|full| **full).count()
    }

    /// Everything in `from` is in `to`, too. False if that was known.
    pub fn add_edge(&mut self, from: Node, to: Node) -> bool {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.known.insert((from, to)) {
            return false;
        }
        self.edges[from as usize].push(to);
        // What was sent along the other edges is not sent again.
        let set = std::mem::take(&mut self.sets[from as usize]);
        self.add_cells(to, &set);
        self.sets[from as usize] = set;
        true
    }

    pub fn react(&mut self, node: Node, reaction: Reaction) {
        let node = self.find(node);
        self.reactions[node as usize].push(reaction);
        if !self.sets[node as usize].is_empty() {
            self.seen[node as usize] = Set::default();
            self.enqueue(node);
        }
    }

    /// Propagates until nothing changes. Calls that reach functions are put down in `called`; the caller adds what
    /// follows from them and solves again.
    pub fn solve(&mut self) {
        loop {
            self.at = 0;
            if self.known.len() > self.edges_at_collapse + self.edges_at_collapse / 50 {
                self.edges_at_collapse = self.known.len();
                self.collapse();
            }
            for node in std::mem::take(&mut self.next) {
                self.wave.push(Reverse((self.order[node as usize], node)));
            }
            if self.wave.is_empty() {
                return;
            }
            while let Some(Reverse((place, node))) = self.wave.pop() {
                self.queued[node as usize] = false;
                self.at = place;
                if self.parent[node as usize] == node {
                    self.send(node);
                    self.take_notice(node);
                }
            }
        }
    }

    fn send(&mut self, node: Node) {
        let index = node as usize;
        if self.edges[index].is_empty() {
            return;
        }
        let news = self.sets[index].without(&self.sent[index]);
        if news.is_empty() {
            return;
        }
        self.sent[index] = self.sets[index].clone();
        let targets = std::mem::take(&mut self.edges[index]);
        for target in &targets {
            let target = self.find(*target);
            if target != node {
                self.add_cells(target, &news);
            }
        }
        self.edges[index] = targets;
    }

    fn take_notice(&mut self, node: Node) {
        let index = node as usize;
        if self.reactions[index].is_empty() {
            return;
        }
        let news = self.sets[index].without(&self.seen[index]);
        if news.is_empty() {
            return;
        }
        self.seen[index] = self.sets[index].clone();
        // None are added while these are gone through: only calls would, and they wait.
        let reactions = std::mem::take(&mut self.reactions[index]);
        for cell in news.iter() {
            let (object, offset) = self.objects.place_of(cell);
            for reaction in &reactions {
                match reaction {
                    Reaction::Load(distance, to) => {
                        let from = self.contents_at(object, offset, *distance);
                        self.add_edge(from, *to);
                    }
                    Reaction::Store(distance, from) => {
                        let to = self.contents_at(object, offset, *distance);
                        self.add_edge(*from, to);
                    }
                    Reaction::Shift(to, distance, field) => {
                        let objects = &mut self.objects;
                        let there = objects.shifted(self.program, cell, *distance, *field);
                        if let Some(there) = there {
                            self.contents(there);
                            self.add_cell(*to, there);
                        }
                    }
                    Reaction::Call(call) => self.called.push((*call, cell)),
                }
            }
        }
        self.reactions[index] = reactions;
    }

    fn contents_at(&mut self, object: u32, offset: u32, distance: i64) -> Node {
        let at = i64::from(offset) + distance;
        let cell = self.objects.cell(self.program, object, at);
        self.contents(cell)
    }

    /// Makes one node of every cycle of edges (Tarjan's algorithm, without recursion).
    fn collapse(&mut self) {
        let count = self.parent.len();
        let mut index = vec![0u32; count];
        let mut low = vec![0u32; count];
        let mut on_stack = vec![false; count];
        let mut stack: Vec<Node> = Vec::new();
        let mut next = 1;
        let mut work: Vec<(Node, usize)> = Vec::new();
        let mut cycles: Vec<Vec<Node>> = Vec::new();
        let mut found: Vec<Node> = Vec::new();
        for root in 0..count as Node {
            if index[root as usize] != 0 || self.parent[root as usize] != root {
                continue;
            }
            work.push((root, 0));
            while let Some((node, edge)) = work.pop() {
                let at = node as usize;
                if edge == 0 {
                    index[at] = next;
                    low[at] = next;
                    next += 1;
                    stack.push(node);
                    on_stack[at] = true;
                }
                let mut descended = false;
                for number in edge..self.edges[at].len() {
                    let target = self.edges[at][number];
                    let target = self.find(target);
                    if index[target as usize] == 0 {
                        work.push((node, number + 1));
                        work.push((target, 0));
                        descended = true;
                        break;
                    }
                    if on_stack[target as usize] {
                        low[at] = low[at].min(index[target as usize]);
                    }
                }
                if descended {
                    continue;
                }
                if low[at] == index[at] {
                    let from = stack.iter().rposition(|other| *other == node);
                    let cycle = stack.split_off(from.expect("it was pushed"));
                    for member in &cycle {
                        on_stack[*member as usize] = false;
                    }
                    found.push(cycle[0]);
                    if cycle.len() > 1 {
                        cycles.push(cycle);
                    }
                }
                if let Some((above, _)) = work.last() {
                    low[*above as usize] = low[*above as usize].min(low[at]);
                }
            }
        }
        for cycle in cycles {
            self.merge(&cycle);
        }
        // Components are found in reverse order.
        for (node, place) in found.into_iter().rev().zip(1..) {
            self.order[node as usize] = place;
        }
    }

    fn merge(&mut self, cycle: &[Node]) {
        let (first, rest) = cycle.split_first().expect("a cycle has nodes");
        let at = *first as usize;
        for node in rest {
            let other = *node as usize;
            self.parent[other] = *first;
            let set = std::mem::take(&mut self.sets[other]);
            self.sets[at].extend(&set);
            self.full[at] |= self.full[other];
            let edges = std::mem::take(&mut self.edges[other]);
            self.edges[at].extend(edges);
            let reactions = std::mem::take(&mut self.reactions[other]);
            self.reactions[at].extend(reactions);
            self.sent[other] = Set::default();
            self.seen[other] = Set::default();
        }
        let mut edges = std::mem::take(&mut self.edges[at]);
        for edge in &mut edges {
            *edge = self.find(*edge);
        }
        edges.sort_unstable();
        edges.dedup();
        edges.retain(|edge| edge != first);
        self.known.extend(edges.iter().map(|edge| (*first, *edge)));
        self.edges[at] = edges;
        let mut kept = HashSet::new();
        let mut reactions = std::mem::take(&mut self.reactions[at]);
        for reaction in &mut reactions {
            if let Reaction::Load(_, node) | Reaction::Store(_, node) | Reaction::Shift(node, ..) =
                reaction
            {
                *node = self.find(*node);
            }
        }
        reactions.retain(|reaction| kept.insert(reaction.clone()));
        self.reactions[at] = reactions;
        if self.full[at] {
            self.sets[at] = self.sets[at].common(&self.lasting);
        }
        self.restrict(*first);
        // Some members have not seen or sent what others have.
        self.sent[at] = Set::default();
        self.seen[at] = Set::default();
        self.enqueue(*first);
    }
}
