//! Work on all threads with the outcome of one thread, errors included.

use crate::run::control::Control;
use anyhow::Result;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `run` on each of `items`, on all threads; results are in the order of the items. Fails with the error of the first item, in this
/// order, that fails. (`collect` into a `Result` would return the error that some thread found first, which varies from run to run.) Items
/// behind a known error are skipped.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let (first_failure, control) = (AtomicUsize::new(usize::MAX), Control::current());
    let run_at = |(place, item): (usize, &T)| {
        if place > first_failure.load(Ordering::Relaxed) {
            return None;
        }
        let result = Control::within(control.clone(), || run(item));
        if result.is_err() {
            first_failure.fetch_min(place, Ordering::Relaxed);
        }
        Some(result)
    };
    let results: Vec<Option<Result<R>>> = items.par_iter().enumerate().map(run_at).collect();
    // Only items behind an error lack a result, and collecting ends at the error.
    results.into_iter().map(|result| result.expect("nothing is left out before an error")).collect()
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
