//! What the layers of the configuration come to, and what is told of mistakes in them.

use super::*;
use std::time::Duration;

fn file(text: &str) -> Layers {
    Layers {
        file: Some(("parallax.toml".into(), text.to_owned())),
        ..Layers::default()
    }
}

fn message(text: &str) -> String {
    file(text).resolve().unwrap_err().to_string()
}

fn meant(layers: &Layers) -> Option<String> {
    match layers.resolve().unwrap_err() {
        ConfigError::Unknown { meant, .. } => meant,
        other => panic!("{other}"),
    }
}

#[test]
fn texts_on_the_command_line_may_be_quoted_as_in_the_file() {
    let texts = [
        ("\"out\"", "out"),
        ("'out'", "out"),
        ("out", "out"),
        ("\"my tool\" --all", "\"my tool\" --all"),
        ("make CC=\"$CC\"", "make CC=\"$CC\""),
    ];
    for (given, taken) in texts {
        let layers = Layers {
            flags: vec![format!("build.build={given}")],
            ..Layers::default()
        };
        assert_eq!(layers.resolve().unwrap().build.build, taken);
    }
}

#[test]
fn the_command_line_beats_the_environment_beats_the_file_beats_the_defaults() {
    let mut layers = file("[build]\njobs = 2\nbuild = \"gmake\"\n[limits]\nmemory = \"2G\"\n");
    layers.variables = vec![
        ("PARALLAX_BUILD_JOBS".into(), "3".into()),
        ("PARALLAX_LIMITS_TIMEOUT".into(), "1m".into()),
        ("PARALLAX_CLANG".into(), "clang".into()),
        ("OTHER".into(), "x".into()),
    ];
    layers.flags = vec!["build.jobs=4".into()];
    let config = layers.resolve().unwrap();
    assert_eq!(config.build.jobs, 4);
    assert_eq!(config.build.build, "gmake");
    assert_eq!(config.limits.memory, 2 << 30);
    assert_eq!(config.limits.timeout, Duration::from_secs(60));
    assert_eq!(config.build.tree, ".");
    layers.flags.clear();
    assert_eq!(layers.resolve().unwrap().build.jobs, 3);
    layers.variables.clear();
    assert_eq!(layers.resolve().unwrap().build.jobs, 2);
}

#[test]
fn an_unknown_key_is_an_error_with_its_line_and_what_was_meant() {
    let layers = file("programs = []\n\n[build]\nconfigur = \"./configure\"\n");
    let error = layers.resolve().unwrap_err();
    assert_eq!(
        error.to_string(),
        "parallax.toml:4: there is no setting \"build.configur\""
    );
    assert_eq!(
        error.place().and_then(Place::text),
        Some("configur = \"./configure\"")
    );
    assert_eq!(meant(&layers).as_deref(), Some("build.configure"));
    assert_eq!(meant(&file("[biuld]\n")).as_deref(), Some("build"));
    assert_eq!(meant(&file("program = []\n")).as_deref(), Some("programs"));
    assert_eq!(meant(&file("[zzz]\n")), None);
}

#[test]
fn a_key_in_the_wrong_section_is_sent_to_the_right_one() {
    assert_eq!(
        meant(&file("[test]\nconfigure = \"x\"\n")).as_deref(),
        Some("build.configure")
    );
    assert_eq!(
        meant(&file("memory = \"1G\"\n")).as_deref(),
        Some("limits.memory")
    );
}

#[test]
fn a_mistyped_variable_or_flag_is_an_error_too() {
    let layers = Layers {
        variables: vec![("PARALLAX_BUILD_JOB".into(), "3".into())],
        ..Layers::default()
    };
    assert_eq!(meant(&layers).as_deref(), Some("PARALLAX_BUILD_JOBS"));
    let layers = Layers {
        variables: vec![("PARALLAX_RECORD_SPOOL".into(), "3".into())],
        ..Layers::default()
    };
    assert_eq!(layers.resolve().unwrap(), Config::default());
    let layers = Layers {
        flags: vec!["build.job=3".into()],
        ..Layers::default()
    };
    assert_eq!(meant(&layers).as_deref(), Some("build.jobs"));
    let layers = Layers {
        flags: vec!["build.jobs".into()],
        ..Layers::default()
    };
    assert!(
        layers
            .resolve()
            .unwrap_err()
            .to_string()
            .contains("KEY=VALUE")
    );
}

#[test]
fn wrong_types_and_values_are_told() {
    assert_eq!(
        message("[build]\nconfigure = [\"a\"]\n"),
        "parallax.toml:2: build.configure must be a string, not a list"
    );
    assert_eq!(
        message("programs = \"src/cut\"\n"),
        "parallax.toml:1: programs must be a list of strings, not the string \"src/cut\""
    );
    assert_eq!(
        message("build = 3\n"),
        "parallax.toml:1: build must be a section, as in [build], not the number 3"
    );
    assert_eq!(
        message("[build]\njobs = -1\n"),
        "parallax.toml:2: build.jobs: must not be negative"
    );
    assert!(message("[limits]\nmemory = \"2 parsecs\"\n").contains("limits.memory: unknown unit"));
    assert!(message("[limits]\ntimeout = 0\n").contains("positive"));
    assert!(message("[build\n").starts_with("parallax.toml:1: "));
    assert!(message("[limits]\nprocesses = 99999999999\n").contains("parallax.toml"));
}

#[test]
fn tables_of_the_users_own_keys_can_be_set_one_by_one() {
    let mut layers = file("[build.environment]\nCFLAGS = \"-O1\"\n");
    layers.variables = vec![("PARALLAX_BUILD_ENVIRONMENT_LDFLAGS".into(), "-s".into())];
    layers.flags = vec!["build.environment.CFLAGS=-O0".into()];
    let environment = layers.resolve().unwrap().build.environment;
    assert_eq!(environment["CFLAGS"], "-O0");
    assert_eq!(environment["LDFLAGS"], "-s");
}

#[test]
fn lists_in_variables_have_commas_or_brackets() {
    for text in ["src/cut, src/wc", "[\"src/cut\", \"src/wc\"]"] {
        let layers = Layers {
            variables: vec![("PARALLAX_PROGRAMS".into(), text.into())],
            ..Layers::default()
        };
        assert_eq!(layers.resolve().unwrap().programs, ["src/cut", "src/wc"]);
    }
}
