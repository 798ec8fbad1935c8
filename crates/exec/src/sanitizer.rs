//! Reports of AddressSanitizer and UBSan, read back from what a checked program printed.

mod stacks;

use std::path::Path;

pub use stacks::{Signature, Stacks, Unnamed, signatures, unnamed};

use crate::finding::{Kind, Location};

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub kind: Kind,
    /// What the sanitizer says, in one line.
    pub message: String,
    /// Innermost call first.
    pub stack: Vec<Frame>,
}

/// One call of a report's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    /// `None` for code without debug information.
    pub location: Option<Location>,
}

impl Report {
    /// The innermost place in the program's own sources; else the innermost that has any.
    pub fn location(&self) -> Option<&Location> {
        let own = self.own_frames().find_map(|frame| frame.location.as_ref());
        own.or_else(|| self.stack.iter().find_map(|frame| frame.location.as_ref()))
    }

    /// The functions of the program's own that were under way, innermost first.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let frames = self.own_frames();
        let names = frames.map(|frame| frame.function.as_str());
        names.filter(|name| !name.is_empty())
    }

    fn own_frames(&self) -> impl Iterator<Item = &Frame> {
        self.stack.iter().filter(|frame| frame.is_own())
    }
}

impl Frame {
    /// Whether this is the program's own code: libc and the sanitizer have no sources here, or such as are told by
    /// where they were built; functions of system headers are nobody's.
    fn is_own(&self) -> bool {
        const FOREIGN: [&str; 11] = [
            "/usr/include/",
            "/usr/lib/",
            "/usr/src/",
            "/compiler-rt/",
            "/sanitizer_common/",
            "/sysdeps/",
            "../csu/",
            "/glibc-",
            // What its debugging symbols say, relative to its own source.
            "nptl/pthread_kill.c",
            "stdlib/abort.c",
            "assert/assert.c",
        ];
        let location = self.location.as_ref();
        location.is_some_and(|place| !FOREIGN.iter().any(|part| place.file.contains(part)))
    }
}

/// How sanitizers are told to report: on standard error, with stacks, without looking for leaks, and without making
/// errors of what the plain program survives (large allocations).
pub fn environment() -> Vec<(String, String)> {
    let symbolizer = SYMBOLIZERS.iter().find(|path| Path::new(path).exists());
    let symbolizer = symbolizer.map_or(String::new(), |path| {
        format!(":external_symbolizer_path={path}")
    });
    options(&format!("symbolize=1{symbolizer}"))
}

/// Likewise, but without names of functions and places in stacks: they are found by another program, which takes longer
/// than most runs. [`unnamed`] reads such reports.
pub fn quick_environment() -> Vec<(String, String)> {
    options("symbolize=0")
}

fn options(symbolizer: &str) -> Vec<(String, String)> {
    let common = format!("print_stacktrace=1:color=never:{symbolizer}");
    let address = format!(
        "detect_leaks=0:halt_on_error=0:handle_abort=1:allocator_may_return_null=1:detect_stack_use_after_return=0:{common}"
    );
    vec![
        ("ASAN_OPTIONS".into(), address),
        ("UBSAN_OPTIONS".into(), format!("halt_on_error=0:{common}")),
    ]
}

const SYMBOLIZERS: [&str; 3] = [
    "/usr/lib/llvm-19/bin/llvm-symbolizer",
    "/usr/bin/llvm-symbolizer-19",
    "/usr/bin/llvm-symbolizer",
];

/// All reports in a text, in order.
pub fn reports(text: &[u8]) -> Vec<Report> {
    let text = String::from_utf8_lossy(text);
    let mut found: Vec<Report> = Vec::new();
    // Frames that follow a report's first stack (where memory was allocated, freed) are not its place. Notes and bytes of
    // memory may come before it.
    let (mut in_stack, mut has_frames) = (false, false);
    for line in text.lines() {
        if let Some(report) = address_report(line).or_else(|| undefined_report(line)) {
            found.push(report);
            (in_stack, has_frames) = (true, false);
        } else if let Some(frame) = frame(line) {
            if let (true, Some(report)) = (in_stack, found.last_mut()) {
                report.stack.push(frame);
                has_frames = true;
            }
        } else if has_frames {
            in_stack = false;
        }
    }
    for report in &mut found {
        tidy(report);
    }
    found
}

