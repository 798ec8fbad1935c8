//! Queries as text: solver tests need no C program, and logs can be replayed.
//!
//! One statement per line; `#` begins a comment; queries are separated by lines with `query`.
//! Expressions are written as in [`parallax_expr::sexpr`].
//!
//! ```text
//! query NAME                      begins a query; the name is optional
//! source INDEX ID                 stable id of a source; without it the id is the index
//! table INDEX ADDRESS HEX         contents of a memory object; indices count from 0
//! cell OFFSET BYTE EXPR           byte OFFSET of the table above is byte BYTE of EXPR
//! assert PREDICATE EXPR           a constraint of the path
//! goal PREDICATE EXPR             a constraint of the goal
//! answer sat ID:OFFSET=VALUE …    bytes that differ from the seed
//! answer unsat INDEX … [goal]     constraints of the path that contradict, and whether the goal does
//! answer unknown WHY
//! layer NAME MICROSECONDS         who answered
//! ```
//!
//! A predicate is `= N`, `!= N`, `in LOW HIGH` or `out LOW HIGH`.

use crate::constraint::{Answer, Constraint, Core, Holds, Model};
use crate::path::Path;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::sexpr::{self, Construction};
use parallax_expr::{Label, MemoryStore, Store};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A query that stands on its own.
#[derive(Debug, Default)]
pub struct Query {
    pub name: String,
    pub store: MemoryStore,
    /// Stable ids of the sources.
    pub names: Vec<u32>,
    pub path: Vec<Constraint>,
    pub goal: Vec<Constraint>,
    /// What is known to be the answer.
    pub answer: Option<Expected>,
    /// Who gave it, and in how many microseconds.
    pub layer: Option<(String, u64)>,
}

/// An answer as text has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Sat(Model),
    Unsat(Core),
    Unknown(String),
}

impl Expected {
    pub fn of(answer: &Answer) -> Expected {
        match answer {
            Answer::Sat(model) => Expected::Sat(model.clone()),
            Answer::Unsat(core) => Expected::Unsat(core.clone()),
            Answer::Unknown(why) => Expected::Unknown(why.to_string()),
        }
    }
}

/// Why a text is no query.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Error {
    pub line: usize,
    pub what: String,
}

impl Query {
    /// Pushes the path's constraints.
    pub fn fill<S: Store>(&self, path: &mut Path<'_, S>) {
        for &constraint in &self.path {
            path.push(constraint);
        }
    }

