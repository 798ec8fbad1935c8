//! What `coverage` counts and shows: exact numbers for small programs, through forks, crashes and
//! several runs.

mod support;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_abi::{SiteId, SiteKind};
use parallax_exec::coverage::{Coverage, CoverageRegion, FileCoverage, Sides, Why};
use parallax_exec::run::{End, Launch, Outcome, run};
use parallax_exec::sites::{ModuleSites, read_tables};
use serde_json::Value;
use support::{Folder, assert_contains, expect};

const MAIN: &str = "\
int weigh(int kind);
static int spare(int x) {
    return x + 1;
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0)
            sum += weigh(i);
        else
            sum -= 1;
    }
    if (argc > 9)
        return spare(sum);
    return sum;
}
";

const WEIGH: &str = "\
int weigh(int kind) {
    switch (kind) {
    case 0:
        return 1;
    case 2:
    case 3:
        return 2;
    case 99:
        return 9;
    default:
        return 4;
    }
}
";

/// Lines with their counts when the program above runs without arguments.
const MAIN_LINES: [(u32, u64); 11] = [
    (3, 0),
    (6, 1),
    (7, 6),
    (8, 5),
    (9, 3),
    (11, 2),
    (12, 5),
    (13, 1),
    (14, 0),
    (15, 1),
    (16, 1),
];

fn build(folder: &Folder) -> String {
    folder.file("main.c", MAIN);
    folder.file("weigh.c", WEIGH);
    let output = folder.parallax(&["cc", "--", "-g", "-o", "prog", "main.c", "weigh.c"]);
    assert!(output.status.success(), "{output:?}");
    "./prog".to_owned()
}

/// A covered program, and where it counts.
struct Covered {
    program: PathBuf,
    tables: Vec<ModuleSites>,
    region: CoverageRegion,
}

impl Covered {
    fn new(folder: &Folder, program: &str) -> Covered {
        let program = variant(folder, program, "covered");
        Covered {
            tables: read_tables(&program, &[]).unwrap(),
            program,
            region: CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY).unwrap(),
        }
    }

    fn with_room(self, capacity: u32) -> Covered {
        let region = CoverageRegion::create(capacity).unwrap();
        Covered { region, ..self }
    }

    fn run(&self) -> Outcome {
        run(&Launch::new(&self.program), &[self.region.shared()]).unwrap()
    }

    fn coverage(&self) -> Coverage {
        Coverage::read(&self.region, &self.tables)
    }
}

fn variant(folder: &Folder, program: &str, kind: &str) -> PathBuf {
    let (path, _) = folder.expect(0, &["variant", program, "--kind", kind]);
    PathBuf::from(path.trim_end())
}

fn file<'a>(coverage: &'a Coverage, name: &str) -> &'a FileCoverage {
    let mut files = coverage.files().iter();
    files
        .find(|file| Path::new(&file.name).ends_with(name))
        .unwrap_or_else(|| panic!("{name} is missing in {coverage:?}"))
}

fn lines(coverage: &Coverage, name: &str) -> Vec<(u32, u64)> {
    let lines = file(coverage, name).lines.iter();
    lines.map(|(line, count)| (*line, *count)).collect()
}

#[test]
fn every_line_and_side_is_counted_exactly() {
    let folder = Folder::new();
    let program = build(&folder);
    let covered = Covered::new(&folder, &program);
    assert_eq!(covered.run().end, End::Exit(5));
    let coverage = covered.coverage();
    assert_eq!(lines(&coverage, "main.c"), MAIN_LINES);
    assert_eq!(
        lines(&coverage, "weigh.c"),
        [(2, 3), (4, 1), (7, 1), (9, 0), (11, 1), (13, 3)]
    );
    let branches: Vec<_> = file(&coverage, "main.c")
        .branches
        .iter()
        .map(|branch| (branch.line, branch.sides.taken, branch.sides.not_taken))
        .collect();
    assert_eq!(branches, [(7, 5, 1), (8, 3, 2), (13, 0, 1)]);
    let never: Vec<_> = coverage
        .never_entered()
        .map(|(_, function)| (&*function.name, function.line))
        .collect();
    assert_eq!(never, [("spare", 2)]);
    assert_eq!(coverage.uncounted(), []);
}

#[test]
fn runs_in_one_region_add_up() {
    let folder = Folder::new();
    let program = build(&folder);
    let covered = Covered::new(&folder, &program);
    for _ in 0..2 {
        covered.run();
    }
    let twice = MAIN_LINES.map(|(line, count)| (line, 2 * count));
    assert_eq!(lines(&covered.coverage(), "main.c"), twice);
}

