//! The commented file that `init` writes: every setting with what it means, the ones that were found filled in, the others
//! as comments that show their defaults.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::Value;

use super::Config;
use super::settings::{Kind, SECTIONS, SETTINGS, Setting};

/// Values to write, by path, each with a remark of its own (or an empty one).
#[derive(Clone, Debug, Default)]
pub struct Filled(BTreeMap<&'static str, (Value, String)>);

impl Filled {
    /// Writes a string.
    pub fn text(&mut self, path: &'static str, text: &str, remark: &str) {
        self.0
            .insert(path, (Value::String(text.to_owned()), remark.to_owned()));
    }

    /// Writes a list of strings.
    pub fn words(&mut self, path: &'static str, words: &[String], remark: &str) {
        let words = words.iter().map(|word| Value::String(word.clone()));
        self.0
            .insert(path, (Value::Array(words.collect()), remark.to_owned()));
    }
}

const WIDTH: usize = 100;

/// The file's text.
pub fn render(filled: &Filled) -> String {
    let defaults = toml::Table::try_from(Config::default()).unwrap_or_default();
    let mut text = String::from(
        "# Parallax: how this project is built and tested. `parallax schema --config` prints the schema of this file;\n\
         # an environment variable such as PARALLAX_BUILD_JOBS or the option --set build.jobs=4 overrides it.\n\
         # Lines that are commented out show the defaults.\n",
    );
    write_settings(&mut text, "", &defaults, filled);
    for (section, about) in SECTIONS {
        let _ = writeln!(text);
        write_comment(&mut text, about);
        let _ = writeln!(text, "[{section}]");
        write_settings(&mut text, section, &defaults, filled);
    }
    text
}

fn write_settings(text: &mut String, section: &str, defaults: &toml::Table, filled: &Filled) {
    for (at, setting) in SETTINGS
        .iter()
        .filter(|setting| setting.section() == section)
        .enumerate()
    {
        if at > 0 || section.is_empty() {
            let _ = writeln!(text);
        }
        write_comment(text, setting.about);
        match filled.0.get(setting.path) {
            Some((value, remark)) => {
                write_comment(text, remark);
                let _ = writeln!(text, "{} = {}", setting.key(), show(setting, value));
            }
            None => {
                let value = match section {
                    "" => defaults.get(setting.key()),
                    _ => defaults
                        .get(section)
                        .and_then(|table| table.get(setting.key())),
                };
                let shown = value.map(|value| show(setting, value)).unwrap_or_default();
                let _ = writeln!(text, "# {} = {shown}", setting.key());
            }
        }
    }
}

fn write_comment(text: &mut String, comment: &str) {
    for line in comment.lines() {
        let _ = writeln!(text, "# {line}");
    }
}

/// As people write it: sizes and times with units, long lists in several lines.
fn show(setting: &Setting, value: &Value) -> String {
    match (setting.kind, value) {
        (Kind::Size, Value::Integer(bytes)) => {
            let units = [(1i64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
            let unit = units
                .iter()
                .find(|(unit, _)| *bytes > 0 && bytes % unit == 0);
            match unit {
                Some((unit, name)) => format!("\"{}{name}\"", bytes / unit),
                None => bytes.to_string(),
            }
        }
        (Kind::Time, Value::Float(seconds)) => format!("\"{seconds}s\""),
        (Kind::Words, Value::Array(words)) => {
            let words: Vec<String> = words.iter().map(Value::to_string).collect();
            let line = format!("[{}]", words.join(", "));
            if setting.key().len() + line.len() + 3 <= WIDTH {
                return line;
            }
            let mut text = String::from("[\n");
            let mut length = 0;
            for word in words {
                if length > 0 && length + word.len() + 2 > WIDTH - 4 {
                    text.push('\n');
                    length = 0;
                }
                text.push_str(if length == 0 { "    " } else { " " });
                length += word.len() + 2;
                text.push_str(&word);
                text.push(',');
            }
            text.push_str("\n]");
            text
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layers;
    use super::*;

    fn read(text: String) -> Config {
        let layers = Layers {
            file: Some(("parallax.toml".into(), text)),
            ..Layers::default()
        };
        layers.resolve().unwrap()
    }

    #[test]
    fn the_file_with_nothing_filled_in_means_the_defaults() {
        assert_eq!(read(render(&Filled::default())), Config::default());
    }

    #[test]
    fn commented_lines_mean_the_defaults_when_they_are_made_lines() {
        let text = render(&Filled::default());
        let is_setting = |line: &str| {
            let name = line.trim_start_matches("# ").split(" = ").next();
            line.contains(" = ") && SETTINGS.iter().any(|setting| name == Some(setting.key()))
        };
        let uncommented: Vec<&str> = text
            .lines()
            .map(|line| if is_setting(line) { &line[2..] } else { line })
            .collect();
        assert_eq!(read(uncommented.join("\n")), Config::default());
    }

    #[test]
    fn what_is_filled_in_is_read_back() {
        let mut filled = Filled::default();
        let many: Vec<String> = (0..60).map(|at| format!("src/program-{at}")).collect();
        filled.words("programs", &many, "found in Makefile.am");
        filled.text("build.configure", "./configure --with-x=\"a b\"", "");
        let text = render(&filled);
        assert!(text.contains("# found in Makefile.am\n"));
        assert!(text.lines().all(|line| line.len() <= 120));
        let config = read(text);
        assert_eq!(config.programs, many);
        assert_eq!(config.build.configure, "./configure --with-x=\"a b\"");
    }
}
