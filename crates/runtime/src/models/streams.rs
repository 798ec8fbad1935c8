//! stdio input: labels of the buffer of a `FILE`.
//!
//! All of stdio input rests on one mechanism: whenever a stream's buffer is filled, the
//! buffer's bytes are labelled; everything else is copying from the buffer,
//! with labels, by models in C and by code that glibc's headers inline into the program. Filling
//! happens in `__underflow` and `__uflow`, and when a stream is repositioned.
//!
//! The layout of `FILE` is part of glibc's ABI: its own macros have been inlined
//! into programs for decades.

use super::{call_site, fix, give, own, take};
use crate::core_state::Core;
use crate::inputs::{self, Stream};
use crate::{events, loss, nodes, shadow, trace};
use parallax_abi::trace::{Concretized, LossKind};
use parallax_expr::build;

/// The beginning of glibc's `struct _IO_FILE`.
#[repr(C)]
pub struct File {
    flags: i32,
    read_ptr: *mut u8,
    read_end: *mut u8,
    read_base: *mut u8,
    write_base: *mut u8,
    write_ptr: *mut u8,
    write_end: *mut u8,
    buf_base: *mut u8,
    buf_end: *mut u8,
    save_base: *mut u8,
    backup_base: *mut u8,
    save_end: *mut u8,
    markers: *mut u8,
    chain: *mut File,
    descriptor: i32,
    flags2: i32,
    old_offset: i64,
    column: u16,
    vtable_offset: i8,
    short_buffer: [u8; 1],
    lock: *mut u8,
    offset: i64,
    codecvt: *mut u8,
    wide_data: *mut u8,
    freeres_list: *mut u8,
    freeres_buffer: *mut u8,
    pad: usize,
    /// Positive once the stream is wide oriented.
    mode: i32,
}

const _: () = assert!(core::mem::offset_of!(File, descriptor) == 112);
const _: () = assert!(core::mem::offset_of!(File, mode) == 192);

/// Reading from the characters pushed back, not from the buffer.
const IN_BACKUP: i32 = 0x100;
/// The end of the file was met.
const SEEN_END: i32 = 0x10;
const EOF: i32 = -1;

unsafe extern "C" {
    fn __underflow(file: *mut File) -> i32;
    fn fseek(file: *mut File, offset: i64, whence: i32) -> i32;
    fn fseeko(file: *mut File, offset: i64, whence: i32) -> i32;
    fn fsetpos(file: *mut File, position: *const u8) -> i32;
    fn rewind(file: *mut File);
    fn ungetc(byte: i32, file: *mut File) -> i32;
    fn fclose(file: *mut File) -> i32;
    fn freopen(path: *const u8, mode: *const u8, file: *mut File) -> *mut File;
}

/// Makes at least one byte available and labels what came in; `wanted` is what the program asked for.
unsafe fn fill(file: *mut File, wanted: u64) -> i32 {
    // SAFETY: the program's own stream.
    unsafe {
        let stream = &*file;
        let in_main = stream.flags & IN_BACKUP == 0 || stream.save_base >= stream.save_end;
        let is_empty = stream.read_ptr >= stream.read_end;
        let byte = __underflow(file);
        if !trace::active() {
            return byte;
        }
        if byte == EOF {
            if (*file).flags & SEEN_END != 0 {
                events::with_core(|core| note_end(core, file, wanted));
            }
        } else if in_main && is_empty {
            events::with_core(|core| label_new_contents(core, file));
        }
        byte
    }
}

/// The end of the file came before what the program asked for.
unsafe fn note_end(core: &mut Core, file: *mut File, wanted: u64) {
    // SAFETY: the program's own stream.
    let descriptor = unsafe { (*file).descriptor };
    if descriptor < 0 {
        return;
    }
    if let Some(stream) = inputs::stream(core, descriptor)
        && let Some(offset) = stream.offset_of_last(descriptor, 0)
    {
        stream.note_end(core, descriptor, offset, 0, wanted);
    }
}

/// Labels a buffer that was just filled from its start.
unsafe fn label_new_contents(core: &mut Core, file: *mut File) {
    // SAFETY: the program's own stream.
    unsafe {
        if (*file).mode > 0 {
            loss::record(core, LossKind::Stream, 0, b"wide characters");
            return;
        }
        let start = (*file).read_base as u64;
        let count = ((*file).read_end as u64).saturating_sub(start);
        let descriptor = (*file).descriptor;
        if descriptor < 0 {
            shadow::clear(start, count);
            loss::record(core, LossKind::Stream, 0, b"stream without descriptor");
            return;
        }
        let stream = inputs::stream(core, descriptor);
        match stream.and_then(|stream| Some((stream, stream.offset_of_last(descriptor, count)?))) {
            Some((stream, offset)) => stream.label(core, offset, start, count),
            None => shadow::clear(start, count),
        }
    }
}

