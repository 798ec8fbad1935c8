//! Every error of set-up, build, record and patch that a user can cause, as a table: the words that were typed, and what the message has to
//! have: what happened, why, and what to do.
//!
//! What newcomers meet first is in `wrong_use_project.rs`, programs without a project are in `wrong_use.rs`, files and folders in
//! `wrong_use_places.rs`, what a machine forbids or lacks in `wrong_use_machine.rs`. `src/failure/table.rs` knows which error is where.

mod support;

use std::fs;
use std::process::Command;

use support::{Folder, git, says, set_mode, without_privileges};

const PROGRAM: &str = "int main(void) { return 0; }\n";
const MAKEFILE: &str = "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\t./prog\n";

/// Something that goes wrong.
struct Case<'c> {
    words: &'c [&'c str],
    exit: i32,
    /// What happened, and why.
    what: &'c [&'c str],
    /// What to do, in the lines of the hint.
    hint: &'c [&'c str],
}

const fn case<'c>(
    words: &'c [&'c str],
    exit: i32,
    what: &'c [&'c str],
    hint: &'c [&'c str],
) -> Case<'c> {
    Case {
        words,
        exit,
        what,
        hint,
    }
}

#[track_caller]
fn all(folder: &Folder, cases: &[Case<'_>]) {
    for case in cases {
        says(folder.command(case.words), case.exit, case.what, case.hint);
    }
}

/// A project of two commits.
fn project(makefile: &str) -> Folder {
    let folder = Folder::project(makefile, PROGRAM);
    folder.file("prog.c", &PROGRAM.replace('0', "1"));
    git(folder.path(), &["commit", "-q", "-a", "-m", "second"]);
    folder
}

#[test]
fn set_up() {
    let folder = Folder::new();
    all(
        &folder,
        &[
            case(
                &["init", "nowhere"],
                2,
                &["cannot look at nowhere", "No such file"],
                &["is the name right"],
            ),
            case(
                &["init", "--system", "meson"],
                2,
                &["has no meson.build"],
                &["without --system"],
            ),
        ],
    );
    folder.file("Makefile", MAKEFILE);
    fs::create_dir(folder.path().join("parallax.toml")).unwrap();
    all(
        &folder,
        &[case(
            &["init", "--force"],
            2,
            &["cannot write", "parallax.toml", "Is a directory"],
            &["a folder is where a file should be"],
        )],
    );
    fs::remove_dir(folder.path().join("parallax.toml")).unwrap();
    set_mode(folder.path(), 0o555);
    says(
        without_privileges(folder.command(&["init"])),
        2,
        &["cannot write", "parallax.toml", "Permission denied"],
        &["ls -ld shows who may"],
    );
    set_mode(folder.path(), 0o755);
    folder.expect(0, &["init"]);
    set_mode(&folder.path().join("parallax.toml"), 0);
    says(
        without_privileges(folder.command(&["build"])),
        2,
        &["cannot read", "parallax.toml", "Permission denied"],
        &["ls -ld shows who may"],
    );
}

#[test]
fn settings() {
    let folder = project(MAKEFILE);
    let path = folder.path().join("parallax.toml");
    let good = fs::read_to_string(&path).unwrap();
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "[build\n",
            &["parallax.toml:", "[build"],
            &["parallax init --print"],
        ),
        (
            "[test]\ncommand = 3\n",
            &["parallax.toml:2", "test.command must be", "command = 3"],
            &["parallax schema --config"],
        ),
        (
            "[build]\njobs = \"many\"\n",
            &["parallax.toml:2", "build.jobs must be", "many"],
            &["parallax schema --config"],
        ),
        (
            "[limits]\ntimeout = \"soon\"\n",
            &["parallax.toml:2", "limits.timeout", "soon"],
            &["parallax schema --config"],
        ),
        (
            "[build]\nconfigrue = \"\"\n",
            &["parallax.toml:2", "no setting", "configrue"],
            &["did you mean", "build.configure"],
        ),
        (
            "[weather]\nsun = true\n",
            &["parallax.toml:", "no setting", "weather"],
            &["parallax schema --config lists all"],
        ),
    ];
    for (text, what, hint) in table {
        fs::write(&path, text).unwrap();
        says(folder.command(&["build"]), 2, what, hint);
    }
    fs::write(&path, good).unwrap();
    all(
        &folder,
        &[
            case(
                &["build", "--set", "build.jobs=many"],
                2,
                &["--set build.jobs=many", "build.jobs"],
                &["parallax schema --config"],
            ),
            case(
                &["build", "--set", "build.jbos=2"],
                2,
                &["--set build.jbos=2", "no setting"],
                &["did you mean build.jobs"],
            ),
            case(
                &["build", "--set", "nonsense"],
                2,
                &["--set nonsense"],
                &["parallax"],
            ),
        ],
    );
    let mut command = folder.command(&["build"]);
    command.env("PARALLAX_BUILD_JOBS", "many");
    says(
        command,
        2,
        &["environment variable PARALLAX_BUILD_JOBS", "many"],
        &["parallax schema --config"],
    );
}

