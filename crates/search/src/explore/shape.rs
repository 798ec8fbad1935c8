//! The inputs that an exploration may make: how many arguments, how long, how large the files.
//!
//! From a given command line, inputs stay near it. From nothing, the shape is what the user asked for,
//! in the terms that users of KLEE know: groups of arguments, a standard input and files of given size.

use parallax_scenario::{Bytes, Scenario};

/// Arguments as `--sym-args MIN MAX LEN` describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentGroup {
    pub least: usize,
    pub most: usize,
    /// Bytes of each.
    pub length: usize,
}

/// What inputs may look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Near a given scenario.
    Near(Box<Scenario>),
    /// As described.
    Described(Box<Described>),
    /// Made of any of several scenarios.
    Bounded(Bounds),
}

/// What inputs are at most that are made of several scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub arguments: usize,
    /// Bytes of an argument.
    pub argument: usize,
    /// Bytes of all that is read.
    pub data: usize,
}

impl Bounds {
    /// Larger than any of the scenarios, but not without end.
    pub fn around(scenarios: &[Scenario]) -> Bounds {
        const MORE_ARGUMENTS: usize = 6;
        let most = |of: fn(&Scenario) -> usize| scenarios.iter().map(of).max().unwrap_or(0);
        Bounds {
            arguments: most(|one| one.argv.len()) + MORE_ARGUMENTS,
            argument: grown(most(longest_argument)),
            data: grown(most(data)),
        }
    }

    fn accepts(&self, scenario: &Scenario) -> bool {
        scenario.argv.len() <= self.arguments
            && longest_argument(scenario) <= self.argument
            && data(scenario) <= self.data
    }
}

fn longest_argument(scenario: &Scenario) -> usize {
    let lengths = scenario.argv.iter().map(|argument| argument.len());
    lengths.max().unwrap_or(0)
}

fn data(scenario: &Scenario) -> usize {
    let files = scenario.files.values().chain(&scenario.streams);
    scenario.stdin.len() + files.map(|bytes| bytes.len()).sum::<usize>()
}

/// A shape from nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// What is given all the same: arguments that come first, standard input, files, variables. Their bytes may
    /// change, and they may grow.
    pub given: Scenario,
    pub groups: Vec<ArgumentGroup>,
    /// Bytes of a standard input that is not given.
    pub stdin: Option<usize>,
    /// Files by name, with their size.
    pub files: Vec<(Bytes, usize)>,
}

/// What unknown bytes are at first: a letter, so that it is text.
const FILLER: u8 = b'A';
/// Length of the longer arguments to start from: most words that programs look for are not longer.
const LONG: usize = 8;
/// Scenarios to start from at most, in each of two lengths; more numbers of arguments come through branches on their number.
const MOST_SEEDS: usize = 64;

impl Shape {
    /// The scenarios to start from.
    pub fn seeds(&self) -> Vec<Scenario> {
        match self {
            Shape::Near(scenario) => vec![(**scenario).clone()],
            Shape::Described(described) => described.seeds(),
            Shape::Bounded(_) => Vec::new(),
        }
    }

    /// Whether a scenario is one that the exploration may run.
    pub fn accepts(&self, scenario: &Scenario) -> bool {
        match self {
            Shape::Near(seed) => is_near(seed, scenario),
            Shape::Described(described) => described.accepts(scenario),
            Shape::Bounded(bounds) => bounds.accepts(scenario),
        }
    }
}

impl Described {
    fn seeds(&self) -> Vec<Scenario> {
        let mut counts: Vec<Vec<usize>> = vec![Vec::new()];
        for group in &self.groups {
            let longer = |chosen: &Vec<usize>| {
                let chosen = chosen.clone();
                (group.least..=group.most).map(move |count| [chosen.clone(), vec![count]].concat())
            };
            counts = counts.iter().flat_map(longer).take(MOST_SEEDS).collect();
        }
        // Short arguments first, for these are the cheapest to reason about; then as long ones as there may be: what is only
        // looked for in a text of several bytes would else have to wait until it has grown by one byte at a time.
        let seed = |counts: &Vec<usize>, longest: usize| {
            let mut seed = self.given.clone();
            for (group, count) in self.groups.iter().zip(counts) {
                let arguments = (0..*count).map(|_| filled(group.length.min(longest)));
                seed.argv.extend(arguments);
            }
            if let Some(size) = self.stdin {
                seed.stdin = filled(size);
            }
            let files = self.files.iter();
            seed.files
                .extend(files.map(|(name, size)| (name.clone(), filled(*size))));
            seed
        };
        let short: Vec<Scenario> = counts.iter().map(|counts| seed(counts, 1)).collect();
        let long = counts.iter().map(|counts| seed(counts, LONG));
        let more: Vec<Scenario> = long.filter(|seed| !short.contains(seed)).collect();
        [short, more].concat()
    }

