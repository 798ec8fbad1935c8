//! Post-dominators, and which branches decide whether a block runs.

use crate::program::{BlockId, FunctionId, Program};

/// Control dependence inside of one function.
#[derive(Clone, Debug)]
pub struct Control {
    first: u32,
    /// Per block, the nearest one that every way to the end of the function goes through; `None` if that is the end itself.
    post_dominators: Vec<Option<BlockId>>,
    /// Per block, the sides of branches that lead to it for certain, while another side may not.
    controlling: Vec<Vec<(BlockId, BlockId)>>,
}

impl Control {
    pub fn of(program: &Program, function: FunctionId) -> Control {
        let range = program.function(function).blocks.clone();
        let first = range.start;
        let count = range.len();
        let successors: Vec<Vec<usize>> = range
            .map(|block| {
                let successors = program.blocks[block as usize].successors.iter();
                successors.map(|block| (block.0 - first) as usize).collect()
            })
            .collect();
        let exit = count;
        let (order, to_exit) = backward_order(&successors);
        let immediate = post_dominators(&successors, &order, &to_exit);
        let mut control = Control {
            first,
            post_dominators: immediate[..count]
                .iter()
                .map(|block| (*block != exit).then(|| BlockId(first + *block as u32)))
                .collect(),
            controlling: vec![Vec::new(); count],
        };
        for (branch, sides) in successors.iter().enumerate() {
            if sides.len() < 2 {
                continue;
            }
            for side in sides {
                // Everything from the side up to where all sides meet again.
                let mut at = *side;
                while at != exit && at != immediate[branch] {
                    let edge = (control.id(branch), control.id(*side));
                    control.controlling[at].push(edge);
                    at = immediate[at];
                }
            }
        }
        control
    }

    fn id(&self, block: usize) -> BlockId {
        BlockId(self.first + block as u32)
    }

    /// The nearest block that every way from here to the end of the function goes through.
    pub fn post_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.post_dominators[(block.0 - self.first) as usize]
    }

    /// Branches and their successors on which it depends whether a block runs.
    pub fn controlling(&self, block: BlockId) -> &[(BlockId, BlockId)] {
        &self.controlling[(block.0 - self.first) as usize]
    }
}

/// Blocks in the order of a walk backwards from the end, each after those it leads to as far as loops allow; and which blocks
/// the function can end in. Of an endless loop one block counts as the end, so that every block has a way there.
fn backward_order(successors: &[Vec<usize>]) -> (Vec<usize>, Vec<bool>) {
    let count = successors.len();
    let mut predecessors = vec![Vec::new(); count];
    for (block, list) in successors.iter().enumerate() {
        for successor in list {
            predecessors[*successor].push(block);
        }
    }
    let mut to_exit: Vec<bool> = successors.iter().map(Vec::is_empty).collect();
    let mut seen = vec![false; count];
    let mut finished = Vec::with_capacity(count);
    let ends = (0..count).filter(|block| successors[*block].is_empty());
    let starts: Vec<usize> = ends.chain((0..count).rev()).collect();
    for start in starts {
        if seen[start] {
            continue;
        }
        if !successors[start].is_empty() {
            to_exit[start] = true;
        }
        seen[start] = true;
        let mut work = vec![(start, 0)];
        while let Some((block, next)) = work.pop() {
            match predecessors[block].get(next) {
                Some(predecessor) => {
                    work.push((block, next + 1));
                    if !std::mem::replace(&mut seen[*predecessor], true) {
                        work.push((*predecessor, 0));
                    }
                }
                None => finished.push(block),
            }
        }
    }
    finished.reverse();
    (finished, to_exit)
}

/// Cooper, Harvey and Kennedy's iteration, on the reversed graph with a common end.
fn post_dominators(successors: &[Vec<usize>], order: &[usize], to_exit: &[bool]) -> Vec<usize> {
    let count = successors.len();
    let exit = count;
    let mut place = vec![0; count + 1];
    for (number, block) in order.iter().enumerate() {
        place[*block] = number + 1;
    }
    let unknown = usize::MAX;
    let mut immediate = vec![unknown; count + 1];
    immediate[exit] = exit;
    let mut changed = true;
    while changed {
        changed = false;
        for block in order {
            let ends = to_exit[*block].then_some(exit);
            let mut meeting = unknown;
            for next in successors[*block].iter().copied().chain(ends) {
                if immediate[next] == unknown {
                    continue;
                }
                if meeting == unknown {
                    meeting = next;
                    continue;
                }
                let mut other = next;
                while meeting != other {
                    while place[meeting] > place[other] {
                        meeting = immediate[meeting];
                    }
                    while place[other] > place[meeting] {
                        other = immediate[other];
                    }
                }
            }
            if meeting != unknown && immediate[*block] != meeting {
                immediate[*block] = meeting;
                changed = true;
            }
        }
    }
    immediate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(successors: &[&[usize]]) -> Vec<usize> {
        let successors: Vec<Vec<usize>> = successors.iter().map(|list| list.to_vec()).collect();
        let (order, to_exit) = backward_order(&successors);
        post_dominators(&successors, &order, &to_exit)
    }

    #[test]
    fn both_sides_of_a_branch_meet() {
        assert_eq!(check(&[&[1, 2], &[3], &[3], &[]])[..4], [3, 3, 3, 4]);
    }

    #[test]
    fn a_loop_is_left_through_its_head() {
        assert_eq!(check(&[&[1], &[2, 3], &[1], &[]])[..4], [1, 3, 1, 4]);
    }

    #[test]
    fn an_endless_loop_has_an_end_all_the_same() {
        let immediate = check(&[&[1, 2], &[1], &[]]);
        assert_eq!(immediate, [3, 3, 3, 3]);
    }
}
