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
        loop {
            let mut missing = 0;
            let mut frame = innermost;
            while !frame.is_null() && (*frame).context == 0 {
                batch[missing % BATCH] = frame;
                missing += 1;
                frame = (*frame).previous;
            }
            if missing == 0 {
                return (*innermost).context;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lock, testing};

    #[test]
    fn a_deep_stack_has_the_same_context_whenever_it_is_looked_at() {
        let _guard = testing::set_up();
        let frame = Frame {
            previous: core::ptr::null_mut(),
            call_site: 0,
            context: 0,
            kind: 0,
        };
        let chain = || -> Vec<Frame> {
            let mut frames: Vec<Frame> = (0..1000u64)
                .map(|depth| Frame {
                    call_site: 7000 + depth % 3,
                    ..Frame { ..frame }
                })
                .collect();
            for depth in 1..frames.len() {
                frames[depth].previous = &raw mut frames[depth - 1];
            }
            frames
        };
        let mut core = lock::enter().expect("not inside");
        let mut at_once = chain();
        let mut step_by_step = chain();
        // SAFETY: the frames live until the end.
        unsafe {
            let context = resolve(&mut core, &raw mut at_once[999]);
            for depth in (0..1000).step_by(100) {
                resolve(&mut core, &raw mut step_by_step[depth]);
            }
            assert_eq!(resolve(&mut core, &raw mut step_by_step[999]), context);
            assert_eq!(at_once[0].context, ROOT_CONTEXT);
            assert_eq!(trace::context(context).parent, at_once[998].context);
            assert_eq!(trace::context(context).site, at_once[998].call_site);
        }
    }
}
