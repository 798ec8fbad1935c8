//! tmp
#![allow(clippy::print_stdout)]
fn main() { let s: u64 = std::env::args().nth(1).unwrap().parse().unwrap(); print!("{}", parallax_torture::generator::generate(s).source); }
