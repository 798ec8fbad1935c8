//! The one table of runtime entry points.
//!
//! [`runtime_entries!`](crate::runtime_entries) hands every entry point (constant name, symbol,
//! parameters, result) to a macro of the caller's choice. The plug-in makes
//! declarations from it; the runtime checks its definitions against it at compile time.
//!
//! Conventions: labels are `u32`; concrete operands are `u64`, zero-extended
//! (floating point: its bit pattern), or two of them (`lo`, `hi`) in the wide
//! forms; `site` is a [`SiteId`](crate::SiteId). All functions tolerate label 0.
//! `code` packs an operator: see [`code`].

/// Hands the table of entry points to the macro `$with`.
#[macro_export]
macro_rules! runtime_entries {
    ($with:ident) => {
        $with! {
            /// Label of `size` (1 to 16) bytes of memory read as one little-endian value of
            /// `8 * size` bits, or 0. Bytes whose label is out of date lose it (`Stale`).
            LOAD = __plx_load(address: ptr, size: u64, site: u64) -> u32;
            /// Whether any of the bytes is labelled (up-to-dateness not checked).
            PEEK = __plx_peek(address: ptr, size: u64) -> u32;
            /// Labels `size` bytes with the value of `label` (`8 * size` bits; 0 clears).
            STORE = __plx_store(address: ptr, size: u64, label: u32) -> void;
            /// Makes bytes concrete. Must work even when tracing has stopped.
            CLEAR = __plx_clear(address: ptr, size: u64) -> void;
            /// Copies labels as `memmove` copies bytes. Called *before* the bytes move.
            COPY = __plx_copy(to: ptr, from: ptr, size: u64) -> void;
            /// Gives `size` bytes the label of one byte (0 clears).
            FILL = __plx_fill(address: ptr, size: u64, label: u32) -> void;

            /// Unary operator or conversion.
            UNARY = __plx_unary(code: u64, la: u32, lo: u64, hi: u64, site: u64) -> u32;
            /// Binary operator on at most 64 bits; sensitive ones also log their event.
            BINARY = __plx_binary(code: u64, la: u32, lb: u32, a: u64, b: u64, site: u64) -> u32;
            /// Binary operator on any width, and all floating-point ones.
            BINARY_WIDE = __plx_binary_wide(code: u64, la: u32, lb: u32, alo: u64, ahi: u64, blo: u64, bhi: u64, site: u64) -> u32;
            /// `if cond then a else b` as an expression, without an event (bit operations
            /// and intrinsics that are made of it).
            ITE = __plx_ite(code: u64, lc: u32, la: u32, lb: u32, c: u64, a: u64, b: u64, site: u64) -> u32;

            /// Conditional branch on a labelled condition.
            BRANCH = __plx_branch(label: u32, taken: u32, site: u64) -> void;
            /// `select` on a labelled condition; the caller picks the chosen side's label.
            SELECT = __plx_select(label: u32, taken: u32, site: u64) -> void;
            /// `switch` on a labelled value.
            SWITCH = __plx_switch(label: u32, value: u64, site: u64) -> void;
            /// Indirect call; `label` may be 0 (then only the target is recorded, once per
            /// site and target).
            INDIRECT_CALL = __plx_indirect_call(label: u32, target: ptr, site: u64) -> void;

            /// Pointer arithmetic `base + offset` with at least one label: the result's label,
            /// derived from the object that `base` points into.
            ADDRESS = __plx_address(base: ptr, lbase: u32, offset: u64, loffset: u32, site: u64) -> u32;
            /// Read through a labelled address: logs the event; gives the value's label.
            SYMBOLIC_LOAD = __plx_symbolic_load(laddress: u32, address: ptr, size: u64, site: u64) -> u32;
            /// Write through a labelled address: logs event and constraint. The ordinary
            /// store of the label follows.
            SYMBOLIC_STORE = __plx_symbolic_store(laddress: u32, address: ptr, size: u64, site: u64) -> void;
            /// Memory is accessed at an address without a label that other paths may give one. Called only while
            /// [`symbol::WATCHING`](crate::entry::symbol::WATCHING) is not 0.
            ACCESS = __plx_access(site: u64) -> void;
            /// A memory function writes (`written` not 0) or reads `length` bytes from `place` on; the length or the place
            /// is labelled. Logs what can go wrong, and fixes the place; `CONCRETIZE` of the length follows.
            RANGE = __plx_range(place: ptr, lplace: u32, length: u64, llength: u32, written: u32, site: u64) -> void;
            /// A function like `printf` is about to be given this format, some bytes of which may be labelled.
            FORMAT = __plx_format(format: ptr, site: u64) -> void;
            /// Fixes a labelled value to its present one; `reason` is a `Concretized`.
            CONCRETIZE = __plx_concretize(label: u32, lo: u64, hi: u64, reason: u32, site: u64) -> void;

            /// A labelled value is put out: as this argument of a function that only writes output, or of `exit`.
            OUTPUT = __plx_output(label: u32, argument: u64, site: u64) -> void;
            /// Fixes what a label stands for, because it went where expressions cannot follow it.
            GIVE_UP = __plx_give_up(label: u32, site: u64) -> void;

            /// An object on the stack begins to live: clears its labels, registers bounds.
            ALLOCA = __plx_alloca(address: ptr, size: u64) -> void;
            /// `va_start`: `list` is the `va_list` just initialised; `labels` points to a copy of
            /// the variadic labels made at entry, or is null; stale labels are cleared.
            VA_START = __plx_va_start(list: ptr, labels: ptr, overflow_bytes: u64) -> void;
            /// A pointer to memory that may be labelled is about to be handed to a function that
            /// may not be instrumented: if the memory is labelled, tags the call as one with
            /// labels, so that `UNTAKEN` notices when nobody takes them.
            OFFER = __plx_offer(pointer: ptr, callee: ptr) -> void;
            /// Called after a call whose labelled arguments nobody took; `count` slots of
            /// `args` are this call's. Resets the tag,
            /// fixes the arguments and records the loss under the function's name, or an `Output`
            /// event if the function only writes output and only memory that it was given is labelled.
            UNTAKEN = __plx_untaken(name: ptr, count: u64, site: u64) -> void;
            /// An unsupported instruction had a labelled operand. `name` is a C string.
            LOSS = __plx_loss(kind: u32, name: ptr, site: u64) -> void;
            /// Registers a module's globals: `count` records of [`Global`](crate::entry::Global).
            MODULE = __plx_module(globals: ptr, count: u64) -> void;
        }
    };
}

