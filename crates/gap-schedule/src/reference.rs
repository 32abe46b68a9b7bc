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

pub use conservative::Conservative;

use crate::order::Priority;
use crate::policy::{Backfilling, Placement, Policy};
use crate::queue::QueuedJob;
use crate::view::{Starts, View, site};
use sim_core::{AvailabilityProfile, Span, Time};

const INSTANT: Span = Span::from_nanos(1);

/// Expected end of jobs without an estimate.
const END_OF_TIME: Time = Time::from_nanos(u64::MAX - 1);

/// Backfilling in any order: at each pass the queue is sorted and all reservations are laid out.
///
/// [`crate::OrderedBackfill`] is the fast version and documents the rule.
#[derive(Copy, Clone, Debug, Default)]
pub struct OrderedBackfill(
    /// Settings.
    pub Backfilling,
);

/// No backfilling, in any order: the queue is sorted at each pass. [`crate::Fcfs`] is the fast version.
#[derive(Copy, Clone, Debug, Default)]
pub struct Fcfs(
    /// Order of the queue.
    pub Priority,
);

/// Sorts a queue in order of arrival by `priority`. The sort is stable, so ties remain in order of arrival.
fn sorted<'a>(queue: impl Iterator<Item = &'a QueuedJob>, priority: Priority, view: &View<'_>) -> Vec<&'a QueuedJob> {
    let mut queue: Vec<&QueuedJob> = queue.collect();
    queue.sort_by_key(|job| priority.turn(job, view.now));
    queue
}

impl Policy for OrderedBackfill {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let Backfilling { order, backfill, reserve, threshold, placement } = self.0;
        let mut plans: Vec<AvailabilityProfile> =
            (0..view.machines.len()).map(|machine| free_on(machine, view)).collect();
        let mut holders = Vec::new();
        // Starts the job if it fits now. A job that overtakes others also takes the last instant of time. Then only one
        // of several jobs without an estimate gets the processors that reservations leave.
        let mut start = |job: &QueuedJob, passes: bool, plans: &mut [AvailabilityProfile]| {
            let found = earliest(plans, job, placement, view).filter(|(start, _)| *start == view.now);
            found.inspect(|(now, machine)| {
                let takes = span(*machine, job, view);
                let takes = if passes { takes } else { takes.min(END_OF_TIME.since(*now)) };
                plans[*machine].reserve(*now, takes, job.request.processors);
                starts.push((job.job, site(*machine)));
            })
        };
        let mut behind: Vec<&QueuedJob> = view.queue.iter().collect();
        for job in sorted(view.queue.iter(), Priority { order, threshold }, view) {
            if start(job, !holders.is_empty(), &mut plans).is_some() {
                behind.retain(|other| other.job != job.job);
                continue;
            }
            if reserve.allows_beside(holders.len()) {
                if let Some((start, machine)) = earliest(&plans, job, placement, view) {
                    plans[machine].reserve(start, span(machine, job, view), job.request.processors);
                }
                holders.push(job.job);
                behind.retain(|other| other.job != job.job);
            }
            if !reserve.allows_beside(holders.len()) {
                break;
            }
        }
        for job in sorted(behind.into_iter(), Priority { order: backfill, threshold }, view) {
            // With an unlimited number of reservations, every job has one.
            start(job, !holders.is_empty(), &mut plans);
        }
    }
}

impl Policy for Fcfs {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let mut free = view.free.to_vec();
        for job in sorted(view.queue.iter(), self.0, view) {
            let need = job.request.processors;
            let has_room = |machine: &usize| free[*machine] >= need && view.suits(*machine, &job.request);
            let Some(machine) = (0..free.len()).find(has_room) else { break };
            free[machine] -= need;
            starts.push((job.job, site(machine)));
        }
    }
}

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
