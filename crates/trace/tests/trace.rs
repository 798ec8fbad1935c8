//! A program that writes traces by hand, as the ABI lays them out, and what the
//! engine reads: also after a crash, beyond capacities, and with damage.
//!
//! The program is this test binary itself, started with the ignored test
//! `acts_as_traced_program` and a scenario in the environment.

use std::fs::OpenOptions;
use std::sync::atomic::Ordering::Relaxed;

use memmap2::{MmapOptions, MmapRaw};
use parallax_abi::trace::{
    Context, ENVIRONMENT, Event, EventKind, Header, Loss, LossKind, MAGIC, Node, Object,
    ObjectKind, Source, SourceKind, Stop, Table,
};
use parallax_abi::{Op, SiteId};
use parallax_exec::coverage::CoverageRegion;
use parallax_exec::run::{End, Launch, run};
use parallax_trace::Trace;
use parallax_trace::region::{Limits, Region, Symbolic};

const SCENARIO: &str = "SCENARIO_OF_TRACED_PROGRAM";

/// The writing side, as simple as it can be.
struct Writer {
    map: MmapRaw,
}

impl Writer {
    fn attach() -> Writer {
        let number = std::env::var(ENVIRONMENT).expect("a trace is handed over");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{number}"))
            .unwrap();
        let map = MmapOptions::new().map_raw(&file).unwrap();
        let writer = Writer { map };
        assert_eq!(writer.header().magic, MAGIC);
        assert_eq!(writer.header().version, parallax_abi::VERSION);
        writer.header().attached.store(1, Relaxed);
        writer.header().processes.fetch_add(1, Relaxed);
        writer
    }

    fn header(&self) -> &Header {
        unsafe { &*self.map.as_ptr().cast() }
    }

    fn put<T>(&self, offset: u64, index: u32, value: T) {
        unsafe {
            let array = self.map.as_mut_ptr().add(offset as usize).cast::<T>();
            array.add(index as usize).write(value);
        }
    }

    fn node(&self, op: Op, width: u8, operands: [u32; 3], value: u64) -> u32 {
        let label = self.header().nodes.fetch_add(1, Relaxed);
        let [a, b, c] = operands;
        let node = Node {
            op: op as u8,
            width,
            depth: 0,
            a,
            b,
            c,
            lo: value,
            hi: 0,
        };
        if label < self.header().node_capacity {
            self.put(self.header().node_offset, label, node);
        }
        label
    }

    fn event(&self, kind: EventKind, label: u32, detail: u8, site: u64, context: u32) {
        let index = self.header().events.fetch_add(1, Relaxed);
        let event = Event {
            kind: kind as u8,
            detail,
            process: 1,
            label,
            site,
            context,
            x: 0,
            y: 0,
        };
        self.put(self.header().event_offset, index, event);
    }

    fn blob(&self, bytes: &[u8]) -> u64 {
        let offset = self
            .header()
            .blob_bytes
            .fetch_add(bytes.len() as u64, Relaxed);
        for (index, byte) in bytes.iter().enumerate() {
            self.put(self.header().blob_offset + offset, index as u32, *byte);
        }
        offset
    }

    fn context(&self, parent: u32, site: u64) -> u32 {
        let index = self.header().contexts.fetch_add(1, Relaxed);
        let context = Context {
            parent,
            padding: 0,
            site,
        };
        self.put(self.header().context_offset, index, context);
        index
    }

    fn source(&self, kind: SourceKind, index: u32, name: &[u8]) -> u32 {
        let number = self.header().sources.fetch_add(1, Relaxed);
        let source = Source {
            kind: kind as u32,
            index,
            device: 0,
            inode: 0,
            name: self.blob(name),
            name_length: name.len() as u32,
            padding: 0,
            taken: 0,
        };
        self.put(self.header().source_offset, number, source);
        number
    }

