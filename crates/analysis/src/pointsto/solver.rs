//! Inclusion constraints between sets of cells, solved by propagation.
//!
//! Sets flow along edges; what is loaded, stored or called through a pointer makes new edges when cells arrive. Nodes on
//! a cycle have equal sets and are made one, whenever many edges have come up since the last time.

use std::collections::{HashSet, VecDeque};

use super::objects::{Cell, Objects};
use crate::program::Program;
use crate::set::Set;

/// Number of a node: something that holds pointers.
pub type Node = u32;

/// What to do with cells that arrive at a node.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Load from the cell at this distance, into a node.
    Load(i64, Node),
    /// Store a node to the cell at this distance.
    Store(i64, Node),
    /// A pointer at a distance goes to a node; by stepping over elements of a size, if it is not 0.
    Shift(Node, i64, u64),
    /// Functions that arrive are called. Whoever asks for calls finds the number there.
    Call(u32),
}

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
    queue: VecDeque<Node>,
    queued: Vec<bool>,
    edges_at_collapse: usize,
    /// Calls through pointers that reached a function: number of the call, and the cell.
    pub called: Vec<(u32, Cell)>,
}

impl<'a> Solver<'a> {
    pub fn new(program: &'a Program) -> Solver<'a> {
        Solver {
            program,
            objects: Objects::default(),
            parent: Vec::new(),
            sets: Vec::new(),
            sent: Vec::new(),
            seen: Vec::new(),
            edges: Vec::new(),
            known: HashSet::new(),
            reactions: Vec::new(),
            cell_nodes: Vec::new(),
            queue: VecDeque::new(),
            queued: Vec::new(),
            edges_at_collapse: 0,
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
            self.queue.push_back(node);
        }
    }

    pub fn add_cell(&mut self, node: Node, cell: Cell) {
        let node = self.find(node);
        if self.sets[node as usize].insert(cell) {
            self.enqueue(node);
        }
    }

    /// Everything in `from` is in `to`, too. False if that was known.
    pub fn add_edge(&mut self, from: Node, to: Node) -> bool {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.known.insert((from, to)) {
            return false;
        }
        self.edges[from as usize].push(to);
        // What was sent is not sent again.
        if !self.sent[from as usize].is_empty() {
            let sent = std::mem::take(&mut self.sent[from as usize]);
            if self.sets[to as usize].extend(&sent) {
                self.enqueue(to);
            }
            self.sent[from as usize] = sent;
        }
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
        while let Some(node) = self.queue.pop_front() {
            self.queued[node as usize] = false;
            if self.parent[node as usize] != node {
                continue;
            }
            if self.known.len() > self.edges_at_collapse + self.edges_at_collapse / 2 + 10_000 {
                self.edges_at_collapse = self.known.len();
                self.enqueue(node);
                self.collapse();
                continue;
            }
            self.send(node);
            self.take_notice(node);
        }
    }

    fn send(&mut self, node: Node) {
        let index = node as usize;
        if self.edges[index].is_empty() {
            self.sent[index] = self.sets[index].clone();
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
            if target != node && self.sets[target as usize].extend(&news) {
                self.enqueue(target);
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
        let reactions = self.reactions[index].clone();
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
                    Reaction::Shift(to, distance, stride) => {
                        if *stride != 0 {
                            let same = self.objects.step(self.program, object, *stride);
                            self.unite(same);
                        }
                        let at = i64::from(offset) + distance;
                        let cell = self.objects.cell(self.program, object, at);
                        let same = self.objects.limit(self.program, object);
                        self.unite(same);
                        self.contents(cell);
                        self.add_cell(*to, cell);
                    }
                    Reaction::Call(call) => self.called.push((*call, cell)),
                }
            }
        }
    }

    fn contents_at(&mut self, object: u32, offset: u32, distance: i64) -> Node {
        let at = i64::from(offset) + distance;
        let cell = self.objects.cell(self.program, object, at);
        self.contents(cell)
    }

    /// Cells that turned out to be one: whatever is in one is in the other.
    fn unite(&mut self, same: Vec<(Cell, Cell)>) {
        for (a, b) in same {
            let (a, b) = (self.contents(a), self.contents(b));
            self.add_edge(a, b);
            self.add_edge(b, a);
        }
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
    }

    fn merge(&mut self, cycle: &[Node]) {
        let (first, rest) = cycle.split_first().expect("a cycle has nodes");
        let at = *first as usize;
        for node in rest {
            let other = *node as usize;
            self.parent[other] = *first;
            let set = std::mem::take(&mut self.sets[other]);
            self.sets[at].extend(&set);
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
        // Some members have not seen or sent what others have.
        self.sent[at] = Set::default();
        self.seen[at] = Set::default();
        self.enqueue(*first);
    }
}
