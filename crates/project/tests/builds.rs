//! Builds of revisions: what is built, from what, how often, and what is said when it fails.

mod support;

use std::fs;
use std::time::SystemTime;

use parallax_project::{BuildError, RevisionError, Selection};
use support::{Folder, PROGRAM, words};

fn second() -> String {
    PROGRAM.replace("one", "two")
}

#[test]
fn both_sides_of_a_range_are_built_from_their_own_files() {
    let folder = Folder::repository();
    folder.write("prog.c", &second());
    folder.commit("second");
    let builds = folder.build(words("HEAD~1..HEAD")).unwrap();
    assert_eq!(Folder::output(&builds[0]), "one");
    assert_eq!(Folder::output(&builds[1]), "two");
    assert_eq!(builds[0].programs[0].name, "prog");
    assert!(
        builds[0]
            .tree
            .starts_with(folder.root().join(".parallax/builds"))
    );
    assert!(builds[0].logs.join("build.log").is_file());
}

#[test]
fn a_build_is_made_once_and_again_when_the_configuration_changes() {
    let folder = Folder::repository();
    let first = folder.build(words("HEAD")).unwrap().remove(0);
    assert!(!first.cached);
    let again = folder.build(words("main")).unwrap().remove(0);
    assert!(again.cached);
    assert_eq!(again.directory, first.directory);
    assert_eq!(again.programs, first.programs);
    assert_eq!(again.revision.label, "main");
    // What has no influence on the build leaves it alone; what has makes another.
    folder.write(
        "parallax.toml",
        "[build]\nbuild = \"make\"\njobs = 3\n[budget]\nruns = 7\n",
    );
    assert!(folder.build(words("HEAD")).unwrap()[0].cached);
    folder.write("parallax.toml", "[build]\nbuild = \"make -s\"\n");
    let other = folder.build(words("HEAD")).unwrap().remove(0);
    assert!(!other.cached);
    assert_ne!(other.directory, first.directory);
}

#[test]
fn a_build_that_lost_its_programs_is_made_again() {
    let folder = Folder::repository();
    let build = folder.build(words("HEAD")).unwrap().remove(0);
    fs::remove_file(&build.programs[0].path).unwrap();
    let again = folder.build(words("HEAD")).unwrap().remove(0);
    assert!(!again.cached);
    assert_eq!(Folder::output(&again), "one");
}

#[test]
fn a_project_that_was_moved_is_built_again() {
    let folder = Folder::project();
    folder.build(Selection::Current).unwrap();
    let elsewhere = folder.root().with_file_name("elsewhere");
    fs::rename(folder.root(), &elsewhere).unwrap();
    let project = parallax_project::Project::find(&elsewhere).unwrap();
    let revision = project.select(&Selection::Current).unwrap().new;
    let builds = project.builds(folder.toolchain());
    assert!(builds.find(&revision).unwrap().is_none());
    let build = builds.ensure(&revision, &mut |_| ()).unwrap();
    assert!(build.tree.starts_with(&elsewhere));
}

#[test]
fn git_refusing_to_work_is_told() {
    let folder = Folder::project();
    folder.git(&["init", "-q"]);
    let select = || folder.find().select(&words("HEAD~1..HEAD")).unwrap_err();
    let error = select();
    assert!(matches!(error, RevisionError::NoCommit { .. }), "{error}");
    folder.write(".git/config", "[nonsense");
    let RevisionError::NoRepository { complaint, .. } = select() else {
        panic!("git works");
    };
    assert!(complaint.is_some_and(|text| text.contains("config")));
}

