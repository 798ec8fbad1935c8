//! Start-up: before any code of the program, constructors included.
//!
//! Reserves the tables that instrumented code looks at, attaches the trace that the
//! environment names, and makes arguments and standard input symbolic. Without a
//! trace the tables are there, empty, and nothing else happens.
//!
//! The tables come even earlier than the rest: a `-static` program's own `malloc`
//! is called by libc before there are arguments or hooks. What runs first in every kind
//! of executable is the resolver of an indirect function, so one is put there that resolves
//! nothing and reserves the tables.
//!
//! When the tables cannot be had because the address space is laid out
//! unfavourably (`ulimit -s unlimited`), the program is executed once more with
//! settings that help. When they cannot be had at all (`ulimit -v`), the plain program runs
//! in its place.

use crate::sys::{self, Errno};
use crate::{arena, inputs, lock, private, server, trace};
use core::arch::asm;
use core::ffi::CStr;
use core::mem::offset_of;
use parallax_abi::entry::{Arguments, symbol};
use parallax_abi::layout::*;
use parallax_abi::trace::{ENVIRONMENT, Event, EventKind, Header, PRIVATE, Refusal, flags};

pub type Strings = *mut *const u8;

/// Set in the environment of a program that executed itself anew, so that it
/// does not do so again. Removed before the program sees it.
const GUARD: &[u8] = b"PARALLAX_RESTARTED=1\0";
const GUARD_NAME: &str = "PARALLAX_RESTARTED";
/// Exit status when there is neither room for the tables nor a plain program.
const CANNOT_RUN: i32 = 125;

#[cfg(all(feature = "freestanding", not(test)))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static SET_UP: unsafe extern "C" fn(i32, Strings, Strings) = set_up;

#[cfg(not(all(feature = "freestanding", not(test))))]
mod early {
    pub use super::reserve_tables as tables;
}

/// Reservation of the tables by an indirect function's resolver.
#[cfg(all(feature = "freestanding", not(test)))]
mod early {
    use crate::sys::Errno;
    use core::arch::{asm, global_asm};
    use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

    const RESERVED: i32 = i32::MAX;
    /// 0 before the first attempt, then [`RESERVED`] or the negative error number.
    static STATE: AtomicI32 = AtomicI32::new(0);

    global_asm!(
        ".type __plx_early, @gnu_indirect_function",
        ".set __plx_early, {resolver}",
        ".pushsection .data.rel.ro.__plx_early_pointer,\"aw\",@progbits",
        ".balign 8",
        "__plx_early_pointer:",
        ".quad __plx_early",
        ".popsection",
        resolver = sym resolve,
    );

    /// Runs before relocation is finished and before there is a thread block: system
    /// calls and statics are all that may be used.
    extern "C" fn resolve() -> usize {
        let state = match super::reserve_tables() {
            Ok(()) => RESERVED,
            Err(Errno(number)) => -number.max(1),
        };
        STATE.store(state, Relaxed);
        resolve as *const () as usize
    }

    /// How the reservation went.
    pub fn tables() -> Result<(), Errno> {
        // Keeps the pointer, and so the resolver, in programs linked with --gc-sections.
        // SAFETY: computes an address.
        unsafe {
            asm!("lea {0}, [rip + __plx_early_pointer]", out(reg) _,
                 options(nomem, nostack, preserves_flags));
        }
        match STATE.load(Relaxed) {
            RESERVED => Ok(()),
            0 => super::reserve_tables(),
            state => Err(Errno(-state)),
        }
    }
}

/// What [`ENVIRONMENT`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Untraced,
    Private,
    Descriptor(i32),
}

/// # Safety
/// Called by the C start-up code with the program's own arguments.
#[cfg_attr(not(feature = "freestanding"), allow(dead_code))]
unsafe extern "C" fn set_up(argc: i32, argv: Strings, envp: Strings) {
    // SAFETY: `argv` and `envp` are the program's, ended by null.
    unsafe {
        let restarted = remove(envp, GUARD_NAME);
        let wish = lookup(envp, ENVIRONMENT).map_or(Wish::Untraced, parse);
        if let Err(errno) = early::tables() {
            if errno.0 != sys::ENOMEM && !restarted {
                restart(argv, envp);
            }
            refuse(wish, argv, envp);
        }
        let socket = lookup(envp, server::ENVIRONMENT).and_then(server::parse);
        if let Some(socket) = socket {
            server::prepare(socket);
        } else if attach(wish) {
            begin(argc, argv, envp);
        } else {
            return;
        }
        log_exits();
    }
}

