//! Cases for input from streams.

use crate::models::case::Case;
use crate::models::words::long;
use crate::rng::Rng;

pub fn stream(rng: &mut Rng) -> Case {
    let check = *rng.pick(&[
        "fgetc",
        "getc",
        "fgetc_unlocked",
        "getc_unlocked",
        "ungetc",
        "fgets",
        "fgets_unlocked",
        "__fgets_chk",
        "fread",
        "fread_unlocked",
        "__fread_chk",
        "getdelim",
        "getline",
    ]);
    let length = if rng.one_in(20) { 5000 } else { 60 };
    let length = rng.between(1, length);
    let text: Vec<u8> = (0..length)
        .map(|_| *rng.pick(b"abcdefghijklmnopq\n\n\0"))
        .collect();
    let n = if rng.one_in(10) { 9000 } else { 60 };
    let n = long(rng.between(0, n) as i64);
    Case::new(check, rng)
        .never_all_concrete()
        .symbolic(text)
        .concrete(n)
}