#[test]
fn a_revision_that_does_not_build_is_named_with_step_and_last_lines() {
    let folder = Folder::repository();
    folder.write(
        "prog.c",
        "int main(void) { return nothing_of_that_name; }\n",
    );
    folder.commit("broken");
    let error = folder.build(words("HEAD~1..HEAD")).unwrap_err();
    let BuildError::Step(failed) = error else {
        panic!("{error}");
    };
    let last_lines = &failed.last_lines;
    assert_eq!((failed.revision.as_str(), failed.step), ("HEAD", "build"));
    assert_eq!(failed.status.code(), Some(2));
    assert!(
        last_lines
            .iter()
            .any(|line| line.contains("nothing_of_that_name"))
    );
    assert!(last_lines.last().unwrap().contains("make"));
    assert!(
        fs::read_to_string(&failed.log)
            .unwrap()
            .contains("nothing_of_that_name")
    );
    // Jobs that end later do not hide the reason.
    let noise = "\t@for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3; do echo $$i; done; done";
    let slow = format!("all:\n\t-$(CC) -o prog prog.c\n{noise}\n\tfalse\n");
    folder.write("Makefile", &slow);
    let error = folder.build(Selection::Current).unwrap_err();
    let BuildError::Step(failed) = error else {
        panic!("{error}");
    };
    assert!(
        failed.errors[0].contains("nothing_of_that_name"),
        "{failed:?}"
    );
    // The failure is not kept: the next try starts from nothing.
    assert!(folder.build(words("HEAD")).is_err());
    folder.write("parallax.toml", "[build]\nconfigure = \"exit 7\"\n");
    let error = folder.build(words("HEAD~1")).unwrap_err();
    assert!(error.to_string().contains("step configure"), "{error}");
}

#[test]
fn uncommitted_changes_and_new_files_are_built() {
    let folder = Folder::repository();
    folder.write("prog.c", "#include \"new.h\"\n");
    folder.write("new.h", &second());
    for selection in [
        words("HEAD.."),
        Selection::Worktree {
            base: "HEAD".to_owned(),
        },
    ] {
        let builds = folder.build(selection).unwrap();
        assert_eq!(Folder::output(&builds[0]), "one");
        assert_eq!(Folder::output(&builds[1]), "two");
        assert_eq!(builds[1].revision.label, "working tree");
    }
    assert!(folder.build(Selection::Current).unwrap()[0].cached);
}

#[test]
fn staged_changes_are_built_without_unstaged_ones() {
    let folder = Folder::repository();
    folder.write("prog.c", &second());
    folder.git(&["add", "prog.c"]);
    folder.write("prog.c", &PROGRAM.replace("one", "three"));
    let builds = folder
        .build(Selection::Cached {
            base: "HEAD".to_owned(),
        })
        .unwrap();
    assert_eq!(Folder::output(&builds[1]), "two");
}