/// Labels the buffer of a stream that was repositioned, if that changed its contents.
unsafe fn repositioned(file: *mut File) {
    // SAFETY: the program's own stream.
    unsafe {
        if trace::active() && (*file).mode > 0 {
            forget_characters(file);
            return;
        }
        if !trace::active() || (*file).read_end <= (*file).buf_base {
            return;
        }
        let start = (*file).buf_base as u64;
        let count = (*file).read_end as u64 - start;
        let descriptor = (*file).descriptor;
        events::with_core(|core| {
            let Some(stream) = inputs::stream(core, descriptor).filter(|s| s.is_regular()) else {
                return shadow::clear(start, count);
            };
            let Some(offset) = stream.offset_of_last(descriptor, count) else {
                return shadow::clear(start, count);
            };
            // Every byte: a shorter read may have replaced the middle of what was there.
            let same = (0..count).all(|at| is_labelled_as(stream, start + at, offset + at));
            if !same {
                stream.label(core, offset, start, count);
            }
        });
    }
}

/// A wide stream was repositioned: libc may have put characters into its buffer that nobody
/// labelled.
unsafe fn forget_characters(file: *mut File) {
    // SAFETY: the program's own wide stream; glibc keeps these pointers first of all.
    unsafe {
        let [next, end, _] = *(*file).wide_data.cast::<[u64; 3]>();
        if next < end {
            shadow::clear(next, end - next);
            events::with_core(|core| {
                if inputs::stream(core, (*file).descriptor).is_some() {
                    loss::record(core, LossKind::Stream, call_site(), b"wide characters");
                }
            });
        }
    }
}

/// Whether a byte carries the label of that input byte.
unsafe fn is_labelled_as(stream: Stream, address: u64, offset: u64) -> bool {
    // SAFETY: the tables are reserved.
    let word = unsafe { shadow::label_words(address, 1)[0] };
    let node = trace::node(word >> parallax_abi::layout::LABEL_BYTE_BITS);
    node.op == parallax_abi::Op::Input as u8
        && node.a == stream.source()
        && u64::from(node.b) | u64::from(node.c) << 32 == offset
}

