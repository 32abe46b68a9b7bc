//! A world in which a log can be replayed: the interface of each of [`super::worlds`], and the runs of an open one.

use super::clock;
use super::name::PolicyName;
use super::own::Own;
use super::sites::Sites;
use super::watch::{Outcome, Watch};
use crate::options::{LogOptions, PROFILES, WorldOptions};
use crate::reasons::history::Explanation;
use anyhow::{Result, anyhow, bail};
use lab::output::provenance::hashes_of;
use lab::parallel::in_parallel;
use lab::scenario::did_you_mean;
use metrics::Metric;
use metrics::backlog::Trend;
use metrics::sums::Sums;
use sim_core::{Model, Probe};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

/// The runs of a world that is open as `at`; policies are named by their positions.
pub(crate) trait World: Send + Sync {
    fn replay(&self, at: &Opened, policy: usize, watch: Watch) -> Result<Outcome>;

    /// Explains the starts of these jobs of the log, by number, under a policy.
    fn explain(&self, at: &Opened, _policy: usize, _jobs: &[u64]) -> Result<Vec<Explanation>> {
        bail!("{} reports no reasons; leave it out", at.entry.chosen_by())
    }

    /// Adds metrics that depend on the runs of all policies.
    fn compare(&self, _outcomes: &mut [Outcome]) {}
}

pub(crate) struct Opened {
    pub(crate) entry: &'static Entry,
    pub(super) log: LogOptions,
    pub(crate) sites: Sites,
    pub(super) policies: Vec<Named>,
    pub(super) world: Box<dyn World>,
    /// Options that determine the runs, as on the command line; each after a blank.
    pub(super) arguments: String,
    /// Given options that change nothing in these runs.
    pub(super) without_effect: Vec<&'static str>,
    /// Notes for readers of the page.
    pub(super) notes: Vec<String>,
    /// Start of the simulator of the profile `alea31` (s).
    pub(super) start_up: Option<f64>,
    /// Reason for rejections, after "rejected: ".
    pub(super) rejects_because: String,
}

#[derive(Clone)]
pub(crate) struct Named {
    /// Name of the folder of its results.
    pub(crate) name: String,
    /// Name in reports: the alias, if `--policy` has one.
    pub(crate) label: String,
    /// Name as `--policy` takes it, in normal form.
    pub(crate) given: String,
    /// Files whose content determines its behaviour: see [`policy::Policy::files`](super::policy::Policy::files).
    pub(crate) files: Vec<PathBuf>,
    /// Sentences for readers: what it assumes, or why it has no effect on these places.
    pub(crate) notes: Vec<String>,
}

impl Named {
    /// A policy whose name is its normal form.
    pub(crate) fn of(policy: &impl Display) -> Self {
        let name = policy.to_string();
        Self { label: name.clone(), given: name.clone(), name, files: Vec::new(), notes: Vec::new() }
    }
}

pub(crate) struct Run {
    pub(crate) policy: Named,
    /// SHA-256, before its run, of the files that determine its behaviour, by path.
    pub(crate) programs: BTreeMap<String, String>,
    /// Metrics in the order of the columns of `summary.csv`.
    pub(crate) columns: Vec<(&'static Metric, Option<f64>)>,
    pub(crate) outcome: Outcome,
}

impl Run {
    /// Its name, where that is not its label.
    pub(super) fn full_name(&self) -> Option<String> {
        (self.policy.label != self.policy.name).then(|| self.policy.name.clone())
    }

    pub(crate) fn trend(&self) -> &Trend {
        self.sums().trend.as_ref().expect("the run is over")
    }

    pub(crate) fn value(&self, metric: &Metric) -> Option<f64> {
        self.columns.iter().find(|(known, _)| *known == metric).and_then(|(_, value)| *value)
    }

    pub(super) const fn sums(&self) -> &Sums {
        &self.outcome.totals.sums
    }
}

pub(crate) struct Entry {
    pub(crate) model: &'static str,
    pub(crate) profile: &'static str,
    /// Option that gives the machines: `--clusters FILE`.
    pub(super) place: &'static str,
    /// Names of its policies, for messages.
    pub(super) policies: fn() -> String,
    /// The normal form of the name of one of its policies.
    pub(super) normal: fn(&str) -> Option<String>,
    pub(super) open: fn(&Wanted<'_>) -> Result<Opened>,
}

impl Entry {
    pub(super) fn chosen_by(&self) -> String {
        let Self { model, profile, .. } = self;
        if self.is_clean() { format!("--model {model}") } else { format!("--profile {profile}") }
    }

    fn is_clean(&self) -> bool {
        self.profile == PROFILES[0].0
    }
}

pub(super) struct Wanted<'a> {
    pub(super) log: &'a LogOptions,
    pub(super) options: &'a WorldOptions,
    pub(super) own: &'a [Arc<Own>],
    pub(super) here: &'static Entry,
    pub(super) all: &'static [&'static Entry],
}

