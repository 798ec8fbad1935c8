//! Models of libc functions against the real functions.
//!
//! One family of functions is one C program (`models/<family>.c` on `models/harness.h`), compiled
//! with `parallax-cc`. It reads generated cases and does each twice, with the model and with
//! libc's own function, and says where they differ. Here the cases are generated
//! ([`families`]), and the traced program is run with self-check ([`run`]).
//!
//! To add a family: write its C program, a generator in `families/`, and an entry in
//! [`families::ALL`].

pub mod case;
pub mod families;
pub mod run;
mod verdict;
pub mod words;