#[test]
fn build() {
    let folder = project(MAKEFILE);
    all(
        &folder,
        &[
            case(
                &["build", "--set", "build.tree=\"out\""],
                3,
                &["was built, but there is no", "out"],
                &["build.tree in parallax.toml"],
            ),
            case(
                &["build", "--cached", "HEAD~1..HEAD"],
                2,
                &["--cached and --worktree take a single revision"],
                &["a range is built without them"],
            ),
            case(
                &["build", "v9"],
                2,
                &["there is no revision \"v9\""],
                &["HEAD~1..HEAD"],
            ),
            case(
                &["build", "--set", "build.build=\"./no-such-tool\""],
                3,
                &["step build ended with", "$ ./no-such-tool", "not found"],
                &["the whole output is in"],
            ),
            case(
                &["build", "--set", "build.configure=\"exit 7\""],
                3,
                &["step configure ended with", "7"],
                &["the whole output is in"],
            ),
            case(
                &["build", "--set", "build.bootstrap=\"kill -9 $$\""],
                3,
                &["step bootstrap ended with", "signal"],
                &["the whole output is in"],
            ),
        ],
    );
    // What the compiler cannot do without is in the build's own output, with the package that has it.
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for tool in ["sh", "make", "git", "env"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        std::os::unix::fs::symlink(found.trim(), bin.join(tool)).unwrap();
    }
    let mut command = folder.command(&["build", "--force"]);
    command.env("PATH", &bin);
    says(
        command,
        3,
        &["clang-19 was not found", "apt-get install clang-19"],
        &["the whole output is in"],
    );
    fs::remove_file(bin.join("git")).unwrap();
    let mut command = folder.command(&["build", "HEAD~1..HEAD"]);
    command.env("PATH", &bin);
    says(command, 2, &["git"], &["git"]);
}