#[test]
fn without_a_region_the_program_runs_uncounted() {
    let folder = Folder::new();
    let program = build(&folder);
    let covered = Covered::new(&folder, &program);
    let bare = Launch {
        environment: Some(Vec::new()),
        ..Launch::new(&covered.program)
    };
    assert_eq!(run(&bare, &[]).unwrap().end, End::Exit(5));
    // Numbers that lead nowhere are no reason to fail either.
    for number in ["", "0", "77", "x", "99999999999"] {
        let status = Command::new(&covered.program)
            .env("PARALLAX_COVER", number)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(5), "{number:?}");
    }
    assert_eq!(covered.coverage().totals().blocks.covered, 0);
}

#[test]
fn modules_that_find_no_room_are_reported_and_run() {
    let folder = Folder::new();
    let program = build(&folder);
    // The first module does not fit, the second does: in every process.
    let covered = Covered::new(&folder, &program).with_room(12);
    for _ in 0..2 {
        assert_eq!(covered.run().end, End::Exit(5));
    }
    let coverage = covered.coverage();
    let [uncounted] = coverage.uncounted() else {
        panic!("{:?}", coverage.uncounted());
    };
    assert!(uncounted.file.ends_with("main.c"), "{uncounted:?}");
    assert_eq!(uncounted.why, Why::NoRoom);
    assert_eq!(coverage.files().len(), 1);
    assert_eq!(file(&coverage, "weigh.c").lines[&2], 6);
}

#[test]
fn processes_that_the_program_forks_are_counted() {
    let folder = Folder::new();
    let program = folder.build(
        "forks",
        "\
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 3; i++) {
        if (fork() == 0)
            _exit(7);
        wait(0);
    }
    return 0;
}
",
    );
    let covered = Covered::new(&folder, &program);
    assert_eq!(covered.run().end, End::Exit(0));
    let coverage = covered.coverage();
    assert_eq!(
        lines(&coverage, "forks.c"),
        [(4, 4), (5, 3), (6, 3), (7, 3), (9, 1)]
    );
    // The children took one side, their parent the other.
    let sides = file(&coverage, "forks.c").branches[1].sides;
    assert_eq!((sides.taken, sides.not_taken), (3, 3));
}

#[test]
fn what_ran_before_a_crash_is_counted() {
    let folder = Folder::new();
    let program = folder.build(
        "crashes",
        "\
int main(int argc, char **argv) {
    int *nowhere = (int *)(argc - 1L);
    for (int i = 0; i < 4; i++)
        if (i == 2)
            *nowhere = i;
    return 0;
}
",
    );
    let covered = Covered::new(&folder, &program);
    assert_eq!(covered.run().end, End::Signal(libc::SIGSEGV));
    let coverage = covered.coverage();
    assert_eq!(
        lines(&coverage, "crashes.c"),
        [(2, 1), (3, 3), (4, 3), (5, 1), (6, 0)]
    );
    let site = file(&coverage, "crashes.c").branches[1].site;
    let sides = Sides {
        taken: 1,
        not_taken: 2,
    };
    assert_eq!(coverage.branch(site), Some(sides));
}

