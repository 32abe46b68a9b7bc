//! The scenario file, and its two presets.

use super::mix::{WorkloadTable, kib};
use anyhow::{Context, Result, ensure};
use lab::scenario::Scenario;
use metasched::{Cluster, Config, LocalUsers, Readings};

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
