//! A report with a bit of everything, hostile bytes included, that all forms are tested on.
#![allow(dead_code, reason = "every form's test uses what it needs")]

use parallax_report::PatchReport;
use parallax_report::model::*;
use parallax_scenario::{Ending, Scenario};

/// Output of a program that means harm to whoever shows it.
pub const HOSTILE: &[u8] = b"</script><script>alert(1)</script>\n\x1b[31m]]> & \"quoted\" `tick` | pipe\n\xff\x00%0A::error::x\n";

const FIELD: &str = "\
#include <stdio.h>
#include \"field.h\"

/* Fields count from 1. */
int find(const char *line, int wanted, char separator) {
    int at = 0;
    while (wanted > 1) {
        if (line[at] == '\\0')
            return -1;
        if (line[at++] == separator)
            wanted--;
    }
    return at;
}

int width(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += *text == '\\t' ? 8 : 1;
    return width;
}

int pick(int wanted) {
    if (wanted < 0)
        return usage();
    if (wanted > limit)
        return -2;
    return table[wanted - 1];
}
";

fn end(exit: i32, stdout: &str, stderr: &str) -> Ending {
    Ending {
        exit: Some(exit),
        stdout: stdout.as_bytes().into(),
        stderr: stderr.as_bytes().into(),
        ..Ending::default()
    }
}

fn scenario(argv: &[&str], people: &str) -> Scenario {
    let mut scenario = Scenario {
        argv: argv.iter().map(|word| word.as_bytes().into()).collect(),
        ..Scenario::default()
    };
    if !people.is_empty() {
        scenario.files.insert("people".into(), people.into());
    }
    scenario
}

fn spot(what: &str, line: u32, text: &str) -> Step {
    Step {
        what: what.into(),
        file: Some("src/field.c".into()),
        line,
        text: text.into(),
        command: Some("field -f0 people".into()),
    }
}

fn guilty(hunk: usize) -> Guilty {
    Guilty {
        hunk,
        role: Role::Guilty,
    }
}

fn patch() -> Patch {
    let hunk = |old: (u32, u32), new: (u32, u32), removed: &[&str], added: &[&str]| Hunk {
        file: "src/field.c".into(),
        old: Span {
            first: old.0,
            count: old.1,
        },
        new: Span {
            first: new.0,
            count: new.1,
        },
        removed: removed.iter().map(|line| line.to_string()).collect(),
        added: added.iter().map(|line| line.to_string()).collect(),
    };
    Patch {
        range: "HEAD~1..HEAD".into(),
        old: Revision {
            label: "HEAD~1".into(),
            id: "1c2d3e4f5a6b7c8d9e0f1c2d3e4f5a6b7c8d9e0f".into(),
            is_commit: true,
        },
        new: Revision {
            label: "HEAD".into(),
            id: "a0b1c2d3e4f5a6b7c8d9a0b1c2d3e4f5a6b7c8d9".into(),
            is_commit: true,
        },
        files: vec![
            SourceFile {
                name: "src/field.c".into(),
                old_name: None,
                text: Some(FIELD.into()),
            },
            SourceFile {
                name: "src/gone.c".into(),
                old_name: None,
                text: None,
            },
        ],
        hunks: vec![
            hunk(
                (4, 1),
                (4, 1),
                &["/* Fields count from 0. */"],
                &["/* Fields count from 1. */"],
            ),
            hunk(
                (19, 1),
                (19, 1),
                &["        width++;"],
                &["        width += *text == '\\t' ? 8 : 1;"],
            ),
            hunk(
                (24, 2),
                (24, 4),
                &["    if (wanted < 1)", "        return usage();"],
                &[
                    "    if (wanted < 0)",
                    "        return usage();",
                    "    if (wanted > limit)",
                    "        return -2;",
                ],
            ),
            Hunk {
                file: "src/gone.c".into(),
                old: Span { first: 1, count: 1 },
                new: Span { first: 0, count: 0 },
                removed: vec!["int gone(void) { return 1; }".into()],
                added: Vec::new(),
            },
        ],
    }
}

