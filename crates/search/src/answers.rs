//! What one worker was told, by its solver and by native runs: noted as it comes, and given again when a
//! search is gone on with.
//!
//! Every note has the fingerprint of its question. If the question that comes next is another one (the
//! program under test does not do the same each time), the rest is not believed: it is asked anew.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use parallax_solver::Answer;
use serde::{Deserialize, Serialize};

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    question: u64,
    answer: Told,
}

/// Who said what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    Solver(Answer),
    /// What native runs confirmed, as JSON, and how many runs that took.
    Native {
        confirmed: String,
        runs: u64,
    },
}

impl Note {
    /// Whether it is a solver's.
    pub fn is_of_solver(&self) -> bool {
        matches!(self.answer, Told::Solver(_))
    }
}

/// The answers of one worker.
#[derive(Debug, Default)]
pub struct Answers {
    /// Since they were last taken.
    noted: Vec<Note>,
    /// Of an earlier process, still to be given.
    known: VecDeque<Note>,
    strayed: bool,
    /// Whether all answers are known until they are taken next.
    is_told: bool,
    /// Whether anybody wants to know what is noted.
    is_wanted: bool,
}

impl Answers {
    /// From now on these are given, in this order.
    pub fn know(&mut self, notes: Vec<Note>) {
        self.is_told = true;
        self.known = notes.into();
    }

    /// The known answer to a question, if it is the next that was asked.
    pub fn recall(&mut self, question: u64) -> Option<Told> {
        let Some(next) = self.known.pop_front() else {
            // More is asked than was.
            self.strayed |= self.is_told;
            return None;
        };
        if next.question != question {
            self.known.clear();
            self.strayed = true;
            return None;
        }
        let answer = next.answer.clone();
        self.noted.push(next);
        Some(answer)
    }

    /// From now on answers are noted.
    pub fn listen(&mut self) {
        self.is_wanted = true;
    }

    pub fn note(&mut self, question: u64, answer: impl FnOnce() -> Told) {
        if self.is_wanted {
            let answer = answer();
            self.noted.push(Note { question, answer });
        }
    }

    /// Takes what was noted, and says whether it is something else than what was known.
    pub fn take(&mut self) -> (Vec<Note>, bool) {
        let strayed = std::mem::take(&mut self.strayed) || !self.known.is_empty();
        self.known.clear();
        self.is_told = false;
        (std::mem::take(&mut self.noted), strayed)
    }
}

/// The fingerprint of a question.
pub fn fingerprint(question: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    question.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Told {
        Told::Native {
            confirmed: text.to_owned(),
            runs: 1,
        }
    }

    fn noted(questions: &[u64]) -> Vec<Note> {
        let mut answers = Answers::default();
        answers.listen();
        for question in questions {
            answers.note(*question, || told(&question.to_string()));
        }
        answers.take().0
    }

    #[test]
    fn known_answers_are_given_again_and_noted_again() {
        let mut answers = Answers::default();
        answers.listen();
        answers.know(noted(&[1, 2]));
        assert_eq!(answers.recall(1), Some(told("1")));
        assert_eq!(answers.recall(2), Some(told("2")));
        assert_eq!(answers.recall(3), None);
        answers.note(3, || told("3"));
        // More was asked than was known.
        assert_eq!(answers.take(), (noted(&[1, 2, 3]), true));
    }

    #[test]
    fn after_another_question_nothing_known_is_believed() {
        let mut answers = Answers::default();
        answers.know(noted(&[1, 2, 3]));
        assert_eq!(answers.recall(1), Some(told("1")));
        assert_eq!(answers.recall(9), None);
        assert_eq!(answers.recall(3), None);
        assert_eq!(answers.take(), (noted(&[1]), true));
        answers.know(noted(&[4]));
        assert!(answers.take().1, "an answer that nobody asked for");
    }
}
