//! `parallax cover` on the examples of the papers, written anew: each line is reached, and by the steps that the papers
//! describe.

mod support;

use serde_json::Value;
use support::Folder;
use support::schema::Schema;

/// Number of the line that has the mark.
fn line_of(source: &str, mark: &str) -> usize {
    let position = source.lines().position(|line| line.contains(mark));
    position.unwrap_or_else(|| panic!("no {mark}")) + 1
}

struct Program {
    folder: Folder,
    path: String,
    source: String,
}

fn program(source: &str) -> Program {
    let folder = Folder::new();
    let path = folder.build("prog", source);
    Program {
        folder,
        path,
        source: source.to_owned(),
    }
}

impl Program {
    /// Searches for the line with the mark by looking at paths, as the papers do; what the report says about it.
    fn cover(&self, mark: &str, options: &[&str], arguments: &[&str]) -> Value {
        let place = format!("prog.c:{}", line_of(&self.source, mark));
        let mut all = vec!["cover", &self.path, "--at", &place, "--json"];
        all.extend(["--without", "survey"]);
        all.extend(options);
        all.push("--");
        all.extend(arguments);
        let (text, _) = self.folder.expect(0, &all);
        let mut report: Value = serde_json::from_str(&text).unwrap();
        Schema::of_the_tool(&self.folder).assert_valid(&report);
        report["targets"][0].take()
    }
}

fn kinds(target: &Value) -> Vec<&str> {
    let steps = target["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| step["kind"].as_str().unwrap())
        .collect()
}

/// KATCH, figure 3.
const NUMBERS: &str = include_str!("../../../tests/cover/numbers.c");

#[test]
fn a_number_is_found_through_the_call_that_can_lead_there() {
    let program = program(NUMBERS);
    let target = program.cover("// target", &[], &["150"]);
    assert_eq!(target["status"], "covered", "{target:#}");
    let number = target["scenario"]["argv"][0].as_str().unwrap();
    assert_eq!(number.trim_start_matches('0'), "999");
    assert_eq!(target["function"], "check");
}

#[test]
fn a_line_that_the_given_input_reaches_needs_no_search() {
    let program = program(NUMBERS);
    let target = program.cover("input > 200", &[], &["150"]);
    assert_eq!(target["status"], "suite", "{target:#}");
    assert!(kinds(&target).is_empty());
}

/// KATCH, figures 4 and 5.
const VERB: &str = r#"#include <string.h>
#include <stdio.h>
static void note(char c) {
  if (c >= ' ' && c <= '~')
    putchar(c);
  else
    printf("%%%02x", c & 255); /* escaped */
}
int main(int argc, char **argv) {
  char *verb = argc > 1 ? argv[1] : "";
  if (COMPARED && strcmp(verb, "GET") == 0)
    puts("get");
  for (char *p = verb; *p; p++)
    note(*p);
  return 0;
}
"#;

#[test]
fn a_character_that_nothing_else_constrains_takes_one_greedy_step() {
    let program = program(&VERB.replace("COMPARED", "0"));
    let target = program.cover("escaped", &[], &["GET"]);
    assert_eq!(target["status"], "covered", "{target:#}");
    assert_eq!(kinds(&target), ["greedy"]);
}

#[test]
fn a_compared_verb_is_given_up_in_its_last_character() {
    let program = program(&VERB.replace("COMPARED", "1"));
    let target = program.cover("escaped", &[], &["GET"]);
    assert_eq!(target["status"], "covered", "{target:#}");
    assert_eq!(kinds(&target), ["regenerate"], "{target:#}");
    let verb = target["scenario"]["argv"][0].to_string();
    assert!(verb.contains("GE") && !verb.contains("GET"), "{verb}");
    let blocked = program.cover(
        "escaped",
        &["--without", "regenerate,structure", "--runs", "1"],
        &["GET"],
    );
    assert_ne!(blocked["status"], "covered", "{blocked:#}");
}

/// KATCH, figure 6.
const OPTIONS: &str = r#"#include <getopt.h>
#include <stdio.h>
enum space { NONE, CHANGE, ALL };
static enum space ignore_space;
static int hash(const char *text) {
  enum space space = ignore_space;
  int h = 0;
  for (; *text; text++)
    switch (space) {
    case ALL:
      h = h * 31 + *text; /* target */
      break;
    case CHANGE:
      h += *text;
      break;
    default:
      h ^= *text;
    }
  return h;
}
int main(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "bywq")) != -1)
    switch (c) {
    case 'b':
      ignore_space = CHANGE;
      break;
    case 'w':
      ignore_space = ALL;
      break;
    case 'y':
    case 'q':
      break;
    default:
      return 2;
    }
  for (; optind < argc; optind++)
    printf("%d\n", hash(argv[optind]));
  return 0;
}
"#;