fn findings() -> Vec<Finding> {
    let regression = Finding {
        id: "regression-3fa91c02".into(),
        fingerprint: "3fa91c02aa".into(),
        class: Class::Regression,
        kind: Some("out-of-bounds".into()),
        program: "src/field".into(),
        message: "out-of-bounds at src/field.c:28 in the new version only".into(),
        file: Some("src/field.c".into()),
        line: 28,
        command: "src/field -f0 people".into(),
        scenario: scenario(&["-f0", "people"], "ann:30\nbob:7\n"),
        scenario_id: Some("0123456789abcdef".into()),
        replay: "parallax replay 01234567 --on both --range HEAD~1..HEAD".into(),
        old: Some(end(2, "", "usage: field -fN FILE\n")),
        new: Some(Ending {
            signal: Some(11),
            ..Ending::default()
        }),
        differences: vec![
            Difference {
                part: "end".into(),
                old: "exit 2".into(),
                new: "SIGSEGV".into(),
                lines: Vec::new(),
            },
            Difference {
                part: "stderr".into(),
                lines: vec![Some(DifferenceLine::Old("usage: field -fN FILE\n".into()))],
                ..Difference::default()
            },
        ],
        problems: vec![Problem {
            kind: "out-of-bounds".into(),
            message: "global-buffer-overflow: 4 bytes read before table".into(),
            file: Some("src/field.c".into()),
            line: 28,
            functions: vec!["pick".into(), "main".into()],
        }],
        hunks: vec![guilty(2)],
        hunks_minimal: true,
        parting: Some(Parting {
            file: "src/field.c".into(),
            line: 24,
            old: Some("if (wanted < 1)".into()),
            new: Some("if (wanted < 0)".into()),
        }),
        steps: vec![
            spot("a test ran it", 24, "if (wanted < 0)"),
            spot(
                "changed the input so that the condition goes the other way in one version only",
                24,
                "if (wanted < 0)",
            ),
        ],
        count: 3,
        seconds: 1.25,
        ..Finding::default()
    };
    let difference = Finding {
        id: "difference-77aa01bc".into(),
        fingerprint: "77aa01bc00".into(),
        class: Class::Difference,
        program: "src/field".into(),
        message: "stdout".into(),
        file: Some("src/field.c".into()),
        line: 19,
        command: "src/field -w".into(),
        scenario: Scenario {
            argv: vec!["-w".into()],
            stdin: "a\tb\n".into(),
            ..Scenario::default()
        },
        replay: "parallax replay 89abcdef --on both --range HEAD~1..HEAD".into(),
        old: Some(Ending {
            exit: Some(0),
            stdout: b"3\n".to_vec().into(),
            ..Ending::default()
        }),
        new: Some(Ending {
            exit: Some(0),
            stdout: [b"10\n", HOSTILE].concat().into(),
            ..Ending::default()
        }),
        differences: vec![Difference {
            part: "stdout".into(),
            lines: vec![
                Some(DifferenceLine::Old("3\n".into())),
                Some(DifferenceLine::New("10\n".into())),
                Some(DifferenceLine::New(HOSTILE[..35].to_vec().into())),
                Some(DifferenceLine::New(HOSTILE[35..].to_vec().into())),
                None,
            ],
            ..Difference::default()
        }],
        hunks: vec![
            guilty(1),
            Guilty {
                hunk: 3,
                role: Role::Needed,
            },
        ],
        interaction: Some(Interaction {
            sequence: vec![
                ("src/field.c".into(), 19, "width += 8".into()),
                ("src/field.c".into(), 24, "if (wanted < 0)".into()),
            ],
            critical: true,
            inputs: 12,
            judgement: Some("regression".into()),
        }),
        technique: Technique::Interact,
        count: 1,
        ..Finding::default()
    };
    let both = Finding {
        id: "both-99".into(),
        fingerprint: "99".into(),
        class: Class::Both,
        kind: Some("overflow".into()),
        program: "src/field".into(),
        message: "overflow at src/main.c:9 in both versions".into(),
        command: "src/field -f99999999999 people".into(),
        scenario: scenario(&["-f99999999999", "people"], "x\n"),
        old: Some(end(1, "", "bad\n")),
        new: Some(end(1, "", "bad\n")),
        technique: Technique::Amplify,
        ..Finding::default()
    };
    let accepted = Finding {
        id: "difference-accepted1".into(),
        fingerprint: "acc".into(),
        program: "src/field".into(),
        message: "stderr".into(),
        command: "src/field --help".into(),
        scenario: scenario(&["--help"], ""),
        accepted: Some(Accepted {
            because: "the text was to be clearer".into(),
        }),
        ..Finding::default()
    };
    vec![both, accepted, difference, regression]
}

