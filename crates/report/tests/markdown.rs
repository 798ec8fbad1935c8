//! The report as a comment on a pull request.

mod sample;

use parallax_report::markdown::{LIMIT, render, render_within};

#[test]
fn a_patch_that_fails_is_explained() {
    insta::assert_snapshot!(render(&sample::report()));
}

#[test]
fn a_patch_that_passes_is_short() {
    insta::assert_snapshot!(render(&sample::clean()));
}

#[test]
fn what_is_one_thing_is_explained_once() {
    let text = render(&sample::repeated());
    let summaries = text.matches("stdout differs").count();
    assert_eq!(summaries, 1, "{text}");
    let more = "2 other findings of this kind from the same change:\n\n- `difference-77aa01b1` `printf '\\t\\t\\t\\t\\n' | src/field -w`\n- `difference-77aa01b0` ";
    assert!(text.contains(more), "{text}");
    let all = "`parallax accept difference-77aa01bc --alike --because \"REASON\"`";
    assert!(text.contains(all), "{text}");
}

#[test]
fn a_comment_is_never_too_long_and_says_what_was_left_out() {
    let mut report = sample::report();
    let one = report.findings[2].clone();
    report.findings = (0..500)
        .map(|number| {
            let mut found = one.clone();
            found.id = format!("difference-{number}");
            // Those of one hunk would be one thing.
            found.hunks.clear();
            found
        })
        .collect();
    let text = render(&report);
    assert!(text.len() <= LIMIT, "{}", text.len());
    assert!(text.contains("findings left out here"), "{text}");
    assert!(text.starts_with("## ⚠️ Parallax: 500 changes of behaviour"));
    let opened = text.matches("<details").count();
    assert_eq!(opened, text.matches("</details>").count());
    // Whole findings or none.
    assert!(opened > 10);
    let little = render_within(&report, 2000);
    assert!(little.len() <= 2000, "{}", little.len());
    assert!(little.contains(" findings left out here"));
}
