//! The object that a link carries its record in.

use super::Job;
use super::descriptors::{memory_file, path_for_children};
use crate::elf;
use crate::store::Store;
use crate::tools::clang;
use parallax_record::{Kind, LinkRecord, encode};
use std::io;
use std::os::fd::IntoRawFd;
use std::path::PathBuf;

/// Variables that change what the driver or the linker does.
const ENVIRONMENT: &[&str] = &[
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "GNUTARGET",
    "LDEMULATION",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "CCC_OVERRIDE_OPTIONS",
];

/// Makes the object; returns a path that stays good while clang runs.
pub fn object(job: &Job) -> io::Result<PathBuf> {
    let directory = PathBuf::from(&job.invocation.directory);
    let output = directory.join(job.analysis.output.as_deref().unwrap_or("a.out"));
    let record = LinkRecord {
        link: job.invocation.clone(),
        output: output.to_string_lossy().into_owned(),
        environment: ENVIRONMENT
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect(),
        inputs: job.link_inputs(),
    };
    let records = encode(Kind::Link, &record, b"").map_err(io::Error::other)?;
    let object = if job.analysis.other_target {
        assemble(job, &records)?
    } else {
        elf::object(&records)
    };
    if let Some(path) = Store::open().and_then(|store| store.put_object(&object).ok()) {
        return Ok(path);
    }
    let file = memory_file(&object)?;
    let path = path_for_children(&file).ok_or_else(|| {
        io::Error::other("the capture store cannot be written, and /proc is missing")
    })?;
    // Stays open: clang and the linker inherit it.
    let _ = file.into_raw_fd();
    Ok(path)
}

/// The same object for another target, made by that target's assembler.
fn assemble(job: &Job, records: &[u8]) -> io::Result<Vec<u8>> {
    let scratch = tempfile::tempdir()?;
    let (data, source, object) = (
        scratch.path().join("records"),
        scratch.path().join("link.s"),
        scratch.path().join("link.o"),
    );
    std::fs::write(&data, records)?;
    std::fs::write(
        &source,
        format!(
            ".section {},\"R\",@progbits\n.p2align 4\n.incbin \"{}\"\n.section .note.GNU-stack,\"\",@progbits\n",
            parallax_record::SECTION,
            data.display()
        ),
    )?;
    let output = clang(job.compiler)
        .map_err(io::Error::other)?
        .args(crate::arguments::for_bitcode(&job.items))
        .args(["-w", "-c", "-x", "assembler"])
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    std::fs::read(object)
}
