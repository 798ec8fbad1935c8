//! Every dependence that is seen while programs run is in the static graph.
//!
//! Two references. Who wrote a byte that is read must be a direct dependence of the reader. And if one branch is made to go the
//! other way, or one stored value is another, everything that then runs or computes otherwise must be in the forward
//! slice of that branch or store.

mod common;
mod reference;

use std::collections::HashMap;

use common::module;
use parallax_analysis::dependence::{Dependences, Kind, Node};
use parallax_analysis::{Analysis, Spot};
use reference::{Disturbance, Machine, Observed};

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// What was compared, so that a test that compares nothing fails.
#[derive(Debug, Default)]
struct Compared {
    flows: usize,
    disturbed: usize,
    changed: usize,
}

struct Checker<'c> {
    analysis: &'c Analysis,
    dependences: Dependences,
    compared: Compared,
}

impl<'c> Checker<'c> {
    fn new(analysis: &'c Analysis) -> Checker<'c> {
        Checker {
            dependences: Dependences::new(analysis),
            analysis,
            compared: Compared::default(),
        }
    }

    fn node(&self, spot: Spot) -> Node {
        self.dependences.nodes.spot(&self.analysis.program, spot)
    }

    fn line(&self, spot: Spot) -> u32 {
        let places = &mut self.analysis.program.block(spot.block).places();
        places
            .nth(spot.number as usize)
            .map_or(0, |place| place.line)
    }

    fn check(&mut self, function: &str, dice: &mut Dice, inputs: u32, disturbances: u32) {
        for _ in 0..inputs {
            let arguments: Vec<u64> = (0..3).map(|_| dice.roll(12)).collect();
            let plain = Machine::run(&self.analysis.program, function, &arguments, None);
            self.flows(function, &plain);
            if !plain.ended {
                continue;
            }
            let mut places: Vec<(Spot, usize)> = plain
                .values
                .iter()
                .filter(|(spot, _)| self.can_be_disturbed(**spot))
                .map(|(spot, values)| (*spot, values.len()))
                .collect();
            places.sort_unstable();
            if places.is_empty() {
                continue;
            }
            for _ in 0..disturbances {
                let (spot, times) = places[dice.roll(places.len() as u64) as usize];
                let time = 1 + dice.roll(times as u64) as u32;
                let disturbance = Disturbance { spot, time };
                let other = Machine::run(
                    &self.analysis.program,
                    function,
                    &arguments,
                    Some(disturbance),
                );
                self.flows(function, &other);
                if other.ended {
                    self.differences(function, spot, &plain.values, &other.values);
                }
            }
        }
    }

    fn can_be_disturbed(&self, spot: Spot) -> bool {
        use parallax_analysis::program::{Operation, Terminator};
        let block = self.analysis.program.block(spot.block);
        match block.instructions.get(spot.number as usize) {
            None => matches!(block.terminator, Terminator::Branch { .. }),
            Some(instruction) => {
                matches!(instruction.operation, Operation::Store { width: 1..64, .. })
            }
        }
    }

    fn flows(&mut self, function: &str, observed: &Observed) {
        for (reader, writer) in &observed.flows {
            let to = self.node(*writer);
            let edges = self.dependences.on(self.node(*reader));
            let is_known = edges
                .iter()
                .any(|edge| edge.to == to && matches!(edge.kind, Kind::Memory | Kind::Across));
            assert!(
                is_known,
                "{function}: line {} ({reader:?}) reads what line {} ({writer:?}) wrote",
                self.line(*reader),
                self.line(*writer),
            );
            self.compared.flows += 1;
        }
    }

    fn differences(
        &mut self,
        function: &str,
        spot: Spot,
        plain: &HashMap<Spot, Vec<u64>>,
        other: &HashMap<Spot, Vec<u64>>,
    ) {
        let slice = self.dependences.forward(&[self.node(spot)]);
        self.compared.disturbed += 1;
        for at in plain.keys().chain(other.keys()) {
            if plain.get(at) == other.get(at) {
                continue;
            }
            self.compared.changed += 1;
            assert!(
                slice.has(self.node(*at)),
                "{function}: line {} ({at:?}) changes with line {} ({spot:?})",
                self.line(*at),
                self.line(spot),
            );
        }
    }
}

fn check(text: &str, functions: &[&str], inputs: u32, disturbances: u32) -> Compared {
    let analysis = Analysis::new(vec![module("text.c", text)], []);
    let mut checker = Checker::new(&analysis);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for function in functions {
        checker.check(function, &mut dice, inputs, disturbances);
    }
    checker.compared
}

const BY_HAND: &str = r#"
void *malloc(unsigned long); void free(void *);
unsigned long strlen(const char *); char *strcpy(char *, const char *); char *strcat(char *, const char *);
char *strchr(const char *, int); long strtol(const char *, char **, int); int atoi(const char *);
int *__errno_location(void);

struct pair { int a, b; };
struct list { struct list *next; int value; struct pair pair; };
static int total, table[8];
static struct pair global_pair;
static struct list *head;
static char buffer[32];

static void add(int *to, int n) { *to += n; }
static int pick(struct pair *p, int which) { return which ? p->a : p->b; }
static struct pair swap(struct pair p) { struct pair q = { p.b, p.a }; return q; }
static void push(int value) {
  struct list *one = malloc(sizeof *one);
  one->value = value;
  one->pair.a = value + 1;
  one->next = head;
  head = one;
}
static int sum_list(void) {
  int sum = 0;
  for (struct list *at = head; at; at = at->next)
    sum += at->value * 2 + at->pair.a;
  return sum;
}
static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
static void through(int **p, int n) { if (n > 3) **p = n; else *p = &total; }
static int twice(int x) { return 2 * x; }
static int negated(int x) { return -x; }
static int (*const operations[])(int) = { twice, negated };
static int counter(void) { static int count; return ++count; }

int pointers(int a, int b, int c) {
  int x = a, y = b, *p = c & 1 ? &x : &y, **q = &p;
  *p = 7;
  through(q, a);
  *p += b;
  add(&y, x);
  return x + y + total;
}
int arrays(int a, int b, int c) {
  int local[4] = { 1, 2, 3, 4 };
  local[a & 3] = b;
  local[2] += local[b & 3];
  table[c & 7] = local[1];
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += local[i] * table[i];
  return sum;
}
int fields(int a, int b, int c) {
  struct pair p = { a, b }, q;
  q = p;
  q.a = c;
  global_pair = swap(q);
  global_pair.b++;
  return pick(&global_pair, a > 3) + pick(&p, b > 3);
}
int heap(int a, int b, int c) {
  head = 0;
  push(a);
  if (b > 4) push(b);
  struct list *first = head;
  first->pair.b = c;
  head->value += first->pair.b;
  int result = sum_list();
  free(first);
  return result;
}
int calls(int a, int b, int c) {
  int n = factorial(a & 7);
  n += operations[b & 1](c);
  n += counter() + counter();
  return n;
}
int texts(int a, int b, int c) {
  char digits[8], *end;
  digits[0] = '0' + a % 10;
  digits[1] = b > 5 ? 'x' : '0' + c % 10;
  digits[2] = 0;
  strcpy(buffer, digits);
  strcat(buffer, a > 3 ? "-" : "7-");
  *__errno_location() = 0;
  int n = strtol(buffer, &end, 10);
  if (*__errno_location()) n = -1;
  if (*end == '-') n += strlen(end);
  char *dash = strchr(buffer, '-');
  if (dash) *dash = '1';
  return n + atoi(buffer);
}
int jumps(int a, int b, int c) {
  int n = 0, tries = 0;
again:
  switch (a + n) {
  case 0: n = b; break;
  case 1: case 2: n += 2; goto out;
  case 3: if (c) n = 5; /* falls through */
  case 4: n++; break;
  default: if (b > 6) return n; n = c;
  }
  if (tries++ < 3) goto again;
out:
  while (1) {
    if (n++ > 20) break;
    if (b && c > 5 || a == n) continue;
    n += a ? 2 : 3;
  }
  do { total += n; } while (n-- > 18);
  return total;
}
"#;

#[test]
fn what_programs_by_hand_do_is_in_the_graph() {
    let names = [
        "pointers", "arrays", "fields", "heap", "calls", "texts", "jumps",
    ];
    let compared = check(BY_HAND, &names, 40, 30);
    assert!(compared.flows > 50_000, "{compared:?}");
    assert!(compared.disturbed > 3_000, "{compared:?}");
    assert!(compared.changed > 10_000, "{compared:?}");
}

/// Writes functions of random statements over variables, arrays, structures and pointers.
struct Writer {
    dice: Dice,
    text: String,
    functions: u64,
    loops: u32,
}

impl Writer {
    fn place(&mut self) -> String {
        match self.dice.roll(12) {
            0 => "g0".into(),
            1 => "g1".into(),
            2 => format!("ga[{}]", self.index()),
            3 => "gs.a".into(),
            4 => "gs.b".into(),
            5 => "*p".into(),
            6 => format!("l[{}]", self.index()),
            7 => "s.a".into(),
            8 => "sp->b".into(),
            9 => "gp->a".into(),
            _ => format!("v{}", self.dice.roll(3)),
        }
    }

