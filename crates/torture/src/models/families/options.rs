//! Cases for getopt: command lines that nearly fit their options.

use crate::models::case::Case;
use crate::models::words::{int, string};
use crate::rng::Rng;

/// Long options with common beginnings, alike or not.
const NAMES: &[&str] = &[
    "verbose 0.v",
    "version 0.V",
    "verbatim 0.v",
    "output 1.o",
    "output-file 1.o",
    "out 1fO",
    "color 2.c",
    "colour 2.c",
    "level 1fl",
    "a 0.a",
    "b 1.b",
    "help 0.h",
    "x-ray 0fx",
    "W 2.W",
];

const LETTERS: &[&str] = &[
    "", "a", "ab:c::", "vo:x", "abW;", ":ab:", "+ab:", "-ab:c::", "+:a:", "-:b:", "a;b:", "h:v::o",
    "W:a",
];

const FLAGS: usize = 8;

fn argument(rng: &mut Rng) -> Vec<u8> {
    let name = rng.pick(NAMES).split(' ').next().unwrap_or_default();
    let cut = rng.between(0, name.len());
    let value = string(rng, b"ab=-", 3);
    match rng.below(12) {
        0 => b"--".to_vec(),
        1 => b"-".to_vec(),
        2 => string(rng, b"file", 4),
        3 | 4 => [b"-".to_vec(), string(rng, b"abcvoxWh:;?", 4)].concat(),
        5 => [b"--", name.as_bytes()].concat(),
        6 => [b"--", &name.as_bytes()[..cut]].concat(),
        7 => [b"--", &name.as_bytes()[..cut], b"=", &value].concat(),
        8 => [b"-", &name.as_bytes()[..cut], &value].concat(),
        9 => [b"-W", name.as_bytes()].concat(),
        10 => b"-W".to_vec(),
        _ => [b"-".to_vec(), string(rng, b"ab=- \xe9\x01", 5)].concat(),
    }
}

pub fn getopt(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "getopt",
        "__posix_getopt",
        "getopt_long",
        "getopt_long",
        "getopt_long_only",
    ]);
    let mut names: Vec<&str> = Vec::new();
    for _ in 0..rng.below(9) {
        names.push(*rng.pick(NAMES));
    }
    let letters = if rng.one_in(3) {
        string(rng, b"abcvoxWh:;", 6)
    } else {
        rng.pick(LETTERS).as_bytes().to_vec()
    };
    let locale = *rng.pick(&["C", "C.UTF-8"]);
    let mut case = Case::new(check, rng)
        .concrete(int(rng.below(FLAGS) as i32))
        .concrete_text(locale)
        .concrete_text(letters)
        .concrete_text(names.join("\n"));
    for _ in 0..rng.below(8) {
        let mut bytes = argument(rng);
        bytes.push(0);
        case = case.mixed(bytes, rng);
    }
    case
}
