//! Policies of metasched by name, and a log under one of them.

use super::clock::{Control, run_of, run_out};
use super::clusters::Clusters;
use super::log::Log;
use super::name::PolicyName;
use super::sites::Sites;
use super::watch::{Known, RunRequest, Watch};
use super::world::{Entry, Named, Outcome, Wanted, World};
use crate::explain::history::{Explanation, SharedHeard, heard};
use crate::options::{LogOptions, words};
use crate::world_name;
use anyhow::{Context, Result};
use metasched::{
    Choice, Ffit, Intrusiveness, MetaLoras, OutcomeSink, Prediction, Ptt, Readings, Rr, SelectCluster, Submission, Tat,
    View, Weights,
};
use serde_json::{Value, json};
use sim_core::{Fact, Probe, Sim, SiteId, Time};
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;

#[derive(Copy, Clone, Debug, PartialEq)]
enum MetaPolicy {
    Ffit,
    Rr,
    Tat,
    /// W, and the measure of LT.
    Ptt(f64, Intrusiveness),
}

impl MetaPolicy {
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

    /// The policy called `text`; `None` if metasched has no policy with this name.
    fn named(text: &str) -> Option<Result<Self, String>> {
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

fn weighted(name: &mut PolicyName, intrusiveness: Intrusiveness) -> Result<MetaPolicy, String> {
    let weight = |text: &str| f64::from_str(text).ok().filter(|weight| (0.0..=1.0).contains(weight));
    let weight = name.take("w", "a weight from 0 to 1, as in ptt+w=0.5", weight)?;
    let weight = weight.ok_or_else(|| format!("{name}: needs a weight from 0 to 1, as in {name}+w=0.5"))?;
    // Minus zero becomes zero.
    Ok(MetaPolicy::Ptt(weight.abs(), intrusiveness))
}

/// Formats the name, as on the command line and of the folder of its results.
impl fmt::Display for MetaPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ffit => f.write_str("ffit"),
            Self::Rr => f.write_str("rr"),
            Self::Tat => f.write_str("tat"),
            Self::Ptt(weight, Intrusiveness::LocalNodes) => PolicyName::new("ptt").with("w", weight).fmt(f),
            Self::Ptt(weight, Intrusiveness::Occupancy) => PolicyName::new("ptt-occ").with("w", weight).fmt(f),
        }
    }
}

/// Sum of the errors of predictions, in order of completion.
#[derive(Default)]
struct Errors {
    sum: f64,
    count: f64,
}

impl OutcomeSink for Errors {
    fn record(&mut self, outcome: &metasched::Outcome) {
        if let Some(error) = outcome.prediction_error() {
            self.sum += error;
            self.count += 1.0;
        }
    }
}

/// Time-shared clusters with local users, under a metascheduler that predicts.
struct Metasched {
    log: LogOptions,
    path: PathBuf,
    policies: Vec<MetaPolicy>,
    clusters: Clusters,
    sites: Sites,
}

/// The policies, with descriptions for the help.
pub(super) const POLICIES: [(&str, &str); 5] = [
    ("ffit", "the first cluster where the job can start now"),
    ("rr", "each cluster in turn"),
    ("tat", "the cluster of the smallest predicted turnaround"),
    ("ptt+w=W", "the same, weighed against local users: W = 1 counts turnaround alone, W = 0 users"),
    ("ptt-occ+w=W", "the same, with the CPU and memory in use on its nodes in place of the users"),
];

