//! Programs for libFuzzer: `-fsanitize=fuzzer`.
//!
//! libFuzzer brings a `main` that makes up inputs, and instrumentation that tells it what they reached. Here inputs come
//! from elsewhere, so the option is taken away, and the program gets a `main` of ours that reads one
//! input: compiled and captured like a source of the program's own, so that every variant has it.

use super::{Job, capture};
use crate::arguments::without_sanitizers;
use crate::store::Store;
use crate::tools::{Compiler, clang};
use parallax_bundle::Bundle;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

const WITH_MAIN: &str = "fuzzer";
const UNWANTED: &[&str] = &[WITH_MAIN, "fuzzer-no-link"];

/// A command line without libFuzzer.
pub struct Stripped {
    pub words: Vec<String>,
    /// Whether libFuzzer's `main` would have been linked.
    pub needs_main: bool,
}

/// `None` if the words do not ask for libFuzzer.
pub fn strip(words: &[String]) -> Option<Stripped> {
    let asks_for = |sanitizers: &[&str]| {
        let lists = words
            .iter()
            .filter_map(|word| word.strip_prefix("-fsanitize="));
        lists
            .flat_map(|list| list.split(','))
            .any(|sanitizer| sanitizers.contains(&sanitizer))
    };
    asks_for(UNWANTED).then(|| Stripped {
        needs_main: asks_for(&[WITH_MAIN]),
        words: words
            .iter()
            .filter_map(|word| without_sanitizers(std::slice::from_ref(word), UNWANTED))
            .flatten()
            .collect(),
    })
}

/// The object with `main`. Returns a path that stays good.
pub fn main_object(bundle: &Bundle) -> io::Result<PathBuf> {
    let scratch = tempfile::tempdir()?;
    let object = scratch.path().join("main.o");
    let mut arguments: Vec<OsString> = ["-c", "-O1", "-fPIC"].map(Into::into).to_vec();
    arguments.extend([bundle.fuzzer_main().into(), "-o".into(), (&object).into()]);
    let clang = clang(Compiler::C).map_err(io::Error::other)?;
    let job = Job::understand(Compiler::C, &clang, &arguments)
        .ok_or_else(|| io::Error::other("its source is missing"))?;
    let status = capture::compile(clang, &arguments, &job, bundle)?;
    if !status.success() {
        return Err(io::Error::other("it does not compile"));
    }
    let bytes = std::fs::read(&object)?;
    let store = Store::open().ok_or_else(|| io::Error::other("there is no capture store"))?;
    store.put_object(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn only_libfuzzer_is_taken_away() {
        let stripped = strip(&words("-g -fsanitize=address,fuzzer a.c -fsanitize=fuzzer")).unwrap();
        assert_eq!(stripped.words, words("-g -fsanitize=address a.c"));
        assert!(stripped.needs_main);
        let stripped = strip(&words("-fsanitize=fuzzer-no-link -c a.c")).unwrap();
        assert_eq!(stripped.words, words("-c a.c"));
        assert!(!stripped.needs_main);
        assert!(strip(&words("-fsanitize=address a.c")).is_none());
    }
}
