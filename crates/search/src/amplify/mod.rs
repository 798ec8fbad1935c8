//! Amplification: every test checks all inputs of its path, and the paths beside it.
//!
//! After Marinescu and Cadar, "make test-zesti: a symbolic execution solution for improving regression testing", ICSE
//! 2012. At distance 0 every sensitive operation on a test's path is checked against all inputs that follow the same path.
//! At distance D ≥ 1 the path is left at the points (branches whose other side some input takes) that lie D points before a
//! sensitive operation, and what comes then is followed over f(D) = 2D points; D grows over all tests together, the
//! deepest operations come first, and nothing that was done at D is repeated at D + 1. Every violation is run
//! on the plain and the checked program, and only what is seen there is reported.
//!
//! Where this differs from the paper:
//! 1. A path is followed by running the program to its end on a new input, not by forking states. So what a native run
//!    shows behind the depth bound is reported, too.
//! 2. The program's memory is that of the run: a write through a symbolic address goes to one place. Questions are
//!    asked without what was so fixed, and the run shows whether the answer is right ([`Rigour`](crate::worker::Rigour)).
//! 3. A `switch` is one point, however many cases it has; a pointer from memory that could point elsewhere is one, too.
//! 4. An access at a concrete address is sensitive where the code could have computed it from input: nothing else
//!    can become symbolic on a path nearby.
//! 5. More kinds of operations: see [`sensitive`](parallax_trace::sensitive).
//! 6. When D is larger than any distance that there is, and is not limited, the bound grows on for all points.
//! 7. Several programs share the time that there is: they take turns, and none goes on to D + 1 before all are done with D.

mod amplifier;
mod crew;
mod distance;
mod forest;
mod interface;
mod ledger;
mod order;
mod points;
mod probe;
mod reduce;
mod run;
pub mod sample;
mod sides;
mod tape;
mod trunks;

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use amplifier::{Amplifier, Pause, Turn};
use crew::Crew;
pub use interface::{
    Amplification, Amplified, Checks, Divergence, Observer, Options, Place, Progress, Seed,
    Summary, Target,
};
use tape::Tape;

use crate::explore::{Ended, ExploreError};
use crate::journal::Journal;
use parallax_exec::sites::SiteMap;

/// Workers: things done at a time, whatever the number of threads.
const WORKERS: usize = 4;
/// Points of one path at which it is left together.
const GROUP: usize = 16;
/// Tests that are traced, and checked, together: few enough for progress, enough that nobody waits long for the slowest.
const PLANTED_TOGETHER: usize = 64;
const CHECKED_TOGETHER: usize = 16;
/// A place whose failure so many tests have shown, or could not show, is not asked about any more.
const OFTEN: u64 = 8;
/// Decisions of a path that are looked at: points further from its start are not left.
const MOST_DECISIONS: usize = 20_000;
/// Divergences that are kept for the report.
const MOST_DIVERGENCES: usize = 1000;
/// Programs have so many turns each if time is short, and none is shorter than the least.
const TURNS: u32 = 4;
const LEAST_TURN: Duration = Duration::from_secs(2);
/// What bringing inputs nearer to their tests may take of the time that was given, in addition.
const EXTRA_SHARE: u32 = 10;
const LEAST_EXTRA: Duration = Duration::from_secs(10);

/// Amplifies tests of programs, or goes on where the journal says that another process was.
pub fn amplify(
    targets: &[Target],
    options: &Options,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
) -> Result<Summary, ExploreError> {
    let sites: Vec<OnceCell<SiteMap>> = targets.iter().map(|_| OnceCell::new()).collect();
    let mut campaign = Campaign {
        options,
        observer,
        tape: Tape::new(journal)?,
        crew: Crew::new(targets, options, &sites),
        amplifiers: chosen(targets, options)
            .into_iter()
            .enumerate()
            .map(|(index, chosen)| Amplifier::new(index, &targets[index], options, chosen))
            .collect(),
        last_turns: vec![0; targets.len()],
        turns: 0,
    };
    let ended = campaign.run()?;
    campaign.finish(ended)
}

/// For each program the seeds that are used.
fn chosen(targets: &[Target], options: &Options) -> Vec<Vec<usize>> {
    let all = targets.iter().map(|target| target.seeds.len()).sum();
    let sample = options
        .sample
        .map(|sample| sample.choose(all, options.seed));
    let mut first = 0;
    let mut chosen = Vec::new();
    for target in targets {
        let own = first..first + target.seeds.len();
        first = own.end;
        chosen.push(match &sample {
            Some(sample) => {
                let sample = sample.iter().filter(|index| own.contains(index));
                sample.map(|index| index - own.start).collect()
            }
            None => (0..target.seeds.len()).collect(),
        });
    }
    chosen
}

