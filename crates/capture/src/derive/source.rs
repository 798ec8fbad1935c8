//! Compiling a captured source again, with the files that it included then.
//!
//! clang is shown the kept headers at their old places by an overlay of its file
//! system, whatever is there now, so all of the user's options keep their meaning. Only the
//! source itself has to be a real file: it is given under another name, and says its own
//! in a `#line`.

use crate::store::{Sources, Store};
use parallax_record::ModuleRecord;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A captured source that can be compiled again.
pub struct SourceText<'a> {
    record: &'a ModuleRecord,
    store: Store,
    sources: Sources,
}

impl<'a> SourceText<'a> {
    /// `None` if the source or one of its headers is not in the capture store.
    pub fn find(record: &'a ModuleRecord) -> Option<SourceText<'a>> {
        let store = Store::open()?;
        let sources = store.sources(record.sources.as_ref()?).ok()?;
        Some(SourceText {
            record,
            store,
            sources,
        })
    }

    /// Everything that the result depends on besides the options.
    pub fn identity(&self) -> String {
        let mut parts = vec![
            self.record.compile.directory.as_str(),
            &self.record.source,
            &self.record.language,
            self.sources.main.as_str(),
        ];
        for file in &self.sources.files {
            parts.extend([file.path.as_str(), file.content.as_str()]);
        }
        parts.join("\0")
    }

    /// The texts of the source and of the headers that it includes, but those of the system.
    pub fn texts(&self) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let headers = self.sources.files.iter().map(|file| &file.content);
        let contents = std::iter::once(&self.sources.main).chain(headers);
        contents.map(|content| std::fs::read(self.store.file_path(content)))
    }

    /// Adds the source as input.
    pub fn add_to(&self, command: &mut Command, scratch: &Path) -> io::Result<()> {
        let directory = Path::new(&self.record.compile.directory);
        let source = directory.join(&self.record.source);

        let input = scratch.join("module.c");
        let mut text = format!("#line 1 {}\n", quoted(&self.record.source)).into_bytes();
        text.extend(std::fs::read(self.store.file_path(&self.sources.main))?);
        std::fs::write(&input, text)?;

        let overlay = scratch.join("overlay.json");
        std::fs::write(&overlay, self.overlay()?)?;

        // Relative names mean what they meant, even if the directory is gone: the
        // front end only looks them up, and the overlay knows them.
        command
            .args(["-Xclang", "-working-directory", "-Xclang"])
            .arg(directory);
        command.arg(format!("-fdebug-compilation-dir={}", directory.display()));
        command.arg("-ivfsoverlay").arg(overlay);
        command.args(["-x", &self.record.language]).arg(input);
        // Where `#include "..."` looks first: beside the source.
        if let Some(beside) = source.parent() {
            command.arg("-iquote").arg(beside);
        }
        if directory.is_dir() {
            command.current_dir(directory);
        }
        Ok(())
    }

    fn overlay(&self) -> io::Result<Vec<u8>> {
        let files: Vec<serde_json::Value> = self
            .sources
            .files
            .iter()
            .map(|file| {
                let content: PathBuf = self.store.file_path(&file.content);
                serde_json::json!({
                    "type": "file",
                    "name": file.path,
                    "external-contents": content,
                })
            })
            .collect();
        let overlay = serde_json::json!({
            "version": 0,
            "case-sensitive": true,
            "use-external-names": false,
            "roots": files,
        });
        serde_json::to_vec(&overlay).map_err(io::Error::other)
    }
}

/// A file name as `#line` wants it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
