//! Lérida et al.: FFIT, RR, TAT and PTT over three clusters with local users. Only this module knows the axes of the paper.

mod claims;
mod figures;
mod settings;

use anyhow::{Context, Result};
use lab::claim::{Claim, Remark};
use lab::metric::Values;
use lab::paper::{About, Effort, Exhibit, Paper, Reading};
use lab::quantity::{DesignPoint, Quantity};
use lab::scenario::Scenario;
use lab::units::as_f64;
use metasched::config::SlowdownWindow;
use metasched::{Ffit, MetaLoras, Outcome, Ptt, Readings, Rr, SelectCluster, Submission, Tat, Weights};
use serde::Serialize;
use settings::{File, Variant};
use sim_core::{Sim, Streams};

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum Policy {
    Ffit,
    Rr,
    Tat,
    /// PTT with W as bits, whose order is that of the nonnegative numbers.
    Ptt(u64),
}

impl Policy {
    const fn ptt(weight: f64) -> Self {
        Self::Ptt(weight.to_bits())
    }

    fn name(self) -> String {
        match self {
            Self::Ffit => "FFIT".to_owned(),
            Self::Rr => "RR".to_owned(),
            Self::Tat => "TAT".to_owned(),
            Self::Ptt(bits) => format!("PTT W={}", f64::from_bits(bits)),
        }
    }

    fn at_work(self, settings: &File) -> Box<dyn SelectCluster> {
        let readings = &settings.readings;
        match self {
            Self::Ffit => Box::new(Ffit::new(readings)),
            Self::Rr => Box::new(Rr::new(readings)),
            Self::Tat => Box::new(Tat::new(readings)),
            Self::Ptt(bits) => Box::new(Ptt::new(readings, Weights::Same(f64::from_bits(bits)))),
        }
    }
}

lab::metrics! {
    /// Metrics of one run (§3.1).
    pub(crate) struct Measured of Metric {
        /// Mean time from arrival to end of a parallel job.
        turnaround: "mean turnaround" ("s") smaller,
        /// From the start of the first job to the end of the last one.
        makespan: "from first start to last end" ("s") smaller,
        /// Count of R10 on an occupied node, summed over the run: the local users' slowdown is 1 + disturbance / window. Undefined without
        /// local users.
        disturbance: "disturbance of a node" ("s") smaller,
        /// Mean over jobs of |predicted − actual| / actual, of the time from dispatch to end.
        prediction_error: "mean relative error" ("%") smaller,
        /// The same, of jobs that waited in a LoRaS queue.
        prediction_error_queued: "mean relative error of jobs that waited" ("%") smaller,
        /// The same, of jobs that started at once.
        prediction_error_not_queued: "mean relative error of jobs that started at once" ("%") smaller,
        /// Growth of the error, in points, for each job that waits at the prediction.
        prediction_error_per_waiting: "growth of the error for each job that waits" ("points") signed,
        /// Jobs that waited in a LoRaS queue.
        queued_percent: "jobs that waited in a LoRaS queue" ("%"),
        /// Jobs that no cluster can hold.
        rejected: "jobs rejected" smaller zero,
    }
}

pub(crate) struct MetaLorasPaper {
    file: File,
    /// The scenario with the readings of the preset `reading-b`.
    reading_b: File,
}

lab::cell! {
    pub(crate) struct Cell of Metric {
        variant: Variant,
        /// Position in `local_users.levels`.
        level: usize,
        policy: Policy,
    }
}

impl MetaLorasPaper {
    const fn under(&self, variant: Variant) -> &File {
        match variant {
            Variant::Default => &self.file,
            Variant::ReadingB => &self.reading_b,
        }
    }

    /// Returns the local activity in percent, which names a level in the paper.
    fn percent(&self, level: usize) -> u32 {
        self.file.local_users.levels[level]
    }

    fn levels(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        0..self.file.local_users.levels.len()
    }

    fn occupied_levels(&self) -> Vec<usize> {
        self.levels().filter(|level| self.file.local_users.clusters[*level] > 0).collect()
    }

    /// Returns the policies that the figures compare.
    fn policies(&self) -> Vec<Policy> {
        let weights = self.file.policy.weights.iter().map(|weight| Policy::ptt(*weight));
        [Policy::Ffit, Policy::Rr, Policy::Tat].into_iter().chain(weights).collect()
    }

    /// Returns the slowdown of local users: 1 + the disturbance of a node / a window of time (R10, R11).
    fn slowdown(&self, cell: Cell) -> Quantity<Cell> {
        let window = if self.under(cell.variant).readings.slowdown_window == SlowdownWindow::OwnMakespan {
            cell.get(Metric::makespan)
        } else {
            let makespans = self.policies().into_iter().map(|policy| Cell { policy, ..cell }.get(Metric::makespan));
            makespans.fold(cell.get(Metric::makespan), Quantity::or_larger)
        };
        cell.get(Metric::disturbance) / window + Quantity::Constant(1.0)
    }

    fn play(&self, cell: &Cell, streams: &Streams) -> (Vec<Outcome>, Measured) {
        let settings = self.under(cell.variant);
        let jobs = settings.workload.jobs(streams);
        let submitted = jobs.len();
        let config = settings.config(self.file.local_users.clusters[cell.level]);
        let world = MetaLoras::new(config, cell.policy.at_work(settings), jobs.into_iter(), Vec::new(), streams);
        let (world, ()) = Sim::new(world.expect("the scenario was validated"), ()).run();
        (world.outcomes().clone(), Measured::of(&world, submitted))
    }
}

