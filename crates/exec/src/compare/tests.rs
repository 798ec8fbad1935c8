//! The golden table: what is taken out of outputs, and what stays.

use super::*;

const TABLE: &str = include_str!("tests.golden");

/// 15 November 2026, noon.
const NOON: i64 = 20_772 * 86_400 + 43_200;
const WINDOW: Window = Window {
    from: NOON - 2 * 86_400,
    to: NOON + 2 * 86_400,
};

fn names() -> Names {
    Names {
        program: "/build/src/prog".into(),
        name: b"./prog".to_vec(),
    }
}

/// With the program as the table has it.
fn normalised(text: &[u8], names: &Names) -> String {
    let text = named(&normalise(text, names, WINDOW), b"{program}");
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn outputs_are_normalised_as_the_golden_table_says() {
    let mut cases = 0;
    let mut wrong = String::new();
    for block in TABLE.split("\n\n") {
        let lines: Vec<&str> = block
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        for pair in lines.chunks(2) {
            let [before, after] = pair else {
                panic!("half a case: {pair:?}");
            };
            let (before, after) = (
                before.strip_prefix("< ").expect(before),
                after.strip_prefix("> ").expect(after),
            );
            let found = normalised(before.as_bytes(), &names());
            if found != after {
                wrong.push_str(&format!("< {before}\n> {after}\n! {found}\n"));
            }
            cases += 1;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(cases >= 40, "only {cases} cases");
}

fn ending(stdout: &str, stderr: &str) -> Ending {
    Ending {
        exit: Some(0),
        stdout: stdout.into(),
        stderr: stderr.into(),
        ..Ending::default()
    }
}

fn differences(one: &Ending, other: &Ending) -> Vec<Difference> {
    let other_names = Names {
        program: "/elsewhere/.libs/lt-prog".into(),
        name: b"/elsewhere/.libs/lt-prog".to_vec(),
    };
    let one = Side {
        ending: one,
        names: &names(),
    };
    let other = Side {
        ending: other,
        names: &other_names,
    };
    compare(one, other, WINDOW)
}

fn parts(one: &Ending, other: &Ending) -> Vec<String> {
    let found = differences(one, other);
    found.iter().map(Difference::part).collect()
}

#[test]
fn runs_that_differ_only_in_names_are_the_same() {
    let one = ending("at 0x5555555592a0\n", "./prog: no\nTry './prog --help'\n");
    let other = ending(
        "at 0x5555555a92a0\n",
        "/elsewhere/.libs/lt-prog: no\nTry '/elsewhere/.libs/lt-prog --help'\n",
    );
    assert_eq!(parts(&one, &other), [""; 0]);
}

#[test]
fn differences_have_the_programs_name_and_leave_alone_what_only_looks_like_a_mark() {
    let one = ending("", "./prog: no {program}\n");
    let other = ending("", "/elsewhere/.libs/lt-prog: no such {program}\n");
    let lines = |one: &Ending, other: &Ending| -> Vec<Line> {
        let found = differences(one, other);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].diff().unwrap().lines.clone()
    };
    assert_eq!(
        lines(&one, &other),
        [
            Line::One("prog: no {program}\n".into()),
            Line::Other("prog: no such {program}\n".into()),
        ]
    );
}

#[test]
fn a_program_known_by_its_place_in_the_build_tree_is_known_by_every_path_to_it() {
    let names = Names {
        program: "src/prog".into(),
        name: b"prog".to_vec(),
    };
    let text = b"/tmp/parallax-work/src/prog: no\n../src/prog: no\nsrc/prog: no\nother-src/prog: no\nsrc/program: no\n";
    assert_eq!(
        normalised(text, &names),
        "{program}: no\n{program}: no\n{program}: no\nother-src/prog: no\nsrc/program: no\n"
    );
}

#[test]
fn each_part_is_compared() {
    let one = ending("a\n", "b\n");
    let mut other = ending("c\n", "d\n");
    other.exit = None;
    other.signal = Some(11);
    other.answers.push("x".into());
    assert_eq!(parts(&one, &other), ["end", "stdout", "stderr", "answer 1"]);
}