    /// Reads all queries of a text.
    pub fn parse(text: &str) -> Result<Vec<Query>, Error> {
        let mut queries: Vec<Reader> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let error = |what: String| Error {
                line: index + 1,
                what,
            };
            let line = line.split('#').next().unwrap_or_default().trim();
            let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
            match head {
                "" => {}
                "query" => {
                    if let Some(last) = queries.last_mut() {
                        last.end_table().map_err(error)?;
                    }
                    queries.push(Reader::new(rest));
                }
                _ => {
                    if queries.is_empty() {
                        queries.push(Reader::new(""));
                    }
                    let last = queries.len() - 1;
                    queries[last].statement(head, rest.trim()).map_err(error)?;
                }
            }
        }
        if let Some(last) = queries.last_mut() {
            last.end_table().map_err(|what| Error { line: 0, what })?;
        }
        Ok(queries.into_iter().map(|reader| reader.query).collect())
    }

    /// The query as text.
    pub fn print(&self) -> String {
        let mut text = format!("query {}\n", self.name);
        for (index, id) in self.names.iter().enumerate() {
            let _ = writeln!(text, "source {index} {id}");
        }
        // A store gives no number of tables; those that do not exist are empty.
        for table in 0.. {
            let view = self.store.table(table);
            if view.bytes.is_empty() {
                break;
            }
            let _ = write!(text, "table {table} {:#x} ", view.base);
            for byte in view.bytes {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
            for (offset, word) in view.labels.unwrap_or(&[]).iter().enumerate() {
                let label: Label = word >> LABEL_BYTE_BITS;
                if label != 0 {
                    let byte = word & ((1 << LABEL_BYTE_BITS) - 1);
                    let expression = sexpr::print(&self.store, label);
                    let _ = writeln!(text, "cell {offset} {byte} {expression}");
                }
            }
        }
        for (head, constraints) in [("assert", &self.path), ("goal", &self.goal)] {
            for constraint in constraints {
                let _ = match constraint.holds {
                    Holds::Equals(value) => write!(text, "{head} = {value:#x} "),
                    Holds::Differs(value) => write!(text, "{head} != {value:#x} "),
                    Holds::Within(low, high) => write!(text, "{head} in {low:#x} {high:#x} "),
                    Holds::Outside(low, high) => write!(text, "{head} out {low:#x} {high:#x} "),
                };
                text.push_str(&sexpr::print(&self.store, constraint.label));
                text.push('\n');
            }
        }
        match &self.answer {
            Some(Expected::Sat(model)) => {
                text.push_str("answer sat");
                for ((source, offset), value) in &model.bytes {
                    let _ = write!(text, " {source}:{offset}={value}");
                }
                text.push('\n');
            }
            Some(Expected::Unsat(core)) => {
                text.push_str("answer unsat");
                for index in &core.constraints {
                    let _ = write!(text, " {index}");
                }
                text.push_str(if core.with_goal { " goal\n" } else { "\n" });
            }
            Some(Expected::Unknown(why)) => {
                let _ = writeln!(text, "answer unknown {why}");
            }
            None => {}
        }
        if let Some((layer, microseconds)) = &self.layer {
            let _ = writeln!(text, "layer {layer} {microseconds}");
        }
        text
    }
}

/// A query that is being read.
struct Reader {
    query: Query,
    /// The table that `cell` lines may still be about.
    table: Option<OpenTable>,
    tables: u32,
    /// Nodes whose sources are known.
    scanned: Label,
}

struct OpenTable {
    base: u64,
    bytes: Vec<u8>,
    words: Vec<u32>,
}

impl Reader {
    fn new(name: &str) -> Reader {
        Reader {
            query: Query {
                name: name.trim().to_owned(),
                ..Query::default()
            },
            table: None,
            tables: 0,
            scanned: 0,
        }
    }

    fn statement(&mut self, head: &str, rest: &str) -> Result<(), String> {
        if head != "cell" {
            self.end_table()?;
        }
        match head {
            "source" => {
                let [index, id] = words(rest)?;
                let (index, id) = (number(index, 1 << 16)? as usize, number(id, MAX_ID)? as u32);
                while self.query.names.len() <= index {
                    self.query.names.push(self.query.names.len() as u32);
                }
                self.query.names[index] = id;
            }
            "table" => {
                let [index, base, bytes] = words(rest)?;
                if number(index, MAX_ID)? != u128::from(self.tables) {
                    return Err(format!("the next table is {}", self.tables));
                }
                let bytes = hex(bytes)?;
                self.table = Some(OpenTable {
                    base: number(base, u128::from(u64::MAX))? as u64,
                    words: vec![0; bytes.len()],
                    bytes,
                });
            }
            "cell" => {
                let [offset, byte, expression] = words(rest)?;
                let (offset, byte) = (number(offset, MAX_ID)? as usize, number(byte, 15)? as u32);
                let label = self.expression(expression)?;
                let open = self.table.as_mut().ok_or("no table for this cell")?;
                let word = open.words.get_mut(offset).ok_or("beyond the table")?;
                *word = label << LABEL_BYTE_BITS | byte;
            }
            "assert" | "goal" => {
                let constraint = self.constraint(rest)?;
                match head {
                    "assert" => self.query.path.push(constraint),
                    _ => self.query.goal.push(constraint),
                }
            }
            "answer" => self.query.answer = Some(answer(rest)?),
            "layer" => {
                let [name, time] = words(rest)?;
                let time = number(time, u128::from(u64::MAX))? as u64;
                self.query.layer = Some((name.to_owned(), time));
            }
            _ => return Err(format!("`{head}` is no statement")),
        }
        Ok(())
    }

