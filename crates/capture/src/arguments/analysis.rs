//! What a command line makes, and whether Parallax takes part.

use super::Item;
use super::language::{Content, classify};

/// What the command makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Nothing that could carry a record: clang is simply executed.
    PassThrough,
    /// Objects or assembly.
    Compile,
    /// A program or shared library, possibly compiling sources on the way.
    Link,
    /// One object out of several (`-r`), possibly compiling sources on the way.
    PartialLink,
}

/// A source that can be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub source: String,
    pub language: String,
}

/// A command line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    pub goal: Goal,
    pub units: Vec<Unit>,
    /// The value of `-o`.
    pub output: Option<String>,
    /// Neither the user nor an option that relies on it asked for debug information.
    pub without_debug: bool,
    /// The target is not the compiler's default one.
    pub other_target: bool,
}

/// Understands a parsed command line. `cplusplus` says that it is the C++ driver's.
pub fn analyse(items: &[Item], cplusplus: bool) -> Analysis {
    let mut analysis = Analysis {
        goal: Goal::Link,
        units: Vec::new(),
        output: None,
        without_debug: true,
        other_target: false,
    };
    let mut pass_through = false;
    let mut partial = false;
    let mut inputs = 0;
    for item in items {
        match item {
            Item::Option(words) => {
                let option = words[0].as_str();
                pass_through |= makes_nothing_to_capture(option);
                match option {
                    "-c" | "-S" => analysis.goal = Goal::Compile,
                    "-r" => partial = true,
                    "-o" => analysis.output = words.get(1).cloned(),
                    "-m32" | "-mx32" | "-target" | "--target" => analysis.other_target = true,
                    _ if option.starts_with("--target=") => analysis.other_target = true,
                    _ if option.starts_with("-o") => analysis.output = Some(option[2..].to_owned()),
                    _ => {}
                }
                if let Some(wanted) = wants_debug(option) {
                    analysis.without_debug = !wanted;
                }
            }
            Item::Input { path, language } => {
                inputs += 1;
                let (language, content) = classify(path, language.as_deref(), cplusplus);
                match content {
                    Content::Compiled => {
                        analysis.units.push(Unit {
                            source: path.clone(),
                            language,
                        });
                    }
                    Content::Header => pass_through = true,
                    Content::Assembly | Content::Linked => {}
                }
            }
            Item::Library(_) => inputs += 1,
            Item::Linker(word) => partial |= word == "-r" || word == "--relocatable",
        }
    }
    if items.iter().any(needs_locations) || analysis.units.iter().any(|u| u.language == "ir") {
        analysis.without_debug = false;
    }
    let captures = !analysis.units.is_empty();
    let only_copies = match analysis.goal {
        // Assembler sources, and objects that are put together as they are.
        Goal::Compile => !captures,
        _ => partial && !captures,
    };
    if pass_through || inputs == 0 || only_copies {
        analysis.goal = Goal::PassThrough;
    } else if analysis.goal == Goal::Link && partial {
        analysis.goal = Goal::PartialLink;
    }
    analysis
}

/// Assembler sources among the inputs, with their language.
pub fn assembler_source(item: &Item) -> Option<(&str, String)> {
    let Item::Input { path, language } = item else {
        return None;
    };
    let (language, content) = classify(path, language.as_deref(), false);
    (content == Content::Assembly).then_some((path, language))
}

/// Whether the item is a source that the compile captured.
pub fn is_captured_source(item: &Item) -> bool {
    let Item::Input { path, language } = item else {
        return false;
    };
    classify(path, language.as_deref(), false).1 == Content::Compiled
}