/// A global variable's bounds, as the plug-in lays them out.
#[repr(C)]
pub struct Global {
    pub base: u64,
    pub size: u64,
    /// C string.
    pub name: u64,
}

/// What a program's `main` is called with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Arguments {
    pub argc: i32,
    pub argv: *mut *const u8,
    pub envp: *mut *const u8,
}

/// A type in an entry point's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    U32,
    U64,
    Pointer,
}

/// One runtime entry point.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub name: &'static str,
    pub parameters: &'static [Type],
    pub result: Type,
}

macro_rules! type_of {
    (void) => {
        Type::Void
    };
    (u32) => {
        Type::U32
    };
    (u64) => {
        Type::U64
    };
    (ptr) => {
        Type::Pointer
    };
}

macro_rules! declare {
    ($($(#[$doc:meta])* $constant:ident = $symbol:ident($($parameter:ident: $type:ident),*) -> $result:ident;)*) => {
        $($(#[$doc])*
        pub const $constant: Entry = Entry {
            name: stringify!($symbol),
            parameters: &[$(type_of!($type)),*],
            result: type_of!($result),
        };)*
        /// All entry points, in the table's order.
        pub const ALL: &[Entry] = &[$($constant),*];
    };
}
runtime_entries!(declare);

/// Packing of the `code` parameters.
pub mod code {
    use crate::Op;

    /// Signed overflow of this operation is undefined in C: log the `Overflow` event.
    pub const NO_SIGNED_WRAP: u64 = 1 << 32;
    /// The result of the comparison is complemented.
    pub const NEGATE: u64 = 1 << 33;
    /// C gives the operation no meaning for 0 (`__builtin_clz`): the machine's result is not the
    /// operator's.
    pub const ZERO_IS_UNDEFINED: u64 = 1 << 34;

    /// Operator, width of the operands, width of the result, extra number:
    /// `Extract`'s low bit, `FRound`'s mode, or, with `FEq` in `BINARY_WIDE`, LLVM's
    /// number of the `fcmp` predicate (`oeq` = 1 ... `une` = 14), which says all
    /// about the comparison (0 is plain `FEq`).
    pub const fn pack(op: Op, from: u32, to: u32, extra: u32) -> u64 {
        op as u64 | (from as u64) << 8 | (to as u64) << 16 | (extra as u64) << 24
    }
    pub const fn op(code: u64) -> u8 {
        code as u8
    }
    pub const fn from(code: u64) -> u32 {
        (code >> 8) as u32 & 0xff
    }
    pub const fn to(code: u64) -> u32 {
        (code >> 16) as u32 & 0xff
    }
    pub const fn extra(code: u64) -> u32 {
        (code >> 24) as u32 & 0xff
    }
}

/// Symbols that are not functions or are defined by the instrumented program.
pub mod symbol {
    /// Prefix of a libc function that the runtime models: uses of `strlen` become
    /// uses of `__plx_m_strlen`.
    pub const MODEL_PREFIX: &str = "__plx_m_";
    /// Where the debug information of models says that they come from.
    pub const MODEL_SOURCES: &str = "parallax/runtime/models/";
    /// In the variant with sanitizers: gives each argument a block of its own. A constructor, which a run server calls again for every
    /// run.
    pub const OWN_ARGUMENTS: &str = "__plx_own_arguments";
    /// C string: path of the plain program, run instead when tracing is impossible.
    pub const PLAIN_PATH: &str = "__plx_plain_path";
    /// `unsigned`: not 0 while accesses through concrete addresses are events.
    pub const WATCHING: &str = "__plx_watching";
    /// What the program's `main` is called in the traced variant. The `main` that the C start-up code
    /// calls is ours: it calls [`ENTER`], then this one.
    pub const MAIN: &str = "__plx_main";
    /// `void __plx_enter(struct arguments *, int (*main)())`: the runtime has the last word about what
    /// `main` is given (see [`Arguments`](super::Arguments)) and leaves the labels for it as
    /// [`tls`](crate::tls) says.
    pub const ENTER: &str = "__plx_enter";
    /// `void __plx_leave(int (*main)())`: `main` has returned; its result is what the program puts out last.
    pub const LEAVE: &str = "__plx_leave";
}
