//! The report as JUnit XML, which every CI server shows as a list of tests.
//!
//! One suite for findings, one for changed lines. A finding that fails the check is a failed test, another one a passed test
//! with its text; a changed line that runs is a passed test, one that does not is skipped: that no input was found is no
//! failure.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::headline;
use crate::human::{self, Options};
use crate::model::{Finding, PatchReport, Target};
use crate::words::spans;

/// Columns of the text inside.
const WIDTH: usize = 100;

pub fn render(report: &PatchReport) -> String {
    let mut document = Report::new("parallax check");
    document.add_test_suites([findings(report), lines(report)]);
    // Writing to memory can only fail if the data has no form in XML, and all strings are filtered.
    document.to_string().unwrap_or_default()
}

fn findings(report: &PatchReport) -> TestSuite {
    let mut suite = TestSuite::new(format!("behaviour of {}", report.patch.range));
    for found in report.ranked() {
        suite.add_test_case(finding(report, found));
    }
    if report.findings.is_empty() {
        let passed = TestCase::new(headline::sentence(report), TestCaseStatus::success());
        suite.add_test_case(named(passed, "parallax"));
    }
    suite
}

fn finding(report: &PatchReport, found: &Finding) -> TestCase {
    let options = Options {
        width: WIDTH,
        verbose: false,
    };
    let text = human::plain(&human::one(report, options, found));
    let fails = found.fails(report.promise.is_some());
    let mut status = match fails {
        true => TestCaseStatus::non_success(NonSuccessKind::Failure),
        false => TestCaseStatus::success(),
    };
    if fails {
        let title = headline::title(found);
        status.set_type(found.class.name()).set_message(title);
        status.set_description(text.clone());
    }
    let name = format!("{} {}", found.id, headline::title_and_place(report, found));
    let mut case = named(TestCase::new(name, status), &found.program);
    if !fails {
        case.set_system_out(text);
    }
    place(&mut case, found.file.as_deref(), found.line);
    case
}

fn lines(report: &PatchReport) -> TestSuite {
    let mut suite = TestSuite::new(format!("changed lines of {}", report.patch.range));
    for target in &report.targets {
        suite.add_test_case(line(target));
    }
    suite
}

fn line(target: &Target) -> TestCase {
    let status = match target.state.is_covered() {
        true => TestCaseStatus::success(),
        false => {
            let mut status = TestCaseStatus::skipped();
            let why = target.why.as_deref();
            status.set_message(why.unwrap_or(target.state.in_words()));
            status
        }
    };
    let name = format!("{}:{}", target.file, spans(&target.lines));
    let mut case = named(TestCase::new(name, status), &target.function);
    let first = target.lines.first().copied().unwrap_or(0);
    place(&mut case, Some(&target.file), first);
    case
}

fn named(mut case: TestCase, class: &str) -> TestCase {
    case.set_classname(class);
    case
}

/// Attributes that several servers link to the source by.
fn place(case: &mut TestCase, file: Option<&str>, line: u32) {
    if let Some(file) = file {
        case.extra.insert("file".into(), file.into());
        case.extra.insert("line".into(), line.to_string().into());
    }
}