/// Options that make clang print something, or stop before there is an object.
fn makes_nothing_to_capture(option: &str) -> bool {
    matches!(
        option,
        "-E" | "-M"
            | "-MM"
            | "--preprocess"
            | "-fsyntax-only"
            | "-emit-llvm"
            | "-emit-ast"
            | "--analyze"
            | "--precompile"
            | "-fdriver-only"
            | "-rewrite-objc"
            | "-module-file-info"
            | "-###"
            // What -v prints is read by configure scripts (CMake looks for the linker's
            // inputs in it): they must see clang's own command lines.
            | "-v"
            | "--verbose"
            | "--version"
            | "--help"
            | "-help"
            | "--help-hidden"
            | "-dumpversion"
            | "-dumpmachine"
            | "-dumpfullversion"
            | "-dumpspecs"
            | "-cc1"
            | "-cc1as"
            | "-cc1gen-reproducer"
    ) || option.starts_with("-print-")
        || option.starts_with("--print-")
        || option.starts_with("-cc1")
}

/// Whether a `-g...` option switches debug information on or off, if it does either.
fn wants_debug(option: &str) -> Option<bool> {
    let rest = option.strip_prefix("-g")?;
    match rest {
        "0" | "gdb0" => Some(false),
        ""
        | "1"
        | "2"
        | "3"
        | "gdb"
        | "gdb1"
        | "gdb2"
        | "gdb3"
        | "dwarf"
        | "full"
        | "used"
        | "mlt"
        | "lldb"
        | "sce"
        | "dbx"
        | "line-tables-only"
        | "line-directives-only" => Some(true),
        _ if rest.starts_with("dwarf-") => Some(true),
        // How to write it, not whether: -gz, -gcolumn-info, -gno-...
        _ => None,
    }
}

/// Options whose result depends on source locations in the module: taking them out
/// again would change what the user gets.
fn needs_locations(item: &Item) -> bool {
    let Item::Option(words) = item else {
        return false;
    };
    let option = words[0].as_str();
    matches!(
        option,
        "--coverage" | "-coverage" | "-ftest-coverage" | "-fprofile-arcs"
    ) || [
        "-Rpass",
        "-fsave-optimization-record",
        "-fprofile-sample-use",
        "-fauto-profile",
    ]
    .iter()
    .any(|prefix| option.starts_with(prefix))
        || option == "-fdebug-info-for-profiling"
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn of(line: &str) -> Analysis {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        analyse(&parse(&words), false)
    }

    #[test]
    fn what_makes_no_object_passes_through() {
        for line in [
            "",
            "-E a.c",
            "-M a.c",
            "-fsyntax-only a.c",
            "-c -emit-llvm a.c",
            "-c a.s",
            "-c -x assembler-with-cpp a.c",
            "--version",
            "-v",
            "-print-prog-name=ld",
            "-Wl,--version",
            "a.h -o a.h.gch",
            "-x c-header stdin.x",
            "-r a.o b.o -o c.o",
            "-### a.c",
        ] {
            assert_eq!(of(line).goal, Goal::PassThrough, "{line}");
        }
    }

    #[test]
    fn what_makes_objects_or_programs_is_captured() {
        assert_eq!(of("-c a.c").goal, Goal::Compile);
        assert_eq!(of("-S a.c -MD").goal, Goal::Compile);
        assert_eq!(of("a.c -o a").goal, Goal::Link);
        assert_eq!(of("a.o -lm").goal, Goal::Link);
        assert_eq!(of("-shared a.o").goal, Goal::Link);
        assert_eq!(of("-r a.c b.o").goal, Goal::PartialLink);
        assert_eq!(of("-x c - -o a").units[0].source, "-");
        assert_eq!(of("a.c b.s c.o -oprog").output.as_deref(), Some("prog"));
    }

    #[test]
    fn the_last_word_about_debug_information_counts() {
        assert!(of("-c a.c").without_debug);
        assert!(of("-c a.c -g -g0").without_debug);
        assert!(of("-c a.c -gz -gno-column-info").without_debug);
        assert!(!of("-c a.c -g0 -gdwarf-4").without_debug);
        assert!(!of("-c a.c --coverage").without_debug);
        assert!(!of("-c a.bc").without_debug);
    }
}
