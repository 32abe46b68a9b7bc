//! Work on all threads with the outcome of one thread, errors included.

use crate::control::Control;
use anyhow::Result;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `run` on each of `items`, on all threads; results are in the order of the items.
///
/// # Errors
///
/// The error of the first item, in the order of `items`, that fails. (`collect` into a `Result` would return the error that some thread
/// found first, which varies from run to run.) Items behind a known error are skipped.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    until_one_fails(items.len(), &|place| {
        let result = run(&items[place]);
        let has_failed = result.is_err();
        *results[place].lock().expect("no other thread writes here") = Some(result);
        has_failed
    });
    let results = results.into_iter().map(|result| result.into_inner().expect("no other thread writes here"));
    // Only items behind an error lack a result, and collecting ends at the error.
    results.map(|result| result.expect("nothing is left out before an error")).collect()
}

/// Runs each place below `count` on all threads, except those behind a known failure.
///
/// It is not generic, so that the thread machinery is compiled once and not for every caller.
fn until_one_fails(count: usize, has_failed: &(dyn Fn(usize) -> bool + Sync)) {
    let (first_failure, control) = (AtomicUsize::new(usize::MAX), Control::current());
    (0..count).into_par_iter().for_each(|place| {
        let fails = || Control::within(control.clone(), || has_failed(place));
        if place <= first_failure.load(Ordering::Relaxed) && fails() {
            first_failure.fetch_min(place, Ordering::Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::time::Duration;

    #[test]
    fn results_come_in_order_and_of_several_errors_the_first_in_order_however_late() {
        let squares = in_parallel(&(0..1000).collect::<Vec<u64>>(), |n| Ok(n * n)).unwrap();
        assert!(squares.iter().enumerate().all(|(n, square)| *square == (n * n) as u64));
        // A thread that begins in the middle of the items fails at once, long before the first item does.
        let fails = |n: &u64| -> Result<()> {
            if *n == 0 {
                std::thread::sleep(Duration::from_millis(100));
            }
            bail!("item {n}")
        };
        let threads = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let error = threads.install(|| in_parallel(&(0..64).collect::<Vec<u64>>(), fails)).unwrap_err();
        assert_eq!(error.to_string(), "item 0");
    }
}
