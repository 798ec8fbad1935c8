//! `parallax.toml`: what a project is built from, tested with and limited to.
//!
//! A value comes from the command line, else from an environment variable (`PARALLAX_BUILD_JOBS` for `build.jobs`), else from
//! the file, else from [`Config::default`]. Unknown names and wrong types are errors wherever they stand, because a setting
//! that is silently ignored costs hours.

mod error;
mod layers;
mod schema;
mod settings;
mod template;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use error::{ConfigError, Place};
pub use layers::Layers;
pub use schema::json_schema;
pub use template::{Filled, render};

/// Name of the file at the top of a project.
pub const FILE_NAME: &str = "parallax.toml";

/// All settings of a project. `settings.rs` says what each of them means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub programs: Vec<String>,
    pub build: BuildSettings,
    pub test: TestSettings,
    pub source: SourceSettings,
    pub inputs: InputSettings,
    pub record: RecordSettings,
    pub budget: Budget,
    pub limits: Limits,
}

/// How a revision is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BuildSettings {
    pub bootstrap: String,
    pub configure: String,
    pub build: String,
    pub tree: String,
    pub jobs: usize,
    pub environment: BTreeMap<String, String>,
}

impl Default for BuildSettings {
    fn default() -> BuildSettings {
        BuildSettings {
            bootstrap: String::new(),
            configure: String::new(),
            build: "make -j$JOBS CC=\"$CC\" CXX=\"$CXX\"".to_owned(),
            tree: ".".to_owned(),
            jobs: 0,
            environment: BTreeMap::new(),
        }
    }
}

impl BuildSettings {
    /// The number of jobs, found out if it was left open.
    pub fn job_count(&self) -> usize {
        match self.jobs {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get()),
            jobs => jobs,
        }
    }
}

/// The project's own tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestSettings {
    pub command: String,
    pub template: String,
}

/// The project's own source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceSettings {
    pub folders: Vec<String>,
    pub skip: Vec<String>,
}

impl Default for SourceSettings {
    fn default() -> SourceSettings {
        SourceSettings {
            folders: vec![".".to_owned()],
            skip: Vec::new(),
        }
    }
}

impl SourceSettings {
    /// Whether changes to this file (relative to the top of the source) are tested.
    pub fn counts(&self, file: &str) -> bool {
        let inside = |folder: &String| {
            let folder = folder.trim_end_matches('/');
            let folder = folder.strip_prefix("./").unwrap_or(folder);
            folder == "."
                || file
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        self.folders.iter().any(inside) && !crate::pattern::lies_in(&self.skip, file)
    }
}

/// What counts as input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputSettings {
    pub environment: Vec<String>,
}

/// What recording keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordSettings {
    pub file: u64,
    pub scenario: u64,
}

impl Default for RecordSettings {
    fn default() -> RecordSettings {
        RecordSettings {
            file: 1 << 20,
            scenario: 8 << 20,
        }
    }
}

/// How long searches take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    #[serde(with = "seconds")]
    pub time: Duration,
    pub runs: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            time: Duration::from_secs(60),
            runs: 0,
        }
    }
}

/// What a single run may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    #[serde(with = "seconds")]
    pub timeout: Duration,
    pub memory: u64,
    pub file: u64,
    pub disk: u64,
    pub processes: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: Duration::from_secs(5),
            memory: 1 << 30,
            file: 64 << 20,
            disk: 128 << 20,
            processes: 256,
        }
    }
}

/// Times as numbers of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::{SECTIONS, SETTINGS};

    #[test]
    fn the_table_of_settings_and_the_types_agree() {
        let mut table: Vec<&str> = SETTINGS.iter().map(|setting| setting.path).collect();
        table.sort_unstable();
        let mut types = Vec::new();
        for (name, value) in &toml::Table::try_from(Config::default()).unwrap() {
            match value {
                toml::Value::Table(section) => {
                    types.extend(section.keys().map(|key| format!("{name}.{key}")));
                    assert!(SECTIONS.iter().any(|(section, _)| section == name));
                }
                _ => types.push(name.clone()),
            }
        }
        types.sort_unstable();
        assert_eq!(table, types);
    }

    #[test]
    fn changes_count_in_source_folders_but_not_in_skipped_ones() {
        let source = SourceSettings {
            folders: vec!["src".into(), "lib".into()],
            skip: vec!["tests".into()],
        };
        assert!(source.counts("src/cut.c"));
        assert!(!source.counts("src/tests/a.c"));
        assert!(!source.counts("srcs/cut.c"));
        assert!(SourceSettings::default().counts("any/where.c"));
    }
}
