//! Which statements define what a branch reads, through every kind of variable.

mod common;

use common::{branch_at, line_of, module};
use parallax_abi::SiteId;
use parallax_analysis::definitions::Definitions;
use parallax_analysis::distance::OverCalls;
use parallax_analysis::{Analysis, Side};

/// Line, constant and whether it fits, for all definitions of what the true side of the branch in the marked line reads;
/// the line is 0 for initial values.
fn defined(text: &str) -> Vec<(u32, Option<i64>, Option<bool>)> {
    let analysis = Analysis::new(vec![module("text.c", text)], []);
    let effects = analysis.effects();
    let program = &analysis.program;
    let definitions = Definitions::new(program, &analysis.calls, &analysis.points, &effects);
    let block = branch_at(program, line_of(text, "/* branch */"));
    let side = program.block(block).successors[0];
    let needs = definitions.needs(block, side);
    let mut found: Vec<(u32, Option<i64>, Option<bool>)> = needs
        .iter()
        .flat_map(|need| &need.definitions)
        .map(|definition| {
            let line = definition.spot.map_or(0, |spot| {
                let places = &mut program.block(spot.block).places();
                places.nth(spot.number as usize).expect("a place").line
            });
            let constant = definition.alternative.value.constant();
            (line, constant, definition.fits)
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn a_structure_field_is_defined_wherever_a_pointer_to_it_is_written_through() {
    let text = "\
struct options { int width, mode; };
static struct options all;
void set(struct options *o, int n) { o->mode = n; } /* by parameter */
void wide(struct options *o) { o->width = 7; }
void fix(struct options *o) { o->mode = 4; } /* by constant */
int main(int argc, char **argv) {
  wide(&all); set(&all, argc); fix(&all);
  if (all.mode == 4) /* branch */
    return 1;
  return 0;
}
";
    let expected = [
        (0, Some(0), Some(false)),
        (line_of(text, "by parameter"), None, None),
        (line_of(text, "by constant"), Some(4), Some(true)),
    ];
    assert_eq!(defined(text), expected);
}

#[test]
fn elements_of_an_array_are_defined_by_writes_to_any_element() {
    let text = "\
static int table[10], other[10];
int main(int argc, char **argv) {
  table[3] = 5; /* constant */
  table[argc] = 6; /* variable */
  other[3] = 7;
  if (table[argc + 1] > 5) /* branch */
    return 1;
  return 0;
}
";
    let found = defined(text);
    let stored: Vec<(u32, Option<i64>)> = found
        .iter()
        .map(|(line, constant, _)| (*line, *constant))
        .collect();
    assert!(stored.contains(&(line_of(text, "/* constant */"), Some(5))));
    assert!(stored.contains(&(line_of(text, "/* variable */"), Some(6))));
    assert!(!stored.iter().any(|(_, constant)| *constant == Some(7)));
}

#[test]
fn only_stores_that_reach_the_branch_define_a_local() {
    let text = "\
int main(int argc, char **argv) {
  int n = 1; /* overwritten */
  n = 2; /* reaches */
  if (argc > 1)
    n = 3; /* reaches, too */
  if (n == 3) /* branch */
    return 1;
  n = 4; /* later */
  return n;
}
";
    let expected = [
        (line_of(text, "/* reaches */"), Some(2), Some(false)),
        (line_of(text, "/* reaches, too */"), Some(3), Some(true)),
    ];
    assert_eq!(defined(text), expected);
}

#[test]
fn results_and_parameters_lead_on() {
    let text = "\
static int pick(int n) {
  return n > 3 ? 8 : 9; /* returns */
}
int main(int argc, char **argv) {
  if (pick(argc) == 8) /* branch */
    return 1;
  return 0;
}
";
    let line = line_of(text, "/* returns */");
    let expected = [(line, Some(8), Some(true)), (line, Some(9), Some(false))];
    assert_eq!(defined(text), expected);
}

#[test]
fn distances_are_found_by_the_sites_of_a_trace() {
    let text = "\
int out;
static void inner(int x) {
  if (x > 3) /* branch */
    x++;
}
int main(int argc, char **argv) {
  inner(argc); /* call */
  if (argc == 9) /* last */
    out = 1; /* target */
  return 0;
}
";
    let analysis = Analysis::new(vec![module("text.c", text)], []);
    let program = &analysis.program;
    let targets = analysis.lines.blocks(
        analysis.lines.files_named("text.c")[0],
        line_of(text, "target"),
    );
    let towards = analysis.towards(targets, &analysis.effects(), OverCalls::Shortest);
    let site_of_branch = |mark: &str| {
        let block = branch_at(program, line_of(text, mark));
        SiteId(program.block(block).end.site)
    };
    let call = analysis.calls.all()[0].spot;
    let place = program.block(call.block).instructions[call.number as usize].place;
    let (inner, last) = (site_of_branch("/* branch */"), site_of_branch("/* last */"));
    let behind =
        |site, side, stack: &[SiteId]| towards.behind(&analysis, site, Side::Branch(side), stack);
    assert_eq!(behind(last, true, &[]), Some(0));
    assert_eq!(behind(last, false, &[]), None);
    assert_eq!(behind(inner, true, &[]), None);
    assert_eq!(behind(inner, true, &[SiteId(place.site)]), Some(1));
}

#[test]
fn what_was_observed_is_believed() {
    let text = "\
int (*hook)(int); void *mystery(void);
int f(int x) { return x; }
int main(int argc, char **argv) {
  int (*p)(int, int) = mystery();
  return p(argc, 1); /* call */
}
";
    let code = module("text.c", text);
    let plain = Analysis::new(vec![code.clone()], []);
    assert!(plain.calls.all().is_empty());
    let spot = plain.calls.unresolved()[0];
    let block = plain.program.block(spot.block);
    let site = SiteId(block.instructions[spot.number as usize].place.site);
    let seen = Analysis::new(vec![code], [(site, "f".to_owned())]);
    let callee = seen.calls.all()[0].callees[0];
    assert_eq!(seen.program.function(callee).name, "f");
}
