//! Who gets the next slice of the time.
//!
//! Every phase has a short slice first, in the order given, so that the first useful answer comes early. After that the time goes to
//! what yields most per second, as far as each has had its least share. A slice is twice as long as the one before it, because a search
//! that goes on repeats some of its beginning. Who has nothing left to try is left out until somebody else finds inputs to start from.
//!
//! Nothing in here knows what a phase is or what time it is.

use std::time::Duration;

/// The first slice is one part in so many of the budget, within these bounds.
const OPENING: u32 = 20;
const SHORTEST: Duration = Duration::from_millis(500);
/// It may end when no more than one part in so many of the budget is left that nobody can use.
const ENOUGH: u32 = 10;
const INSTANT: Duration = Duration::from_millis(10);
const LONGEST_OPENING: Duration = Duration::from_secs(20);
/// A phase that has yielded nothing for so long is worth half of what it was taken to be worth at first.
const PATIENCE: f64 = 0.1;

/// What a phase is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    pub phase: usize,
    pub time: Duration,
}

/// What came of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// How long it took.
    pub spent: Duration,
    /// New things: findings, lines reached.
    pub found: u64,
    /// New inputs that other phases can start from.
    pub inputs: u64,
    /// There is nothing left to try, unless inputs come.
    pub is_done: bool,
}

#[derive(Clone, Debug)]
struct Phase {
    /// Share of the budget that it has before others have more than theirs.
    least: f64,
    spent: Duration,
    last: Duration,
    /// Of the last slices, the last counting most.
    found: f64,
    slices: u32,
    is_done: bool,
    /// By how much it took longer than it was given, lately.
    over: Duration,
}

/// The time, and what it went to.
#[derive(Clone, Debug)]
pub struct Schedule {
    budget: Duration,
    spent: Duration,
    phases: Vec<Phase>,
}

impl Schedule {
    /// Phases with their least shares of the time, in the order of their first slices.
    pub fn new(budget: Duration, shares: &[f64]) -> Schedule {
        let phase = |least: &f64| Phase {
            least: *least,
            spent: Duration::ZERO,
            last: Duration::ZERO,
            found: 0.0,
            slices: 0,
            is_done: false,
            over: Duration::ZERO,
        };
        Schedule {
            budget,
            spent: Duration::ZERO,
            phases: shares.iter().map(phase).collect(),
        }
    }

    pub fn left(&self) -> Duration {
        self.budget.saturating_sub(self.spent)
    }

    /// Takes time away, for what is no phase.
    pub fn spend(&mut self, time: Duration) {
        self.spent += time;
    }

    /// The next slice; `None` when the time is used up or nobody has anything left to try.
    pub fn next(&self) -> Option<Slice> {
        let left = self.left();
        if left.is_zero() {
            return None;
        }
        let open = || {
            self.phases
                .iter()
                .enumerate()
                .filter(|(_, one)| !one.is_done)
        };
        let count = open().count();
        let opening = (self.budget / OPENING).clamp(SHORTEST, LONGEST_OPENING);
        if let Some((phase, _)) = open().find(|(_, one)| one.slices == 0) {
            let time = opening.min(left);
            return Some(Slice { phase, time });
        }
        let owed: Duration = open().map(|(_, one)| self.owed(one)).sum();
        let is_short = owed >= left;
        // Who cannot stop in time does not begin so late, unless nobody else is there.
        let ends = |one: &Phase| one.over.is_zero() || one.over + SHORTEST <= left;
        let is_anybody = open().any(|(_, one)| ends(one));
        if !is_anybody && self.spent > self.budget - self.budget / ENOUGH {
            return None;
        }
        let best = open()
            .filter(|(_, one)| !is_anybody || ends(one))
            .filter(|(_, one)| !is_short || !self.owed(one).is_zero() || !is_anybody)
            .max_by(|(i, a), (j, b)| {
                let worth = self.worth(a).total_cmp(&self.worth(b));
                // Of equals who has had least, then who is first.
                worth.then(b.spent.cmp(&a.spent)).then(j.cmp(i))
            });
        let (phase, chosen) = best?;
        let room = left.saturating_sub(chosen.over).max(SHORTEST.min(left));
        if count == 1 {
            return Some(Slice { phase, time: room });
        }
        // Others are to have their turn, and their shares. To begin takes time, so slices are not ever shorter in the end.
        let others = owed.saturating_sub(self.owed(chosen));
        let most = (left / 2)
            .max(opening)
            .min(left.saturating_sub(others + chosen.over));
        let mut time = (chosen.last * 2).max(opening).min(most).max(SHORTEST);
        if left.saturating_sub(time) < opening && others.is_zero() {
            time = left;
        }
        let time = time.min(room);
        Some(Slice { phase, time })
    }

