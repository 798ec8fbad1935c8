//! `targets` as users see it: changed lines with code, what scenarios cover of them, and why the rest has none.

mod support;

use serde_json::Value;
use support::schema::Schema;
use support::{Folder, assert_contains, git};

const OLD: &str = "\
#include <stdio.h>
#include \"limit.h\"
int main(int argc, char **argv)
{
  if (argc > 3)
    puts(\"many\");
  return 0;
}
";

const NEW: &str = "\
#include <stdio.h>
#include \"limit.h\"
/* Counts. */
int main(int argc, char **argv)
{
  if (argc > 3)
    {
      puts(\"many\");
      puts(\"really\");
    }
  else if (argc > LIMIT)
    puts(\"two\");
#ifdef NEVER
  puts(\"never\");
#endif
  return 0;
}
";

/// A project whose last commit changes a source and a macro in a header.
fn project() -> Folder {
    let folder = Folder::new();
    folder.file(
        "Makefile",
        "CC = gcc\nprog: prog.c limit.h\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\t./prog\n",
    );
    folder.file(".gitignore", "prog\n.parallax/\n");
    folder.file("prog.c", OLD);
    folder.file("limit.h", "#define LIMIT 5\n");
    folder.expect(0, &["init"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("prog.c", NEW);
    folder.file("limit.h", "#define LIMIT 1\n");
    git(folder.path(), &["commit", "-q", "-a", "-m", "new"]);
    folder
}

/// File, lines and status of each target.
fn shown(document: &Value) -> Vec<(String, Vec<u64>, String)> {
    let targets = document["targets"].as_array().unwrap().iter();
    targets
        .map(|target| {
            let lines = target["lines"].as_array().unwrap().iter();
            (
                target["file"].as_str().unwrap().to_owned(),
                lines.map(|line| line.as_u64().unwrap()).collect(),
                target["status"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

fn expected(list: &[(&str, &[u64], &str)]) -> Vec<(String, Vec<u64>, String)> {
    let owned = |(file, lines, status): &(&str, &[u64], &str)| {
        ((*file).to_owned(), lines.to_vec(), (*status).to_owned())
    };
    list.iter().map(owned).collect()
}

#[test]
fn a_patch_has_targets_and_recorded_scenarios_cover_some_of_them() {
    let folder = project();
    let ask = || -> Value {
        let (said, _) = folder.expect(0, &["targets", "HEAD~1..HEAD", "--json"]);
        serde_json::from_str(&said).unwrap()
    };
    let document = ask();
    Schema::of_the_tool(&folder).assert_valid(&document);
    let lines: [&[u64]; 4] = [&[1], &[8, 9, 10], &[11], &[12]];
    let all_missed = expected(&[
        ("limit.h", lines[0], "missed"),
        ("prog.c", lines[1], "missed"),
        ("prog.c", lines[2], "missed"),
        ("prog.c", lines[3], "missed"),
    ]);
    assert_eq!(shown(&document), all_missed);
    let skipped: Vec<(u64, &str)> = document["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            (
                line["line"].as_u64().unwrap(),
                line["why"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        skipped,
        [
            (3, "comment"),
            (7, "declaration"),
            (13, "directive"),
            (14, "not compiled here"),
            (15, "directive"),
        ]
    );

    folder.expect(0, &["cc", "--", "-g", "-o", "prog", "prog.c"]);
    folder.expect(0, &["scenario", "add", "--", "./prog", "x"]);
    let now = expected(&[
        ("limit.h", lines[0], "suite"),
        ("prog.c", lines[1], "missed"),
        ("prog.c", lines[2], "suite"),
        ("prog.c", lines[3], "suite"),
    ]);
    assert_eq!(shown(&ask()), now);
    let (said, _) = folder.expect(0, &["targets", "HEAD~1..HEAD"]);
    assert_contains(
        &said,
        &[
            "prog.c:8-10",
            "main",
            "4 targets: 3 covered by 1 scenario, 1 missed",
        ],
    );
    let (said, _) = folder.expect(0, &["targets", "--uncovered"]);
    assert_contains(&said, &["prog.c:8-10"]);
}

#[test]
fn lines_of_one_program_need_no_project() {
    let folder = Folder::new();
    let program = folder.build(
        "alone",
        "int main(int c, char **v)\n{\n  return c > 2;\n}\n",
    );
    let ask = |at: &str| {
        folder
            .expect(0, &["targets", "--program", &program, "--at", at, "--all"])
            .0
    };
    assert_contains(&ask("alone.c:3"), &["alone.c:3", "main", "1 target"]);
    assert_contains(&ask("alone.c:2"), &["0 targets", "1 declaration"]);
    let (_, said) = folder.expect(2, &["targets", "--program", &program]);
    assert_contains(&said, &["--at FILE:LINE"]);
}

#[test]
fn functions_of_the_same_name_in_files_of_the_same_name_are_told_apart() {
    let folder = Folder::new();
    let part = |name: &str| {
        format!(
            "#include <stdio.h>\nstatic int helper (int n)\n{{\n  if (n > 3)\n    puts (\"many\");\n  return n;\n}}\n\
             int {name} (int n)\n{{\n  return helper (n);\n}}\n"
        )
    };
    for name in ["one", "two"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        folder.file(&format!("{name}/util.c"), &part(name));
    }
    folder.file(
        "main.c",
        "int one (int), two (int);\nint main (int argc, char **argv)\n{\n  return argc > 9 ? two (argc) : one (argc) > 99;\n}\n",
    );
    let build = [
        "cc",
        "--",
        "-g",
        "-o",
        "prog",
        "main.c",
        "one/util.c",
        "two/util.c",
    ];
    folder.expect(0, &build);
    folder.expect(0, &["scenario", "add", "--", "./prog", "a", "b", "c", "d"]);
    folder.expect(0, &["scenarios", "--coverage"]);
    let ask = |at: &str| {
        folder
            .expect(0, &["targets", "--program", "./prog", "--at", at, "--all"])
            .0
    };
    assert_contains(&ask("one/util.c:5"), &["covered  one/util.c:5"]);
    assert_contains(&ask("two/util.c:5"), &["missed   two/util.c:5"]);
}
