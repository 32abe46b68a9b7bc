//! Worlds: what a log can be replayed on, each in a file of its own.
//!
//! A world is a type that implements [`World`] and a line in `simulate/worlds.rs`. Its options are its own: clap reads them
//! into [`World::Options`], and a run in another world refuses them.

use super::name::PolicyName;
use super::own::Own;
use super::rows::Drafts;
use super::sites::Sites;
use super::watch::Watched;
use crate::asked::Asked;
use crate::explanation::Explanation;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use lab::chart::Picture;
use lab::parallel::in_parallel;
use lab::provenance::hashes_of;
use lab::scenario::did_you_mean;
use metrics::Metric;
use metrics::backlog::Trend;
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::path::PathBuf;
use tempfile::NamedTempFile;
use workload::Repairs;

/// What a log can be replayed on.
pub(crate) trait World: Sized + Sync + 'static {
    /// The options that it alone has.
    type Options: Args + Clone + Debug;
    /// A policy of it, by name.
    type Policy: PolicyId;
    /// What is known of a run beside its outcome, until the policies are compared.
    type Beside: Send;

    /// The value of `--model` that chooses it.
    const MODEL: &'static str;
    /// The value of `--profile` that chooses it.
    const PROFILE: &'static str = "clean";
    /// What it is, for the help: of the model, or of the profile if that is not the usual one.
    const ABOUT: &'static str;
    /// The option that says where jobs run: `--clusters FILE`.
    const PLACE: &'static str;
    /// Whether `--machines` and `--inside` may say so, too.
    const TAKES_MACHINES: bool = false;

    /// The names of its policies, for messages.
    fn policies() -> String;

    /// The policy called `text`; `None` if there is none of such a base.
    fn policy(text: &str, own: &[&'static Own]) -> Option<Result<Self::Policy, String>>;

    /// Looks at what was asked, and reads what says where jobs run. Refuses what cannot be run.
    fn open(asked: &Asked, options: &Self::Options, policies: &[Self::Policy]) -> Result<Self>;

    /// Where jobs run.
    fn sites(&self) -> &Sites;

    /// One policy on the whole log. `drafts` is where its jobs are written.
    fn replay(&self, policy: &Self::Policy, drafts: Drafts) -> Result<(Outcome, Self::Beside)>;

    /// Why these jobs of the log, by number, started when they did under a policy.
    fn explain(&self, policy: &Self::Policy, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let _ = (policy, jobs);
        bail!("{} tells no reasons; leave it out", Entry::of::<Self>().chosen_by())
    }

    /// Adds what can be told only when all policies are done.
    fn compare(_runs: &mut [(Outcome, Self::Beside)]) {}

    /// What it was asked, as on the command line; each option with a blank before it.
    fn arguments(&self, policies: &[Self::Policy]) -> String;

    /// Files beside the results that a run will write.
    fn writes_to(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What a reader of the page must know of it.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Entries of the manifest that it alone has.
    fn facts(&self) -> Vec<(&'static str, serde_json::Value)> {
        Vec::new()
    }

    /// Why jobs are rejected here, behind "rejected: ".
    fn rejects_because(&self) -> String {
        format!("no place is wider than {} processors", self.sites().widest())
    }

    /// Why a policy does not do what its name promises on these places, if it does not.
    fn idles(&self, _policy: &Self::Policy) -> Option<String> {
        None
    }

    /// Whether another run gives the same bytes.
    fn is_reproducible(&self, _policies: &[Self::Policy]) -> bool {
        true
    }
}

/// A policy by its name. `Display` gives what `--policy` takes.
pub(crate) trait PolicyId: Clone + PartialEq + Display + Send + Sync {
    /// As the folder of its results is called.
    fn name(&self) -> String {
        self.to_string()
    }

    /// Files whose content decides what it does: see [`policy::Policy::files`](super::policy::Policy::files).
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// What came of one policy.
pub(crate) struct Outcome {
    pub(crate) watched: Watched,
    pub(crate) repairs: Repairs,
    /// Pictures that this world alone has, with captions.
    pub(crate) exhibits: Vec<(Picture, &'static str)>,
    /// Lines for the terminal.
    pub(crate) notes: Vec<String>,
    /// Files that belong elsewhere, complete but for their names.
    pub(crate) files: Vec<(NamedTempFile, PathBuf)>,
    /// Where the run departs from one that it was compared with.
    pub(crate) differs: Option<String>,
}

impl Outcome {
    /// What every world tells.
    pub(crate) fn new(watched: Watched, repairs: Repairs) -> Self {
        let (exhibits, notes, files, differs) = Default::default();
        Self { watched, repairs, exhibits, notes, files, differs }
    }

    /// Adds a metric that the world has counted.
    pub(crate) fn count(&mut self, metric: &str, value: Option<f64>) {
        self.watched.totals.count(metric, value);
    }
}

/// A policy, and what came of it.
pub(crate) struct Run {
    /// As the folder of its results is called.
    pub(crate) name: String,
    /// As `--policy` takes it.
    pub(crate) given: String,
    /// SHA-256 of the files that decided what it did, by path, from before its run.
    pub(crate) programs: BTreeMap<String, String>,
    /// Why it does not do what its name promises, if it does not.
    pub(crate) idles: Option<String>,
    /// Metrics in the order of the columns of `summary.csv`.
    pub(crate) columns: Vec<(&'static Metric, Option<f64>)>,
    pub(crate) outcome: Outcome,
}

impl Run {
    /// Trend of the work that waits.
    pub(crate) fn trend(&self) -> &Trend {
        self.outcome.watched.totals.sums.trend.as_ref().expect("the run is over")
    }

    /// The value of a metric.
    pub(crate) fn value(&self, metric: &Metric) -> Option<f64> {
        self.columns.iter().find(|(known, _)| *known == metric).and_then(|(_, value)| *value)
    }

    /// Jobs that no place could hold.
    pub(crate) const fn rejected(&self) -> u64 {
        self.outcome.watched.totals.sums.rejected
    }
}

/// A world with the policies that it was asked for: [`World`] without its types.
pub(crate) trait Opened: Sync {
    /// See [`World::MODEL`].
    fn model(&self) -> &'static str;
    /// See [`World::PROFILE`].
    fn profile(&self) -> &'static str;
    /// Of the policies, as their folders are called.
    fn names(&self) -> Vec<String>;
    /// Position of the policy that `text` names, in whichever form `--policy` takes.
    fn position(&self, text: &str) -> Option<usize>;
    /// Replays all policies, in their order. `begin` gives each the files of its jobs, and `done` is told of each.
    fn replay(&self, begin: &(dyn Fn() -> Result<Drafts> + Sync), done: &(dyn Fn() + Sync)) -> Result<Vec<Run>>;
    /// See [`World::explain`]: of each policy, in their order.
    fn explain(&self, jobs: &[u64]) -> Result<Vec<Explanation>>;
    /// See [`World::sites`].
    fn sites(&self) -> &Sites;
    /// See [`World::arguments`].
    fn arguments(&self) -> String;
    /// See [`World::writes_to`].
    fn writes_to(&self) -> Vec<PathBuf>;
    /// See [`World::notes`].
    fn notes(&self) -> Vec<String>;
    /// See [`World::facts`].
    fn facts(&self) -> Vec<(&'static str, serde_json::Value)>;
    /// See [`World::rejects_because`].
    fn rejects_because(&self) -> String;
    /// See [`World::is_reproducible`].
    fn is_reproducible(&self) -> bool;
}

struct Asking<W: World> {
    world: W,
    policies: Vec<W::Policy>,
}

impl<W: World> Opened for Asking<W> {
    fn model(&self) -> &'static str {
        W::MODEL
    }

    fn profile(&self) -> &'static str {
        W::PROFILE
    }

    fn names(&self) -> Vec<String> {
        self.policies.iter().map(PolicyId::name).collect()
    }

    fn position(&self, text: &str) -> Option<usize> {
        let parsed = W::policy(text, &[]).and_then(Result::ok);
        let is_meant = |policy: &W::Policy| policy.name() == text || parsed.as_ref() == Some(policy);
        self.policies.iter().position(is_meant)
    }

    fn replay(&self, begin: &(dyn Fn() -> Result<Drafts> + Sync), done: &(dyn Fn() + Sync)) -> Result<Vec<Run>> {
        let programs = self.policies.iter().map(|policy| hashes_of(&policy.files()));
        let programs: Vec<_> = programs.collect::<Result<_>>()?;
        let replay = |policy: &W::Policy| {
            let outcome = self.world.replay(policy, begin()?)?;
            done();
            Ok(outcome)
        };
        let mut outcomes = in_parallel(&self.policies, replay)?;
        W::compare(&mut outcomes);
        let run = |((policy, (outcome, _)), programs): ((&W::Policy, (Outcome, _)), _)| {
            let mut columns = outcome.watched.totals.row();
            columns.sort_by_key(|(metric, _)| metric.column_rank());
            let (name, given, idles) = (policy.name(), policy.to_string(), self.world.idles(policy));
            Run { name, given, programs, idles, columns, outcome }
        };
        Ok(self.policies.iter().zip(outcomes).zip(programs).map(run).collect())
    }

    fn explain(&self, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let told = in_parallel(&self.policies, |policy| self.world.explain(policy, jobs))?;
        Ok(told.into_iter().flatten().collect())
    }

    fn sites(&self) -> &Sites {
        self.world.sites()
    }

    fn arguments(&self) -> String {
        self.world.arguments(&self.policies)
    }

    fn writes_to(&self) -> Vec<PathBuf> {
        self.world.writes_to()
    }

    fn notes(&self) -> Vec<String> {
        self.world.notes()
    }

    fn facts(&self) -> Vec<(&'static str, serde_json::Value)> {
        self.world.facts()
    }

    fn rejects_because(&self) -> String {
        self.world.rejects_because()
    }

    fn is_reproducible(&self) -> bool {
        self.world.is_reproducible(&self.policies)
    }
}

/// What the registry tells of a world without opening it.
pub(super) struct Entry {
    pub(super) model: &'static str,
    pub(super) profile: &'static str,
    pub(super) about: &'static str,
    pub(super) place: &'static str,
    pub(super) takes_machines: bool,
    policies: fn() -> String,
    knows: fn(&str) -> bool,
}

impl Entry {
    pub(super) const fn of<W: World>() -> Self {
        Self {
            model: W::MODEL,
            profile: W::PROFILE,
            about: W::ABOUT,
            place: W::PLACE,
            takes_machines: W::TAKES_MACHINES,
            policies: W::policies,
            knows: |text| W::policy(text, &[]).is_some_and(|policy| policy.is_ok()),
        }
    }

    /// How a user asks for it.
    pub(super) fn chosen_by(&self) -> String {
        if self.profile == "clean" { format!("--model {}", self.model) } else { format!("--profile {}", self.profile) }
    }
}

/// Opens a world for the policies that were asked for; `all` are the worlds that there are.
pub(super) fn open<W: World>(
    asked: &Asked,
    options: &W::Options,
    named: &[String],
    own: &[&'static Own],
    all: &[Entry],
) -> Result<Box<dyn Opened>> {
    let mut policies: Vec<W::Policy> = Vec::new();
    for text in named {
        let policy = match W::policy(text, own) {
            Some(policy) => policy.map_err(|error| anyhow!("--policy {text}: {error}"))?,
            None => bail!("--policy {text}{}", whose(text, &Entry::of::<W>(), own, all)),
        };
        if let Some(first) = policies.iter().position(|other| *other == policy) {
            bail!(
                "--policy {text}: is named twice{}; leave one out",
                spelled(&named[first], text, &policy.to_string())
            );
        }
        policies.push(policy);
    }
    let world = W::open(asked, options, &policies)?;
    for (k, policy) in policies.iter().enumerate() {
        let name = policy.name();
        if let Some(other) = policies[..k].iter().find(|other| other.name() == name) {
            bail!(
                "--policy {other} and --policy {policy} would both be called {name}, and write to one folder; rename a program"
            );
        }
    }
    Ok(Box::new(Asking { world, policies }))
}

/// Where two spellings of the policy `canonical` differ, both of them.
fn spelled(first: &str, second: &str, canonical: &str) -> String {
    if first == second { String::new() } else { format!(": {first} and {second} are both {canonical}") }
}

/// What to say of a policy that the world `here` does not know.
fn whose(text: &str, here: &Entry, own: &[&'static Own], all: &[Entry]) -> String {
    let names: Vec<&str> = own.iter().map(|own| own.name()).collect();
    let other = all.iter().find(|other| (other.knows)(text)).or_else(|| names.contains(&text).then(|| &all[0]));
    if let Some(other) = other {
        return format!(" is one of {}, and not of {}", other.chosen_by(), here.chosen_by());
    }
    let ours = all.iter().filter(|world| world.profile == "clean");
    let lists: Vec<String> =
        ours.map(|world| format!("with {} there are {}", world.chosen_by(), (world.policies)())).collect();
    let known: Vec<String> = all.iter().map(|world| (world.policies)()).collect();
    let known = known.iter().flat_map(|names| names.split(", ")).chain(names.iter().copied());
    let hint = did_you_mean(PolicyName::base_of(text), known);
    let added = if names.is_empty() { String::new() } else { format!("; this program adds {}", names.join(", ")) };
    format!(": no policy is called {text:?}{hint}; {}{added}", lists.join("; "))
}
