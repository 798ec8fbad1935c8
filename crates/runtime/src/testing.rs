//! What unit tests share: the tables and a private trace in the test process.

use crate::{inputs, lock, private, start, trace};
use parallax_expr::build;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Sets the process up once and keeps other tests of this kind out.
pub fn set_up() -> MutexGuard<'static, ()> {
    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        start::reserve_tables().expect("the tables can be reserved");
        private::create().expect("a private trace can be made");
        lock::set_up(std::process::id());
        trace::announce_process(std::process::id(), false);
    });
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Label of an input byte with this value.
pub fn input(offset: u64, value: u8) -> u32 {
    let mut core = lock::enter().expect("not inside");
    build::input(&mut core.nodes, 7, offset << 8 | u64::from(value), value)
}

/// Labels memory as input.
pub fn label(bytes: &[u8], offset: u64) {
    let mut core = lock::enter().expect("not inside");
    let (address, count) = (bytes.as_ptr() as u64, bytes.len() as u64);
    // SAFETY: a slice can be read.
    unsafe { inputs::label_bytes(&mut core, 1_000, offset, address, count) };
}

/// A small generator of numbers for tests.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
