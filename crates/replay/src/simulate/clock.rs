//! The execution of a simulation, and the end of the clock.

use anyhow::{Result, anyhow, ensure};
use lab::clock::within_the_clock;
use lab::interrupt::{self, Interrupted};
use sim_core::{Job, Model, Probe, Sim, Span, Time};

/// Number of events between checks for Ctrl-C.
const PATIENCE: u32 = 10_000;

/// Last instant that is simulated. The clock ends at 584 years; a planned job may begin 136 years later, and run as long.
pub(super) const LATEST: Time = Time::from_secs(YEARS * 365 * 86_400);
pub(super) const YEARS: u64 = 300;

/// Longest run time on any machine: the longest request that a log can hold.
const LONGEST: f64 = u32::MAX as f64;

/// Refuses a job, called `number` in its log, that would run too long on the slowest machine, with speed `slowest`.
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

/// Name of a run in messages, the log and the policy, and a check from time to time whether it goes on.
pub(super) type Course<'a> = (&'a str, &'a dyn Fn() -> bool);

/// Runs the model until no event is left, the course does not go on, an interruption, or the end of the clock. Returns the model and
/// the probe.
///
/// A plan may lie far ahead of the run: for example five jobs behind each other with expected run times of 136 years. No bound from
/// outside is both sound and fair to a log of many waiting jobs, so the time arithmetic itself, which never wraps, ends
/// such a run. The error that refers to the input is made here, once for all policies.
pub(super) fn run<M: Model, P: Probe>((name, goes_on): Course<'_>, model: M, probe: P) -> Result<(M, P)> {
    let (mut sim, mut running) = (Sim::new(model, probe), true);
    while running && goes_on() {
        interrupt::check(Interrupted::Lost)?;
        let some = || (0..PATIENCE).all(|_| sim.step() && sim.now() < LATEST);
        running = within_the_clock(some).ok_or_else(|| {
                anyhow!(
                    "{name} the plan reaches beyond 584 years; give a larger or faster machine, shorter estimates, or fewer jobs \
                     with --max-jobs"
                )
            })?;
    }
    ensure!(
        sim.now() < LATEST,
        "{name} the jobs would run for more than {YEARS} years; give a larger machine, or fewer jobs with --max-jobs"
    );
    Ok(sim.into_parts())
}