/// UBSan names the place in its first line and, with stacks on, again in the first frame.
fn tidy(report: &mut Report) {
    let known = report
        .stack
        .first()
        .is_some_and(|frame| frame.function.is_empty());
    if known && report.stack.len() > 1 {
        report.stack.remove(0);
    }
}

/// `==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x… at pc …`
fn address_report(line: &str) -> Option<Report> {
    let (_, rest) = line.split_once("ERROR: AddressSanitizer: ")?;
    let name = rest.split_whitespace().next()?;
    let kind = if name.contains("overflow") && name != "stack-overflow" && name != "calloc-overflow"
        || name.contains("underflow")
        || name == "negative-size-param"
    {
        Kind::OutOfBounds
    } else if name.contains("use-after") || name.contains("free") {
        Kind::UseAfterFree
    } else if name == "SEGV" && rest.contains("unknown address 0x00000000") {
        Kind::NullDereference
    } else if name == "FPE" {
        Kind::DivisionByZero
    } else if name == "ABRT" {
        Kind::Abort
    } else {
        Kind::Crash
    };
    // Addresses say nothing to a reader and differ from run to run.
    let message = match kind {
        Kind::NullDereference => "access through a null pointer".to_owned(),
        Kind::Abort => "calls abort()".to_owned(),
        Kind::UseAfterFree if rest.starts_with("attempting") => {
            rest.split(" on ").next().unwrap_or(rest).trim().to_owned()
        }
        _ => name.to_owned(),
    };
    Some(Report {
        kind,
        message,
        stack: Vec::new(),
    })
}

/// `dir/file.c:12:7: runtime error: division by zero`
fn undefined_report(line: &str) -> Option<Report> {
    let (place, message) = line.split_once(": runtime error: ")?;
    let kind = if message.contains("division by zero") {
        Kind::DivisionByZero
    } else if message.starts_with("shift exponent") || message.starts_with("left shift") {
        Kind::Shift
    } else if message.contains("null pointer of type") {
        Kind::NullDereference
    } else if message.contains("null pointer") {
        // It is computed with or handed on: not defined either, but nothing is dereferenced.
        Kind::Undefined
    } else if message.contains("out of bounds") || message.contains("insufficient space") {
        Kind::OutOfBounds
    } else if message.contains("cannot be represented")
        || message.contains("overflow")
        || message.contains("outside the range of representable values")
    {
        Kind::Overflow
    } else {
        Kind::Undefined
    };
    let frame = Frame {
        function: String::new(),
        location: location(place),
    };
    Some(Report {
        kind,
        message: message.to_owned(),
        stack: vec![frame],
    })
}

/// `    #0 0x55d3 in main dir/file.c:12:7`
fn frame(line: &str) -> Option<Frame> {
    let line = line.trim_start().strip_prefix('#')?;
    let (_, rest) = line.split_once(" in ")?;
    let (function, place) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(Frame {
        function: function.to_owned(),
        location: location(place),
    })
}

