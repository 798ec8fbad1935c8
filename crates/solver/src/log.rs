//! Appends queries, with their answers, to a file.

use crate::constraint::{Answer, Constraint, Core};
use crate::copy::Copy;
use crate::layer::Layer;
use crate::query::{Expected, Query};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_expr::Store;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

pub(crate) struct Log {
    file: File,
    written: u64,
}

impl Log {
    pub fn open(path: &Path) -> io::Result<Log> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Log { file, written: 0 })
    }

    /// Appends one query. `facts` are the slice's constraints, from `goal` on the goal's; the answer's core
    /// has indices into the slice.
    pub fn append<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        facts: &[Constraint],
        goal: usize,
        answer: &Answer,
        (layer, time): (Layer, Duration),
    ) -> io::Result<()> {
        let variables: Vec<(u32, u64)> = {
            for fact in facts {
                terms.fact(fact.label);
            }
            terms.bytes.iter().map(|byte| byte.variable).collect()
        };
        let mut names: Vec<u32> = Vec::new();
        let mut copy = Copy::new(|byte: VarId| {
            let (id, offset) = variables[byte as usize];
            let source = names
                .iter()
                .position(|&name| name == id)
                .unwrap_or_else(|| {
                    names.push(id);
                    names.len() - 1
                });
            (source as u32, offset)
        });
        let mut copied = Vec::with_capacity(facts.len());
        for fact in facts {
            let Some(label) = copy.copy(terms, fact.label) else {
                return Ok(());
            };
            copied.push(Constraint {
                label,
                holds: fact.holds,
            });
        }
        let store = copy.store;
        let mut query = Query {
            name: format!("{}", self.written),
            store,
            names,
            goal: copied.split_off(goal),
            path: copied,
            answer: Some(Expected::of(answer)),
            layer: Some((layer.name().to_owned(), time.as_micros() as u64)),
        };
        // Indices of the core would be those of the whole path.
        if let Some(Expected::Unsat(core)) = &mut query.answer {
            *core = Core {
                constraints: Vec::new(),
                with_goal: core.with_goal,
            };
        }
        self.written += 1;
        self.file.write_all(query.print().as_bytes())
    }
}
