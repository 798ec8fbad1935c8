//! Makes a directory list its entries in a given order.
//!
//! Programs that walk through directories show that order, and every file system has its own. Those in memory list by age, so
//! renaming an entry moves it to one end. Where that does not help, the order stays what it is: it is
//! nobody's promise.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use parallax_scenario::Bytes;

/// Whether the newest entry comes first, as far as was seen.
static IS_NEWEST_FIRST: AtomicBool = AtomicBool::new(true);

/// No scenario has this name: files are renamed to it and back.
const ASIDE: &str = ".parallax-order";

/// Arranges the entries of a directory.
pub(super) fn arrange(directory: &Path, names: &[Bytes]) -> io::Result<()> {
    let is_there = |name: &&Bytes| fs::symlink_metadata(directory.join(name.as_os_str())).is_ok();
    let wanted: Vec<&Bytes> = names.iter().filter(is_there).collect();
    if listed(directory, &wanted)? == wanted {
        return Ok(());
    }
    let is_newest_first = IS_NEWEST_FIRST.load(Ordering::Relaxed);
    rename_all(directory, &wanted, is_newest_first)?;
    let mut now = listed(directory, &wanted)?;
    now.reverse();
    if wanted.len() > 1 && now == wanted {
        IS_NEWEST_FIRST.store(!is_newest_first, Ordering::Relaxed);
        rename_all(directory, &wanted, !is_newest_first)?;
    }
    Ok(())
}

/// Renames the entries one after the other, so that each is newer than the one before.
fn rename_all(directory: &Path, names: &[&Bytes], last_first: bool) -> io::Result<()> {
    let aside = directory.join(ASIDE);
    let renew = |name: &&Bytes| {
        let path = directory.join(name.as_os_str());
        fs::rename(&path, &aside)?;
        fs::rename(&aside, &path)
    };
    match last_first {
        true => names.iter().rev().try_for_each(renew),
        false => names.iter().try_for_each(renew),
    }
}

/// Those of some names that a directory has, as it lists them.
fn listed<'n>(directory: &Path, names: &[&'n Bytes]) -> io::Result<Vec<&'n Bytes>> {
    let mut sorted = names.to_vec();
    sorted.sort();
    let mut listed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let place = sorted.binary_search_by(|other| other.as_slice().cmp(name.as_bytes()));
        listed.extend(place.ok().map(|place| sorted[place]));
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_the_order_that_is_asked_for() {
        // Only file systems in memory have an order that can be chosen.
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let names: Vec<Bytes> = ["d", "a", "e", "b", "c"].map(Bytes::from).into();
        for name in ["a", "b", "c", "d", "e"] {
            fs::write(directory.path().join(name), name).unwrap();
        }
        let gone = [names.clone(), vec!["gone".into()]].concat();
        for wanted in [gone, names.iter().rev().cloned().collect()] {
            arrange(directory.path(), &wanted).unwrap();
            let wanted: Vec<&Bytes> = wanted
                .iter()
                .filter(|name| **name != "gone".into())
                .collect();
            assert_eq!(listed(directory.path(), &wanted).unwrap(), wanted);
        }
        let text = fs::read(directory.path().join("e")).unwrap();
        assert_eq!(text, b"e");
    }
}
