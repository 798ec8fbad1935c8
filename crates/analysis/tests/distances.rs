//! Distances in decisions, on small programs whose distances can be counted by hand.

mod common;

use common::{block_at, branch_at, function, line_of, program};
use parallax_analysis::calls::{Calls, Resolution};
use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::graph::Graph;
use parallax_analysis::{BlockId, Program, Spot};

fn graph(program: &Program) -> (Calls, Graph) {
    let calls = Calls::new(program, &Resolution::default());
    let graph = Graph::new(program, &calls);
    (calls, graph)
}

fn to(program: &Program, graph: &Graph, target: BlockId, over: OverCalls) -> Distances {
    Distances::measure(program, graph, &[target], &Pruned::default(), over)
}

/// The only call of a function by another.
fn call_of(program: &Program, calls: &Calls, callee: &str) -> Spot {
    let mut callers = calls.callers_of(function(program, callee));
    let call = callers.next().expect(callee).spot;
    assert!(callers.next().is_none(), "{callee} is called once");
    call
}

const STACK: &str = "\
void leaf(int x) {
  if (x > 3) {
    if (x > 5)
      x++;
    x--;
  }
}
int finish(int x) {
  if (x == 9)
    return 7; /* target */
  return 0;
}
void middle(int x) {
  leaf(x);
  if (x) x++;
}
int main(int argc, char **argv) {
  if (argc > 1)
    middle(argc);
  return finish(argc);
}
";

#[test]
fn a_call_costs_nothing_to_enter_and_a_branch_costs_one() {
    let program = program(STACK);
    let (_, graph) = graph(&program);
    let target = block_at(&program, line_of(STACK, "target"));
    let distances = to(&program, &graph, target, OverCalls::Free);
    let at = |block| distances.at(&graph, block);
    assert_eq!(at(target), Some(0));
    let finish = program.function(function(&program, "finish")).entry();
    assert_eq!(at(finish.unwrap()), Some(1));
    assert_eq!(at(branch_at(&program, line_of(STACK, "argc > 1"))), Some(2));
}

#[test]
fn a_target_behind_the_return_is_far_without_and_found_with_the_call_stack() {
    let program = program(STACK);
    let (calls, graph) = graph(&program);
    let target = block_at(&program, line_of(STACK, "target"));
    let distances = to(&program, &graph, target, OverCalls::Shortest);
    let inner = branch_at(&program, line_of(STACK, "x > 5"));
    assert_eq!(distances.at(&graph, inner), None);
    let stack = [
        call_of(&program, &calls, "middle"),
        call_of(&program, &calls, "leaf"),
    ];
    // x > 5, then `if (x)` in middle, then x == 9.
    assert_eq!(distances.with_stack(&graph, inner, &stack), Some(3));
    assert_eq!(distances.with_stack(&graph, inner, &stack[1..]), None);
}

#[test]
fn going_over_a_call_costs_the_shortest_way_through_it_or_nothing() {
    let program = program(STACK);
    let (_, graph) = graph(&program);
    let target = block_at(&program, line_of(STACK, "target"));
    let calling = block_at(&program, line_of(STACK, "middle(argc)"));
    let free = to(&program, &graph, target, OverCalls::Free);
    assert_eq!(free.at(&graph, calling), Some(1));
    let shortest = to(&program, &graph, target, OverCalls::Shortest);
    // leaf's first branch, middle's branch, finish's branch.
    assert_eq!(shortest.at(&graph, calling), Some(3));
}

#[test]
fn nothing_behind_a_call_that_never_returns_is_near() {
    let text = "\
void exit(int);
void stop(int x) { while (1) if (x) exit(x); }
int main(int argc, char **argv) {
  stop(argc);
  if (argc)
    return 1; /* target */
  return 2;
}
";
    let program = program(text);
    let (_, graph) = graph(&program);
    let main = program.function(function(&program, "main")).entry();
    let target = block_at(&program, line_of(text, "target"));
    let distances = to(&program, &graph, target, OverCalls::Free);
    assert_eq!(distances.at(&graph, main.unwrap()), None);
}

#[test]
fn the_shortest_way_through_recursion_is_found() {
    let text = "\
int odd(int x);
int even(int x) { if (x == 0) return 1; return odd(x - 1); }
int odd(int x) { if (x == 0) return 0; return even(x - 1); }
int main(int argc, char **argv) {
  if (even(argc))
    return 5; /* target */
  return 0;
}
";
    let program = program(text);
    let (_, graph) = graph(&program);
    let target = block_at(&program, line_of(text, "target"));
    let main = program.function(function(&program, "main")).entry();
    let distances = to(&program, &graph, target, OverCalls::Shortest);
    assert_eq!(distances.at(&graph, main.unwrap()), Some(2));
}
