//! Decoding of regions that are made by hand.

use parallax_abi::SiteKind;
use parallax_abi::cover::{Module, NO_ROOM};
use parallax_record::{FunctionSites, Site, SiteTable};

use super::*;

fn site(kind: SiteKind, id: u64, line: u32) -> Site {
    Site {
        id,
        kind: kind as u8,
        file: 0,
        line,
        column: 5,
        cases: Vec::new(),
        successors: Vec::new(),
        original: 0,
        within: Vec::new(),
        text: String::new(),
    }
}

fn block(id: u64, line: u32) -> Site {
    site(SiteKind::Block, id, line)
}

fn function(name: &str, line: u32, sites: Vec<Site>) -> FunctionSites {
    FunctionSites {
        name: name.into(),
        file: 0,
        line,
        sites,
    }
}

fn module(module: u64, file: &str, functions: Vec<FunctionSites>) -> ModuleSites {
    let table = SiteTable {
        files: vec![file.into()],
        functions,
    };
    ModuleSites { module, table }
}

/// One function with an `if` (line 2) around a line (3), then the end (4); one that is not called.
/// Five counters and one.
fn choice(id: u64, file: &str) -> ModuleSites {
    let first = id * 100;
    let main = vec![
        block(first, 2),
        site(SiteKind::Load, first + 1, 2),
        site(SiteKind::Branch, first + 2, 2),
        block(first + 3, 3),
        site(SiteKind::Call, first + 4, 3),
        block(first + 5, 4),
    ];
    let functions = vec![
        function("main", 1, main),
        function("spare", 7, vec![block(first + 6, 8)]),
    ];
    module(id, file, functions)
}

fn region(modules: &[(u64, &[u32])]) -> CoverageRegion {
    let region = CoverageRegion::create(64).unwrap();
    let mut first = 1;
    for (id, counters) in modules {
        let count = counters.len() as u32;
        let id = *id;
        region.put(Module { id, first, count }, counters);
        first += count;
    }
    region
}

fn lines(coverage: &Coverage, file: &str) -> Vec<(u32, u64)> {
    let file = coverage.files().iter().find(|other| other.name == file);
    file.map(|file| file.lines.clone())
        .unwrap_or_default()
        .into_iter()
        .collect()
}

fn share(covered: u64, total: u64) -> Share {
    Share { covered, total }
}

#[test]
fn counters_follow_the_table() {
    let coverage = Coverage::read(
        &region(&[(1, &[10, 7, 3, 3, 9, 0])]),
        &[choice(1, "/p/a.c")],
    );
    assert_eq!(coverage.block(SiteId(100)), Some(10));
    assert_eq!(coverage.block(SiteId(103)), Some(3));
    assert_eq!(coverage.block(SiteId(105)), Some(9));
    let sides = Sides {
        taken: 3,
        not_taken: 7,
    };
    assert_eq!(coverage.branch(SiteId(102)), Some(sides));
    assert_eq!(coverage.block(SiteId(102)), None, "a branch is no block");
    assert_eq!(coverage.branch(SiteId(100)), None);
    assert_eq!(
        lines(&coverage, "/p/a.c"),
        [(2, 10), (3, 3), (4, 9), (8, 0)]
    );
    assert_eq!(coverage.line("/p/a.c", 3), Some(3));
    assert_eq!(coverage.line("/p/a.c", 5), None);
    let never: Vec<_> = coverage.never_entered().map(|(_, f)| &*f.name).collect();
    assert_eq!(never, ["spare"]);
    let totals = Totals {
        blocks: share(3, 4),
        branch_sides: share(2, 2),
        lines: share(3, 4),
        functions: share(1, 2),
    };
    assert_eq!(coverage.totals(), totals);
    assert_eq!(coverage.uncounted(), []);
    assert!(coverage.unknown().is_empty());
}

#[test]
fn the_busiest_block_of_a_line_counts_for_it_and_long_blocks_count_for_all_theirs() {
    // for (…) on line 2: start, condition, step; a body of two lines.
    let sites = vec![
        block(1, 2),
        block(2, 2),
        site(SiteKind::Branch, 3, 2),
        block(4, 3),
        site(SiteKind::Store, 5, 4),
        block(6, 2),
    ];
    let tables = [module(1, "a.c", vec![function("f", 1, sites)])];
    let coverage = Coverage::read(&region(&[(1, &[1, 6, 1, 5, 5, 5])]), &tables);
    assert_eq!(lines(&coverage, "a.c"), [(2, 6), (3, 5), (4, 5)]);
}

