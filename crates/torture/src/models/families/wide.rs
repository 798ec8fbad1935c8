//! Cases for wchar.h, wctype.h, and what depends on the locale.

use crate::models::case::Case;
use crate::models::words::{int, long, string};
use crate::rng::Rng;

/// Bytes at which UTF-8 decoders decide something.
const BYTES: &[u8] = &[
    0, b'a', b'z', 0x7f, 0x80, 0x90, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4,
    0xf7, 0xf8, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
];

/// Characters at which encodings and classes change.
const CHARACTERS: &[u32] = &[
    0,
    0x7f,
    0x80,
    0xe9,
    0xff,
    0x131,
    0x7ff,
    0x800,
    0x3c3,
    0x430,
    0x4e00,
    0xd7ff,
    0xd800,
    0xdfff,
    0xe000,
    0xffff,
    0x10000,
    0x10ffff,
    0x110000,
    0x1f_ffff,
    0x20_0000,
    0x3ff_ffff,
    0x400_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

fn character(rng: &mut Rng) -> u32 {
    match rng.below(4) {
        0 => *rng.pick(CHARACTERS),
        1 => rng.below(0x300) as u32,
        2 => rng.below(0x3_0000) as u32,
        _ => rng.below(0x80) as u32,
    }
}

/// A character that can be encoded, not 0.
fn valid_character(rng: &mut Rng) -> char {
    loop {
        match char::from_u32(character(rng)) {
            Some(c) if c != '\0' => return c,
            _ => {}
        }
    }
}

/// Text in UTF-8, mostly valid, without NUL.
fn text(rng: &mut Rng, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < most && !rng.one_in(most) {
        if rng.one_in(8) {
            bytes.push((*rng.pick(BYTES)).max(1));
        } else {
            let mut room = [0; 4];
            let c = valid_character(rng);
            bytes.extend(c.encode_utf8(&mut room).as_bytes());
        }
    }
    bytes
}

/// Wide text with its terminator.
fn wide(rng: &mut Rng, alphabet: &[u32], most: usize) -> Vec<u8> {
    let length = rng.between(0, most);
    let mut characters: Vec<u32> = (0..length).map(|_| *rng.pick(alphabet)).collect();
    characters.push(0);
    characters.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn number(rng: &mut Rng, most: usize) -> [u8; 8] {
    long(rng.between(0, most) as i64)
}

fn choice(rng: &mut Rng, one_in: usize) -> [u8; 4] {
    int(i32::from(!rng.one_in(one_in)))
}

pub fn multibyte(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "mbrtowc",
        "mbrtowc",
        "mbrtoc32",
        "mbrlen",
        "mbtowc",
        "mblen",
        "mbrtowc_own_state",
        "mbsinit",
        "mbsnrtowcs",
        "mbsrtowcs",
        "mbstowcs",
        "wcrtomb",
        "wctomb",
        "wctob",
        "btowc",
        "wcsnrtombs",
        "wcsrtombs",
        "wcstombs",
    ]);
    let case = Case::new(check, rng);
    let case = case.concrete(match check {
        "mbrtowc_own_state" => int(1),
        _ => choice(rng, 5),
    });
    match check {
        "mbrtowc_own_state" => {
            let text: String = (0..rng.below(5)).map(|_| valid_character(rng)).collect();
            case.symbolic(text)
        }
        "wcrtomb" | "wctomb" | "wctob" => case.symbolic(character(rng).to_le_bytes()),
        "btowc" => case.symbolic(int(rng.between(0, 600) as i32 - 200)),
        "wcsnrtombs" | "wcsrtombs" | "wcstombs" => {
            let alphabet: Vec<u32> = (0..6)
                .map(|_| match rng.below(8) {
                    0 => character(rng).max(1),
                    _ => valid_character(rng).into(),
                })
                .collect();
            case.symbolic(wide(rng, &alphabet, 10))
                .concrete(number(rng, 40))
                .concrete(number(rng, 12))
                .concrete(choice(rng, 5))
        }
        "mbrtowc" | "mbrtoc32" | "mbrlen" | "mbtowc" | "mblen" => {
            let bytes = match rng.below(3) {
                0 => string(rng, BYTES, 8),
                _ => text(rng, 12),
            };
            case.symbolic(bytes)
                .concrete(long(*rng.pick(&[0, 1, 1, 2, 3, 4, 6])))
        }
        _ => {
            // What comes first may end in the middle of a character.
            let first = text(rng, 3);
            let start = rng.below(first.len() + 1);
            let rest = text(rng, 16);
            let whole = [&first[start..], &rest, &[0]].concat();
            let first = long((first.len() - start) as i64);
            case.symbolic(whole)
                .concrete(first)
                .concrete(number(rng, 14))
                .concrete(number(rng, 20))
                .concrete(choice(rng, 5))
        }
    }
}

