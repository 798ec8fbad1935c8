//! Compiles with the plug-in loaded.

use super::descriptors::memory_file;
use super::sources::Keeper;
use super::{Job, header_flags, notice};
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
    let (keeper, request) = match prepare(job) {
        Ok(prepared) => prepared,
        Err(error) => {
            notice(&format!("not captured: {error}"));
            clang.args(header_flags(bundle));
            return clang.args(arguments).status();
        }
    };
    let value = Request::Capture {
        descriptor: request.as_raw_fd(),
    }
    .to_value();
    clang.env(request::ENVIRONMENT, value);
    clang.arg("--start-no-unused-arguments");
    clang.arg(format!("-fpass-plugin={}", bundle.plugin().display()));
    if job.analysis.without_debug {
        clang.args(DEBUG_FLAGS);
    }
    keeper.add_flags(&mut clang);
    clang.arg("--end-no-unused-arguments");
    clang.args(header_flags(bundle));
    let status = clang.args(arguments).status();
    // After a failed compile there may still be objects of other sources.
    let _ = keeper.keep(job);
    status
}

/// The request for the plug-in.
fn prepare(job: &Job) -> io::Result<(Keeper, File)> {
    let keeper = Keeper::new()?;
    let units = job.analysis.units.iter().map(|unit| request::Unit {
        source: unit.source.clone(),
        language: unit.language.clone(),
        keep_source: keeper.can_keep(unit),
    });
    let request = Capture {
        compile: job.invocation.clone(),
        units: units.collect(),
        key_descriptor: keeper.key_descriptor(),
        strip_debug: job.analysis.without_debug,
    };
    let request = memory_file(&serde_json::to_vec(&request).map_err(io::Error::other)?)?;
    Ok((keeper, request))
}
