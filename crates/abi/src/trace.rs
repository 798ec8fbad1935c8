//! Layout of a trace: the shared memory that a traced program writes and the
//! engine reads.
//!
//! One region: a [`Header`], then fixed-capacity arrays at the offsets that the
//! header names. The engine creates the file (`memfd`), fills in capacities,
//! offsets and flags, and hands the descriptor to the program; the runtime maps
//! it and appends. All appending is "reserve with an atomic addition, then
//! write", so several processes (after `fork`) can write to one trace, and a
//! crash leaves everything that was written before it. A cursor may run past its capacity;
//! readers clamp it.
//!
//! Index 0 of nodes, contexts and objects is never used: 0 means "none". Who creates a
//! region (engine, or the runtime for [`PRIVATE`]) starts the cursors at the `FIRST_*` constants.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// First word of a region.
pub const MAGIC: u64 = 0x7861_6c6c_6172_6170; // "parallax", little endian

/// Initial value of [`Header::nodes`].
pub const FIRST_NODE: u32 = 1;
/// Initial value of [`Header::objects`].
pub const FIRST_OBJECT: u32 = 1;
/// Initial value of [`Header::contexts`]: index 1, the root, is all zero and needs no writing.
pub const FIRST_CONTEXT: u32 = 2;

/// Environment variable that carries the trace's descriptor number, or
/// [`PRIVATE`].
pub const ENVIRONMENT: &str = "PARALLAX_TRACE";

/// Value of [`ENVIRONMENT`] that makes the runtime create a trace of its own,
/// with everything symbolic, and throw it away at the end: the machinery at full
/// work under a foreign test suite.
pub const PRIVATE: &str = "private";

#[derive(Default)]
#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// Bits of [`flags`].
    pub flags: u32,
    pub node_capacity: u32,
    pub event_capacity: u32,
    pub context_capacity: u32,
    pub object_capacity: u32,
    pub table_capacity: u32,
    pub source_capacity: u32,
    pub loss_capacity: u32,
    pub mismatch_capacity: u32,
    pub blob_capacity: u64,
    /// Offsets of the arrays from the start of the region, page aligned.
    pub node_offset: u64,
    pub event_offset: u64,
    pub context_offset: u64,
    pub object_offset: u64,
    pub table_offset: u64,
    pub source_offset: u64,
    pub loss_offset: u64,
    pub mismatch_offset: u64,
    pub blob_offset: u64,
    /// Objects larger than this are not read as tables.
    pub max_table_bytes: u32,
    /// Nodes deeper than this are made concrete (with a loss).
    pub max_depth: u32,
    /// So many bytes at the start of the blobs are the names of the environment variables whose values
    /// are symbolic, each ended by NUL. Who creates the region starts the blob cursor behind them.
    pub environment_length: u32,
    /// So many bytes behind those are the names of the files and folders that the run was given, relative to its
    /// working directory and in a fixed order, each ended by NUL.
    pub given_length: u32,
    /// Next free index of each array (number of bytes for blobs).
    pub nodes: AtomicU32,
    pub events: AtomicU32,
    pub contexts: AtomicU32,
    pub objects: AtomicU32,
    pub tables: AtomicU32,
    pub sources: AtomicU32,
    pub losses: AtomicU32,
    pub mismatches: AtomicU32,
    pub blob_bytes: AtomicU64,
    /// A [`Stop`]: why tracing ended before the program did; 0 if it did not.
    pub stop: AtomicU32,
    /// Processes that attached, in order of attaching; the first is 1.
    pub processes: AtomicU32,
    /// 1 once the runtime of the first process has attached.
    pub attached: AtomicU32,
    /// Why there is no trace although the program ran: a [`Refusal`].
    pub refusal: AtomicU32,
}

/// Bits of [`Header::flags`].
pub mod flags {
    /// Bytes of the arguments after the program name are symbolic.
    pub const ARGV: u32 = 1;
    /// Standard input is symbolic.
    pub const STDIN: u32 = 2;
    /// Regular files that the program reads are symbolic.
    pub const FILES: u32 = 4;
    /// Report operands that differ from their label's value as mismatches, not as losses.
    pub const SELF_CHECK: u32 = 8;
    /// Sockets and pipes that the program reads are symbolic.
    pub const STREAMS: u32 = 16;
    /// The number of arguments is symbolic.
    pub const ARGUMENT_COUNT: u32 = 32;
    /// Accesses through addresses that are concrete are events, too.
    pub const ACCESSES: u32 = 64;
    /// What the path has settled stays an expression: branches that follow from earlier ones are events, too.
    pub const FOLLOWING: u32 = 128;
}

