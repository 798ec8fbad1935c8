//! Expressions and events in words.

use std::fmt;

use parallax_abi::Op;
use parallax_abi::trace::{Event, EventKind, ObjectKind};
use parallax_expr::text::{self, Limits, Names};
use parallax_expr::value;
use parallax_trace::{ObjectView, Trace};

use super::{Folded, Report, words};
use crate::results::source::input_name;
use crate::words::{counted, printable};

/// An expression, which may be shortened, and what must be said about it.
pub struct Words {
    pub expression: String,
    pub note: String,
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)?;
        if !self.note.is_empty() {
            write!(f, ", {}", self.note)?;
        }
        Ok(())
    }
}

/// Puts what a trace holds into words.
pub struct Explain<'a> {
    report: &'a Report<'a>,
    trace: &'a Trace,
}

impl<'a> Explain<'a> {
    pub fn new(report: &'a Report<'a>) -> Explain<'a> {
        Explain {
            report,
            trace: report.trace,
        }
    }

    /// An expression over the input bytes.
    pub fn expression(&self, label: u32) -> String {
        if self.trace.node(label).is_none() {
            return "?".to_owned();
        }
        text::render(self.trace, label, self, Limits::default())
    }

    /// The value that an expression had in this run.
    pub fn value(&self, label: u32) -> String {
        self.trace
            .node(label)
            .map_or("?".to_owned(), |node| number(value(node)))
    }

    /// The case that a `switch` took.
    pub fn case(&self, event: &Event) -> String {
        let width = self.trace.node(event.label).map_or(64, |node| node.width);
        let value = event.y;
        if width <= 32 && (0x20..0x7f).contains(&value) {
            let character = char::from(value as u8);
            return format!("case {}", character_constant(character));
        }
        // Sign-extended: getopt's -1 and small negative cases are what people write.
        let shift = 64 - u32::from(width.min(64));
        format!("case {}", (value << shift) as i64 >> shift)
    }

    /// The object that an access or a copy is about.
    pub fn object_of(&self, operation: &Folded) -> Option<ObjectView<'a>> {
        use EventKind::*;
        match operation.kind {
            Load | Store | Length => self.trace.object(operation.first.x),
            _ => None,
        }
    }

    /// An operation that could fail.
    pub fn operation(&self, operation: &Folded) -> Words {
        let event = &operation.first;
        let operator = || Op::from_byte(event.detail).map_or("?", words::operator);
        let object = || {
            let object = self.object_of(operation);
            object.map_or(String::new(), |object| format!(" in {}", describe(&object)))
        };
        match operation.kind {
            EventKind::Load | EventKind::Store => Words {
                expression: self.expression(event.label),
                note: format!("{}{}", counted(event.detail.into(), "byte"), object()),
            },
            EventKind::Division => {
                let dividend = self.operand(event.x, None);
                let divisor = self.operand(event.label, None);
                Words {
                    expression: format!(
                        "{} {} {}",
                        grouped(dividend),
                        operator(),
                        grouped(divisor)
                    ),
                    note: String::new(),
                }
            }
            EventKind::Shift => Words {
                expression: format!("{} {}", operator(), self.operand(event.label, None)),
                note: format!("on {} bits", event.x),
            },
            EventKind::Overflow => {
                let width = event.y as u8;
                let known = Some((event.y as i64 >> 8).into());
                let left = self.operand(event.label, known);
                let right = self.operand(event.x, known);
                Words {
                    expression: format!("{} {} {}", grouped(left), operator(), grouped(right)),
                    note: format!("signed, {width} bits"),
                }
            }
            EventKind::Allocation => Words {
                expression: self.expression(event.label),
                note: format!("bytes, here {}", event.y),
            },
            EventKind::Length => Words {
                expression: self.operand(event.label, Some(event.y.into())),
                note: format!("bytes, here {}{}", event.y, object()),
            },
            _ => Words {
                expression: self.event(operation),
                note: String::new(),
            },
        }
    }

    /// A value that was fixed.
    pub fn fixed(&self, fixed: &Folded) -> Words {
        Words {
            expression: format!("= {}", self.expression(fixed.first.label)),
            note: words::concretized(fixed.first.detail).to_owned(),
        }
    }

    /// A labelled operand as expression, another as number if known.
    fn operand(&self, label: u32, known: Option<i128>) -> String {
        match (label, known) {
            (0, Some(value)) => value.to_string(),
            (0, None) => "constant".to_owned(),
            _ => self.expression(label),
        }
    }

    /// Any event, as a sentence without its kind and place.
    pub fn event(&self, entry: &Folded) -> String {
        let event = &entry.first;
        match entry.kind {
            EventKind::Branch | EventKind::Select => {
                let side = event.detail != 0;
                format!("{} is {side}", self.expression(event.label))
            }
            EventKind::Switch => {
                let way = if self.report.took_default(event) == Some(true) {
                    "default".to_owned()
                } else {
                    self.case(event)
                };
                format!("{} goes to {way}", self.expression(event.label))
            }
            EventKind::IndirectCall if event.label == 0 => format!("to {:#x}", event.y),
            EventKind::IndirectCall => {
                format!("to {:#x}, {}", event.y, self.expression(event.label))
            }
            EventKind::Concretize => format!(
                "{} = {}, {}",
                self.expression(event.label),
                self.value(event.label),
                words::concretized(event.detail)
            ),
            EventKind::Input => {
                let name = self.source(event.x);
                let bytes = counted(event.label.into(), "byte");
                format!("{bytes} of {name} from offset {}", event.y)
            }
            EventKind::EndOfInput => {
                let (length, more) = (
                    counted(event.y, "byte"),
                    counted(event.label.into(), "more byte"),
                );
                format!("{} after {length}, {more} wanted", self.source(event.x))
            }
            EventKind::Assume => self.expression(event.label),
            EventKind::Report => {
                let message = printable(self.trace.report_message(event));
                format!("{}: {message}", words::reported(event.detail))
            }
            EventKind::Process if event.detail == 1 => format!("forked, pid {}", event.y),
            EventKind::Process => format!("started, pid {}", event.y),
            EventKind::Exit => format!("status {}", event.x),
            EventKind::Output => {
                let value = self.operand(event.label, None);
                format!("{value} as argument {}", event.x)
            }
            EventKind::Access => "of memory".to_owned(),
            EventKind::Format => self.expression(event.label),
            EventKind::Load
            | EventKind::Store
            | EventKind::Division
            | EventKind::Shift
            | EventKind::Overflow
            | EventKind::Allocation
            | EventKind::Length => self.operation(entry).to_string(),
        }
    }
}

