//! The store as its users see it: what goes in comes out, by any process, after any accident.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use parallax_scenario::{Bytes, Ending, Recorded, Scenario};
use parallax_store::ledger::{Entry, Settled, Status, Step};
use parallax_store::{
    Alone, Block, Covered, Filter, KeptFinding, Origin, Plan, State, Store, StoreError, set_aside,
};

fn recorded(program: &str, argument: &str) -> Recorded {
    Recorded {
        program: program.into(),
        scenario: Scenario {
            argv: vec![argument.into()],
            files: [("big".into(), Bytes(vec![7; 100_000]))].into(),
            ..Scenario::default()
        },
        result: Ending {
            exit: Some(0),
            stdout: Bytes(vec![b'x'; 50_000]),
            ..Ending::default()
        },
        test: Some("t1".into()),
        notes: vec!["cut off".into()],
        unsteady: vec!["a signal from elsewhere".into()],
        seconds: 0.25,
    }
}

fn plan(key: &str) -> Plan<'_> {
    Plan {
        key,
        strategy: "explore",
        program: b"prog",
        description: "explore ./prog",
    }
}

fn open(directory: &Path) -> Store {
    Store::open(directory).unwrap()
}

#[test]
fn a_scenario_comes_back_as_it_was_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let one = recorded("src/cut", "-c1");
    let added = open(directory.path()).add(&one, Origin::Recorded).unwrap();
    assert!(added.is_new);
    let store = open(directory.path());
    let kept = store.get(&store.find(&added.id[..6]).unwrap()).unwrap();
    assert_eq!(kept.recorded, one);
    assert_eq!(kept.origin, Origin::Recorded);
    assert_eq!(kept.tests, ["t1"]);
    store.verify().unwrap();
}

#[test]
fn the_same_scenario_is_kept_once_with_all_its_tests() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let mut again = recorded("cut", "-c1");
    again.test = Some("t2".into());
    again.result.exit = Some(1);
    let list = [recorded("cut", "-c1"), again, recorded("sort", "-c1")];
    let added = store.add_all(&list, Origin::Recorded).unwrap();
    assert_eq!(added[0].id, added[1].id);
    assert!(!added[1].is_new);
    assert_ne!(added[0].id, added[2].id);
    let kept = store.get(&added[0].id).unwrap();
    assert_eq!(kept.tests, ["t1", "t2"]);
    assert_eq!(kept.others, 1);
    assert_eq!(kept.recorded.result.exit, Some(0));
}

#[test]
fn scenarios_are_found_by_program_test_and_origin() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let cut = store.add(&recorded("cut", "1"), Origin::Recorded).unwrap();
    let mut sort = recorded("sort", "2");
    sort.test = None;
    let sort = store.add(&sort, Origin::Imported).unwrap();
    let ids = |filter: Filter| -> Vec<String> {
        let list = store.list(&filter).unwrap();
        list.into_iter().map(|listed| listed.id).collect()
    };
    assert_eq!(ids(Filter::default()), [cut.id.clone(), sort.id.clone()]);
    let by_program = Filter {
        program: Some("sort".into()),
        ..Filter::default()
    };
    assert_eq!(ids(by_program), [sort.id.as_str()]);
    let by_test = Filter {
        test: Some("t1".into()),
        ..Filter::default()
    };
    assert_eq!(ids(by_test), [cut.id]);
    let by_origin = Filter {
        origins: vec![Origin::Imported, Origin::Added],
        ..Filter::default()
    };
    assert_eq!(ids(by_origin), [sort.id]);
    assert!(matches!(store.find("zz"), Err(StoreError::NoScenario(_))));
}

#[test]
fn coverage_is_kept_for_each_build() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = store.add(&recorded("cut", "1"), Origin::Added).unwrap().id;
    let covered = |index| Covered {
        blocks: 1,
        counters: BTreeSet::from([Block { module: 9, index }]),
    };
    let program: Bytes = "cut".into();
    store
        .put_coverage(&id, &program, "old", &covered(1))
        .unwrap();
    store
        .put_coverage(&id, &program, "new", &covered(2))
        .unwrap();
    assert_eq!(store.coverage(&id, "old").unwrap(), Some(covered(1)));
    assert_eq!(store.coverage(&id, "other").unwrap(), None);
    let measured = store.coverages("new").unwrap();
    assert_eq!(measured.len(), 1);
    assert_eq!(
        (measured[0].scenario.as_str(), measured[0].origin),
        (id.as_str(), Origin::Added)
    );
    assert_eq!(measured[0].counters, covered(2).counters);
    assert_eq!(store.list(&Filter::default()).unwrap()[0].blocks, Some(1));
}