/// Label of a byte as the `int` that stdio returns.
unsafe fn as_int(address: *const u8) -> u32 {
    // SAFETY: a byte of the stream's buffer.
    let byte = unsafe { shadow::load(address as u64, 1, 0) };
    let mut label = 0;
    if byte != 0 {
        events::with_core(|core| {
            let wide = build::zext(&mut core.nodes, byte, 32);
            label = nodes::finish(core, wide, 0);
        });
    }
    label
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___underflow(file: *mut File) -> i32 {
    take::<1>(own!(__plx_m___underflow));
    // SAFETY: the program's own call.
    unsafe {
        let byte = fill(file, 1);
        let label = if byte == EOF {
            0
        } else {
            as_int((*file).read_ptr)
        };
        give(own!(__plx_m___underflow), label);
        byte
    }
}

/// For the models in C: makes at least one byte available, because the program asked for so many; 0 at
/// the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_stream_fill(file: *mut File, wanted: usize) -> u32 {
    // SAFETY: the program's own stream.
    unsafe { u32::from(fill(file, wanted as u64) != EOF) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___uflow(file: *mut File) -> i32 {
    take::<1>(own!(__plx_m___uflow));
    // SAFETY: the program's own call.
    unsafe {
        let byte = fill(file, 1);
        let mut label = 0;
        if byte != EOF {
            label = as_int((*file).read_ptr);
            (*file).read_ptr = (*file).read_ptr.add(1);
        }
        give(own!(__plx_m___uflow), label);
        byte
    }
}

/// The byte pushed back keeps its label.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_ungetc(byte: i32, file: *mut File) -> i32 {
    let [label, lfile] = take::<2>(own!(__plx_m_ungetc));
    fix(lfile, file as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        let result = ungetc(byte, file);
        let mut returned = 0;
        if result != EOF && trace::active() && (*file).mode <= 0 {
            let place = (*file).read_ptr as u64;
            let mut low = 0;
            if label != 0 {
                events::with_core(|core| {
                    let node = trace::node(label);
                    if node.width == 32 && node.lo == u64::from(byte as u32) {
                        let extracted = build::extract(&mut core.nodes, label, 0, 8);
                        low = nodes::finish(core, extracted, 0);
                    }
                });
            }
            shadow::store(place, 1, low);
            returned = as_int((*file).read_ptr);
        }
        give(own!(__plx_m_ungetc), returned);
        result
    }
}

macro_rules! seek {
    ($model:ident, $real:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $model(file: *mut File, offset: i64, whence: i32) -> i32 {
            let [lfile, loffset, lwhence] = take::<3>(own!($model));
            fix(lfile, file as u64, Concretized::Argument);
            fix(loffset, offset as u64, Concretized::Argument);
            fix(lwhence, whence as u32 as u64, Concretized::Argument);
            // SAFETY: the program's own call.
            unsafe {
                let status = $real(file, offset, whence);
                repositioned(file);
                give(own!($model), 0);
                status
            }
        }
    };
}
seek!(__plx_m_fseek, fseek);
seek!(__plx_m_fseeko, fseeko);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_fsetpos(file: *mut File, position: *const u8) -> i32 {
    take::<2>(own!(__plx_m_fsetpos));
    // SAFETY: the program's own call.
    unsafe {
        let status = fsetpos(file, position);
        repositioned(file);
        give(own!(__plx_m_fsetpos), 0);
        status
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_rewind(file: *mut File) {
    take::<1>(own!(__plx_m_rewind));
    // SAFETY: the program's own call.
    unsafe {
        rewind(file);
        repositioned(file);
    }
    give(own!(__plx_m_rewind), 0);
}

/// The buffer goes back to libc's allocator, whose next owner may be libc itself: nothing
/// must be found there.
unsafe fn abandon_buffer(file: *mut File) {
    if trace::header().is_none() {
        return;
    }
    // SAFETY: the program's own stream.
    unsafe {
        let (start, end) = ((*file).buf_base as u64, (*file).buf_end as u64);
        shadow::clear(start, end.saturating_sub(start));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_fclose(file: *mut File) -> i32 {
    take::<1>(own!(__plx_m_fclose));
    // SAFETY: the program's own call.
    unsafe {
        abandon_buffer(file);
        let status = fclose(file);
        give(own!(__plx_m_fclose), 0);
        status
    }
}

/// `freopen`, for its model in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_reopen(
    path: *const u8,
    mode: *const u8,
    file: *mut File,
) -> *mut File {
    // SAFETY: the program's own call.
    unsafe {
        abandon_buffer(file);
        freopen(path, mode, file)
    }
}

/// Called by the models in C after the real function has read from the stream on
/// its own: the buffer may hold something else than its labels say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_stream_touched(file: *mut File, function: *const u8) {
    if !trace::active() {
        return;
    }
    // SAFETY: the program's own stream; the name is a C string.
    unsafe {
        let name = loss::name_of(function);
        events::with_core(|core| {
            let descriptor = (*file).descriptor;
            if let Some(stream) = inputs::stream(core, descriptor) {
                loss::record(core, LossKind::Stream, call_site(), name);
                if !stream.is_regular() {
                    // Nobody counted what was taken: offsets are unknown from here on.
                    core.inputs.lose(stream);
                }
            }
        });
        repositioned(file);
    }
}

/// Nothing more came into a wide stream's buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_stream_ended(file: *mut File) {
    // SAFETY: the program's own stream.
    unsafe {
        if trace::active() && (*file).flags & SEEN_END != 0 {
            events::with_core(|core| note_end(core, file, 1));
        }
    }
}

/// Labels the bytes of a wide stream's buffer after libc has refilled it. `kept` bytes, the
/// beginning of a character, were moved to the buffer's start before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_stream_refilled(file: *mut File, kept: u64) {
    if !trace::active() {
        return;
    }
    // SAFETY: the program's own stream.
    unsafe {
        let start = (*file).buf_base as u64;
        let count = ((*file).read_end as u64).saturating_sub(start);
        let descriptor = (*file).descriptor;
        events::with_core(|core| {
            let new = count.saturating_sub(kept);
            let place = inputs::stream(core, descriptor).and_then(|stream| {
                let offset = stream.offset_of_last(descriptor, new)?;
                Some((stream, offset.checked_sub(kept)?))
            });
            match place {
                Some((stream, offset)) => stream.label(core, offset, start, count),
                None => shadow::clear(start, count),
            }
        });
    }
}

/// Whether the stream carries symbolic bytes, so that it pays to go through the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_stream_is_symbolic(file: *mut File) -> u32 {
    let mut symbolic = false;
    // SAFETY: the program's own stream.
    unsafe {
        if (*file).mode <= 0 && (*file).descriptor >= 0 {
            events::with_core(|core| {
                symbolic = inputs::stream(core, (*file).descriptor).is_some();
            });
        }
    }
    symbolic.into()
}
