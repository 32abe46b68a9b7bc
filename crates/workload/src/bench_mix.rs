//! Parallel jobs of a few measured applications: the workload of Lérida et al., "MetaLoRaS: A Predictable MetaScheduler for
//! Non-dedicated Multiclusters", §3.
//!
//! Each application comes in each size equally often, in random order, as a Poisson process. What an application takes in
//! isolation is known, its profile; what a job of it takes in truth scatters about that.

use crate::error::{ParameterError, check};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use serde::{Deserialize, Serialize};
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};

/// Parameters of the workload. Times are in seconds.
///
/// ```
/// use sim_core::Streams;
/// use workload::bench_mix::{BenchApplication, BenchMix};
///
/// let application = |name: &str, time, cpu, memory| BenchApplication { name: name.to_owned(), time, cpu, memory };
/// let paper = BenchMix {
///     applications: vec![
///         application("CG", 240.0, 0.70, 120.0),
///         application("IS", 120.0, 0.45, 150.0),
///         application("MG", 180.0, 0.75, 120.0),
///         application("BT", 480.0, 0.90, 140.0),
///     ],
///     sizes: vec![2, 4, 5],
///     copies: 5,
///     interarrival: 40.0,
///     sigma: 0.10,
/// };
/// let jobs = paper.jobs(&Streams::new(1, 0));
/// assert_eq!(jobs.len(), 60);
/// let cg: Vec<_> = jobs.iter().filter(|made| paper.applications[made.application].name == "CG").collect();
/// assert_eq!(cg.len(), 15);
/// assert_eq!(cg[0].job.request.estimate, Some(sim_core::Span::from_secs(240)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchMix {
    /// The applications (paper: CG, IS, MG, BT).
    pub applications: Vec<BenchApplication>,
    /// Numbers of tasks that jobs have (paper: 2, 4, 5).
    pub sizes: Vec<u32>,
    /// Number of jobs of each application and size (paper: 60 jobs in all, so 5).
    pub copies: u32,
    /// Mean time between arrivals.
    pub interarrival: f64,
    /// Spread of the true run times: the sigma of a log-normal factor of mean 1.
    pub sigma: f64,
}

/// Measurements of an application in isolation, per task and independent of the size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchApplication {
    /// Its name.
    pub name: String,
    /// Execution time.
    pub time: f64,
    /// CPU that a task asks for, as a fraction of a processor.
    pub cpu: f64,
    /// Memory that a task holds, in MiB.
    pub memory: f64,
}

/// One job, and which application it is of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BenchJob {
    /// The job: its estimate is the application's time, its run time the truth.
    pub job: Job,
    /// Position in [`BenchMix::applications`].
    pub application: usize,
}

const ORDER: Purpose = Purpose("bench job order");
const ARRIVALS: Purpose = Purpose("bench job arrivals");
const RUNTIMES: Purpose = Purpose("bench job runtimes");

impl BenchMix {
    /// Whether the parameters describe a workload.
    ///
    /// # Errors
    ///
    /// Names the first field that does not.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check(!self.applications.is_empty(), "applications", "at least one", "none")?;
        check(!self.sizes.is_empty(), "sizes", "at least one", "none")?;
        check(!self.sizes.contains(&0), "sizes", "sizes of at least 1", 0)?;
        let jobs = u64::from(self.copies) * (self.applications.len() * self.sizes.len()) as u64;
        check((1..=MOST_JOBS).contains(&jobs), "copies", "copies that make 1 to 10000000 jobs", self.copies)?;
        for BenchApplication { name, time, cpu, memory } in &self.applications {
            let field = |field: &str| format!("application {name}: {field}");
            let range = SHORTEST..=LONGEST;
            check(range.contains(time), field("time"), "a time from 0.000001 to 100000000 seconds", time)?;
            check((1e-6..=1.0).contains(cpu), field("cpu"), "a fraction of a processor above 0 and up to 1", cpu)?;
            check((0.0..=1e9).contains(memory), field("memory"), "MiB from 0 to 1e9", memory)?;
        }
        let is_mean = (SHORTEST..=LONGEST).contains(&self.interarrival);
        check(is_mean, "interarrival", "a mean from 0.000001 to 100000000 seconds", self.interarrival)?;
        check((0.0..=2.0).contains(&self.sigma), "sigma", "0 for exact profiles, 0.1 for 10 %, at most 2", self.sigma)?;
        Ok(())
    }

    /// The jobs that `streams` draw, in order of submission. Another mean time between arrivals moves all arrivals in
    /// proportion, another sigma no arrival: such workloads can be compared job by job.
    ///
    /// # Panics
    ///
    /// If [`BenchMix::validate`] finds fault with the parameters.
    pub fn jobs(&self, streams: &Streams) -> Vec<BenchJob> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
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
            let profile = Span::from_secs_f64(self.applications[application].time);
            // As `rand_distr::LogNormal` has it, with an exponential function that is the same everywhere.
            let deviate: f64 = StandardNormal.sample(&mut runtimes);
            let factor = libm::exp(location + sigma * deviate);
            let runtime = profile.scaled(factor).max(Span::from_nanos(1));
            let mut job = Job::new(JobId(id), submit, size, runtime);
            job.request.estimate = Some(profile);
            BenchJob { job, application }
        };
        (0..).zip(mix).map(job).collect()
    }
}

