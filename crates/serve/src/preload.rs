//! The server for programs that were not made for it.
//!
//! The dynamic linker is told to load this before the program, so that the C start-up code, which calls
//! `__libc_start_main` with the program's `main`, finds ours first. It passes everything on to libc but for another `main`,
//! which serves. Constructors have run by then, as before any `main`.
//!
//! Programs that do not start that way never ask for a server, and the engine does without.
//!
//! The new `main` jumps to the program's, so that stacks in sanitizer reports are what they are without a server. Strings follow each other as
//! the kernel lays them out. Counters of covered programs are attached when the server starts: runs with other shared memory need another server.

use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering::Relaxed};

use parallax_abi::entry::Arguments;
use parallax_abi::{cover, serve};

use crate::{Strings, processes, server, sys};

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn fork() -> i32;
    /// As a program's `main`.
    fn plx_served_main();
}

type Function = *mut c_void;
type Start = unsafe extern "C" fn(
    main: Function,
    argc: i32,
    argv: Strings,
    init: Function,
    fini: Function,
    rtld_fini: Function,
    stack_end: Function,
) -> i32;

/// The program's own `main`.
static MAIN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static SOCKET: AtomicI32 = AtomicI32::new(-1);
/// Whether handlers of `fork` are called: coverage counters have one, and need it.
static HAS_COUNTERS: AtomicBool = AtomicBool::new(false);
/// Whether the program may be one with sanitizers, which are always given options.
static HAS_SANITIZERS: AtomicBool = AtomicBool::new(false);
/// Where `dlsym` looks: in what was loaded after this.
const NEXT: *mut c_void = -1isize as *mut c_void;
/// Likewise: in everything.
const EVERYWHERE: *mut c_void = core::ptr::null_mut();
/// See [`symbol::OWN_ARGUMENTS`].
const OWN_ARGUMENTS: &CStr = c"__plx_own_arguments";
type Bounds = unsafe extern "C" fn(i32, Strings);

/// What is meant for this process alone, and not for programs that constructors execute. That this is a server, coverage
/// counters must still be able to see.
const OURS: [&str; 2] = [serve::PRELOAD, serve::BIND_NOW];

/// # Safety
/// Called by the C start-up code.
#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: Function,
    argc: i32,
    argv: Strings,
    init: Function,
    fini: Function,
    rtld_fini: Function,
    stack_end: Function,
) -> i32 {
    const CANNOT_RUN: i32 = 125;
    // SAFETY: libc's function of that name has that type; the strings are the process's own.
    unsafe {
        let next = dlsym(NEXT, c"__libc_start_main".as_ptr());
        if next.is_null() {
            sys::exit_now(CANNOT_RUN);
        }
        let next: Start = core::mem::transmute(next);
        let envp = argv.add(argc.max(0) as usize + 1);
        let socket = lookup(envp, serve::PRELOADED).and_then(server::parse);
        for name in OURS {
            remove(envp, name);
        }
        let mut first = main;
        if let Some(socket) = socket {
            // What constructors execute shall not talk to the engine.
            processes::close_on_exec(socket);
            processes::close_on_exec(serve::counter(socket));
            SOCKET.store(socket, Relaxed);
            let counters = lookup(envp, cover::ENVIRONMENT);
            HAS_COUNTERS.store(counters.is_some(), Relaxed);
            let sanitizers = lookup(envp, "ASAN_OPTIONS");
            HAS_SANITIZERS.store(sanitizers.is_some(), Relaxed);
            MAIN.store(main, Relaxed);
            first = plx_served_main as *mut c_void;
        }
        next(first, argc, argv, init, fini, rtld_fini, stack_end)
    }
}

// Jumps to the program's `main`, so that the stack is what it is without us: it is shown in sanitizers' reports.
global_asm!(
    ".pushsection .text.plx_served_main,\"ax\",@progbits",
    ".hidden plx_served_main",
    ".globl plx_served_main",
    ".type plx_served_main,@function",
    "plx_served_main:",
    "sub rsp, 40",
    "mov dword ptr [rsp], edi",
    "mov qword ptr [rsp + 8], rsi",
    "mov qword ptr [rsp + 16], rdx",
    "mov rdi, rsp",
    "call {begin}",
    "mov edi, dword ptr [rsp]",
    "mov rsi, qword ptr [rsp + 8]",
    "mov rdx, qword ptr [rsp + 16]",
    "add rsp, 40",
    "jmp rax",
    ".size plx_served_main, . - plx_served_main",
    ".popsection",
    begin = sym begin,
);

/// Serves; returns in the process of each run, with what `main` is given and where it is.
unsafe extern "C" fn begin(arguments: *mut Arguments) -> *mut c_void {
    // SAFETY: the caller's own variable; called once, by the only thread that is known of.
    unsafe {
        let own = (*arguments).argv;
        let given = server::serve(SOCKET.load(Relaxed), how_to_fork());
        arguments.write(given);
        // libc remembers this list, too, and takes the program's name from it.
        if !own.is_null() && !(*own).is_null() && given.argc > 0 {
            *own = *given.argv;
        }
        // Constructors have run for the server's arguments, not for these.
        let bounds = match HAS_SANITIZERS.load(Relaxed) {
            true => dlsym(EVERYWHERE, OWN_ARGUMENTS.as_ptr()),
            // What is not found is told of in memory that the program's own allocator gives.
            false => core::ptr::null_mut(),
        };
        if !bounds.is_null() {
            let bounds: Bounds = core::mem::transmute(bounds);
            bounds(given.argc, given.argv);
        }
    }
    MAIN.load(Relaxed)
}

/// Without calling handlers, if possible: a fresh process has not been forked, there is but one thread, and it holds no lock. Those of
/// sanitizers read megabytes of tables, which costs more than most runs.
unsafe fn how_to_fork() -> server::Fork {
    // SAFETY: libc's function of that name has that type.
    unsafe {
        let quick = dlsym(NEXT, c"_Fork".as_ptr());
        if quick.is_null() || HAS_COUNTERS.load(Relaxed) {
            return fork;
        }
        core::mem::transmute::<*mut c_void, server::Fork>(quick)
    }
}

/// Value of an environment variable.
unsafe fn lookup(envp: Strings, name: &str) -> Option<&'static [u8]> {
    let mut variable = envp;
    // SAFETY: a list of C strings that ends with null.
    unsafe {
        while !(*variable).is_null() {
            if let Some(value) = value_of(*variable, name) {
                return Some(value);
            }
            variable = variable.add(1);
        }
    }
    None
}

/// Takes a variable out of the environment.
unsafe fn remove(envp: Strings, name: &str) {
    // SAFETY: as in `lookup`; the list only gets shorter.
    unsafe {
        let (mut from, mut to) = (envp, envp);
        while !(*from).is_null() {
            if value_of(*from, name).is_none() {
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
}

unsafe fn value_of(variable: *const u8, name: &str) -> Option<&'static [u8]> {
    // SAFETY: a C string of the environment, which stays.
    let text = unsafe { CStr::from_ptr(variable.cast()) }.to_bytes();
    text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}