fn target(lines: &[u32], function: &str, state: State) -> Target {
    Target {
        file: "src/field.c".into(),
        lines: lines.to_vec(),
        function: function.into(),
        programs: vec!["src/field".into()],
        state,
        hits: match state {
            State::Suite => 12,
            State::Covered => 1,
            _ => 0,
        },
        ..Target::default()
    }
}

/// A patch that fails.
pub fn report() -> PatchReport {
    let covered = Target {
        command: Some("src/field -f0 people".into()),
        scenario: Some(scenario(&["-f0", "people"], "ann:30\n")),
        scenario_id: Some("0123".into()),
        steps: vec![spot("turned the condition", 24, "if (wanted < 0)")],
        test: Some("tests/parallax-field-28.sh".into()),
        seconds: 0.4,
        ..target(&[25], "pick", State::Covered)
    };
    let blocked = Target {
        why: Some("the branch at src/field.c:26 (if (wanted > limit)) did not go the other way; from there 0 branches".into()),
        seconds: 20.0,
        ..target(&[27], "pick", State::Blocked)
    };
    PatchReport {
        version: "0.1.0".into(),
        patch: patch(),
        programs: vec![Program {
            name: "src/field".into(),
            scenarios: 40,
            touching: 12,
        }],
        phases: vec![
            Phase {
                name: "build".into(),
                seconds: 4.0,
                gave: "2 versions".into(),
                left: None,
            },
            Phase {
                name: "diverge".into(),
                seconds: 30.0,
                gave: "2 differences".into(),
                left: None,
            },
            Phase {
                name: "amplify".into(),
                seconds: 2.0,
                gave: "1 error".into(),
                left: Some("the time was over".into()),
            },
            Phase {
                name: "interact".into(),
                seconds: 0.0,
                gave: String::new(),
                left: Some("no two changes meet".into()),
            },
        ],
        findings: findings(),
        targets: vec![
            target(&[19], "width", State::Suite),
            target(&[24, 26], "pick", State::Suite),
            covered,
            blocked,
        ],
        skipped: vec![Skipped {
            file: "src/field.c".into(),
            line: 4,
            why: "has no code".into(),
        }],
        losses: vec![
            Loss {
                function: "inet_aton".into(),
                count: 1200,
            },
            Loss {
                function: "getenv".into(),
                count: 3,
            },
        ],
        timeline: vec![
            Moment {
                seconds: 0.0,
                covered: 3,
                findings: 0,
            },
            Moment {
                seconds: 1.25,
                covered: 3,
                findings: 1,
            },
            Moment {
                seconds: 10.0,
                covered: 4,
                findings: 3,
            },
        ],
        graphs: vec![Graph {
            program: "src/field".into(),
            svg: "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 120 40\" width=\"120\" height=\"40\"><rect x=\"5\" y=\"5\" width=\"50\" height=\"20\" fill=\"none\" stroke=\"#888\"/><text x=\"10\" y=\"20\">24</text></svg>".into(),
        }],
        stale: vec!["difference-0ld".into()],
        notes: vec!["src/extra is in the new version only".into()],
        stats: Stats {
            runs: 12_345,
            paths: 678,
            queries: 9_000,
            seconds: 250.0,
            searched: 60.0,
            budget: Some(300.0),
            finished: 1_794_816_000,
        },
        ..PatchReport::default()
    }
}

/// A patch of whose changes one shows on three inputs.
pub fn repeated() -> PatchReport {
    let mut report = report();
    let difference = report.findings.remove(2);
    for (at, input) in ["a\tb\tc\n", "\t\t\t\t\n"].into_iter().enumerate() {
        report.findings.push(Finding {
            id: format!("difference-77aa01b{at}"),
            scenario: Scenario {
                stdin: input.into(),
                ..difference.scenario.clone()
            },
            ..difference.clone()
        });
    }
    report.findings.push(difference);
    report
}

/// A patch that passes.
pub fn clean() -> PatchReport {
    PatchReport {
        findings: Vec::new(),
        graphs: Vec::new(),
        losses: Vec::new(),
        stale: Vec::new(),
        notes: Vec::new(),
        targets: vec![target(&[19], "width", State::Suite)],
        skipped: Vec::new(),
        phases: Vec::new(),
        ..report()
    }
}
