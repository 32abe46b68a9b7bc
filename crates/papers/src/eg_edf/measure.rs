//! Metrics of one run and their measurement (§4).

use super::LateOf;
use super::promises::Promises;
use gap_schedule::{Usage, UsageOver};
use sim_core::record::Sink;
use sim_core::{Fact, JobLog, JobRecord, Probe, Time};

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
