//! What a build is found again by.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use crate::config::BuildSettings;
use crate::revision::Revision;

/// Raised when what captured programs carry changes so that older builds are of no use.
const FORMAT: u32 = 1;

/// Variables of the user's environment that build systems take flags from.
const VARIABLES: &[&str] = &[
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LIBS",
    "PKG_CONFIG_PATH",
    "CONFIG_SITE",
];

/// Name of the directory of a build. The number of jobs and where Parallax itself is do not count.
pub(super) fn key(
    revision: &Revision,
    settings: &BuildSettings,
    variable: impl Fn(&str) -> Option<OsString>,
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(&FORMAT.to_le_bytes());
    for text in [
        &settings.bootstrap,
        &settings.configure,
        &settings.build,
        &settings.tree,
    ] {
        part(text.as_bytes());
    }
    for (name, value) in &settings.environment {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    for name in VARIABLES {
        if let Some(value) = variable(name) {
            part(name.as_bytes());
            part(value.as_bytes());
        }
    }
    let configuration = hasher.finalize().to_hex();
    format!("{}-{}", revision.short_id(), &configuration[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Kind;

    #[test]
    fn the_key_depends_on_what_is_built_and_not_on_jobs_or_labels() {
        let revision = |label: &str, id: &str| Revision {
            label: label.to_owned(),
            id: id.to_owned(),
            kind: Kind::Commit,
        };
        let settings = BuildSettings::default();
        let key = |revision: &Revision, settings: &BuildSettings, flags: Option<&str>| {
            key(revision, settings, |name| {
                flags.filter(|_| name == "CFLAGS").map(OsString::from)
            })
        };
        let first = key(&revision("HEAD", "0123456789abcdef"), &settings, None);
        assert_eq!(first.len(), 12 + 1 + 8);
        let more_jobs = BuildSettings {
            jobs: 9,
            ..settings.clone()
        };
        assert_eq!(
            first,
            key(&revision("main", "0123456789abcdef"), &more_jobs, None)
        );
        assert_ne!(
            first,
            key(&revision("HEAD", "f123456789abcdef"), &settings, None)
        );
        let head = revision("HEAD", "0123456789abcdef");
        assert_ne!(first, key(&head, &settings, Some("-O0")));
        let configured = BuildSettings {
            configure: "./configure".to_owned(),
            ..settings
        };
        assert_ne!(first, key(&head, &configured, None));
    }
}
