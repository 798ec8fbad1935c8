//! One file per subcommand, and what they share.

pub mod amplify;
pub mod analyse;
pub mod annotate;
pub mod build;
pub mod cc;
pub mod clean;
pub mod cover;
pub mod coverage;
pub mod diverge;
pub mod doctor;
pub mod explore;
pub mod init;
mod means;
pub mod patch;
mod project;
pub mod record;
pub mod replay;
pub mod scenario;
pub mod scenarios;
pub mod schema;
mod search;
mod shared;
mod stored;
pub mod targets;
pub mod trace;
pub mod variant;
pub mod why;