#[test]
fn checkout_index_stash_branches_and_hooks_stay_untouched() {
    let folder = Folder::repository();
    folder.write("prog.c", &second());
    folder.git(&["stash", "-q"]);
    folder.write("prog.c", &PROGRAM.replace("one", "three"));
    folder.git(&["add", "prog.c"]);
    folder.write("prog.c", &PROGRAM.replace("one", "four"));
    folder.write("untracked.c", "");
    let hook = folder.root().join(".git/hooks/post-checkout");
    let mark = folder.root().join(".git/hook-ran");
    let script = format!("#!/bin/sh\ntouch '{}'\n", mark.display());
    folder.write(".git/hooks/post-checkout", &script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(hook, mode).unwrap();

    let index = folder.root().join(".git/index");
    let look = || {
        (
            fs::read(&index).unwrap(),
            fs::metadata(&index).unwrap().modified().unwrap(),
            fs::read_to_string(folder.root().join("prog.c")).unwrap(),
            folder.git(&["stash", "list"]),
            folder.git(&["for-each-ref"]),
            folder.git(&["rev-parse", "HEAD"]),
        )
    };
    let before = look();
    folder.build(words("HEAD..")).unwrap();
    folder
        .build(Selection::Cached {
            base: "HEAD".to_owned(),
        })
        .unwrap();
    assert!(look() == before);
    let status = folder.git(&["status", "--porcelain"]);
    assert_eq!(status, "MM prog.c\n?? untracked.c");
    assert!(!mark.exists());
}

#[test]
fn the_same_changes_have_the_same_name_and_none_at_all_are_head() {
    let folder = Folder::repository();
    let head = folder.git(&["rev-parse", "HEAD"]);
    let clean = folder.select(Selection::Current).new;
    assert_eq!(clean.id, head);
    // Our own file is no change.
    folder.write("parallax.toml", "[build]\nbuild = \"make -s\"\n");
    assert_eq!(folder.select(Selection::Current).new.id, head);
    folder.write("prog.c", &second());
    let first = folder.select(Selection::Current).new;
    assert_ne!(first.id, head);
    assert_eq!(folder.select(Selection::Current).new, first);
}

#[test]
fn three_dots_mean_the_common_ancestor() {
    let folder = Folder::repository();
    let base = folder.git(&["rev-parse", "HEAD"]);
    folder.git(&["checkout", "-q", "-b", "topic"]);
    let topic = folder.commit("topic");
    folder.git(&["checkout", "-q", "main"]);
    folder.commit("main moves on");
    let selected = folder.select(words("main...topic"));
    assert_eq!(selected.old.unwrap().id, base);
    assert_eq!(selected.new.id, topic);
}

#[test]
fn a_revision_that_does_not_exist_is_an_error() {
    let folder = Folder::repository();
    for text in ["nowhere..HEAD", "HEAD..nowhere", "--all", "a..b..c", ""] {
        assert!(folder.find().select(&words(text)).is_err(), "{text}");
    }
}

#[test]
fn committed_generated_files_are_as_new_as_their_sources_and_changed_sources_newer() {
    let folder = Folder::repository();
    folder.write("a.generated", "");
    folder.write("a.source", "");
    folder.commit("generated");
    folder.write("prog.c", &second());
    let build = folder.build(Selection::Current).unwrap().remove(0);
    let time = |name: &str| -> SystemTime {
        fs::metadata(build.source.join(name))
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(time("a.generated"), time("a.source"));
    assert!(time("prog.c") > time("a.source"));
}

#[test]
fn a_project_in_a_folder_of_its_repository_is_built_there() {
    let folder = Folder::new();
    folder.write("tools/prog.c", PROGRAM);
    folder.write("tools/Makefile", support::MAKEFILE);
    folder.write("tools/parallax.toml", support::CONFIG);
    folder.git(&["init", "-q", "-b", "main"]);
    folder.commit("first");
    let project = parallax_project::Project::find(&folder.root().join("tools")).unwrap();
    let selected = project.select(&Selection::Current).unwrap();
    let build = project
        .builds(folder.toolchain())
        .ensure(&selected.new, &mut |_| ())
        .unwrap();
    assert!(build.source.ends_with("source/tools"));
    assert_eq!(Folder::output(&build), "one");
}

#[test]
fn submodules_are_filled_from_the_users_copy() {
    let library = Folder::new();
    library.write("text.h", "#define TEXT \"from the submodule\"\n");
    library.git(&["init", "-q", "-b", "main"]);
    library.commit("library");
    let folder = Folder::repository();
    let url = library.root();
    folder.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        url.to_str().unwrap(),
        "lib",
    ]);
    folder.write(
        "prog.c",
        "#include <stdio.h>\n#include \"lib/text.h\"\nint main(void) { puts(TEXT); }\n",
    );
    folder.commit("with submodule");
    let build = folder.build(words("HEAD")).unwrap().remove(0);
    assert_eq!(Folder::output(&build), "from the submodule");
    assert!(build.notes.is_empty());
}

