//! The one lock of the slow path, and who this process is.
//!
//! Whatever builds expressions or appends more than a single record happens
//! under this lock, between [`enter`] and the drop of its guard. The owner is process *and* thread:
//! a forked child that inherits a lock held by a thread that does not exist in
//! it takes the lock over. A thread that enters while it is already inside (a
//! signal handler that interrupted the runtime) is refused: its caller
//! gives up the label, and the loss is recorded by whoever enters next. If such a handler
//! leaves by `siglongjmp`, the interrupted activation never ends; that is noticed
//! by the stack having been unwound past it, and the thread lets itself in again. (Every
//! structure behind the lock changes by single stores that leave it usable.)
//!
//! Forks are noticed by a page that the kernel wipes in the child, so that a
//! look at one word replaces a system call at every entry.

use crate::core_state::{CORE, Core};
use crate::tls::{self, Local};
use crate::{loss, sys, trace};
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*, compiler_fence};
use parallax_abi::trace::LossKind;

/// `process << 32 | thread`, 0 if free.
static OWNER: AtomicU64 = AtomicU64::new(0);
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// Counts the forks on the way to this process; makes cached thread numbers invalid.
static GENERATION: AtomicU32 = AtomicU32::new(1);
/// In a page that is wiped at fork: 0 in a child that has not noticed yet.
static SAME_PROCESS: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());
static REENTRIES: AtomicU32 = AtomicU32::new(0);

const PAGE: usize = 4096;
const SPINS: u32 = 100;
const YIELDS_BEFORE_DOUBT: u32 = 1000;

/// Remembers who this process is. Called once, before there are threads.
pub fn set_up(process: u32) {
    PROCESS.store(process, Relaxed);
    // A process that was forked to be traced has its parent's thread number in mind.
    GENERATION.fetch_add(1, Relaxed);
    let Some(page) = sys::allocate(PAGE) else {
        return;
    };
    if sys::advise(page, PAGE, sys::MADV_WIPEONFORK) {
        let word = page as *mut AtomicU32;
        // SAFETY: a fresh page.
        unsafe { (*word).store(1, Relaxed) };
        SAME_PROCESS.store(word, Relaxed);
    }
}

/// Being inside the runtime's slow path.
pub struct Guard {
    local: *mut Local,
}

/// Enters the slow path; `None` if this thread is inside already.
#[inline]
pub fn enter() -> Option<Guard> {
    let local = tls::local();
    // SAFETY: this thread's own block.
    unsafe {
        if (*local).protocol.busy != 0 && !was_abandoned(local) {
            REENTRIES.fetch_add(1, Relaxed);
            return None;
        }
        (*local).protocol.busy = 1;
        (*local).entered_at = &raw const local as u64;
    }
    compiler_fence(SeqCst);
    if is_new_process() {
        after_fork(local);
    }
    let me = identity(local);
    if OWNER.compare_exchange(0, me, Acquire, Relaxed).is_err() {
        wait(me);
    }
    let mut guard = Guard { local };
    if REENTRIES.load(Relaxed) != 0 {
        report_reentries(&mut guard);
    }
    Some(guard)
}

/// Whether the activation that set `busy` is gone: the stack is unwound past it, and we
/// are not on a signal stack, where addresses say nothing. Gives back what it held.
#[cold]
unsafe fn was_abandoned(local: *mut Local) -> bool {
    let here = &raw const local as u64;
    // SAFETY: this thread's own block.
    unsafe {
        if (*local).entered_at >= here || sys::is_on_signal_stack() {
            return false;
        }
    }
    let me = identity(local);
    let _ = OWNER.compare_exchange(me, 0, Relaxed, Relaxed);
    true
}

/// Kernel's number of the process whose state this is. Another one than the running
/// process's in a child made by `vfork`, which borrows it.
pub fn owner_process() -> u32 {
    PROCESS.load(Relaxed)
}

#[inline(always)]
fn is_new_process() -> bool {
    let word = SAME_PROCESS.load(Relaxed);
    if word.is_null() {
        return sys::process_id() != PROCESS.load(Relaxed);
    }
    // SAFETY: mapped for the life of the process.
    unsafe { (*word).load(Relaxed) == 0 }
}

/// Only the thread that called `fork` exists in the child, so this runs alone.
#[cold]
fn after_fork(local: *mut Local) {
    let word = SAME_PROCESS.load(Relaxed);
    if !word.is_null() {
        // SAFETY: mapped for the life of the process.
        unsafe { (*word).store(1, Relaxed) };
    }
    let process = sys::process_id();
    PROCESS.store(process, Relaxed);
    GENERATION.fetch_add(1, Relaxed);
    if OWNER.load(Relaxed) >> 32 != u64::from(process) {
        OWNER.store(0, Relaxed);
    }
    let _ = identity(local);
    trace::announce_process(process, true);
}

#[inline(always)]
fn identity(local: *mut Local) -> u64 {
    let generation = GENERATION.load(Relaxed);
    // SAFETY: this thread's own block.
    unsafe {
        if (*local).generation != generation {
            (*local).thread = sys::thread_id();
            (*local).generation = generation;
        }
        u64::from(PROCESS.load(Relaxed)) << 32 | u64::from((*local).thread)
    }
}

#[cold]
fn wait(me: u64) {
    let mut rounds = 0u32;
    loop {
        let owner = OWNER.load(Relaxed);
        let free = owner == 0
            || owner >> 32 != me >> 32
            || (rounds > YIELDS_BEFORE_DOUBT
                && sys::thread_is_gone((owner >> 32) as u32, owner as u32));
        if free && OWNER.compare_exchange(owner, me, Acquire, Relaxed).is_ok() {
            return;
        }
        rounds = rounds.saturating_add(1);
        if rounds < SPINS {
            core::hint::spin_loop();
        } else {
            sys::yield_now();
        }
    }
}

#[cold]
fn report_reentries(core: &mut Core) {
    for _ in 0..REENTRIES.swap(0, Relaxed) {
        loss::record(core, LossKind::Reentry, 0, &[]);
    }
}

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        OWNER.store(0, Release);
        compiler_fence(SeqCst);
        // SAFETY: this thread's own block.
        unsafe { (*self.local).protocol.busy = 0 };
    }
}

impl Deref for Guard {
    type Target = Core;

    #[inline(always)]
    fn deref(&self) -> &Core {
        // SAFETY: the lock is held.
        unsafe { &*CORE.get() }
    }
}

impl DerefMut for Guard {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Core {
        // SAFETY: the lock is held.
        unsafe { &mut *CORE.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn enter_and_never_leave() {
        let mut depth = [0u8; 512];
        core::hint::black_box(&mut depth);
        core::mem::forget(enter().expect("first entry"));
        core::hint::black_box(&mut depth);
    }

    #[test]
    fn a_thread_that_was_torn_out_of_the_runtime_can_enter_again() {
        enter_and_never_leave();
        assert!(enter().is_some());
    }

    #[test]
    fn a_thread_that_is_inside_is_refused_until_it_leaves() {
        let guard = enter().expect("first entry");
        assert!(enter().is_none());
        drop(guard);
        assert!(enter().is_some());
    }

    #[test]
    fn a_lock_of_another_process_is_taken_over() {
        drop(enter());
        let foreign = u64::from(sys::process_id() ^ 1) << 32 | 5;
        // Another test may hold the lock for a moment.
        while OWNER.compare_exchange(0, foreign, SeqCst, SeqCst).is_err() {
            sys::yield_now();
        }
        assert!(enter().is_some());
    }
}
