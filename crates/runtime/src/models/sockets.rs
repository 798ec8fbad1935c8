//! Sockets and pipes: bytes that other programs sent get their labels; what connects parts of
//! the program itself is remembered as its own.

use super::reading::{At, Part, arrived};
use super::{fix, fix_length, give, own, take};
use crate::{events, shadow, trace};
use parallax_abi::trace::Concretized;

type Bytes = *mut u8;

/// Received bytes stay where they are.
const MSG_PEEK: i32 = 2;

unsafe extern "C" {
    fn recv(descriptor: i32, to: Bytes, size: usize, flags: i32) -> isize;
    fn recvfrom(
        descriptor: i32,
        to: Bytes,
        size: usize,
        flags: i32,
        sender: Bytes,
        sender_size: *mut u32,
    ) -> isize;
    fn recvmsg(descriptor: i32, message: *mut Message, flags: i32) -> isize;
    fn __recv_chk(descriptor: i32, to: Bytes, size: usize, room: usize, flags: i32) -> isize;
    fn __recvfrom_chk(
        descriptor: i32,
        to: Bytes,
        size: usize,
        room: usize,
        flags: i32,
        sender: Bytes,
        sender_size: *mut u32,
    ) -> isize;
    fn accept(descriptor: i32, peer: Bytes, size: *mut u32) -> i32;
    fn accept4(descriptor: i32, peer: Bytes, size: *mut u32, flags: i32) -> i32;
    fn pipe(to: *mut i32) -> i32;
    fn pipe2(to: *mut i32, flags: i32) -> i32;
    fn socketpair(domain: i32, kind: i32, protocol: i32, to: *mut i32) -> i32;
    fn popen(command: *const u8, mode: *const u8) -> Bytes;
    fn fileno(file: Bytes) -> i32;
}

/// `struct msghdr`.
#[repr(C)]
pub struct Message {
    name: Bytes,
    name_size: u32,
    parts: *const Part,
    part_count: usize,
    control: Bytes,
    control_size: usize,
    flags: i32,
}

fn position(flags: i32) -> At {
    if flags & MSG_PEEK != 0 {
        At::Ahead
    } else {
        At::Position
    }
}

fn is_traced() -> bool {
    trace::header().is_some()
}

/// What the kernel wrote beside the bytes: somebody's address.
unsafe fn clear_address(address: Bytes, size: *mut u32) {
    // SAFETY: the kernel filled both, or was given neither.
    unsafe {
        if is_traced() && !size.is_null() {
            shadow::clear(size as u64, 4);
            if !address.is_null() {
                shadow::clear(address as u64, (*size).into());
            }
        }
    }
}

