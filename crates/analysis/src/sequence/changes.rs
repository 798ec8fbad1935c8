//! What differs between two versions: lines that are new or other, and lines that are gone.
//!
//! Lines are compared without the white space at their ends. Of lines that are gone where others came, as many as came are taken to
//! have become those; the rest was deleted. Deleted code has no place in the new version: what depended on it there
//! directly, and is still there, counts instead.

use std::collections::{BTreeMap, BTreeSet};

use crate::dependence::{Dependences, StatementId};

/// Which lines of two texts are the same: pairs in order, counted from 1.
pub fn same_lines(old: &str, new: &str) -> Vec<(u32, u32)> {
    let (a, b): (Vec<&str>, Vec<&str>) = (
        old.lines().map(str::trim).collect(),
        new.lines().map(str::trim).collect(),
    );
    let begin = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (x, y) = (&a[begin..], &b[begin..]);
    let end = (x.iter().rev().zip(y.iter().rev()))
        .take_while(|(x, y)| x == y)
        .count();
    let (x, y) = (&x[..x.len() - end], &y[..y.len() - end]);
    let mut pairs: Vec<(usize, usize)> = (0..begin).map(|at| (at, at)).collect();
    pairs.extend(
        shortest_edit(x, y)
            .into_iter()
            .map(|(x, y)| (x + begin, y + begin)),
    );
    pairs.extend((0..end).map(|at| (a.len() - end + at, b.len() - end + at)));
    pairs
        .into_iter()
        .map(|(x, y)| (x as u32 + 1, y as u32 + 1))
        .collect()
}

/// Myers' algorithm: the pairs that a shortest edit keeps.
fn shortest_edit(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let (n, m) = (a.len() as isize, b.len() as isize);
    let most = n + m;
    if n == 0 || m == 0 {
        return Vec::new();
    }
    let at = |k: isize| (k + most) as usize;
    let mut furthest = vec![0isize; 2 * most as usize + 2];
    let mut history: Vec<Vec<isize>> = Vec::new();
    'search: for d in 0..=most {
        history.push(furthest.clone());
        for k in (-d..=d).step_by(2) {
            let down = k == -d || k != d && furthest[at(k - 1)] < furthest[at(k + 1)];
            let mut x = match down {
                true => furthest[at(k + 1)],
                false => furthest[at(k - 1)] + 1,
            };
            while x < n && x - k < m && a[x as usize] == b[(x - k) as usize] {
                x += 1;
            }
            furthest[at(k)] = x;
            if x >= n && x - k >= m {
                break 'search;
            }
        }
    }
    let mut kept = Vec::new();
    let (mut x, mut y) = (n, m);
    for (d, furthest) in history.iter().enumerate().rev() {
        let (d, k) = (d as isize, x - y);
        let down = k == -d || k != d && furthest[at(k - 1)] < furthest[at(k + 1)];
        let before = if down { k + 1 } else { k - 1 };
        let from = if d == 0 { 0 } else { furthest[at(before)] };
        let start = if d == 0 { 0 } else { from - before };
        while x > from && y > start {
            x -= 1;
            y -= 1;
            kept.push((x as usize, y as usize));
        }
        (x, y) = (from, start);
    }
    kept.reverse();
    kept
}

/// One source in both versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Normalised names; `None` in the version that lacks it.
    pub old: Option<String>,
    pub new: Option<String>,
    /// Lines that are the same, in order.
    pub same: Vec<(u32, u32)>,
    /// Lines of the new file, and of the old one, that are meant to differ; all that are not the same if there is none.
    pub only: Option<(BTreeSet<u32>, BTreeSet<u32>)>,
}

impl FileChange {
    fn is_changed(&self, line: u32) -> bool {
        match &self.only {
            Some((new, _)) => new.contains(&line),
            None => !self.same.iter().any(|(_, new)| *new == line),
        }
    }

    fn is_gone(&self, line: u32) -> bool {
        match &self.only {
            Some((_, old)) => old.contains(&line),
            None => !self.same.iter().any(|(old, _)| *old == line),
        }
    }
}

/// Why a statement counts as changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is new, or other than it was.
    Changed,
    /// These lines of the old version were deleted, and it depended on them.
    Deleted(Vec<(String, u32)>),
}

/// What depends on each statement directly.
type Dependents = BTreeMap<StatementId, Vec<StatementId>>;

