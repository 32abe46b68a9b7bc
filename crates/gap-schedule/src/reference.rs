//! Well-known policies in their plainest form: to be read, and to check the fast ones.
//!
//! Each lays out the whole future at each pass, as an [`AvailabilityProfile`] of free processors, and keeps the least
//! state possible. They are slow, and they are the oracles of the fast ones. On every workload of the tests,
//! [`OrderedBackfill`] starts the jobs that [`crate::OrderedBackfill`] starts, with its default settings those of EASY,
//! [`Conservative`] those of [`crate::Conservative`], and so on.
//!
//! All treat estimates alike. A job that outlives its estimate ends at any moment. A job that is expected to take no
//! time needs its processors at its start. A job without an estimate runs up to the end of time.

mod conservative;
mod ordered;

pub use conservative::Conservative;
pub use ordered::{Fcfs, OrderedBackfill};

use crate::policy::Placement;
use crate::queue::QueuedJob;
use crate::view::View;
use sim_core::{AvailabilityProfile, Span, Time};

const INSTANT: Span = Span::from_nanos(1);

/// Expected end of jobs without an estimate.
const END_OF_TIME: Time = Time::from_nanos(u64::MAX - 1);

/// Returns the free processors of the machine from now on, beside the running jobs.
fn free_on(machine: usize, view: &View<'_>) -> AvailabilityProfile {
    let mut free = AvailabilityProfile::new(view.machines[machine].processors);
    for job in view.running[machine].iter() {
        let end = job.expected_end.max(view.now + INSTANT).min(END_OF_TIME);
        free.reserve(view.now, end.since(view.now), job.processors);
    }
    free
}

/// Returns the time for which the job is expected to hold its processors there.
fn span(machine: usize, job: &QueuedJob, view: &View<'_>) -> Span {
    view.machines[machine].expects(&job.request).max(INSTANT)
}

/// Returns the earliest start of the job and its machine; the preferred one of several.
fn earliest(
    plans: &[AvailabilityProfile],
    job: &QueuedJob,
    placement: Placement,
    view: &View<'_>,
) -> Option<(Time, usize)> {
    let suitable = (0..view.machines.len()).filter(|machine| view.suits(*machine, &job.request));
    let earliest = |machine: usize| plans[machine].earliest(view.now, span(machine, job, view), job.request.processors);
    let starts = suitable.filter_map(|machine| Some((earliest(machine)?, machine)));
    let slowness = |machine: usize| if placement == Placement::Fastest { -view.machines[machine].speed } else { 0.0 };
    // The lowest index of equals.
    starts.min_by(|(one, a), (other, b)| one.cmp(other).then(slowness(*a).total_cmp(&slowness(*b))))
}
