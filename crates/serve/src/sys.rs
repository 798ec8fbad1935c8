//! Raw system calls, without libc: what the run server and the runtime both need.

use core::arch::asm;

pub const ENOMEM: i32 = 12;

pub const PROT_READ_WRITE: usize = 3;
pub const MAP_SHARED: usize = 0x1;
pub const MAP_PRIVATE: usize = 0x2;
pub const MAP_ANONYMOUS: usize = 0x20;
pub const MAP_NORESERVE: usize = 0x4000;
pub const MAP_POPULATE: usize = 0x8000;
pub const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

pub const MADV_HUGEPAGE: usize = 14;
pub const MADV_NOHUGEPAGE: usize = 15;
pub const MADV_DONTDUMP: usize = 16;

/// A failed call's error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// # Safety
/// As the kernel's call of that number.
#[inline]
pub unsafe fn call(number: usize, arguments: [usize; 6]) -> Result<usize, Errno> {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: the caller vouches for the arguments; the kernel clobbers only
    // rcx and r11 besides the result.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result,
             in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
             lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    if (-4095..0).contains(&result) {
        Err(Errno(-result as i32))
    } else {
        Ok(result as usize)
    }
}

/// Maps memory.
///
/// # Safety
/// As `mmap`: a fixed mapping must not replace memory in use.
pub unsafe fn mmap(
    address: usize,
    size: usize,
    flags: usize,
    descriptor: i32,
) -> Result<usize, Errno> {
    let descriptor = descriptor as isize as usize;
    // SAFETY: passed on to the caller.
    unsafe { call(9, [address, size, PROT_READ_WRITE, flags, descriptor, 0]) }
}

/// Fresh zeroed memory of the runtime's own, kept out of core dumps.
pub fn allocate(size: usize) -> Option<usize> {
    allocate_with(size, MAP_NORESERVE)
}

/// As [`allocate`], with all pages there when they are first touched.
pub fn allocate_at_once(size: usize) -> Option<usize> {
    allocate_with(size, MAP_POPULATE)
}

fn allocate_with(size: usize, flags: usize) -> Option<usize> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | flags;
    // SAFETY: the kernel picks an address that is free.
    let address = unsafe { mmap(0, size, flags, -1) }.ok()?;
    advise(address, size, MADV_DONTDUMP);
    Some(address)
}

/// Advice that changes no contents; false if the kernel does not know it.
pub fn advise(address: usize, size: usize, advice: usize) -> bool {
    // SAFETY: the advices used here do not destroy data of this process.
    unsafe { call(28, [address, size, advice, 0, 0, 0]) }.is_ok()
}

/// Ends the process without running anything.
pub fn exit_now(status: i32) -> ! {
    loop {
        // SAFETY: exit_group does not return.
        let _ = unsafe { call(231, [status as usize, 0, 0, 0, 0, 0]) };
    }
}