#[test]
fn record() {
    let folder = project(MAKEFILE);
    all(
        &folder,
        &[
            case(
                &["record", "--set", "test.command="],
                2,
                &["no test command is known", "nothing to record"],
                &["test.command in parallax.toml", "--"],
            ),
            case(
                &["record", "--program", "other"],
                2,
                &["the project has no such program"],
                &["parallax build shows its programs"],
            ),
            case(
                &["record", "--", "./no-such-script"],
                3,
                &["cannot start ./no-such-script", "No such file"],
                &["behind --"],
            ),
            case(
                &["record", "-C", "nowhere", "--", "true"],
                2,
                &["cannot find nowhere", "No such file"],
                &["is the name right"],
            ),
            case(
                &["record", "-C", ".", "--", "true"],
                2,
                &["no program below", "built with parallax-cc"],
                &["CC=parallax-cc", "--program"],
            ),
            case(
                &["record", "-C", ".", "--program", "other", "--", "true"],
                2,
                &["cannot find", "other"],
                &["is the name right"],
            ),
        ],
    );
    // Scenarios by the beginning of their name: of seventeen, two begin alike.
    let many = "for i in 1 2 3 4 5 6 7 8 9 a b c d e f g h; do ./prog $i; done";
    folder.expect(0, &["record", "--", "sh", "-c", many]);
    let (list, _) = folder.expect(0, &["scenarios", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let ids = list["scenarios"].as_array().unwrap().iter();
    let mut begins: Vec<&str> = ids.map(|one| &one["id"].as_str().unwrap()[..1]).collect();
    begins.sort_unstable();
    let twice = begins.windows(2).find(|pair| pair[0] == pair[1]).unwrap();
    all(
        &folder,
        &[
            case(
                &["scenarios", "no-such-name"],
                2,
                &["there is no scenario no-such-name"],
                &["parallax scenarios lists them"],
            ),
            case(
                &["scenarios", twice[0]],
                2,
                &["is the beginning of", "scenarios"],
                &["give more of its name"],
            ),
        ],
    );
    // A store that is none.
    let store = folder.path().join(".parallax/store.sqlite");
    fs::write(&store, "this is no database, and not an empty file either").unwrap();
    for words in [&["record"][..], &["scenarios"]] {
        says(
            folder.command(words),
            70,
            &["the store", "is damaged"],
            &["parallax clean --store"],
        );
    }
}

#[test]
fn patch() {
    let folder = project(MAKEFILE);
    for command in ["targets", "cover", "diverge", "interact", "graph", "tests"] {
        all(
            &folder,
            &[
                case(
                    &[command, "v9..HEAD"],
                    2,
                    &["there is no revision \"v9\""],
                    &["HEAD~1..HEAD"],
                ),
                case(
                    &[command, "a..b..c"],
                    2,
                    &["\"a..b..c\" is not of the form OLD..NEW"],
                    &["HEAD~1..HEAD"],
                ),
            ],
        );
    }
    for command in ["check", "diverge", "tests"] {
        all(
            &folder,
            &[case(
                &[command, "HEAD..HEAD"],
                2,
                &["HEAD and HEAD are the same"],
                &["give two that differ"],
            )],
        );
    }
    all(
        &folder,
        &[
            case(
                &["targets", "HEAD"],
                2,
                &["a patch is what lies between two revisions"],
                &["HEAD~1..HEAD is the last commit"],
            ),
            case(
                &["targets", "--program", "prog"],
                2,
                &["a program alone does not say which lines are meant"],
                &["--at FILE:LINE", "--uncovered"],
            ),
        ],
    );
    // Histories without a common commit.
    git(folder.path(), &["checkout", "-q", "--orphan", "other"]);
    git(folder.path(), &["commit", "-q", "-m", "alone"]);
    all(
        &folder,
        &[
            case(
                &["check", "main...other"],
                2,
                &["main and other have no common ancestor"],
                &["two dots"],
            ),
            case(
                &["graph", "prog"],
                2,
                &["prog is only one program, and no range"],
                &["the old and the new program", "HEAD~1..HEAD"],
            ),
            case(
                &["check", "main..other", "--golden", "v9"],
                2,
                &["there is no revision \"v9\""],
                &["HEAD~1..HEAD"],
            ),
            case(
                &["report"],
                2,
                &["no patch has been checked here"],
                &["parallax check"],
            ),
        ],
    );
    git(folder.path(), &["checkout", "-q", "main"]);
    // Where the report and the tests go.
    folder.expect(1, &["check", "HEAD~1..HEAD", "--budget", "1s", "--json"]);
    let file = folder.file("occupied", "");
    all(
        &folder,
        &[
            case(
                &["report", "-o", "occupied/report.html"],
                2,
                &["the report cannot be written", "occupied/report.html"],
                &["another place with -o"],
            ),
            case(
                &["report", "-o", "report.doc"],
                2,
                &["which form report.doc is to have is not clear"],
                &["--format", "report.html"],
            ),
            case(
                &["tests", "HEAD~1..HEAD", "-o", "occupied/tests.patch"],
                2,
                &["cannot write occupied/tests.patch", "Not a directory"],
                &["a file is where a folder should be"],
            ),
        ],
    );
    fs::remove_file(file).unwrap();
    fs::write(folder.path().join(".parallax/check.json"), "{}").unwrap();
    says(
        folder.command(&["report"]),
        2,
        &["no report of this version of parallax"],
        &["parallax check makes it anew"],
    );
    // Templates of tests.
    folder.file("strange.sh", "{{weather}}\n");
    folder.file("empty.sh", "true\n");
    let table: &[(&str, &[&str], &str)] = &[
        (
            "none.sh",
            &["cannot read the template", "none.sh", "No such file"],
            "test.template of parallax.toml",
        ),
        (
            "strange.sh",
            &["strange.sh:1", "there is no mark {{weather}}"],
            "{{check}}",
        ),
        ("empty.sh", &["has none of the marks"], "{{check}}"),
    ];
    for (template, what, hint) in table {
        let setting = format!("test.template=\"{template}\"");
        let words = ["tests", "HEAD~1..HEAD", "--set", &setting];
        says(folder.command(&words), 2, what, &[hint]);
    }
}
