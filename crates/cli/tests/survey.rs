//! Before `cover` searches for single lines of a patch it changes one thing of every recorded scenario.

mod support;

use serde_json::Value;
use support::{Folder, assert_contains, git};

const MAKEFILE: &str = "\
CC = gcc
prog: prog.c
\t$(CC) -g -o prog prog.c
check: prog
\techo 1 >one; echo 2 >two; ./prog one two >/dev/null
";

const OLD: &str = r#"#include <stdio.h>
int main(int argc, char **argv)
{
  printf ("%d\n", argc);
  return 0;
}
"#;

/// Line 17 needs two directories with an entry of the same name: no branch depends on a byte of input there.
const NEW: &str = r#"#include <dirent.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  printf ("%d\n", argc);
  if (argc < 3)
    return 1;
  DIR *first = opendir (argv[1]);
  struct dirent *entry;
  while (first && (entry = readdir (first)))
    {
      char name[1000];
      snprintf (name, sizeof name, "%s/%s", argv[2], entry->d_name);
      if (entry->d_name[0] != '.' && access (name, R_OK) == 0)
        puts
          ("both");
    }
  return 0;
}
"#;

fn project() -> Folder {
    let folder = Folder::new();
    folder.file("Makefile", MAKEFILE);
    folder.file(".gitignore", "prog\n.parallax/\none\ntwo\n");
    folder.file("prog.c", OLD);
    folder.expect(0, &["init"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("prog.c", NEW);
    git(folder.path(), &["commit", "-q", "-a", "-m", "new"]);
    folder.expect(0, &["record", "--", "make", "check"]);
    folder
}

fn covered(folder: &Folder, more: &[&str]) -> (Option<Value>, String) {
    let mut ask = vec![
        "cover",
        "HEAD~1..HEAD",
        "--runs",
        "300",
        "--again",
        "--json",
    ];
    ask.extend(more);
    let (said, notes) = folder.expect(0, &ask);
    let document: Value = serde_json::from_str(&said).unwrap();
    let targets = document["targets"].as_array().unwrap();
    let is_it = |target: &&Value| [16, 17].map(Value::from).contains(&target["line"]);
    let target = targets.iter().find(is_it).expect("the line is a target");
    let is_covered = target["status"] == "covered";
    (is_covered.then(|| target.clone()), notes)
}

#[test]
fn what_one_change_reaches_is_found_without_a_search_and_kept_with_its_history() {
    let folder = project();
    let (target, _) = covered(&folder, &["--without", "survey"]);
    assert!(target.is_none(), "{target:?}");
    let (target, notes) = covered(&folder, &[]);
    let target = target.expect(&notes);
    assert_eq!(target["steps"].as_array().unwrap().len(), 1, "{target}");
    assert!(target["seed"].is_string(), "{target}");
    assert_contains(&notes, &["with one change reached"]);
    let (said, _) = folder.expect(0, &["why", "prog.c:17"]);
    assert_contains(&said, &["one/"]);
}
