//! Outputs that are different each time: whether one more fits in.
//!
//! A program that prints something random differs from every recording of it. Several runs show which part of which line varies;
//! only what does not vary is compared. Parts are whole words, because random words may begin alike by chance.

/// Whether a text is what the runs have in common, with something else where they vary.
pub(super) fn fits(text: &[u8], runs: &[Vec<u8>]) -> bool {
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        lines.map(<[u8]>::to_vec).collect()
    };
    let text = lines(text);
    let runs: Vec<Vec<Vec<u8>>> = runs.iter().map(|run| lines(run)).collect();
    runs.len() > 1
        && runs.iter().all(|run| run.len() == text.len())
        && text.iter().enumerate().all(|(index, line)| {
            let variants: Vec<&[u8]> = runs.iter().map(|run| &run[index][..]).collect();
            line_fits(line, &variants)
        })
}

fn line_fits(line: &[u8], variants: &[&[u8]]) -> bool {
    let first = variants[0];
    if variants.iter().all(|variant| *variant == first) {
        return line == first;
    }
    let shortest = variants.iter().map(|variant| variant.len()).min();
    let shortest = shortest.unwrap_or(0);
    let same = |at: usize| variants.iter().all(|variant| variant[at] == first[at]);
    let head = (0..shortest).take_while(|at| same(*at)).count();
    let from_end = |variant: &[u8], at: usize| variant[variant.len() - 1 - at];
    let same = |at: usize| {
        let byte = from_end(first, at);
        variants.iter().all(|variant| from_end(variant, at) == byte)
    };
    let tail = (0..shortest - head).take_while(|at| same(*at)).count();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let (before, after) = (&first[..head], &first[first.len() - tail..]);
    // Back to where words begin and end.
    let before = &before[..before.len() - before.iter().rev().take_while(|b| is_word(b)).count()];
    let after = &after[after.iter().take_while(|byte| is_word(byte)).count()..];
    let varying = line
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    varying.is_some_and(|varying| !varying.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(text: &str, runs: &[&str]) -> bool {
        let runs: Vec<Vec<u8>> = runs.iter().map(|run| run.as_bytes().to_vec()).collect();
        fits(text.as_bytes(), &runs)
    }

    #[test]
    fn only_what_varies_may_be_otherwise() {
        let runs = ["made dir/x.aB3k\ndone\n", "made dir/x.aC9q\ndone\n"];
        assert!(fit("made dir/x.Zz1x\ndone\n", &runs));
        assert!(!fit("made dir/y.Zz1x\ndone\n", &runs));
        assert!(!fit("made dir/x.Zz1x\nfailed\n", &runs));
        assert!(!fit("made dir/x.Zz1x\ndone\nmore\n", &runs));
        assert!(!fit("made dir/x.\ndone\n", &runs));
    }

    #[test]
    fn runs_that_agree_say_it_all() {
        assert!(fit("a\n", &["a\n", "a\n"]));
        assert!(!fit("b\n", &["a\n", "a\n"]));
        assert!(!fit("a\n", &["a\n"]), "one run tells nothing about chance");
    }
}
