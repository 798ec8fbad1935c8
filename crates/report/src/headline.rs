//! The verdict in a sentence, the same in every form.

use std::fmt::Write as _;

use crate::model::{Class, Finding, PatchReport, Verdict};
use crate::words::{counted, show_count};

/// `1 error in the new version, 2 changes of behaviour (5 findings)`: different things, and findings if there are more of these.
pub fn sentence(report: &PatchReport) -> String {
    let count = report.count_things();
    let mut parts = Vec::new();
    if count.errors > 0 {
        let errors = counted(count.errors, "error");
        parts.push(format!("{errors} in the new version"));
    }
    if count.differences > 0 {
        let changes = counted(count.differences, "change");
        parts.push(format!("{changes} of behaviour"));
    }
    match report.verdict() {
        Verdict::Nothing => return "there is nothing to test".to_owned(),
        Verdict::Untested => return "not tested: no input ran what the patch changes".to_owned(),
        _ if parts.is_empty() && report.is_interrupted => {
            parts.push("nothing found before it was interrupted".to_owned());
        }
        _ if parts.is_empty() => parts.push("no error and no change of behaviour found".to_owned()),
        _ => {}
    }
    if count.intended > 0 {
        parts.push(format!("{} intended", show_count(count.intended)));
    }
    if count.fixed > 0 {
        parts.push(format!("{} fixed", counted(count.fixed, "error")));
    }
    if count.both > 0 {
        let errors = counted(count.both, "error");
        parts.push(format!("{errors} that {} there before", was(count.both)));
    }
    if count.accepted > 0 {
        parts.push(format!("{} accepted", show_count(count.accepted)));
    }
    let mut sentence = parts.join(", ");
    let findings = report.findings.len();
    if report.groups().len() < findings {
        let findings = counted(findings as u64, "finding");
        let _ = write!(sentence, " ({findings})");
    }
    sentence
}

fn was(count: u64) -> &'static str {
    match count {
        1 => "was",
        _ => "were",
    }
}

/// What else decides how the verdict is to be read, a sentence each.
pub fn remarks(report: &PatchReport) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(promise) = &report.promise {
        let kept = match report.verdict() {
            Verdict::Broken => "so every difference that can be seen is an error",
            _ => "and no difference that can be seen was found",
        };
        remarks.push(format!(
            "commit {} ({}) promises with Behaviour: none that nothing changes, {kept}",
            promise.commit, promise.subject
        ));
    }
    match report.verdict() {
        Verdict::Nothing => remarks.push("the patch changes no source file".to_owned()),
        Verdict::Untested => remarks.push(untested(report)),
        Verdict::Passed => remarks.push(
            "this is no proof: it is what was found in the time given, from the tests that there are"
                .to_owned(),
        ),
        _ => {}
    }
    if report.is_interrupted {
        remarks.push("interrupted: the same command goes on from here".to_owned());
    }
    remarks
}

/// Why nothing can be said, and what to do about it.
fn untested(report: &PatchReport) -> String {
    let scenarios: u64 = report.programs.iter().map(|one| one.scenarios).sum();
    match (report.programs.is_empty(), scenarios) {
        (true, _) => "the changed files are part of no program that was built: build one that uses them, or a test of them \
             (build.build and programs in parallax.toml)",
        (false, 0) => "no test was recorded that runs a program with changed code: set test.command in parallax.toml, or add \
             inputs with parallax scenario add",
        (false, _) => "no test runs changed code, and no input that does was found: add a test that comes near it, or give more \
             time with --budget",
    }
    .to_owned()
}

/// `50.0 % → 75.0 %`; `None` if no changed line has code.
pub fn coverage(report: &PatchReport) -> Option<String> {
    let tally = report.tally();
    let (before, after) = (tally.before()?, tally.after()?);
    Some(format!("{before:.1} % → {after:.1} %"))
}

/// What a finding is, in a few words.
pub fn title(found: &Finding) -> String {
    if found.class != Class::Difference || found.differences.is_empty() {
        return found.message.clone();
    }
    let parts = found.differences.iter();
    let parts: Vec<String> = parts
        .map(|difference| match difference.part.as_str() {
            "end" => format!("{} became {}", difference.old, difference.new),
            part => format!("{part} differs"),
        })
        .collect();
    parts.join(", ")
}

/// The command that says of a finding that it is intended, with further options.
pub fn accept(found: &Finding, options: &str) -> String {
    format!("parallax accept {}{options} --because \"REASON\"", found.id)
}

/// What a finding is, with the guilty hunk, which tells findings of one title apart.
pub fn title_and_place(report: &PatchReport, found: &Finding) -> String {
    let title = title(found);
    match report.hunks(found).first() {
        Some((hunk, _)) if !title.contains(&hunk.file) => {
            format!("{title}, from {}:{}", hunk.file, hunk.new.first.max(1))
        }
        _ => title,
    }
}

/// The one place that a finding is shown at: its guilty hunk, where the error is, or where the versions part. Without any of these the
/// first hunk of the patch, since readers want one.
pub fn spot(report: &PatchReport, found: &Finding) -> (String, u32) {
    let hunk = report.hunks(found).first().map(|(hunk, _)| *hunk);
    let error = || Some((found.file.clone()?, found.line));
    let parting = || {
        let parting = found.parting.as_ref()?;
        Some((parting.file.clone(), parting.line))
    };
    let is_inside = |(file, _): &(String, u32)| !file.is_empty() && !file.starts_with('/');
    let own = hunk.map(|hunk| (hunk.file.clone(), hunk.new.first));
    let spot = own
        .or_else(|| error().filter(is_inside))
        .or_else(|| parting().filter(is_inside))
        .or_else(|| {
            let first = report.patch.hunks.first()?;
            Some((first.file.clone(), first.new.first))
        });
    let (file, line) = spot.unwrap_or_default();
    (file, line.max(1))
}
