//! Which environment variables are part of a scenario.
//!
//! Test harnesses export dozens. Kept are those that can make a difference: names that occur as strings in the program (it
//! can ask for no other by name), that its arguments mention, that the C library knows, and those that the test
//! itself set.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, SectionKind};

use crate::recording::Start;

/// What the C library asks for, on behalf of any program.
const LIBRARY: &[&[u8]] = &[
    b"LANG",
    b"LANGUAGE",
    b"LC_ALL",
    b"LC_COLLATE",
    b"LC_CTYPE",
    b"LC_MESSAGES",
    b"LC_MONETARY",
    b"LC_NUMERIC",
    b"LC_TIME",
    b"POSIXLY_CORRECT",
    b"TZ",
];

/// What shells and make keep for themselves, and what names the machine or its user.
const NEVER: &[&[u8]] = &[
    b"_",
    b"DUALCASE",
    b"GNUMAKEFLAGS",
    b"LD_LIBRARY_PATH",
    b"LOGNAME",
    b"MAKEFLAGS",
    b"MAKELEVEL",
    b"MAKE_TERMERR",
    b"MAKE_TERMOUT",
    b"MALLOC_PERTURB_",
    b"MFLAGS",
    b"OLDPWD",
    b"PWD",
    b"SHLVL",
    b"USER",
];

/// Longer values are hardly ever meant for a program.
const LONGEST_VALUE: usize = 4096;

/// What a program is asked about.
pub struct Question<'a> {
    pub start: &'a Start,
    pub program: &'a Path,
    /// The project's own shared libraries that it loaded.
    pub libraries: &'a BTreeSet<PathBuf>,
    /// It executed other programs, which the path leads to.
    pub with_path: bool,
}

/// Names and values, in an order that matters.
pub type Shown = Vec<(Vec<u8>, Vec<u8>)>;

pub struct Environments<'a> {
    always: &'a [Vec<u8>],
    /// By path: the constant data of programs and libraries.
    constants: HashMap<PathBuf, Vec<u8>>,
    /// Whether a name occurs in them.
    known: HashMap<(PathBuf, Vec<u8>), bool>,
}

impl<'a> Environments<'a> {
    pub fn new(always: &'a [Vec<u8>]) -> Environments<'a> {
        Environments {
            always,
            constants: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// All of them, in their order, if the program shows its environment: then it depends on every one. An empty
    /// environment is one as well.
    pub fn shown(
        start: &Start,
        chosen: &BTreeMap<Vec<u8>, Vec<u8>>,
        printed: &[u8],
    ) -> Option<Shown> {
        let lines: BTreeSet<&[u8]> = printed.split(|byte| matches!(byte, b'\n' | 0)).collect();
        let own = variables(&start.environment);
        let is_line =
            |(name, value): (&&[u8], &&[u8])| lines.contains(&*[*name, b"=", *value].concat());
        let mut others = own.iter().filter(|(name, _)| !chosen.contains_key(**name));
        if !others.any(is_line) && !own.iter().all(is_line) {
            return None;
        }
        let texts = start.environment.split(|byte| *byte == 0);
        Some(texts.filter_map(split).map(owned).collect())
    }

    pub fn choose(&mut self, question: &Question) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let own = variables(&question.start.environment);
        let parent = variables(&question.start.parent_environment);
        let mut chosen = BTreeMap::new();
        for (name, value) in &own {
            let is_configured = self.always.iter().any(|own| own == name);
            let is_wanted = is_configured
                || LIBRARY.contains(name)
                || (*name == b"PATH" && question.with_path)
                || (*name == b"PWD" && self.is_other_way(value, question))
                || (*name != b"PATH"
                    && !NEVER.contains(name)
                    && value.len() <= LONGEST_VALUE
                    && (parent.get(name) != Some(value) && !parent.is_empty()
                        || is_mentioned(name, &question.start.command_line)
                        || self.is_named(name, question)));
            if is_wanted {
                chosen.insert(name.to_vec(), value.to_vec());
            }
        }
        settle_locale(&mut chosen);
        chosen
    }

    /// Whether PWD leads to the working directory in another way than its real path does: only then it says something.
    fn is_other_way(&mut self, value: &[u8], question: &Question) -> bool {
        value != question.start.directory.as_os_str().as_bytes() && self.is_named(b"PWD", question)
    }

    /// Whether a name is a string of the program or one of its libraries.
    fn is_named(&mut self, name: &[u8], question: &Question) -> bool {
        let files = question.libraries.iter().map(PathBuf::as_path);
        files
            .chain([question.program])
            .any(|file| self.has_string(file, name))
    }

    fn has_string(&mut self, file: &Path, name: &[u8]) -> bool {
        let key = (file.to_owned(), name.to_vec());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let constants = self
            .constants
            .entry(file.to_owned())
            .or_insert_with(|| constants(file));
        let mut terminated = name.to_vec();
        terminated.push(0);
        let found = constants
            .windows(terminated.len())
            .any(|part| part == terminated);
        self.known.insert(key, found);
        found
    }
}

/// Leaves of the variables about the locale those that decide. Every run has a fixed one unless its scenario says otherwise.
fn settle_locale(chosen: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let all: &[u8] = b"LC_ALL";
    let is_locale = |name: &[u8]| name == b"LANG" || name.starts_with(b"LC_");
    match chosen.get(all).map(Vec::as_slice) {
        // It counts before all others.
        Some(value) if !value.is_empty() => {
            if matches!(value, b"C" | b"POSIX") {
                chosen.remove(b"LANGUAGE".as_slice());
            }
            chosen.retain(|name, _| name == all || !is_locale(name));
        }
        // Set but empty, it says that the others count.
        _ => {
            let is_set = |(name, value): (&Vec<u8>, &Vec<u8>)| !value.is_empty() && is_locale(name);
            if chosen.iter().any(is_set) {
                chosen.insert(all.to_vec(), Vec::new());
            }
        }
    }
}

/// The constant data of a program.
fn constants(path: &Path) -> Vec<u8> {
    let Ok(bytes) = fs::read(path) else {
        return Vec::new();
    };
    let Ok(file) = object::File::parse(&*bytes) else {
        return Vec::new();
    };
    let is_data = |kind: SectionKind| {
        matches!(
            kind,
            SectionKind::Data | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString
        )
    };
    let sections = file.sections().filter(|section| is_data(section.kind()));
    sections
        .filter_map(|section| section.data().ok())
        .collect::<Vec<_>>()
        .concat()
}

fn variables(environment: &[u8]) -> BTreeMap<&[u8], &[u8]> {
    let texts = environment.split(|byte| *byte == 0);
    texts.filter_map(split).collect()
}

/// Name and value.
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b'=')?;
    (at > 0).then(|| (&text[..at], &text[at + 1..]))
}

