//! Starts that a failure ended.

use super::feasible::{LoggedJobs, PlannedStart};
use gap_schedule::{Machine, Starts};
use sim_core::{AvailabilityProfile, Job, Outage, SiteId, Time};

/// Starts that a failure ended. No schedule contains them, since their jobs started again: a start that the policy would make, and
/// that is possible, counts as made.
pub(super) struct Attempts {
    machines: Vec<Machine>,
    /// Outages by machine, in order of failure.
    outages: Vec<Vec<Outage>>,
    /// Processors that the schedule and earlier attempts leave free on each machine; empty without outages.
    room: Vec<AvailabilityProfile>,
    /// Attempts of this instant.
    pub(super) now: Starts,
}

impl Attempts {
    pub(super) fn new(jobs: &LoggedJobs, starts: &[PlannedStart], machines: &[Machine], all: &[Outage]) -> Self {
        let (machines, mut outages, mut room) = (machines.to_vec(), vec![Vec::new(); machines.len()], Vec::new());
        all.iter().for_each(|outage| outages[outage.site.index()].push(*outage));
        if !all.is_empty() {
            room.extend(machines.iter().map(|machine| AvailabilityProfile::new(machine.processors)));
            for start in starts.iter().filter(|start| start.finish > start.start) {
                let width = jobs.jobs[start.job].job.request.processors;
                room[start.machine].reserve(start.start, start.finish.since(start.start), width);
            }
        }
        Self { machines, outages, room, now: Starts::new() }
    }

    /// Returns true if the job, which the schedule starts as `planned`, can have started here now and been ended by a failure.
    pub(super) fn take(&mut self, job: &Job, machine: SiteId, now: Time, planned: Option<(Time, u64)>) -> bool {
        let place = machine.index();
        let outages = &self.outages[place];
        let Some(outage) = outages.get(outages.partition_point(|outage| outage.down <= now)) else { return false };
        let is_hit = outage.down < now + self.machines[place].takes(job.runtime);
        let starts_anew = planned.is_some_and(|(start, _)| start >= outage.down);
        let (length, width) = (outage.down.since(now), job.request.processors);
        let can_be = is_hit && starts_anew && self.room[place].fits(now, length, width);
        if can_be {
            self.room[place].reserve(now, length, width);
            self.now.push((job.id, machine));
        }
        can_be
    }
}