    /// Takes in what came of a slice of this length.
    pub fn took(&mut self, slice: Slice, gain: Gain) {
        let phase = slice.phase;
        // Who does nothing and does not say so must not go on for ever.
        self.spent += gain.spent.max(INSTANT);
        if gain.inputs > 0 {
            for (number, other) in self.phases.iter_mut().enumerate() {
                other.is_done &= number == phase;
            }
        }
        let phase = &mut self.phases[phase];
        phase.spent += gain.spent;
        phase.last = gain.spent.max(SHORTEST);
        phase.found = phase.found / 2.0 + gain.found as f64;
        phase.slices += 1;
        phase.is_done = gain.is_done;
        let over = gain.spent.saturating_sub(slice.time);
        phase.over = over.max(phase.over / 2);
    }

    /// What is missing of its least share.
    fn owed(&self, phase: &Phase) -> Duration {
        self.budget.mul_f64(phase.least).saturating_sub(phase.spent)
    }

    /// New things per second that it promises. To have found nothing in a short time says little.
    fn worth(&self, phase: &Phase) -> f64 {
        let patience = self.budget.as_secs_f64() * PATIENCE;
        (phase.found + 1.0) / (phase.last.as_secs_f64() + patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Lets phases run that find so many things per second, until the end; what each has had, and who was first.
    fn simulate(budget: Duration, shares: &[f64], rates: &[f64]) -> (Vec<Duration>, Vec<usize>) {
        let mut schedule = Schedule::new(budget, shares);
        let mut had = vec![Duration::ZERO; shares.len()];
        let mut order = Vec::new();
        while let Some(slice) = schedule.next() {
            assert!(slice.time <= schedule.left());
            had[slice.phase] += slice.time;
            order.push(slice.phase);
            let found = slice.time.as_secs_f64() * rates[slice.phase];
            let gain = Gain {
                spent: slice.time,
                found: found as u64,
                ..Gain::default()
            };
            schedule.took(slice, gain);
            assert!(order.len() < 1000, "it does not end");
        }
        (had, order)
    }

    #[test]
    fn everybody_has_a_short_slice_first_in_the_order_given() {
        let (_, order) = simulate(5 * MINUTE, &[0.1; 4], &[0.0, 0.0, 5.0, 0.0]);
        assert_eq!(order[..4], [0, 1, 2, 3]);
        let first = Schedule::new(5 * MINUTE, &[0.1; 4]).next().unwrap();
        assert!(first.time <= 5 * MINUTE / 10);
    }

    #[test]
    fn the_whole_budget_is_used_and_no_more() {
        for seconds in [1, 7, 60, 300, 3600] {
            let budget = Duration::from_secs(seconds);
            let (had, _) = simulate(budget, &[0.1; 3], &[1.0, 0.0, 0.3]);
            assert_eq!(had.iter().sum::<Duration>(), budget, "{seconds} s");
        }
    }

    #[test]
    fn time_goes_to_what_yields() {
        let (had, _) = simulate(5 * MINUTE, &[0.1; 3], &[0.0, 2.0, 0.0]);
        assert!(had[1] > 5 * MINUTE / 2, "{had:?}");
    }

    #[test]
    fn who_yields_nothing_has_the_least_share_all_the_same() {
        let shares = [0.15, 0.1, 0.2];
        let (had, _) = simulate(5 * MINUTE, &shares, &[0.0, 9.0, 0.0]);
        for (had, share) in had.iter().zip(shares) {
            assert!(*had >= (5 * MINUTE).mul_f64(share * 0.99), "{had:?}");
        }
    }

    #[test]
    fn where_nobody_yields_the_time_is_shared() {
        let (had, _) = simulate(10 * MINUTE, &[0.1; 3], &[0.0; 3]);
        let (least, most) = (had.iter().min().unwrap(), had.iter().max().unwrap());
        assert!(*most <= *least * 5, "{had:?}");
    }

    #[test]
    fn what_stops_yielding_loses_its_place() {
        let mut schedule = Schedule::new(10 * MINUTE, &[0.05, 0.05]);
        let mut had = [Duration::ZERO; 2];
        while let Some(slice) = schedule.next() {
            let begun = 10 * MINUTE - schedule.left();
            let is_rich = slice.phase == 1 || begun < MINUTE;
            had[slice.phase] += slice.time;
            let gain = Gain {
                spent: slice.time,
                found: if is_rich { slice.time.as_secs() } else { 0 },
                ..Gain::default()
            };
            schedule.took(slice, gain);
        }
        assert!(had[0] < had[1] / 3, "{had:?}");
    }

    #[test]
    fn who_is_done_is_left_out_until_somebody_finds_inputs() {
        let mut schedule = Schedule::new(MINUTE, &[0.1, 0.1]);
        let second = Duration::from_secs(1);
        let done = Gain {
            spent: second,
            is_done: true,
            ..Gain::default()
        };
        let slice = |phase| Slice {
            phase,
            time: second,
        };
        assert_eq!(schedule.next().unwrap().phase, 0);
        schedule.took(slice(0), done);
        assert_eq!(schedule.next().unwrap().phase, 1);
        let found = Gain {
            spent: second,
            found: 1,
            inputs: 1,
            is_done: true,
        };
        schedule.took(slice(1), found);
        // The second is done, the first has something to start from again.
        assert_eq!(schedule.next().unwrap().phase, 0);
        schedule.took(slice(0), done);
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn it_ends_with_a_phase_that_does_nothing_and_does_not_say_so() {
        let mut schedule = Schedule::new(Duration::from_secs(5), &[0.1]);
        let mut slices = 0;
        while let Some(slice) = schedule.next() {
            schedule.took(slice, Gain::default());
            slices += 1;
        }
        assert!(slices <= 500);
    }

    #[test]
    fn slices_grow_because_searches_repeat_their_beginning() {
        let mut schedule = Schedule::new(10 * MINUTE, &[0.1, 0.1]);
        let mut times = [Vec::new(), Vec::new()];
        while let Some(slice) = schedule.next() {
            let gain = Gain {
                spent: slice.time,
                ..Gain::default()
            };
            times[slice.phase].push(slice.time);
            schedule.took(slice, gain);
        }
        for times in times {
            assert!(times[1] >= times[0] * 2, "{times:?}");
            assert!(times.len() < 8, "{times:?}");
        }
    }

    #[test]
    fn who_is_left_alone_has_all_that_is_left() {
        let mut schedule = Schedule::new(MINUTE, &[0.1, 0.1]);
        for is_done in [true, false] {
            let slice = schedule.next().unwrap();
            let gain = Gain {
                spent: slice.time,
                is_done,
                ..Gain::default()
            };
            schedule.took(slice, gain);
        }
        let slice = schedule.next().unwrap();
        assert_eq!((slice.phase, slice.time), (1, schedule.left()));
    }

    #[test]
    fn who_takes_longer_than_its_slice_costs_others_not_their_shares_and_ends_in_time() {
        for longer in [1.0, 4.0, 9.0] {
            let mut schedule = Schedule::new(2 * MINUTE, &[0.2, 0.2]);
            let mut had = [Duration::ZERO; 2];
            while let Some(slice) = schedule.next() {
                let spent = match slice.phase {
                    // What cannot be interrupted takes as long as it takes.
                    0 => slice.time + Duration::from_secs_f64(longer),
                    _ => slice.time,
                };
                had[slice.phase] += spent;
                schedule.took(
                    slice,
                    Gain {
                        spent,
                        found: u64::from(slice.phase == 0) * 100,
                        ..Gain::default()
                    },
                );
            }
            assert!(had[1] >= (2 * MINUTE).mul_f64(0.14), "{had:?}");
            let total = had[0] + had[1];
            assert!(total <= (2 * MINUTE).mul_f64(1.1), "{had:?}");
            assert!(total >= (2 * MINUTE).mul_f64(0.9), "{had:?}");
        }
    }
}