fn owned((name, value): (&[u8], &[u8])) -> (Vec<u8>, Vec<u8>) {
    (name.to_vec(), value.to_vec())
}

/// Whether an argument consists of a name, or has it as a part (`$NAME`, `${NAME}`).
fn is_mentioned(name: &[u8], command_line: &[u8]) -> bool {
    command_line
        .split(|byte| *byte == 0)
        .skip(1)
        .any(|argument| {
            argument == name
                || argument
                    .windows(name.len() + 1)
                    .any(|part| matches!(part[0], b'$' | b'{') && &part[1..] == name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(start: &Start, always: &[Vec<u8>]) -> Vec<String> {
        let own = std::env::current_exe().unwrap();
        let question = Question {
            start,
            program: &own,
            libraries: &BTreeSet::new(),
            with_path: false,
        };
        let chosen = Environments::new(always).choose(&question);
        let show = |(name, value): (Vec<u8>, Vec<u8>)| {
            format!(
                "{}={}",
                String::from_utf8_lossy(&name),
                String::from_utf8_lossy(&value)
            )
        };
        chosen.into_iter().map(show).collect()
    }

    fn start(environment: &[u8], parent: &[u8], command_line: &[u8]) -> Start {
        Start {
            program: 0,
            executable: PathBuf::new(),
            command_line: command_line.to_vec(),
            environment: environment.to_vec(),
            parent_environment: parent.into(),
            ancestors: Vec::new(),
            directory: PathBuf::new(),
            umask: None,
        }
    }

    #[test]
    fn variables_of_the_harness_are_left_out_and_those_of_the_test_are_kept() {
        let parent = b"abs_srcdir=/x\0PATH=/bin\0HOW=a\0";
        let environment = b"abs_srcdir=/x\0PATH=/bin\0HOW=b\0PWD=/t\0LANG=de\0QQ=1\0";
        let chosen = choose(&start(environment, parent, b"p\0"), &[]);
        assert_eq!(chosen, ["HOW=b", "LANG=de", "LC_ALL=", "QQ=1"]);
    }

    #[test]
    fn a_program_that_shows_its_environment_gets_all_of_it_in_its_order() {
        let environment = start(b"Z_QX=1\0A_QX=2\0bad\0", b"", b"p\0");
        let shown = |chosen: &[(&str, &str)], printed: &[u8]| {
            let chosen = chosen
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            Environments::shown(&environment, &chosen.collect(), printed)
        };
        let all = [("Z_QX", "1"), ("A_QX", "2")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(shown(&[], b"x\nA_QX=2\n"), Some(all.into()));
        assert_eq!(shown(&[], b"A_QX=\nZ_QX=12\n"), None);
        // It may be the only one that the program knows.
        assert_eq!(shown(&[("A_QX", "2")], b"A_QX=2\n"), None);
        let known = [("A_QX", "2"), ("Z_QX", "1")];
        assert!(shown(&known, b"A_QX=2\nZ_QX=1\n").is_some());
        let none = Environments::shown(&start(b"", b"", b"p\0"), &BTreeMap::new(), b"");
        assert_eq!(none, Some(Vec::new()));
    }

    #[test]
    fn of_the_locale_only_what_decides_is_kept() {
        let chosen = |environment: &[u8]| choose(&start(environment, environment, b"p\0"), &[]);
        assert_eq!(chosen(b"LANG=de\0LC_ALL=C\0LANGUAGE=fr\0"), ["LC_ALL=C"]);
        assert_eq!(chosen(b"LC_CTYPE=de\0"), ["LC_ALL=", "LC_CTYPE=de"]);
        assert!(chosen(b"LANG=\0").len() < 2);
    }

    #[test]
    fn variables_that_the_program_or_its_arguments_name_are_kept() {
        // A string of this very program, like those given to getenv.
        let marker = "PARALLAX_MARKED_VARIABLE\0";
        assert!(std::hint::black_box(marker).len() > 1);
        let environment = b"PARALLAX_MARKED_VARIABLE=1\0UNKNOWN_QX=2\0MINE_QX=3\0ASKED_QX=4\0";
        let chosen = choose(
            &start(environment, environment, b"p\0${MINE_QX}\0"),
            &[b"ASKED_QX".to_vec()],
        );
        assert_eq!(
            chosen,
            ["ASKED_QX=4", "MINE_QX=3", "PARALLAX_MARKED_VARIABLE=1"]
        );
    }
}
