//! Places in the source: how they are named, and the line itself where the file is found.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parallax_abi::SiteId;
use parallax_exec::sites::{SiteMap, SiteView};
use parallax_trace::InputSource;

/// `argv[1]`, `stdin`, `file("x")`, the path as short as it can be from here.
pub fn input_name(source: &InputSource) -> String {
    let here = std::env::current_dir().ok();
    let short = here.as_ref().and_then(|here| {
        let name = Path::new(OsStr::from_bytes(source.name));
        name.strip_prefix(here).ok()
    });
    let name = short.map_or(source.name, |path| path.as_os_str().as_bytes());
    InputSource { name, ..*source }.to_string()
}

/// Names places and remembers the files it has read.
pub struct Places<'a> {
    sites: &'a SiteMap,
    base: Base,
    files: HashMap<String, Option<Vec<String>>>,
}

impl<'a> Places<'a> {
    pub fn new(sites: &'a SiteMap) -> Places<'a> {
        Places {
            sites,
            base: Base::of(sites.files()),
            files: HashMap::new(),
        }
    }

    /// Paths are shown relative to this folder.
    pub fn below(sites: &'a SiteMap, top: &Path) -> Places<'a> {
        Places {
            base: Base(Some(top.to_owned())),
            ..Places::new(sites)
        }
    }

    pub fn elsewhere(&self) -> Option<&Path> {
        self.base.elsewhere()
    }

    pub fn site(&self, id: SiteId) -> Option<SiteView<'a>> {
        self.sites.get(id)
    }

    /// `src/cut.c:123:9`.
    pub fn name(&self, id: SiteId) -> String {
        let Some(site) = self.sites.get(id) else {
            return format!("site {:016x}", id.0);
        };
        let file = self.base.relative(site.file);
        match (site.line, site.column) {
            (0, _) => file.to_owned(),
            (line, 0) => format!("{file}:{line}"),
            (line, column) => format!("{file}:{line}:{column}"),
        }
    }

    pub fn function(&self, id: SiteId) -> &'a str {
        self.sites.get(id).map_or("", |site| site.function)
    }

    /// The source line of a place, trimmed.
    pub fn line(&mut self, id: SiteId) -> Option<String> {
        let site = self.sites.get(id)?;
        let lines = self
            .files
            .entry(site.file.to_owned())
            .or_insert_with(|| {
                let bytes = fs::read(site.file).ok()?;
                let text = String::from_utf8_lossy(&bytes);
                Some(text.lines().map(str::to_owned).collect())
            })
            .as_ref()?;
        let line = lines.get((site.line as usize).checked_sub(1)?)?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }
}

/// What paths of sources are shown relative to.
#[derive(Clone, Debug)]
pub struct Base(Option<PathBuf>);

impl Base {
    /// The working directory if any source is below it, else the deepest folder that has all of the project's
    /// sources.
    pub fn of<'a>(files: impl Iterator<Item = &'a str>) -> Base {
        let sources: Vec<&Path> = files
            .map(Path::new)
            .filter(|file| file.is_absolute() && !file.starts_with("/usr"))
            .collect();
        let here = std::env::current_dir().ok();
        if let Some(here) = here
            && sources.iter().any(|file| file.starts_with(&here))
        {
            return Base(Some(here));
        }
        let Some(first) = sources.first().and_then(|file| file.parent()) else {
            return Base(None);
        };
        let mut common = first.to_owned();
        for file in sources {
            while !file.starts_with(&common) {
                common.pop();
            }
        }
        // The root is no help.
        Base(common.parent().is_some().then_some(common))
    }

    /// The folder that paths are relative to, unless it is the working directory.
    pub fn elsewhere(&self) -> Option<&Path> {
        let base = self.0.as_deref()?;
        let is_here = std::env::current_dir().is_ok_and(|here| here == base);
        (!is_here).then_some(base)
    }

    /// The path as short as it can be.
    pub fn relative<'b>(&self, file: &'b str) -> &'b str {
        let inside = |base: &PathBuf| Path::new(file).strip_prefix(base).ok()?.to_str();
        let short = self.0.as_ref().and_then(inside).unwrap_or(file);
        // CMake and Meson builds name sources as "../x.c" or "./x.c".
        short.strip_prefix("./").unwrap_or(short)
    }
}