/// All programs, and whose turn it is.
struct Campaign<'a> {
    options: &'a Options,
    observer: &'a mut dyn Observer,
    tape: Tape<'a>,
    crew: Crew<'a>,
    amplifiers: Vec<Amplifier<'a>>,
    /// When each had its last turn, as a number.
    last_turns: Vec<u64>,
    turns: u64,
}

/// A program, and when its turn is over.
type Turned = (usize, Option<Instant>);

impl Campaign<'_> {
    fn run(&mut self) -> Result<Ended, ExploreError> {
        let mut same = None;
        while let Some((index, until)) = self.next(same.take()) {
            let pause = self.go_on(index, until)?;
            let was_known = self.tape.is_known();
            let cost = self.crew.settle(index);
            let cost = self.tape.close(index, cost)?;
            self.amplifiers[index].spend(cost);
            match pause {
                Pause::Ended(ended) => return Ok(ended),
                Pause::Chapter => same = Some((index, until)),
                Pause::Turn | Pause::Level => {}
            }
            if was_known && !self.tape.is_known() {
                let progress = self.progress();
                self.observer.caught_up(&progress);
            }
        }
        Ok(Ended::Exhausted)
    }

    /// Whose turn it is, and until when: the journal's, the same program's if its turn is not over, else who has waited longest
    /// of those that are least far.
    fn next(&mut self, same: Option<Turned>) -> Option<Turned> {
        if let Some(target) = self.tape.target() {
            return (target < self.amplifiers.len()).then_some((target, None));
        }
        if same.is_some() {
            return same;
        }
        let waiting = self.amplifiers.iter().enumerate();
        let waiting = waiting.filter_map(|(index, amplifier)| {
            Some((amplifier.level()?, self.last_turns[index], index))
        });
        let (_, _, index) = waiting.min()?;
        self.turns += 1;
        self.last_turns[index] = self.turns;
        let programs = self.amplifiers.len() as u32;
        let time = self.options.time.filter(|_| programs > 1);
        let share = time.map(|time| (time / (programs * TURNS)).max(LEAST_TURN));
        Some((index, share.map(|share| Instant::now() + share)))
    }

    /// Lets a program go on.
    fn go_on(&mut self, index: usize, until: Option<Instant>) -> Result<Pause, ExploreError> {
        let left = self.options.time;
        let left = left.map(|time| time.saturating_sub(self.tape.elapsed()));
        let mut others = Progress::default();
        for (other, amplifier) in self.amplifiers.iter_mut().enumerate() {
            if other != index {
                others.add(&amplifier.progress());
                amplifier.forest.forget();
            }
        }
        let mut turn = Turn {
            crew: &mut self.crew,
            tape: &mut self.tape,
            observer: self.observer,
            others,
            until,
            deadline: [
                left.map(|left| Instant::now() + left),
                self.options.deadline,
            ]
            .into_iter()
            .flatten()
            .min(),
        };
        self.amplifiers[index].advance(&mut turn)
    }

    fn progress(&self) -> Progress {
        let mut sum = Progress::default();
        for amplifier in &self.amplifiers {
            sum.add(&amplifier.progress());
        }
        sum
    }

    /// Brings inputs nearer to their tests, unless somebody wants an end.
    fn finish(mut self, ended: Ended) -> Result<Summary, ExploreError> {
        let extra = self.options.time;
        let extra = extra.map(|time| (time / EXTRA_SHARE).max(LEAST_EXTRA));
        let until = extra.map(|extra| Instant::now() + extra);
        let until = [until, self.options.deadline].into_iter().flatten().min();
        let progress = self.progress();
        if ended != Ended::Stopped {
            for (index, amplifier) in self.amplifiers.iter_mut().enumerate() {
                let findings = &mut amplifier.ledger.findings;
                if findings.is_empty() {
                    continue;
                }
                let (workers, _) = self.crew.of(index)?;
                reduce::reduce(findings, workers, amplifier.target, self.options, until)?;
            }
        }
        Ok(Summary {
            ended,
            progress,
            seconds: self.tape.elapsed().as_secs_f64(),
            targets: self.amplifiers.into_iter().map(Amplifier::finish).collect(),
        })
    }
}
