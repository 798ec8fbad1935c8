//! Which source has the next turn.
//!
//! Sources share what there is by what they yield per cost: stride scheduling, in which a source with twice the weight has twice
//! the share. A weight is the recent yield, but never less than a small share of the best one, because what yields nothing now
//! may be the only way to what comes later. Costs are CPU seconds, or counts where a search has no time limit.

/// The least weight, as a share of the largest.
const LEAST: f64 = 0.05;
/// What is remembered of yield and cost after each turn.
const MEMORY: f64 = 0.95;
/// What a source is believed to have yielded and cost before it has shown anything.
const EXPECTED_GAIN: f64 = 1.0;
/// See [`EXPECTED_GAIN`].
const EXPECTED_COST: f64 = 0.2;

/// See the module's description.
#[derive(Clone, Debug)]
pub struct Schedule {
    lanes: Vec<Lane>,
    /// The least progress of those that had a turn lately: who comes back does not catch up.
    now: f64,
}

#[derive(Clone, Debug)]
struct Lane {
    /// Cost divided by weight, summed up.
    progress: f64,
    /// What it is believed to yield before it has shown anything.
    expected: f64,
    /// Remembered.
    gain: f64,
    cost: f64,
    turns: u64,
    /// What turns that are under way are expected to cost, each.
    pending: Vec<f64>,
    total: Spent,
}

/// What a source has cost and yielded, all in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub cost: f64,
    pub gain: f64,
    pub turns: u64,
}

impl Schedule {
    /// Of which nothing is known, but what each is expected to yield in comparison with others.
    pub fn new(expected: &[f64]) -> Schedule {
        let lane = |expected: &f64| Lane {
            progress: 0.0,
            expected: *expected * EXPECTED_GAIN,
            gain: 0.0,
            cost: 0.0,
            turns: 0,
            pending: Vec::new(),
            total: Spent::default(),
        };
        Schedule {
            lanes: expected.iter().map(lane).collect(),
            now: 0.0,
        }
    }

    /// The lane that has the next turn, of those that are ready.
    pub fn choose(&mut self, is_ready: impl Fn(usize) -> bool) -> Option<usize> {
        let ready = (0..self.lanes.len()).filter(|lane| is_ready(*lane));
        let now = self.now;
        let at = |lane: &usize| self.lanes[*lane].progress.max(now);
        let best = ready.min_by(|a, b| at(a).total_cmp(&at(b)))?;
        self.now = at(&best);
        let weight = self.weight(best);
        let lane = &mut self.lanes[best];
        // Until it is known what the turn costs, it costs what others did.
        let expected = match lane.turns {
            0 => EXPECTED_COST,
            turns => lane.total.cost / turns as f64,
        };
        lane.progress = now.max(lane.progress) + expected / weight;
        lane.pending.push(expected / weight);
        Some(best)
    }

    /// A turn has ended.
    pub fn charge(&mut self, lane: usize, cost: f64, gain: f64) {
        let weight = self.weight(lane);
        let lane = &mut self.lanes[lane];
        let expected = match lane.pending.is_empty() {
            true => 0.0,
            false => lane.pending.remove(0),
        };
        lane.progress += cost / weight - expected;
        lane.gain = lane.gain * MEMORY + gain;
        lane.cost = lane.cost * MEMORY + cost;
        lane.turns += 1;
        lane.total.cost += cost;
        lane.total.gain += gain;
        lane.total.turns += 1;
    }

    /// What a lane has cost and yielded.
    pub fn spent(&self, lane: usize) -> Spent {
        self.lanes[lane].total
    }

    fn weight(&self, lane: usize) -> f64 {
        let yields = |lane: &Lane| (lane.gain + lane.expected) / (lane.cost + EXPECTED_COST);
        let best = self.lanes.iter().map(yields).fold(0.0, f64::max);
        (yields(&self.lanes[lane]) / best).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of cost after many turns, for lanes that yield so much per turn of cost 0.01.
    fn shares(gains: &[f64]) -> Vec<f64> {
        let mut schedule = Schedule::new(&vec![1.0; gains.len()]);
        for _ in 0..5000 {
            let lane = schedule.choose(|_| true).unwrap();
            schedule.charge(lane, 0.01, gains[lane]);
        }
        let total: f64 = (0..gains.len()).map(|lane| schedule.spent(lane).cost).sum();
        (0..gains.len())
            .map(|lane| schedule.spent(lane).cost / total)
            .collect()
    }

    #[test]
    fn who_yields_more_has_more_and_nobody_has_nothing() {
        let shares = shares(&[1.0, 0.0, 0.2]);
        assert!(shares[0] > 0.6, "{shares:?}");
        assert!(shares[1] > 0.02 && shares[1] < 0.1, "{shares:?}");
        assert!(shares[2] > shares[1], "{shares:?}");
    }

    #[test]
    fn who_comes_back_does_not_catch_up() {
        let mut schedule = Schedule::new(&[1.0; 2]);
        for _ in 0..100 {
            assert_eq!(schedule.choose(|lane| lane == 0), Some(0));
            schedule.charge(0, 0.2, 1.0);
        }
        let mut turns = 0;
        for _ in 0..20 {
            let lane = schedule.choose(|_| true).unwrap();
            schedule.charge(lane, 0.2, 1.0);
            turns += usize::from(lane == 0);
        }
        assert!((5..=15).contains(&turns), "{turns}");
    }

    #[test]
    fn nobody_ready_means_no_turn() {
        assert_eq!(Schedule::new(&[1.0; 3]).choose(|_| false), None);
    }
}
