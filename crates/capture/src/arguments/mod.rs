//! Command lines of the compiler driver, understood as far as capture needs it.
//!
//! Parallax never rewrites what the user asked for: clang gets the user's own words. This
//! parse only says what clang is going to do with them, and lets a later link use the same
//! words with other inputs.

mod analysis;
mod language;
mod options;
mod response;

pub use analysis::{Analysis, Goal, Unit, analyse, assembler_source, is_captured_source};
pub use options::{for_bitcode, for_relink, for_source, without_sanitizers};
pub use response::expand;

use options::takes_value;

/// One meaningful piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option, with its value if that is a word of its own.
    Option(Vec<String>),
    /// A file; `language` is what `-x` said for it.
    Input {
        path: String,
        language: Option<String>,
    },
    /// `-lNAME`.
    Library(String),
    /// One word for the linker, out of `-Wl,...` or `-Xlinker ...`.
    Linker(String),
}

impl Item {
    /// The item as words of a command line.
    pub fn words(&self) -> Vec<String> {
        match self {
            Item::Option(words) => words.clone(),
            Item::Input { path, .. } => vec![path.clone()],
            Item::Library(name) => vec![format!("-l{name}")],
            // Equal to -Wl, but safe for words that contain commas.
            Item::Linker(word) => vec!["-Xlinker".to_owned(), word.clone()],
        }
    }
}

/// Splits a command line (without the compiler's name, response files expanded).
pub fn parse(arguments: &[String]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut language: Option<String> = None;
    let mut words = arguments.iter();
    let mut only_inputs = false;
    while let Some(word) = words.next() {
        if only_inputs || word == "-" || !word.starts_with('-') {
            items.push(Item::Input {
                path: word.clone(),
                language: language.clone(),
            });
        } else if word == "--" {
            only_inputs = true;
        } else if word == "-Xlinker" {
            items.extend(words.next().cloned().map(Item::Linker));
        } else if let Some(list) = word.strip_prefix("-Wl,") {
            items.extend(list.split(',').map(|word| Item::Linker(word.to_owned())));
        } else if let Some(name) = word.strip_prefix("-l") {
            let name = if name.is_empty() {
                words.next().cloned()
            } else {
                Some(name.to_owned())
            };
            items.extend(name.map(Item::Library));
        } else {
            let mut option = vec![word.clone()];
            if takes_value(word) {
                option.extend(words.next().cloned());
            }
            let joined = ["-x", "--language="]
                .iter()
                .find_map(|name| word.strip_prefix(name));
            if let Some(joined) = joined {
                let named = if joined.is_empty() {
                    option.get(1).map_or("", |s| s)
                } else {
                    joined
                };
                language = (named != "none").then(|| named.to_owned());
            }
            items.push(Item::Option(option));
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn values_are_not_taken_for_inputs() {
        let items = parse(&words(
            "-I include -o out a.c -MF dep.d -Xlinker -z -Xlinker now -l m",
        ));
        let inputs: Vec<_> = items
            .iter()
            .filter(|item| matches!(item, Item::Input { .. }))
            .collect();
        assert_eq!(
            inputs,
            [&Item::Input {
                path: "a.c".to_owned(),
                language: None
            }]
        );
        assert!(items.contains(&Item::Library("m".to_owned())));
        assert!(items.contains(&Item::Linker("-z".to_owned())));
        assert!(items.contains(&Item::Linker("now".to_owned())));
    }

    #[test]
    fn a_language_holds_until_the_next() {
        let items = parse(&words("-x c a.txt -xc++ b.txt -x none c.c"));
        let inputs: Vec<_> = items
            .iter()
            .filter_map(|item| match item {
                Item::Input { path, language } => Some((path.as_str(), language.as_deref())),
                _ => None,
            })
            .collect();
        assert_eq!(
            inputs,
            [("a.txt", Some("c")), ("b.txt", Some("c++")), ("c.c", None)]
        );
    }

    #[test]
    fn words_after_a_double_dash_are_inputs() {
        let items = parse(&words("-c -- -odd.c"));
        assert_eq!(
            items[1],
            Item::Input {
                path: "-odd.c".to_owned(),
                language: None
            }
        );
    }
}
