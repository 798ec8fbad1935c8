//! The examples of the papers, written anew: what the papers say about them must come out.

mod common;

use std::collections::BTreeMap;

use common::{block_at, branch_at, line_of, program};
use parallax_analysis::calls::Calls;
use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::effects::Effects;
use parallax_analysis::graph::Graph;
use parallax_analysis::pointsto::PointsTo;
use parallax_analysis::preconditions::Preconditions;
use parallax_analysis::{BlockId, Program};

/// Control flow of KATCH's figure 3; the comments are the figure's line numbers.
const FIGURE_3: &str = "\
int reached;
void check(int x) {
  if (x == 999) /* 9 */
    reached = 1; /* 10 */
}
int main(int argc, char **argv) {
  int input = argc;
  if (input < 100) /* 1 */
    check(0); /* 2 */
  if (input > 100) /* 4 */
    if (input > 200) /* 5 */
      check(input); /* 6 */
  return 0;
}
";

struct Analysed {
    calls: Calls,
    graph: Graph,
    points: PointsTo,
}

fn analyse(program: &Program) -> Analysed {
    let points = PointsTo::analyse(program);
    let calls = Calls::new(program, points.resolution());
    let graph = Graph::new(program, &calls);
    Analysed {
        calls,
        graph,
        points,
    }
}

fn measure(program: &Program, graph: &Graph, target: BlockId, pruned: &Pruned) -> Distances {
    Distances::measure(program, graph, &[target], pruned, OverCalls::Free)
}

#[test]
fn katch_figure_3_preconditions_change_the_distances_of_two_lines() {
    let program = program(FIGURE_3);
    let line = |mark: &str| line_of(FIGURE_3, mark);
    let target = block_at(&program, line("/* 10 */"));
    let analysed = analyse(&program);
    let graph = &analysed.graph;
    let points: BTreeMap<u32, BlockId> = [
        (1, branch_at(&program, line("/* 1 */"))),
        (2, block_at(&program, line("/* 2 */"))),
        (4, branch_at(&program, line("/* 4 */"))),
        (5, branch_at(&program, line("/* 5 */"))),
        (6, block_at(&program, line("/* 6 */"))),
        (9, branch_at(&program, line("/* 9 */"))),
        (10, target),
    ]
    .into();
    let table = |distances: &Distances| -> Vec<(u32, Option<u32>)> {
        let of = |block: &BlockId| distances.at(graph, *block);
        points
            .iter()
            .map(|(line, block)| (*line, of(block)))
            .collect()
    };

    let plain = measure(&program, graph, target, &Pruned::default());
    let by_control_flow = [(1, 2), (2, 1), (4, 3), (5, 2), (6, 1), (9, 1), (10, 0)];
    assert_eq!(
        table(&plain),
        by_control_flow.map(|(line, length)| (line, Some(length)))
    );

    let effects = Effects::new(&program, &analysed.calls, &analysed.points);
    let conditions = Preconditions::analyse(
        &program,
        graph,
        &analysed.calls,
        &effects,
        &[target],
        &plain,
    );
    let pruned = conditions.pruned();
    assert_eq!(
        pruned.sides.iter().collect::<Vec<_>>(),
        [&(points[&1], points[&2])]
    );
    let calls: Vec<BlockId> = pruned.calls.iter().map(|(spot, _)| spot.block).collect();
    assert_eq!(calls, [points[&2]]);

    let with_conditions = measure(&program, graph, target, pruned);
    let by_conditions = [(1, 4), (2, 3), (4, 3), (5, 2), (6, 1), (9, 1), (10, 0)];
    assert_eq!(
        table(&with_conditions),
        by_conditions.map(|(line, length)| (line, Some(length)))
    );
}