fn fix_arguments(labels: [u32; 3], descriptor: i32, to: Bytes, size: usize) {
    let [ldescriptor, lto, lsize] = labels;
    fix(ldescriptor, descriptor as u32 as u64, Concretized::Argument);
    fix(lto, to as u64, Concretized::StoreAddress);
    fix_length(lsize, size, to);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_recv(
    descriptor: i32,
    to: Bytes,
    size: usize,
    flags: i32,
) -> isize {
    fix_arguments(take(own!(__plx_m_recv)), descriptor, to, size);
    // SAFETY: the program's own call.
    unsafe {
        let count = recv(descriptor, to, size, flags);
        received(descriptor, to, size, count, flags);
        give(own!(__plx_m_recv), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___recv_chk(
    descriptor: i32,
    to: Bytes,
    size: usize,
    room: usize,
    flags: i32,
) -> isize {
    fix_arguments(take(own!(__plx_m___recv_chk)), descriptor, to, size);
    // SAFETY: the program's own call.
    unsafe {
        let count = __recv_chk(descriptor, to, size, room, flags);
        received(descriptor, to, size, count, flags);
        give(own!(__plx_m___recv_chk), 0);
        count
    }
}

/// With `MSG_TRUNC` the result is the length of the message, however much of it found room.
unsafe fn received(descriptor: i32, to: Bytes, size: usize, count: isize, flags: i32) {
    let count = count.min(isize::try_from(size).unwrap_or(isize::MAX));
    // SAFETY: passed on to the caller.
    unsafe {
        arrived(
            descriptor,
            &[Part { base: to, size }],
            count,
            position(flags),
        )
    };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_recvfrom(
    descriptor: i32,
    to: Bytes,
    size: usize,
    flags: i32,
    sender: Bytes,
    sender_size: *mut u32,
) -> isize {
    fix_arguments(take(own!(__plx_m_recvfrom)), descriptor, to, size);
    // SAFETY: the program's own call.
    unsafe {
        let count = recvfrom(descriptor, to, size, flags, sender, sender_size);
        received(descriptor, to, size, count, flags);
        if count >= 0 {
            clear_address(sender, sender_size);
        }
        give(own!(__plx_m_recvfrom), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___recvfrom_chk(
    descriptor: i32,
    to: Bytes,
    size: usize,
    room: usize,
    flags: i32,
    sender: Bytes,
    sender_size: *mut u32,
) -> isize {
    fix_arguments(take(own!(__plx_m___recvfrom_chk)), descriptor, to, size);
    // SAFETY: the program's own call.
    unsafe {
        let count = __recvfrom_chk(descriptor, to, size, room, flags, sender, sender_size);
        received(descriptor, to, size, count, flags);
        if count >= 0 {
            clear_address(sender, sender_size);
        }
        give(own!(__plx_m___recvfrom_chk), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_recvmsg(
    descriptor: i32,
    message: *mut Message,
    flags: i32,
) -> isize {
    let [ldescriptor] = take::<1>(own!(__plx_m_recvmsg));
    fix(ldescriptor, descriptor as u32 as u64, Concretized::Argument);
    // SAFETY: the program's own call; the kernel accepted the message.
    unsafe {
        let count = recvmsg(descriptor, message, flags);
        if count >= 0 && is_traced() {
            let Message {
                parts, part_count, ..
            } = *message;
            let parts = match part_count {
                0 => &[],
                count => core::slice::from_raw_parts(parts, count),
            };
            let room = parts
                .iter()
                .fold(0, |sum: usize, part| sum.saturating_add(part.size));
            let filled = count.min(isize::try_from(room).unwrap_or(isize::MAX));
            arrived(descriptor, parts, filled, position(flags));
            let Message {
                name,
                name_size,
                control,
                control_size,
                ..
            } = *message;
            if !name.is_null() {
                shadow::clear(name as u64, name_size.into());
            }
            if !control.is_null() {
                shadow::clear(control as u64, control_size as u64);
            }
            shadow::clear(message as u64, size_of::<Message>() as u64);
        }
        give(own!(__plx_m_recvmsg), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_accept(descriptor: i32, peer: Bytes, size: *mut u32) -> i32 {
    take::<3>(own!(__plx_m_accept));
    // SAFETY: the program's own call.
    unsafe {
        let accepted = accept(descriptor, peer, size);
        if accepted >= 0 {
            clear_address(peer, size);
        }
        give(own!(__plx_m_accept), 0);
        accepted
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_accept4(
    descriptor: i32,
    peer: Bytes,
    size: *mut u32,
    flags: i32,
) -> i32 {
    take::<4>(own!(__plx_m_accept4));
    // SAFETY: the program's own call.
    unsafe {
        let accepted = accept4(descriptor, peer, size, flags);
        if accepted >= 0 {
            clear_address(peer, size);
        }
        give(own!(__plx_m_accept4), 0);
        accepted
    }
}

/// Two descriptors that the program made to talk to itself.
unsafe fn made(pair: *const i32) {
    if !is_traced() {
        return;
    }
    // SAFETY: the kernel filled the pair.
    unsafe {
        shadow::clear(pair as u64, 8);
        let (one, other) = (*pair, *pair.add(1));
        events::with_core(|core| {
            core.inputs.add_own(one);
            core.inputs.add_own(other);
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_pipe(to: *mut i32) -> i32 {
    take::<1>(own!(__plx_m_pipe));
    // SAFETY: the program's own call.
    unsafe {
        let status = pipe(to);
        if status == 0 {
            made(to);
        }
        give(own!(__plx_m_pipe), 0);
        status
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_pipe2(to: *mut i32, flags: i32) -> i32 {
    let [_, lflags] = take::<2>(own!(__plx_m_pipe2));
    fix(lflags, flags as u32 as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        let status = pipe2(to, flags);
        if status == 0 {
            made(to);
        }
        give(own!(__plx_m_pipe2), 0);
        status
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_socketpair(
    domain: i32,
    kind: i32,
    protocol: i32,
    to: *mut i32,
) -> i32 {
    take::<4>(own!(__plx_m_socketpair));
    // SAFETY: the program's own call.
    unsafe {
        let status = socketpair(domain, kind, protocol, to);
        if status == 0 {
            made(to);
        }
        give(own!(__plx_m_socketpair), 0);
        status
    }
}

/// What a command that the program itself started says is no input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_popen(command: *const u8, mode: *const u8) -> Bytes {
    let [lcommand, _] = take::<2>(own!(__plx_m_popen));
    fix(lcommand, command as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        let file = popen(command, mode);
        if !file.is_null() {
            let descriptor = fileno(file);
            events::with_core(|core| core.inputs.add_own(descriptor));
        }
        give(own!(__plx_m_popen), 0);
        file
    }
}
