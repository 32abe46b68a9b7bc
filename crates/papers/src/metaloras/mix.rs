//! The jobs (§3): each application in each size equally often, in random order, as a Poisson process. The time of an application in
//! isolation, its profile, is known; the true run times of its jobs scatter around it.

use metasched::{Demand, Submission};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use serde::{Deserialize, Serialize};
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};

const ORDER: Purpose = Purpose("bench job order");
const ARRIVALS: Purpose = Purpose("bench job arrivals");
const RUNTIMES: Purpose = Purpose("bench job runtimes");

/// The scenario's table `workload`. Applications were measured in isolation, per task, for any number of tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadTable {
    pub(super) applications: Vec<String>,
    /// Execution time of each, in seconds.
    pub(super) times: Vec<f64>,
    /// CPU request of a task of each, as a fraction of a processor.
    pub(super) cpu: Vec<f64>,
    /// Memory of a task of each, in MiB.
    pub(super) memory: Vec<f64>,
    /// Possible numbers of tasks of a job.
    sizes: Vec<u32>,
    /// Number of jobs of each application and size.
    copies: u32,
    /// Mean time between arrivals, in seconds.
    pub(super) interarrival: f64,
    /// Sigma of the log-normal factor of mean 1 between profile and true run time.
    pub(super) sigma: f64,
}

impl WorkloadTable {
    pub(super) fn count(&self) -> u64 {
        u64::from(self.copies) * (self.applications.len() * self.sizes.len()) as u64
    }

    /// Returns the jobs drawn from `streams`, in order of submission: the estimate of each is its application's time, its run time is the
    /// truth. Another mean time between arrivals scales all arrivals, another sigma changes no arrival: such workloads can be compared job
    /// by job.
    pub(super) fn jobs(&self, streams: &Streams) -> Vec<Submission> {
        let kinds = (0..self.applications.len())
            .flat_map(|application| self.sizes.iter().map(move |&size| (application, size)));
        let mut mix: Vec<(usize, u32)> = (0..self.copies).flat_map(|_| kinds.clone()).collect();
        let [mut order, mut arrivals, mut runtimes] =
            [ORDER, ARRIVALS, RUNTIMES].map(|purpose| streams.stream(purpose, 0));
        // Fisher–Yates.
        for i in (1..mix.len()).rev() {
            let j = order.random_range(0..=i as u64);
            mix.swap(i, usize::try_from(j).expect("no more than i"));
        }
        // The mean of a log-normal variate is exp(μ + σ² / 2).
        let (location, sigma) = (-self.sigma * self.sigma / 2.0, self.sigma);
        let mut submit = Time::ZERO;
        let job = |(id, (application, size)): (u32, (usize, u32))| {
            let gap: f64 = Exp1.sample(&mut arrivals);
            submit += Span::from_secs_f64(gap * self.interarrival);
            let profile = Span::from_secs_f64(self.times[application]);
            // Equals `rand_distr::LogNormal`, with an exponential function that is the same on every platform.
            let deviate: f64 = StandardNormal.sample(&mut runtimes);
            let factor = libm::exp(location + sigma * deviate);
            let mut job = Job::new(JobId(id), submit, size, profile.scaled(factor).max(Span::from_nanos(1)));
            job.request.estimate = Some(profile);
            let demand = Demand::new(self.cpu[application], kib(self.memory[application]));
            Submission { job, demand: Some(demand) }
        };
        (0..).zip(mix).map(job).collect()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "memory was checked: from 0 to 1e9 MiB")]
pub(super) fn kib(mib: f64) -> u64 {
    (mib * 1024.0).round() as u64
}
