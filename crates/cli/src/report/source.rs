//! Places in the source: how they are named, and the line itself where the file is found.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use parallax_abi::SiteId;
use parallax_engine::sites::{SiteMap, SiteView};

/// Names places and remembers the files it has read.
pub struct Places<'a> {
    sites: &'a SiteMap,
    here: Option<PathBuf>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl<'a> Places<'a> {
    pub fn new(sites: &'a SiteMap) -> Places<'a> {
        Places {
            sites,
            here: std::env::current_dir().ok(),
            files: HashMap::new(),
        }
    }

    pub fn site(&self, id: SiteId) -> Option<SiteView<'a>> {
        self.sites.get(id)
    }

    /// `src/cut.c:123:9`, relative to the working directory where possible.
    pub fn name(&self, id: SiteId) -> String {
        let Some(site) = self.sites.get(id) else {
            return format!("site {:016x}", id.0);
        };
        let file = self.relative(site.file);
        match (site.line, site.column) {
            (0, _) => file.to_owned(),
            (line, 0) => format!("{file}:{line}"),
            (line, column) => format!("{file}:{line}:{column}"),
        }
    }

    pub fn relative<'b>(&self, file: &'b str) -> &'b str {
        let inside = |here: &PathBuf| Path::new(file).strip_prefix(here).ok()?.to_str();
        let short = self.here.as_ref().and_then(inside).unwrap_or(file);
        // CMake and Meson builds name sources as "../x.c" or "./x.c".
        short.strip_prefix("./").unwrap_or(short)
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
