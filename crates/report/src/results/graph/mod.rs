//! Change sequence graphs as text, Graphviz and SVG.

mod svg;

use std::fmt::Write as _;
use std::path::Path;

use parallax_analysis::sequence::{Cause, ChangeGraph, Role};

use crate::palette::Palette;
use crate::words::{counted, printable};

pub use svg::render as render_svg;

/// A graph with the places of its nodes.
pub struct Shown<'a> {
    pub graph: &'a ChangeGraph,
    /// Of each node.
    pub places: Vec<Place>,
    /// File and line of deleted code that nothing depended on.
    pub without_trace: &'a [(String, u32)],
}

/// Where a node is: file (as short as it can be), line, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub text: String,
}

/// Short names of all nodes: C for changes, I for interactions, O for outputs.
pub fn names(shown: &Shown<'_>) -> Vec<String> {
    let mut counts = [0; 3];
    let nodes = shown.graph.nodes.iter();
    nodes
        .map(|node| {
            let (letter, kind) = match node.role {
                Role::Change(_) => ('C', 0),
                Role::Interaction(_) => ('I', 1),
                Role::Output => ('O', 2),
            };
            counts[kind] += 1;
            format!("{letter}{}", counts[kind])
        })
        .collect()
}

pub fn render_text(shown: &Shown<'_>) -> String {
    let graph = &shown.graph;
    let names = names(shown);
    let of = |wanted: fn(&Role) -> bool| {
        let nodes = graph.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| wanted(&node.role))
            .map(|(at, _)| at)
            .collect::<Vec<usize>>()
    };
    let groups = [
        ("changes", of(|role| matches!(role, Role::Change(_)))),
        (
            "where they interact",
            of(|role| matches!(role, Role::Interaction(_))),
        ),
        ("outputs", of(|role| matches!(role, Role::Output))),
    ];
    let mut text = format!(
        "{}, {}, {}\n",
        counted(groups[0].1.len() as u64, "change"),
        counted(groups[1].1.len() as u64, "interaction"),
        counted(groups[2].1.len() as u64, "output"),
    );
    if groups[0].1.is_empty() {
        text.push_str("Nothing that has code differs.\n");
    }
    let list = |nodes: &[usize]| -> String {
        let words: Vec<&str> = nodes.iter().map(|node| names[*node].as_str()).collect();
        words.join(" ")
    };
    for (title, nodes) in &groups {
        if nodes.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}", Palette.heading(title));
        let places: Vec<String> = nodes.iter().map(|node| place(shown, *node)).collect();
        let width = places.iter().map(String::len).max().unwrap_or(0);
        for (node, at) in nodes.iter().zip(&places) {
            let code = printable(shown.places[*node].text.as_bytes());
            let padded = format!("{at:width$}");
            let _ = writeln!(
                text,
                "  {:4} {}  {code}",
                names[*node],
                Palette.place(&padded)
            );
            let note = match &graph.nodes[*node].role {
                Role::Interaction(on) => Some(format!("depends on {}", list(on))),
                Role::Change(Cause::Deleted(lines)) => {
                    let lines: Vec<String> = lines
                        .iter()
                        .map(|(file, line)| format!("{}:{line}", base(file)))
                        .collect();
                    Some(format!(
                        "depended on deleted code: old {}",
                        lines.join(", ")
                    ))
                }
                _ => None,
            };
            if let Some(note) = note {
                let _ = writeln!(text, "       {:width$}  {}", "", Palette.dim(&note));
            }
        }
    }
    if !graph.nodes.is_empty() {
        let _ = writeln!(text, "\n{}", Palette.heading("what can come next"));
        let _ = writeln!(text, "  start → {}", list(&graph.first));
        for (name, next) in names.iter().zip(&graph.next) {
            if !next.is_empty() {
                let _ = writeln!(text, "  {name:5} → {}", list(next));
            }
        }
    }
    let passing = graph.interactions.saturating_sub(groups[1].1.len());
    if passing > 0 {
        let note = format!(
            "{} on what met before, or are outputs (--all shows the former)",
            match passing {
                1 => "1 more statement depends on several changes and only passes".to_owned(),
                _ => format!("{passing} more statements depend on several changes and only pass"),
            }
        );
        let _ = writeln!(text, "\n{}", Palette.dim(&note));
    }
    for (file, line) in shown.without_trace {
        let note = format!(
            "old {}:{line} was deleted, and nothing that is left depended on it",
            base(file)
        );
        let _ = writeln!(text, "{}", Palette.dim(&note));
    }
    text
}

/// File and line of a node.
pub fn place(shown: &Shown<'_>, node: usize) -> String {
    let place = &shown.places[node];
    format!("{}:{}", place.file, place.line)
}

fn base(file: &str) -> String {
    let name = Path::new(file).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub fn render_dot(shown: &Shown<'_>) -> String {
    let names = names(shown);
    let graph = &shown.graph;
    let mut text = String::from(
        "digraph changes {\n  node [shape=box, fontname=monospace];\n  start [shape=circle, label=\"\"];\n",
    );
    for (at, node) in graph.nodes.iter().enumerate() {
        let code = shown.places[at]
            .text
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        let style = match node.role {
            Role::Change(_) => "style=filled, fillcolor=lightgrey",
            Role::Interaction(_) => "style=rounded",
            Role::Output => "shape=plaintext",
        };
        let (name, at) = (&names[at], place(shown, at));
        let _ = writeln!(
            text,
            "  {name} [label=\"{name}  {at}\\l{code}\\l\", {style}];"
        );
    }
    for to in &graph.first {
        let _ = writeln!(text, "  start -> {};", names[*to]);
    }
    for (from, next) in names.iter().zip(&graph.next) {
        for to in next {
            let _ = writeln!(text, "  {from} -> {};", names[*to]);
        }
    }
    text.push_str("}\n");
    text
}
