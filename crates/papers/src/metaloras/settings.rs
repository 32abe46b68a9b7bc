//! The scenario file, and its two presets.
//!
//! The jobs (§3): each application in each size equally often, in random order, as a Poisson process. The time of an application in
//! isolation, its profile, is known; the true run times of its jobs scatter around it.

use anyhow::{Context, Result, ensure};
use lab::scenario::Scenario;
use metasched::{Cluster, Config, Demand, LocalUsers, Readings, Submission};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use sim_core::{Job, JobId, Purpose, Span, Streams, Time};

const ORDER: Purpose = Purpose("bench job order");
const ARRIVALS: Purpose = Purpose("bench job arrivals");
const RUNTIMES: Purpose = Purpose("bench job runtimes");

tables! {
    pub(super) struct File {
        pub(super) platform: PlatformTable,
        pub(super) local_users: LocalUsersTable,
        pub(super) workload: WorkloadTable,
        pub(super) predictor: PredictorTable,
        pub(super) policy: PolicyTable,
        pub(super) readings: Readings,
        reading_b: toml::Table,
    }
    pub(super) struct PlatformTable {
        nodes: Vec<u32>,
        speeds: Vec<f64>,
        memory: f64,
        mpl: u32,
        task_overhead: f64,
    }
    pub(super) struct LocalUsersTable {
        cpu: f64,
        memory: f64,
        pub(super) clusters: Vec<u32>,
        pub(super) levels: Vec<u32>,
        queueing_weight: f64,
    }
    /// The scenario's table `workload`. Applications were measured in isolation, per task, for any number of tasks.
    pub(super) struct WorkloadTable {
        applications: Vec<String>,
        /// Execution time of each, in seconds.
        times: Vec<f64>,
        /// CPU request of a task of each, as a fraction of a processor.
        cpu: Vec<f64>,
        /// Memory of a task of each, in MiB.
        memory: Vec<f64>,
        /// Possible numbers of tasks of a job.
        sizes: Vec<u32>,
        /// Number of jobs of each application and size.
        copies: u32,
        /// Mean time between arrivals, in seconds.
        interarrival: f64,
        /// Sigma of the log-normal factor of mean 1 between profile and true run time.
        sigma: f64,
    }
    pub(super) struct PredictorTable {
        overrun: f64,
    }
    pub(super) struct PolicyTable {
        pub(super) weights: Vec<f64>,
        pub(super) tradeoff_weights: Vec<f64>,
    }
}

named! {
    pub(super) enum Variant {
        /// The scenario without changes.
        Default = "default",
        /// The preset `reading-b`.
        ReadingB = "reading-b",
    }
}

impl Variant {
    pub(super) const PRESETS: [Self; 2] = [Self::Default, Self::ReadingB];
}

impl File {
    /// Checks the constraints that the types leave open; errors name the key.
    pub(super) fn validate(&self, scenario: &Scenario) -> Result<()> {
        let Self { workload, policy, .. } = self;
        // A thousand times the resolution of time, and three years: sums of draws must fit into the range of time.
        let (shortest, longest) = (1e-6, 1e8);
        crate::within(
            scenario,
            &[
                ("platform.memory", 1e-3, 1e9),
                ("local_users.levels", 0.0, f64::INFINITY),
                ("workload.times", shortest, longest),
                ("workload.cpu", 1e-6, 1.0),
                ("workload.memory", 0.0, 1e9),
                ("workload.sizes", 1.0, f64::INFINITY),
                ("workload.interarrival", shortest, longest),
                ("workload.sigma", 0.0, 2.0),
                ("policy", 0.0, 1.0),
            ],
        )?;
        crate::equally_long(
            scenario,
            &[
                ["platform.speeds", "platform.nodes"],
                ["local_users.levels", "local_users.clusters"],
                ["workload.times", "workload.applications"],
                ["workload.cpu", "workload.applications"],
                ["workload.memory", "workload.applications"],
            ],
        )?;
        crate::distinct(scenario, &["local_users.levels", "policy"])?;
        let jobs = workload.count();
        ensure!(
            (1..=100_000).contains(&jobs),
            "workload.copies makes {jobs} jobs; expected at least 1 and at most 100000"
        );
        for weight in [0.0, 0.5, 1.0_f64] {
            ensure!(
                policy.weights.iter().any(|given| given.total_cmp(&weight).is_eq()),
                "policy.weights leaves out {weight}; the claims are about 0, 0.5 and 1: add other weights beside these"
            );
        }
        self.can_run().context("[platform], [local_users], [workload] and [readings]")
    }

    pub(super) fn with_reading_b(&self) -> Result<Self> {
        let mut readings = toml::Table::try_from(self.readings)?;
        readings.extend(self.reading_b.clone());
        let file = Self { readings: readings.try_into()?, ..self.clone() };
        file.can_run()?;
        Ok(file)
    }

    /// Checks the world at each level, and the time of all jobs in sequence, each at its slowest.
    fn can_run(&self) -> Result<()> {
        self.local_users.clusters.iter().try_for_each(|occupied| self.config(*occupied).validate())?;
        let Self { platform, workload: mix, readings, .. } = self;
        let jobs = f64::from(u32::try_from(mix.count())?);
        let longest = mix.times.iter().copied().fold(0.0, f64::max);
        let slowest = platform.speeds.iter().copied().fold(f64::INFINITY, f64::min);
        let tasks = f64::from(platform.mpl) + 1.0;
        let stretch = tasks * (1.0 + platform.task_overhead * tasks) / (slowest * (1.0 - readings.hidden_loss));
        // At most one job in a thousand million is so far from its profile.
        let spread = libm::exp(6.0 * mix.sigma);
        ensure!(
            jobs * (10.0 * mix.interarrival + longest * spread * stretch) < LONGEST_RUN,
            "{jobs} jobs, {} s apart and {longest} s long, may outrun the clock; lower workload.copies, \
             workload.interarrival, workload.times, workload.sigma or platform.task_overhead, or raise platform.speeds",
            mix.interarrival
        );
        Ok(())
    }

    pub(super) fn config(&self, occupied: u32) -> Config {
        let PlatformTable { nodes, speeds, memory, mpl, task_overhead } = &self.platform;
        let memory = kib(*memory);
        let LocalUsersTable { cpu, memory: of_users, queueing_weight, .. } = self.local_users;
        Config {
            clusters: nodes.iter().zip(speeds).map(|(&nodes, &speed)| Cluster { nodes, speed, memory }).collect(),
            local: LocalUsers { clusters: occupied, cpu, memory: of_users },
            mpl: *mpl,
            task_overhead: *task_overhead,
            overrun: self.predictor.overrun,
            queueing_weight,
            readings: self.readings,
            ..Config::of_the_paper(occupied)
        }
    }
}

/// Longest run: a mean stretch by sharing that no scenario reaches, times the spread of true run times at sigma = 2.
const LONGEST_RUN: f64 = 1e9;

impl WorkloadTable {
    fn count(&self) -> u64 {
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
fn kib(mib: f64) -> u64 {
    (mib * 1024.0).round() as u64
}