    fn index(&mut self) -> String {
        match self.dice.roll(2) {
            0 => self.dice.roll(4).to_string(),
            _ => format!("v{} & 3", self.dice.roll(3)),
        }
    }

    fn value(&mut self, depth: u32) -> String {
        if depth > 2 {
            return self.place();
        }
        match self.dice.roll(10) {
            0 => self.dice.roll(9).to_string(),
            1 | 2 => {
                let (a, b) = (self.value(depth + 1), self.value(depth + 1));
                let operator = ["+", "-", "^", "<", "==", "&&"][self.dice.roll(6) as usize];
                format!("({a} {operator} {b})")
            }
            3 => {
                let (a, b, c) = (
                    self.value(depth + 1),
                    self.value(depth + 1),
                    self.value(depth + 1),
                );
                format!("({a} ? {b} : {c})")
            }
            4 if self.functions > 0 => {
                let called = self.dice.roll(self.functions);
                let (a, b) = (self.value(depth + 1), self.place());
                format!("f{called}({a}, &{b}, 1)")
            }
            _ => self.place(),
        }
    }

    fn statement(&mut self, depth: u32) {
        let pad = "  ".repeat(depth as usize);
        match self.dice.roll(14) {
            0 | 1 if depth < 4 => {
                let condition = self.value(1);
                self.text.push_str(&format!("{pad}if ({condition}) {{\n"));
                self.statements(depth + 1);
                self.text.push_str(&format!("{pad}}} else {{\n"));
                self.statements(depth + 1);
                self.text.push_str(&format!("{pad}}}\n"));
            }
            2 if depth < 3 => {
                self.loops += 1;
                let (n, condition) = (self.loops, self.value(2));
                self.text.push_str(&format!(
                    "{pad}for (int i{n} = 0; i{n} < 3; i{n}++) {{\n{pad}  if ({condition}) {};\n",
                    ["break", "continue", "v0++"][self.dice.roll(3) as usize]
                ));
                self.statements(depth + 1);
                self.text.push_str(&format!("{pad}}}\n"));
            }
            3 => {
                let place = self.place();
                self.text.push_str(&format!("{pad}p = &{place};\n"));
            }
            4 => self.text.push_str(&format!(
                "{pad}{};\n",
                [
                    "s = gs", "gs = *sp", "sp = &gs", "gp = &s", "sp = gp", "gp = &gs"
                ][self.dice.roll(6) as usize]
            )),
            5 if depth > 1 => {
                let value = self.value(1);
                self.text.push_str(&format!("{pad}return {value};\n"));
            }
            _ => {
                let (place, value) = (self.place(), self.value(0));
                let operator = ["=", "=", "+=", "^="][self.dice.roll(4) as usize];
                self.text
                    .push_str(&format!("{pad}{place} {operator} {value};\n"));
            }
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.dice.roll(4) {
            self.statement(depth);
        }
    }
}

#[test]
fn what_random_programs_do_is_in_the_graph() {
    let mut compared = Compared::default();
    for seed in 1..=12 {
        let mut writer = Writer {
            dice: Dice(0xabcd_ef01 * seed),
            text: "struct pair { int a, b; };\nstatic int g0, g1 = 3, ga[4];\n\
                   static struct pair gs, *gp = &gs;\n"
                .into(),
            functions: 0,
            loops: 0,
        };
        for number in 0..6 {
            writer
                .text
                .push_str(&format!("int f{number}(int v0, int *p, int v1) {{\n"));
            writer
                .text
                .push_str("  int v2 = v0, l[4] = { 0 }; struct pair s = { v1, 2 }, *sp = &s;\n");
            for _ in 0..6 {
                writer.statement(1);
            }
            writer
                .text
                .push_str("  gp = &gs;\n  return v0 + v2 + l[1] + s.a + *p;\n}\n");
            writer.functions += 1;
        }
        writer.text.push_str(
            "int start(int a, int b, int c) { int x = a; g0 = b; return f5(c, &x, b) + f3(x, &g1, a); }\n",
        );
        let one = check(&writer.text, &["start"], 12, 12);
        compared.flows += one.flows;
        compared.disturbed += one.disturbed;
        compared.changed += one.changed;
    }
    assert!(compared.flows > 20_000, "{compared:?}");
    assert!(compared.disturbed > 800, "{compared:?}");
    assert!(compared.changed > 10_000, "{compared:?}");
}
