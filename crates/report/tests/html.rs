//! The page in a browser: no error, no request, nothing of a program's output taken for markup.
//!
//! Needs Chromium (Debian's `chromium`). Where it is not installed the tests say so and check what they can without; with `CI` set
//! it has to be there.

mod sample;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Output};

use parallax_report::html::render;

/// Options that make a browser fit for a test: no window, no profile, nothing that looks for the network by itself.
const OPTIONS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--v=0",
];

/// `None` without a browser.
fn browse(page: &Path, profile: &Path, more: &[&str]) -> Option<Output> {
    let mut command = Command::new("chromium");
    command
        .args(OPTIONS)
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .env("HOME", profile);
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if std::env::var_os("CI").is_some() => panic!("chromium: {error}"),
        Err(error) => {
            let said = "the page was not opened in a browser: chromium is not installed";
            let _ = writeln!(io::stderr(), "{said} ({error})");
            None
        }
    }
}

#[test]
fn a_browser_shows_the_page_without_errors_or_requests() {
    let folder = tempfile::tempdir().unwrap();
    for (name, report) in [("fails", sample::report()), ("passes", sample::clean())] {
        let page = folder.path().join(format!("{name}.html"));
        fs::write(&page, render(&report)).unwrap();
        let log = folder.path().join(format!("{name}.net.json"));
        let net = format!("--log-net-log={}", log.display());
        let Some(output) = browse(&page, &folder.path().join("profile"), &["--dump-dom", &net])
        else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(!said.contains(":CONSOLE"), "{said}");
        let dom = String::from_utf8_lossy(&output.stdout);
        assert!(dom.contains("<footer>") && dom.contains("</html>"), "{dom}");
        assert_eq!(requests(&log), Vec::<String>::new());
    }
    // The same way a page that does ask for something is caught.
    let page = folder.path().join("asks.html");
    fs::write(
        &page,
        "<!DOCTYPE html><img src=\"http://example.invalid/x.png\"><script>console.error(1)</script>",
    )
    .unwrap();
    let log = folder.path().join("asks.net.json");
    let net = format!("--log-net-log={}", log.display());
    let more = ["--dump-dom", &net];
    let output = browse(&page, &folder.path().join("profile"), &more).unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains(":CONSOLE"));
    assert!(!requests(&log).is_empty());
}

/// What a page asked for, of the log of everything that the browser did: it asks for things by itself, too, but
/// then no page is the initiator.
fn requests(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap();
    assert!(text.contains("\"constants\""), "no log: {text}");
    let asked = text.lines().filter(|line| {
        let is_pages =
            line.contains("\"initiator\":") && !line.contains("\"initiator\":\"not an origin\"");
        is_pages && line.contains("\"url\":\"http")
    });
    asked.map(str::to_owned).collect()
}

#[test]
fn the_script_that_filters_runs() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    // The policy allows this page's script by its hash only: what it does shows that the hash is right.
    let clicked = render(&sample::report());
    fs::write(&page, &clicked).unwrap();
    let probe = folder.path().join("probe.html");
    let frame = "<!DOCTYPE html><iframe src=\"page.html\" id=\"f\"></iframe><script>
        document.getElementById('f').onload = function () {
            var inside = this.contentDocument;
            inside.querySelector('button[data-show=\"difference\"]').click();
            document.title = 'hidden ' + inside.querySelectorAll('details.hidden').length;
        };</script>";
    fs::write(&probe, frame).unwrap();
    let more = [
        "--dump-dom",
        "--allow-file-access-from-files",
        "--virtual-time-budget=2000",
    ];
    let Some(output) = browse(&probe, &folder.path().join("profile"), &more) else {
        return;
    };
    let dom = String::from_utf8_lossy(&output.stdout);
    assert!(dom.contains("<title>hidden 2</title>"), "{dom}");
}

#[test]
fn nothing_from_outside_is_markup() {
    let page = render(&sample::report());
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert!(!page.contains('\u{1b}') && !page.contains('\0'));
    for outside in [
        "src=\"http",
        "href=\"http",
        "url(",
        "@import",
        "<link rel=\"stylesheet",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn what_is_one_thing_is_open_once_and_its_other_inputs_are_folded() {
    let page = render(&sample::repeated());
    let cards: Vec<&str> = page
        .lines()
        .filter(|line| line.contains("data-class=\"difference\" id="))
        .collect();
    let is_open = |line: &&&str| line.contains(" open>");
    assert_eq!(cards.iter().filter(is_open).count(), 1, "{cards:?}");
    let likewise = |line: &&&str| line.contains("likewise: <code>printf ");
    assert_eq!(cards.iter().filter(likewise).count(), 2, "{cards:?}");
    assert_eq!(page.matches("difference-77aa01bc --alike").count(), 1);
    assert_eq!(page.matches("--alike").count(), 1);
}

#[test]
fn every_changed_line_has_the_colour_of_its_state() {
    let page = render(&sample::report());
    let row = |number: u32| {
        let place = format!("<td class=\"number\">{number}</td>");
        let mut rows = page
            .lines()
            .filter(|line| line.starts_with("<tr class=\"added "));
        rows.find(|line| line.contains(&place) && line.contains("title="))
            .unwrap()
    };
    assert!(row(4).contains("title=\"has no code\""));
    assert!(row(19).starts_with("<tr class=\"added suite divergent\""));
    assert!(row(24).starts_with("<tr class=\"added suite divergent\""));
    assert!(row(25).starts_with("<tr class=\"added covered divergent\""));
    assert!(row(27).starts_with("<tr class=\"added blocked divergent\""));
    assert!(row(27).contains("did not go the other way"));
}

#[test]
fn lines_around_hunks_have_the_numbers_of_both_versions() {
    let page = render(&sample::report());
    let around = |old: u32, new: u32| {
        let numbers = format!(
            "<tr class=\"around\"><td class=\"number\">{old}</td><td class=\"number\">{new}</td>"
        );
        page.matches(&numbers).count()
    };
    // The first hunk replaces line 4; each line is there once, though hunks are near each other.
    assert_eq!(around(3, 3), 1);
    assert_eq!(around(5, 5), 1);
    assert_eq!(around(20, 20), 1);
    assert_eq!(around(26, 28), 1);
}
