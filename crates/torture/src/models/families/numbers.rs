//! Cases for ctype.h and for numbers from text.

use crate::models::case::Case;
use crate::models::words::{any_long, int, long, string};
use crate::rng::Rng;

pub fn character(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower",
        "isprint", "ispunct", "isspace", "isupper", "isxdigit", "toascii", "tolower", "toupper",
        "abs", "labs", "llabs", "imaxabs",
    ]);
    let case = Case::new(check, rng);
    match check {
        "labs" | "llabs" | "imaxabs" => {
            // The most negative number has no absolute value.
            case.symbolic(long(any_long(rng).max(-i64::MAX)))
        }
        "abs" => case.symbolic(int((any_long(rng) as i32).max(-i32::MAX))),
        // These are defined for any int.
        "isascii" | "toascii" | "tolower" | "toupper" if rng.one_in(3) => {
            case.symbolic(int(any_long(rng) as i32))
        }
        _ => case.symbolic(int(rng.between(0, 383) as i32 - 128)),
    }
}

/// Text that is nearly a number: blanks, sign, prefix, digits, junk.
pub fn integer_text(rng: &mut Rng) -> Vec<u8> {
    let starts: &[&str] = &[
        "",
        "",
        "",
        " ",
        "\t\n-",
        "+",
        "-",
        "- ",
        "0",
        "0x",
        "0X",
        "-0x",
        "0b1",
        "++",
        "\u{b}+0",
        "922337203685477580",
        "-922337203685477580",
        "1844674407370955161",
        "0x7fffffffffffffff",
        "-1844674407370955161",
        "777777777777777777777",
        "\x0c\r 0X",
    ];
    let digits: &[&[u8]] = &[
        b"01",
        b"0123456789",
        b"0123456789abcdefABCDEFxXgz",
        b" 7-+xX",
        b"89",
    ];
    let most = if rng.one_in(4) { 40 } else { 6 };
    let alphabet = *rng.pick(digits);
    let mut text = rng.pick(starts).as_bytes().to_vec();
    text.extend(string(rng, alphabet, most));
    if rng.one_in(6) {
        text.push(rng.between(1, 255) as u8);
    }
    text
}

pub fn number(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "strtol",
        "strtoul",
        "strtoll",
        "strtoull",
        "strtoimax",
        "strtoumax",
        "strtoq",
        "strtouq",
        "__strtol_internal",
        "__strtoul_internal",
        "atoi",
        "atol",
        "atoll",
    ]);
    let base = match rng.below(4) {
        0 => rng.between(0, 40) as i32 - 2,
        _ => *rng.pick(&[0, 10, 16, 8, 2, 36]),
    };
    let text = integer_text(rng);
    Case::new(check, rng).text(text).concrete(int(base))
}

/// Text that is nearly a floating-point number.
pub fn float_text(rng: &mut Rng) -> Vec<u8> {
    let mut text = rng
        .pick(&["", "", "", "-", "+", " ", "\t-", "- ", "+-"])
        .as_bytes()
        .to_vec();
    let is_hexadecimal = rng.one_in(4);
    let digits: &[u8] = if is_hexadecimal {
        b"0123456789abcdefABCDEF"
    } else {
        b"0123456789"
    };
    if rng.one_in(10) {
        let name = *rng.pick(&[
            "inf",
            "INF",
            "infinity",
            "iNfInItY",
            "infinit",
            "nan",
            "NaN",
            "nan()",
            "nan(12)",
            "nan(x_9",
            "nan(1 2)",
            "in",
            "na",
            "infinityx",
        ]);
        text.extend(name.bytes());
    } else {
        if is_hexadecimal {
            text.extend(rng.pick(&["0x", "0X", "0x0"]).bytes());
        }
        let most = *rng.pick(&[3, 3, 8, 16, 25]);
        text.extend(string(rng, digits, most));
        if rng.one_in(2) {
            text.push(b'.');
            text.extend(string(rng, digits, most));
        }
        if rng.one_in(3) {
            text.push(*rng.pick(if is_hexadecimal { b"ppPe" } else { b"eeEp" }));
            text.extend(rng.pick(&["", "+", "-", "--", "0"]).bytes());
            let most = *rng.pick(&[1, 2, 2, 3, 8]);
            text.extend(string(rng, b"0123456789", most));
        }
    }
    if rng.one_in(6) {
        text.push(rng.between(1, 255) as u8);
    }
    text
}

pub fn float(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "strtof",
        "strtod",
        "strtold",
        "__strtof_internal",
        "__strtod_internal",
        "__strtold_internal",
        "atof",
    ]);
    let text = float_text(rng);
    Case::new(check, rng).text(text)
}

pub fn divide(rng: &mut Rng) -> Case {
    let check = *rng.pick(&["div", "ldiv", "lldiv", "imaxdiv"]);
    let (numerator, mut denominator) = (any_long(rng), any_long(rng));
    // Neither division by zero nor a quotient that does not fit, in either width.
    if matches!(denominator as i32, 0 | -1) {
        denominator = 7;
    }
    Case::new(check, rng)
        .symbolic(long(numerator))
        .mixed(long(denominator), rng)
}
