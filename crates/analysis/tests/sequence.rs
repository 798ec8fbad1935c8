//! Change sequence graphs: the paper's figures, and what deletions leave behind.

mod common;

use common::module;
use parallax_analysis::Analysis;
use parallax_analysis::dependence::Dependences;
use parallax_analysis::sequence::{
    Cause, ChangeGraph, Changes, FileChange, Interactions, Role, same_lines,
};

/// Nodes by their comments (or lines), with what can come next.
fn graph(old: &str, new: &str, wanted: Interactions) -> String {
    let analyse = |name: &str, text: &str| {
        let analysis = Analysis::new(vec![module(name, text)], []);
        let dependences = Dependences::new(&analysis);
        let files = analysis.lines.files();
        let file = files.filter(|file| file.ends_with(name)).last();
        let file = file.expect("the file").to_owned();
        (analysis, dependences, file)
    };
    let (_, before, old_file) = analyse("old.c", old);
    let (analysis, after, new_file) = analyse("new.c", new);
    let files = [FileChange {
        old: Some(old_file),
        new: Some(new_file),
        same: same_lines(old, new),
        only: None,
    }];
    let changes = Changes::new(&files, &before, &after);
    let graph = ChangeGraph::new(&analysis, &after, &changes, wanted);
    let name = |node: usize| {
        let line = after.statements.get(graph.nodes[node].statement).line;
        let text = new.lines().nth(line as usize - 1).unwrap_or_default();
        match text.split_once("/* ") {
            Some((_, comment)) => comment.trim_end_matches(" */").to_owned(),
            None => format!("line {line}"),
        }
    };
    let list = |nodes: &[usize]| {
        nodes
            .iter()
            .map(|node| name(*node))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut shown = format!("start -> {}\n", list(&graph.first));
    for (number, node) in graph.nodes.iter().enumerate() {
        let role = match &node.role {
            Role::Change(Cause::Changed) => "change".to_owned(),
            Role::Change(Cause::Deleted(lines)) => {
                format!("change by deletion of {} lines", lines.len())
            }
            Role::Interaction(on) => format!("interaction of {}", list(on)),
            Role::Output => "output".to_owned(),
        };
        let next = list(&graph.next[number]);
        shown.push_str(format!("{} ({role}) -> {next}", name(number)).trim_end());
        shown.push('\n');
    }
    shown
}

#[test]
fn figure_6_the_changes_of_the_running_example_interact_in_line_8() {
    let (old, new) = (
        include_str!("../../../tests/interact/figure5/old.c"),
        include_str!("../../../tests/interact/figure5/new.c"),
    );
    insta::assert_snapshot!(graph(old, new, Interactions::Important));
}

#[test]
fn figure_4_the_memory_access_is_where_both_conditions_interact() {
    let (old, new) = (
        include_str!("../../../tests/interact/figure3/old.c"),
        include_str!("../../../tests/interact/figure3/new.c"),
    );
    insta::assert_snapshot!(graph(old, new, Interactions::Important));
}

#[test]
fn what_only_passes_an_interaction_on_is_not_important() {
    let old = "int out; int main(int argc, char **argv) {\n  int a = 1;\n  int b = 2;\n  int c = a + b;\n  int d = c + 1;\n  out = d;\n  return 0;\n}\n";
    let new = old
        .replace("a = 1", "a = argc")
        .replace("b = 2", "b = argc + 1");
    let important = graph(old, &new, Interactions::Important);
    let all = graph(old, &new, Interactions::All);
    assert!(
        important.contains("line 4 (interaction of line 2, line 3)"),
        "{important}"
    );
    assert!(!important.contains("line 5 (interaction"), "{important}");
    assert!(
        all.contains("line 5 (interaction of line 2, line 3)"),
        "{all}"
    );
}

#[test]
fn deleted_code_counts_through_what_depended_on_it() {
    let old = "int out; int main(int argc, char **argv) {\n  int a = argc;\n  if (a > 9)\n    a = 9;\n  out = a;\n  return 0;\n}\n";
    let new = old.replace("  if (a > 9)\n    a = 9;\n", "");
    let shown = graph(old, &new, Interactions::Important);
    assert!(
        shown.contains("line 3 (change by deletion of 1 lines)"),
        "{shown}"
    );
}

#[test]
fn sequences_go_through_functions_and_over_those_that_have_no_change() {
    let old = "int out, other; static void quiet(void) { other++; }\nstatic int f(int n) {\n  return n;\n}\nint main(int argc, char **argv) {\n  int a = 1;\n  quiet();\n  out = f(a);\n  out += 3;\n  return 0;\n}\n";
    let new = old
        .replace("return n;", "return n + 1;")
        .replace("a = 1", "a = 2")
        .replace("out += 3", "out += 4");
    let shown = graph(old, &new, Interactions::Important);
    let expected = "\
start -> line 6
line 3 (change) -> line 9, line 8
line 6 (change) -> line 8
line 9 (change) -> line 10
line 8 (interaction of line 3, line 6) -> line 3, line 9
line 10 (output) ->
";
    assert_eq!(shown, expected);
}
