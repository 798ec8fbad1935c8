//! Memory objects: whose bounds does an address belong to?
//!
//! Looked up when a symbolic address is first derived from a concrete pointer:
//! stack objects of this thread, globals of instrumented modules, program
//! arguments, libc's character tables, heap objects; otherwise the object is unknown
//! and its bounds are never checked.

use crate::buffer::Buffer;
use crate::core_state::Core;
use crate::map::Map;
use crate::{hash, heap, loss, stack, trace};
use parallax_abi::entry::Global as GlobalRecord;
use parallax_abi::trace::{Object, ObjectKind};

#[derive(Clone, Copy)]
struct Module {
    globals: *const GlobalRecord,
    count: usize,
}

/// Bounds of a global or of an argument string.
#[derive(Clone, Copy)]
struct Named {
    base: u64,
    size: u64,
    /// C string, or 0.
    name: u64,
    kind: ObjectKind,
}

pub struct Objects {
    /// Objects with a record, by (base, size, kind).
    records: Map,
    modules: Buffer<Module>,
    /// Globals and arguments, sorted by address once they are asked for.
    named: Buffer<Named>,
    needs_sorting: bool,
    arguments: Buffer<Named>,
}

/// What an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub base: u64,
    pub size: u64,
    pub kind: ObjectKind,
    name: u64,
}

impl Found {
    /// What there is of a known object from an address on.
    pub fn from(self, address: u64) -> Found {
        let passed = address.wrapping_sub(self.base);
        match self.kind {
            ObjectKind::Unknown => self,
            _ if passed > self.size => self,
            _ => Found {
                base: address,
                size: self.size - passed,
                ..self
            },
        }
    }

    fn unnamed(base: u64, size: u64, kind: ObjectKind) -> Found {
        Found {
            base,
            size,
            kind,
            name: 0,
        }
    }
}

const UNKNOWN_BYTES: u64 = 256;

unsafe extern "C" {
    fn __ctype_b_loc() -> *const *const u16;
    fn __ctype_tolower_loc() -> *const *const i32;
    fn __ctype_toupper_loc() -> *const *const i32;
}

impl Objects {
    pub const fn new() -> Objects {
        Objects {
            records: Map::new(),
            modules: Buffer::new(),
            named: Buffer::new(),
            needs_sorting: false,
            arguments: Buffer::new(),
        }
    }

    /// Registers a module's globals; they are looked at when first needed.
    pub fn add_module(&mut self, globals: *const GlobalRecord, count: usize) {
        self.modules.push(Module { globals, count });
        self.needs_sorting = true;
    }

    /// Registers an argument or environment string, terminator included, or the vector of
    /// arguments.
    pub fn add_argument(&mut self, base: u64, size: u64) {
        self.arguments.push(Named {
            base,
            size,
            name: 0,
            kind: ObjectKind::Argument,
        });
        self.needs_sorting = true;
    }

    fn sort(&mut self) {
        self.named.clear();
        for module in self.modules.as_slice() {
            // SAFETY: the plug-in emits that many records, for the module's life.
            let globals = unsafe { core::slice::from_raw_parts(module.globals, module.count) };
            for global in globals.iter().filter(|global| global.size > 0) {
                let GlobalRecord { base, size, name } = *global;
                self.named.push(Named {
                    base,
                    size,
                    name,
                    kind: ObjectKind::Global,
                });
            }
        }
        for argument in self.arguments.as_slice() {
            self.named.push(*argument);
        }
        self.named
            .as_mut_slice()
            .sort_unstable_by_key(|named| named.base);
        self.needs_sorting = false;
    }

    fn find_named(&mut self, address: u64) -> Option<Found> {
        if self.needs_sorting {
            self.sort();
        }
        let named = self.named.as_slice();
        let after = named.partition_point(|named| named.base <= address);
        let Named {
            base,
            size,
            name,
            kind,
        } = *named.get(after.checked_sub(1)?)?;
        (address <= base + size).then_some(Found {
            base,
            size,
            kind,
            name,
        })
    }

