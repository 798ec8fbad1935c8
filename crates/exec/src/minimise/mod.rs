//! Makes the input of a finding small and plain, so that a developer sees a test that could have been written by hand.
//!
//! In turns, until nothing helps any more: leave out whole pieces (arguments, files, variables, connections), shorten what is
//! left, and make single bytes those of the seed that the input came from, or else letters and digits. A change
//! stays if the input still shows the same thing, which the caller decides by running it. Nothing here is random,
//! and the number of runs is limited.

mod pieces;
mod texts;

use std::collections::HashSet;

use parallax_scenario::Scenario;
use pieces::Piece;
use texts::Text;

/// Says whether a smaller scenario still shows the same thing.
pub type Judge<'j, E> = dyn FnMut(&Scenario) -> Result<bool, E> + 'j;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimised {
    pub scenario: Scenario,
    /// How often the judge was asked.
    pub runs: u32,
}

/// Makes `scenario`, which shows something, smaller. `seeds` are inputs that it may have come from.
pub fn minimise<E>(
    scenario: &Scenario,
    seeds: &[Scenario],
    most_runs: u32,
    judge: &mut Judge<'_, E>,
) -> Result<Minimised, E> {
    let mut work = Work {
        best: scenario.clone(),
        tried: HashSet::new(),
        runs: 0,
        most_runs,
        judge,
    };
    while work.round(seeds)? && !work.is_spent() {}
    Ok(Minimised {
        scenario: work.best,
        runs: work.runs,
    })
}

struct Work<'w, 'j, E> {
    best: Scenario,
    tried: HashSet<Scenario>,
    runs: u32,
    most_runs: u32,
    judge: &'w mut Judge<'j, E>,
}

impl<E> Work<'_, '_, E> {
    fn is_spent(&self) -> bool {
        self.runs >= self.most_runs
    }

    /// Takes over a scenario if it will do.
    fn attempt(&mut self, scenario: Scenario) -> Result<bool, E> {
        if self.is_spent() || scenario == self.best || !self.tried.insert(scenario.clone()) {
            return Ok(false);
        }
        self.runs += 1;
        let holds = (self.judge)(&scenario)?;
        if holds {
            self.best = scenario;
        }
        Ok(holds)
    }

    /// One turn of everything; whether it helped.
    fn round(&mut self, seeds: &[Scenario]) -> Result<bool, E> {
        let mut helped = self.drop_pieces()?;
        for text in texts::all(&self.best) {
            helped |= self.shorten(&text)?;
        }
        let seed = texts::nearest(&self.best, seeds);
        for text in texts::all(&self.best) {
            helped |= self.approach_seed(&text, seed)?;
            helped |= self.simplify(&text, seed)?;
        }
        Ok(helped)
    }

    /// Leaves out pieces, many at a time at first.
    fn drop_pieces(&mut self) -> Result<bool, E> {
        let mut pieces: Vec<Piece> = pieces::all(&self.best);
        let mut helped = false;
        let mut size = pieces.len();
        while size > 0 {
            let mut end = pieces.len();
            // From the end: the numbers of what comes before stay as they are.
            while end > 0 && !self.is_spent() {
                let start = end.saturating_sub(size);
                if self.attempt(pieces::without(&self.best, &pieces[start..end]))? {
                    helped = true;
                    pieces = pieces::all(&self.best);
                }
                end = start.min(pieces.len());
            }
            size /= 2;
        }
        Ok(helped)
    }

    /// Leaves out lines, then bytes.
    fn shorten(&mut self, text: &Text) -> Result<bool, E> {
        let mut helped = false;
        if !text.may_shrink() {
            return Ok(helped);
        }
        for unit in [texts::lines, texts::bytes] {
            let mut ranges = unit(text.of(&self.best));
            let mut size = ranges.len();
            while size > 0 {
                let mut end = ranges.len();
                while end > 0 && !self.is_spent() {
                    let start = end.saturating_sub(size);
                    let range = ranges[start].start..ranges[end - 1].end;
                    if self.attempt(text.without(&self.best, range))? {
                        helped = true;
                        ranges = unit(text.of(&self.best));
                    }
                    end = start.min(ranges.len());
                }
                size /= 2;
            }
        }
        Ok(helped)
    }

    /// Gives bytes that differ from the seed's the seed's values.
    fn approach_seed(&mut self, text: &Text, seed: Option<&Scenario>) -> Result<bool, E> {
        let now = text.of(&self.best);
        let Some(wanted) = seed.and_then(|seed| text.counterpart(now, seed)) else {
            return Ok(false);
        };
        let places: Vec<usize> = (0..now.len())
            .filter(|at| now[*at] != wanted[*at])
            .collect();
        self.replace(text, &places, &|at, _| wanted[at])
    }

    /// Makes bytes that are not the seed's plain ones.
    fn simplify(&mut self, text: &Text, seed: Option<&Scenario>) -> Result<bool, E> {
        let mut helped = false;
        for plain in PLAIN {
            let now = text.of(&self.best);
            let wanted = seed.and_then(|seed| text.counterpart(now, seed));
            let is_seeds = |at: usize| wanted.is_some_and(|wanted| wanted[at] == now[at]);
            let places: Vec<usize> = (0..now.len())
                .filter(|at| !is_seeds(*at) && rank(plain(now[*at])) < rank(now[*at]))
                .collect();
            helped |= self.replace(text, &places, &|_, byte| plain(byte))?;
        }
        Ok(helped)
    }

    /// Replaces bytes at some places: all of them, or as many as will do.
    fn replace(
        &mut self,
        text: &Text,
        places: &[usize],
        by: &dyn Fn(usize, u8) -> u8,
    ) -> Result<bool, E> {
        if places.is_empty() || self.is_spent() {
            return Ok(false);
        }
        let mut bytes = text.of(&self.best).to_vec();
        for at in places {
            bytes[*at] = by(*at, bytes[*at]);
        }
        if self.attempt(text.with(&self.best, bytes))? {
            return Ok(true);
        }
        if places.len() == 1 {
            return Ok(false);
        }
        let (first, second) = places.split_at(places.len() / 2);
        let first = self.replace(text, first, by)?;
        Ok(self.replace(text, second, by)? || first)
    }
}

/// What a byte may become, best first.
const PLAIN: [fn(u8) -> u8; 4] = [
    |byte| match byte {
        b'0'..=b'9' => b'0',
        _ => b'A',
    },
    |_| b'0',
    |_| b' ',
    |_| b'\n',
];

/// How far a byte is from plain text.
fn rank(byte: u8) -> u8 {
    match byte {
        b'A' | b'0' => 0,
        b'a'..=b'z' | b'B'..=b'Z' | b'1'..=b'9' => 1,
        b' ' | b'\n' => 2,
        0x21..=0x7e | b'\t' => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests;