#[test]
fn a_command_line_gets_the_option_that_a_condition_needs() {
    let program = program(OPTIONS);
    let target = program.cover("target", &[], &["-y", "text"]);
    assert_eq!(target["status"], "covered", "{target:#}");
    let argv = target["scenario"]["argv"].to_string();
    assert!(argv.contains('w'), "{argv}");
}

/// SPIN'12, figure 3.
const ADDRESS: &str = r#"#include <string.h>
#include <stdio.h>
int main(int argc, char **argv) {
  char *uri = argc > 1 ? argv[1] : "", *path, *host;
  if (strncmp(uri, "http://", 7) == 0 && (path = strchr(uri + 7, '/')) != NULL) {
    host = uri + 7;
  } else if (strncmp(uri, "https://", 8) == 0 && (path = strchr(uri + 8, '/')) != NULL) {
    host = uri + 8; /* secure */
  } else {
    host = path = uri;
  }
  printf("%.*s\n", (int)(path - host), host);
  return 0;
}
"#;

#[test]
fn an_address_becomes_a_secure_one_in_at_most_five_steps() {
    let program = program(ADDRESS);
    let target = program.cover("secure", &[], &["http://zzz.example.com/"]);
    assert_eq!(target["status"], "covered", "{target:#}");
    let uri = target["scenario"]["argv"][0].as_str().unwrap();
    assert!(uri.starts_with("https://"), "{uri}");
    assert!(kinds(&target).len() <= 5, "{target:#}");
}

/// SPIN'12, figure 4.
const ESCAPES: &str = r#"#include <stdio.h>
int main(int argc, char **argv) {
  for (unsigned char *p = (unsigned char *)(argc > 1 ? argv[1] : ""); *p; p++) {
    if (*p >= ' ' && *p <= '~') {
      putchar(*p);
    } else {
      switch (*p) {
      case '"':
        fputs("\\\"", stdout); /* dead */
        break;
      case '\t':
        fputs("\\t", stdout); /* tab */
        break;
      default:
        printf("\\x%02x", *p);
      }
    }
  }
  return 0;
}
"#;

#[test]
fn control_characters_are_reached_and_a_dead_case_is_infeasible() {
    let program = program(ESCAPES);
    let target = program.cover("tab", &[], &["abc"]);
    assert_eq!(target["status"], "covered", "{target:#}");
    let dead = program.cover("dead", &["--runs", "300"], &["abc"]);
    assert_eq!(dead["status"], "infeasible", "{dead:#}");
    assert!(!dead["why"].as_str().unwrap().is_empty());
}

#[test]
fn a_place_without_code_is_refused_with_the_next_one_that_has_some() {
    let program = program(NUMBERS);
    let (_, error) = program
        .folder
        .expect(2, &["cover", &program.path, "--at", "prog.c:1", "--", "1"]);
    assert!(
        error.contains("prog.c:1 has no code; the next line that has is"),
        "{error}"
    );
    let (_, error) = program
        .folder
        .expect(2, &["cover", &program.path, "--at", "other.c:1", "--", "1"]);
    assert!(
        error.contains("no source file of the program is called other.c"),
        "{error}"
    );
}

/// Nothing reaches the line, and late letters of the alphabet take days on the way there.
const SLOW: &str = r#"#include <stdio.h>
int main(void) {
  volatile unsigned sum = 1;
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c >= 'p')
      for (unsigned long turn = 0; turn < 1ul << 50; turn++)
        sum = sum * 3 + 1;
    sum = sum * 31 + c;
  }
  if (sum == 0xdecade && sum == 0xfacade)
    return 1; // target
  return 0;
}
"#;

#[test]
fn a_search_ends_in_time_though_inputs_take_long() {
    let program = program(SLOW);
    let input = program.folder.path().join("in");
    std::fs::write(&input, "abcdefgh").unwrap();
    let input = input.to_str().unwrap();
    let options = ["--time", "3", "--stdin", input];
    let target = program.cover("// target", &options, &[]);
    assert_ne!(target["status"], "covered", "{target:#}");
    // Eight inputs are tried together; each of them would otherwise be waited for twice, five seconds each time.
    let seconds = target["seconds"].as_f64().unwrap();
    assert!(seconds < 6.0, "{seconds}");
}