/// Starts tracing in a process that the run server forked, as in a program that has just started.
///
/// # Safety
/// The lists of C strings are ended by null and stay.
pub unsafe fn begin_run(arguments: &Arguments) {
    let Arguments { argc, argv, envp } = *arguments;
    // SAFETY: passed on to the caller.
    unsafe {
        let wish = lookup(envp, ENVIRONMENT).map_or(Wish::Untraced, parse);
        if attach(wish) {
            begin(argc, argv, envp);
        }
    }
}

fn attach(wish: Wish) -> bool {
    match wish {
        Wish::Untraced => false,
        Wish::Private => private::create().is_some(),
        Wish::Descriptor(descriptor) => trace::attach(descriptor).is_ok(),
    }
}

/// Maps the three tables, untouched and out of core dumps.
pub fn reserve_tables() -> Result<(), Errno> {
    if sys::is_under_valgrind() {
        // It keeps books about every page that is mapped: terabytes of them end the machine.
        return Err(Errno(sys::ENOMEM));
    }
    let flags =
        sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE;
    let tables = [
        (PRESENCE_BASE, PRESENCE_BYTES),
        (SIZE_BASE, SIZE_BYTES),
        (LABEL_BASE, LABEL_BYTES),
    ];
    for (base, size) in tables {
        let (base, size) = (base as usize, size as usize);
        // SAFETY: fails instead of replacing anything.
        let address = unsafe { sys::mmap(base, size, flags, -1) }?;
        if address != base {
            // A kernel that does not know the flag takes the address as a hint.
            return Err(Errno(0));
        }
        sys::advise(base, size, sys::MADV_DONTDUMP);
        sys::advise(base, size, sys::MADV_NOHUGEPAGE);
    }
    Ok(())
}

/// Tracing starts: who we are, what the program was given.
unsafe fn begin(argc: i32, argv: Strings, envp: Strings) {
    let process = sys::process_id();
    arena::set_up();
    lock::set_up(process);
    let first = trace::announce_process(process, false);
    let Some(mut core) = lock::enter() else {
        return;
    };
    core.inputs.set_up(first);
    core.operations.set_up();
    core.loads.set_up();
    // SAFETY: as in `set_up`.
    unsafe {
        // The vector itself too: programs walk over it as input tells them.
        let pointers = (argc.max(0) as u64 + 1) * 8;
        core.objects.add_argument(argv as u64, pointers);
        for index in 0..argc.max(0) as usize {
            let (base, size) = extent(*argv.add(index));
            core.objects.add_argument(base, size);
        }
        let mut variable = envp;
        while !(*variable).is_null() {
            let (base, size) = extent(*variable);
            core.objects.add_argument(base, size);
            variable = variable.add(1);
        }
        // Only what the first program was given is input; the others' was made by programs.
        if first {
            if trace::has_flag(flags::ARGV) {
                inputs::label_arguments(&mut core, argc.max(0) as usize, argv);
            }
            if trace::has_flag(flags::ARGUMENT_COUNT) {
                inputs::label_argument_count(&mut core, argc.max(0) as usize, argv);
            }
            inputs::label_environment(&mut core, envp);
        }
    }
}

unsafe extern "C" {
    /// glibc's `atexit` that tells the status.
    fn on_exit(
        function: extern "C" fn(i32, *mut core::ffi::c_void),
        argument: *mut core::ffi::c_void,
    ) -> i32;
}

/// Registered first, so that it runs last.
#[cfg_attr(not(feature = "freestanding"), allow(dead_code))]
fn log_exits() {
    extern "C" fn log_exit(status: i32, _: *mut core::ffi::c_void) {
        exit_event(status);
    }
    // SAFETY: a function that stays.
    unsafe { on_exit(log_exit, core::ptr::null_mut()) };
}

/// Logs that the process ends by itself.
pub fn exit_event(status: i32) {
    if !trace::active() {
        return;
    }
    // Entering notices a fork, so that the event gets the right process number; a child
    // of `vfork` is no process of the trace.
    if let Some(_core) = lock::enter()
        && lock::owner_process() == sys::process_id()
    {
        let x = status as u32 & 0xff;
        let context = trace::ROOT_CONTEXT;
        trace::event(Event {
            x,
            context,
            ..trace::new_event(EventKind::Exit)
        });
    }
}

/// Start and length of a C string, terminator included.
unsafe fn extent(string: *const u8) -> (u64, u64) {
    // SAFETY: passed on to the caller.
    let length = unsafe { CStr::from_ptr(string.cast()) }
        .to_bytes_with_nul()
        .len();
    (string as u64, length as u64)
}

/// Value of an environment variable.
unsafe fn lookup(envp: Strings, name: &str) -> Option<&'static [u8]> {
    // SAFETY: passed on to the caller.
    unsafe {
        let mut variable = envp;
        while !(*variable).is_null() {
            if let Some(value) = value_of(*variable, name) {
                return Some(value);
            }
            variable = variable.add(1);
        }
    }
    None
}

