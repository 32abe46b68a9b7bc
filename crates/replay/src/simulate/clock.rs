//! Where time ends: runs and plans that would leave the clock.

use crate::cli::Asked;
use anyhow::{Result, anyhow, bail, ensure};
use lab::interrupt::{self, Interrupted};
use sim_core::{Probe, Sim, Span, Time};
use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use workload::LogJob;

/// How often Ctrl-C is looked for, in events.
const PATIENCE: u32 = 10_000;

/// The last instant that is simulated. The clock ends at 584 years; a job that is planned behind those that run now may
/// begin 136 years later, and take as long.
pub(super) const LATEST: Time = Time::from_secs(YEARS * YEAR);
pub(super) const YEARS: u64 = 300;
const YEAR: u64 = 365 * 86_400;

/// The longest job, wherever it runs: what a log itself can ask for.
const LONGEST: f64 = u32::MAX as f64;

/// Refuses a job that would take too long on the slowest machine, of such a speed.
pub(super) fn ensure_ends(job: &LogJob, slowest: f64) -> Result<(), String> {
    let estimate = job.job.request.estimate.unwrap_or(Span::ZERO);
    let seconds = estimate.max(job.job.runtime).as_secs_f64() / slowest;
    if seconds <= LONGEST {
        return Ok(());
    }
    let years = seconds / 86_400.0 / 365.0;
    Err(format!(
        "job {} would take {years:.0} years on a machine of speed {slowest}, and 136 at most can be simulated; give faster \
         machines or shorter estimates",
        job.number
    ))
}

/// Runs until nothing is left to happen, or somebody interrupts, or the clock nears its end.
///
/// A plan may lie far ahead of the run: five jobs behind each other that believe to take 136 years each. No bound from
/// outside is both sound and fair to a log of many jobs that wait, so the arithmetic of time itself, which never wraps, ends
/// such a run; that it is the input's fault is told here, once for all policies.
pub(super) fn run_out<M: sim_core::Model, P: Probe>(sim: &mut Sim<M, P>, policy: &str, asked: &Asked) -> Result<()> {
    run_out_while(sim, policy, asked, || true)
}

/// The same, until `goes_on` says no.
pub(super) fn run_out_while<M: sim_core::Model, P: Probe>(
    sim: &mut Sim<M, P>,
    policy: &str,
    asked: &Asked,
    goes_on: impl Fn() -> bool,
) -> Result<()> {
    let mut running = true;
    while running && goes_on() {
        if interrupt::requested() {
            bail!(Interrupted::Lost);
        }
        let some = || (0..PATIENCE).all(|_| sim.step() && sim.now() < LATEST);
        running = within_the_clock(some).ok_or_else(|| {
            anyhow!(
                "{}: under {policy} the plan reaches beyond 584 years; give a larger or faster machine, shorter \
                 estimates, or fewer jobs with --max-jobs",
                asked.trace.display()
            )
        })?;
    }
    ensure!(
        sim.now() < LATEST,
        "{}: under {policy} the jobs would run for more than {YEARS} years; give a larger machine, fewer jobs with \
         --max-jobs, or rarer outages",
        asked.trace.display()
    );
    Ok(())
}

thread_local! {
    /// Whether this thread is where leaving the clock is an error, and not a defect.
    static AT_THE_BORDER: Cell<bool> = const { Cell::new(false) };
}

/// What `run` returns; `None` if time left its range meanwhile. Any other panic goes on.
fn within_the_clock<T>(run: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !(AT_THE_BORDER.get() && leaves_the_clock(info.payload())) {
                others(info);
            }
        }));
    });
    AT_THE_BORDER.set(true);
    // Nothing of the simulation is looked at afterwards.
    let ran = panic::catch_unwind(AssertUnwindSafe(run));
    AT_THE_BORDER.set(false);
    match ran {
        Ok(value) => Some(value),
        Err(payload) if leaves_the_clock(&*payload) => None,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// Whether these are the words of `sim_core`'s time.
fn leaves_the_clock(payload: &(dyn Any + Send)) -> bool {
    let words =
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    words.is_some_and(|words| {
        words.contains("584 years") || words.starts_with("a span cannot be") || words.starts_with("a span of")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_leaves_its_range_is_an_error_at_the_border() {
        assert_eq!(within_the_clock(|| 7), Some(7));
        assert_eq!(within_the_clock(|| Time::MAX + Span::from_secs(1)), None);
        assert_eq!(within_the_clock(|| Span::from_secs(9).scaled(1e30)), None);
        assert_eq!(within_the_clock(|| Span::from_secs_f64(1e30)), None);
        assert_eq!(within_the_clock(|| Span::from_secs(u64::from(u32::MAX)) * 5), None);
    }

    #[test]
    fn any_other_panic_is_a_defect_and_goes_on() {
        let other = panic::catch_unwind(|| within_the_clock(|| panic!("two jobs on one processor")));
        assert!(other.is_err());
    }
}
