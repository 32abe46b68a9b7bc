//! FCFS and backfilling in any order: the queue sorted at each pass.

use super::{END_OF_TIME, earliest, free_on, span};
use crate::order::Priority;
use crate::policy::{Backfilling, Policy};
use crate::queue::QueuedJob;
use crate::view::{Starts, View, site};
use sim_core::AvailabilityProfile;

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