    fn end_table(&mut self) -> Result<(), String> {
        if let Some(table) = self.table.take() {
            let any = table.words.iter().any(|&word| word != 0);
            let words = any.then_some(table.words);
            self.query
                .store
                .add_table(table.base, &table.bytes, words.as_deref());
            self.tables += 1;
        }
        Ok(())
    }

    fn expression(&mut self, text: &str) -> Result<Label, String> {
        sexpr::parse(&mut self.query.store, text, Construction::Verbatim)
            .map_err(|error| format!("{error} in `{text}`"))
            .inspect(|&label| self.note_sources(label))
    }

    /// Sources that were not named have their index for a name.
    fn note_sources(&mut self, label: Label) {
        for at in self.scanned + 1..=label {
            let node = self.query.store.node(at);
            if node.op == parallax_expr::Op::Input as u8 && node.a < 1 << 16 {
                while self.query.names.len() <= node.a as usize {
                    self.query.names.push(self.query.names.len() as u32);
                }
            }
        }
        self.scanned = self.scanned.max(label);
    }

    fn constraint(&mut self, text: &str) -> Result<Constraint, String> {
        let (kind, rest) = text.split_once(' ').ok_or("a predicate is missing")?;
        let (holds, expression) = match kind {
            "=" | "!=" => {
                let [value, expression] = words(rest)?;
                let value = number(value, u128::MAX)?;
                let holds = match kind {
                    "=" => Holds::Equals(value),
                    _ => Holds::Differs(value),
                };
                (holds, expression)
            }
            "in" | "out" => {
                let [low, high, expression] = words(rest)?;
                let (low, high) = (number(low, u128::MAX)?, number(high, u128::MAX)?);
                let holds = match kind {
                    "in" => Holds::Within(low, high),
                    _ => Holds::Outside(low, high),
                };
                (holds, expression)
            }
            other => return Err(format!("`{other}` is no predicate")),
        };
        Ok(Constraint {
            label: self.expression(expression)?,
            holds,
        })
    }
}

const MAX_ID: u128 = u32::MAX as u128;

/// The first words of a text and the rest of it as the last.
fn words<const N: usize>(text: &str) -> Result<[&str; N], String> {
    let parts: Vec<&str> = text.splitn(N, ' ').map(str::trim).collect();
    parts
        .try_into()
        .map_err(|_| format!("{N} parts are expected in `{text}`"))
}

fn number(text: &str, maximum: u128) -> Result<u128, String> {
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
    .filter(|&number| number <= maximum)
    .ok_or_else(|| format!("`{text}` is no number in range"))
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            let digits = std::str::from_utf8(pair).ok().filter(|d| d.len() == 2);
            digits
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .ok_or_else(|| "bytes are written as pairs of hexadecimal digits".to_owned())
        })
        .collect()
}

fn answer(text: &str) -> Result<Expected, String> {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    match kind {
        "sat" => {
            let mut bytes = BTreeMap::new();
            for word in rest.split_whitespace() {
                let parts = word
                    .split_once(':')
                    .and_then(|(source, rest)| Some((source, rest.split_once('=')?)));
                let (source, (offset, value)) =
                    parts.ok_or_else(|| format!("`{word}` is no byte"))?;
                let variable = (
                    number(source, MAX_ID)? as u32,
                    number(offset, u128::from(u64::MAX))? as u64,
                );
                bytes.insert(variable, number(value, 255)? as u8);
            }
            Ok(Expected::Sat(Model { bytes }))
        }
        "unsat" => {
            let mut core = Core::default();
            for word in rest.split_whitespace() {
                match word {
                    "goal" => core.with_goal = true,
                    _ => core.constraints.push(number(word, MAX_ID)? as usize),
                }
            }
            Ok(Expected::Unsat(core))
        }
        "unknown" => Ok(Expected::Unknown(rest.to_owned())),
        other => Err(format!("`{other}` is no answer")),
    }
}
