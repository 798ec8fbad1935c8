//! Findings that are one thing: one change of the patch that shows on several inputs.
//!
//! What is searched for tells findings apart by what programs print, since nothing else is known while it searches. Once hunks are
//! known to be guilty, findings of one kind that come from the same hunks are most likely one decision of the author's. People read of
//! it once, and may accept it at once; forms for programs keep every finding.

use super::{Class, Finding, Golden, PatchReport, Role};
use crate::headline;

/// Findings that are one thing, in the order of [`PatchReport::ranked`].
#[derive(Clone, Debug)]
pub struct Group<'r> {
    /// The worst, or the one with the smallest input.
    pub first: &'r Finding,
    /// The others.
    pub alike: Vec<&'r Finding>,
}

/// What findings of a group share: what they are called, and the hunks that they come from.
type Mark = (Class, String, Option<Golden>, Vec<usize>);

impl<'r> Group<'r> {
    /// A finding by itself.
    pub fn of(found: &'r Finding) -> Group<'r> {
        Group {
            first: found,
            alike: Vec::new(),
        }
    }

    /// How many findings it is made of.
    pub fn size(&self) -> usize {
        1 + self.alike.len()
    }
}

impl PatchReport {
    /// All findings, the worst first, those together that are one thing.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<(Option<Mark>, Group<'_>)> = Vec::new();
        for found in self.ranked() {
            let mark = mark(found);
            let known = groups
                .iter_mut()
                .find(|(other, _)| mark.is_some() && *other == mark);
            match known {
                Some((_, group)) => group.alike.push(found),
                None => groups.push((mark, Group::of(found))),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// The findings of the last check that are one thing with the one of this name, itself included; none if there is no such finding.
    pub fn alike(&self, id: &str) -> Vec<&Finding> {
        let groups = self.groups().into_iter();
        let mut all = groups.map(|group| [vec![group.first], group.alike].concat());
        let is_it = |list: &Vec<&Finding>| list.iter().any(|found| found.id == id);
        all.find(is_it).unwrap_or_default()
    }
}

/// `None` of what stands alone: what may come from anywhere, and what is accepted, since that was done by name.
fn mark(found: &Finding) -> Option<Mark> {
    if found.accepted.is_some() {
        return None;
    }
    let mut guilty = Vec::new();
    for one in &found.hunks {
        match one.role {
            Role::Guilty => guilty.push(one.hunk),
            Role::Needed => {}
            Role::Open => return None,
        }
    }
    guilty.sort_unstable();
    let title = headline::title(found);
    (!guilty.is_empty()).then_some((found.class, title, found.golden, guilty))
}

#[cfg(test)]
mod tests {
    use super::super::{Accepted, Difference, Guilty};
    use super::*;

    fn of(id: &str, part: &str, hunks: &[(usize, Role)]) -> Finding {
        Finding {
            id: id.into(),
            differences: vec![Difference {
                part: part.into(),
                ..Difference::default()
            }],
            hunks: hunks
                .iter()
                .map(|(hunk, role)| Guilty {
                    hunk: *hunk,
                    role: *role,
                })
                .collect(),
            ..Finding::default()
        }
    }

    fn groups(findings: Vec<Finding>) -> Vec<Vec<String>> {
        let report = PatchReport {
            findings,
            ..PatchReport::default()
        };
        let groups = report.groups().into_iter();
        let ids = groups.map(|group| [vec![group.first], group.alike].concat());
        let ids = ids.map(|list| list.iter().map(|found| found.id.clone()).collect());
        ids.collect()
    }

    #[test]
    fn what_is_of_one_kind_and_comes_from_the_same_hunks_is_one_thing() {
        use Role::{Guilty, Needed};
        let found = [
            of("a", "stderr", &[(2, Guilty)]),
            of("b", "stdout", &[(2, Guilty)]),
            of("c", "stderr", &[(2, Guilty), (1, Needed)]),
            of("d", "stderr", &[(1, Guilty), (2, Guilty)]),
            of("e", "stderr", &[(2, Guilty), (1, Guilty)]),
        ];
        let expected = [vec!["a", "c"], vec!["b"], vec!["d", "e"]];
        assert_eq!(groups(found.to_vec()), expected);
    }

    #[test]
    fn what_may_come_from_anywhere_stands_alone() {
        use Role::{Guilty, Open};
        let found = [
            of("a", "stderr", &[]),
            of("b", "stderr", &[]),
            of("c", "stderr", &[(2, Guilty), (1, Open)]),
            of("d", "stderr", &[(2, Guilty), (1, Open)]),
        ];
        assert_eq!(groups(found.to_vec()), [["a"], ["b"], ["c"], ["d"]]);
    }

    #[test]
    fn errors_in_different_places_are_different_things() {
        let error = |id: &str, line: u32| Finding {
            class: Class::Regression,
            message: format!("out-of-bounds at a.c:{line} in the new version only"),
            ..of(id, "end", &[(0, Role::Guilty)])
        };
        let found = vec![error("a", 7), error("b", 9), error("c", 7)];
        assert_eq!(groups(found), [vec!["a", "c"], vec!["b"]]);
    }

    #[test]
    fn what_is_accepted_stands_alone() {
        let open = of("c", "stderr", &[(0, Role::Guilty)]);
        let accepted = ["a", "b"].map(|id| Finding {
            accepted: Some(Accepted::default()),
            ..of(id, "stderr", &[(0, Role::Guilty)])
        });
        let found = [&accepted[..], &[open]].concat();
        assert_eq!(groups(found), [["c"], ["a"], ["b"]]);
    }

    #[test]
    fn a_finding_names_those_that_are_alike() {
        let mut report = PatchReport::default();
        for id in ["a", "b"] {
            report.findings.push(of(id, "stderr", &[(0, Role::Guilty)]));
        }
        report
            .findings
            .push(of("c", "stdout", &[(0, Role::Guilty)]));
        let alike = |id: &str| -> Vec<&str> {
            let list = report.alike(id).into_iter();
            list.map(|found| found.id.as_str()).collect()
        };
        assert_eq!(alike("b"), ["a", "b"]);
        assert_eq!(alike("c"), ["c"]);
        assert!(alike("d").is_empty());
    }
}
