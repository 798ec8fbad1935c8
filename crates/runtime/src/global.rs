//! A cell for the runtime's process-wide state.

use core::cell::UnsafeCell;

/// State that is guarded by a protocol of its owner (set up before there are
/// threads, or used under the runtime's lock only).
pub struct Global<T>(UnsafeCell<T>);

// SAFETY: every access goes through `get`, whose callers vouch for exclusion.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub const fn new(value: T) -> Global<T> {
        Global(UnsafeCell::new(value))
    }

    /// Where the value lives.
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}
