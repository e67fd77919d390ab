//! Work on several threads, with the outcome of one after the other.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many threads are best for `amount` things to do, of which a thread must have `worth` to pay for itself.
#[must_use]
pub(crate) fn threads_for(amount: usize, worth: usize) -> usize {
    match amount / worth {
        // Asking for the cores takes several files to be opened.
        0 | 1 => 1,
        worthwhile => thread::available_parallelism()
            .map_or(1, NonZero::get)
            .min(worthwhile),
    }
}

/// Does `work` on each job, on so many threads, of which this one is one and each has a state of its own, and returns
/// what comes of them in the order of the jobs.
pub(crate) fn map<Job: Send, State, Outcome: Send>(
    jobs: Vec<Job>,
    threads: usize,
    state: impl Fn() -> State + Sync,
    work: impl Fn(&mut State, Job) -> Outcome + Sync,
) -> Vec<Outcome> {
    let threads = threads.min(jobs.len());
    let queue = Mutex::new(jobs.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut state = state();
        let mut done = Vec::new();
        while let Some((index, job)) = next() {
            done.push((index, work(&mut state, job)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for other in others {
            done.extend(
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_in_the_order_of_jobs_on_any_number_of_threads() {
        let doubled: Vec<usize> = (0..100).map(|job| 2 * job).collect();
        for threads in 0..5 {
            let outcomes = map((0..100).collect(), threads, || (), |(), job: usize| 2 * job);
            assert_eq!(outcomes, doubled);
        }
        assert!(map(Vec::new(), 3, || (), |(), job: usize| job).is_empty());
    }

    #[test]
    fn little_work_takes_one_thread() {
        assert_eq!([0, 63, 127].map(|amount| threads_for(amount, 64)), [1; 3]);
        assert!(threads_for(1 << 40, 1) >= 1);
    }
}
