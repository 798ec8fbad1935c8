//! What is asked and what is answered.

use parallax_expr::Label;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Names an input byte independently of the trace that it was seen in: the
/// source's stable id and the offset in the source.
pub type Variable = (u32, u64);

/// Sources with this id or a higher one are fixed: their bytes have the seed's values in every model.
pub const FIRST_FIXED: u32 = u32::MAX - 0xffff;

/// One fact: what is known, or wanted, of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    pub label: Label,
    pub holds: Holds,
}

impl Constraint {
    /// The expression has this value.
    pub fn equals(label: Label, value: u128) -> Constraint {
        Constraint {
            label,
            holds: Holds::Equals(value),
        }
    }

    /// The expression has another value.
    pub fn differs(label: Label, value: u128) -> Constraint {
        Constraint {
            label,
            holds: Holds::Differs(value),
        }
    }

    /// The one-bit expression is true or false.
    pub fn is(label: Label, truth: bool) -> Constraint {
        Constraint::equals(label, u128::from(truth))
    }

    /// The same, said in the only way there is to say it of one bit.
    pub(crate) fn canonical(self, width: u8) -> Constraint {
        match self.holds {
            Holds::Differs(value) if width == 1 && value <= 1 => {
                Constraint::equals(self.label, 1 - value)
            }
            _ => self,
        }
    }

    /// The same expression with the opposite asked of it.
    pub fn opposite(self) -> Constraint {
        Constraint {
            label: self.label,
            holds: self.holds.opposite(),
        }
    }
}

/// A predicate on a value. Values are unsigned and not wider than the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    Equals(u128),
    Differs(u128),
    /// Not below the first and not above the second.
    Within(u128, u128),
    /// Below the first or above the second.
    Outside(u128, u128),
}

impl Holds {
    /// Whether a value is as asked.
    pub fn of(self, value: u128) -> bool {
        match self {
            Holds::Equals(wanted) => value == wanted,
            Holds::Differs(other) => value != other,
            Holds::Within(low, high) => low <= value && value <= high,
            Holds::Outside(low, high) => value < low || high < value,
        }
    }

    pub fn opposite(self) -> Holds {
        match self {
            Holds::Equals(value) => Holds::Differs(value),
            Holds::Differs(value) => Holds::Equals(value),
            Holds::Within(low, high) => Holds::Outside(low, high),
            Holds::Outside(low, high) => Holds::Within(low, high),
        }
    }
}

/// What a query came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    Sat(Model),
    Unsat(Core),
    Unknown(Why),
}

impl Answer {
    pub fn model(&self) -> Option<&Model> {
        match self {
            Answer::Sat(model) => Some(model),
            _ => None,
        }
    }

    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }

    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat(_))
    }
}

/// The input bytes that differ from the seed's. All others keep their value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    pub bytes: BTreeMap<Variable, u8>,
}

/// Pushed constraints that contradict the goal (or one another), by index, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    pub constraints: Vec<usize>,
    /// Whether the goal takes part in the contradiction.
    pub with_goal: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// The SAT solver's or the SMT program's limit was reached.
    Limit,
    /// The circuit would be larger than allowed.
    TooLarge,
    /// The constraints need floating point and there is no program that could decide it.
    Unsupported,
    /// A back end failed; how.
    BackEnd(String),
    /// A back end gave a model that does not satisfy the query.
    WrongModel,
    /// Oracle mode only: two layers contradict each other.
    Disagreement(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Limit => write!(f, "limit reached"),
            Why::TooLarge => write!(f, "too large to encode"),
            Why::Unsupported => write!(f, "floating point, and no solver for it"),
            Why::BackEnd(how) => write!(f, "back end failed: {how}"),
            Why::WrongModel => write!(f, "the back end's model does not hold"),
            Why::Disagreement(what) => write!(f, "layers disagree: {what}"),
        }
    }
}