    fn accepts(&self, scenario: &Scenario) -> bool {
        let given = &self.given;
        let Some(rest) = scenario.argv.get(given.argv.len()..) else {
            return false;
        };
        let mut firsts = given.argv.iter().zip(&scenario.argv);
        let stdin = self.stdin.unwrap_or_else(|| grown(given.stdin.len()));
        firsts.all(|(seed, now)| now.len() <= grown(seed.len()))
            && fits(&self.groups, rest)
            && scenario.stdin.len() <= stdin
            && scenario.files.iter().all(|(name, contents)| {
                let described = self.files.iter().find(|(known, _)| known == name);
                let most = match described {
                    Some((_, size)) => Some(*size),
                    None => given.files.get(name).map(|seed| grown(seed.len())),
                };
                most.is_some_and(|most| contents.len() <= most)
            })
    }
}

/// Unknown bytes.
fn filled(length: usize) -> Bytes {
    Bytes(vec![FILLER; length])
}

/// Whether the arguments can be dealt out to the groups in order.
fn fits(groups: &[ArgumentGroup], arguments: &[Bytes]) -> bool {
    let Some((group, others)) = groups.split_first() else {
        return arguments.is_empty();
    };
    let short = |argument: &&Bytes| argument.len() <= group.length;
    let most = arguments.iter().take_while(short).count().min(group.most);
    (group.least..=most).any(|count| fits(others, &arguments[count..]))
}

/// Whether a scenario is one that is made of a seed: longer, but not without end.
fn is_near(seed: &Scenario, scenario: &Scenario) -> bool {
    const MORE_ARGUMENTS: usize = 4;
    let lengths = |seed: &[Bytes], now: &[Bytes]| {
        let length = |index: usize| seed.get(index).map_or(0, |bytes| bytes.len());
        now.iter()
            .enumerate()
            .all(|(index, bytes)| bytes.len() <= grown(length(index)))
    };
    scenario.argv.len() <= seed.argv.len() + MORE_ARGUMENTS
        && lengths(&seed.argv, &scenario.argv)
        && lengths(&seed.streams, &scenario.streams)
        && scenario.stdin.len() <= grown(seed.stdin.len())
        && scenario.files.iter().all(|(name, contents)| {
            seed.files
                .get(name)
                .is_some_and(|seed| contents.len() <= grown(seed.len()))
        })
}

/// How long something may become.
fn grown(length: usize) -> usize {
    (length * 2).max(length + 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> Described {
        let group = |least, most, length| ArgumentGroup {
            least,
            most,
            length,
        };
        Described {
            groups: vec![group(0, 1, 10), group(0, 2, 2)],
            stdin: Some(8),
            files: vec![(b"A".into(), 8)],
            ..Described::default()
        }
    }

    fn with_arguments(arguments: &[&str]) -> Scenario {
        let argv = arguments
            .iter()
            .map(|text| text.as_bytes().into())
            .collect();
        Scenario {
            argv,
            ..Scenario::default()
        }
    }

    #[test]
    fn exploration_starts_from_every_number_of_arguments_short_and_long() {
        let seeds = described().seeds();
        let counts: Vec<usize> = seeds.iter().map(|seed| seed.argv.len()).collect();
        assert_eq!(counts, [0, 1, 2, 1, 2, 3, 1, 2, 1, 2, 3]);
        assert!(
            seeds
                .iter()
                .all(|seed| seed.stdin.len() == 8 && seed.files.len() == 1)
        );
        assert!(seeds.iter().all(|seed| described().accepts(seed)));
    }

    #[test]
    fn arguments_must_fit_their_groups_in_order() {
        let accepts = |arguments: &[&str]| described().accepts(&with_arguments(arguments));
        assert!(accepts(&["0123456789", "ab", "c"]));
        assert!(accepts(&["ab", "c"]));
        assert!(!accepts(&["01234567890"]));
        assert!(!accepts(&["ab", "0123456789"]));
        assert!(!accepts(&["a", "b", "c", "d"]));
    }

    #[test]
    fn what_is_given_beside_a_described_shape_stays_input() {
        let described = Described {
            given: Scenario {
                argv: vec![b"-f".into(), b"rules".into()],
                stdin: b"text".into(),
                files: [(b"rules".into(), b"a=b".into())].into(),
                env: [(b"MODE".into(), b"x".into())].into(),
                ..Scenario::default()
            },
            stdin: None,
            ..described()
        };
        let seed = described.seeds().remove(1);
        assert_eq!(seed.argv.len(), 3);
        assert_eq!(seed.stdin, b"text".into());
        assert_eq!(seed.files[&b"rules".into()], b"a=b".into());
        assert_eq!(seed.files[&b"A".into()], b"AAAAAAAA".into());
        assert_eq!(seed.env, described.given.env);
        assert!(described.accepts(&seed));
    }

    #[test]
    fn near_a_seed_things_grow_but_not_without_end() {
        let shape = Shape::Near(Box::new(with_arguments(&["-x"])));
        assert!(shape.accepts(&with_arguments(&["-xyz", "more"])));
        assert!(!shape.accepts(&with_arguments(&["a", "b", "c", "d", "e", "f"])));
        assert!(!shape.accepts(&with_arguments(&[&"x".repeat(1000)])));
    }
}