/// Why tracing stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stop {
    Nodes = 1,
    Events = 2,
    Contexts = 3,
    Objects = 4,
    Tables = 5,
    Blobs = 6,
    /// The runtime's own memory (hash table) could not grow.
    Memory = 7,
    Sources = 8,
}

/// Why the runtime did not trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Refusal {
    /// The address space for the tables could not be reserved (`ulimit -v`,
    /// strict overcommit): the plain program was executed instead.
    AddressSpace = 1,
}

/// One expression. 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Node {
    /// An [`Op`](crate::Op).
    pub op: u8,
    /// 1 to 128 bits.
    pub width: u8,
    /// Longest path to a leaf, saturating.
    pub depth: u16,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    /// Concrete value in this run, zero-extended; `hi` is 0 up to 64 bits.
    pub lo: u64,
    pub hi: u64,
}

/// One event. 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// An [`EventKind`]; 0 if reserved but not written (a crash in between).
    pub kind: u8,
    /// Depends on the kind.
    pub detail: u8,
    /// Number of the process, from 1.
    pub process: u16,
    /// The expression that the event is about.
    pub label: u32,
    pub site: u64,
    /// Calling context: index into the contexts.
    pub context: u32,
    /// Depends on the kind.
    pub x: u32,
    /// Depends on the kind.
    pub y: u64,
}

/// What happened. The comment gives the meaning of the variable fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventKind {
    /// Conditional branch on `label` (1 bit); `detail` = side taken.
    Branch = 1,
    /// Conditional expression; as `Branch`.
    Select = 2,
    /// `switch` on `label`; `y` = value. Which case that is, the site's table says.
    Switch = 3,
    /// Indirect call through the expression `label` (0 if concrete); `y` = target address.
    IndirectCall = 4,
    /// Read through the symbolic address `label`: `detail` = size in bytes,
    /// `x` = object, `y` = address.
    Load = 5,
    /// Write through a symbolic address; fields as `Load`. The address is fixed
    /// to its present value from here on.
    Store = 6,
    /// `label` is fixed to its present value from here on, because something
    /// could only be done with the concrete value; `detail` = [`Concretized`].
    Concretize = 7,
    /// Division or remainder with symbolic operand; `label` = divisor
    /// (0 if concrete), `x` = dividend, `detail` = the operator.
    Division = 8,
    /// Shift; `label` = amount, `detail` = the operator, `x` = width of the shifted value.
    Shift = 9,
    /// Signed arithmetic that must not overflow; `label` = left operand or 0,
    /// `x` = right operand or 0, `detail` = the operator, `y` = width | concrete
    /// value of the operand that is not labelled, sign-extended, << 8. (A concrete operand
    /// of more than 56 bits is given as a `Const` node.)
    Overflow = 10,
    /// Allocation of symbolic size `label`; `y` = size.
    Allocation = 11,
    /// Length handed to a memory or string function; `label` = length,
    /// `x` = what is written or read, from there to the end of its object, `y` = length.
    Length = 12,
    /// Input was read: `x` = source, `y` = offset, `label` = number of bytes.
    Input = 13,
    /// A process attached (`y` = pid, `detail` = 0 start or exec, 1 fork).
    Process = 14,
    /// A process ended through `exit` or `_exit`; `x` = status.
    Exit = 15,
    /// Bytes formatted from `label` (0: from labelled memory) were written as output, or it is the exit status; `x` = which
    /// argument of the function that does it.
    Output = 16,
    /// A reader met the end of an input: `x` = source, `y` = its length as seen, `label` = how many
    /// more bytes were asked for. The input could be longer.
    EndOfInput = 17,
    /// The program says that `label` (1 bit) holds (`klee_assume` and the like): a constraint that
    /// must never be turned round. `detail` = its value; after a 0 the program ends silently.
    Assume = 18,
    /// The program reported an error of its own accord: `detail` = a [`Report`], `label` and `y` = length
    /// and blob offset of the message.
    Report = 19,
    /// Memory was accessed at an address that is concrete on this path, by code that could have computed it from
    /// input; logged between any two decisions once for each site, if [`flags::ACCESSES`] asks for it.
    Access = 20,
    /// The format of a function like `printf` contains input: `label` and `x` = two bytes, one behind the other,
    /// `y` = where in the format.
    Format = 21,
}

impl EventKind {
    /// Decodes the byte stored in an event.
    pub fn from_byte(byte: u8) -> Option<EventKind> {
        if (1..=EventKind::Format as u8).contains(&byte) {
            // SAFETY: `repr(u8)` with consecutive discriminants from 1.
            Some(unsafe { core::mem::transmute::<u8, EventKind>(byte) })
        } else {
            None
        }
    }
}

/// What a program reports through the functions of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Report {
    /// `klee_assert`.
    Assertion = 1,
    /// `klee_report_error`.
    Error = 2,
    /// `reach_error`.
    Reached = 3,
}

