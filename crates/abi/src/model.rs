//! The libc functions that have a model in the traced program.
//!
//! The plug-in replaces every use of such a function (calls and function pointers alike) by
//! `__plx_m_<model>`, unless the module defines it itself; when another part
//! of the program defines it, the relink maps the model back to that
//! definition. Several symbols can share one model: glibc's headers rename
//! functions depending on language standard and fortification.

/// `(symbol, model)`: uses of `symbol` become uses of `__plx_m_<model>`. Sorted by symbol.
pub const MODELS: &[(&str, &str)] = &[
    ("__memcpy_chk", "__memcpy_chk"),
    ("__memmove_chk", "__memmove_chk"),
    ("__memset_chk", "__memset_chk"),
    ("__uflow", "__uflow"),
    ("__underflow", "__underflow"),
    ("calloc", "calloc"),
    ("free", "free"),
    ("malloc", "malloc"),
    ("memcpy", "memcpy"),
    ("memmove", "memmove"),
    ("memset", "memset"),
    ("read", "read"),
    ("realloc", "realloc"),
];

/// The model that uses of `symbol` are bound to.
pub fn model_of(symbol: &str) -> Option<&'static str> {
    let at = MODELS.binary_search_by_key(&symbol, |(name, _)| name).ok()?;
    Some(MODELS[at].1)
}
