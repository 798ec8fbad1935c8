//! The one table of settings. Names in the file, names of environment variables, the JSON schema, the commented file that
//! `init` writes and the checks of what users wrote all come from it.

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A list of strings.
    Words,
    /// A whole number, not negative.
    Count,
    /// Bytes: a number, or a string with a unit.
    Size,
    /// Seconds: a number, or a string with a unit.
    Time,
    /// A table of strings whose keys are the user's.
    Table,
}

impl Kind {
    /// For messages.
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Text => "a string",
            Kind::Words => "a list of strings",
            Kind::Count => "a whole number",
            Kind::Size => "a size, as in \"512M\"",
            Kind::Time => "a time, as in \"90s\" or \"5m\"",
            Kind::Table => "a table of strings",
        }
    }
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `section.key`, or a key of its own.
    pub path: &'static str,
    pub kind: Kind,
    /// One or more lines for people.
    pub about: &'static str,
}

impl Setting {
    /// The section's name; empty for keys of their own.
    pub fn section(&self) -> &'static str {
        self.path.split_once('.').map_or("", |(section, _)| section)
    }

    /// The name within the section.
    pub fn key(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, key)| key)
    }

    /// The environment variable that overrides the file.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.path.to_uppercase().replace('.', "_"))
    }
}

/// How environment variables that are settings begin.
pub const PREFIX: &str = "PARALLAX_";

/// Sections with a word about each, in the order of the file.
pub const SECTIONS: &[(&str, &str)] = &[
    (
        "build",
        "How a revision is built. Commands are for the shell, run at the top of a copy of the source, with
CC and CXX set to parallax-cc and parallax-c++ and JOBS to the number of jobs.",
    ),
    ("test", "The project's own tests, from which scenarios are recorded."),
    ("source", "Which part of the source is the project's own."),
    ("inputs", "What counts as input besides arguments, files and streams."),
    ("record", "What recording keeps of a test. What is left out is reported."),
    ("budget", "How long searches take unless the command line says otherwise."),
    ("limits", "What a single run of a program may use."),
];

/// All settings, in the order of the file.
pub const SETTINGS: &[Setting] = &[
    Setting {
        path: "programs",
        kind: Kind::Words,
        about: "Programs under test: paths in the build tree, or names. * and ? stand for parts of a name, ** for any folders.
Empty: every program that the build captures, except in the folders of source.skip.",
    },
    Setting {
        path: "build.bootstrap",
        kind: Kind::Text,
        about: "Makes what is generated before ./configure can run. Empty: nothing.",
    },
    Setting {
        path: "build.configure",
        kind: Kind::Text,
        about: "Empty: nothing to configure.",
    },
    Setting {
        path: "build.build",
        kind: Kind::Text,
        about: "Builds the programs.",
    },
    Setting {
        path: "build.tree",
        kind: Kind::Text,
        about: "Where the build puts its results, relative to the top of the source.",
    },
    Setting {
        path: "build.jobs",
        kind: Kind::Count,
        about: "Jobs at a time; 0: one per processor.",
    },
    Setting {
        path: "build.environment",
        kind: Kind::Table,
        about: "Further environment variables, as in { CFLAGS = \"-O1\" }.",
    },
    Setting {
        path: "test.command",
        kind: Kind::Text,
        about: "Run at the top of the copy of the source, after the build.",
    },
    Setting {
        path: "test.template",
        kind: Kind::Text,
        about: "A file that tests which Parallax writes are made from, relative to the top of the source, with {{title}}, {{program}},
{{setup}}, {{run}} and {{check}} where these go. Empty: they are shell scripts of their own.",
    },
    Setting {
        path: "source.folders",
        kind: Kind::Words,
        about: "Changes to files in these folders are tested.",
    },
    Setting {
        path: "source.skip",
        kind: Kind::Words,
        about: "Except in these: names of folders at any depth, or paths. Programs in them are not under test.",
    },
    Setting {
        path: "inputs.environment",
        kind: Kind::Words,
        about: "Environment variables that are kept with scenarios and varied like other input.",
    },
    Setting {
        path: "record.file",
        kind: Kind::Size,
        about: "Files above this size are not kept.",
    },
    Setting {
        path: "record.scenario",
        kind: Kind::Size,
        about: "Scenarios above this size, all files together, are not kept.",
    },
    Setting {
        path: "budget.time",
        kind: Kind::Time,
        about: "Time for one search.",
    },
    Setting {
        path: "budget.runs",
        kind: Kind::Count,
        about: "Traced runs of one search; 0: as many as the time allows.",
    },
    Setting {
        path: "limits.timeout",
        kind: Kind::Time,
        about: "Time; a run that takes longer hangs.",
    },
    Setting {
        path: "limits.memory",
        kind: Kind::Size,
        about: "Memory of all its processes.",
    },
    Setting {
        path: "limits.file",
        kind: Kind::Size,
        about: "Size of one file that it writes.",
    },
    Setting {
        path: "limits.disk",
        kind: Kind::Size,
        about: "All files that it writes.",
    },
    Setting {
        path: "limits.processes",
        kind: Kind::Count,
        about: "Processes at a time.",
    },
];

/// The setting of this path.
pub fn setting(path: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.path == path)
}

/// What a mistyped word among these was probably meant to be.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.75;
    let score = |name: &str| strsim::jaro_winkler(&word.to_lowercase(), &name.to_lowercase());
    names
        .map(|name| (score(name), name))
        .filter(|(score, _)| *score > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
