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