/// `file:line` or `file:line:column`.
fn location(place: &str) -> Option<Location> {
    let place = place.split(" (").next()?.trim();
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
    let (file, line) = match (first, middle.parse()) {
        (Some(file), Ok(line)) if last.parse::<u32>().is_ok() => (file.to_owned(), line),
        _ => {
            let (file, line) = place.rsplit_once(':')?;
            (file.to_owned(), line.parse().ok()?)
        }
    };
    (!file.starts_with('(') && !file.is_empty()).then_some(Location { file, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERFLOW: &str = "\
=================================================================
==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x55 bp 0x7f sp 0x7f
READ of size 1 at 0x602000000011 thread T0
    #0 0x55d3a in strlen (/tmp/prog+0x1)
    #1 0x55d3b in count src/words.c:12:7
    #2 0x55d3c in main src/main.c:40:3

0x602000000011 is located 0 bytes after 1-byte region [0x602000000010,0x602000000011)
allocated by thread T0 here:
    #0 0x55d3d in malloc (/tmp/prog+0x2)
    #1 0x55d3e in main src/main.c:38:3

SUMMARY: AddressSanitizer: heap-buffer-overflow src/words.c:12:7 in count
";

    #[test]
    fn an_overflow_is_placed_at_the_innermost_source_line_of_its_own_stack() {
        let found = reports(OVERFLOW.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, Kind::OutOfBounds);
        assert_eq!(found[0].message, "heap-buffer-overflow");
        let place = found[0].location().unwrap();
        assert_eq!((place.file.as_str(), place.line), ("src/words.c", 12));
        assert_eq!(found[0].stack.len(), 3);
    }

    #[test]
    fn undefined_behaviour_is_told_apart_by_its_message() {
        let kind = |message: &str| {
            let line = format!("a.c:3:9: runtime error: {message}\n");
            reports(line.as_bytes())[0].kind
        };
        assert_eq!(kind("division by zero"), Kind::DivisionByZero);
        assert_eq!(
            kind("signed integer overflow: 1 + 2 cannot be represented in type 'int'"),
            Kind::Overflow
        );
        assert_eq!(
            kind("shift exponent 40 is too large for 32-bit type 'int'"),
            Kind::Shift
        );
        assert_eq!(
            kind("index 9 out of bounds for type 'int[4]'"),
            Kind::OutOfBounds
        );
        assert_eq!(
            kind("load of null pointer of type 'int'"),
            Kind::NullDereference
        );
        assert_eq!(
            kind("member access within null pointer of type 'struct line'"),
            Kind::NullDereference
        );
    }

    #[test]
    fn a_null_pointer_that_is_only_computed_with_is_no_dereference() {
        let kind = |message: &str| {
            let line = format!("a.c:3:9: runtime error: {message}\n");
            reports(line.as_bytes())[0].kind
        };
        for message in [
            "applying zero offset to null pointer",
            "applying non-zero offset 8 to null pointer",
            "applying non-zero offset to non-null pointer 0x602000000010 produced null pointer",
            "null pointer passed as argument 2, which is declared to never be null",
            "null pointer returned from function declared to never return null",
        ] {
            assert_eq!(kind(message), Kind::Undefined, "{message}");
        }
    }

    #[test]
    fn a_null_dereference_is_not_any_crash() {
        let null =
            "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000008 (pc 0x1)\n";
        let wild =
            "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x7fff12345678 (pc 0x1)\n";
        assert_eq!(reports(null.as_bytes())[0].kind, Kind::NullDereference);
        assert_eq!(reports(wild.as_bytes())[0].kind, Kind::Crash);
    }

    #[test]
    fn several_reports_of_one_run_are_kept_apart() {
        let text = format!(
            "a.c:3:9: runtime error: division by zero\n    #0 0x1 in f a.c:3:9\n{OVERFLOW}"
        );
        let found = reports(text.as_bytes());
        let kinds: Vec<_> = found.iter().map(|report| report.kind).collect();
        assert_eq!(kinds, [Kind::DivisionByZero, Kind::OutOfBounds]);
        assert_eq!(found[0].stack[0].function, "f");
    }

    #[test]
    fn code_of_libraries_and_of_system_headers_is_not_the_programs_own() {
        let text = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x1\n\
            \x20   #0 0x1 in memcpy /build/llvm/compiler-rt/lib/asan/asan_interceptors.cpp:63:3\n\
            \x20   #1 0x1 in strcpy /usr/include/x86_64-linux-gnu/bits/string_fortified.h:79:10\n\
            \x20   #2 0x1 in copy src/a.c:3:1\n    #3 0x1 in main src/a.c:9:1\n\
            \x20   #4 0x1 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58:16\n";
        let report = &reports(text.as_bytes())[0];
        assert_eq!(report.location().unwrap().line, 3);
        assert_eq!(report.functions().collect::<Vec<_>>(), ["copy", "main"]);
    }

    #[test]
    fn ordinary_output_is_no_report() {
        assert_eq!(reports(b"usage: prog in file\n#0 is not in here\n"), []);
    }
}
