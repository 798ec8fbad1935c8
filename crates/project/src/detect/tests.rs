//! Detection on small trees.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::config::Layers;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn detect(&self) -> Detected {
        detect(self.0.path(), None, &|_| true).unwrap()
    }

    fn detect_without(&self, tool: &str) -> Detected {
        detect(self.0.path(), None, &|name| name != tool).unwrap()
    }
}

#[test]
fn autotools_programs_come_from_makefiles_with_their_variables() {
    let folder = Folder::new(&[
        ("configure", "#!/bin/sh\n"),
        ("Makefile.am", "SUBDIRS = src tests\n"),
        (
            "src/Makefile.am",
            "# bin_PROGRAMS = not this\nmore = diff3 \\\n  sdiff\nbin_PROGRAMS = cmp diff $(more)\n\
             sbin_PROGRAMS=daemon$(EXEEXT)\nnoinst_PROGRAMS = generator\ncheck_PROGRAMS = t1\n",
        ),
        (
            "src/cmp.c",
            "int main(){ getenv (\"POSIXLY_CORRECT\"); getenv(\"HOME\"); }\n",
        ),
        ("tests/Makefile.am", "bin_PROGRAMS = helper\n"),
        ("tests/helper.c", "getenv(\"TEST_ONLY\");"),
    ]);
    let found = folder.detect();
    assert_eq!(found.system, System::Autotools);
    assert_eq!(found.commands.configure, "./configure");
    assert_eq!(found.commands.bootstrap, "");
    assert_eq!(found.commands.test, "make -k check");
    assert_eq!(
        found.programs,
        [
            "src/cmp",
            "src/daemon",
            "src/diff",
            "src/diff3",
            "src/sdiff"
        ]
    );
    assert_eq!(found.folders, ["src"]);
    assert_eq!(found.skip, ["tests"]);
    assert_eq!(found.environment, ["POSIXLY_CORRECT"]);
}

#[test]
fn programs_of_included_makefiles_are_relative_to_the_top() {
    let folder = Folder::new(&[
        ("configure", ""),
        ("Makefile.am", "include $(top_srcdir)/src/local.mk\n"),
        ("src/local.mk", "bin_PROGRAMS = src/cut %D%/wc\n"),
        ("src/cut.c", ""),
    ]);
    assert_eq!(folder.detect().programs, ["src/cut", "src/wc"]);
}

#[test]
fn a_list_that_configure_fills_in_is_left_to_the_build() {
    let folder = Folder::new(&[
        ("configure", ""),
        ("src/local.mk", "bin_PROGRAMS = @bin_PROGRAMS@\n"),
    ]);
    let found = folder.detect();
    assert!(found.programs.is_empty());
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("@bin_PROGRAMS@"))
    );
}

#[test]
fn a_tree_without_configure_is_bootstrapped() {
    let ac = ("configure.ac", "AC_INIT\n");
    let found = Folder::new(&[ac, ("bootstrap", "")]).detect();
    assert_eq!(found.commands.bootstrap, "./bootstrap");
    let found = Folder::new(&[ac]).detect();
    assert_eq!(found.commands.bootstrap, "autoreconf --force --install");
    let found = Folder::new(&[ac]).detect_without("autoreconf");
    assert!(found.notes.iter().any(|note| note.contains("not on PATH")));
}

#[test]
fn cmake_programs_come_from_add_executable_with_variables_from_above() {
    let folder = Folder::new(&[
        (
            "CMakeLists.txt",
            "project(cmark C) # a comment (with add_executable(no))\nset(PROGRAM \"cmark_exe\")\nenable_testing()\n",
        ),
        ("Makefile", "all:\n\tcmake ...\n"),
        (
            "src/CMakeLists.txt",
            "add_executable(${PROGRAM} main.c)\nset_target_properties(${PROGRAM} PROPERTIES A b OUTPUT_NAME \"cmark\")\nADD_EXECUTABLE(imported IMPORTED)\n\
             if(FUZZ AND (A OR B))\n  add_executable (${PROJECT_NAME}-fuzz f.c)\nendif()\n",
        ),
        ("src/main.c", ""),
        (
            "api_test/CMakeLists.txt",
            "add_executable(api_test main.c)\n",
        ),
        ("api_test/main.c", ""),
    ]);
    let found = folder.detect();
    assert_eq!(found.system, System::Cmake);
    assert_eq!(found.programs, ["cmark", "cmark-fuzz"]);
    assert_eq!(found.commands.tree, "build");
    assert!(found.commands.test.starts_with("ctest"));
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    assert_eq!(found.skip, ["api_test"]);
}

#[test]
fn a_library_whose_only_programs_are_tests_names_those() {
    let folder = Folder::new(&[
        ("CMakeLists.txt", "add_library(yaml api.c)\n"),
        ("api.c", ""),
        (
            "tests/CMakeLists.txt",
            "add_executable(run-parser run-parser.c)\n",
        ),
        ("tests/run-parser.c", ""),
    ]);
    let found = folder.detect();
    assert_eq!(found.programs, ["run-parser"]);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("outside of tests"))
    );
    assert_eq!(found.commands.test, "");
}

