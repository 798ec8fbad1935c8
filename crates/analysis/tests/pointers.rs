//! Calls through pointers lead where the program's tables, fields and arguments say.

mod common;

use std::collections::BTreeSet;

use common::{line_of, module, program};
use parallax_analysis::calls::Calls;
use parallax_analysis::pointsto::{PointsTo, Structures};
use parallax_analysis::program::{Callee, Operation};
use parallax_analysis::{Program, Spot};

/// Names of the functions that the call in a line can enter.
fn callees(program: &Program, points: &PointsTo, line: u32) -> BTreeSet<String> {
    let calls = Calls::new(program, points.resolution());
    let of_line = calls.all().iter().filter(|call| {
        let block = program.block(call.spot.block);
        block.instructions[call.spot.number as usize].place.line == line
    });
    of_line
        .flat_map(|call| call.callees.iter())
        .map(|callee| program.function(*callee).name.clone())
        .collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_call_through_a_table_enters_the_functions_of_its_field() {
    let text = "\
int a1(int x) { return x; } int b1(int x) { return x; } int c1(int x) { return x; }
int a2(int x) { return x; } int b2(int x) { return x; }
struct command { const char *name; int (*run)(int); int (*help)(int); };
static struct command table[] = { {\"a\", a1, a2}, {\"b\", b1, b2} };
int (*other)(int) = c1;
int main(int argc, char **argv) {
  int i = argc & 1;
  int r = table[i].run(argc); /* run */
  struct command *found = &table[i];
  r += found->help(r); /* help */
  return r + other(r); /* other */
}
";
    let program = program(text);
    for structures in [Structures::ByObject, Structures::ByType] {
        let points = PointsTo::analyse_with(&program, structures);
        let at = |mark| callees(&program, &points, line_of(text, mark));
        assert_eq!(at("/* run */"), names(&["a1", "b1"]));
        assert_eq!(at("/* help */"), names(&["a2", "b2"]));
        assert_eq!(at("/* other */"), names(&["c1"]));
        assert_eq!(points.by_type_alone, 0);
    }
}

#[test]
fn fields_of_heap_objects_are_told_apart_and_survive_copies() {
    let text = "\
void *malloc(unsigned long); void *memcpy(void *, const void *, unsigned long);
struct ops { void (*open)(void); void (*close)(void); };
struct file { long id; struct ops ops; };
void o(void) {} void c(void) {} void unrelated(void) {}
void (*keep)(void) = unrelated;
static void *xmalloc(unsigned long n) { void *p = malloc(n); return p; }
struct ops *make(void) { struct ops *s = xmalloc(sizeof *s); s->open = o; s->close = c; return s; }
int main(int argc, char **argv) {
  struct file *f = xmalloc(sizeof *f);
  struct file g;
  f->ops = *make();
  memcpy(&g, f, sizeof g);
  f->ops.open(); /* opens */
  g.ops.close(); /* closes */
  return 0;
}
";
    let program = program(text);
    for structures in [Structures::ByObject, Structures::ByType] {
        let points = PointsTo::analyse_with(&program, structures);
        let at = |mark| callees(&program, &points, line_of(text, mark));
        assert_eq!(at("/* opens */"), names(&["o"]));
        assert_eq!(at("/* closes */"), names(&["c"]));
    }
}

#[test]
fn a_function_outside_calls_back_what_it_is_given() {
    let text = "\
void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
int atexit(void (*)(void)); void outside(void (*)(int), int);
typedef int (*method)(void);
struct item { long key; method get; };
int one(void) { return 1; } int two(void) { return 2; }
static struct item items[] = {{1, one}, {2, two}};
int compare(const void *a, const void *b) {
  return ((const struct item *)a)->get() - ((const struct item *)b)->get(); /* gets */
}
void bye(void) {} void handler(int x) {}
int main(void) {
  qsort(items, 2, sizeof *items, compare); /* sorts */
  atexit(bye); /* registers */
  outside(handler, 1); /* unknown */
  return 0;
}
";
    let program = program(text);
    for structures in [Structures::ByObject, Structures::ByType] {
        let points = PointsTo::analyse_with(&program, structures);
        let at = |mark| callees(&program, &points, line_of(text, mark));
        assert_eq!(at("/* sorts */"), names(&["compare"]));
        assert_eq!(at("/* registers */"), names(&["bye"]));
        assert_eq!(at("/* unknown */"), names(&["handler"]));
        assert_eq!(at("/* gets */"), names(&["one", "two"]));
    }
}

#[test]
fn a_pointer_from_nowhere_may_be_any_function_of_its_type() {
    let text = "\
typedef int (*binary)(int, int);
binary dlsym(void *, const char *);
int sum(int a, int b) { return a + b; } int neg(int a) { return -a; } int never(int a, int b) { return 0; }
binary known[] = { sum }; int (*unary)(int) = neg;
struct lost { int tag; binary f; } *lost;
int main(int argc, char **argv) {
  return lost->f(argc, 2); /* lost */
}
";
    let program = program(text);
    let points = PointsTo::analyse(&program);
    let line = line_of(text, "/* lost */");
    assert_eq!(callees(&program, &points, line), names(&["sum"]));
    assert_eq!(points.by_type_alone, 1);
}

#[test]
fn modules_share_what_they_name_and_not_what_is_static() {
    let one = "\
void (*hook)(void); static void secret(void) {} void shared(void) {}
void install(int x) { hook = x ? secret : shared; }
";
    let two = "\
extern void (*hook)(void); void install(int); static void secret(void) {}
int main(int argc, char **argv) { install(argc); hook(); /* hooked */ return secret == 0; }
";
    let program = Program::link(vec![module("one.c", one), module("two.c", two)]);
    let points = PointsTo::analyse(&program);
    let calls = Calls::new(&program, points.resolution());
    let is_indirect = |spot: &Spot| {
        let operation = &program.block(spot.block).instructions[spot.number as usize].operation;
        matches!(
            operation,
            Operation::Call {
                callee: Callee::Pointer(_),
                ..
            }
        )
    };
    let call = calls.all().iter().find(|call| is_indirect(&call.spot));
    let call = call.expect("the call of the hook");
    let found: Vec<(&str, bool)> = call
        .callees
        .iter()
        .map(|callee| program.function(*callee))
        .map(|function| {
            let file = &program.files[function.file as usize];
            (function.name.as_str(), file.ends_with("one.c"))
        })
        .collect();
    assert_eq!(found, [("shared", true), ("secret", true)]);
}

#[test]
fn tables_whose_type_got_lost_in_an_initialiser_are_followed() {
    // With a union in it, the initialiser has another type than the variable.
    let text = "\
typedef int (*method)(int);
struct entry { union { long number; char letters[8]; } key; method call; };
int f(int x) { return x; } int g(int x) { return x + 1; } int h(int x) { return 0; }
static const struct entry table[] = { {{.letters = \"f\"}, f}, {{.number = 7}, g} };
struct holder { const struct entry *entry; method other; } holder = { &table[1], h };
int main(int argc, char **argv) {
  struct holder *p = &holder;
  return p->entry->call(argc); /* calls */
}
";
    let program = program(text);
    for structures in [Structures::ByObject, Structures::ByType] {
        let points = PointsTo::analyse_with(&program, structures);
        let line = line_of(text, "/* calls */");
        assert_eq!(callees(&program, &points, line), names(&["f", "g"]));
        assert_eq!(points.by_type_alone, 0);
    }
}
