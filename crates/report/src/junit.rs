//! The report as JUnit XML, which every CI server shows as a list of tests.
//!
//! One suite for findings, one for changed lines. A finding that fails the check is a failed test, another one a passed test
//! whose text is in the output of its suite; a changed line that runs is a passed test, one that does not is skipped: that no input was found
//! is no failure.
//!
//! There is no standard. What is written is what both the schema of Ant's reports and that of Jenkins allow, which is less than many servers
//! understand: places of the source, for which these schemas have no attributes, are in the names.
//!
//! Our tests restate both schemas as tables of elements, because the files themselves are third parties'. Cobertura's document type is restated likewise.

use crate::headline;
use crate::human::{self, Options};
use crate::model::{Finding, PatchReport, Target};
use crate::words::{date, spans};
use crate::xml::Element;

/// Columns of the text inside.
const WIDTH: usize = 100;

/// Tests that belong together.
struct Suite {
    name: String,
    cases: Vec<Case>,
    /// Text about tests that passed.
    output: String,
}

struct Case {
    name: String,
    class: String,
    seconds: f64,
    end: End,
}

enum End {
    Passed,
    Skipped(String),
    Failed {
        kind: &'static str,
        message: String,
        text: String,
    },
}

pub fn render(report: &PatchReport) -> String {
    let suites = [findings(report), lines(report)];
    let suites = suites.iter().enumerate();
    let suites = suites.map(|(number, suite)| suite.element(number, report.stats.finished));
    Element::new("testsuites").children(suites).document("")
}

fn findings(report: &PatchReport) -> Suite {
    let mut suite = Suite {
        name: format!("behaviour of {}", report.patch.range),
        cases: Vec::new(),
        output: String::new(),
    };
    for found in report.ranked() {
        suite.add(report, found);
    }
    if report.findings.is_empty() {
        suite.cases.push(Case {
            name: headline::sentence(report),
            class: "parallax".to_owned(),
            seconds: 0.0,
            end: End::Passed,
        });
    }
    suite
}

fn lines(report: &PatchReport) -> Suite {
    Suite {
        name: format!("changed lines of {}", report.patch.range),
        cases: report.targets.iter().map(line).collect(),
        output: String::new(),
    }
}

fn line(target: &Target) -> Case {
    Case {
        name: format!("{}:{}", target.file, spans(&target.lines)),
        class: target.function.clone(),
        seconds: target.seconds,
        end: match target.state.is_covered() {
            true => End::Passed,
            false => {
                let why = target.why.as_deref();
                End::Skipped(why.unwrap_or(target.state.in_words()).to_owned())
            }
        },
    }
}

impl Suite {
    fn add(&mut self, report: &PatchReport, found: &Finding) {
        let options = Options {
            width: WIDTH,
            verbose: false,
        };
        let text = human::plain(&human::one(report, options, found));
        let end = match found.fails(report.promise.is_some()) {
            true => End::Failed {
                kind: found.class.name(),
                message: headline::title(found),
                text,
            },
            false => {
                self.output.push_str(&text);
                self.output.push('\n');
                End::Passed
            }
        };
        self.cases.push(Case {
            name: format!("{} {}", found.id, headline::title_and_place(report, found)),
            class: found.program.clone(),
            seconds: found.seconds,
            end,
        });
    }

    fn element(&self, number: usize, finished: u64) -> Element {
        let count = |is_meant: fn(&End) -> bool| {
            let ends = self.cases.iter().map(|case| &case.end);
            ends.filter(|end| is_meant(end)).count()
        };
        let time: f64 = self.cases.iter().map(|case| case.seconds).sum();
        Element::new("testsuite")
            .with("name", &self.name)
            .with("package", "parallax")
            .with("id", number)
            .with("timestamp", date(finished))
            .with("hostname", "localhost")
            .with("tests", self.cases.len())
            .with("failures", count(|end| matches!(end, End::Failed { .. })))
            .with("errors", 0)
            .with("skipped", count(|end| matches!(end, End::Skipped(_))))
            .with("time", format!("{time:.3}"))
            .child(Element::new("properties"))
            .children(self.cases.iter().map(Case::element))
            .child(Element::new("system-out").text(&self.output))
            .child(Element::new("system-err"))
    }
}

impl Case {
    fn element(&self) -> Element {
        let case = Element::new("testcase")
            .with("name", &self.name)
            .with("classname", &self.class)
            .with("time", format!("{:.3}", self.seconds));
        match &self.end {
            End::Passed => case,
            End::Skipped(why) => case.child(Element::new("skipped").with("message", why)),
            End::Failed {
                kind,
                message,
                text,
            } => case.child(
                Element::new("failure")
                    .with("type", kind)
                    .with("message", message)
                    .text(text),
            ),
        }
    }
}
