//! What statements depend on: control, and data through every kind of memory; and slices.

mod common;

use std::collections::BTreeSet;

use common::{line_of, module};
use parallax_analysis::dependence::{Dependences, Node};
use parallax_analysis::{Analysis, BlockId};

fn analysed(text: &str) -> (Analysis, Dependences) {
    let analysis = Analysis::new(vec![module("text.c", text)], []);
    let dependences = Dependences::new(&analysis);
    (analysis, dependences)
}

/// All statements with what they depend on directly: lines, with `!` for control.
fn direct(text: &str) -> String {
    let (_, dependences) = analysed(text);
    let mut shown = String::new();
    for id in dependences.statements.ids() {
        let mut on: BTreeSet<(u32, bool)> = BTreeSet::new();
        for (other, is_control) in dependences.statement_on(id) {
            on.insert((dependences.statements.get(other).line, is_control));
        }
        let words: Vec<String> = on
            .into_iter()
            .map(|(line, control)| format!("{line}{}", if control { "!" } else { "" }))
            .collect();
        let line = dependences.statements.get(id).line;
        shown.push_str(format!("{line}: {}", words.join(" ")).trim_end());
        shown.push('\n');
    }
    shown
}

/// Lines of a slice from a marked line.
fn slice(text: &str, mark: &str, is_forward: bool) -> BTreeSet<u32> {
    let (_, dependences) = analysed(text);
    let line = line_of(text, mark);
    let statements = &dependences.statements;
    let nodes: Vec<Node> = statements
        .ids()
        .filter(|id| statements.get(*id).line == line)
        .flat_map(|id| statements.get(id).nodes.clone())
        .collect();
    let slice = match is_forward {
        true => dependences.forward(&nodes),
        false => dependences.backward(&nodes),
    };
    let ids = slice.nodes().filter_map(|node| statements.of(node));
    ids.map(|id| statements.get(id).line).collect()
}

/// Lines that have any of the marks.
fn lines(text: &str, marks: &[&str]) -> BTreeSet<u32> {
    let numbered = (1..).zip(text.lines());
    let marked = numbered.filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)));
    marked.map(|(number, _)| number).collect()
}

#[test]
fn branches_control_their_sides_and_loops_themselves() {
    let text = "\
int f(int a, int b) {
  int n = 0;
  if (a)
    n = 1;
  else
    n = 2;
  while (b > 0)
    b--;
  return n;
}
";
    let expected = "\
2:
3:
4: 3!
6: 3!
7: 7! 8
8: 7! 8
9: 4 6
";
    assert_eq!(direct(text), expected);
}

#[test]
fn endless_loops_and_ends_of_the_program_have_control_dependences() {
    let text = "\
void abort(void) __attribute__((noreturn)); int next(void); int out;
void f(int a) {
  for (;;) {
    int c = next();
    if (c)
      out = a;
  }
}
int g(int a) {
  if (a < 0)
    abort();
  out = a;
  return 1;
}
";
    let expected = "\
1:
3:
4:
5: 4
6: 5!
10:
11: 10!
12: 10!
13: 10!
";
    assert_eq!(direct(text), expected);
}

#[test]
fn a_pointer_carries_data_between_the_variables_that_it_may_point_to() {
    let text = "\
int f(int a, int c) {
  int x = 1, y = 2, z = 3;
  int *p = c ? &x : &y;
  *p = a;
  z = x;
  return z + y;
}
";
    let expected = "\
2:
3: 3!
4: 3
5: 2 4
6: 2 4 5
";
    assert_eq!(direct(text), expected);
}

#[test]
fn elements_are_told_apart_by_constant_index_only() {
    let text = "\
int f(int i) {
  int t[4];
  t[0] = 1;
  t[1] = 2;
  int a = t[1];
  t[i] = 3;
  int b = t[1];
  return a + b;
}
";
    let expected = "\
3:
4:
5: 4
6:
7: 4 6
8: 5 7
";
    assert_eq!(direct(text), expected);
}

#[test]
fn fields_are_told_apart_also_behind_pointers_and_in_memory_that_was_made() {
    let text = "\
struct s { int a, b; }; void *malloc(unsigned long);
int f(struct s *p) { return p->b; }
int g(int n) {
  struct s local;
  local.a = 1;
  local.b = n;
  struct s copy = local;
  copy.a = 3;
  return f(&copy);
}
int h(int n) {
  struct s *made = malloc(sizeof *made);
  made->a = n;
  made->b = 4;
  return made->b;
}
";
    let expected = "\
2: 7 9 9!
5:
6:
7: 5 6
8:
9: 2
12:
13: 12
14: 12
15: 12 14
";
    assert_eq!(direct(text), expected);
}

#[test]
fn a_global_is_what_the_last_function_wrote_that_could_have_run() {
    let text = "\
static int flag = 5, other;
static void set(int v) { flag = v; }
static void reset(void) { flag = 0; other = 1; }
int f(int n) {
  set(n);
  int a = flag;
  flag = 7;
  int b = flag;
  reset();
  return a + b + flag;
}
";
    let (_, dependences) = analysed(text);
    let statements = &dependences.statements;
    let on = |line: u32| -> BTreeSet<u32> {
        let ids = statements
            .ids()
            .filter(|id| statements.get(*id).line == line);
        let found = ids.flat_map(|id| dependences.statement_on(id));
        let data = found.filter(|(_, control)| !control);
        data.map(|(other, _)| statements.get(other).line).collect()
    };
    // That a call overwrites something for certain is not asked.
    assert_eq!(on(6), [1, 2, 3, 7].into());
    assert_eq!(on(8), [7].into(), "it was overwritten here");
    assert_eq!(
        on(10),
        [3, 6, 7, 8].into(),
        "as it was before the last call, or after it"
    );
}