/// A thousand times the resolution of time.
const SHORTEST: f64 = 1e-6;
/// Three years: sums of draws must fit into the range of time.
const LONGEST: f64 = 1e8;
/// They are drawn at once, since they are shuffled.
const MOST_JOBS: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(copies: u32, sigma: f64) -> BenchMix {
        let application = |name: &str, time, cpu| BenchApplication { name: name.to_owned(), time, cpu, memory: 100.0 };
        BenchMix {
            applications: vec![application("A", 100.0, 0.5), application("B", 400.0, 0.9)],
            sizes: vec![1, 3],
            copies,
            interarrival: 10.0,
            sigma,
        }
    }

    /// The first draws are part of the format of every published result: if this test fails, all numbers move.
    #[test]
    fn value_stability() {
        let jobs = mix(2, 0.1).jobs(&Streams::new(42, 0));
        let first: Vec<_> = jobs
            .iter()
            .take(3)
            .map(|made| {
                (made.application, made.job.request.processors, made.job.submit.as_nanos(), made.job.runtime.as_nanos())
            })
            .collect();
        assert_eq!(
            first,
            [
                (0, 1, 11_313_223_865, 88_711_160_204),
                (0, 3, 17_175_741_511, 90_252_190_931),
                (1, 3, 35_248_550_035, 381_403_156_988)
            ]
        );
    }

    #[test]
    fn each_application_comes_in_each_size_equally_often() {
        let mix = mix(7, 0.1);
        let jobs = mix.jobs(&Streams::new(1, 0));
        for application in 0..2 {
            for size in [1, 3] {
                let of_kind = |made: &&BenchJob| made.application == application && made.job.request.processors == size;
                assert_eq!(jobs.iter().filter(of_kind).count(), 7);
            }
        }
        assert!(jobs.is_sorted_by_key(|made| made.job.submit));
        assert!(jobs.iter().zip(0..).all(|(made, id)| made.job.id == JobId(id)));
    }

    #[test]
    fn runtimes_scatter_about_the_profile_by_sigma() {
        let jobs = mix(5000, 0.1).jobs(&Streams::new(1, 0));
        let factors: Vec<f64> = jobs
            .iter()
            .map(|made| made.job.runtime.as_secs_f64() / made.job.request.estimate.expect("a profile").as_secs_f64())
            .collect();
        let (mean, stderr) = sim_core::testkit::mean_and_stderr(&factors);
        assert!((mean - 1.0).abs() < 4.0 * stderr, "{mean} ± {stderr}");
        let logs: Vec<f64> = factors.iter().map(|factor| (libm::log(*factor) + 0.005).powi(2)).collect();
        let (variance, stderr) = sim_core::testkit::mean_and_stderr(&logs);
        assert!((variance - 0.01).abs() < 4.0 * stderr, "{variance} ± {stderr}");
    }

    #[test]
    fn without_sigma_the_profile_is_the_truth_and_arrivals_stay() {
        let (exact, noisy) = (mix(5, 0.0).jobs(&Streams::new(1, 3)), mix(5, 0.2).jobs(&Streams::new(1, 3)));
        assert!(exact.iter().all(|made| Some(made.job.runtime) == made.job.request.estimate));
        assert!(exact.iter().zip(&noisy).all(|(a, b)| a.job.submit == b.job.submit && a.application == b.application));
    }

    #[test]
    fn parameters_that_make_no_sense_are_named() {
        let check = |change: fn(&mut BenchMix), message: &str| {
            let mut mix = mix(1, 0.1);
            change(&mut mix);
            assert_eq!(mix.validate().expect_err("it makes no sense").to_string(), message);
        };
        check(|mix| mix.sizes.clear(), "sizes: expected at least one, found none");
        check(|mix| mix.sizes.push(0), "sizes: expected sizes of at least 1, found 0");
        check(|mix| mix.copies = 0, "copies: expected copies that make 1 to 10000000 jobs, found 0");
        check(
            |mix| mix.applications[1].cpu = 90.0,
            "application B: cpu: expected a fraction of a processor above 0 and up to 1, found 90",
        );
        check(
            |mix| mix.interarrival = 0.0,
            "interarrival: expected a mean from 0.000001 to 100000000 seconds, found 0",
        );
        check(|mix| mix.sigma = f64::NAN, "sigma: expected 0 for exact profiles, 0.1 for 10 %, at most 2, found NaN");
    }
}
