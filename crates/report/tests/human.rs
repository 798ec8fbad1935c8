//! The report on a terminal, whole.

mod sample;

use parallax_report::human::{Options, plain, render};
use parallax_report::model::Promise;

fn shown(report: &parallax_report::PatchReport, width: usize, verbose: bool) -> String {
    plain(&render(report, Options { width, verbose }))
}

#[test]
fn a_patch_that_fails_is_explained() {
    insta::assert_snapshot!(shown(&sample::report(), 100, false));
}

#[test]
fn everything_is_shown_to_who_asks_for_it() {
    insta::assert_snapshot!(shown(&sample::report(), 120, true));
}

#[test]
fn what_is_one_thing_is_shown_once_with_a_line_for_each_further_input() {
    let text = shown(&sample::repeated(), 100, false);
    let (top, _) = text.split_once('\n').unwrap();
    assert!(
        top.ends_with("1 error in the new version, 1 change of behaviour, 1 error that was there before, 1 accepted (6 findings)"),
        "{top}"
    );
    let from = text.find("Behaviour that the patch changes").unwrap();
    let to = text.find("Errors that were there before").unwrap();
    insta::assert_snapshot!(&text[from..to]);
    let all = shown(&sample::repeated(), 100, true);
    assert_eq!(all.matches("field: stdout differs").count(), 3, "{all}");
}

#[test]
fn the_text_of_a_hunk_is_shown_once() {
    let mut report = sample::report();
    let hunks = report.findings[3].hunks.clone();
    report.findings[2].hunks = hunks;
    let text = shown(&report, 100, false);
    assert_eq!(text.matches("+     if (wanted < 0)").count(), 1, "{text}");
    assert!(
        text.contains("does not happen without the change at src/field.c:24 (see #1)"),
        "{text}"
    );
}

#[test]
fn a_narrow_terminal_has_old_above_new() {
    let text = shown(&sample::report(), 60, false);
    insta::assert_snapshot!(text);
}

#[test]
fn a_patch_that_passes_is_short() {
    insta::assert_snapshot!(shown(&sample::clean(), 100, false));
}

#[test]
fn a_broken_promise_is_named_first() {
    let mut report = sample::report();
    report.findings.retain(|found| found.hunks.len() == 2);
    report.promise = Some(Promise {
        commit: "a0b1c2d".into(),
        subject: "Tidy up".into(),
    });
    let text = shown(&report, 100, false);
    let top: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(top[0], "HEAD~1..HEAD: 1 change of behaviour");
    assert!(top[1].contains("a0b1c2d (Tidy up)"), "{text}");
}

#[test]
fn nothing_of_a_programs_output_reaches_the_terminal_raw() {
    let text = render(
        &sample::report(),
        Options {
            width: 200,
            verbose: true,
        },
    );
    let plain = plain(&text);
    assert!(!plain.contains('\u{1b}') && !plain.contains('\0'));
    assert!(plain.contains("\\u{1b}[31m"), "{plain}");
}