fn finding(argument: &str) -> KeptFinding {
    KeptFinding {
        program: "prog".into(),
        id: "abort-a.c-3".into(),
        command: "explore".into(),
        kind: "abort".into(),
        location: Some(("a.c".into(), 3)),
        message: "calls abort()".into(),
        scenario: recorded("prog", argument).scenario,
        old: None,
        new: Some(Ending {
            signal: Some(6),
            ..Ending::default()
        }),
        distance: None,
        depth: Some(4),
        state: State::Confirmed,
        directory: Some("out/abort-a.c-3".into()),
    }
}

#[test]
fn a_finding_is_replaced_by_a_smaller_one_of_the_same_name() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.put_finding(&finding("long")).unwrap();
    store.put_finding(&finding("s")).unwrap();
    assert_eq!(store.findings(None).unwrap(), [finding("s")]);
    assert_eq!(store.findings(Some(&"other".into())).unwrap(), []);
    // Its scenario cannot be removed, the other one can.
    let list = store.list(&Filter::default()).unwrap();
    let removed: Vec<bool> = list
        .iter()
        .map(|one| store.remove(&one.id).unwrap())
        .collect();
    assert_eq!(removed, [true, false]);
}

#[test]
fn a_journal_goes_on_where_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    {
        let store = open(directory.path());
        let mut work = store.work(&plan("k"), &mut |_| {}).unwrap();
        work.append(b"one").unwrap();
        work.append(b"one").unwrap();
        work.append(b"three").unwrap();
    }
    let store = open(directory.path());
    let mut work = store.work(&plan("k"), &mut |_| {}).unwrap();
    assert_eq!((work.chunks(), work.outcome()), (3, None));
    assert_eq!(work.chunk(2).unwrap().unwrap(), b"three");
    assert_eq!(work.chunk(3).unwrap(), None);
    work.truncate(1).unwrap();
    work.append(b"two").unwrap();
    work.finish("done").unwrap();
    assert_eq!(work.chunk(1).unwrap().unwrap(), b"two");
    drop(work);
    let other = store.work(&plan("other"), &mut |_| {}).unwrap();
    assert_eq!(other.chunks(), 0);
    let again = store.work(&plan("k"), &mut |_| {}).unwrap();
    assert_eq!(again.outcome(), Some("done"));
}

#[test]
fn who_works_on_a_search_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let work = store.work(&plan("k"), &mut |_| {}).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let store = open(directory.path());
            let mut seen = None;
            let work = store.work(&plan("k"), &mut |holder| seen = Some(holder.clone()));
            let chunks = work.unwrap().chunks();
            (chunks, seen.unwrap().command)
        });
        std::thread::sleep(std::time::Duration::from_millis(100));
        let mut work = work;
        work.append(b"last").unwrap();
        drop(work);
        assert_eq!(waiter.join().unwrap(), (1, "explore ./prog".into()));
    });
}

#[test]
fn many_writers_share_a_store() {
    let directory = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = directory.path();
            scope.spawn(move || {
                let store = open(path);
                for number in 0..10 {
                    let one = recorded("prog", &format!("{writer} {number}"));
                    store.add(&one, Origin::Recorded).unwrap();
                }
            });
        }
    });
    let store = open(directory.path());
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 40);
    store.verify().unwrap();
}

#[test]
fn only_one_can_be_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let run = store.begin("parallax explore").unwrap();
    run.end(0).unwrap();
    let alone = Alone::try_enter(directory.path(), "parallax clean").unwrap();
    assert!(alone.is_ok());
    let other = Alone::try_enter(directory.path(), "parallax clean").unwrap();
    assert_eq!(other.unwrap_err()[0].command, "parallax clean");
}

#[test]
fn sweeping_keeps_what_scenarios_need() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let kept = store.add(&recorded("prog", "1"), Origin::Recorded).unwrap();
    let mut work = store.work(&plan("k"), &mut |_| {}).unwrap();
    work.append(&[1; 5000]).unwrap();
    drop(work);
    let swept = store.sweep().unwrap();
    assert_eq!((swept.journals, swept.blobs.files), (1, 1));
    assert_eq!(store.get(&kept.id).unwrap().recorded, recorded("prog", "1"));
}

