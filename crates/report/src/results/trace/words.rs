//! Words for kinds: short ones for programs, sentences for people.

use parallax_abi::Op;
use parallax_abi::trace::Report as Reported;
use parallax_abi::trace::{Concretized, EventKind, LossKind, ObjectKind, Refusal, Stop};
pub use parallax_exec::finding::signal_name as signal;
use parallax_trace::selfcheck::What;

/// The name of an event kind in JSON and in `--events`.
pub fn event(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Branch => "branch",
        EventKind::Select => "select",
        EventKind::Switch => "switch",
        EventKind::IndirectCall => "indirect-call",
        EventKind::Load => "load",
        EventKind::Store => "store",
        EventKind::Concretize => "fixed",
        EventKind::Division => "division",
        EventKind::Shift => "shift",
        EventKind::Overflow => "overflow",
        EventKind::Allocation => "allocation",
        EventKind::Length => "length",
        EventKind::Input => "input",
        EventKind::Process => "process",
        EventKind::Exit => "exit",
        EventKind::Output => "output",
        EventKind::EndOfInput => "end-of-input",
        EventKind::Assume => "assume",
        EventKind::Report => "report",
        EventKind::Access => "access",
        EventKind::Format => "format",
    }
}

pub fn loss(kind: LossKind) -> &'static str {
    match kind {
        LossKind::Call => "call",
        LossKind::Instruction => "instruction",
        LossKind::Stale => "stale",
        LossKind::Table => "table",
        LossKind::Depth => "depth",
        LossKind::Undefined => "undefined",
        LossKind::Arguments => "arguments",
        LossKind::Reentry => "reentry",
        LossKind::Exec => "exec",
        LossKind::Stream => "stream",
    }
}

pub fn loss_sentence(kind: LossKind) -> &'static str {
    match kind {
        LossKind::Call => "function without a model was given input",
        LossKind::Instruction => "unsupported instruction",
        LossKind::Stale => "memory was changed by code that is not traced",
        LossKind::Table => "object too large, or bounds unknown, for a read at a symbolic address",
        LossKind::Depth => "expression too deep",
        LossKind::Undefined => "operation whose result C leaves undefined",
        LossKind::Arguments => "more arguments than labels can be passed for",
        LossKind::Reentry => "signal handler interrupted the runtime",
        LossKind::Exec => "executed a program that is not traced",
        LossKind::Stream => "input through a stream function without a model",
    }
}

/// The name of what the program reported itself, in JSON.
pub fn report_kind(detail: u8) -> &'static str {
    let kinds = [
        (Reported::Assertion, "assertion"),
        (Reported::Error, "error"),
        (Reported::Reached, "reached-error"),
    ];
    let found = kinds.into_iter().find(|(kind, _)| *kind as u8 == detail);
    found.map_or("unknown", |(_, text)| text)
}

/// What the program reported itself.
pub fn reported(detail: u8) -> &'static str {
    let kinds = [
        (Reported::Assertion, "an assertion does not hold"),
        (Reported::Error, "an error of the program's own"),
        (Reported::Reached, "a place that must not be reached"),
    ];
    let found = kinds.into_iter().find(|(kind, _)| *kind as u8 == detail);
    found.map_or("something unknown", |(_, text)| text)
}

pub fn concretized(detail: u8) -> &'static str {
    let reasons = [
        (Concretized::StoreAddress, "address of a write"),
        (
            Concretized::LoadAddress,
            "address of a read that no table could be made for",
        ),
        (Concretized::Length, "length of a copy or fill"),
        (Concretized::Size, "size of an allocation"),
        (Concretized::Target, "target of an indirect call or jump"),
        (
            Concretized::Argument,
            "argument of a function without a model",
        ),
        (
            Concretized::Operand,
            "operand of an operation that expressions lack",
        ),
        (Concretized::Answer, "what an answer of the system rests on"),
    ];
    reasons
        .iter()
        .find(|(reason, _)| *reason as u8 == detail)
        .map_or("unknown reason", |(_, text)| text)
}

pub fn object(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Global => "global",
        ObjectKind::Stack => "object on the stack",
        ObjectKind::Heap => "object on the heap",
        ObjectKind::Library => "table of the C library",
        ObjectKind::Argument => "argument or environment string",
        ObjectKind::Unknown => "memory of unknown bounds",
    }
}

/// What an object without a name is called in expressions, before its number.
pub fn object_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Global => "global",
        ObjectKind::Stack => "stack",
        ObjectKind::Heap => "heap",
        ObjectKind::Library => "libc",
        ObjectKind::Argument => "argument",
        ObjectKind::Unknown => "memory",
    }
}

/// Why tracing stopped, and what helps.
pub fn stop(stop: Stop) -> (&'static str, &'static str) {
    match stop {
        Stop::Nodes => ("no room for more expressions", "raise --memory"),
        Stop::Events => ("no room for more events", "raise --memory"),
        Stop::Contexts => ("no room for more call stacks", "raise --memory"),
        Stop::Objects => (
            "no room for more memory objects",
            "make less of the input symbolic: --symbolic",
        ),
        Stop::Tables => (
            "no room for more tables",
            "make less of the input symbolic: --symbolic",
        ),
        Stop::Blobs => ("no room for more table contents", "raise --memory"),
        Stop::Memory => ("the runtime got no more memory", "raise --memory"),
        Stop::Sources => (
            "no room for more input files",
            "make less of the input symbolic: --symbolic",
        ),
    }
}

pub fn refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::AddressSpace => {
            "address space for labels could not be reserved, so the plain program ran instead; \
             see `parallax doctor`"
        }
    }
}

pub fn fault(what: What) -> &'static str {
    match what {
        What::Node => "expression evaluates to another value than the program computed",
        What::Input => "input byte is not the one that the program was given",
        What::Operand => "operand is not the value of its expression",
        What::Branch => "branch went against its condition",
        What::Switch => "switch went against its value",
        What::Address => "address used is not the value of its expression",
        What::Size => "size used is not the value of its expression",
    }
}

pub fn fault_kind(what: What) -> &'static str {
    match what {
        What::Node => "node",
        What::Input => "input",
        What::Operand => "operand",
        What::Branch => "branch",
        What::Switch => "switch",
        What::Address => "address",
        What::Size => "size",
    }
}

/// C's sign for an operator where it has one.
pub fn operator(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub | Op::Neg => "-",
        Op::Mul => "*",
        Op::UDiv | Op::SDiv => "/",
        Op::URem | Op::SRem => "%",
        Op::Shl => "<<",
        Op::LShr | Op::AShr => ">>",
        _ => "?",
    }
}
