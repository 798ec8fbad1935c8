//! Compiles with the plug-in loaded.

use super::Job;
use super::descriptors::{memory_file, pipe_to_children};
use super::preprocess::Preprocessing;
use crate::arguments::Unit;
use parallax_bundle::Bundle;
use parallax_record::request::{self, Capture, Request};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Command, ExitStatus};

/// Full debug information from the front end, without the driver knowing: the driver's `-g` would
/// also reach assembler sources and the linker.
const DEBUG_FLAGS: &[&str] = &[
    "-Xclang",
    "-debug-info-kind=constructor",
    "-Xclang",
    "-dwarf-version=5",
];

/// Runs clang so that every object it makes carries its module.
pub fn compile(
    mut clang: Command,
    arguments: &[OsString],
    job: &Job,
    bundle: &Bundle,
) -> io::Result<ExitStatus> {
    // Without descriptors there is no capture, but there is still a compile.
    let prepared = prepare(job).map_err(|error| super::notice(&format!("not captured: {error}")));
    if let Ok((request, _, _)) = &prepared {
        let request = Request::Capture {
            descriptor: request.as_raw_fd(),
        };
        clang.env(request::ENVIRONMENT, request.to_value());
        clang.arg("--start-no-unused-arguments");
        clang.arg(format!("-fpass-plugin={}", bundle.plugin().display()));
        if job.analysis.without_debug {
            clang.args(DEBUG_FLAGS);
        }
        clang.arg("--end-no-unused-arguments");
    }
    let mut child = clang.args(arguments).spawn()?;
    let Ok((_request, readers, pipes)) = prepared else {
        return child.wait();
    };
    let preprocessing = Preprocessing::start(job, pipes);
    let status = child.wait();
    // With no reader left a late key is refused, not waited for.
    drop(readers);
    preprocessing.stop();
    status
}

type Prepared = (File, Vec<io::PipeReader>, Vec<(Unit, io::PipeWriter)>);

/// The request for the plug-in and the pipes on which keys will arrive.
fn prepare(job: &Job) -> io::Result<Prepared> {
    let mut units = Vec::new();
    let mut readers = Vec::new();
    let mut pipes = Vec::new();
    for unit in &job.analysis.units {
        let mut key_descriptor = None;
        if can_be_preprocessed(unit) {
            let (reader, writer) = pipe_to_children()?;
            key_descriptor = Some(reader.as_raw_fd());
            readers.push(reader);
            pipes.push((unit.clone(), writer));
        }
        units.push(request::Unit {
            source: unit.source.clone(),
            language: unit.language.clone(),
            key_descriptor,
        });
    }
    let request = Capture {
        compile: job.invocation.clone(),
        units,
        strip_debug: job.analysis.without_debug,
    };
    let request = memory_file(&serde_json::to_vec(&request).map_err(io::Error::other)?)?;
    Ok((request, readers, pipes))
}

/// Standard input can be read only once, and that is the compiler's; bitcode has no source.
fn can_be_preprocessed(unit: &Unit) -> bool {
    unit.source != "-" && unit.language != "ir" && !unit.language.ends_with("cpp-output")
}