impl Names for Explain<'_> {
    fn source(&self, source: u32) -> String {
        let known = self.trace.source(source);
        known.map_or_else(|| format!("source{source}"), |known| input_name(&known))
    }

    fn object(&self, object: u32) -> String {
        let prefix = match self.trace.object(object) {
            Some(known) if !known.name.is_empty() => return printable(known.name),
            Some(known) => words::object_name(known.kind),
            None => "object",
        };
        format!("{prefix}{object}")
    }
}

/// `table (global, 256 bytes)`, or `object on the heap of 12 bytes`.
fn describe(object: &ObjectView) -> String {
    let size = counted(object.size, "byte");
    let kind = words::object(object.kind);
    if object.kind == ObjectKind::Unknown {
        return kind.to_owned();
    }
    if object.name.is_empty() {
        format!("{kind} of {size}")
    } else {
        format!("{} ({kind}, {size})", printable(object.name))
    }
}

/// In parentheses if it is more than one term.
fn grouped(expression: String) -> String {
    if expression.contains(' ') {
        format!("({expression})")
    } else {
        expression
    }
}

fn character_constant(character: char) -> String {
    match character {
        '\'' => "'\\''".to_owned(),
        '\\' => "'\\\\'".to_owned(),
        _ => format!("'{character}'"),
    }
}

/// Decimal while a person can read it, hexadecimal beyond.
fn number(value: u128) -> String {
    if value < 1_000_000 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}
