//! The store that belongs to where the user is, and programs by the names that they have in it.

use std::path::{Component, Path, PathBuf};

use parallax_scenario::Bytes;
use parallax_store::{Origin, Store};

use crate::failure::Failure;

/// What the project or the user gave: explorations start from it, and it is what covered code is covered by.
pub const SEEDS: [Origin; 3] = [Origin::Recorded, Origin::Added, Origin::Imported];
/// What is worth listing: also inputs that were made because they cover something, or show a difference between versions.
pub const KEPT: [Origin; 5] = [
    Origin::Recorded,
    Origin::Added,
    Origin::Imported,
    Origin::Covering,
    Origin::Diverging,
];
/// How much of a scenario's name is shown: enough to tell apart what one project has.
pub const SHOWN_ID: usize = 12;

/// Marks the top of a project.
const PROJECT: &str = "parallax.toml";

/// Where Parallax keeps what it knows: `.parallax` at the top of the project, or here.
pub fn directory() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let top = here.ancestors().find(|path| path.join(PROJECT).is_file());
    match top {
        Some(top) if top != here => top.join(".parallax"),
        // Relative paths read better.
        _ => PathBuf::from(".parallax"),
    }
}

/// Opens the store, making it if need be.
pub fn open() -> Result<Store, Failure> {
    Ok(Store::open(&directory())?)
}

/// Opens the store if there is one.
pub fn open_existing() -> Result<Option<Store>, Failure> {
    Ok(Store::open_existing(&directory())?)
}

/// The name of a program in the store: one that is known and that its path ends with, else its path from
/// here.
pub fn program_name(store: &Store, path: &Path) -> Result<Bytes, Failure> {
    let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
    let mut known = store.programs()?;
    known.retain(|name| absolute.ends_with(Path::new(name.as_os_str())));
    if let Some(name) = known.into_iter().max_by_key(|name| name.len()) {
        return Ok(name);
    }
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let plain: PathBuf = parts.collect();
    Ok(plain.as_os_str().as_encoded_bytes().into())
}
