//! What objects define and ask for.

use super::DeriveError;
use super::compile::VariantObject;
use crate::inputs::map;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::Path;

/// Prefix of every symbol of the runtime and the models.
const RUNTIME_PREFIX: &str = "__plx_";

/// Names of functions and variables that the objects define for others.
pub fn defined(objects: &[VariantObject]) -> Result<BTreeSet<String>, DeriveError> {
    collect(objects, |symbol| {
        symbol.is_definition() && symbol.is_global()
    })
}

/// Symbols of the runtime that the objects use but do not define.
pub fn wanted_from_runtime(objects: &[VariantObject]) -> Result<Vec<String>, DeriveError> {
    let wanted = collect(objects, |symbol| symbol.is_undefined())?;
    Ok(wanted
        .into_iter()
        .filter(|name| name.starts_with(RUNTIME_PREFIX))
        .collect())
}

fn collect(
    objects: &[VariantObject],
    wanted: impl Fn(&object::Symbol<'_, '_>) -> bool,
) -> Result<BTreeSet<String>, DeriveError> {
    let mut names = BTreeSet::new();
    for variant_object in objects {
        let unreadable = || DeriveError::Io {
            path: variant_object.path.clone(),
            error: std::io::Error::other("cached object cannot be read; remove it"),
        };
        let bytes = map(&variant_object.path).ok_or_else(unreadable)?;
        let file = object::File::parse(&*bytes).map_err(|_| unreadable())?;
        let symbols = file.symbols().filter(|symbol| wanted(symbol));
        names.extend(symbols.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())));
    }
    Ok(names)
}

/// The name under which programs look for this shared library; `None` for programs.
pub fn soname(path: &Path) -> Option<String> {
    use object::elf;
    use object::read::elf::{Dyn, FileHeader};
    let bytes = map(path)?;
    let header = elf::FileHeader64::<object::Endianness>::parse(&*bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &*bytes).ok()?;
    let (entries, strings) = sections.dynamic(endian, &*bytes).ok()??;
    let strings = sections.strings(endian, &*bytes, strings).ok()?;
    let entry = entries
        .iter()
        .find(|entry| entry.tag(endian) == elf::DT_SONAME)?;
    let name = entry.string(endian, strings).ok()?;
    Some(std::str::from_utf8(name).ok()?.to_owned())
}