#[test]
fn a_tree_without_git_is_copied_and_built_away_from_it() {
    let folder = Folder::project();
    let build = folder.build(Selection::Current).unwrap().remove(0);
    assert_eq!(Folder::output(&build), "one");
    assert!(!folder.root().join("prog").exists());
    assert!(folder.build(Selection::Current).unwrap()[0].cached);
    folder.write("prog.c", &second());
    let build = folder.build(Selection::Current).unwrap().remove(0);
    assert_eq!(Folder::output(&build), "two");
    assert!(folder.find().select(&words("HEAD~1..HEAD")).is_err());
}

#[test]
fn a_source_package_inside_of_a_foreign_repository_is_no_part_of_it() {
    let folder = Folder::repository();
    folder.write(".gitignore", "package/\n");
    folder.commit("ignore");
    folder.write("package/prog.c", PROGRAM);
    folder.write("package/Makefile", support::MAKEFILE);
    folder.write("package/parallax.toml", support::CONFIG);
    let project = parallax_project::Project::find(&folder.root().join("package")).unwrap();
    assert!(project.repository.is_none());
}

#[test]
fn programs_are_those_that_the_configuration_names() {
    let folder = Folder::project();
    folder.write(
        "Makefile",
        "all:\n\tmkdir -p src tests\n\tfor p in src/a src/b tests/t; do $(CC) -o $$p prog.c || exit; done\n",
    );
    let names = |config: &str| -> Vec<String> {
        folder.write("parallax.toml", config);
        let build = folder.build(Selection::Current).unwrap().remove(0);
        let mut names: Vec<String> = build
            .programs
            .into_iter()
            .map(|program| program.name)
            .collect();
        names.extend(build.notes);
        names
    };
    assert_eq!(
        names("[build]\nbuild = \"make\""),
        ["src/a", "src/b", "tests/t"]
    );
    assert_eq!(
        names("[build]\nbuild = \"make\"\n[source]\nskip = [\"tests\"]"),
        ["src/a", "src/b"]
    );
    assert_eq!(
        names("programs = [\"b\", \"zz\"]\n[build]\nbuild = \"make\""),
        ["src/b", "no captured program is called \"zz\""]
    );
}

#[test]
fn a_build_that_does_not_use_the_compiler_is_an_error() {
    let folder = Folder::project();
    folder.write("Makefile", "prog: prog.c\n\tcc -o prog prog.c\n");
    let error = folder.build(Selection::Current).unwrap_err();
    assert!(
        matches!(error, BuildError::NothingCaptured { .. }),
        "{error}"
    );
}

#[test]
fn builds_can_be_removed_and_git_forgets_them() {
    let folder = Folder::repository();
    let build = folder.build(words("HEAD")).unwrap().remove(0);
    assert_eq!(folder.git(&["worktree", "list"]).lines().count(), 2);
    let project = folder.find();
    let builds = project.builds(folder.toolchain());
    builds.remove_all().unwrap();
    assert!(!build.directory.exists());
    assert_eq!(folder.git(&["worktree", "list"]).lines().count(), 1);
    // A directory that somebody removed by hand is no obstacle either.
    let build = folder.build(words("HEAD")).unwrap().remove(0);
    fs::remove_dir_all(&build.directory).unwrap();
    assert_eq!(
        Folder::output(&folder.build(words("HEAD")).unwrap()[0]),
        "one"
    );
}

#[test]
fn two_at_once_build_once() {
    let folder = Folder::project();
    folder.write(
        "Makefile",
        "prog: prog.c\n\tsleep 1\n\t$(CC) -o prog prog.c\n",
    );
    let cached =
        |builds: Result<Vec<parallax_project::Build>, BuildError>| builds.unwrap()[0].cached;
    let (first, second) = std::thread::scope(|scope| {
        let one = scope.spawn(|| cached(folder.build(Selection::Current)));
        let two = scope.spawn(|| cached(folder.build(Selection::Current)));
        (one.join().unwrap(), two.join().unwrap())
    });
    assert!(
        first != second,
        "one of them builds, the other waits for it"
    );
}
