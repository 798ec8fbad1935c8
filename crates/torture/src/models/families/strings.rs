//! Cases for string.h.

use crate::models::case::Case;
use crate::models::words::{ALPHABETS, bytes, int, long, string};
use crate::rng::Rng;

/// A character of the alphabet, as it is or sign-extended, or the terminator.
fn character(rng: &mut Rng, alphabet: &[u8]) -> i32 {
    let byte = if rng.one_in(4) {
        0
    } else {
        *rng.pick(alphabet)
    };
    if rng.one_in(2) {
        byte.into()
    } else {
        (byte as i8).into()
    }
}

pub fn search(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "strlen",
        "strnlen",
        "strchr",
        "strrchr",
        "strchrnul",
        "strspn",
        "strcspn",
        "strpbrk",
        "strstr",
        "strcasestr",
        "memchr",
        "memrchr",
        "rawmemchr",
        "memmem",
    ]);
    let alphabet = *rng.pick(ALPHABETS);
    let most = *rng.pick(&[3, 12, 40]);
    let case = Case::new(check, rng);
    let part_size = rng.between(0, 4);
    match check {
        "strspn" | "strcspn" | "strpbrk" | "strstr" | "strcasestr" => {
            let (text, part) = (
                string(rng, alphabet, most),
                string(rng, alphabet, part_size),
            );
            case.text(text).mixed([part, vec![0]].concat(), rng)
        }
        "memchr" | "memrchr" => {
            let wanted = int(character(rng, alphabet));
            case.symbolic(bytes(rng, alphabet, most)).mixed(wanted, rng)
        }
        "memmem" => {
            let part = bytes(rng, alphabet, part_size);
            case.symbolic(bytes(rng, alphabet, most)).mixed(part, rng)
        }
        "rawmemchr" => case.text(string(rng, alphabet, most)),
        "strlen" | "strnlen" => {
            let limit = long(rng.between(0, most + 2) as i64);
            case.text(string(rng, alphabet, most)).concrete(limit)
        }
        _ => {
            let wanted = int(character(rng, alphabet));
            case.text(string(rng, alphabet, most)).mixed(wanted, rng)
        }
    }
}

/// Two strings that have much in common.
fn pair(rng: &mut Rng, alphabet: &[u8], most: usize) -> (Vec<u8>, Vec<u8>) {
    let a = string(rng, alphabet, most);
    let mut b = a.clone();
    for _ in 0..rng.below(3) {
        if b.is_empty() {
            break;
        }
        let at = rng.below(b.len());
        match rng.below(4) {
            0 => b.truncate(at),
            1 => b[at] = (b[at] ^ 0x20).max(1),
            2 => b[at] = *rng.pick(alphabet),
            _ => b.insert(at, *rng.pick(alphabet)),
        }
    }
    (a, b)
}

pub fn compare(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "memcmp",
        "bcmp",
        "strcmp",
        "strcasecmp",
        "strncmp",
        "strncasecmp",
    ]);
    let alphabet = *rng.pick(ALPHABETS);
    let (mut a, mut b) = pair(rng, alphabet, 20);
    let case = Case::new(check, rng);
    if check == "memcmp" || check == "bcmp" {
        let size = a.len().min(b.len());
        a.truncate(size);
        b.truncate(size);
        return case.symbolic(a).mixed(b, rng);
    }
    let limit = long(rng.between(0, 24) as i64);
    let case = case.text(a).mixed([b, vec![0]].concat(), rng);
    match check {
        "strncmp" | "strncasecmp" => case.concrete(limit),
        _ => case,
    }
}

pub fn copy(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "strcpy",
        "stpcpy",
        "strncpy",
        "stpncpy",
        "strcat",
        "strncat",
        "__strcpy_chk",
        "__stpcpy_chk",
        "__strncpy_chk",
        "__stpncpy_chk",
        "__strcat_chk",
        "__strncat_chk",
        "memcpy",
        "mempcpy",
        "memccpy",
        "memset",
        "__memcpy_chk",
        "__memmove_chk",
        "__mempcpy_chk",
        "__memset_chk",
        "memmove",
        "bcopy",
        "bzero",
        "explicit_bzero",
        "strdup",
        "strndup",
    ]);
    let alphabet = *rng.pick(ALPHABETS);
    let case = Case::new(check, rng);
    let before = [string(rng, b"xyz", 12), vec![0]].concat();
    let n = long(rng.between(0, 40) as i64);
    match check {
        "memmove" => case.symbolic(bytes(rng, alphabet, 60)).concrete(n),
        "bcopy" | "bzero" | "explicit_bzero" => case.symbolic(bytes(rng, alphabet, 60)),
        "strdup" => case.text(string(rng, alphabet, 40)),
        "strndup" => case.text(string(rng, alphabet, 40)).concrete(n),
        _ if check.contains("mem") => {
            let wanted = int(character(rng, alphabet));
            case.mixed(before, rng)
                .symbolic(bytes(rng, alphabet, 60))
                .mixed(wanted, rng)
        }
        _ => case
            .mixed(before, rng)
            .text(string(rng, alphabet, 40))
            .concrete(n),
    }
}

pub fn split(rng: &mut Rng) -> Case {
    let check = *rng.pick(&["strtok", "strtok_r", "strsep"]);
    let separators = *rng.pick(&[&b",;\0"[..], b",; :\0", b"\0", b"a\0"]);
    let text = string(rng, b"ab,;: ", 30);
    Case::new(check, rng).text(text).mixed(separators, rng)
}