#[test]
fn a_slice_does_not_come_out_at_another_call_than_it_went_in() {
    let text = "\
static int same(int x) { return x; }
static int first(int x, int y) { return x; }
int f(int a, int b) {
  int p = same(a + 1);  /* one */
  int q = same(b + 2);  /* two */
  int r = first(p, q);  /* three */
  return r;             /* end */
}
";
    let forward = slice(text, "/* one */", true);
    assert!(forward.is_superset(&lines(text, &["/* one */", "/* three */", "/* end */"])));
    assert!(!forward.contains(&line_of(text, "/* two */")));
    let backward = slice(text, "/* end */", false);
    assert!(backward.contains(&line_of(text, "/* one */")));
    let from_second = slice(text, "/* two */", true);
    assert!(!from_second.contains(&line_of(text, "/* end */")));
}

#[test]
fn slices_go_through_memory_libraries_and_returns() {
    let text = "\
unsigned long strlen(const char *); int snprintf(char *, unsigned long, const char *, ...); int puts(const char *);
static char name[20];           /* other */
static int unrelated;           /* other */
static void fill(int n) {
  snprintf(name, 20, \"%d\", n);  /* part */
}
int main(int argc, char **argv) {
  int n = argc * 2;             /* begin */
  int m = argc * 3;             /* other */
  fill(n);                      /* part */
  unrelated = m;                /* other */
  int length = strlen(name);    /* part */
  if (length > 1)               /* part */
    puts(name);                 /* part */
  return 0;                     /* other */
}
";
    let expected = lines(text, &["/* begin */", "/* part */"]);
    assert_eq!(slice(text, "/* begin */", true), expected);
}

#[test]
fn many_slices_at_once_are_the_same_as_one_after_the_other() {
    let text = "\
struct s { int a, b; } all; int count; int put(int);
static int get(struct s *p, int n) { return n ? p->a : p->b; }
static void add(int *to, int n) { *to += n; count++; }
int main(int argc, char **argv) {
  int x = argc;
  all.a = x + 1;
  add(&all.b, argc);
  for (int i = 0; i < argc; i++) {
    x = get(&all, i);
    add(&x, count);
  }
  put(x);
  return get(&all, 1);
}
";
    let (_, dependences) = analysed(text);
    let statements = &dependences.statements;
    let sets: Vec<Vec<Node>> = statements
        .ids()
        .map(|id| statements.get(id).nodes.clone())
        .collect();
    let influences = dependences.influences(&sets);
    for (number, set) in sets.iter().enumerate() {
        let slice = dependences.forward(set);
        for node in dependences.nodes.all() {
            // A node is in its own slice without depending on itself.
            if !set.contains(&node) {
                let found = influences.of(node).contains(&number);
                assert_eq!(found, slice.has(node), "{number} {node:?}");
            }
        }
    }
}

/// The running example of the paper on change sequences (its figure 5, the changed version), written anew; a comment gives the
/// paper's line.
const FIGURE_5: &str = include_str!("../../../tests/interact/figure5/new.c");

#[test]
fn the_graph_of_figure_6() {
    insta::assert_snapshot!(direct(FIGURE_5));
}

/// Which line can come after each line of a function.
fn flow(text: &str, name: &str) -> String {
    let (analysis, _) = analysed(text);
    let program = &analysis.program;
    let function = program.function(program.function_named(name).unwrap());
    let lines = |block: BlockId| {
        let block = program.block(block);
        // A jump over an `else` has the line of the `else`, which it does not execute.
        let count = match block.successors.len() {
            1 => block.instructions.len(),
            _ => block.instructions.len() + 1,
        };
        let mut lines: Vec<u32> = block
            .places()
            .take(count)
            .map(|place| place.line)
            .filter(|line| *line > 0)
            .collect();
        lines.dedup();
        lines
    };
    let mut edges: BTreeSet<(u32, u32)> = BTreeSet::new();
    for block in function.block_ids() {
        let here = lines(block);
        edges.extend(here.windows(2).map(|pair| (pair[0], pair[1])));
        let Some(last) = here.last() else {
            continue;
        };
        // Blocks without lines are gone through.
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut work = program.block(block).successors.clone();
        while let Some(next) = work.pop() {
            match lines(next).first() {
                Some(first) if first != last => {
                    edges.insert((*last, *first));
                }
                Some(_) => {}
                None if seen.insert(next) => work.extend(&program.block(next).successors),
                None => {}
            }
        }
    }
    let from: BTreeSet<u32> = edges.iter().map(|(from, _)| *from).collect();
    let mut shown = String::new();
    for from in from {
        let to = edges.iter().filter(|edge| edge.0 == from);
        let to: Vec<String> = to.map(|(_, to)| to.to_string()).collect();
        shown.push_str(&format!("{from}: {}\n", to.join(" ")));
    }
    shown
}

#[test]
fn the_control_flow_of_figure_6() {
    insta::assert_snapshot!(flow(FIGURE_5, "main"));
}
