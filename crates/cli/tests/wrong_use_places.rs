//! Errors of files and folders that are not as they should be: not writable, in each other's place, or a damaged repository.

mod support;

use std::fs;

use support::{Folder, git, git_output, says, set_mode, without_privileges};

const PROGRAM: &str = "int main(void) { return 0; }\n";
const MAKEFILE: &str = "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\t./prog\n";

/// A project of two commits.
fn project() -> Folder {
    let folder = Folder::project(MAKEFILE, PROGRAM);
    folder.file("prog.c", &PROGRAM.replace('0', "1"));
    git(folder.path(), &["commit", "-q", "-a", "-m", "second"]);
    folder
}

#[test]
fn places_that_cannot_be_written() {
    let folder = project();
    let occupied = folder.file(".parallax", "");
    for words in [
        &["build"][..],
        &["check", "HEAD~1..HEAD"],
        &["record"],
        &["tests", "HEAD~1..HEAD"],
    ] {
        says(
            folder.command(words),
            2,
            &["cannot use", ".parallax"],
            &["a file is where a folder should be"],
        );
    }
    fs::remove_file(occupied).unwrap();
    let state = folder.path().join(".parallax");
    let refused = [
        // Where it is made, and where something is put into it.
        (folder.path(), 2),
        (state.as_path(), 70),
    ];
    for (place, exit) in refused {
        set_mode(place, 0o555);
        says(
            without_privileges(folder.command(&["build"])),
            exit,
            &["cannot use", ".parallax", "Permission denied"],
            &["ls -ld shows who may"],
        );
        set_mode(place, 0o755);
        folder.expect(0, &["build"]);
    }
}

#[test]
fn files_and_folders_in_each_others_place() {
    let folder = project();
    folder.expect(0, &["record"]);
    let state = folder.path().join(".parallax");
    let table: &[(&str, bool, &[&str], i32, &str)] = &[
        ("builds", false, &["build"], 70, "cannot use"),
        ("locks", false, &["record"], 70, "cannot use"),
        ("record.log", true, &["record"], 70, "cannot write"),
        ("check.json", true, &["report"], 2, "cannot use"),
        (
            "../parallax-accepted.toml",
            true,
            &["check"],
            2,
            "cannot use",
        ),
    ];
    for (name, is_folder, words, exit, what) in table {
        let (path, aside) = (state.join(name), state.join("aside"));
        let was_there = fs::rename(&path, &aside).is_ok();
        let hint = match is_folder {
            true => fs::create_dir(&path).map(|()| "a folder is where a file should be"),
            false => fs::write(&path, "").map(|()| "a file is where a folder should be"),
        };
        let file = path.file_name().unwrap().to_str().unwrap();
        let command = folder.command(words);
        says(command, *exit, &[what, file], &[hint.unwrap()]);
        let removed = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        removed.unwrap();
        if was_there {
            fs::rename(&aside, &path).unwrap();
        }
    }
    // The database asks the system itself, and does not say as much.
    fs::remove_file(state.join("store.sqlite")).unwrap();
    fs::create_dir(state.join("store.sqlite")).unwrap();
    says(
        folder.command(&["record"]),
        70,
        &["cannot use", "store.sqlite", "unable to open"],
        &["may it be written"],
    );
}

#[test]
fn a_repository_that_git_cannot_read_is_told_apart_from_none() {
    let folder = project();
    // Without the contents of a file.
    let object = git_output(folder.path(), &["rev-parse", "HEAD~1:prog.c"]);
    let (begin, rest) = object.split_at(2);
    let object = folder.path().join(format!(".git/objects/{begin}/{rest}"));
    fs::remove_file(object).unwrap();
    says(
        folder.command(&["build", "HEAD~1"]),
        2,
        &["git worktree add", "failed", "unable to read"],
        &["does git status work here"],
    );
    let index = folder.path().join(".git/index");
    let whole = fs::read(&index).unwrap();
    fs::write(&index, "nonsense\n").unwrap();
    says(
        folder.command(&["check", "HEAD~1..HEAD"]),
        2,
        &["git does not work in", "index"],
        &["what does git status say"],
    );
    fs::write(&index, whole).unwrap();
    fs::write(folder.path().join(".git/HEAD"), "nonsense\n").unwrap();
    says(
        folder.command(&["check", "HEAD~1..HEAD"]),
        2,
        &["git"],
        &["git"],
    );
    fs::remove_dir_all(folder.path().join(".git")).unwrap();
    says(
        folder.command(&["check", "HEAD~1..HEAD"]),
        2,
        &["is not in a git repository"],
        &["git init"],
    );
    git(folder.path(), &["init", "-q"]);
    for words in [&["check"][..], &["check", "HEAD~1..HEAD"]] {
        says(
            folder.command(words),
            2,
            &["has no commit yet"],
            &["git add -A && git commit"],
        );
    }
}
