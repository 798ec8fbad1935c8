//! Command line over environment over file over defaults.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Value;
use toml::de::{DeTable, DeValue};

use super::Config;
use super::error::{ConfigError, Place};
use super::settings::{Kind, PREFIX, SECTIONS, SETTINGS, Setting, nearest, setting};
use crate::quantity::{parse_bytes, parse_time};

/// Where settings come from.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// Path and text of the file; the path is only named in messages.
    pub file: Option<(std::path::PathBuf, String)>,
    /// Environment variables; those that are no settings are left alone.
    pub variables: Vec<(String, String)>,
    /// `section.key=value` words of the command line.
    pub flags: Vec<String>,
}

impl Layers {
    /// A file and this process's environment.
    pub fn of(file: &Path) -> Result<Layers, ConfigError> {
        let text = std::fs::read_to_string(file).map_err(|error| ConfigError::Read {
            path: file.to_owned(),
            error,
        })?;
        Ok(Layers {
            file: Some((file.to_owned(), text)),
            ..Layers::of_environment()
        })
    }

    /// This process's environment alone.
    pub fn of_environment() -> Layers {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Layers {
            variables: std::env::vars_os().filter_map(text).collect(),
            ..Layers::default()
        }
    }

    /// All layers together.
    pub fn resolve(&self) -> Result<Config, ConfigError> {
        let mut values = Values::default();
        if let Some((path, text)) = &self.file {
            values.take_file(path, text)?;
        }
        for (name, value) in &self.variables {
            values.take_variable(name, value)?;
        }
        for flag in &self.flags {
            values.take_flag(flag)?;
        }
        values.into_config()
    }
}

/// What the layers so far have said, checked and in one form: sizes in bytes, times in seconds.
#[derive(Default)]
struct Values(BTreeMap<&'static str, (Place, Value)>);

impl Values {
    fn take_file(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let place = |span: Range<usize>| place_in(path, text, span.start);
        let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            place: place(error.span().unwrap_or(0..0)),
            message: error.message().to_owned(),
        })?;
        for (name, value) in document.get_ref() {
            let at = place(name.span());
            let key = name.get_ref().as_ref();
            if let Some(setting) = setting(key) {
                let value = plain(value.get_ref());
                self.insert(setting, at, &value)?;
                continue;
            }
            if !SECTIONS.iter().any(|(section, _)| *section == key) {
                return Err(unknown(at, key, ""));
            }
            let DeValue::Table(section) = value.get_ref() else {
                return Err(ConfigError::Type {
                    place: at,
                    name: key.to_owned(),
                    wanted: "a section, as in [build]",
                    found: describe(&plain(value.get_ref())),
                });
            };
            for (name, value) in section {
                let at = place(name.span());
                let found = setting(&format!("{key}.{}", name.get_ref()));
                let setting = found.ok_or_else(|| unknown(at.clone(), name.get_ref(), key))?;
                self.insert(setting, at, &plain(value.get_ref()))?;
            }
        }
        Ok(())
    }

    fn take_variable(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        let Some(rest) = name.strip_prefix(PREFIX) else {
            return Ok(());
        };
        let place = Place::Variable(name.to_owned());
        if let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == name) {
            return self.insert_text(setting, place, text);
        }
        for table in SETTINGS
            .iter()
            .filter(|setting| setting.kind == Kind::Table)
        {
            if let Some(key) = name.strip_prefix(&format!("{}_", table.variable())) {
                self.insert_entry(table, place, key, text);
                return Ok(());
            }
        }
        // Other variables of ours are no settings, some of which begin like a section; but what is nearly the name of
        // a setting was meant to be one.
        for (section, _) in SECTIONS {
            let key = rest
                .strip_prefix(&section.to_uppercase())
                .and_then(|rest| rest.strip_prefix('_'));
            let Some(key) = key else { continue };
            let here = SETTINGS
                .iter()
                .filter(|setting| setting.section() == *section);
            if let Some(meant) = nearest(key, here.map(Setting::key)) {
                return Err(ConfigError::Unknown {
                    place,
                    name: name.to_owned(),
                    meant: setting(&format!("{section}.{meant}")).map(Setting::variable),
                });
            }
        }
        Ok(())
    }

    fn take_flag(&mut self, flag: &str) -> Result<(), ConfigError> {
        let place = Place::Flag(flag.to_owned());
        let Some((path, text)) = flag.split_once('=') else {
            return Err(ConfigError::Syntax {
                place,
                message: "expected KEY=VALUE, as in build.jobs=4".to_owned(),
            });
        };
        if let Some(setting) = setting(path) {
            return self.insert_text(setting, place, text);
        }
        for table in SETTINGS
            .iter()
            .filter(|setting| setting.kind == Kind::Table)
        {
            if let Some(key) = path.strip_prefix(&format!("{}.", table.path)) {
                self.insert_entry(table, place, key, text);
                return Ok(());
            }
        }
        let (section, key) = path.split_once('.').unwrap_or(("", path));
        Err(unknown(place, key, section))
    }

    /// A value that came as text. Lists are given with commas, or as in the file.
    fn insert_text(
        &mut self,
        setting: &'static Setting,
        place: Place,
        text: &str,
    ) -> Result<(), ConfigError> {
        let as_in_file = matches!(text.as_bytes().first(), Some(b'[' | b'{'));
        let value = match setting.kind {
            Kind::Words | Kind::Table if as_in_file => {
                let parsed = DeValue::parse(text).map_err(|error| ConfigError::Syntax {
                    place: place.clone(),
                    message: error.message().to_owned(),
                })?;
                plain(parsed.get_ref())
            }
            Kind::Words => {
                let words = text
                    .split(',')
                    .map(str::trim)
                    .filter(|word| !word.is_empty());
                Value::Array(words.map(|word| Value::String(word.to_owned())).collect())
            }
            Kind::Count => match text.trim().parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::String(text.to_owned()),
            },
            Kind::Text | Kind::Size | Kind::Time | Kind::Table => {
                Value::String(unquoted(text).unwrap_or_else(|| text.to_owned()))
            }
        };
        self.insert(setting, place, &value)
    }

    fn insert_entry(&mut self, table: &'static Setting, place: Place, key: &str, text: &str) {
        let (_, value) = self
            .0
            .entry(table.path)
            .or_insert_with(|| (place, Value::Table(toml::Table::new())));
        if let Value::Table(entries) = value {
            entries.insert(key.to_owned(), Value::String(text.to_owned()));
        }
    }

    fn insert(
        &mut self,
        setting: &'static Setting,
        place: Place,
        value: &Value,
    ) -> Result<(), ConfigError> {
        let value = check(setting, &place, value)?;
        self.0.insert(setting.path, (place, value));
        Ok(())
    }

    fn into_config(self) -> Result<Config, ConfigError> {
        let mut document = toml::Table::new();
        let mut last_place = Place::Flag(String::new());
        for (path, (place, value)) in self.0 {
            match path.split_once('.') {
                None => document.insert(path.to_owned(), value),
                Some((section, key)) => {
                    let section = document
                        .entry(section)
                        .or_insert_with(|| Value::Table(toml::Table::new()));
                    section
                        .as_table_mut()
                        .and_then(|section| section.insert(key.to_owned(), value))
                }
            };
            last_place = place;
        }
        // Numbers that do not fit are all that is left to go wrong.
        Config::deserialize(document).map_err(|error| ConfigError::Syntax {
            place: last_place,
            message: error.message().to_owned(),
        })
    }
}

