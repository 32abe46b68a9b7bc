//! Cost of parallel tasks to the local users.

use super::{ActiveJob, Work};
use sim_core::Time;

/// Sums over the tasks on occupied nodes; brought up to date with the jobs.
#[derive(Clone, Debug)]
pub(super) struct Intrusion {
    /// Work done, times the CPU demand in millionths.
    cpu: u128,
    /// Nanoseconds, times tasks.
    task_time: u128,
    queueing: Option<Queueing>,
}

/// The nonlinear law needs the CPU used on each node at each instant.
#[derive(Clone, Debug)]
struct Queueing {
    weight: f64,
    /// Sum over occupied nodes of the latency above 1.
    excess: f64,
    since: Time,
    /// Integral of `excess`, in nanoseconds.
    area: f64,
}

/// Cost to local users: integrals over occupied nodes and over time.
///
/// A job uses `demand × progress` of each of its nodes' CPU: CPU that a task holds without progress (waiting for the
/// slowest, switching) costs the users nothing. The CPU time that a job costs its users is therefore independent of its nodes
/// and of its rate.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct LocalLoad {
    /// CPU that parallel tasks used, in seconds of a processor.
    pub cpu: f64,
    /// Parallel tasks, in seconds.
    pub tasks: f64,
    /// Latency above 1 by the law of queueing, in seconds; 0 unless that is the reading of R10.
    pub queueing: f64,
}

impl Intrusion {
    pub(super) fn new(queueing_weight: Option<f64>) -> Self {
        let queueing = |weight| Queueing { weight, excess: 0.0, since: Time::ZERO, area: 0.0 };
        Self { cpu: 0, task_time: 0, queueing: queueing_weight.map(queueing) }
    }

    #[inline]
    pub(super) fn advance(&mut self, job: &mut ActiveJob, now: Time) {
        let (cpu, task_time) = (self.cpu, self.task_time);
        (self.cpu, self.task_time) = sums_until(job, now, (cpu, task_time));
        job.done = job.done(now);
        job.since = now;
    }

    /// Corrects the sums at a job's end to the work of its goal: the last nanosecond may have gone a little further.
    pub(super) fn correct(&mut self, job: &ActiveJob, goal: Work) {
        self.cpu = self.cpu.saturating_sub(cpu_of(job, job.done.saturating_sub(goal)));
    }

    pub(super) fn queueing_weight(&self) -> Option<f64> {
        self.queueing.as_ref().map(|queueing| queueing.weight)
    }

    /// Lets time pass until `now`.
    pub(super) fn pass(&mut self, now: Time) {
        if let Some(queueing) = &mut self.queueing {
            queueing.area = queueing.until(now);
            queueing.since = now;
        }
    }

    pub(super) fn set_queueing(&mut self, excess: f64) {
        if let Some(queueing) = &mut self.queueing {
            queueing.excess = excess;
        }
    }

    /// Sums until `now`, `running` included.
    pub(super) fn sums<'a>(&self, running: impl Iterator<Item = &'a ActiveJob>, speed: f64, now: Time) -> NodeSums {
        let (cpu, task_time) = running.fold((self.cpu, self.task_time), |sums, job| sums_until(job, now, sums));
        let queueing = self.queueing.as_ref().map_or(0.0, |queueing| queueing.until(now));
        NodeSums { speed, cpu, task_time, queueing }
    }
}

/// Integrals of clusters of one speed. Integers, so that the sums are independent of the order of events.
#[derive(Copy, Clone, Debug)]
pub(crate) struct NodeSums {
    speed: f64,
    cpu: u128,
    task_time: u128,
    queueing: f64,
}

impl LocalLoad {
    pub(crate) fn of(clusters: impl Iterator<Item = NodeSums>) -> Self {
        let mut by_speed: Vec<NodeSums> = Vec::new();
        for sums in clusters {
            match by_speed.iter_mut().find(|other| other.speed.total_cmp(&sums.speed).is_eq()) {
                Some(same) => {
                    same.cpu += sums.cpu;
                    same.task_time += sums.task_time;
                    same.queueing += sums.queueing;
                }
                None => by_speed.push(sums),
            }
        }
        // 2³² units of work per nanosecond; a faster processor does more of it in the same time.
        let cpu = |sums: &NodeSums| sums.cpu as f64 / (4_294_967_296e15 * sums.speed);
        Self {
            cpu: by_speed.iter().map(cpu).sum(),
            tasks: by_speed.iter().map(|sums| sums.task_time as f64 / 1e9).sum(),
            queueing: by_speed.iter().map(|sums| sums.queueing / 1e9).sum(),
        }
    }
}

impl Queueing {
    fn until(&self, now: Time) -> f64 {
        self.area + self.excess * now.since(self.since).as_nanos() as f64
    }
}

fn sums_until(job: &ActiveJob, now: Time, (cpu, task_time): (u128, u128)) -> (u128, u128) {
    if job.users == 0 {
        return (cpu, task_time);
    }
    let span = u128::from(now.since(job.since).as_nanos());
    (cpu + cpu_of(job, u128::from(job.rate) * span), task_time + span * u128::from(job.users))
}

fn cpu_of(job: &ActiveJob, work: Work) -> u128 {
    work * u128::from(job.app.demand.millionths()) * u128::from(job.users)
}
