//! Cost of parallel tasks to the local users, by the reading of R10.

use super::{ActiveJob, Work};
use crate::config::LocalSlowdown;
use sim_core::Time;

/// Integral over occupied nodes and over time; brought up to date with the jobs.
///
/// A job uses `demand × progress` of each of its nodes' CPU: CPU that a task holds without progress (waiting for the
/// slowest, switching) costs the users nothing. The CPU time that a job costs its users is therefore independent of its nodes
/// and of its rate.
#[derive(Clone, Debug)]
pub(super) struct Intrusion {
    measure: LocalSlowdown,
    /// Work done, times the CPU demand in millionths; or nanoseconds, times tasks. An integer, so that the sum is independent of the order
    /// of events.
    sum: u128,
    /// c of the queueing law, which is not linear and needs the CPU used on each node at each instant.
    pub(super) weight: f64,
    /// Sum over occupied nodes of the latency above 1, since `since`.
    pub(super) excess: f64,
    since: Time,
    /// Integral of `excess`, in nanoseconds.
    area: f64,
}

impl Intrusion {
    pub(super) const fn new(measure: LocalSlowdown, weight: f64) -> Self {
        Self { measure, sum: 0, weight, excess: 0.0, since: Time::ZERO, area: 0.0 }
    }

    pub(super) fn is_queueing(&self) -> bool {
        self.measure == LocalSlowdown::Queueing
    }

    #[inline]
    pub(super) fn advance(&mut self, job: &mut ActiveJob, now: Time) {
        self.sum += self.cost(job, now);
        job.done = job.done(now);
        job.since = now;
    }

    /// Corrects the sum at a job's end to the work of its goal: the last nanosecond may have gone a little further.
    pub(super) fn correct(&mut self, job: &ActiveJob, goal: Work) {
        if self.measure == LocalSlowdown::CpuUsed {
            self.sum = self.sum.saturating_sub(cpu_of(job, job.done.saturating_sub(goal)));
        }
    }

    /// Lets time pass until `now`.
    pub(super) fn pass(&mut self, now: Time) {
        self.area = self.area(now);
        self.since = now;
    }

    fn area(&self, now: Time) -> f64 {
        self.area + self.excess * now.since(self.since).as_nanos() as f64
    }

    /// Cost of a job since it was brought up to date.
    fn cost(&self, job: &ActiveJob, now: Time) -> u128 {
        if job.users == 0 {
            return 0;
        }
        let span = u128::from(now.since(job.since).as_nanos());
        match self.measure {
            LocalSlowdown::CpuUsed => cpu_of(job, u128::from(job.rate) * span),
            LocalSlowdown::PerTask => span * u128::from(job.users),
            LocalSlowdown::Queueing => 0,
        }
    }

    /// Returns the sum until `now`, `running` included, and the integral of the queueing law.
    pub(super) fn until<'a>(&self, running: impl Iterator<Item = &'a ActiveJob>, now: Time) -> (u128, f64) {
        (self.sum + running.map(|job| self.cost(job, now)).sum::<u128>(), self.area(now))
    }

    /// Converts the sums of clusters of one speed to seconds.
    pub(super) fn seconds(&self, (sum, area): (u128, f64), speed: f64) -> f64 {
        match self.measure {
            // 2³² units of work per nanosecond; a faster processor does more of it in the same time.
            LocalSlowdown::CpuUsed => sum as f64 / (4_294_967_296e15 * speed),
            LocalSlowdown::PerTask => sum as f64 / 1e9,
            LocalSlowdown::Queueing => area / 1e9,
        }
    }
}

fn cpu_of(job: &ActiveJob, work: Work) -> u128 {
    work * u128::from(job.app.demand.millionths()) * u128::from(job.users)
}