    /// What contains `address`, or ends there.
    pub fn find(&mut self, address: u64) -> Found {
        if let Some((base, size)) = stack::find(address) {
            return Found::unnamed(base, size, ObjectKind::Stack);
        }
        if let Some(found) = self.find_named(address) {
            return found;
        }
        if let Some((base, size)) = find_ctype(address) {
            return Found::unnamed(base, size, ObjectKind::Library);
        }
        // SAFETY: the tables are reserved whenever tracing is active.
        if let Some((base, size)) = unsafe { heap::find(address) } {
            return Found::unnamed(base, size, ObjectKind::Heap);
        }
        Found::unnamed(
            address & !(UNKNOWN_BYTES - 1),
            UNKNOWN_BYTES,
            ObjectKind::Unknown,
        )
    }
}

/// libc's character classification tables can be indexed from -128 to 255.
fn find_ctype(address: u64) -> Option<(u64, u64)> {
    const BEFORE: u64 = 128;
    const ENTRIES: u64 = 384;
    // SAFETY: these functions return a pointer to this thread's table pointer.
    let tables = unsafe {
        [
            (*__ctype_b_loc() as u64, 2),
            (*__ctype_tolower_loc() as u64, 4),
            (*__ctype_toupper_loc() as u64, 4),
        ]
    };
    tables.into_iter().find_map(|(origin, entry)| {
        let base = origin.wrapping_sub(BEFORE * entry);
        let size = ENTRIES * entry;
        (address.wrapping_sub(base) <= size).then_some((base, size))
    })
}

/// Index of the trace's record of an object; 0 if there is no room.
pub fn record(core: &mut Core, found: Found) -> u32 {
    let Found {
        base,
        size,
        kind,
        name,
    } = found;
    let kind = kind as u32;
    let key = hash::words(&[base, size, kind.into()]);
    let matches = |index: u32| {
        let known = trace::object(index);
        known.base == base && known.size == size && known.kind == kind
    };
    if let Some(index) = core.objects.records.find(key, matches) {
        return index;
    }
    // SAFETY: names of globals are C strings of the module.
    let text = unsafe { loss::name_of(name as *const u8) };
    let (name, name_length) = match text {
        [] => (0, 0),
        text => match trace::blob(text, 1) {
            Some(offset) => (offset, text.len() as u32),
            None => return 0,
        },
    };
    let Some(index) = trace::add_object(Object {
        base,
        size,
        kind,
        name_length,
        name,
    }) else {
        return 0;
    };
    core.objects.records.insert(key, index);
    index
}

/// Whether an object that was recorded is still there to be read.
pub fn is_alive(object: &Object) -> bool {
    if object.kind == ObjectKind::Heap as u32 {
        // SAFETY: the tables are reserved whenever tracing is active.
        return unsafe { heap::size_at(object.base) } == Some(object.size);
    }
    object.kind != ObjectKind::Unknown as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lock, testing};

    #[test]
    fn globals_strings_and_character_tables_are_found_by_interior_pointers() {
        let _guard = testing::set_up();
        let mut objects = Objects::new();
        let name = c"counter".as_ptr() as u64;
        let globals = [
            GlobalRecord {
                base: 0x40_0100,
                size: 16,
                name,
            },
            GlobalRecord {
                base: 0x40_0000,
                size: 32,
                name: 0,
            },
        ];
        objects.add_module(globals.as_ptr(), globals.len());
        objects.add_argument(0x40_0200, 6);
        assert_eq!(objects.find(0x40_0108).base, 0x40_0100);
        assert_eq!(objects.find(0x40_0020).base, 0x40_0000, "one past the end");
        assert_eq!(objects.find(0x40_0050).kind, ObjectKind::Unknown);
        assert_eq!(objects.find(0x40_0203).kind, ObjectKind::Argument);
        // SAFETY: returns this thread's table.
        let classes = unsafe { *__ctype_b_loc() } as u64;
        let found = objects.find(classes);
        assert_eq!(
            (found.kind, found.base, found.size),
            (ObjectKind::Library, classes - 256, 768)
        );
    }

    #[test]
    fn an_object_has_one_record() {
        let _guard = testing::set_up();
        let mut core = lock::enter().expect("not inside");
        let found = Found::unnamed(0x50_0000, 8, ObjectKind::Heap);
        let index = record(&mut core, found);
        assert_ne!(index, 0);
        assert_eq!(record(&mut core, found), index);
        let larger = Found { size: 9, ..found };
        assert_ne!(record(&mut core, larger), index);
    }
}