#[test]
fn damage_is_said_and_set_aside_whole() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path())
        .add(&recorded("prog", "1"), Origin::Recorded)
        .unwrap();
    let database = directory.path().join("store.sqlite");
    fs::write(&database, vec![0x55; 8192]).unwrap();
    let error = Store::open(directory.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    let aside = set_aside(directory.path()).unwrap().unwrap();
    assert_eq!(fs::read(aside.join("store.sqlite")).unwrap()[0], 0x55);
    assert!(aside.join("blobs").is_dir());
    assert_eq!(open(directory.path()).list(&Filter::default()).unwrap(), []);
}

#[test]
fn a_changed_row_is_damage() {
    let directory = tempfile::tempdir().unwrap();
    let id = open(directory.path())
        .add(&recorded("prog", "needle"), Origin::Recorded)
        .unwrap()
        .id;
    let database = directory.path().join("store.sqlite");
    let mut bytes = fs::read(&database).unwrap();
    let at = bytes
        .windows(6)
        .position(|window| window == b"needle")
        .unwrap();
    bytes[at] = b'N';
    fs::write(&database, bytes).unwrap();
    let error = open(directory.path()).get(&id).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_foreign_database_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("store.sqlite");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch("CREATE TABLE photos (id)")
        .unwrap();
    drop(connection);
    let error = Store::open(directory.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    let database = directory.path().join("store.sqlite");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute("INSERT INTO migration VALUES (99, 0)", [])
        .unwrap();
    drop(connection);
    let error = Store::open(directory.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { version: 99, .. }),
        "{error:?}"
    );
}

fn entry(file: &str, lines: &[u32], status: Status) -> Entry {
    Entry {
        file: file.into(),
        top: None,
        lines: lines.to_vec(),
        function: "main".into(),
        programs: vec!["cut".into()],
        status,
        program: Some("cut".into()),
        scenario: None,
        seed: None,
        steps: vec![Step {
            kind: "greedy".into(),
            branch: None,
            scenario: Scenario {
                stdin: Bytes(vec![7; 10_000]),
                ..recorded("cut", "2").scenario
            },
            distance: Some(3),
        }],
        obstacle: None,
        losses: vec![("strcoll".into(), 2)],
        seeds: Vec::new(),
        distance: Some(1),
        runs: 4,
        paths: 2,
        queries: 9,
        seconds: 0.5,
        time_limit: Some(60.0),
        run_limit: None,
        notes: Vec::new(),
    }
}

#[test]
fn the_ledger_knows_the_latest_about_a_line_of_any_revision() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let settled = |revision: &str, entry: Entry| Settled {
        revision: revision.into(),
        key: "key".into(),
        conditions: "all".into(),
        entry,
    };
    let old = settled("old", entry("src/cut.c", &[3, 4], Status::Blocked));
    let new = settled("new", entry("src/cut.c", &[4, 5], Status::Blocked));
    let again = settled("new", entry("src/cut.c", &[4, 5], Status::Covered));
    store.settle(&[old.clone(), new]).unwrap();
    store.settle(std::slice::from_ref(&again)).unwrap();
    assert_eq!(store.settled("new", "key").unwrap(), Some(again.clone()));
    assert_eq!(store.settled("new", "other").unwrap(), None);
    assert_eq!(
        store.settled_at("cut.c", 4).unwrap(),
        [again.clone(), old.clone()]
    );
    assert_eq!(store.settled_at("src/cut.c", 3).unwrap(), [old]);
    // Part of a name is no name.
    assert_eq!(store.settled_at("ut.c", 4).unwrap(), []);
    // What the ledger needs is not swept away.
    store.sweep().unwrap();
    assert_eq!(store.settled("new", "key").unwrap(), Some(again));
}

#[test]
fn a_generated_scenario_that_a_test_runs_is_recorded_from_then_on() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = store
        .add(&recorded("cut", "1"), Origin::Generated)
        .unwrap()
        .id;
    let origin = || store.get(&id).unwrap().origin;
    store.add(&recorded("cut", "1"), Origin::Covering).unwrap();
    assert_eq!(origin(), Origin::Covering);
    store.add(&recorded("cut", "1"), Origin::Recorded).unwrap();
    assert_eq!(origin(), Origin::Recorded);
    store.add(&recorded("cut", "1"), Origin::Generated).unwrap();
    assert_eq!(origin(), Origin::Recorded);
}