impl Paper for MetaLorasPaper {
    type Cell = Cell;

    const ABOUT: About = About {
        slug: "metaloras",
        title: "MetaLoRaS: A Predictable MetaScheduler for Non-dedicated Multiclusters",
        citation: "J. Ll. Lérida, F. Solsona, F. Giné, M. Hanzich, P. Hernández and E. Luque",
        package: "metasched",
        subject: "FFIT, RR, TAT and PTT over three clusters with local users; prediction by simulation",
    };
    const SCENARIO: &'static str = include_str!("../workloads/metaloras.toml");
    const PAGE: &'static str = include_str!("../pages/metaloras.md");
    const MODELS: &'static str = crate::MODELS;

    const READINGS: &'static [Reading] = Readings::LIST;
    const NOTES: &'static [&'static str] = &[
        "The paper measured a real testbed and prints no table: everything below the policies' formulas is a model of ours, \
         and no absolute number here is the paper's. Each number of the scenario says where it comes from, or that it is \
         assumed.",
        "By formula (1) PTT with W = 1 ranks clusters exactly as TAT does, so C8, C10 for W = 1 and C16 cannot hold \
         together with C4. The preset reading-b reads the text so that W = 1 does gain over TAT; it stands beside the \
         default in every figure.",
    ];

    fn new(scenario: &Scenario, _: Effort) -> Result<Self> {
        let file: File = scenario.typed()?;
        file.validate(scenario)?;
        Ok(Self { reading_b: file.with_reading_b().context("[reading_b]")?, file })
    }

    fn exhibits(&self) -> Vec<Exhibit<'_, Cell>> {
        figures::exhibits(self)
    }

    fn claims(&self) -> Vec<Claim<Cell>> {
        claims::VariantChecks { paper: self, variant: Variant::Default }.table()
    }

    fn remarks(&self) -> Vec<Remark<Cell>> {
        claims::remarks(self)
    }

    fn parameters(&self, cell: &Cell) -> Vec<(&'static str, String)> {
        vec![
            ("variant", cell.variant.name().to_owned()),
            ("local_activity", self.percent(cell.level).to_string()),
            ("policy", cell.policy.name()),
        ]
    }

    fn determinants(&self, cell: &Cell) -> serde_json::Value {
        let File { platform, local_users, workload, predictor, readings, .. } = self.under(cell.variant);
        serde_json::json!({
            "scenario": (platform, local_users, workload, predictor),
            // R11 affects only the measurement.
            "readings": crate::answers(readings, |field| field != "slowdown_window"),
            "occupied": self.file.local_users.clusters[cell.level],
            "policy": cell.policy.name(),
        })
    }

    fn cost(&self, cell: &Cell) -> u64 {
        // Predictions dominate the time; TAT and PTT compute one per cluster.
        match cell.policy {
            Policy::Ffit | Policy::Rr => 1,
            Policy::Tat | Policy::Ptt(_) => 2,
        }
    }

    fn simulate(&self, cell: &Cell, streams: &Streams) -> Values<Metric> {
        self.play(cell, streams).1.into()
    }
}

impl Measured {
    fn of<P: SelectCluster, J: Iterator<Item = Submission>>(world: &MetaLoras<P, J>, submitted: usize) -> Self {
        let outcomes = world.outcomes();
        let error = |wanted: fn(&&Outcome) -> bool| {
            100.0 * mean(outcomes.iter().filter(wanted).filter_map(Outcome::prediction_error))
        };
        let queued = outcomes.iter().map(|outcome| f64::from(u8::from(outcome.was_queued())));
        Self {
            turnaround: mean(outcomes.iter().map(|outcome| outcome.turnaround().as_secs_f64())),
            makespan: world.makespan().as_secs_f64(),
            disturbance: world.disturbance().map_or(f64::NAN, |(seconds, nodes)| seconds / f64::from(nodes)),
            prediction_error: error(|_| true),
            prediction_error_queued: error(|outcome| outcome.was_queued()),
            prediction_error_not_queued: error(|outcome| !outcome.was_queued()),
            prediction_error_per_waiting: per_waiting(outcomes),
            queued_percent: 100.0 * mean(queued),
            rejected: as_f64(submitted - outcomes.len()),
        }
    }
}

/// Returns the slope of the least-squares line of the prediction error, in points, over the number of jobs waiting in the LoRaS queue at
/// that moment. NaN if that number is the same for all predictions.
fn per_waiting(outcomes: &[Outcome]) -> f64 {
    let waiting = |of: &Outcome| {
        // Jobs join a queue in the order of their dispatch, ties in the order of arrival.
        let ahead = |other: &&Outcome| {
            let joined = (other.dispatched, other.arrival, other.job) < (of.dispatched, of.arrival, of.job);
            other.cluster == of.cluster && joined && other.start > of.dispatched
        };
        as_f64(outcomes.iter().filter(ahead).count())
    };
    let points = || outcomes.iter().filter_map(|of| Some((waiting(of), 100.0 * of.prediction_error()?)));
    let (mean_waiting, mean_error) = (mean(points().map(|(x, _)| x)), mean(points().map(|(_, y)| y)));
    let covariance: f64 = points().map(|(x, y)| (x - mean_waiting) * (y - mean_error)).sum();
    let variance: f64 = points().map(|(x, _)| (x - mean_waiting).powi(2)).sum();
    covariance / variance
}

/// Returns the mean; NaN if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
