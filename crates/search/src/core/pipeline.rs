//! Work on many threads whose result does not depend on how many there are.
//!
//! A fixed number of slots, each with state of its own (a solver and its caches), take tasks in turn: task *k* goes to slot *k*
//! mod *W*. A task is planned when the result of task *k* − *W* has been taken in, never earlier and never later, and results are
//! taken in in the order of the tasks. So what a task is and what its slot knows depend only on the tasks before it;
//! threads change nothing but the time. Unlike rounds with a barrier at their end, no thread waits for the slowest of a round.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often the director hears that nothing has come in.
const PATIENCE: Duration = Duration::from_millis(20);

/// Plans tasks and takes results in, on the thread that calls [`drive`].
pub trait Director {
    type Task: Send;
    type Outcome: Send;

    /// The next task, for the slot with this number; so many are under way.
    fn next(&mut self, slot: usize, under_way: usize) -> Next<Self::Task>;

    /// A result, in the order of the tasks.
    fn take(&mut self, outcome: Self::Outcome);

    /// Nothing has come in for a while.
    fn idle(&mut self);
}

/// What to do next.
pub enum Next<T> {
    Task(T),
    /// Nothing now: results or somebody else may bring more.
    Wait,
    /// Nothing any more.
    Done,
}

/// Works until the director has nothing left, on `jobs` threads; gives the slots back.
pub fn drive<S: Send, D: Director>(
    jobs: usize,
    slots: Vec<S>,
    director: &mut D,
    work: impl Fn(&mut S, D::Task) -> D::Outcome + Sync,
) -> Vec<S> {
    let window = slots.len() as u64;
    let mut slots: Vec<Option<S>> = slots.into_iter().map(Some).collect();
    let (task_sender, task_receiver) = channel::<(u64, S, D::Task)>();
    let (result_sender, result_receiver) = channel::<(u64, S, D::Outcome)>();
    let tasks = Mutex::new(task_receiver);
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, slots.len().max(1)) {
            let results = result_sender.clone();
            let (tasks, work) = (&tasks, &work);
            scope.spawn(move || {
                loop {
                    let next = match tasks.lock() {
                        Ok(tasks) => tasks.recv(),
                        Err(_) => return,
                    };
                    let Ok((number, mut slot, task)) = next else {
                        return;
                    };
                    let outcome = work(&mut slot, task);
                    if results.send((number, slot, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(result_sender);
        let (mut issued, mut taken) = (0u64, 0u64);
        let mut early: BTreeMap<u64, D::Outcome> = BTreeMap::new();
        let mut is_done = false;
        loop {
            while !is_done && issued - taken < window {
                let number = (issued % window) as usize;
                match director.next(number, (issued - taken) as usize) {
                    Next::Task(task) => {
                        let Some(slot) = slots[number].take() else {
                            break;
                        };
                        if task_sender.send((issued, slot, task)).is_err() {
                            is_done = true;
                            break;
                        }
                        issued += 1;
                    }
                    Next::Wait => break,
                    Next::Done => is_done = true,
                }
            }
            if issued == taken {
                if is_done {
                    break;
                }
                thread::sleep(PATIENCE);
                director.idle();
                continue;
            }
            while !early.contains_key(&taken) {
                match result_receiver.recv_timeout(PATIENCE) {
                    Ok((number, slot, outcome)) => {
                        slots[(number % window) as usize] = Some(slot);
                        early.insert(number, outcome);
                    }
                    Err(RecvTimeoutError::Timeout) => director.idle(),
                    // A thread has panicked: the scope passes that on.
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            if let Some(outcome) = early.remove(&taken) {
                taken += 1;
                director.take(outcome);
            }
        }
        drop(task_sender);
    });
    slots.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans numbers from what came back so far.
    struct Numbers {
        taken: Vec<u64>,
        left: u32,
    }

    impl Director for Numbers {
        type Task = u64;
        type Outcome = u64;

        fn next(&mut self, _slot: usize, _under_way: usize) -> Next<u64> {
            if self.left == 0 {
                return Next::Done;
            }
            self.left -= 1;
            Next::Task(self.taken.iter().sum::<u64>() % 1000)
        }

        fn take(&mut self, outcome: u64) {
            self.taken.push(outcome);
        }

        fn idle(&mut self) {}
    }

    fn results(jobs: usize) -> Vec<u64> {
        let mut director = Numbers {
            taken: Vec::new(),
            left: 100,
        };
        let slots = vec![1u64, 2, 3, 4];
        drive(jobs, slots, &mut director, |slot, task| {
            // The later slots are faster.
            thread::sleep(Duration::from_micros(500 / *slot));
            *slot += 4;
            task * 3 + *slot
        });
        director.taken
    }

    #[test]
    fn the_result_is_the_same_on_any_number_of_threads() {
        let one = results(1);
        assert_eq!(one.len(), 100);
        assert_eq!(results(2), one);
        assert_eq!(results(4), one);
    }
}
