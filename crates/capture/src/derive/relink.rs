//! The program's own link line once more, with other objects.
//!
//! All objects of the variant stand where the first captured input stood, in the order in which
//! the linker had taken the captured ones. Whatever was not captured stays where it is. So do
//! archives with captured members: should a variant need a member that the
//! plain program did not, it finds it there, uninstrumented.

use super::compile::VariantObject;
use super::making::Making;
use super::{DeriveError, Library, Options, Variant, support, symbols};
use crate::arguments::{
    Item, assembler_source, for_relink, is_captured_source, parse, without_sanitizers,
};
use crate::inputs::{is_linkable_name, map, with_member};
use crate::program::Program;
use crate::tools::{Compiler, clang};
use object::Object;
use object::read::archive::ArchiveFile;
use parallax_abi::{entry, model};
use parallax_bundle::Bundle;
use parallax_files::hash;
use parallax_record::{InputKind, LinkInput, SECTION};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Sanitizers that lay out memory in their own way: no variant can have them, or it brings them itself.
const WITH_SHADOW: &[&str] = &[
    "address",
    "dataflow",
    "hwaddress",
    "leak",
    "memory",
    "safe-stack",
    "thread",
];

/// One link of a variant.
pub struct Link<'a> {
    pub program: &'a Program,
    pub variant: Variant,
    pub bundle: &'a Bundle,
    pub options: &'a Options<'a>,
    pub objects: &'a [VariantObject],
    pub libraries: &'a [Library],
}

impl Link<'_> {
    /// Links to `output`, which appears complete or not at all. Returns notes for the user.
    pub fn run(&self, output: &Path) -> Result<Vec<String>, DeriveError> {
        let making = Making::begin(output)?;
        let made = making.file("linked");

        let items = self.items();
        let shared = items
            .iter()
            .any(|item| *item == Item::Option(vec!["-shared".to_owned()]));
        let mut words = Words::new(self);
        if self.variant == Variant::Traced {
            self.add_main(&mut words, shared)?;
        }
        for item in &items {
            words.add(item)?;
        }
        words.place_objects();
        self.add_support(&mut words, shared)?;

        let mut command = clang(self.compiler())?;
        command.args(words.words).arg("-o").arg(&made);
        command.args(["-w", "-Wno-unused-command-line-argument"]);
        command.envs(
            self.program
                .link
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
        let directory = Path::new(&self.program.link.link.directory);
        if directory.is_dir() {
            command.current_dir(directory);
        }
        let result = command.output().map_err(|error| making.failed(error))?;
        if !result.status.success() {
            return Err(DeriveError::Link {
                path: self.program.path.clone(),
                variant: self.variant.name(),
                message: String::from_utf8_lossy(&result.stderr).into_owned(),
            });
        }
        making.finish(&made)?;
        Ok(words.notes)
    }

    /// The program's own link line.
    fn items(&self) -> Vec<Item> {
        let line = &self.program.link.link.arguments;
        parse(line.get(1..).unwrap_or_default())
    }

    /// The driver that linked the program: C++ programs need their library.
    fn compiler(&self) -> Compiler {
        let arguments = &self.program.link.link.arguments;
        let named = arguments
            .first()
            .and_then(|program| Path::new(program).file_name());
        let cplusplus = named.is_some_and(|name| name.to_string_lossy().contains("++"))
            || arguments.iter().any(|word| word == "--driver-mode=g++");
        if cplusplus {
            Compiler::Cplusplus
        } else {
            Compiler::C
        }
    }

    fn add_support(&self, words: &mut Words<'_>, shared: bool) -> Result<(), DeriveError> {
        if shared {
            // The runtime lives in the program; a library may leave its symbols open.
            words.linker("-z");
            words.linker("undefs");
        }
        match self.variant {
            Variant::Traced => {
                for (model, definition) in self.redirected_models()? {
                    words.linker(&format!(
                        "--defsym={}{model}={definition}",
                        entry::symbol::MODEL_PREFIX
                    ));
                }
                if !shared {
                    self.add_runtime(words)?;
                }
            }
            Variant::Checked => {
                words.words.extend(["-fsanitize=address,undefined".into()]);
                let defined = symbols::defined(self.objects)?;
                if !shared && !defined.contains("__asan_default_options") {
                    words
                        .words
                        .push(support::sanitizer_support(self.options)?.into());
                    words.linker(&format!(
                        "--export-dynamic-symbol={}",
                        entry::symbol::OWN_ARGUMENTS
                    ));
                }
            }
            Variant::Covered if shared => {}
            Variant::Plain => {}
            Variant::Covered => {
                words
                    .words
                    .extend(self.bundle.coverage_runtime().into_iter().map(Into::into));
            }
        }
        if !shared {
            words.words.push(self.bundle.declared().into());
        }
        // Ours first among the paths that this program adds, and good for libraries of libraries; no variable of a run comes before them.
        if self.program.link.inputs.iter().any(is_captured_library) {
            words.linker("--disable-new-dtags");
        }
        Ok(())
    }

    /// `main` is called otherwise in traced objects; whoever looks for it must find the right one. Comes
    /// before all inputs, or an archive would offer its plain one.
    fn add_main(&self, words: &mut Words<'_>, shared: bool) -> Result<(), DeriveError> {
        let main = entry::symbol::MAIN;
        if !symbols::defined(self.objects)?.contains(main) {
            let wanted = symbols::wanted_from_runtime(self.objects)?;
            if wanted.iter().any(|name| name == main) {
                words.linker(&format!("--defsym={main}=main"));
            }
            if !shared {
                words.notes.push(
                    "main was not captured: each run starts the program anew, and the number of \
                     arguments has no label"
                        .to_owned(),
                );
            }
        } else if shared {
            words.linker(&format!("--defsym=main={main}"));
        } else {
            words.words.push(support::main(self.options)?.into());
        }
        Ok(())
    }

    fn add_runtime(&self, words: &mut Words<'_>) -> Result<(), DeriveError> {
        words
            .words
            .push(support::plain_path(&self.program.path, self.options)?.into());
        // Programs of which nothing refers to the runtime still start with it.
        words.linker("-u");
        words.linker(entry::MODULE.name);
        self.export_to_libraries(words);
        if let Some(models) = support::models(self.bundle, self.options)? {
            words.words.push(models.into());
        }
        words.words.push(self.bundle.runtime().into());
        Ok(())
    }

    /// What libraries want of the runtime must be in the program and visible to them.
    fn export_to_libraries(&self, words: &mut Words<'_>) {
        let wanted: BTreeSet<_> = self
            .libraries
            .iter()
            .flat_map(|library| &library.wants)
            .collect();
        for name in &wanted {
            words.linker("-u");
            words.linker(name);
        }
        if !wanted.is_empty() {
            words.linker("--export-dynamic-symbol=__plx_*");
        }
    }

    /// Models that must give way, because the program has its own function of that name:
    /// the model and the function to use instead.
    fn redirected_models(&self) -> Result<Vec<(&'static str, String)>, DeriveError> {
        let defined = symbols::defined(self.objects)?;
        let wrapped = self.wrapped();
        let mut redirected: Vec<(&'static str, String)> = Vec::new();
        for (name, model) in model::MODELS {
            if redirected.iter().any(|(known, _)| known == model) {
                continue;
            }
            let wrapper = format!("__wrap_{name}");
            if wrapped.contains(*name) && defined.contains(&wrapper) {
                redirected.push((model, wrapper));
            } else if defined.contains(*name) {
                redirected.push((model, (*name).to_owned()));
            }
        }
        Ok(redirected)
    }

    /// Functions whose calls the link sends to a wrapper (`--wrap`).
    fn wrapped(&self) -> BTreeSet<String> {
        let mut wrapped = BTreeSet::new();
        let mut expected = false;
        for item in self.items() {
            let Item::Linker(word) = item else { continue };
            if expected {
                wrapped.insert(word);
                expected = false;
            } else if let Some(name) = word.strip_prefix("--wrap=") {
                wrapped.insert(name.to_owned());
            } else {
                expected = word == "--wrap" || word == "-wrap";
            }
        }
        wrapped
    }
}

fn is_captured_library(input: &LinkInput) -> bool {
    input.kind == InputKind::SharedLibrary && input.captured > 0
}

/// The new command line as it grows.
struct Words<'a> {
    link: &'a Link<'a>,
    words: Vec<OsString>,
    notes: Vec<String>,
    objects_placed: bool,
    whole_archive: bool,
    /// The next word for the linker is the value of an option that was left out.
    skip_value: bool,
}