/// Why a value was fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Concretized {
    /// Address of a write.
    StoreAddress = 1,
    /// Address of a read for which no table could be made.
    LoadAddress = 2,
    /// Length of a copy or fill.
    Length = 3,
    /// Size of an allocation, fixed or on the stack.
    Size = 4,
    /// Target of an indirect call or jump.
    Target = 5,
    /// Argument of a function without a model.
    Argument = 6,
    /// Operand of an operation that the expression language lacks.
    Operand = 7,
    /// What the system or a function without a model answered rests on it, and nobody can say what the answer
    /// would be otherwise: not to be turned round.
    Answer = 8,
}

/// One step of a hash-consed call stack. Index 1 is the root (`main` and
/// whatever runs without an instrumented caller).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Context {
    pub parent: u32,
    pub padding: u32,
    /// Site of the call.
    pub site: u64,
}

/// A memory object that a symbolic address was derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    /// An [`ObjectKind`].
    pub kind: u32,
    pub name_length: u32,
    /// Blob offset of the name (globals).
    pub name: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ObjectKind {
    Global = 1,
    Stack = 2,
    Heap = 3,
    /// Tables and buffers of libc that the runtime knows (ctype).
    Library = 4,
    /// A program argument or environment string.
    Argument = 5,
    /// Bounds unknown: the granule around the address, never checked.
    Unknown = 6,
}

/// Contents of a memory object when it was read at a symbolic address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Table {
    /// Address of the first byte.
    pub base: u64,
    pub length: u32,
    /// Index of the object.
    pub object: u32,
    /// Blob offset of `length` bytes.
    pub bytes: u64,
    /// Blob offset (4-aligned) of `length` label words as in the label table
    /// (`node << 4 | byte`), or `u64::MAX` if all bytes are concrete.
    pub labels: u64,
}

/// Where input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Source {
    /// A [`SourceKind`].
    pub kind: u32,
    /// Number of the argument, stream or object.
    pub index: u32,
    /// Identity of a file.
    pub device: u64,
    pub inode: u64,
    /// Blob offset and length of the path.
    pub name: u64,
    pub name_length: u32,
    pub padding: u32,
    /// Bytes that all processes together took from a source that has no offset of its own (pipe, socket).
    pub taken: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum SourceKind {
    Argument = 1,
    Stdin = 2,
    File = 3,
    /// Value of an environment variable, terminator included; the name is the variable's.
    Environment = 4,
    /// A socket or pipe that is read; `index` counts them in the order of their first read.
    Stream = 5,
    /// The number of arguments, program name included, as a 32-bit little-endian number. One per trace.
    ArgumentCount = 6,
    /// A memory object that the program declared as input (`klee_make_symbolic` and the like); `index`
    /// counts them, the name is what the program calls it.
    Object = 7,
}

/// Precision that was given up, counted per place and reason.
#[derive(Debug)]
#[repr(C)]
pub struct Loss {
    /// A [`LossKind`].
    pub kind: u32,
    pub count: AtomicU32,
    pub site: u64,
    /// Blob offset and length of a name (of a function or an instruction).
    pub name: u64,
    pub name_length: u32,
    pub padding: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum LossKind {
    /// A labelled argument went into a function without model; named.
    Call = 1,
    /// An instruction that is not supported got a labelled operand; named.
    Instruction = 2,
    /// Memory changed behind the program's back: the label was out of date.
    Stale = 3,
    /// Object too large for a table read, or bounds unknown.
    Table = 4,
    /// The expression became too deep.
    Depth = 5,
    /// The machine's result is not C's (shift by the width or more,
    /// conversion out of range): no expression was made.
    Undefined = 6,
    /// More arguments than the protocol carries.
    Arguments = 7,
    /// The runtime was re-entered (signal handler inside the runtime).
    Reentry = 8,
    /// A program image that is not traced was executed; named.
    Exec = 9,
    /// Wide-character or otherwise unmodelled stream input; named.
    Stream = 10,
}

impl LossKind {
    /// Decodes the number stored in a loss.
    pub fn from_number(number: u32) -> Option<LossKind> {
        use LossKind::*;
        [
            Call,
            Instruction,
            Stale,
            Table,
            Depth,
            Undefined,
            Arguments,
            Reentry,
            Exec,
            Stream,
        ]
        .into_iter()
        .find(|kind| *kind as u32 == number)
    }
}

/// A self-check failure: an operand that differs from its label's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Mismatch {
    pub site: u64,
    pub label: u32,
    /// Operator that was about to use the operand.
    pub op: u32,
    pub expected_lo: u64,
    pub expected_hi: u64,
    pub actual_lo: u64,
    pub actual_hi: u64,
}