impl Wanted<'_> {
    /// The world with the usual answers to what only some worlds know.
    pub(super) fn opened(&self, sites: Sites, policies: Vec<Named>, world: impl World + 'static) -> Opened {
        let rejects_because = format!("no place is wider than {} processors", sites.widest());
        let (entry, log, world) = (self.here, self.log.clone(), Box::new(world));
        let (arguments, without_effect, notes, start_up) = Default::default();
        Opened { entry, log, sites, policies, world, arguments, without_effect, notes, start_up, rejects_because }
    }

    /// Reads the names of policies, each of which may be there once; `parse` returns `None` for those of other worlds.
    pub(super) fn policies<P: Display>(&self, parse: impl Fn(&str) -> Option<Result<P, String>>) -> Result<Vec<P>> {
        let (named, mut policies) = (&self.options.policies, Vec::<P>::new());
        for text in named {
            let policy = match parse(text) {
                Some(policy) => policy.map_err(|error| anyhow!("--policy {text}: {error}"))?,
                None => bail!("--policy {text}{}", self.unknown(text)),
            };
            let normal = policy.to_string();
            if let Some(first) = policies.iter().position(|other| other.to_string() == normal) {
                let first = &named[first];
                let spelled = format!(": {first} and {text} are both {normal}");
                bail!("--policy {text}: is named twice{}; leave one out", if first == text { "" } else { &spelled });
            }
            policies.push(policy);
        }
        Ok(policies)
    }

    /// The message about a name that the world does not have.
    fn unknown(&self, text: &str) -> String {
        let names: Vec<&str> = self.own.iter().map(|own| own.name.as_str()).collect();
        let other = self.all.iter().find(|other| (other.normal)(text).is_some());
        if let Some(other) = other.or_else(|| names.contains(&text).then_some(&self.all[0])) {
            return format!(" is one of {}, and not of {}", other.chosen_by(), self.here.chosen_by());
        }
        let known: Vec<String> = self.all.iter().map(|world| (world.policies)()).collect();
        let lists = self.all.iter().zip(&known).filter(|(world, _)| world.is_clean());
        let lists: Vec<_> =
            lists.map(|(world, names)| format!("with {} there are {names}", world.chosen_by())).collect();
        let known = known.iter().flat_map(|names| names.split(", ")).chain(names.iter().copied());
        let hint = did_you_mean(PolicyName::base_of(text), known);
        let added = if names.is_empty() { String::new() } else { format!("; this program adds {}", names.join(", ")) };
        format!(": no policy is called {text:?}{hint}; {}{added}", lists.join("; "))
    }
}

impl Opened {
    /// A sentence about each option that changes nothing in these runs.
    pub(crate) fn idle_options(&self) -> Vec<String> {
        self.without_effect.iter().map(|option| format!("{option} has no effect on this run")).collect()
    }

    /// Position of the policy that `text` names, in any form that `--policy` takes.
    pub(crate) fn position(&self, text: &str) -> Option<usize> {
        let normal = (self.entry.normal)(text);
        self.policies.iter().position(|policy| policy.name == text || normal.as_ref() == Some(&policy.given))
    }

    /// Replays all policies, in their order. `watch` returns the probe of each; `done` is called after it.
    pub(super) fn replay_all(
        &self,
        watch: &(dyn Fn() -> Result<Watch> + Sync),
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Run>> {
        let programs = self.policies.iter().map(|policy| hashes_of(&policy.files));
        let programs: Vec<_> = programs.collect::<Result<_>>()?;
        let mut outcomes = self.in_parallel(|policy| {
            let outcome = self.world.replay(self, policy, watch()?)?;
            done();
            Ok(outcome)
        })?;
        self.world.compare(&mut outcomes);
        let run = |((policy, outcome), programs): ((&Named, Outcome), _)| {
            let mut columns = outcome.totals.row();
            columns.sort_by_key(|(metric, _)| metric.column_rank());
            Run { policy: policy.clone(), programs, columns, outcome }
        };
        Ok(self.policies.iter().zip(outcomes).zip(programs).map(run).collect())
    }

    /// Explains the starts of these jobs under each policy, in the policies' order.
    pub(crate) fn explain_all(&self, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let explanations = self.in_parallel(|policy| self.world.explain(self, policy, jobs))?;
        Ok(explanations.into_iter().flatten().collect())
    }

    fn in_parallel<T: Send>(&self, of: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        in_parallel(&(0..self.policies.len()).collect::<Vec<_>>(), |policy| of(*policy))
    }

    pub(super) fn run<M: Model, P: Probe>(&self, policy: usize, model: M, probe: P) -> Result<(M, P)> {
        clock::run((&self.run_of(policy), &|| true), model, probe)
    }

    pub(super) fn run_of(&self, policy: usize) -> String {
        format!("{}: under {}", self.log.trace().display(), self.policies[policy].name)
    }
}
