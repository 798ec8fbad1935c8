//! What testing a patch came to: the data, and the forms in which people and programs read it.
//!
//! [`model`] is plain data that `parallax check` fills in; it knows neither engine nor store. Every form is one module with pure
//! functions from [`PatchReport`] to text, so that all of them say the same and each can be tested without a program being run.
//! What is derived (verdict, coverage of lines) is computed in one place, from the findings and targets, and cannot
//! contradict them.
//!
//! [`results`] has the forms of what other commands come to.
//!
//! What programs print is hostile until escaped, in each form by its own rules: on a terminal only printable characters; in Markdown
//! code blocks with a fence longer than any in the text; in GitHub's workflow commands no line ends and separators; in JUnit what XML can hold; in HTML as text ([`html`]).

mod beside;
pub mod cobertura;
pub mod github;
pub mod gitlab;
pub mod given;
mod headline;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub mod kept;
pub mod lcov;
pub mod markdown;
pub mod model;
pub mod palette;
mod paste;
pub mod results;
pub mod sarif;
pub mod words;
mod xml;

pub use model::PatchReport;
