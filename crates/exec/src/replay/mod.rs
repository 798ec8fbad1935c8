//! Runs scenarios again, natively: what is reported was seen here.
//!
//! * *Confirmed*: a problem is reported if it was seen three times in a row on the plain or the checked build. What was seen once but
//!   not each time is flaky: counted, not reported.
//! * *Without names*: naming the functions of a stack takes longer than a run. So the checked build runs without symbolising first, and each stack is named
//!   once ([`crate::sanitizer`]). A known problem is confirmed again only on a smaller input.
//! * *Told apart* by kind, place and the three innermost functions of the program's own ([`crate::finding::Key`]): code of libc, of sanitizers and of system headers
//!   does not count, recursion counts once, and messages, which contain values, do not count.
//! * *Fresh*: [`Replayer::run`] and [`Native`]'s confirmation use fresh processes; [`Replayer::glance`] may use a run server.

mod native;
mod subject;

pub use native::{Confirmed, Native};
pub use subject::{Build, ReplayError, Replayer, Seen, Subject};