#[test]
fn two_modules_are_kept_apart() {
    let counters: [(u64, &[u32]); 2] = [(1, &[1, 1, 0, 0, 1, 0]), (2, &[4, 0, 4, 4, 4, 2])];
    let tables = [choice(2, "b.c"), choice(1, "a.c")];
    let coverage = Coverage::read(&region(&counters), &tables);
    assert_eq!(lines(&coverage, "a.c"), [(2, 1), (3, 0), (4, 1), (8, 0)]);
    assert_eq!(lines(&coverage, "b.c"), [(2, 4), (3, 4), (4, 4), (8, 2)]);
    assert_eq!(coverage.totals().branch_sides, share(2, 4));
    let names: Vec<_> = coverage.files().iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["a.c", "b.c"]);
}

#[test]
fn a_function_of_a_header_is_counted_once_with_the_sum_of_its_modules() {
    let header = |id| {
        let helper = function("helper", 3, vec![block(7, 4)]);
        module(id, "helper.h", vec![helper])
    };
    let coverage = Coverage::read(&region(&[(1, &[2]), (2, &[5])]), &[header(1), header(2)]);
    assert_eq!(coverage.block(SiteId(7)), Some(7));
    assert_eq!(lines(&coverage, "helper.h"), [(4, 7)]);
    assert_eq!(coverage.totals().blocks, share(1, 1));
    assert_eq!(coverage.totals().functions, share(1, 1));
}

#[test]
fn equal_ids_in_different_files_share_no_lines() {
    let twin = |id, file| module(id, file, vec![function("usage", 1, vec![block(7, 2)])]);
    let tables = [twin(1, "/a/main.c"), twin(2, "/b/main.c")];
    let coverage = Coverage::read(&region(&[(1, &[3]), (2, &[0])]), &tables);
    assert_eq!(lines(&coverage, "/a/main.c"), [(2, 3)]);
    assert_eq!(lines(&coverage, "/b/main.c"), [(2, 0)]);
    assert_eq!(coverage.totals().blocks, share(1, 2));
}

#[test]
fn a_table_that_is_listed_twice_counts_once() {
    let counters: &[u32] = &[1, 1, 0, 0, 1, 0];
    let tables = [choice(1, "a.c"), choice(1, "a.c")];
    let coverage = Coverage::read(&region(&[(1, counters)]), &tables);
    assert_eq!(coverage.block(SiteId(100)), Some(1));
    assert_eq!(coverage.totals().blocks, share(2, 4));
}

#[test]
fn a_module_that_was_never_loaded_did_not_run() {
    let coverage = Coverage::read(&region(&[]), &[choice(1, "a.c")]);
    assert_eq!(coverage.block(SiteId(100)), Some(0));
    assert_eq!(coverage.totals().lines, share(0, 4));
    assert_eq!(coverage.uncounted(), []);
}

#[test]
fn a_module_without_room_is_reported_and_not_taken_for_idle() {
    let region = region(&[(1, &[1, 1, 0, 0, 1, 0])]);
    let (first, count) = (NO_ROOM, 0);
    region.put(
        Module {
            id: 2,
            first,
            count,
        },
        &[],
    );
    region.refuse();
    // The third did not even find a slot.
    let tables = [choice(1, "a.c"), choice(2, "b.c"), choice(3, "c.c")];
    let coverage = Coverage::read(&region, &tables);
    let uncounted: Vec<_> = coverage
        .uncounted()
        .iter()
        .map(|module| (module.module, &*module.file, module.why))
        .collect();
    assert_eq!(
        uncounted,
        [(2, "b.c", Why::NoRoom), (3, "c.c", Why::NoRoom)]
    );
    assert_eq!(coverage.block(SiteId(200)), None);
    assert_eq!(coverage.totals().blocks, share(2, 4));
}

#[test]
fn a_module_whose_counters_do_not_fit_its_table_is_reported() {
    let coverage = Coverage::read(&region(&[(1, &[1, 1, 0])]), &[choice(1, "a.c")]);
    assert_eq!(coverage.uncounted()[0].why, Why::Damaged);
    assert_eq!(coverage.totals(), Totals::default());
}

#[test]
fn modules_of_other_programs_are_named() {
    let counters: &[u32] = &[1, 1, 0, 0, 1, 0];
    let coverage = Coverage::read(&region(&[(1, counters), (9, &[5])]), &[choice(1, "a.c")]);
    assert_eq!(coverage.unknown(), [9]);
    assert_eq!(coverage.totals().blocks, share(2, 4));
}

#[test]
fn percentages_of_nothing_are_none() {
    assert_eq!(Share::default().percent(), None);
    assert_eq!(share(1, 4).percent(), Some(25.0));
}
