//! What each variant is linked with besides the program's own objects.

use super::compile::{bitcode, c_text};
use super::making::Making;
use super::{DeriveError, Options, Variant};
use crate::tools::archiver;
use parallax_abi::entry::symbol;
use parallax_bundle::Bundle;
use parallax_files::hash;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// An archive of the models, traced as the program is. An archive, so that only the models that are
/// used come along with what they need of the C library.
pub fn models(bundle: &Bundle, options: &Options<'_>) -> Result<Option<PathBuf>, DeriveError> {
    let sources = bundle.models();
    if sources.is_empty() {
        return Ok(None);
    }
    let mut objects = Vec::new();
    for source in &sources {
        let io_error = |error| DeriveError::Io {
            path: source.clone(),
            error,
        };
        let bytes = std::fs::read(source).map_err(io_error)?;
        let name = source.display().to_string();
        objects.push(bitcode(&name, &bytes, Variant::Traced, bundle, options)?);
    }
    let names: Vec<String> = objects
        .iter()
        .map(|object| object.display().to_string())
        .collect();
    let key = hash(names.join("\0").as_bytes());
    let archive = options.cache_dir.join("support").join(format!("{key}.a"));
    if !archive.is_file() {
        make_archive(&archive, &objects)?;
    }
    Ok(Some(archive))
}

/// Makes an archive of files; appears complete or not at all.
pub fn make_archive(archive: &Path, members: &[PathBuf]) -> Result<(), DeriveError> {
    let making = Making::begin(archive)?;
    let io_error = |error| making.failed(error);
    let made = making.file("members.a");
    let output = archiver()?
        .arg("qcs")
        .arg(&made)
        .args(members)
        .output()
        .map_err(io_error)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io_error(std::io::Error::other(message)));
    }
    making.finish(&made)
}

/// The object that tells a traced program where the plain one is.
pub fn plain_path(plain: &Path, options: &Options<'_>) -> Result<PathBuf, DeriveError> {
    let path = plain.as_os_str().as_encoded_bytes();
    c_text(
        &format!(
            "const char {}[] = {};\n",
            symbol::PLAIN_PATH,
            c_string(path)
        ),
        options,
    )
}

/// The object with the `main` that comes before the program's own.
pub fn main(options: &Options<'_>) -> Result<PathBuf, DeriveError> {
    let (main, enter, leave) = (symbol::MAIN, symbol::ENTER, symbol::LEAVE);
    // In C and not in the runtime: one frame that can be unwound, and none at all in programs whose `main`
    // was not captured.
    c_text(
        &format!(
            "struct arguments {{ int argc; char **argv, **envp; }};\n\
             int {main}();\n\
             void {enter}(struct arguments *, int (*)());\n\
             void {leave}(int (*)());\n\
             int main(int argc, char **argv, char **envp) {{\n\
                 struct arguments given = {{argc, argv, envp}};\n\
                 {enter}(&given, {main});\n\
                 int status = {main}(given.argc, given.argv, given.envp);\n\
                 {leave}({main});\n\
                 return status;\n\
             }}\n"
        ),
        options,
    )
}

/// The object that sets the sanitizers' defaults, which the environment still overrides, and gives arguments bounds.
pub fn sanitizer_support(options: &Options<'_>) -> Result<PathBuf, DeriveError> {
    // A plain program survives what it cannot allocate, and many a program ends without
    // releasing everything: neither is a finding.
    let text = "\
        const char *__asan_default_options(void) {\n\
            return \"detect_leaks=0:halt_on_error=0:allocator_may_return_null=1\";\n\
        }\n\
        const char *__ubsan_default_options(void) {\n\
            return \"halt_on_error=0:print_stacktrace=1\";\n\
        }\n";
    let own = OWN_ARGUMENTS.replace("own_arguments", symbol::OWN_ARGUMENTS);
    c_text(&format!("{text}{own}"), options)
}

/// The kernel lays arguments one behind the other on the stack, where a read beyond the end of one finds the next and
/// nothing is noticed. Each in a block of its own, it is. The name is left alone: programs compare it.
const OWN_ARGUMENTS: &str = "\
    void *malloc(unsigned long);\n\
    __attribute__((constructor, visibility(\"default\"))) void own_arguments(int count, char **arguments) {\n\
        for (int i = 1; i < count; i++) {\n\
            unsigned long size = 0;\n\
            while (arguments[i][size++])\n\
                ;\n\
            char *own = malloc(size);\n\
            if (!own)\n\
                return;\n\
            for (unsigned long at = 0; at < size; at++)\n\
                own[at] = arguments[i][at];\n\
            arguments[i] = own;\n\
        }\n\
    }\n";

/// A C string literal of any bytes.
fn c_string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        let _ = write!(text, "\\{byte:03o}");
    }
    text.push('"');
    text
}
