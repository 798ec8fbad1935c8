//! Takes out of a program's output what differs between any two runs.
//!
//! Too little taken out makes differences of none; too much hides real ones. So each rule is narrow: addresses only where
//! the kernel puts programs, dates only near the time of the runs, temporary names only where temporary files are.
//! `tests.golden` shows what every rule does and does not touch.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regex::bytes::{Captures, Regex};

use super::calendar::{DAY, MONTHS, Printed};
use parallax_scenario::WORK;

/// What the program was called in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Where it lies.
    pub program: PathBuf,
    /// Its `argv[0]`.
    pub name: Vec<u8>,
}

impl Names {
    /// What people call it.
    pub fn in_short(&self) -> Option<Vec<u8>> {
        let path = self.program.as_os_str().as_bytes();
        let name = file_name(path).or_else(|| file_name(&self.name))?;
        Some(name.strip_prefix(b"lt-").unwrap_or(&name).to_vec())
    }
}

/// The time in which runs took place, in seconds since 1970: dates that a program prints from its clock, or from
/// files that were just made, are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub from: i64,
    pub to: i64,
}

/// Time zones, `yesterday` and `tomorrow`.
const AROUND: i64 = 2 * DAY;

impl Window {
    /// For runs that took place now and some time ago.
    pub fn since(ago: Duration) -> Window {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs() as i64);
        Window {
            from: now - ago.as_secs() as i64 - AROUND,
            to: now + AROUND,
        }
    }

    fn holds(self, (from, to): (i64, i64)) -> bool {
        from <= self.to && to >= self.from
    }
}

/// The text as any other run would have printed it. [`named`] makes it readable where it has the program's name.
pub fn normalise(text: &[u8], names: &Names, window: Window) -> Vec<u8> {
    let mut text = rename(text, names);
    for rule in RULES.iter() {
        let replaced = rule
            .pattern
            .replace_all(&text, |found: &Captures<'_>| (rule.replace)(found, window));
        if let std::borrow::Cow::Owned(replaced) = replaced {
            text = replaced;
        }
    }
    text
}

/// Stands for the program, with a byte that no text has: what a program prints by itself is never taken for it.
pub(super) const PROGRAM: &[u8] = b"\0{program}";

/// A text in which the program has a name again, to be read by people.
pub fn named(text: &[u8], name: &[u8]) -> Vec<u8> {
    let mut named = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        match rest.strip_prefix(PROGRAM) {
            Some(after) => {
                named.extend(name);
                rest = after;
            }
            None => {
                named.push(rest[0]);
                rest = &rest[1..];
            }
        }
    }
    named
}

fn file_name(path: &[u8]) -> Option<Vec<u8>> {
    let path = Path::new(OsStr::from_bytes(path));
    path.file_name().map(|name| name.as_bytes().to_vec())
}

/// Puts one name in the place of all that the program is called: its path anywhere, its bare name where programs name
/// themselves.
fn rename(text: &[u8], names: &Names) -> Vec<u8> {
    let path = names.program.as_os_str().as_bytes();
    let mut text = text.to_vec();
    let mut paths = [path, &names.name];
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    for path in paths {
        if path.contains(&b'/') {
            text = replace_path(&text, path);
        }
    }
    let mut bases: Vec<Vec<u8>> = [file_name(path), file_name(&names.name)]
        .into_iter()
        .flatten()
        .collect();
    bases.dedup();
    for name in bases {
        // libtool's wrappers run programs under another name.
        let wrapped = [b"lt-", &*name].concat();
        for name in [wrapped, name] {
            text = replace_word(&text, &name, names_itself);
        }
    }
    text
}

/// Replaces a path that stands alone. Of a relative one also what leads to it: who recorded it knew it by its place in the build
/// tree, but the program may have been called by any path to there.
fn replace_path(text: &[u8], path: &[u8]) -> Vec<u8> {
    let relative = path.strip_prefix(b"./").unwrap_or(path);
    if relative.starts_with(b"/") || !relative.contains(&b'/') {
        return replace_word(text, path, |_| true);
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./+~".contains(byte);
    let mut replaced = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.iter().take_while(|byte| is_part(byte)).count();
        let (name, after) = rest.split_at(word.max(1));
        let leading = name.strip_suffix(relative);
        let is_program =
            leading.is_some_and(|leading| leading.is_empty() || leading.ends_with(b"/"));
        replaced.extend(if is_program { PROGRAM } else { name });
        rest = after;
    }
    replaced
}

/// Whether what comes before a name makes it the program's own.
fn names_itself(before: &[u8]) -> bool {
    let line = before
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or(before);
    let line = line.trim_ascii_end();
    line.is_empty()
        || [
            &b"Usage:"[..],
            b"usage:",
            b"or:",
            b"Try '",
            b"Try `",
            b"Try",
        ]
        .iter()
        .any(|word| line.ends_with(word))
}

/// Replaces a word that stands alone and of which `is_meant` says so, seeing what is before it.
fn replace_word(text: &[u8], word: &[u8], is_meant: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    let mut replaced = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        // The name may end a sentence, or be followed by its own line's colon.
        let after = rest.get(word.len()..).unwrap_or_default();
        let ends = match after {
            [b'.', next, ..] => !is_part(next),
            [next, ..] => !is_part(next),
            [] => true,
        };
        let begins = at == 0 || !is_part(&text[at - 1]);
        if rest.starts_with(word) && ends && begins && is_meant(&text[..at]) {
            replaced.extend(PROGRAM);
            at += word.len();
        } else {
            replaced.push(text[at]);
            at += 1;
        }
    }
    replaced
}

