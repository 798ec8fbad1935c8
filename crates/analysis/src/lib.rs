//! Static analyses of whole programs, on plain data.
//!
//! What a captured program consists of comes as [`ModuleCode`]s, written down inside clang
//! where sites get their names; [`Program`] links them. Everything else is computed from that: no LLVM, no process,
//! no file is touched here.
//!
//! [`Analysis`] brings it all together, for questions by site ids.
//!
//! | module | question |
//! |---|---|
//! | [`program`] | what does the program consist of? |
//! | [`lines`] | which blocks have code of a line? |
//! | [`pointsto`], [`calls`] | what does a pointer point to, and who calls whom? |
//! | [`graph`], [`distance`] | how many decisions lie between here and there? |
//! | [`effects`], [`preconditions`] | what must hold here for the target to be reached? |
//! | [`definitions`] | which statements give the values that a branch depends on? |
//! | [`seeds`] | how close did a run come to the target? |
//! | [`control`] | which branches decide whether a block runs? |
//! | [`dependence`] | what does a statement depend on, and what depends on it? |
//! | [`sequence`] | in which order can changes run, and where do they interact? |
//! | [`words`] | which words of the command line does the program look for? |

pub mod calls;
pub mod control;
pub mod definitions;
pub mod dependence;
pub mod distance;
pub mod effects;
pub mod graph;
pub mod lines;
pub mod pointsto;
pub mod preconditions;
pub mod program;
pub mod seeds;
pub mod sequence;
mod set;
mod whole;
pub mod words;

pub use program::ModuleCode;
pub use program::{BlockId, FunctionId, GlobalId, Program, Spot};
pub use whole::{Analysis, Side, Towards};
