//! Per-thread state shared by instrumented code and runtime: the calling
//! protocol for labels.
//!
//! Every instrumented function and every model of a library function follows
//! the same protocol; that is all a model is. Symbol: `__plx_tls`, thread
//! local, initial-exec, all zero at thread start.
//!
//! **Arguments.** A caller that has a labelled argument writes the labels of
//! *all* arguments to `args` and then the callee's address to `callee`. The callee, at
//! entry, compares `callee` with its own address: equal means that `args` is
//! meant for it; it then sets `callee` to 0. Anything else means that all arguments are
//! concrete. So calls from uninstrumented code, signal handlers and callbacks
//! never see stale labels, and a call without labels costs the caller nothing.
//! A caller that still finds its tag there after the call knows that the callee
//! was not instrumented, and records a loss.
//!
//! **Result.** A callee that returns a labelled value writes `result` and then
//! its own address to `returned`; one that returns a concrete value sets
//! `returned` to 0. The caller trusts `result` only if `returned` is the callee's
//! address.
//!
//! **Variable arguments.** `variadic` mirrors what the x86-64 ABI will put into the callee's
//! register save area and overflow area, one label per 8-byte slot:
//! slots 0–5 general registers, 6–21 vector registers (two slots each), from
//! 22 on the overflow area. Valid together with `args`. Every caller, labels or not, stores
//! `overflow_bytes`, so that `va_start` can clear stale labels of the area.
//!
//! **`byval` arguments.** The callee's copy has no store in the IR. The caller writes the
//! address that it copies from to `byval`; the callee copies the labels from there.
//!
//! **Call stack.** `frame` points to the [`Frame`] of the innermost instrumented
//! activation. Before each call a function stores the call's site in its frame. The
//! runtime turns the chain into a hash-consed context id when an event
//! happens, and caches it in the frame.

/// Arguments with labels that can be passed; further ones are concrete (loss).
pub const MAX_ARGS: usize = 64;
/// Leaves of an aggregate result that can carry labels.
pub const MAX_RESULTS: usize = 8;
/// Slots of the variadic area.
pub const MAX_VARIADIC: usize = 22 + 64;

/// `byval` arguments whose labels can be passed.
pub const MAX_BYVAL: usize = 8;

/// Layout of `__plx_tls`. Field order is part of the ABI: instrumented code
/// addresses the fields by the `*_OFFSET` constants below.
#[repr(C)]
pub struct Tls {
    pub callee: u64,
    pub returned: u64,
    pub frame: *mut Frame,
    pub overflow_bytes: u64,
    pub result: [u32; MAX_RESULTS],
    pub args: [u32; MAX_ARGS],
    pub variadic: [u32; MAX_VARIADIC],
    /// Where the caller's `byval` arguments were copied from, in order.
    pub byval: [u64; MAX_BYVAL],
    /// Objects on this thread's stack: how many are registered. A function that
    /// has any saves this at entry and restores it when it returns.
    pub stack_object_count: u64,
    /// Nonzero while this thread is inside the runtime. Runtime only.
    pub busy: u32,
    pub padding: u32,
    /// Objects on this thread's stack, runtime only.
    pub stack_objects: *mut u8,
    pub stack_object_capacity: u64,
}

/// One activation of an instrumented function, in that function's own stack frame.
#[repr(C)]
pub struct Frame {
    pub previous: *mut Frame,
    /// Site of the call that is under way, or 0.
    pub call_site: u64,
    /// Context id of this activation, 0 if not computed yet.
    pub context: u32,
    /// [`MODEL_FRAME`] or 0.
    pub kind: u32,
}

/// [`Frame::kind`] of activations of models: not where the program calls something from.
pub const MODEL_FRAME: u32 = 1;

pub const CALLEE_OFFSET: usize = core::mem::offset_of!(Tls, callee);
pub const RETURNED_OFFSET: usize = core::mem::offset_of!(Tls, returned);
pub const FRAME_OFFSET: usize = core::mem::offset_of!(Tls, frame);
pub const OVERFLOW_BYTES_OFFSET: usize = core::mem::offset_of!(Tls, overflow_bytes);
pub const RESULT_OFFSET: usize = core::mem::offset_of!(Tls, result);
pub const ARGS_OFFSET: usize = core::mem::offset_of!(Tls, args);
pub const VARIADIC_OFFSET: usize = core::mem::offset_of!(Tls, variadic);
pub const BYVAL_OFFSET: usize = core::mem::offset_of!(Tls, byval);
pub const STACK_OBJECT_COUNT_OFFSET: usize = core::mem::offset_of!(Tls, stack_object_count);
pub const TLS_BYTES: usize = core::mem::size_of::<Tls>();
/// Name of the thread-local symbol.
pub const TLS_SYMBOL: &str = "__plx_tls";
