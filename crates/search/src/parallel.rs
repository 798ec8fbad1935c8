//! Doing several things at once without changing what comes out.

use std::sync::Mutex;

/// Does all tasks, on as many threads, and gives the results in order.
pub fn in_parallel<T: Send, R: Send>(
    threads: usize,
    tasks: Vec<T>,
    action: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if threads <= 1 || tasks.len() <= 1 {
        return tasks.into_iter().map(action).collect();
    }
    let count = tasks.len();
    let queue = Mutex::new(tasks.into_iter().enumerate());
    let results = Mutex::new(Vec::with_capacity(count));
    let next = || {
        queue
            .lock()
            .unwrap_or_else(|error| error.into_inner())
            .next()
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            scope.spawn(|| {
                while let Some((index, task)) = next() {
                    let result = action(task);
                    let mut results = results.lock().unwrap_or_else(|error| error.into_inner());
                    results.push((index, result));
                }
            });
        }
    });
    let mut results = results
        .into_inner()
        .unwrap_or_else(|error| error.into_inner());
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Does something with each item, on as many threads. Each has a worker to itself meanwhile, the same one whatever the number of threads.
pub fn each_with<W: Send, T: Send, E: Send>(
    threads: usize,
    workers: &mut [W],
    items: &mut [T],
    action: impl Fn(&mut W, &mut T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    for items in items.chunks_mut(workers.len()) {
        let tasks = workers.iter_mut().zip(items).collect();
        for result in in_parallel(threads, tasks, |(worker, item)| action(worker, item)) {
            result?;
        }
    }
    Ok(())
}
