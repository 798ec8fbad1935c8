//! The tool that is tried: the release binaries of `make build`, or what `PARALLAX` names.

use std::path::PathBuf;

use parallax_torture::trial::Tool;

pub fn tool() -> Tool {
    let parallax = match std::env::var_os("PARALLAX") {
        Some(path) => PathBuf::from(path),
        None => {
            let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
                || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"),
                PathBuf::from,
            );
            target.join("release/parallax")
        }
    };
    let parallax = std::fs::canonicalize(&parallax)
        .unwrap_or_else(|_| panic!("{} is missing: run `make build` first", parallax.display()));
    Tool::new(parallax)
}
