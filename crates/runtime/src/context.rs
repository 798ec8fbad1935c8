//! Calling contexts: the chain of frames as a hash-consed id.
//!
//! The context of an activation is (context of the caller's activation, site of
//! the call in the caller); it is cached in the activation's own frame, so that
//! an event costs one look, whatever the depth of the stack.

use crate::core_state::Core;
use crate::{hash, tls, trace};
use parallax_abi::tls::Frame;
use parallax_abi::trace::{Context, Stop};
use trace::ROOT_CONTEXT;

/// Frames resolved in one walk down the stack.
const BATCH: usize = 64;

/// Context of this thread's innermost activation.
#[inline]
pub fn current(core: &mut Core) -> u32 {
    // SAFETY: the protocol keeps `frame` null or pointing to a live chain.
    unsafe {
        let frame = (*tls::protocol()).frame;
        if frame.is_null() {
            return ROOT_CONTEXT;
        }
        match (*frame).context {
            0 => resolve(core, frame),
            context => context,
        }
    }
}

/// Fills in the missing contexts from the outside in. Without memory of our own to
/// remember a long chain, it is walked again for each batch.
#[cold]
unsafe fn resolve(core: &mut Core, innermost: *mut Frame) -> u32 {
    let mut batch = [core::ptr::null_mut::<Frame>(); BATCH];
    // SAFETY: frames are live up the chain, ended by null.
    unsafe {
        while (*innermost).context == 0 {
            let mut missing = 0;
            let mut frame = innermost;
            while !frame.is_null() && (*frame).context == 0 {
                batch[missing % BATCH] = frame;
                missing += 1;
                frame = (*frame).previous;
            }
            for at in (missing.saturating_sub(BATCH)..missing).rev() {
                let frame = batch[at % BATCH];
                let outer = (*frame).previous;
                (*frame).context = if outer.is_null() {
                    ROOT_CONTEXT
                } else {
                    step(core, (*outer).context, (*outer).call_site)
                };
            }
        }
        (*innermost).context
    }
}

/// The context one call below `parent`.
fn step(core: &mut Core, parent: u32, site: u64) -> u32 {
    let key = hash::pair(site, parent.into());
    let matches = |index: u32| {
        let known = trace::context(index);
        known.parent == parent && known.site == site
    };
    if let Some(index) = core.contexts.find(key, matches) {
        return index;
    }
    let Some(index) = trace::add_context(Context {
        parent,
        padding: 0,
        site,
    }) else {
        return ROOT_CONTEXT;
    };
    if !core.contexts.insert(key, index) {
        trace::stop(Stop::Memory);
    }
    index
}