    /// `argv[1][0] == 'A'` and the branch on it.
    fn comparison(&self) -> u32 {
        let source = self.source(SourceKind::Argument, 1, b"");
        let byte = self.node(Op::Input, 8, [source, 0, 0], 65);
        let constant = self.node(Op::Const, 8, [0, 0, 0], 65);
        let equal = self.node(Op::Eq, 1, [byte, constant, 0], 1);
        let outer = self.context(1, 100);
        let inner = self.context(outer, 200);
        self.event(EventKind::Branch, equal, 1, 300, inner);
        equal
    }
}

#[test]
#[ignore = "is the traced program of the other tests"]
fn acts_as_traced_program() {
    let writer = Writer::attach();
    let header = writer.header();
    match std::env::var(SCENARIO).unwrap().as_str() {
        "whole" => {
            writer.comparison();
            writer.source(SourceKind::File, 0, b"dir/a\"b");
            let loss = Loss {
                kind: LossKind::Call as u32,
                count: 3.into(),
                site: 300,
                name: writer.blob(b"crypt"),
                name_length: 5,
                padding: 0,
            };
            let at = header.losses.fetch_add(1, Relaxed);
            writer.put(header.loss_offset, at, loss);
            let object = Object {
                base: 0x5000,
                size: 4,
                kind: ObjectKind::Global as u32,
                name_length: 5,
                name: writer.blob(b"table"),
            };
            let at = header.objects.fetch_add(1, Relaxed);
            writer.put(header.object_offset, at, object);
            let bytes = writer.blob(&[9, 8, 7, 6]);
            header
                .blob_bytes
                .fetch_update(Relaxed, Relaxed, |bytes| Some(bytes.next_multiple_of(4)))
                .unwrap();
            let labels = writer.blob(&[0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            let table = Table {
                base: 0x5000,
                length: 4,
                object: at,
                bytes,
                labels,
            };
            let at = header.tables.fetch_add(1, Relaxed);
            writer.put(header.table_offset, at, table);
        }
        "crash" => {
            writer.comparison();
            // Reserved, never written.
            header.nodes.fetch_add(1, Relaxed);
            header.events.fetch_add(1, Relaxed);
            std::process::abort();
        }
        "full" => {
            for value in 0..header.node_capacity + 10 {
                writer.node(Op::Const, 32, [0, 0, 0], value.into());
            }
            header.losses.store(header.loss_capacity + 1, Relaxed);
            header.stop.store(Stop::Nodes as u32, Relaxed);
        }
        "damage" => {
            let equal = writer.comparison();
            let forward = writer.node(Op::Not, 1, [equal + 100, 0, 0], 0);
            writer.node(Op::Not, 1, [forward, 0, 0], 0);
            writer.node(Op::Input, 8, [77, 0, 0], 0);
            writer.event(EventKind::Branch, forward, 1, 1, 0);
            writer.event(EventKind::Branch, equal, 5, 1, 0);
            writer.event(EventKind::Switch, u32::MAX, 0, 1, 0);
            let looped = writer.context(header.contexts.load(Relaxed), 400);
            writer.event(EventKind::Branch, equal, 0, 500, looped);
            // A stray write over the header: the engine must not follow it.
            let words = writer.map.as_mut_ptr().cast::<u64>();
            for word in 0..16 {
                unsafe { words.add(word).write(u64::MAX) };
            }
        }
        other => panic!("unknown scenario {other}"),
    }
    // Without the test harness's own output and exit code.
    std::process::exit(0);
}

fn trace_of(scenario: &str) -> (End, Trace) {
    let limits = Limits {
        nodes: 5000,
        ..Limits::within(16 << 20)
    };
    let region = Region::create(limits, &Symbolic::ALL, false).unwrap();
    let launch = Launch {
        args: ["--ignored", "--exact", "acts_as_traced_program"]
            .map(Into::into)
            .to_vec(),
        environment: Some(vec![(SCENARIO.into(), scenario.into())]),
        ..Launch::new(std::env::current_exe().unwrap())
    };
    let outcome = run(&launch, &[region.shared()]).unwrap();
    (outcome.end, Trace::read(region))
}

#[test]
fn a_whole_trace_is_read_back() {
    let (end, trace) = trace_of("whole");
    assert_eq!(end, End::Exit(0));
    assert!(trace.attached());
    assert_eq!(trace.process_count(), 1);
    assert_eq!((trace.node_count(), trace.damaged_nodes()), (3, 0));
    let events: Vec<_> = trace.events().collect();
    let [(EventKind::Branch, branch)] = events[..] else {
        panic!("{events:?}");
    };
    let condition = trace.node(branch.label).unwrap();
    assert_eq!((condition.op, condition.lo), (Op::Eq as u8, 1));
    assert_eq!(trace.call_stack(branch.context), [SiteId(100), SiteId(200)]);
    let names: Vec<_> = (0..trace.source_count())
        .map(|source| trace.source(source).unwrap().to_string())
        .collect();
    assert_eq!(names, ["argv[1]", "file(\"dir/a\\\"b\")"]);
    let losses: Vec<_> = trace.losses().collect();
    assert_eq!(losses.len(), 1);
    assert_eq!(
        (losses[0].kind, losses[0].count, &*losses[0].name()),
        (LossKind::Call, 3, "crypt")
    );
    let object = trace.object(1).unwrap();
    assert_eq!(
        (object.kind, object.name),
        (ObjectKind::Global, &b"table"[..])
    );
    let table = trace.table(0).unwrap();
    assert_eq!(table.bytes, [9, 8, 7, 6]);
    assert_eq!(table.labels.unwrap(), [0, 16, 0, 0]);
    assert_eq!(trace.table_object(0), Some(1));
    assert_eq!(trace.stop(), None);
}

#[test]
fn a_crash_in_the_middle_of_an_append_keeps_what_was_before() {
    let (end, trace) = trace_of("crash");
    assert_eq!(end, End::Signal(libc::SIGABRT));
    assert_eq!((trace.node_count(), trace.damaged_nodes()), (3, 1));
    assert_eq!((trace.event_count(), trace.damaged_events()), (1, 1));
}

#[test]
fn cursors_beyond_the_capacity_are_clamped() {
    let (_, trace) = trace_of("full");
    assert_eq!(trace.node_count(), 4999);
    assert_eq!(trace.nodes().count(), 4999);
    assert_eq!(trace.stop(), Some(Stop::Nodes));
    assert!(trace.losses_are_cut());
}

#[test]
fn damage_is_counted_and_not_followed() {
    let (_, trace) = trace_of("damage");
    // The header was destroyed after all was written, cursors excepted.
    assert_eq!((trace.node_count(), trace.damaged_nodes()), (3, 3));
    let sites: Vec<_> = trace.events().map(|(_, event)| event.site).collect();
    assert_eq!(sites, [300, 500]);
    assert_eq!(trace.damaged_events(), 3);
    let (_, last) = trace.events().last().unwrap();
    assert_eq!(trace.call_stack(last.context), [SiteId(400)]);
}

#[test]
fn a_program_can_be_given_several_regions() {
    let trace = Region::create(Limits::within(1 << 20), &Symbolic::ALL, false).unwrap();
    let cover = CoverageRegion::create(100).unwrap();
    let script = "for fd in $PARALLAX_TRACE $PARALLAX_COVER; do readlink /proc/self/fd/$fd; done";
    let launch = Launch {
        args: vec!["-c".into(), script.into()],
        ..Launch::new("/bin/sh")
    };
    let outcome = run(&launch, &[trace.shared(), cover.shared()]).unwrap();
    let text = String::from_utf8(outcome.stdout.bytes).unwrap();
    let names: Vec<_> = text.lines().collect();
    assert_eq!(
        names,
        [
            "/memfd:parallax-trace (deleted)",
            "/memfd:parallax-cover (deleted)"
        ]
    );
}
