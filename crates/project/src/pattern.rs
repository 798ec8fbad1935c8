//! Patterns for paths: `*` and `?` within a name, `**` across directories.
//!
//! Brackets mean themselves: coreutils has a program that is called `[`.

/// Whether a path (relative, with `/`) fits a pattern. A pattern without `/` is about the last name only, so
/// that `cmark` finds the program wherever the build put it.
pub fn fits(pattern: &str, path: &str) -> bool {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if !pattern.contains('/') {
        let name = path.rsplit('/').next().unwrap_or(path);
        return pattern == "**" || name_fits(pattern.as_bytes(), name.as_bytes());
    }
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    names_fit(&pattern, &path)
}

/// Whether a path lies in a folder of a list. An entry with `/` is a path from the root; one without is the name
/// of a folder at any depth, and may be a pattern.
pub fn lies_in(folders: &[String], path: &str) -> bool {
    let mut names: Vec<&str> = path.split('/').collect();
    names.pop();
    folders.iter().any(|folder| {
        let folder = folder.strip_prefix("./").unwrap_or(folder);
        let folder = folder.trim_end_matches('/');
        if folder == "." || folder.is_empty() {
            return true;
        }
        if folder.contains('/') {
            let wanted: Vec<&str> = folder.split('/').collect();
            return names.len() >= wanted.len() && names_fit(&wanted, &names[..wanted.len()]);
        }
        names
            .iter()
            .any(|name| name_fits(folder.as_bytes(), name.as_bytes()))
    })
}

fn names_fit(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            names_fit(rest, path)
                || path
                    .split_first()
                    .is_some_and(|(_, p)| names_fit(pattern, p))
        }
        (Some((first, rest)), Some((name, names))) => {
            name_fits(first.as_bytes(), name.as_bytes()) && names_fit(rest, names)
        }
        _ => false,
    }
}

fn name_fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|at| name_fits(rest, &name[at..])),
        Some((b'?', rest)) => !name.is_empty() && name_fits(rest, &name[1..]),
        Some((byte, rest)) => name.first() == Some(byte) && name_fits(rest, &name[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_name_unless_doubled() {
        assert!(fits("src/*", "src/cut"));
        assert!(!fits("src/*", "src/deep/cut"));
        assert!(fits("src/**", "src/deep/cut"));
        assert!(fits("**/cut", "cut"));
        assert!(fits("s?c/c*t", "src/cut"));
        assert!(!fits("src/cut", "lib/src/cut"));
    }

    #[test]
    fn a_bare_name_is_found_anywhere_and_brackets_are_themselves() {
        assert!(fits("cmark", "build/src/cmark"));
        assert!(!fits("cmark", "build/cmark/other"));
        assert!(fits("src/[", "src/["));
        assert!(!fits("src/[c]ut", "src/cut"));
    }

    #[test]
    fn folders_are_names_at_any_depth_or_paths_from_the_root() {
        let folders = [
            "tests".to_owned(),
            "lib/gen".to_owned(),
            "*-tests".to_owned(),
        ];
        assert!(lies_in(&folders, "tests/a.c"));
        assert!(lies_in(&folders, "find/tests/a.c"));
        assert!(lies_in(&folders, "lib/gen/deep/a.c"));
        assert!(lies_in(&folders, "gnulib-tests/a.c"));
        assert!(!lies_in(&folders, "src/lib/gen/a.c"));
        assert!(
            !lies_in(&folders, "src/tests"),
            "the file itself is no folder"
        );
        assert!(lies_in(&[".".to_owned()], "a.c"));
    }
}
