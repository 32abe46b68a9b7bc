//! Runs and plans that would leave the clock.

use crate::options::LogOptions;
use anyhow::{Result, anyhow, bail, ensure};
use lab::clock::within_the_clock;
use lab::interrupt::{self, Interrupted};
use sim_core::{Job, Probe, Sim, Span, Time};

/// How often Ctrl-C is looked for, in events.
const PATIENCE: u32 = 10_000;

/// The last instant that is simulated. The clock ends at 584 years; a job that is planned behind those that run now may
/// begin 136 years later, and take as long.
pub(super) const LATEST: Time = Time::from_secs(YEARS * YEAR);
pub(super) const YEARS: u64 = 300;
const YEAR: u64 = 365 * 86_400;

/// The longest job, wherever it runs: the longest request that a log can hold.
const LONGEST: f64 = u32::MAX as f64;

/// Refuses a job, called `number` in its log, that would take too long on the slowest machine, of that speed.
pub(super) fn ensure_ends_on(job: &Job, number: u64, slowest: f64) -> Result<(), String> {
    let estimate = job.request.estimate.unwrap_or(Span::ZERO);
    let seconds = estimate.max(job.runtime).as_secs_f64() / slowest;
    if seconds <= LONGEST {
        return Ok(());
    }
    let years = seconds / 86_400.0 / 365.0;
    Err(format!(
        "job {number} would take {years:.0} years on a machine of speed {slowest}, and 136 at most can be simulated; give \
         faster machines or shorter estimates"
    ))
}

/// Runs as long as it `goes_on`, until nothing is left to happen, an interruption, or the end of the clock.
///
/// A plan may lie far ahead of the run: five jobs behind each other that are expected to take 136 years each. No bound from
/// outside is both sound and fair to a log of many waiting jobs, so the arithmetic of time itself, which never wraps, ends
/// such a run; the error that blames the input is made here, once for all policies.
pub(super) fn run_out<M: sim_core::Model, P: Probe>(
    sim: &mut Sim<M, P>,
    policy: &str,
    log: &LogOptions,
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
                log.trace().display()
            )
        })?;
    }
    ensure!(
        sim.now() < LATEST,
        "{}: under {policy} the jobs would run for more than {YEARS} years; give a larger machine, fewer jobs with \
         --max-jobs, or rarer outages",
        log.trace().display()
    );
    Ok(())
}