struct Rule {
    pattern: Regex,
    /// What takes the place of a match: the match itself, if it is not what the rule is about.
    replace: fn(&Captures<'_>, Window) -> Vec<u8>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |pattern: &str, replace| Rule {
        pattern: Regex::new(&format!("(?-u){pattern}")).expect("a valid pattern"),
        replace,
    };
    let months = MONTHS.join("|");
    let weekday = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
    let time = r"(?<h>\d\d):(?<m>\d\d)(?::(?<s>\d\d)(?:[.,]\d+)?)?";
    let zone = r"(?: ?(?:UTC|GMT|Z|[+-]\d\d:?\d\d)\b)?";
    vec![
        // Without randomisation programs are at 0x5555…, libraries and stacks at 0x7fff…; AddressSanitizer's heap at
        // 0x50… and 0x60….
        rule(r"\b0x(?:5[0-6]|6[0-4]|7[ef])[0-9a-f]{10}\b", |_, _| {
            b"{address}".to_vec()
        }),
        // `==7==ERROR` and `prog[7]:`
        rule(r"==\d+==", |_, _| b"=={pid}==".to_vec()),
        rule(r"(?<name>[A-Za-z}])\[\d+\]:", |found, _| {
            [&found["name"], b"[{pid}]:"].concat()
        }),
        rule(r"\(pid \d+\)", |_, _| b"(pid {pid})".to_vec()),
        // Who calls abort() sends himself a signal, and AddressSanitizer takes the sender for an address.
        rule(r"\bABRT on unknown address 0x[0-9a-f]+", |_, _| {
            b"ABRT on unknown address {pid}".to_vec()
        }),
        // Names of `mkstemp` and the like: at least six random letters and digits at the end.
        rule(
            r"(?<before>/(?:tmp|var/tmp|dev/shm|run)/[^\s/'`:]*?)(?<random>[A-Za-z0-9]{6,})(?<after>[\s/'`:,]|\z)",
            temporary,
        ),
        // `dd`: how long it took.
        rule(r"[0-9.]+(?:e-\d+)? s, [0-9.]+ [kMGTPEZY]?B/s", |_, _| {
            b"{duration}".to_vec()
        }),
        rule(
            &format!(r"\b(?<y>\d{{4}})-(?<n>\d\d)-(?<d>\d\d)(?:[ T]{time})?{zone}"),
            date,
        ),
        rule(
            &format!(
                r"\b{weekday}, (?<d>\d\d?)[ -](?<month>{months})[ -](?<y>\d{{4}}) {time}{zone}"
            ),
            date,
        ),
        rule(
            &format!(
                r"\b(?:{weekday},? )?(?<month>{months}) {{1,2}}(?<d>\d\d?)(?: {time}{zone}(?: (?<y>\d{{4}}))?|  ?(?<y2>\d{{4}}))\b"
            ),
            date,
        ),
        // In long listings the size of a directory, and of all together, is the file system's, not the program's.
        rule(
            r"(?m)^(?<line>d[rwxsStT-]{9}[.+]? .*?)\b\d+ \{time\}",
            |found, _| [&found["line"], b"{size} {time}"].concat(),
        ),
        rule(r"(?m)^total \d+$", |_, _| b"total {size}".to_vec()),
        rule(r"\b\d{10}\b(?:\.\d+)?", |found, window| {
            let digits = &found[0][..10];
            let seconds = number(digits);
            match window.holds((seconds, seconds)) {
                true => b"{time}".to_vec(),
                false => found[0].to_vec(),
            }
        }),
    ]
});

/// A temporary name, unless it is just a word: random ones have digits or capitals.
fn temporary(found: &Captures<'_>, _: Window) -> Vec<u8> {
    let random = &found["random"];
    let is_random = random
        .iter()
        .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let path = [&found["before"], random].concat();
    if !is_random || path.starts_with(WORK.as_bytes()) {
        return found[0].to_vec();
    }
    [&found["before"], b"{random}", &found["after"]].concat()
}

/// A date that is near the time of the runs.
fn date(found: &Captures<'_>, window: Window) -> Vec<u8> {
    let get = |name: &str| found.name(name).map(|part| number(part.as_bytes()));
    let month = match found.name("month") {
        Some(name) => MONTHS
            .iter()
            .position(|month| month.as_bytes() == name.as_bytes())
            .map_or(0, |at| at as i64 + 1),
        None => get("n").unwrap_or(0),
    };
    let time =
        get("h").map(|hours| hours * 3600 + get("m").unwrap_or(0) * 60 + get("s").unwrap_or(0));
    let printed = Printed {
        year: get("y").or_else(|| get("y2")),
        month,
        day: get("d").unwrap_or(0),
        time,
    };
    let is_date = (1..=12).contains(&printed.month) && (1..=31).contains(&printed.day);
    match is_date && window.holds(printed.range(window.to)) {
        true => b"{time}".to_vec(),
        false => found[0].to_vec(),
    }
}

/// Of digits.
fn number(digits: &[u8]) -> i64 {
    let digit = |sum: i64, byte: &u8| sum.saturating_mul(10).saturating_add((byte - b'0').into());
    digits.iter().fold(0, digit)
}