impl<'a> Words<'a> {
    fn new(link: &'a Link<'a>) -> Words<'a> {
        let mut words = Words {
            link,
            words: Vec::new(),
            notes: Vec::new(),
            objects_placed: false,
            whole_archive: false,
            skip_value: false,
        };
        // Directories are searched in the order of the line: these before the program's own. Libraries that stay as they are lie where the
        // link found them: the program may have been linked for another place.
        let inputs = link.program.link.inputs.iter();
        let captured = inputs.filter(|input| is_captured_library(input));
        let originals = captured.map(|input| Path::new(&input.path));
        let derived = link.libraries.iter().flat_map(|library| {
            let further = library.further.iter();
            std::iter::once(&library.derived)
                .chain(further)
                .map(PathBuf::as_path)
        });
        let mut directories = Vec::new();
        for directory in derived.chain(originals).filter_map(Path::parent) {
            if !directories.contains(&directory) {
                directories.push(directory);
                words.linker("-rpath");
                words.linker(&directory.display().to_string());
            }
        }
        words
    }

    fn linker(&mut self, word: &str) {
        self.words.extend(["-Xlinker".into(), word.into()]);
    }

    fn add(&mut self, item: &Item) -> Result<(), DeriveError> {
        match item {
            Item::Option(option) => {
                let statically = matches!(option[0].as_str(), "-static" | "-static-pie");
                if statically && self.link.variant == Variant::Checked {
                    self.notes
                        .push("linked dynamically: sanitizers need it".to_owned());
                } else if for_relink(&option[0])
                    && let Some(words) = without_sanitizers(option, WITH_SHADOW)
                {
                    self.words.extend(words.into_iter().map(Into::into));
                }
            }
            _ if is_captured_source(item) => self.place_objects(),
            Item::Input { path, .. } => {
                if let Some((path, language)) = assembler_source(item) {
                    self.words
                        .extend(["-x", &language, path, "-x", "none"].map(Into::into));
                } else {
                    self.add_file(path, item)?;
                }
            }
            Item::Library(name) => self.add_file(&format!("-l{name}"), item)?,
            Item::Linker(word) => self.add_linker_word(word, item)?,
        }
        Ok(())
    }

    fn add_linker_word(&mut self, word: &str, item: &Item) -> Result<(), DeriveError> {
        if std::mem::take(&mut self.skip_value) {
            return Ok(());
        }
        match word {
            // Options with a value that write another file.
            "-Map" | "--Map" | "--dependency-file" | "--out-implib" | "-o" | "--output" => {
                self.skip_value = true;
                return Ok(());
            }
            "-s" | "-S" | "--strip-all" | "--strip-debug" | "-M" | "--print-map" | "-t"
            | "--trace" | "--cref" => return Ok(()),
            "--whole-archive" | "-whole-archive" => self.whole_archive = true,
            "--no-whole-archive" | "-no-whole-archive" => self.whole_archive = false,
            _ => {}
        }
        let writes = ["-Map=", "--Map=", "--dependency-file=", "--out-implib="];
        if writes.iter().any(|option| word.starts_with(option)) {
            return Ok(());
        }
        if is_linkable_name(word) || word.starts_with("-l") {
            return self.add_file(word, item);
        }
        self.linker(word);
        Ok(())
    }

    /// Puts the variant's objects here, unless they stand on the line already.
    fn place_objects(&mut self) {
        if !std::mem::replace(&mut self.objects_placed, true) {
            let paths = self
                .link
                .objects
                .iter()
                .map(|object| object.path.clone().into());
            self.words.extend(paths);
        }
    }

    /// Adds a file that the line names, or what stands for it in this variant.
    fn add_file(&mut self, argument: &str, item: &Item) -> Result<(), DeriveError> {
        let inputs = &self.link.program.link.inputs;
        let Some(input) = inputs.iter().find(|input| input.argument == argument) else {
            // Of the system, a script, or an option's value.
            self.words.extend(item.words().into_iter().map(Into::into));
            return Ok(());
        };
        let keep = |words: &mut Self| {
            if !Path::new(&input.path).exists() {
                return Err(DeriveError::MissingInput {
                    path: PathBuf::from(&input.path),
                });
            }
            words.words.extend(item.words().into_iter().map(Into::into));
            Ok(())
        };
        if input.captured == 0 {
            return keep(self);
        }
        match input.kind {
            InputKind::Object => self.place_objects(),
            InputKind::SharedLibrary => {
                let path = Path::new(&input.path);
                let libraries = self.link.libraries.iter();
                match libraries
                    .into_iter()
                    .find(|library| library.original == path)
                {
                    Some(library) => self.words.push(library.derived.clone().into()),
                    None => keep(self)?,
                }
            }
            InputKind::Archive => {
                self.place_objects();
                let exists = Path::new(&input.path).exists();
                if self.whole_archive {
                    self.add_foreign_members(input)?;
                } else if exists {
                    keep(self)?;
                } else if !input.foreign.is_empty() {
                    return Err(DeriveError::MissingInput {
                        path: PathBuf::from(&input.path),
                    });
                }
            }
        }
        Ok(())
    }

    /// Under `--whole-archive` the archive would bring captured members a second time: only the
    /// others are linked, from an archive of their own.
    fn add_foreign_members(&mut self, input: &LinkInput) -> Result<(), DeriveError> {
        if input.foreign.is_empty() {
            return Ok(());
        }
        let path = Path::new(&input.path);
        let bytes = map(path).ok_or_else(|| DeriveError::MissingInput {
            path: path.to_owned(),
        })?;
        let io_error = |error| DeriveError::Io {
            path: path.to_owned(),
            error,
        };
        let damaged = |_| io_error(std::io::Error::other("archive cannot be read"));
        let archive = ArchiveFile::parse(&*bytes).map_err(damaged)?;
        let scratch = tempfile::tempdir().map_err(io_error)?;
        let mut members = Vec::new();
        for (index, member) in archive.members().enumerate() {
            let member = member.map_err(damaged)?;
            let foreign = with_member(&bytes, path, &member, |data| {
                let carries = object::File::parse(data)
                    .is_ok_and(|file| file.section_by_name(SECTION).is_some());
                (!carries).then(|| data.to_vec())
            });
            if let Some(data) = foreign.flatten() {
                let file = scratch.path().join(format!("{index}.o"));
                std::fs::write(&file, data).map_err(io_error)?;
                members.push(file);
            }
        }
        let key = hash(&bytes);
        let rest = self
            .link
            .options
            .cache_dir
            .join("support")
            .join(format!("{key}-foreign.a"));
        if !rest.is_file() {
            support::make_archive(&rest, &members)?;
        }
        self.words.push(rest.into());
        Ok(())
    }
}