#[test]
fn meson_programs_come_from_executable() {
    let folder = Folder::new(&[
        (
            "meson.build",
            "project('serd', 'c')\nserdi = executable(\n  'serdi', # the tool\n  files('src/serdi.c'),\n)\n\
             # executable('commented')\nmy_executable('other')\nsubdir('test')\n",
        ),
        ("src/serdi.c", ""),
        (
            "test/meson.build",
            "test('a', serdi)\nexecutable('t' + suffix)\n",
        ),
        ("test/t.c", ""),
    ]);
    let found = folder.detect();
    assert_eq!(found.system, System::Meson);
    assert_eq!(found.commands.test, "meson test -C build");
    assert_eq!(
        found.programs,
        ["serdi"],
        "names computed in tests do not matter"
    );

    let folder = Folder::new(&[("meson.build", "executable('t' + suffix)\n")]);
    let found = folder.detect();
    assert!(found.programs.is_empty());
    assert!(found.notes.iter().any(|note| note.contains("computed")));

    let folder = Folder::new(&[
        ("meson.build", "executable('serdi', 'serdi.c')\n"),
        ("serdi.c", ""),
    ]);
    let found = folder.detect();
    assert_eq!(found.programs, ["serdi"]);
    assert_eq!(found.folders, ["."]);
    assert!(found.commands.test.is_empty());
}

#[test]
fn a_plain_makefile_gets_the_compiler_on_its_command_line() {
    let folder = Folder::new(&[
        (
            "Makefile",
            "CC = gcc\nprog: prog.c\n\t$(CC) -o $@ $<\n.PHONY: test\ntest: prog\n\t./run\n",
        ),
        ("prog.c", ""),
    ]);
    let found = folder.detect();
    assert_eq!(found.system, System::Make);
    assert_eq!(found.commands.configure, "");
    assert!(found.commands.build.contains("CC=\"$CC\""));
    assert!(found.commands.test.ends_with(" test"));
}

#[test]
fn a_configure_script_that_is_there_comes_before_meson_before_cmake() {
    let all = [
        ("configure", ""),
        ("configure.ac", ""),
        ("meson.build", ""),
        ("CMakeLists.txt", ""),
        ("Makefile", ""),
    ];
    assert_eq!(Folder::new(&all).detect().system, System::Autotools);
    assert_eq!(Folder::new(&all[1..]).detect().system, System::Meson);
    let without = Folder::new(&all[1..]).detect_without("meson");
    assert_eq!(without.system, System::Cmake);
    assert!(
        without
            .notes
            .iter()
            .any(|note| note.contains("autotools and meson as well"))
    );
    let folder = Folder::new(&all);
    let asked = detect(folder.0.path(), Some(System::Cmake), &|_| true).unwrap();
    assert_eq!(asked.system, System::Cmake);
}

#[test]
fn a_tree_without_build_system_is_an_error() {
    let folder = Folder::new(&[("a.c", "")]);
    let error = detect(folder.0.path(), None, &|_| true).unwrap_err();
    assert!(matches!(error, DetectError::Nothing(_)));
    let error = detect(folder.0.path(), Some(System::Meson), &|_| true).unwrap_err();
    assert!(error.to_string().ends_with("has no meson.build"));
}

#[test]
fn what_is_built_wins_where_declarations_are_unclear() {
    let program = |name: &str| Program {
        name: name.to_owned(),
        path: PathBuf::from(name),
    };
    let built = [
        program("src/cut"),
        program("src/wc"),
        program("tests/helper"),
    ];
    let unclear = Declared {
        unclear: vec![DeclaredProgram {
            pattern: "bin_PROGRAMS".to_owned(),
            place: "src/local.mk".to_owned(),
        }],
        ..Declared::default()
    };
    let skip = ["tests".to_owned()];
    let (names, from) = settle(unclear, &built, &skip, &mut Vec::new());
    assert_eq!(names, ["src/cut", "src/wc"]);
    assert_eq!(from, "captured in this tree");
    let declared = Declared {
        programs: vec![DeclaredProgram {
            pattern: "src/cut".to_owned(),
            place: "src/cut".to_owned(),
        }],
        unclear: Vec::new(),
    };
    let (names, _) = settle(declared, &built, &skip, &mut Vec::new());
    assert_eq!(names, ["src/cut"]);
}

#[test]
fn the_proposed_file_says_what_was_found() {
    let folder = Folder::new(&[
        ("configure", ""),
        ("Makefile.am", "bin_PROGRAMS = prog\n"),
        ("prog.c", ""),
    ]);
    let found = folder.detect();
    let layers = Layers {
        file: Some(("parallax.toml".into(), found.config_text())),
        ..Layers::default()
    };
    let config = layers.resolve().unwrap();
    assert_eq!(config.programs, ["prog"]);
    assert_eq!(config.build.configure, "./configure");
    assert_eq!(config.test.command, "make -k check");
    assert_eq!(config.source.folders, ["."]);
}
