//! Both shells that people have give the program the bytes of the scenario, whatever those are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::*;

/// Prints its arguments, a variable and its standard input.
const SHOW: &str = "#!/bin/sh\nprintf '%s\\0' \"$@\" \"$VALUE\"\nexec cat\n";

/// What could mean something to a shell, to `printf`, or to a command that takes options.
fn samples() -> Vec<Vec<u8>> {
    let texts = [
        "",
        "plain",
        "-",
        "-n",
        "--",
        "-e -n\n",
        "two words",
        "it's",
        "'",
        "\"$HOME\" `id` $(id)",
        "100% %s %%d",
        "%",
        "a\\nb \\0 \\c",
        "\\",
        "\n",
        "\n\n",
        "\na\n\n",
        "-\n-",
        "a\tb\r\n",
        "\0",
        "a\0b\n",
        "-\0",
        "\u{1}2",
        "\u{1b}[31m",
        "größe\n",
        "\u{85}",
        "!x",
        "~",
        "*",
        "#",
        "PARALLAX_END\n",
        "a=b",
        "{}",
        "a;b&c|d>e<f",
    ];
    let mut samples: Vec<Vec<u8>> = texts.map(|text| text.as_bytes().to_vec()).into();
    samples.push(b"\xff\xfe'7\n\x80".to_vec());
    samples.push((0..32).chain(127..=255).collect());
    samples
}

fn without(bytes: &[u8], left_out: &[u8]) -> Vec<u8> {
    let kept = bytes.iter().filter(|byte| !left_out.contains(byte));
    kept.copied().collect()
}

/// Has the sample wherever a scenario can have it.
fn scenario(sample: &[u8]) -> Scenario {
    let (word, name) = (without(sample, b"\0"), without(sample, b"\0/"));
    let mut scenario = Scenario {
        argv: vec![word.clone().into(), "-x".into(), word.clone().into()],
        stdin: sample.into(),
        env: [("VALUE".into(), word.clone().into())].into(),
        files: [
            ("file".into(), sample.into()),
            ("-d/empty".into(), "".into()),
        ]
        .into(),
        modes: [("-d".into(), 0o700)].into(),
        ..Scenario::default()
    };
    if !name.is_empty() {
        scenario
            .files
            .insert([b"-d/", &name[..]].concat().into(), "x".into());
        scenario.directories.insert(name.into());
        scenario.links.insert("-link".into(), word.into());
    }
    scenario
}

/// Runs commands with a shell in a directory, and compares what the program is given.
fn check(shell: &str, commands: &str, directory: &Path, scenario: &Scenario) {
    let mut process = Command::new(shell);
    let output = process
        .args(["-c", commands])
        .current_dir(directory)
        .output()
        .unwrap();
    let words = scenario.argv.iter().chain(scenario.env.values());
    let mut expected: Vec<u8> = words.flat_map(|word| [&word[..], b"\0"].concat()).collect();
    expected.extend(&scenario.stdin.0);
    let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
    assert_eq!(
        shown(&output.stdout),
        shown(&expected),
        "{shell}: {commands}\n{output:?}"
    );
    let path = |name: &Bytes| directory.join(name.as_os_str());
    for (name, contents) in &scenario.files {
        let found = fs::read(path(name)).unwrap();
        assert_eq!(shown(&found), shown(contents), "{shell}: {commands}");
    }
    for (name, target) in &scenario.links {
        let found = fs::read_link(path(name)).unwrap();
        assert_eq!(found.as_os_str(), target.as_os_str(), "{shell}: {commands}");
    }
    for name in &scenario.directories {
        assert!(path(name).is_dir(), "{shell}: {commands}");
    }
    for (name, mode) in &scenario.modes {
        assert_eq!(
            path(name).metadata().unwrap().permissions().mode() & 0o777,
            *mode
        );
    }
}

#[test]
fn both_shells_give_the_program_its_bytes() {
    let work = tempfile::tempdir().unwrap();
    let program = work.path().join("it's show");
    fs::write(&program, SHOW).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = shell_word(program.as_os_str().as_bytes());
    for sample in samples() {
        let scenario = scenario(&sample);
        let pasted = pasted(&command_line(&program, &scenario), &scenario).unwrap();
        assert!(
            !pasted
                .iter()
                .any(|line| line.trim_end_matches(['\n', '\'']).contains('\t'))
        );
        let (work, layout) = (work.path().display(), script_layout(&scenario));
        let run = script_run(&scenario, false);
        let script = format!("program={program}\nwork={work}\nroot=$(pwd)\n{layout}{run}");
        for shell in ["dash", "bash"] {
            for commands in [&pasted.join("\n"), &pasted.join("; "), &script] {
                let directory = tempfile::tempdir().unwrap();
                check(shell, commands, directory.path(), &scenario);
            }
        }
    }
}

#[test]
fn what_a_shell_cannot_make_is_not_pasted() {
    let mut scenario = Scenario::default();
    scenario.pipes.insert("fifo".into());
    assert_eq!(pasted("cat fifo", &scenario), None);
    let large = Scenario {
        stdin: vec![b'a'; 4096].into(),
        ..Scenario::default()
    };
    assert_eq!(pasted("cat", &large), None);
}