fn dependents_of_all(dependences: &Dependences) -> Dependents {
    let mut dependents = Dependents::new();
    for id in dependences.statements.ids() {
        for (on, _) in dependences.statement_on(id) {
            dependents.entry(on).or_default().push(id);
        }
    }
    dependents
}

/// The changed statements of the new version.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub statements: BTreeMap<StatementId, Cause>,
    /// Deleted lines on which nothing depended that is still there.
    pub without_trace: Vec<(String, u32)>,
}

impl Changes {
    pub fn new(files: &[FileChange], old: &Dependences, new: &Dependences) -> Changes {
        let mut changes = Changes::default();
        for file in files {
            let Some(name) = &file.new else {
                continue;
            };
            for id in new.statements.ids() {
                let statement = new.statements.get(id);
                if statement.file == *name && file.is_changed(statement.line) {
                    changes.statements.insert(id, Cause::Changed);
                }
            }
        }
        let mut dependents: Option<Dependents> = None;
        for file in files {
            for line in deleted(file, old, new) {
                let dependents = dependents.get_or_insert_with(|| dependents_of_all(old));
                changes.delete(file, line, files, dependents, old, new);
            }
        }
        changes
    }

    /// Takes in what depended on a deleted line.
    fn delete(
        &mut self,
        file: &FileChange,
        line: u32,
        files: &[FileChange],
        dependents: &Dependents,
        old: &Dependences,
        new: &Dependences,
    ) {
        let Some(name) = &file.old else {
            return;
        };
        let gone = old.statements.at(name, line);
        let depended: BTreeSet<StatementId> = gone
            .filter_map(|id| dependents.get(&id))
            .flatten()
            .copied()
            .collect();
        let mut found = false;
        for id in depended {
            let statement = old.statements.get(id);
            let kept = files
                .iter()
                .filter(|file| file.old.as_deref() == Some(&statement.file))
                .find_map(|file| {
                    let same = file.same.iter();
                    let pair = same.clone().find(|(old, _)| *old == statement.line)?;
                    Some((file.new.as_deref()?, pair.1))
                });
            let Some((file, at)) = kept else {
                continue;
            };
            for id in new.statements.at(file, at) {
                found = true;
                let cause = self
                    .statements
                    .entry(id)
                    .or_insert(Cause::Deleted(Vec::new()));
                if let Cause::Deleted(lines) = cause {
                    lines.push((name.clone(), line));
                }
            }
        }
        if !found {
            self.without_trace.push((name.clone(), line));
        }
    }
}

/// Lines with code of the old version that nothing came for.
fn deleted(file: &FileChange, old: &Dependences, new: &Dependences) -> Vec<u32> {
    let Some(name) = &file.old else {
        return Vec::new();
    };
    let lines = |dependences: &Dependences, name: &str, wanted: &dyn Fn(u32) -> bool| {
        let statements = &dependences.statements;
        let all = statements.ids().map(|id| statements.get(id));
        let here = all.filter(|statement| statement.file == name && wanted(statement.line));
        here.map(|statement| statement.line)
            .collect::<BTreeSet<u32>>()
    };
    let gone = lines(old, name, &|line| file.is_gone(line));
    let came = match &file.new {
        Some(name) => lines(new, name, &|line| file.is_changed(line)),
        None => BTreeSet::new(),
    };
    // Between two lines that stayed: as many as came replace what went.
    let hunk = |line: u32, which: fn(&(u32, u32)) -> u32| {
        file.same.partition_point(|pair| which(pair) < line)
    };
    let mut replaced: BTreeMap<usize, usize> = BTreeMap::new();
    for line in came {
        *replaced.entry(hunk(line, |pair| pair.1)).or_default() += 1;
    }
    let mut deleted = Vec::new();
    for line in gone {
        match replaced.get_mut(&hunk(line, |pair| pair.0)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => deleted.push(line),
        }
    }
    deleted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_paired() {
        let (old, new) = ("a\nb\nc\nd\ne\n", "a\nx\nc\n  d\ny\ne\n");
        assert_eq!(same_lines(old, new), [(1, 1), (3, 3), (4, 4), (5, 6)]);
        assert_eq!(same_lines("", "a\n"), []);
        assert_eq!(same_lines("a\nb\n", "b\n"), [(2, 1)]);
        assert_eq!(same_lines("a\nb\nc\n", "c\na\nb\n"), [(1, 2), (2, 3)]);
    }
}