pub fn class(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "iswalnum",
        "iswalpha",
        "iswblank",
        "iswcntrl",
        "iswdigit",
        "iswgraph",
        "iswlower",
        "iswprint",
        "iswpunct",
        "iswspace",
        "iswupper",
        "iswxdigit",
        "towlower",
        "towupper",
        "wcwidth",
        "iswctype",
        "towctrans",
    ]);
    let case = Case::new(check, rng)
        .concrete(choice(rng, 3))
        .symbolic(character(rng).to_le_bytes());
    match check {
        "iswctype" => {
            let name = *rng.pick(&[
                "alpha", "digit", "punct", "space", "upper", "none", "", "jspace",
            ]);
            case.mixed([name.as_bytes(), &[0]].concat(), rng)
        }
        "towctrans" => {
            let name = *rng.pick(&["tolower", "toupper", "totitle", "no"]);
            case.mixed([name.as_bytes(), &[0]].concat(), rng)
        }
        _ => case,
    }
}

pub fn strings(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "wcslen",
        "wcsnlen",
        "wcscmp",
        "wcsncmp",
        "wcscasecmp",
        "wcsncasecmp",
        "wcsspn",
        "wcscspn",
        "wmemcmp",
        "wcswidth",
        "wcschr",
        "wcsrchr",
        "wcschrnul",
        "wcspbrk",
        "wcsstr",
        "wmemchr",
        "wcscpy",
        "wcpcpy",
        "wcsncpy",
        "wcpncpy",
        "wcscat",
        "wcsncat",
        "wmemcpy",
        "wmempcpy",
        "wmemmove",
        "wmemset",
        "wcsdup",
        "wcstok",
    ]);
    let alphabet = *rng.pick(&[
        &[0x61, 0x62][..],
        &[0x41, 0x61, 0xe9, 0xc9],
        &[0x20, 0x2c, 0x61, 0x4e00],
        &[1, 0x7fff_ffff, 0xffff_fff0, 0x61],
    ]);
    let a = wide(rng, alphabet, 10);
    let b = match rng.below(3) {
        0 => a.clone(),
        1 => wide(rng, alphabet, 10),
        _ => wide(rng, alphabet, 2),
    };
    // Functions that go by a number must not look at what lies behind both strings.
    let shorter = a.len().min(b.len()) / 4;
    let most = if matches!(
        check,
        "wmemcmp" | "wmemcpy" | "wmempcpy" | "wmemmove" | "wmemchr"
    ) {
        shorter - 1
    } else {
        shorter + 4
    };
    let case = Case::new(check, rng).symbolic(a);
    let (n, c) = (number(rng, most), rng.pick(alphabet).to_le_bytes());
    case.mixed(b, rng).concrete(n).mixed(c, rng)
}

pub fn locale(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "strverscmp",
        "strverscmp",
        "strcoll",
        "strxfrm",
        "wcscoll",
        "wcsxfrm",
        "ngettext",
        "dngettext",
        "dcngettext",
    ]);
    let a = string(rng, b"ab0019.", 12);
    let mut b = a.clone();
    for _ in 0..rng.below(3) {
        if !b.is_empty() {
            let at = rng.below(b.len());
            b[at] = *rng.pick(b"ab0019.");
        }
    }
    b.truncate(rng.below(16));
    let case = Case::new(check, rng).text(a);
    let b = [b, vec![0]].concat();
    let n = number(rng, 3);
    match check {
        "ngettext" | "dngettext" | "dcngettext" => case.mixed(b, rng).symbolic(n),
        "strxfrm" | "wcsxfrm" => case.mixed(b, rng).concrete(number(rng, 16)),
        _ => case.mixed(b, rng).concrete(n),
    }
}

pub fn stream(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "fgetwc",
        "getwc",
        "fgetwc_unlocked",
        "getwc_unlocked",
        "ungetwc",
        "fgetws",
        "fgetws_unlocked",
        "__fgetws_chk",
    ]);
    let length = rng.between(1, 40);
    // Cases follow each other in one file: a character cut short at the end of one would
    // go on in the next.
    let text: String = (0..length)
        .map(|_| match rng.below(5) {
            0 => '\n',
            1 => valid_character(rng),
            2 => '\0',
            _ => *rng.pick(&['a', 'b', 'é', '一']),
        })
        .collect();
    let mut text = text.into_bytes();
    if rng.one_in(10) {
        text.extend(b"\xff.");
    }
    Case::new(check, rng)
        .never_all_concrete()
        .symbolic(text)
        .concrete(long(*rng.pick(&[7, 16, 64, 4096])))
        .concrete(number(rng, 40))
}

pub fn wildcard(rng: &mut Rng) -> Case {
    let mut pattern = String::new();
    for _ in 0..rng.below(6) {
        pattern += *rng.pick(&[
            "a",
            "b",
            "A",
            "*",
            "*",
            "?",
            "[ab]",
            "[!a]",
            "[a-c]",
            "[[:alpha:]]",
            "\\",
            "/",
            ".",
            "[]a]",
            "[^]a]",
            "[a\\]b]",
            "[[:digit:]x]",
            "\\*",
        ]);
    }
    let string = string(rng, b"abAc/.-]*9", 6);
    // Escapes of a slash behind a star: libc does not find what it should find.
    let pattern = pattern.replace("\\/", "/");
    let case = Case::new("fnmatch", rng);
    case.mixed([pattern.as_bytes(), &[0]].concat(), rng)
        .text(string)
        .concrete(int(rng.below(32) as i32))
}