pub(super) const ENTRY: Entry = Entry {
    name: &world_name::METASCHED,
    place: "--clusters FILE",
    policies: || POLICIES.map(|(name, _)| name).join(", "),
    normal: |text| Some(MetaPolicy::named(text)?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Box<dyn World>> {
    let policies = wanted.policies(MetaPolicy::named)?;
    let path = wanted.options.clusters.clone();
    let path = path.context("--model metasched needs --clusters FILE; see --help for what the file holds")?;
    let clusters = Clusters::open(&path)?;
    let sites = clusters.sites();
    Ok(Box::new(Metasched { log: wanted.log.clone(), path, policies, clusters, sites }))
}

impl World for Metasched {
    fn policies(&self) -> Vec<Named> {
        self.policies.iter().map(Named::of).collect()
    }

    fn sites(&self) -> &Sites {
        &self.sites
    }

    fn replay(&self, policy: usize, asked: RunRequest<'_>) -> Result<Outcome> {
        let (policy, control) = (self.policies[policy], asked.control.clone());
        let log = Log::open(&self.log, &self.sites)?;
        let watch = Watch::new(asked, &self.sites);
        let config = self.clusters.config.clone();
        let at_work = policy.at_work(&config.readings);
        let arrivals = log.jobs(watch.known()).map(|one| Submission { job: one.job, demand: None });
        let streams = Clusters::streams(self.log.seed());
        let world = MetaLoras::new(config, at_work, arrivals, Errors::default(), &streams)?;
        let mut sim = Sim::new(world, watch);
        run_out(&mut sim, &run_of(&self.log, policy), &control, || true)?;
        let (world, watch) = sim.into_parts();
        let makespan = world.makespan();
        let slowdown = world.local_slowdown(makespan);
        let Errors { sum, count } = world.into_outcomes();
        let repairs = log.finish()?;
        let mut outcome = Outcome::new(watch.finish(), repairs);
        outcome.count("prediction_error_percent", (count > 0.0).then(|| 100.0 * sum / count));
        let makespan = makespan.as_secs_f64();
        outcome.disturbed = Some((makespan, slowdown.map(|slowdown| (slowdown - 1.0) * makespan)));
        Ok(outcome)
    }

    fn explain(&self, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let policy = self.policies[policy];
        let (log, heard) = (Log::open(&self.log, &self.sites)?, heard(jobs));
        let arrivals = {
            let heard = Rc::clone(&heard);
            log.jobs(Known::default()).map(move |one| {
                heard.borrow_mut().comes(&one);
                Submission { job: one.job, demand: None }
            })
        };
        let config = self.clusters.config.clone();
        let at_work =
            Recording { policy: policy.at_work(&config.readings), heard: Rc::clone(&heard), names: self.sites.names() };
        let streams = Clusters::streams(self.log.seed());
        let world = MetaLoras::new(config, at_work, arrivals, Errors::default(), &streams)?;
        let mut sim = Sim::new(world, MetaschedEvents { heard: Rc::clone(&heard), names: self.sites.names() });
        run_out(&mut sim, &run_of(&self.log, policy), &Control::default(), || !heard.borrow().is_done())?;
        drop(sim);
        log.finish()?;
        let explanations = heard.borrow_mut().explanations(&policy.to_string(), "waits");
        Ok(explanations)
    }

    /// Adds the slowdown of local users over the longest makespan of the policies, one window for all.
    fn compare(&self, outcomes: &mut [Outcome]) {
        let window =
            outcomes.iter().filter_map(|outcome| outcome.disturbed).map(|(makespan, _)| makespan).fold(0.0, f64::max);
        for outcome in outcomes {
            let disturbance = outcome.disturbed.and_then(|(_, disturbance)| disturbance).filter(|_| window > 0.0);
            outcome.count("local_slowdown", disturbance.map(|disturbance| 1.0 + disturbance / window));
        }
    }

    fn arguments(&self) -> String {
        let place = words("clusters", Some(self.path.display()));
        format!(" --model metasched{place}{}", words("estimates", Some(self.log.estimates)))
    }

    fn notes(&self) -> Vec<String> {
        let note = "Tasks share nodes: a processor here is room for one task, as many on a node as its MPL allows. Local slowdown \
                    is averaged over the longest makespan of the policies.";
        vec![note.to_owned()]
    }
}

/// Policy that records its decisions on followed jobs, with the predictions for them.
struct Recording {
    policy: Box<dyn SelectCluster>,
    heard: SharedHeard,
    names: Vec<String>,
}

impl SelectCluster for Recording {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let (job, now) = (view.job().job, view.now());
        let predicted = self.heard.borrow().follows(job).then(|| predictions(view, &self.names));
        let choice = self.policy.select(view);
        if let Some((words, predicted)) = predicted {
            let chosen = choice.map(|choice| self.names[choice.cluster.index()].as_str());
            let facts = json!({ "predicted": predicted, "chosen": chosen });
            let (event, fate) = chosen.map_or_else(
                || ("waits", "the policy lets it wait".to_owned()),
                |name| ("dispatched", format!("the policy sends it to {name}")),
            );
            let words = || format!("first in the input queue; predicted are, from now: {words}; {fate}");
            self.heard.borrow_mut().push(job, now, event, words, || facts);
        }
        choice
    }
}

/// Predictions of the clusters for the job at the head of the input queue, in words and for programs.
fn predictions(view: &mut View<'_>, names: &[String]) -> (String, Vec<Value>) {
    let sites: Vec<SiteId> = view.sites().collect();
    let all = sites.into_iter().map(|site| {
        let name = &names[site.index()];
        if !view.fits(site) {
            return (format!("{name} cannot hold it"), json!({ "site": name, "fits": false }));
        }
        let can_start = view.can_start(site);
        let Some(Prediction { turnaround, wait, local_nodes, .. }) = view.predict(site) else {
            return (
                format!("no end is in sight on {name}"),
                json!({ "site": name, "fits": true, "can_start": can_start }),
            );
        };
        let start = if can_start { "it could start now".to_owned() } else { format!("it would wait {wait} s") };
        let words = format!("its end on {name} in {turnaround} s ({start}; local users on {local_nodes} of its nodes)");
        let (turnaround, wait) = (turnaround.as_secs_f64(), wait.as_secs_f64());
        let facts = json!({
            "site": name, "fits": true, "can_start": can_start, "turnaround": turnaround, "wait": wait,
            "local_nodes": local_nodes,
        });
        (words, facts)
    });
    let (words, facts): (Vec<String>, Vec<Value>) = all.unzip();
    (words.join(", "), facts)
}

struct MetaschedEvents {
    heard: SharedHeard,
    names: Vec<String>,
}

impl Probe for MetaschedEvents {
    fn observe(&mut self, now: Time, fact: &Fact) {
        let mut heard = self.heard.borrow_mut();
        match fact {
            Fact::Started { job, site, .. } => {
                let name = &self.names[site.index()];
                heard.push(*job, now, "starts", || format!("starts on {name}"), || json!({ "site": name }));
            }
            Fact::Finished { job } => {
                heard.push(*job, now, "ends", || "ends".to_owned(), || json!({}));
                heard.end(*job);
            }
            Fact::Rejected { job, .. } => {
                let words = || "is rejected: no cluster can hold it".to_owned();
                heard.push(*job, now, "rejected", words, || json!({}));
                heard.end(*job);
            }
            Fact::Submitted(_) | Fact::Interrupted { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}