unsafe fn value_of(variable: *const u8, name: &str) -> Option<&'static [u8]> {
    // SAFETY: passed on to the caller.
    let text = unsafe { CStr::from_ptr(variable.cast()) }.to_bytes();
    text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

/// Takes a variable out of the environment; true if it was there.
unsafe fn remove(envp: Strings, name: &str) -> bool {
    let mut found = false;
    // SAFETY: passed on to the caller; the list only gets shorter.
    unsafe {
        let (mut from, mut to) = (envp, envp);
        while !(*from).is_null() {
            if value_of(*from, name).is_some() {
                found = true;
            } else {
                *to = *from;
                to = to.add(1);
            }
            from = from.add(1);
        }
        while to < from {
            *to = core::ptr::null();
            to = to.add(1);
        }
    }
    found
}

fn parse(value: &[u8]) -> Wish {
    if value == PRIVATE.as_bytes() {
        return Wish::Private;
    }
    match core::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse::<i32>().ok())
    {
        Some(descriptor) if descriptor >= 0 => Wish::Descriptor(descriptor),
        _ => Wish::Untraced,
    }
}

/// Executes this program again with a friendlier address space. Returns if it cannot.
unsafe fn restart(argv: Strings, envp: Strings) {
    sys::stop_randomizing();
    sys::limit_stack();
    let mut path = [0; 4097];
    let Some(length) = sys::readlink(b"/proc/self/exe\0", &mut path[..4096]).map(<[u8]>::len)
    else {
        return;
    };
    path[length] = 0;
    // SAFETY: the lists are ended by null; the new one has room for two more.
    unsafe {
        let mut count = 0;
        while !(*envp.add(count)).is_null() {
            count += 1;
        }
        let Some(memory) = sys::allocate((count + 2) * size_of::<*const u8>()) else {
            return;
        };
        let variables = memory as Strings;
        core::ptr::copy_nonoverlapping(envp, variables, count);
        *variables.add(count) = GUARD.as_ptr();
        sys::execve(path.as_ptr(), argv.cast_const(), variables.cast_const());
    }
}

/// Runs the plain program in place of the traced one.
unsafe fn refuse(wish: Wish, argv: Strings, envp: Strings) -> ! {
    if let Wish::Descriptor(descriptor) = wish {
        // The region may be impossible to map for the same reason: write the word.
        let mut magic = [0; 8];
        let is_trace = sys::pread(descriptor, &mut magic, 0) == Ok(8)
            && u64::from_le_bytes(magic) == parallax_abi::trace::MAGIC;
        if is_trace {
            let refusal = (Refusal::AddressSpace as u32).to_le_bytes();
            let _ = sys::pwrite(descriptor, &refusal, offset_of!(Header, refusal) as u64);
        }
    }
    let plain = plain_path();
    if !plain.is_null() {
        // SAFETY: the program's own arguments; the path is a C string.
        unsafe { sys::execve(plain, argv.cast_const(), envp.cast_const()) };
    }
    sys::exit_now(CANNOT_RUN)
}

/// The C string `__plx_plain_path`, null if the program was linked without it.
fn plain_path() -> *const u8 {
    const { assert!(matches!(symbol::PLAIN_PATH.as_bytes(), b"__plx_plain_path")) };
    let path: *const u8;
    // SAFETY: reads a word that the linker filled in.
    unsafe {
        asm!(".weak __plx_plain_path",
             "mov {0}, qword ptr [rip + __plx_plain_path@GOTPCREL]",
             out(reg) path, options(pure, readonly, nostack, preserves_flags));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_variable_names_a_descriptor_or_a_private_trace() {
        assert_eq!(parse(b"17"), Wish::Descriptor(17));
        assert_eq!(parse(b"private"), Wish::Private);
        assert_eq!(parse(b"-1"), Wish::Untraced);
        assert_eq!(parse(b""), Wish::Untraced);
    }

    #[test]
    fn a_removed_variable_leaves_the_others_in_order() {
        let [a, b, c] = [c"A=1", c"PARALLAX_RESTARTED=1", c"B=2"].map(|s| s.as_ptr().cast::<u8>());
        let mut list = [a, b, c, core::ptr::null()];
        // SAFETY: a list of C strings ended by null.
        unsafe {
            assert!(remove(list.as_mut_ptr(), GUARD_NAME));
            assert_eq!(list, [a, c, core::ptr::null(), core::ptr::null()]);
            assert!(!remove(list.as_mut_ptr(), GUARD_NAME));
            assert_eq!(lookup(list.as_mut_ptr(), "B"), Some(&b"2"[..]));
        }
    }
}
