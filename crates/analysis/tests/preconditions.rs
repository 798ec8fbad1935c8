//! Which edges cannot lead to a target, and that none is pruned that can.

mod common;

use common::{block_at, function, line_of, program};
use parallax_analysis::calls::Calls;
use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::effects::Effects;
use parallax_analysis::graph::Graph;
use parallax_analysis::pointsto::PointsTo;
use parallax_analysis::preconditions::Preconditions;
use parallax_analysis::seeds::{Closest, Executed, closest};
use parallax_analysis::{BlockId, Program};

/// The lines of branches and calls from which an edge was pruned, for the target in the line marked so.
fn pruned_lines(text: &str) -> Vec<u32> {
    let program = program(text);
    let (pruned, _, _) = prune(&program, text);
    let sides = pruned.sides.iter();
    let sides = sides.map(|(from, _)| program.block(*from).end.line);
    let calls = pruned.calls.iter().map(|(spot, _)| {
        program.block(spot.block).instructions[spot.number as usize]
            .place
            .line
    });
    let mut lines: Vec<u32> = sides.chain(calls).collect();
    lines.sort_unstable();
    lines
}

fn prune(program: &Program, text: &str) -> (Pruned, Graph, Distances) {
    let points = PointsTo::analyse(program);
    let calls = Calls::new(program, points.resolution());
    let graph = Graph::new(program, &calls);
    let target = [block_at(program, line_of(text, "/* target */"))];
    let measure =
        |pruned: &Pruned| Distances::measure(program, &graph, &target, pruned, OverCalls::Free);
    let plain = measure(&Pruned::default());
    let effects = Effects::new(program, &calls, &points);
    let conditions = Preconditions::analyse(program, &graph, &calls, &effects, &target, &plain);
    let pruned = conditions.pruned().clone();
    let distances = measure(&pruned);
    (pruned, graph, distances)
}

#[test]
fn a_flag_that_was_cleared_closes_what_it_guards() {
    let text = "\
_Bool verbose; int out;
int main(int argc, char **argv) {
  if (argc > 2)
    verbose = 1;
  else if (argc > 1) /* here */
    verbose = 0;
  else
    verbose = argc & 1;
  if (verbose)
    out = 1; /* target */
  return 0;
}
";
    // The edge to the assignment, and the one behind it.
    let lines = [line_of(text, "/* here */"), line_of(text, "verbose = 0")];
    assert_eq!(pruned_lines(text), lines);
}

#[test]
fn bits_of_flags_are_told_apart() {
    let text = "\
enum { A = 1, B = 2, C = 4 };
int out;
int use(int flags) {
  if (flags & B)
    out = 1; /* target */
  return 0;
}
int main(int argc, char **argv) {
  switch (argc) {
  case 1: return use(A | C); /* without */
  case 2: return use(A | B);
  case 3: return use(argc);
  default: return use(0); /* nothing */
  }
}
";
    let switch = line_of(text, "switch");
    let lines = [
        switch,
        switch,
        line_of(text, "without"),
        line_of(text, "nothing"),
    ];
    assert_eq!(pruned_lines(text), lines);
}

#[test]
fn fields_behind_a_pointer_are_followed() {
    let text = "\
struct options { int mode; int level; };
int out;
int run(struct options *o) {
  if (o->mode == 3)
    out = 1; /* target */
  return 0;
}
int main(int argc, char **argv) {
  struct options o;
  o.level = 3;
  o.mode = argc;
  if (argc == 3)
    return run(&o);
  if (argc == 4) {
    o.mode = 1;
    return run(&o); /* other */
  }
  return 0;
}
";
    // If it is not 3 it will not be either.
    let lines = ["argc == 3", "argc == 4", "other"].map(|mark| line_of(text, mark));
    assert_eq!(pruned_lines(text), lines);
}

#[test]
fn comparisons_of_one_variable_contradict_each_other() {
    let text = "\
int out;
int main(int argc, char **argv) {
  int n = argc * 7, m = argc * 3;
  if (n < 10) /* small */
    m = 5;
  else if (n > 20)
    m = 6;
  if (n >= 12 && m)
    if (n <= 18)
      out = 1; /* target */
  return 0;
}
";
    let lines = [line_of(text, "small"), line_of(text, "n > 20")];
    assert_eq!(pruned_lines(text), lines);
}

#[test]
fn what_may_have_changed_prunes_nothing() {
    // Each call leads to the target in some run.
    let text = "\
int out, mode; static int hidden;
int read_it(int *); void other(void);
void set(int x) { hidden = x; }
void poke(int *p) { *p = 3; }
int main(int argc, char **argv) {
  int local = 0, loop = 0;
  mode = 0;
  hidden = 0;
  read_it(&local);
  poke(&mode);
  set(argc);
  while (loop < argc)
    loop++;
  if (local == 3 && mode == 3 && hidden == 3 && loop == 3)
    out = 1; /* target */
  return 0;
}
";
    assert_eq!(pruned_lines(text), [] as [u32; 0]);
}

const CHOICE: &str = "\
int out;
void f(int x) {
  if (x == 999)
    out = 1; /* target */
}
int main(int argc, char **argv) {
  if (argc < 100)
    f(0);
  if (argc > 100)
    if (argc > 200)
      f(argc);
  return 0;
}
";

/// A run, as the lines whose blocks it executed.
struct Run<'a>(&'a Program, Vec<u32>);

impl Executed for Run<'_> {
    fn ran(&self, block: BlockId) -> bool {
        let mut places = self.0.block(block).places();
        places.any(|place| self.1.contains(&place.line))
    }

    fn went(&self, _: BlockId, to: BlockId) -> bool {
        self.ran(to)
    }
}

#[test]
fn the_better_seed_is_the_one_that_can_be_changed() {
    let program = program(CHOICE);
    let (pruned, graph, distances) = prune(&program, CHOICE);
    let main = program
        .function(function(&program, "main"))
        .entry()
        .unwrap();
    let distance = |lines: &[u32]| {
        let run = Run(&program, lines.to_vec());
        closest(&program, &graph, &distances, &pruned, &run, &[main]).map(|c: Closest| c.distance)
    };
    // 50 runs lines 7, 8, f's condition and 9; 150 runs 7, 9 and 10.
    assert_eq!(distance(&[7, 8, 3, 5, 9, 12, 13]), Some(3));
    assert_eq!(distance(&[7, 9, 10, 12, 13]), Some(2));
}