fn place_in(path: &Path, text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count();
    Place::File {
        path: path.to_owned(),
        line: line + 1,
        text: text.lines().nth(line).unwrap_or_default().to_owned(),
    }
}

/// A name that is no setting: perhaps mistyped, perhaps right in another section.
fn unknown(place: Place, key: &str, section: &str) -> ConfigError {
    let here = SETTINGS
        .iter()
        .filter(|setting| setting.section() == section);
    let here = here.map(|setting| setting.key());
    let sections = SECTIONS.iter().map(|(name, _)| *name);
    let sections = sections.filter(|_| section.is_empty());
    let elsewhere = || {
        let setting = SETTINGS.iter().find(|setting| setting.key() == key)?;
        Some(setting.path.to_owned())
    };
    let name = match section {
        "" => key.to_owned(),
        _ => format!("{section}.{key}"),
    };
    let near = nearest(key, here.chain(sections)).map(|meant| match section {
        "" => meant.to_owned(),
        _ => format!("{section}.{meant}"),
    });
    ConfigError::Unknown {
        place,
        name,
        meant: elsewhere().or(near),
    }
}

/// The value in the form that [`Config`] reads.
fn check(setting: &Setting, place: &Place, value: &Value) -> Result<Value, ConfigError> {
    let wrong_type = || ConfigError::Type {
        place: place.clone(),
        name: setting.path.to_owned(),
        wanted: setting.kind.describe(),
        found: describe(value),
    };
    let wrong_value = |message: String| ConfigError::Value {
        place: place.clone(),
        name: setting.path.to_owned(),
        message,
    };
    let is_text = |value: &Value| value.is_str();
    match (setting.kind, value) {
        (Kind::Text, Value::String(_)) => Ok(value.clone()),
        (Kind::Words, Value::Array(words)) if words.iter().all(is_text) => Ok(value.clone()),
        (Kind::Table, Value::Table(entries)) if entries.values().all(is_text) => Ok(value.clone()),
        (Kind::Count | Kind::Size, Value::Integer(number)) if *number >= 0 => Ok(value.clone()),
        (Kind::Count | Kind::Size, Value::Integer(_)) => {
            Err(wrong_value("must not be negative".to_owned()))
        }
        (Kind::Size, Value::String(text)) => {
            let bytes = parse_bytes(text).map_err(wrong_value)?;
            let bytes = i64::try_from(bytes).map_err(|_| wrong_value("too large".to_owned()))?;
            Ok(Value::Integer(bytes))
        }
        (Kind::Time, Value::Integer(_) | Value::Float(_) | Value::String(_)) => {
            let text = match value {
                Value::String(text) => text.clone(),
                number => number.to_string(),
            };
            let time = parse_time(&text).map_err(wrong_value)?;
            Ok(Value::Float(time.as_secs_f64()))
        }
        _ => Err(wrong_type()),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the string {text:?}"),
        Value::Integer(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// Without positions. Numbers that do not fit stay text, and are then of the wrong type.
fn plain(value: &DeValue) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(
                |_| Value::String(number.as_str().to_owned()),
                Value::Integer,
            ),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or_else(|_| Value::String(number.as_str().to_owned()), Value::Float),
        DeValue::Boolean(truth) => Value::Boolean(*truth),
        DeValue::Datetime(date) => Value::Datetime(*date),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| plain(item.get_ref())).collect())
        }
        DeValue::Table(entries) => {
            let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue>)| {
                let key: &toml::de::DeString = key.get_ref();
                (key.to_string(), plain(value.get_ref()))
            };
            Value::Table(entries.iter().map(entry).collect())
        }
    }
}

/// A text in quotes, written as in the file. What only begins or ends with some (a command for the shell) is meant as it is.
fn unquoted(text: &str) -> Option<String> {
    let is_quoted = text.starts_with(['"', '\'']);
    let parsed = is_quoted.then(|| DeValue::parse(text).ok()).flatten()?;
    match plain(parsed.get_ref()) {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
