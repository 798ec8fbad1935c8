//! Errors of the store as the user reads them.

use parallax_store::StoreError;

use super::{Failure, against};
use crate::exit::Exit;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let (exit, hint) = match &error {
            StoreError::Damaged { .. } => (
                Exit::Internal,
                "parallax clean --store moves the store aside, whole, so that a new one can be begun",
            ),
            StoreError::Newer { .. } => (
                Exit::Usage,
                "use the parallax that made it; or parallax clean --store moves it aside, whole",
            ),
            StoreError::Full { .. } => (
                Exit::Internal,
                "make room and run the command again: it goes on where it was\n\
                 parallax clean shows what can be removed",
            ),
            StoreError::Io { source, .. } => (Exit::Internal, against(source)),
            StoreError::Busy { .. } => (
                Exit::Internal,
                "ps shows which parallax is stopped or hangs: end it, and run the command again",
            ),
            StoreError::NoScenario(_) => (Exit::Usage, "parallax scenarios lists them"),
            StoreError::Ambiguous { .. } => (Exit::Usage, "give more of its name"),
            StoreError::Database(_) => return Failure::defect(&error),
        };
        Failure::from_error(exit, &error).hint(hint)
    }
}
