//! Coverage of the changed lines as Cobertura's XML (coverage-04.dtd), which GitLab, Azure, Jenkins and diff-cover read.
//!
//! A package for each folder, a class for each file, and the lines; branches and complexity, which the format asks for, are not counted here and are
//! said to be none. Files are named from the top of the source, as in the patch.

use std::collections::BTreeMap;

use crate::model::{FileCoverage, LineState, PatchReport};
use crate::xml::Element;

const KIND: &str =
    "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n";

/// Lines with code, each with the number of inputs that run it.
type Lines = Vec<(u32, u64)>;

/// Lines that run, and all of them.
#[derive(Clone, Copy, Default)]
struct Sum {
    covered: u64,
    valid: u64,
}

impl Sum {
    fn of(lines: &[(u32, u64)]) -> Sum {
        Sum {
            covered: lines.iter().filter(|(_, hits)| *hits > 0).count() as u64,
            valid: lines.len() as u64,
        }
    }

    fn add(self, other: Sum) -> Sum {
        Sum {
            covered: self.covered + other.covered,
            valid: self.valid + other.valid,
        }
    }

    /// The attributes that every level has.
    fn rates(self, element: Element) -> Element {
        // Of nothing, all runs.
        let rate = match self.valid {
            0 => 1.0,
            valid => self.covered as f64 / valid as f64,
        };
        element
            .with("line-rate", format!("{rate:.4}"))
            .with("branch-rate", "0")
    }
}

/// Changed lines of a patch that have code, with the number of known inputs that run each.
pub fn render(report: &PatchReport) -> String {
    let files = report.coverage();
    let mut folders: BTreeMap<&str, Vec<(&str, Lines)>> = BTreeMap::new();
    let mut all = Sum::default();
    for file in &files {
        let lines = lines(file);
        if lines.is_empty() {
            continue;
        }
        all = all.add(Sum::of(&lines));
        let folder = file.file.rsplit_once('/').map_or(".", |(folder, _)| folder);
        folders.entry(folder).or_default().push((&file.file, lines));
    }
    let packages = folders
        .into_iter()
        .map(|(name, files)| package(name, &files));
    let root = all
        .rates(Element::new("coverage"))
        .with("lines-covered", all.covered)
        .with("lines-valid", all.valid)
        .with("branches-covered", 0)
        .with("branches-valid", 0)
        .with("complexity", 0)
        .with("version", format!("parallax {}", report.version))
        .with("timestamp", report.stats.finished)
        .child(Element::new("sources").child(Element::new("source").text(".")))
        .child(Element::new("packages").children(packages));
    root.document(KIND)
}

fn lines(file: &FileCoverage) -> Lines {
    let lines = file.lines.iter();
    let with_code = lines.filter(|line| line.state != LineState::NoCode);
    with_code.map(|line| (line.line, line.hits)).collect()
}

fn package(name: &str, files: &[(&str, Lines)]) -> Element {
    let sums = files.iter().map(|(_, lines)| Sum::of(lines));
    let sum = sums.fold(Sum::default(), Sum::add);
    let classes = files.iter().map(|(file, lines)| class(file, lines));
    sum.rates(Element::new("package").with("name", name))
        .with("complexity", 0)
        .child(Element::new("classes").children(classes))
}

fn class(file: &str, lines: &[(u32, u64)]) -> Element {
    let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
    let element = Element::new("class")
        .with("name", name)
        .with("filename", file);
    let list = lines.iter().map(|(number, hits)| {
        Element::new("line")
            .with("number", number)
            .with("hits", hits)
            .with("branch", false)
    });
    Sum::of(lines)
        .rates(element)
        .with("complexity", 0)
        .child(Element::new("methods"))
        .child(Element::new("lines").children(list))
}
