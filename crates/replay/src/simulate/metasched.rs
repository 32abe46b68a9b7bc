//! Policies of metasched by name, and a log under one of them.

use super::clusters::Clusters;
use super::log::Log;
use super::name::PolicyName;
use super::sites::Sites;
use super::watch::Watch;
use super::{Run, run_out};
use crate::cli;
use anyhow::Result;
use lab::output::OutDir;
use metasched::{
    Ffit, Intrusiveness, MetaLoras, Outcome, OutcomeSink, Ptt, Readings, Rr, SelectCluster, Submission, Tat, Weights,
};
use sim_core::Sim;
use std::str::FromStr;
use tempfile::NamedTempFile;
use workload::LogJob;

/// A policy of metasched.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Policy {
    Ffit,
    Rr,
    Tat,
    /// W, and whether LT is the nodes with local users or their occupancy.
    Ptt(f64, Intrusiveness),
}

impl Policy {
    /// The names of all, for messages.
    pub(super) const NAMES: &'static str = "ffit, rr, tat, ptt+w=W, ptt-occ+w=W";

    /// As on the command line, and as the folder of its results is called.
    pub(super) fn name(self) -> String {
        match self {
            Self::Ffit => "ffit".to_owned(),
            Self::Rr => "rr".to_owned(),
            Self::Tat => "tat".to_owned(),
            Self::Ptt(weight, Intrusiveness::LocalNodes) => PolicyName::new("ptt").with("w", weight).to_string(),
            Self::Ptt(weight, Intrusiveness::Occupancy) => PolicyName::new("ptt-occ").with("w", weight).to_string(),
        }
    }

    fn at_work(self, readings: &Readings) -> Box<dyn SelectCluster> {
        match self {
            Self::Ffit => Box::new(Ffit::new(readings)),
            Self::Rr => Box::new(Rr::new(readings)),
            Self::Tat => Box::new(Tat::new(readings)),
            Self::Ptt(weight, intrusiveness) => {
                Box::new(Ptt::new(readings, Weights::Same(weight)).with_intrusiveness(intrusiveness))
            }
        }
    }

    /// The policy called `text`; `None` if metasched has none of this name.
    pub(super) fn named(text: &str) -> Option<Result<Self, String>> {
        match PolicyName::base_of(text) {
            "ffit" => Some(Self::read(text, |_| Ok(Self::Ffit))),
            "rr" => Some(Self::read(text, |_| Ok(Self::Rr))),
            "tat" => Some(Self::read(text, |_| Ok(Self::Tat))),
            "ptt" => Some(Self::read(text, |name| weighted(name, Intrusiveness::LocalNodes))),
            "ptt-occ" => Some(Self::read(text, |name| weighted(name, Intrusiveness::Occupancy))),
            _ => None,
        }
    }

    fn read(text: &str, of: impl FnOnce(&mut PolicyName) -> Result<Self, String>) -> Result<Self, String> {
        let mut name = PolicyName::parse(text)?;
        let policy = of(&mut name)?;
        name.finish().map(|()| policy)
    }
}

fn weighted(name: &mut PolicyName, intrusiveness: Intrusiveness) -> Result<Policy, String> {
    let weight = |text: &str| f64::from_str(text).ok().filter(|weight| (0.0..=1.0).contains(weight));
    let weight = name.take("w", "a weight from 0 to 1, as in ptt+w=0.5", weight)?;
    let weight = weight.ok_or_else(|| format!("{name}: needs a weight from 0 to 1, as in {name}+w=0.5"))?;
    // Minus zero is zero.
    Ok(Policy::Ptt(weight.abs(), intrusiveness))
}

/// What is known of a run under metasched beside what every model tells.
pub(super) struct Beside {
    prediction_error_percent: Option<f64>,
    /// What disturbed the local users of a node, in seconds; `None` if there are none.
    disturbance: Option<f64>,
    makespan: f64,
}

/// Adds up the errors of predictions as jobs finish.
#[derive(Default)]
struct Errors {
    sum: f64,
    count: f64,
}

impl OutcomeSink for Errors {
    fn record(&mut self, outcome: &Outcome) {
        if let Some(error) = outcome.prediction_error() {
            self.sum += error;
            self.count += 1.0;
        }
    }
}

/// One policy on the whole log, as [`machines`](super::machines) does it.
pub(super) fn replay(
    policy: Policy,
    options: &cli::Simulate,
    clusters: &Clusters,
    sites: &Sites,
    out: &OutDir,
) -> Result<(Run, NamedTempFile)> {
    let log = Log::open(options, sites)?;
    let watch = Watch::new(out.begin()?, sites)?;
    let arrivals = log.jobs(watch.numbers()).map(|LogJob { job, .. }| Submission { job, demand: None });
    let config = clusters.config.clone();
    let at_work = policy.at_work(&config.readings);
    let world = MetaLoras::new(config, at_work, arrivals, Errors::default(), &Clusters::streams(options.seed))?;
    let mut sim = Sim::new(world, watch);
    run_out(&mut sim, &policy.name(), options)?;
    let (world, watch) = sim.into_parts();
    let makespan = world.makespan();
    let slowdown = world.local_slowdown(makespan);
    let Errors { sum, count } = world.into_outcomes();
    let repairs = log.finish()?;
    let watched = watch.finish()?;
    let row = watched.summary.row(sites.processors());
    let (run, jobs) = Run::new(super::Policy::Meta(policy), row, watched, repairs);
    let beside = Beside {
        prediction_error_percent: (count > 0.0).then(|| 100.0 * sum / count),
        disturbance: slowdown.map(|slowdown| (slowdown - 1.0) * makespan.as_secs_f64()),
        makespan: makespan.as_secs_f64(),
    };
    Ok((Run { beside: Some(beside), ..run }, jobs))
}

/// Adds columns that metasched alone has: the error of predictions at dispatch, and the slowdown of local users over the
/// longest makespan of the policies, one window for all.
pub(super) fn compare(runs: &mut [Run]) {
    let window = runs.iter().filter_map(|run| run.beside.as_ref()).map(|beside| beside.makespan).fold(0.0, f64::max);
    for run in runs {
        if let Some(beside) = &run.beside {
            let slowdown = beside.disturbance.filter(|_| window > 0.0).map(|disturbance| 1.0 + disturbance / window);
            run.row.push(("prediction_error_percent", beside.prediction_error_percent));
            run.row.push(("local_slowdown", slowdown));
        }
    }
}
