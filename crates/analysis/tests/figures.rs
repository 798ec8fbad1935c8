//! The examples of the papers, written anew: what the papers say about them must come out.

mod common;

use std::collections::BTreeMap;

use common::{block_at, branch_at, line_of, program};
use parallax_analysis::calls::Calls;
use parallax_analysis::control::Control;
use parallax_analysis::definitions::{Definitions, Read, Value};
use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::effects::Effects;
use parallax_analysis::graph::Graph;
use parallax_analysis::pointsto::PointsTo;
use parallax_analysis::preconditions::Preconditions;
use parallax_analysis::{BlockId, Program, Spot};

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

/// Data flow of KATCH's figure 6: a switch on a local that is a copy of a global that options set.
const FIGURE_6: &str = "\
int getopt(int, char **, const char *);
enum spaces { KEEP, TABS, TRAILING, CHANGE, ALL };
static enum spaces ignore = KEEP;
static int ignore_case;
int hash(const char *p, int h) {
  enum spaces how = ignore; /* local */
  switch (how) { /* switch */
  case ALL:
    while (*p)
      h += *p++; /* target */
    break;
  case CHANGE:
    h = h + 1;
    break;
  default:
    break;
  }
  return h;
}
int main(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, \"bZEwi\")) != -1)
    switch (c) { /* options */
    case 'b':
      if (ignore < CHANGE)
        ignore = CHANGE; /* b */
      break;
    case 'Z':
      ignore = TRAILING; /* Z */
      break;
    case 'E':
      ignore = TABS; /* E */
      break;
    case 'w':
      ignore = ALL; /* w */
      break;
    case 'i':
      ignore_case = 1;
      break;
    }
  return hash(argv[0], 0);
}
";

#[test]
fn katch_figure_6_definitions_lead_from_local_to_global_to_option() {
    let program = program(FIGURE_6);
    let analysed = analyse(&program);
    let effects = Effects::new(&program, &analysed.calls, &analysed.points);
    let definitions = Definitions::new(&program, &analysed.calls, &analysed.points, &effects);
    let line = |mark: &str| line_of(FIGURE_6, mark);
    let line_at = |spot: Spot| {
        let places = &mut program.block(spot.block).places();
        places.nth(spot.number as usize).expect("a place").line
    };

    let switch = branch_at(&program, line("/* switch */"));
    let target = block_at(&program, line("while (*p)"));
    // `case ALL` leads to the loop, through a block of its own if the compiler made one.
    let sides = &program.block(switch).successors;
    let loops =
        |side: &&BlockId| **side == target || program.block(**side).successors.contains(&target);
    let side = *sides.iter().find(loops).expect("the case of the target");
    let needs = definitions.needs(switch, side);
    let [local] = &needs[..] else {
        panic!("one variable is switched on: {needs:?}");
    };
    let all = local.values.as_ref().and_then(|values| values.single());
    assert_eq!(all, Some(4));
    let [copy] = &local.definitions[..] else {
        panic!("one definition of the local: {local:?}");
    };
    assert_eq!(copy.spot.map(line_at), Some(line("/* local */")));
    assert_eq!(copy.fits, None);
    let Value::Computed(reads) = &copy.alternative.value else {
        panic!("the local is a copy of the global");
    };

    let of_global = definitions.of_read(&reads[0]);
    let mut stored: Vec<(Option<u32>, Option<i64>)> = of_global
        .iter()
        .map(|definition| {
            let constant = definition.alternative.value.constant();
            (definition.spot.map(line_at), constant)
        })
        .collect();
    stored.sort_unstable();
    let at = |mark| Some(line(mark));
    assert_eq!(
        stored,
        [
            (None, Some(0)),
            (at("/* b */"), Some(3)),
            (at("/* Z */"), Some(2)),
            (at("/* E */"), Some(1)),
            (at("/* w */"), Some(4)),
        ]
    );

    // The definition that fits runs if the option is `w`, which getopt returned.
    let set = of_global
        .iter()
        .find(|definition| definition.alternative.value.constant() == Some(4))
        .and_then(|definition| definition.spot)
        .expect("the definition by -w");
    let main = program.function_named("main").expect("main");
    let control = Control::of(&program, main);
    let [(branch, side)] = control.controlling(set.block)[..] else {
        panic!("one branch decides about -w");
    };
    assert_eq!(program.block(branch).end.line, line("/* options */"));
    let needs = definitions.needs(branch, side);
    let wanted = needs[0].values.as_ref().and_then(|values| values.single());
    assert_eq!(wanted, Some(u64::from(b'w')));
    let Value::Computed(reads) = &needs[0].definitions[0].alternative.value else {
        panic!("c is the result of a call");
    };
    assert!(matches!(reads[..], [Read::Result(_)]), "{reads:?}");
}
