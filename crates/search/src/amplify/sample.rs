//! Running only a share of the tests: which ones, and what may be missed (section IV-C of the paper).

use std::str::FromStr;

/// How many tests to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    Count(usize),
    Percent(f64),
}

/// Why a text names no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    #[error("neither a number of tests nor a percentage")]
    Malformed,
    #[error("a percentage is more than 0 and at most 100")]
    Percentage,
    #[error("at least one test must be run")]
    Nothing,
}

impl FromStr for Sample {
    type Err = SampleError;

    fn from_str(text: &str) -> Result<Sample, SampleError> {
        if let Some(digits) = text.strip_suffix('%') {
            let percent: f64 = digits.parse().map_err(|_| SampleError::Malformed)?;
            if !(percent > 0.0 && percent <= 100.0) {
                return Err(SampleError::Percentage);
            }
            return Ok(Sample::Percent(percent));
        }
        match text.parse() {
            Ok(0) => Err(SampleError::Nothing),
            Ok(count) => Ok(Sample::Count(count)),
            Err(_) => Err(SampleError::Malformed),
        }
    }
}

impl Sample {
    /// So many of `all` tests.
    pub fn of(self, all: usize) -> usize {
        match self {
            Sample::Count(count) => count.min(all),
            Sample::Percent(percent) => ((all as f64 * percent / 100.0).ceil() as usize).min(all),
        }
    }

    /// Which ones, ascending: every choice is equally likely, and the same for the same number.
    pub fn choose(self, all: usize, seed: u64) -> Vec<usize> {
        let mut left = self.of(all);
        let mut state = seed;
        let mut chosen = Vec::with_capacity(left);
        for index in 0..all {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let remaining = (all - index) as u64;
            if mixed(state) % remaining < left as u64 {
                chosen.push(index);
                left -= 1;
            }
        }
        chosen
    }
}

/// Of several programs with so many tests each, the tests that are used: all, or a sample of them together.
pub fn chosen(tests: &[usize], sample: Option<Sample>, seed: u64) -> Vec<Vec<usize>> {
    let all = tests.iter().sum();
    let sample = match sample {
        Some(sample) => sample.choose(all, seed),
        None => (0..all).collect(),
    };
    let mut first = 0;
    let each = tests.iter().map(|count| {
        let own = first..first + count;
        first = own.end;
        let sample = sample.iter().filter(|index| own.contains(index));
        sample.map(|index| index - own.start).collect()
    });
    each.collect()
}

fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The probability that none of `picked` tests, drawn from `all` without putting back, is one of the
/// `exposing` ones.
pub fn miss_probability(all: usize, exposing: usize, picked: usize) -> f64 {
    if exposing + picked > all {
        return 0.0;
    }
    let factor = |drawn: usize| (all - exposing - drawn) as f64 / (all - drawn) as f64;
    (0..picked).map(factor).product()
}

/// How many of `all` tests a percentage is, at least one.
pub fn share(all: usize, percent: usize) -> usize {
    (all * percent).div_ceil(100).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_the_paper_s_size_finds_with_the_paper_s_probability() {
        // Of 100 tests, 7 are enough for 90 % if 30 expose the bug, 20 if 10 do, 32 if 6 do.
        for (exposing, enough) in [(30, 7), (10, 20), (6, 32)] {
            let found = 1.0 - miss_probability(100, exposing, enough);
            assert!(found >= 0.9, "{exposing}: {found}");
            let found = 1.0 - miss_probability(100, exposing, enough - 1);
            assert!(found < 0.9, "{exposing}: {found}");
        }
    }

    #[test]
    fn nothing_is_missed_when_all_tests_run() {
        assert_eq!(miss_probability(10, 1, 10), 0.0);
        assert_eq!(miss_probability(10, 3, 0), 1.0);
    }

    #[test]
    fn a_sample_has_its_size_and_is_the_same_for_the_same_number() {
        let sample = Sample::Percent(25.0);
        assert_eq!(sample.choose(41, 7).len(), 11);
        assert_eq!(sample.choose(41, 7), sample.choose(41, 7));
        assert_ne!(sample.choose(41, 7), sample.choose(41, 8));
        assert_eq!(Sample::Count(99).choose(3, 1), [0, 1, 2]);
    }

    #[test]
    fn samples_are_read_from_text() {
        assert_eq!("30%".parse(), Ok(Sample::Percent(30.0)));
        assert_eq!("12".parse(), Ok(Sample::Count(12)));
        assert_eq!("0".parse::<Sample>(), Err(SampleError::Nothing));
        assert_eq!("101%".parse::<Sample>(), Err(SampleError::Percentage));
        assert_eq!("some".parse::<Sample>(), Err(SampleError::Malformed));
    }
}