#[test]
fn shared_libraries_of_the_program_are_counted() {
    let folder = Folder::new();
    folder.file("main.c", MAIN);
    folder.file("weigh.c", WEIGH);
    for arguments in [
        "-g -shared -fPIC -o libweigh.so weigh.c",
        "-g -o prog main.c -L. -lweigh -Wl,-rpath,$ORIGIN",
    ] {
        let mut words = vec!["cc", "--"];
        words.extend(arguments.split(' '));
        folder.expect(0, &words);
    }
    let (text, _) = folder.expect(0, &["coverage", "./prog", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(count_in(&report, "weigh.c", 2), 3);
    assert_eq!(count_in(&report, "main.c", 8), 5);
}

#[test]
fn sites_are_those_of_the_traced_program() {
    let folder = Folder::new();
    let program = build(&folder);
    let ids = |kind: &str| -> Vec<(u64, u8, u32)> {
        let tables = read_tables(&variant(&folder, &program, kind), &[]).unwrap();
        let functions = tables.iter().flat_map(|module| &module.table.functions);
        let mut ids: Vec<_> = functions
            .clone()
            .filter(|function| ["main", "spare", "weigh"].contains(&&*function.name))
            .flat_map(|function| &function.sites)
            .filter(|site| site.original == 0)
            .map(|site| (site.id, site.kind, site.line))
            .collect();
        ids.sort_unstable();
        ids
    };
    let (covered, traced) = (ids("covered"), ids("traced"));
    assert!(covered.len() > 40, "{covered:?}");
    assert_eq!(covered, traced);
    let coverage = Covered::new(&folder, &program).coverage();
    for (id, kind, _) in traced {
        let is = |wanted: SiteKind| kind == wanted as u8;
        assert_eq!(coverage.block(SiteId(id)).is_some(), is(SiteKind::Block));
        assert_eq!(coverage.branch(SiteId(id)).is_some(), is(SiteKind::Branch));
    }
}

fn count_in(report: &Value, name: &str, line: u64) -> u64 {
    let files = report["files"].as_array().unwrap();
    let of = |file: &&Value| file["file"].as_str().unwrap().ends_with(name);
    let file = files.iter().find(of).expect("the file is listed");
    let lines = file["lines"].as_array().unwrap();
    let found = lines.iter().find(|entry| entry["line"] == line);
    found.expect("the line is listed")["count"]
        .as_u64()
        .unwrap()
}

#[test]
fn json_has_the_documented_fields() {
    let folder = Folder::new();
    let program = build(&folder);
    let (text, _) = folder.expect(0, &["coverage", &program, "--json", "--", "x"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], 1);
    assert_eq!(report["command"], "coverage");
    assert_eq!(report["program"], "./prog");
    assert_eq!(report["result"]["exit"], 5);
    assert_eq!(report["totals"]["functions"]["covered"], 2);
    assert_eq!(report["totals"]["functions"]["total"], 3);
    assert_eq!(report["totals"]["branch_sides"]["covered"], 5);
    assert_eq!(report["totals"]["lines"]["total"], 17);
    assert_eq!(report["files"][0]["lines"][0]["line"], 3);
    assert_eq!(report["files"][0]["lines"][0]["count"], 0);
    let branch = &report["files"][0]["branches"][0];
    assert_eq!(branch["line"], 7);
    assert_eq!(branch["taken"], 5);
    assert_eq!(branch["not_taken"], 1);
    assert!(branch["column"].is_u64());
    assert_eq!(report["uncounted"], serde_json::json!([]));
}

#[test]
fn the_summary_is_short_and_names_what_never_ran() {
    let folder = Folder::new();
    let program = build(&folder);
    let (text, error) = folder.expect(0, &["coverage", &program]);
    assert_eq!(error, "");
    assert_contains(
        &text,
        &[
            "./prog ended with exit code 5",
            "lines          82 %  14 of 17",
            "branch sides   83 %  5 of 6",
            "functions      66 %  2 of 3",
            "main.c   ████████████████····  81 %  9 of 11 lines",
            "Never entered",
            "spare  main.c:2",
        ],
    );
    assert!(text.lines().count() < 20, "{text}");
}

#[test]
fn lcov_files_can_be_written_and_wrong_places_are_named() {
    let folder = Folder::new();
    let program = build(&folder);
    folder.expect(0, &["coverage", &program, "--lcov", "prog.info"]);
    let text = fs::read_to_string(folder.path().join("prog.info")).unwrap();
    let source = folder.path().canonicalize().unwrap().join("main.c");
    assert_contains(
        &text,
        &[
            &format!("SF:{}\n", source.display()),
            "FN:2,spare\n",
            "FNDA:0,spare\n",
            "FNDA:3,weigh\n",
            "BRDA:7,0,0,5\nBRDA:7,0,1,1\n",
            "DA:8,5\n",
            "LF:11\nLH:9\nend_of_record\n",
        ],
    );
    let (_, error) = folder.expect(2, &["coverage", &program, "--lcov", "no/such/folder"]);
    assert_contains(&error, &["cannot write no/such/folder"]);
}

#[test]
fn a_program_that_does_not_end_is_stopped_and_shown() {
    let folder = Folder::new();
    let program = folder.build("hangs", "int main(void) { for (;;); }\n");
    let (text, _) = folder.expect(0, &["coverage", &program, "--timeout", "0.3"]);
    assert_contains(&text, &["did not end within 300 ms", "hangs.c"]);
}

#[test]
fn a_limit_on_file_sizes_is_named() {
    let folder = Folder::new();
    let program = build(&folder);
    variant(&folder, &program, "covered");
    let mut command = folder.command(&["coverage", &program]);
    let limit = libc::rlimit {
        rlim_cur: 1 << 20,
        rlim_max: 1 << 20,
    };
    // SAFETY: a system call only.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let (_, error) = expect(70, command);
    assert_contains(&error, &["coverage counters", "ulimit -f unlimited"]);
}

#[test]
fn standard_input_is_passed_and_a_missing_one_is_named() {
    let folder = Folder::new();
    let program = folder.build(
        "reads",
        "#include <stdio.h>\nint main(void) {\n    return getchar() == 'a';\n}\n",
    );
    folder.file("input", "a");
    let (text, _) = folder.expect(0, &["coverage", &program, "--stdin", "input"]);
    assert_contains(&text, &["exit code 1"]);
    let (_, error) = folder.expect(2, &["coverage", &program, "--stdin", "nothing"]);
    assert_contains(&error, &["nothing", "standard input"]);
}
