//! Response files: `@file` stands for the words in the file.

use std::path::Path;

/// Files that name each other can go round in circles; clang refuses, so it is left to clang.
const MAX_DEPTH: u32 = 32;

/// Replaces every `@file` by the file's words, as clang does. A file that cannot be read is left
/// as it is, also as clang does. `None` if the files name each other in a circle.
pub fn expand(arguments: &[String]) -> Option<Vec<String>> {
    let mut expanded = Vec::with_capacity(arguments.len());
    expand_into(arguments, &mut expanded, 0)?;
    Some(expanded)
}

fn expand_into(arguments: &[String], expanded: &mut Vec<String>, depth: u32) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    for word in arguments {
        let text = word
            .strip_prefix('@')
            .filter(|path| Path::new(path).is_file())
            .and_then(|path| std::fs::read_to_string(path).ok());
        match text {
            Some(text) => expand_into(&split(&text), expanded, depth + 1)?,
            None => expanded.push(word.clone()),
        }
    }
    Some(())
}

/// Words of a response file: separated by white space, quoted as in a shell but with a
/// backslash also escaping inside double quotes.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(character);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes_are_understood() {
        assert_eq!(
            split("-DA=\"x y\"  'a\\b'\n-DS=\\\"q\\\" \"\" end"),
            ["-DA=x y", "a\\b", "-DS=\"q\"", "", "end"]
        );
    }

    #[test]
    fn nested_files_are_expanded_and_circles_are_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("inner"), "-DX=1 b.c").unwrap();
        std::fs::write(path("outer"), format!("-c @{} -O2", path("inner"))).unwrap();
        std::fs::write(path("circle"), format!("@{}", path("circle"))).unwrap();
        let line = |name: &str| vec!["a.c".to_owned(), format!("@{}", path(name))];
        assert_eq!(
            expand(&line("outer")).unwrap(),
            ["a.c", "-c", "-DX=1", "b.c", "-O2"]
        );
        assert_eq!(expand(&line("circle")), None);
        assert_eq!(expand(&line("absent")).unwrap(), line("absent"));
    }
}
