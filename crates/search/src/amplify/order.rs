//! In which order scenarios are amplified: what brings new sensitive operations first.

use std::collections::{BTreeSet, HashSet};

use parallax_abi::SiteId;

/// Order of scenarios by the sensitive sites of their runs: those that bring a site that none before them has, then
/// those with another set of sites, then near-duplicates, whose set an earlier one has.
pub fn by_novelty(sites: &[BTreeSet<SiteId>]) -> Vec<usize> {
    let mut seen: HashSet<SiteId> = HashSet::new();
    let mut sets: HashSet<&BTreeSet<SiteId>> = HashSet::new();
    let (mut new, mut others, mut duplicates) = (Vec::new(), Vec::new(), Vec::new());
    for (index, set) in sites.iter().enumerate() {
        let brings = set.iter().filter(|site| seen.insert(**site)).count() > 0;
        let is_first = sets.insert(set);
        if brings {
            new.push(index);
        } else if is_first {
            others.push(index);
        } else {
            duplicates.push(index);
        }
    }
    [new, others, duplicates].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_with_new_operations_come_first_and_near_duplicates_last() {
        let set = |ids: &[u64]| ids.iter().map(|id| SiteId(*id)).collect();
        let sites = [set(&[1, 2]), set(&[1, 2]), set(&[1]), set(&[1, 3])];
        assert_eq!(by_novelty(&sites), [0, 3, 2, 1]);
    }
}
