//! Metrics of one run and their measurement (§4), and a check that the first job of the queue starts as early as the machines allow,
//! even if other jobs pass it.

use super::LateOf;
use gap_schedule::{Machine, Usage, UsageOver};
use sim_core::record::Sink;
use sim_core::{Fact, Job, JobId, JobLog, JobRecord, Probe, SiteId, Time};
use std::collections::BTreeMap;

lab::metrics! {
    pub(crate) struct Measured of Metric {
        /// Jobs that end after their deadline, of all jobs or of those that have one (R3).
        late_percent: "late jobs" ("%") smaller,
        /// Active processors over the lesser of all processors and those requested by running and waiting jobs (R13).
        usage_percent: "system usage" ("%") larger,
        /// Mean of (wait + time on the machine) / time on the machine.
        slowdown: "mean slowdown" smaller,
        /// Elementary operations at each submission and completion: a job against a machine, a step in a plan, a comparison in a
        /// sort.
        operations_per_event: "operations per event" smaller,
        /// Elementary operations of the whole run.
        operations: "operations" smaller zero,
        /// From the first submission to the last end.
        makespan: "makespan" ("s") smaller zero,
        /// Gaps that Tabu search tries.
        moves_tried_per_job: "gaps weighed per job",
        /// Moves that Tabu search makes.
        moves_accepted_per_job: "moves made per job",
        /// Jobs that wait when the last one arrives.
        waiting_at_last_arrival: "jobs waiting at the last arrival" smaller zero,
        /// Jobs that start when they are submitted.
        started_at_once_percent: "jobs started at once" ("%") larger,
        /// Jobs that ended.
        ended: "jobs ended" zero,
        /// Jobs that start later than what was promised to the first of the queue; of policies that promise it something.
        promises_broken: "promises broken" smaller,
    }
}

pub(super) struct Measure {
    log: JobLog<FinishedJobs>,
    usage: Usage,
    first_submit: Option<Time>,
    /// Only for policies that promise a start to the first job of the queue.
    promises: Option<Promises>,
}

#[derive(Default)]
struct FinishedJobs {
    with_deadline: u64,
    late: u64,
    slowdown: f64,
    last_finish: Time,
}

impl Measure {
    pub(super) fn new(processors: u32, promises: Option<Promises>) -> Self {
        Self { log: JobLog::new(FinishedJobs::default()), usage: Usage::new(processors), first_submit: None, promises }
    }

    /// Returns the metrics; `moves` are the numbers of Tabu moves tried and accepted.
    pub(super) fn results(&self, over: UsageOver, late_of: LateOf, operations: u64, moves: (u64, u64)) -> Measured {
        let (jobs, tally) = (self.log.sink(), self.log.counts());
        let finished = tally.finished as f64;
        let late_of = match late_of {
            LateOf::AllJobs => finished,
            LateOf::JobsWithDeadline => jobs.with_deadline as f64,
        };
        // Scheduling events are submissions and completions (§3.1).
        let events = (tally.submitted + tally.finished) as f64;
        let makespan = self.first_submit.map_or(0.0, |first| jobs.last_finish.saturating_since(first).as_secs_f64());
        Measured {
            late_percent: 100.0 * jobs.late as f64 / late_of,
            usage_percent: 100.0 * self.usage.mean(over).unwrap_or(f64::NAN),
            slowdown: jobs.slowdown / finished,
            operations_per_event: operations as f64 / events,
            operations: operations as f64,
            makespan,
            moves_tried_per_job: moves.0 as f64 / finished,
            moves_accepted_per_job: moves.1 as f64 / finished,
            waiting_at_last_arrival: self.usage.waiting_at_last_arrival() as f64,
            started_at_once_percent: 100.0 * self.usage.started_at_once as f64 / finished,
            ended: finished,
            promises_broken: self.promises.as_ref().map_or(f64::NAN, |promises| promises.broken as f64),
        }
    }
}

impl Probe for Measure {
    fn observe(&mut self, now: Time, fact: &Fact) {
        if matches!(fact, Fact::Submitted(_)) {
            self.first_submit.get_or_insert(now);
        }
        self.usage.observe(now, fact);
        if let Some(promises) = &mut self.promises {
            promises.observe(now, fact);
        }
        self.log.observe(now, fact);
    }
}

impl Sink for FinishedJobs {
    fn take_in(&mut self, record: JobRecord) {
        self.last_finish = self.last_finish.max(record.finish);
        if let Some(deadline) = record.job.request.deadline {
            self.with_deadline += 1;
            self.late += u64::from(record.finish > deadline);
        }
        // (Tw + Te) / Te, with the time of the job on its machine.
        self.slowdown += record.response().as_secs_f64() / record.finish.since(record.start).as_secs_f64();
    }
}

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
    broken: u64,
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
