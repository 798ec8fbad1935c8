//! A growable array in the runtime's own memory.

use crate::arena;

/// Grows by doubling; elements are plain data.
pub struct Buffer<T: Copy> {
    start: *mut T,
    length: usize,
    capacity: usize,
}

const FIRST_BYTES: usize = 2 << 10;

impl<T: Copy> Buffer<T> {
    pub const fn new() -> Buffer<T> {
        Buffer {
            start: core::ptr::null_mut(),
            length: 0,
            capacity: 0,
        }
    }

    /// Appends; false if there is no memory.
    pub fn push(&mut self, element: T) -> bool {
        if self.length == self.capacity && !self.grow() {
            return false;
        }
        // SAFETY: there is room.
        unsafe { self.start.add(self.length).write(element) };
        self.length += 1;
        true
    }

    fn grow(&mut self) -> bool {
        let bytes = (self.capacity * size_of::<T>() * 2).max(FIRST_BYTES);
        let Some(memory) = arena::allocate(bytes) else {
            return false;
        };
        let new = memory as *mut T;
        if self.length > 0 {
            // SAFETY: the new memory is larger; nobody keeps pointers into the old one.
            unsafe {
                core::ptr::copy_nonoverlapping(self.start, new, self.length);
                arena::release(self.start as usize, self.capacity * size_of::<T>());
            }
        }
        self.start = new;
        self.capacity = bytes / size_of::<T>();
        true
    }

    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Keeps the elements that `wanted` accepts, in order.
    pub fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        let mut kept = 0;
        let all = self.as_mut_slice();
        for index in 0..all.len() {
            if wanted(&all[index]) {
                all[kept] = all[index];
                kept += 1;
            }
        }
        self.length = kept;
    }

    pub fn as_slice(&self) -> &[T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: that many elements were written.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: that many elements were written, and we are borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }
}
