//! Slices: everything that a set of nodes depends on, or that depends on it; and, for many sets at once, who depends on which.
//!
//! A chain of dependences may leave functions upwards (by returns) and then enter others (by parameters), but not leave
//! again what it entered: what comes out there is a [`Kind::Summary`] edge of the call that it went in by. So a node is there in two
//! phases. A dependence through memory between functions starts anew, because nobody knows which calls lie between.

use super::{Dependences, Edge, Kind, Node};

/// A set of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    has: Vec<bool>,
}

impl Slice {
    pub fn has(&self, node: Node) -> bool {
        self.has[node.index()]
    }

    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        let having = (0..).zip(&self.has).filter(|(_, has)| **has);
        having.map(|(number, _)| Node(number))
    }
}

/// Which way edges are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Backward,
    Forward,
}

/// The phase behind an edge; `None` if the edge may not be followed. `entered` is the phase in which what was entered may not be left.
fn next_phase(kind: Kind, way: Way, entered: bool) -> Option<bool> {
    let (leaving, entering) = match way {
        Way::Forward => (Kind::Return, Kind::Parameter),
        Way::Backward => (Kind::Parameter, Kind::Return),
    };
    match kind {
        Kind::Across => Some(false),
        kind if kind == entering => Some(true),
        kind if kind == leaving => (!entered).then_some(false),
        _ => Some(entered),
    }
}

impl Dependences {
    /// Everything that these nodes depend on, themselves included.
    pub fn backward(&self, from: &[Node]) -> Slice {
        self.slice(from, Way::Backward)
    }

    /// Everything that depends on these nodes, themselves included.
    pub fn forward(&self, from: &[Node]) -> Slice {
        self.slice(from, Way::Forward)
    }

    fn edges(&self, node: Node, way: Way) -> &[Edge] {
        match way {
            Way::Backward => self.on(node),
            Way::Forward => self.by(node),
        }
    }

    fn slice(&self, from: &[Node], way: Way) -> Slice {
        let mut seen = vec![[false; 2]; self.nodes.len()];
        let mut work: Vec<(Node, bool)> = from.iter().map(|node| (*node, false)).collect();
        while let Some((node, entered)) = work.pop() {
            let phases = &mut seen[node.index()];
            // What may be left can do all that what may not be left can.
            if phases[0] || std::mem::replace(&mut phases[usize::from(entered)], true) {
                continue;
            }
            for edge in self.edges(node, way) {
                if let Some(phase) = next_phase(edge.kind, way, entered) {
                    work.push((edge.to, phase));
                }
            }
        }
        Slice {
            has: seen.into_iter().map(|[one, other]| one || other).collect(),
        }
    }

    /// For sets of nodes, who depends on which of them.
    pub fn influences(&self, sets: &[Vec<Node>]) -> Influences {
        let count = self.nodes.len();
        let words = sets.len().div_ceil(64).max(1);
        let mut own = vec![0u64; count * words];
        for (number, set) in sets.iter().enumerate() {
            for node in set {
                own[node.index() * words + number / 64] |= 1 << (number % 64);
            }
        }
        // States are nodes in either phase; a state comes from those that it depends on.
        let states = 2 * count;
        let before = |state: usize, visit: &mut dyn FnMut(usize)| {
            let (node, entered) = (Node((state / 2) as u32), state % 2 == 1);
            for edge in self.on(node) {
                for from in [false, true] {
                    if next_phase(edge.kind, Way::Forward, from) == Some(entered) {
                        visit(2 * edge.to.index() + usize::from(from));
                    }
                }
            }
        };
        let (component, order) = components(states, before);
        let mut sums = vec![0u64; order.len() * words];
        for (number, members) in order.iter().enumerate() {
            let mut sum = vec![0u64; words];
            for state in members {
                before(*state, &mut |from| {
                    let node = from / 2;
                    let other = component[from] as usize;
                    for word in 0..words {
                        // What a set's own nodes pass on includes the set; they begin in the first phase, in which all
                        // is reached that can be.
                        if from % 2 == 0 {
                            sum[word] |= own[node * words + word];
                        }
                        if other != number {
                            sum[word] |= sums[other * words + word];
                        }
                    }
                });
            }
            sums[number * words..(number + 1) * words].copy_from_slice(&sum);
        }
        let mut of = vec![0u64; count * words];
        for node in 0..count {
            for phase in 0..2 {
                let component = component[2 * node + phase] as usize;
                for word in 0..words {
                    of[node * words + word] |= sums[component * words + word];
                }
            }
        }
        let cycles = component.chunks(2).map(|pair| pair[0]).collect();
        Influences { words, of, cycles }
    }
}

/// Who depends on which of several sets; see [`Dependences::influences`].
#[derive(Clone, Debug)]
pub struct Influences {
    words: usize,
    of: Vec<u64>,
    cycles: Vec<u32>,
}

impl Influences {
    /// The sets that a node depends on, by number.
    pub fn of(&self, node: Node) -> Vec<usize> {
        let words = &self.of[node.index() * self.words..(node.index() + 1) * self.words];
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let bits = (0..64).filter(|bit| word >> bit & 1 == 1);
            found.extend(bits.map(|bit| at * 64 + bit));
        }
        found
    }

    /// Whether two nodes depend on each other.
    pub fn is_mutual(&self, one: Node, other: Node) -> bool {
        self.cycles[one.index()] == self.cycles[other.index()]
    }
}

/// Strongly connected components (Tarjan's algorithm without recursion), each after all that it comes from: the component of each state, and the
/// members of each component.
fn components(
    count: usize,
    before: impl Fn(usize, &mut dyn FnMut(usize)),
) -> (Vec<u32>, Vec<Vec<usize>>) {
    const NONE: u32 = u32::MAX;
    let mut number = vec![NONE; count];
    let mut low = vec![0u32; count];
    let mut component = vec![NONE; count];
    let mut order: Vec<Vec<usize>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for start in 0..count {
        if number[start] != NONE {
            continue;
        }
        let mut work: Vec<(usize, Vec<usize>)> = Vec::new();
        let enter = |state: usize,
                     next: &mut u32,
                     number: &mut Vec<u32>,
                     low: &mut Vec<u32>,
                     open: &mut Vec<usize>| {
            number[state] = *next;
            low[state] = *next;
            *next += 1;
            open.push(state);
            let mut list = Vec::new();
            before(state, &mut |from| list.push(from));
            (state, list)
        };
        work.push(enter(start, &mut next, &mut number, &mut low, &mut open));
        while let Some((state, list)) = work.last_mut() {
            let state = *state;
            if let Some(from) = list.pop() {
                if number[from] == NONE {
                    work.push(enter(from, &mut next, &mut number, &mut low, &mut open));
                } else if component[from] == NONE {
                    low[state] = low[state].min(number[from]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[state]);
            }
            if low[state] == number[state] {
                let mut members = Vec::new();
                while let Some(member) = open.pop() {
                    component[member] = order.len() as u32;
                    members.push(member);
                    if member == state {
                        break;
                    }
                }
                order.push(members);
            }
        }
    }
    (component, order)
}
