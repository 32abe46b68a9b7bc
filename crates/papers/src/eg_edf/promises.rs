//! Whether the first job of the queue starts when the machines could have had it, whatever passes it.

use gap_schedule::Machine;
use sim_core::{Fact, Job, JobId, Probe, SiteId, Time};
use std::collections::BTreeMap;

/// Follows a run in which the queue is served in order of arrival, and knows nothing of the policy: it asks the machines,
/// when a job becomes the first of the queue, when they could start it if no other job came.
pub(super) struct Promises {
    machines: Vec<Machine>,
    /// What runs on each machine: job, processors, and when it will end, for estimates are exact (A1).
    running: Vec<Vec<(JobId, u32, Time)>>,
    /// Who waits, in order of arrival.
    waiting: BTreeMap<JobId, Job>,
    /// The first of them, and when it could start.
    first: Option<(JobId, Time)>,
    broken: u64,
}

impl Promises {
    /// Nothing has happened yet on these machines.
    pub(super) fn new(machines: &[Machine]) -> Self {
        Self {
            machines: machines.to_vec(),
            running: vec![Vec::new(); machines.len()],
            waiting: BTreeMap::new(),
            first: None,
            broken: 0,
        }
    }

    /// How many jobs started later than they could have when they became the first of the queue.
    pub(super) const fn broken(&self) -> u64 {
        self.broken
    }

    /// Earliest start of a job if no other job comes; `None` if no machine is wide enough.
    fn soonest(&self, now: Time, job: &Job) -> Option<Time> {
        let need = job.request.processors;
        let on = |(machine, running): (&Machine, &Vec<(JobId, u32, Time)>)| {
            let taken: u32 = running.iter().map(|(_, processors, _)| processors).sum();
            let mut free = machine.processors - taken;
            let mut ends: Vec<(Time, u32)> = running.iter().map(|(_, processors, end)| (*end, *processors)).collect();
            ends.sort_unstable();
            let mut at = now;
            for (end, processors) in ends {
                if free >= need {
                    break;
                }
                free += processors;
                at = end;
            }
            (free >= need).then_some(at)
        };
        self.machines.iter().zip(&self.running).filter_map(on).min()
    }

    fn look(&mut self, now: Time) {
        let first = self.waiting.first_key_value().map(|(id, job)| (*id, *job));
        if first.map(|(id, _)| id) != self.first.map(|(id, _)| id) {
            self.first = first.and_then(|(id, job)| Some((id, self.soonest(now, &job)?)));
        }
    }

    fn start(&mut self, now: Time, id: JobId, site: SiteId, processors: u32) {
        let job = self.waiting.remove(&id).expect("who starts has waited");
        if let Some((first, promised)) = self.first
            && first == id
        {
            self.broken += u64::from(now > promised);
        }
        let end = now + self.machines[site.index()].takes(job.runtime);
        self.running[site.index()].push((id, processors, end));
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
            Fact::Finished { job } => self.running.iter_mut().for_each(|jobs| jobs.retain(|(id, ..)| id != job)),
            // No machine fails here, and processors are not distinguished.
            Fact::Interrupted { .. } | Fact::Seized { .. } | Fact::Released { .. } => return,
        }
        self.look(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Span;

    fn job(id: u32, processors: u32, seconds: u64) -> Fact {
        Fact::Submitted(Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(seconds)))
    }

    fn broken(narrow: u64, starts: u64) -> u64 {
        let mut promises = Promises::new(&[Machine { processors: 4, speed: 1.0 }]);
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let start = |id, processors| Fact::Started { job: JobId(id), site: SiteId(0), processors };
        // Job 0 leaves one processor; job 1 needs all four at 100 s; job 2 passes it.
        for fact in [job(0, 3, 100), start(0, 3), job(1, 4, 10), job(2, 1, narrow), start(2, 1)] {
            promises.observe(at(0), &fact);
        }
        promises.observe(at(100), &Fact::Finished { job: JobId(0) });
        promises.observe(at(narrow), &Fact::Finished { job: JobId(2) });
        promises.observe(at(starts), &start(1, 4));
        promises.broken()
    }

    #[test]
    fn a_job_that_outlasts_the_reservation_breaks_a_promise() {
        assert_eq!(broken(50, 100), 0);
        assert_eq!(broken(200, 200), 1);
    }
}
