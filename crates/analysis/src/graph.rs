//! The interprocedural control-flow graph, measured in decisions.
//!
//! Nodes are stretches of code that run as a whole: a block, cut behind each call that enters the program's own code.
//! A node ends in a call (an edge into each callee, which costs nothing, and a short cut over the call) or in the block's
//! terminator (edges that cost 1 if there is a choice). There are no return edges: what comes after the return is
//! the short cut's matter, or that of the call stack (see [`Distances`](crate::distance::Distances)).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::calls::Calls;
use crate::program::{BlockId, FunctionId, Program, Spot, Terminator};

/// Not to be reached.
pub const FAR: u32 = u32::MAX;

/// Number of a node in its [`Graph`].
pub type Node = usize;

/// The graph of one program, with what does not depend on any target.
#[derive(Debug)]
pub struct Graph {
    /// Per block, its first node; one more at the end.
    first: Vec<u32>,
    block_of: Vec<BlockId>,
    /// How each node ends.
    ends: Vec<End>,
    /// Per function, the nodes that call it.
    callers: Vec<Vec<u32>>,
    /// Least number of decisions from each node to a return of its function.
    to_return: Vec<u32>,
    entry: Vec<Option<u32>>,
}

/// How a node ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// In a call; the next node is behind it.
    Call {
        spot: Spot,
        callees: Vec<FunctionId>,
        /// The call may be answered without entering any callee.
        outside: bool,
    },
    /// In the block's terminator.
    Block { returns: bool },
}

impl Graph {
    pub fn new(program: &Program, calls: &Calls) -> Graph {
        let mut graph = Graph {
            first: Vec::with_capacity(program.blocks.len() + 1),
            block_of: Vec::new(),
            ends: Vec::new(),
            callers: vec![Vec::new(); program.functions.len()],
            to_return: Vec::new(),
            entry: Vec::new(),
        };
        for block in program.block_ids() {
            graph.first.push(graph.ends.len() as u32);
            for call in calls.of_block(block) {
                for callee in &call.callees {
                    graph.callers[callee.index()].push(graph.ends.len() as u32);
                }
                graph.block_of.push(block);
                graph.ends.push(End::Call {
                    spot: call.spot,
                    callees: call.callees.clone(),
                    outside: call.outside,
                });
            }
            let terminator = &program.block(block).terminator;
            graph.block_of.push(block);
            graph.ends.push(End::Block {
                returns: matches!(terminator, Terminator::Return(_)),
            });
        }
        graph.first.push(graph.ends.len() as u32);
        let entries = program.functions.iter();
        graph.entry = entries
            .map(|function| Some(graph.first[function.entry()?.index()]))
            .collect();
        graph.to_return = graph.measure_returns(program);
        graph
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where a block begins.
    pub fn start(&self, block: BlockId) -> Node {
        self.first[block.index()] as Node
    }

    /// Where a block's terminator is.
    pub fn last(&self, block: BlockId) -> Node {
        self.first[block.index() + 1] as Node - 1
    }

    pub fn block(&self, node: Node) -> BlockId {
        self.block_of[node]
    }

    pub fn end(&self, node: Node) -> &End {
        &self.ends[node]
    }

    /// Where a function begins.
    pub fn entry(&self, function: FunctionId) -> Option<Node> {
        self.entry[function.index()].map(|node| node as Node)
    }

    /// The nodes that end in a call of the function.
    pub fn callers_of(&self, function: FunctionId) -> impl Iterator<Item = Node> {
        self.callers[function.index()]
            .iter()
            .map(|node| *node as Node)
    }

    /// The node that an instruction belongs to; a call belongs to the node that it ends.
    pub fn node_of(&self, spot: Spot) -> Node {
        let nodes = self.start(spot.block)..self.last(spot.block);
        let is_at_or_behind = |node: &Node| match &self.ends[*node] {
            End::Call { spot: call, .. } => spot.number <= call.number,
            End::Block { .. } => true,
        };
        nodes.clone().find(is_at_or_behind).unwrap_or(nodes.end)
    }

    /// Where execution goes on when a call returns.
    pub fn behind(&self, call: Spot) -> Node {
        let node = self.node_of(call);
        match &self.ends[node] {
            End::Call { spot, .. } if *spot == call => node + 1,
            // A call that does not enter the program's code: the rest of the node.
            _ => node,
        }
    }

    /// Least number of decisions from a node to a return of its function; [`FAR`] if it never returns.
    pub fn to_return(&self, node: Node) -> u32 {
        self.to_return[node]
    }

    /// Least number of decisions from the begin to the end of what a call can enter.
    pub fn through(&self, callees: &[FunctionId], outside: bool) -> u32 {
        if outside {
            return 0;
        }
        let entries = callees.iter().filter_map(|callee| self.entry(*callee));
        entries
            .map(|entry| self.to_return[entry])
            .min()
            .unwrap_or(0)
    }

    /// Dijkstra's algorithm from all returns backwards, in which the length of a short cut is known once the callee's
    /// entry is settled.
    fn measure_returns(&self, program: &Program) -> Vec<u32> {
        let mut far = vec![FAR; self.len()];
        let mut queue = BinaryHeap::new();
        for (node, end) in self.ends.iter().enumerate() {
            if *end == (End::Block { returns: true }) {
                far[node] = 0;
                queue.push(Reverse((0, node)));
            }
        }
        let mut settled = vec![false; self.len()];
        while let Some(Reverse((length, node))) = queue.pop() {
            if std::mem::replace(&mut settled[node], true) {
                continue;
            }
            let mut offers: Vec<(Node, u32)> = Vec::new();
            let block = self.block_of[node];
            if node == self.start(block) {
                for predecessor in &program.block(block).predecessors {
                    let cost = u32::from(program.block(*predecessor).branches());
                    offers.push((self.last(*predecessor), length + cost));
                }
                let function = program.block(block).function;
                if self.entry(function) == Some(node) {
                    let callers = self.callers_of(function);
                    let returned = callers.filter(|caller| settled[caller + 1]);
                    offers.extend(returned.map(|caller| (caller, far[caller + 1] + length)));
                }
            } else if let End::Call {
                callees, outside, ..
            } = &self.ends[node - 1]
            {
                let entries = callees.iter().filter_map(|callee| self.entry(*callee));
                let known = entries.filter(|entry| settled[*entry]);
                let through = known.map(|entry| far[entry]).min();
                let through = if *outside { Some(0) } else { through };
                offers.extend(through.map(|through| (node - 1, length + through)));
            }
            for (to, length) in offers {
                if length < far[to] {
                    far[to] = length;
                    queue.push(Reverse((length, to)));
                }
            }
        }
        far
    }
}
