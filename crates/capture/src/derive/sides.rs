//! The two versions of a program whose source marks what was changed (`change(old, new)` of `parallax.h`).
//!
//! Sources that include the header are compiled again, once for each version; everything else is shared. What comes
//! out is a program as if it had been captured, from which variants can be derived.

use super::making::Making;
use super::source::SourceText;
use super::{DeriveError, Options};
use crate::arguments::{for_source, parse};
use crate::program::{Module, Program};
use crate::tools::{Compiler, clang};
use parallax_annotate::{Side, includes_header};
use parallax_bundle::Bundle;
use parallax_files::hash;
use parallax_record::{ModuleRecord, request};

/// The front end's own bitcode, as it is captured otherwise.
const FRONT_END_ONLY: &[&str] = &[
    "-g",
    "-w",
    "-Xclang",
    "-disable-llvm-passes",
    "-emit-llvm",
    "-c",
];

fn definition(side: Side) -> &'static str {
    match side {
        Side::Old => "-DPARALLAX_OLD",
        Side::New => "-DPARALLAX_NEW",
    }
}

/// One version of an annotated program; `None` if no source of it is annotated.
pub fn side(
    program: &Program,
    side: Side,
    options: &Options<'_>,
) -> Result<Option<Program>, DeriveError> {
    let bundle = Bundle::unpack()?;
    let mut version = program.clone();
    let mut is_annotated = false;
    for (module, made) in program.modules.iter().zip(&mut version.modules) {
        let Some(source) = SourceText::find(&module.record) else {
            continue;
        };
        if !source.is_annotated() {
            continue;
        }
        is_annotated = true;
        let mut record = module.record.clone();
        let arguments = &mut record.compile.arguments;
        arguments.insert(1.min(arguments.len()), definition(side).to_owned());
        let bitcode = compile(&record, &source, &bundle, options)?;
        *made = Module { record, bitcode };
    }
    Ok(is_annotated.then_some(version))
}

/// The front end's bitcode of a source under other options, from the cache if it is there.
fn compile(
    record: &ModuleRecord,
    source: &SourceText<'_>,
    bundle: &Bundle,
    options: &Options<'_>,
) -> Result<Vec<u8>, DeriveError> {
    let words = record.compile.arguments.get(1..).unwrap_or_default();
    let flags = for_source(&parse(words));
    let include = bundle.include();
    let parts = [&flags.join("\0"), &source.identity(), &Bundle::identity()];
    let key = hash(parts.map(String::as_str).join("\n").as_bytes());
    let kept = options.cache_dir.join("sides").join(format!("{key}.bc"));
    if let Ok(bitcode) = std::fs::read(&kept) {
        return Ok(bitcode);
    }
    let making = Making::begin(&kept)?;
    let io_error = |error| making.failed(error);
    let made = making.file("module.bc");
    let mut command = clang(Compiler::C)?;
    command.env_remove(request::ENVIRONMENT);
    source
        .add_to(&mut command, making.folder())
        .map_err(io_error)?;
    command.args(flags).arg("-idirafter").arg(include);
    command.args(FRONT_END_ONLY).arg("-o").arg(&made);
    let output = command.output().map_err(io_error)?;
    if !output.status.success() {
        return Err(DeriveError::Compile {
            source_file: record.source.clone(),
            variant: "annotated",
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    let bitcode = std::fs::read(&made).map_err(io_error)?;
    making.finish(&made)?;
    Ok(bitcode)
}

impl SourceText<'_> {
    fn is_annotated(&self) -> bool {
        self.texts()
            .flatten()
            .any(|text| includes_header(&String::from_utf8_lossy(&text)))
    }
}
