//! Check that the first job of the queue starts as early as the machines allow, even if other jobs pass it.

use gap_schedule::Machine;
use sim_core::{Fact, Job, JobId, Probe, SiteId, Time};
use std::collections::BTreeMap;

/// Observer of a run in which the queue is served in order of arrival. It is independent of the policy: when a job becomes the first of the
/// queue, it computes from the machines the earliest start of that job if no other job came.
pub(super) struct Promises {
    machines: Vec<Machine>,
    /// Running jobs of each machine by end, which is known because estimates are exact (A1): end, processors, job.
    running: Vec<Vec<(Time, u32, JobId)>>,
    /// Idle processors of each machine.
    free: Vec<u32>,
    /// Waiting jobs, in order of arrival.
    waiting: BTreeMap<JobId, Job>,
    /// The first of them, and its earliest start.
    first: Option<(JobId, Time)>,
    /// Number of jobs that started later than the earliest start computed when they became first.
    pub(super) broken: u64,
}

impl Promises {
    pub(super) fn new(machines: &[Machine]) -> Self {
        Self {
            machines: machines.to_vec(),
            running: vec![Vec::new(); machines.len()],
            free: machines.iter().map(|machine| machine.processors).collect(),
            waiting: BTreeMap::new(),
            first: None,
            broken: 0,
        }
    }

    /// Returns the earliest start of a job if no other job comes; `None` if no machine is wide enough.
    fn soonest(&self, now: Time, job: &Job) -> Option<Time> {
        let need = job.request.processors;
        let on = |machine: usize| {
            let (mut free, mut at) = (self.free[machine], now);
            for (end, processors, _) in &self.running[machine] {
                if free >= need {
                    break;
                }
                free += processors;
                at = *end;
            }
            (free >= need).then_some(at)
        };
        let wide = (0..self.machines.len()).filter(|machine| self.machines[*machine].processors >= need);
        wide.filter_map(on).min()
    }

    fn look(&mut self, now: Time) {
        let first = self.waiting.first_key_value();
        if first.map(|(id, _)| *id) != self.first.map(|(id, _)| id) {
            self.first = first.and_then(|(id, job)| Some((*id, self.soonest(now, job)?)));
        }
    }

    fn start(&mut self, now: Time, id: JobId, site: SiteId, processors: u32) {
        let job = self.waiting.remove(&id).expect("a job that starts has waited");
        if let Some((first, promised)) = self.first
            && first == id
        {
            self.broken += u64::from(now > promised);
        }
        let end = now + self.machines[site.index()].takes(job.runtime);
        self.free[site.index()] -= processors;
        let running = &mut self.running[site.index()];
        running.insert(running.partition_point(|(other, ..)| *other <= end), (end, processors, id));
    }
}

impl Probe for Promises {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(job) => {
                self.waiting.insert(job.id, *job);
            }
            Fact::Rejected { job, .. } => {
                self.waiting.remove(job);
            }
            Fact::Started { job, site, processors } => self.start(now, *job, *site, *processors),
            Fact::Finished { job } => {
                // It is among the first to end of its machine.
                for (running, free) in self.running.iter_mut().zip(&mut self.free) {
                    let due = running.iter().take_while(|(end, ..)| *end <= now).position(|(.., id)| id == job);
                    *free += due.map_or(0, |place| running.remove(place).1);
                }
            }
            // Processors are not distinguished here.
            Fact::Seized { .. } | Fact::Released { .. } => return,
        }
        self.look(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Span;

    #[test]
    fn a_job_that_outlasts_the_reservation_breaks_a_promise() {
        let mut promises = Promises::new(&[Machine::new(4)]);
        let job = |id, processors, seconds| {
            Fact::Submitted(Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(seconds)))
        };
        let start = |id, processors| Fact::Started { job: JobId(id), site: SiteId(0), processors };
        let end = |id| Fact::Finished { job: JobId(id) };
        // Job 0 leaves one processor; job 1 needs all four at 100 s; job 2 passes it.
        let first = [job(0, 3, 100), start(0, 3), job(1, 4, 10), job(2, 1, 200), start(2, 1)].map(|fact| (0, fact));
        for (seconds, fact) in first.into_iter().chain([(100, end(0)), (200, end(2)), (200, start(1, 4))]) {
            promises.observe(Time::from_secs(seconds), &fact);
        }
        assert_eq!(promises.broken, 1);
    }
}
