//! System usage: the busy share of the processors that could be busy; and contention.

use rustc_hash::FxHashMap;
use sim_core::{Fact, JobId, Probe, Time};
use std::collections::BTreeMap;

/// Probe for the paper's *system usage* (§4): active processors divided by those that could be active. These are all
/// processors, or those requested by the jobs in the system if they are fewer. While no job needs any, usage is
/// undefined, and such times do not count.
///
/// It also counts the jobs that wait at the end of the stream, and those that start at once: the paper's measures of
/// contention (§4, §4.1).
///
/// The state consists of integers: active processor-time, separately for each number of processors that could be
/// active. Only the last step, [`mean`](Self::mean), uses floating point.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    processors: u64,
    /// Processors of each job in the system, and its submission.
    // Never iterated: its order cannot reach a result.
    jobs: FxHashMap<JobId, (u32, Time)>,
    asked: u64,
    active: u64,
    waiting: usize,
    /// Number of waiting jobs after all events of the last arrival's instant, once time has advanced.
    waiting_then: Option<usize>,
    /// Number of jobs that started at the instant of their arrival.
    pub started_at_once: u64,
    now: Time,
    until_latest_arrival: Levels,
    since_latest_arrival: Levels,
    instants: Levels,
}

sim_core::answers! {
    /// R13: range over which usage is averaged.
    pub enum UsageOver {
        /// Over all times at which processors are requested.
        Time,
        /// Over the instants at which jobs arrived, started or ended: the usage after all events of the instant, if
        /// processors are then requested.
        Events,
        /// Over time until the last job arrives.
        UntilLastArrival,
    }
}

/// Sums by the number of processors that could be active: of the active processors, times the weights; and of the
/// weights, which are nanoseconds, or instants.
#[derive(Clone, Debug, Default)]
struct Levels(BTreeMap<u64, (u128, u128)>);

impl Usage {
    /// Returns a probe for an empty grid with `processors` in total.
    pub fn new(processors: u32) -> Self {
        Self { processors: processors.into(), ..Self::default() }
    }

    /// Returns the mean usage, between 0 and 1, up to the instant of the latest fact (which itself is not counted yet).
    /// `None` if no job has needed processors until then.
    pub fn mean(&self, over: UsageOver) -> Option<f64> {
        match over {
            UsageOver::Time => {
                let mut all = self.until_latest_arrival.clone();
                all.absorb(&mut self.since_latest_arrival.clone());
                all.mean()
            }
            UsageOver::Events => self.instants.mean(),
            UsageOver::UntilLastArrival => self.until_latest_arrival.mean(),
        }
    }

    /// Number of jobs that waited at the instant of the last arrival, after all events of that instant.
    pub fn waiting_at_last_arrival(&self) -> usize {
        self.waiting_then.unwrap_or(self.waiting)
    }

    /// Counts the instant of the latest fact and the time from then to `now`.
    fn advance(&mut self, now: Time) {
        self.waiting_then.get_or_insert(self.waiting);
        let possible = self.asked.min(self.processors);
        if possible > 0 {
            let span = now.since(self.now).as_nanos();
            self.since_latest_arrival.add(possible, u128::from(self.active) * u128::from(span), span.into());
            self.instants.add(possible, self.active.into(), 1);
        }
        self.now = now;
    }

    fn forget(&mut self, job: JobId) -> u64 {
        let (processors, _) =
            self.jobs.remove(&job).unwrap_or_else(|| panic!("job {job} left but was never submitted"));
        self.asked -= u64::from(processors);
        processors.into()
    }
}

impl Probe for Usage {
    fn observe(&mut self, now: Time, fact: &Fact) {
        if now > self.now {
            self.advance(now);
        }
        match fact {
            Fact::Submitted(job) => {
                self.jobs.insert(job.id, (job.request.processors, job.submit));
                self.asked += u64::from(job.request.processors);
                self.waiting += 1;
                self.waiting_then = None;
                self.until_latest_arrival.absorb(&mut self.since_latest_arrival);
            }
            Fact::Rejected { job, .. } => {
                self.forget(*job);
                self.waiting -= 1;
            }
            Fact::Started { job, processors, .. } => {
                self.active += u64::from(*processors);
                self.waiting -= 1;
                self.started_at_once += u64::from(self.jobs[job].1 == now);
            }
            Fact::Finished { job } => self.active -= self.forget(*job),
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}

impl Levels {
    fn add(&mut self, possible: u64, active: u128, weight: u128) {
        let level = self.0.entry(possible).or_default();
        *level = (level.0 + active, level.1 + weight);
    }

    /// Moves all counts of `other` into this one.
    fn absorb(&mut self, other: &mut Self) {
        while let Some((possible, (active, weight))) = other.0.pop_first() {
            self.add(possible, active, weight);
        }
    }

    fn mean(&self) -> Option<f64> {
        let weight: u128 = self.0.values().map(|(_, weight)| weight).sum();
        let usage: f64 = self.0.iter().map(|(possible, (active, _))| *active as f64 / *possible as f64).sum();
        (weight > 0).then(|| usage / weight as f64)
    }
}
