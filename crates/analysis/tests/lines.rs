//! Which lines of a program have code, and why the others have none.

mod common;

use common::module;
use parallax_analysis::Program;
use parallax_analysis::lines::{Lines, SourceText, Status, Texts, normalise};

const TEXT: &str = "\
#include \"shared.h\"
/* A comment,
   of two lines. */
#define TWICE(x) \\
  ((x) + \\
   (x))
#define QUADRUPLE(x) TWICE (TWICE (x))
#define UNUSED 3

struct pair
{
  int a;
};
static int counter = 0;
int f (int x);

#ifdef NEVER
static int
g (int x)
{
  return x;
}
#endif

static int
unused (int x)
{
  return x + 1;
}

int
f (int x)
{
  int y;
  int z = 2;
#ifdef NEVER
  y = 7;
  x = y;
#else
  y = x;
#endif
  if (x > 1
      && y < QUADRUPLE (x))
    counter++;
  else
    y = small (x,

               z);
again:
  return y;
}
";

const HEADER: &str = "\
static inline int
small (int a, int b)
{
  return a - b;
}
";

/// One word for each line.
fn describe(status: &Status) -> String {
    match status {
        Status::Code(_) => "code".to_owned(),
        Status::PartOf(line, _) => format!("part of line {line}"),
        Status::Macro { name, uses } => {
            let lines: Vec<String> = uses.iter().map(|(_, line)| line.to_string()).collect();
            format!("macro {name}, used in {}", lines.join(", "))
        }
        Status::NoCode(why) => why.text().to_owned(),
    }
}

#[test]
fn every_line_is_code_or_says_why_not() {
    let inlined = TEXT.replace("#include \"shared.h\"", "# 1 \"shared.h\" 1");
    let text = inlined.replacen(
        "# 1 \"shared.h\" 1",
        &format!("# 1 \"shared.h\" 1\n{HEADER}# 2 \"text.c\" 2"),
        1,
    );
    let program = Program::link(vec![module("text.c", &text)]);
    let lines = Lines::new(&program);
    let file = lines.files_named("text.c");
    let [file] = file[..] else {
        panic!("one file: {file:?}");
    };
    let mut texts = Texts::new();
    texts.insert(file.to_owned(), SourceText::new(TEXT));
    let mut golden = String::new();
    for (number, line) in (1..).zip(TEXT.lines()) {
        let status = describe(&lines.status(file, number, &texts));
        golden.push_str(&format!("{number:>3}  {status:<34} {line}\n"));
    }
    insta::assert_snapshot!(golden);
}

#[test]
fn a_function_in_a_header_has_blocks_in_every_module_that_uses_it() {
    let user = |name: &str| {
        format!(
            "# 1 \"lib/shared.h\"\n{HEADER}# 2 \"{name}.c\"\nint {name} (int x) {{ return small (x, 1); }}\n"
        )
    };
    let program = Program::link(vec![
        module("one.c", &user("one")),
        module("two.c", &user("two")),
    ]);
    let lines = Lines::new(&program);
    let named = lines.files_named("shared.h");
    let blocks: usize = named.iter().map(|file| lines.blocks(file, 4).len()).sum();
    assert_eq!(blocks, 2);
    assert_eq!(lines.files_named("b/shared.h"), Vec::<&str>::new());
    assert!(named.iter().all(|file| normalise(file) == *file));
}
