//! The text that a comparison looks for, at the place in the input where it looks.
//!
//! A comparison in a library takes a decision for every letter, and an equality before it may forbid each of them: from `http://` to
//! `https://` it is five steps, which have to be found in order. But the code says what the whole text is, and the run says which bytes
//! were compared with it. So the text is put there as a whole.

use parallax_analysis::Analysis;
use parallax_analysis::words::{Source, source_of};

use super::structure::places;
use crate::core::guide::Standing;
use crate::core::turn::contents;
use crate::edit::Edit;
use crate::worker::Traced;
use parallax_scenario::Scenario;

/// Texts of one comparison that are tried; tables have more.
const MOST_TEXTS: usize = 8;
/// A comparison that decides more than this is not looked through to its begin.
const LONGEST: usize = 256;

/// The texts that a decision is about, if it is made in a comparison.
pub fn texts(analysis: &Analysis, standing: &Standing<'_>) -> Vec<Vec<u8>> {
    let spot = standing.here().first();
    match spot.and_then(|spot| source_of(&analysis.program, *spot, None)) {
        Some(Source::Texts(mut texts)) => {
            texts.truncate(MOST_TEXTS);
            texts.retain(|text| !text.is_empty());
            texts
        }
        _ => Vec::new(),
    }
}

/// Puts texts where the comparison that takes a decision looks for them: over what is there, and before it.
pub fn put(scenario: &Scenario, traced: &Traced, index: usize, texts: &[Vec<u8>]) -> Vec<Edit> {
    let place = |index: usize| places(traced, &[index]).first().copied();
    let Some((source, mut begin)) = place(index) else {
        return Vec::new();
    };
    // Letters before this one were compared by the same call.
    let context = traced.decisions[index].context;
    for before in (index.saturating_sub(LONGEST)..index).rev() {
        match place(before) {
            Some((other, at))
                if traced.decisions[before].context == context
                    && other == source
                    && (at == begin || at + 1 == begin) =>
            {
                begin = at;
            }
            _ => break,
        }
    }
    let Some(Some(component)) = traced.sources.get(source as usize) else {
        return Vec::new();
    };
    let mut copy = scenario.clone();
    let Some(bytes) = contents(&mut copy, component) else {
        return Vec::new();
    };
    let Some(rest) = bytes.len().checked_sub(begin) else {
        return Vec::new();
    };
    let missing = texts
        .iter()
        .filter(|text| !bytes[begin..].starts_with(text));
    let edits = missing.flat_map(|text| {
        [text.len().min(rest), 0]
            .map(|removed| Edit::bytes(component, begin, removed, text.as_slice()))
    });
    edits.collect()
}
