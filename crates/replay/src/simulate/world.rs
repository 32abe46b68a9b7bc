//! Worlds in which a log can be replayed, each in a file of its own with a type that implements [`World`] and its [`Entry`].

use super::name::PolicyName;
use super::own::Own;
use super::rows::Drafts;
use super::sites::Sites;
use super::watch::Watched;
use super::{alea31, hier, metasched, space_shared};
use crate::explain::history::Explanation;
use crate::options::{LogOptions, WorldOptions};
use anyhow::{Result, anyhow, bail, ensure};
use clap::builder::PossibleValue;
use lab::parallel::in_parallel;
use lab::provenance::hashes_of;
use lab::scenario::did_you_mean;
use metrics::Metric;
use metrics::backlog::Trend;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Deref;
use std::path::PathBuf;
use workload::Repairs;

/// A world with the policies that it was opened for; these are named by their positions.
pub(crate) trait World: Sync {
    fn policies(&self) -> Vec<Named>;

    fn sites(&self) -> &Sites;

    /// One policy on the whole log. `drafts` is where its jobs are written.
    fn replay(&self, policy: usize, drafts: Drafts) -> Result<Outcome>;

    /// Why these jobs of the log, by number, started when they did under a policy.
    fn explain(&self, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>>;

    /// Adds metrics that depend on the runs of all policies.
    fn compare(&self, _outcomes: &mut [Outcome]) {}

    /// Options that determine the runs, as on the command line; each with a blank before it.
    fn arguments(&self) -> String;

    /// Options that were given and change nothing in these runs.
    fn without_effect(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Notes for readers of the page.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Entries of the manifest that it alone has.
    fn facts(&self) -> Vec<(&'static str, serde_json::Value)> {
        Vec::new()
    }

    /// Reason for rejections, behind "rejected: ".
    fn rejects_because(&self) -> String {
        format!("no place is wider than {} processors", self.sites().widest())
    }

    fn is_reproducible(&self) -> bool {
        true
    }
}

pub(crate) struct Named {
    /// As the folder of its results is called.
    pub(crate) name: String,
    /// As `--policy` takes it, in normal form.
    pub(crate) given: String,
    /// Files whose content decides what it does: see [`policy::Policy::files`](super::policy::Policy::files).
    pub(crate) files: Vec<PathBuf>,
    /// Reason why it does not do what its name promises on these places, if it does not.
    pub(crate) idles: Option<String>,
}

impl Named {
    /// A policy whose name is its normal form.
    pub(crate) fn of(policy: &impl Display) -> Self {
        Self { name: policy.to_string(), given: policy.to_string(), files: Vec::new(), idles: None }
    }
}

pub(crate) struct Outcome {
    pub(crate) watched: Watched,
    pub(crate) repairs: Repairs,
    pub(crate) notes: Vec<String>,
    /// Makespan (s), and the time (s) by which local users of a node were slowed down, if there are any.
    pub(crate) disturbed: Option<(f64, Option<f64>)>,
}

impl Outcome {
    pub(crate) fn new(watched: Watched, repairs: Repairs) -> Self {
        Self { watched, repairs, notes: Vec::new(), disturbed: None }
    }

    /// Adds a metric that the world has counted.
    pub(crate) fn count(&mut self, metric: &str, value: Option<f64>) {
        self.watched.totals.count(metric, value);
    }
}

pub(crate) struct Run {
    /// As the folder of its results is called.
    pub(crate) name: String,
    /// As `--policy` takes it.
    pub(crate) given: String,
    /// SHA-256 of the files that decided what it did, by path, from before its run.
    pub(crate) programs: BTreeMap<String, String>,
    /// See [`Named::idles`].
    pub(crate) idles: Option<String>,
    /// Metrics in the order of the columns of `summary.csv`.
    pub(crate) columns: Vec<(&'static Metric, Option<f64>)>,
    pub(crate) outcome: Outcome,
}

impl Run {
    pub(crate) fn trend(&self) -> &Trend {
        self.outcome.watched.totals.sums.trend.as_ref().expect("the run is over")
    }

    pub(crate) fn value(&self, metric: &Metric) -> Option<f64> {
        self.columns.iter().find(|(known, _)| *known == metric).and_then(|(_, value)| *value)
    }

    /// Jobs that no place could hold.
    pub(crate) const fn rejected(&self) -> u64 {
        self.outcome.watched.totals.sums.rejected
    }
}

/// A world as the command line knows it.
pub(crate) struct Entry {
    /// The values of `--model` and `--profile` that choose it.
    pub(crate) model: &'static str,
    pub(crate) profile: &'static str,
    /// Description for the help: of the model, or of the profile if that is not the usual one.
    pub(super) about: &'static str,
    /// The option that gives the machines: `--clusters FILE`.
    pub(super) place: &'static str,
    /// Names of its policies, for messages.
    pub(super) policies: fn() -> String,
    /// The normal form of the name of one of its policies.
    pub(super) normal: fn(&str) -> Option<String>,
    pub(super) open: fn(&Wanted<'_>) -> Result<Box<dyn World>>,
}

/// The worlds. A new one is a file of its own, and its entry here.
const ALL: [&Entry; 4] = [&space_shared::ENTRY, &alea31::ENTRY, &metasched::ENTRY, &hier::ENTRY];

/// Options that not every world takes: whether one was given, and the worlds that take it.
type Limited = (&'static str, fn(&WorldOptions) -> bool, &'static [&'static Entry]);

const LIMITED: [Limited; 11] = [
    ("--machines", |options| options.on.machines.is_some(), &[&space_shared::ENTRY, &alea31::ENTRY]),
    ("--inside", |options| options.on.inside.is_some(), &[&space_shared::ENTRY, &alea31::ENTRY]),
    ("--procs", |options| options.on.procs.is_some(), &[&space_shared::ENTRY]),
    ("--outages", |options| options.on.outages.is_some(), &[&space_shared::ENTRY]),
    ("--tabu-iterations", |options| options.on.tabu_iterations.is_some(), &[&space_shared::ENTRY]),
    ("--passes", |options| options.on.passes.is_some(), &[&space_shared::ENTRY]),
    ("--time-limit", |options| options.time_limit.is_some(), &[&space_shared::ENTRY]),
    ("--policy-timeout", |options| options.policy_timeout.is_some(), &[&space_shared::ENTRY]),
    ("--startup", |options| options.startup.is_some(), &[&alea31::ENTRY]),
    ("--clusters", |options| options.clusters.is_some(), &[&metasched::ENTRY]),
    ("--tree", |options| options.tree.is_some(), &[&hier::ENTRY]),
];

/// Values of `--model` for the help.
pub(crate) fn models() -> Vec<PossibleValue> {
    let usual = ALL.iter().filter(|world| world.profile == CLEAN);
    usual.map(|world| PossibleValue::new(world.model).help(world.about)).collect()
}

/// Values of `--profile` for the help.
pub(crate) fn profiles() -> Vec<PossibleValue> {
    let clean = PossibleValue::new(CLEAN).help("Those of the policies, as their authors describe them");
    let others = ALL.iter().filter(|world| world.profile != CLEAN);
    std::iter::once(clean).chain(others.map(|world| PossibleValue::new(world.profile).help(world.about))).collect()
}

const CLEAN: &str = "clean";

impl Entry {
    pub(super) fn chosen_by(&self) -> String {
        if self.profile == CLEAN { format!("--model {}", self.model) } else { format!("--profile {}", self.profile) }
    }

    fn is(&self, other: &Self) -> bool {
        (self.model, self.profile) == (other.model, other.profile)
    }
}

/// Opens the chosen world with its policies. `own` are policies that the program adds.
pub(crate) fn open(log: &LogOptions, options: &WorldOptions, own: &[&'static Own]) -> Result<Opened> {
    let model = options.model.as_deref().unwrap_or(space_shared::ENTRY.model);
    let profile = options.profile.as_deref().unwrap_or(CLEAN);
    let here = ALL.into_iter().find(|world| world.model == model && world.profile == profile);
    let here = here.ok_or_else(|| {
        let its = ALL.iter().find(|world| world.profile == profile).map_or("", |world| world.model);
        anyhow!("--profile {profile} goes with --model {its}; leave it out with --model {model}")
    })?;
    for (option, is_given, takers) in LIMITED {
        ensure!(
            !is_given(options) || takers.iter().any(|world| world.is(here)),
            "{option} does not go with {}, which takes {}: it is an option of {}; leave it out",
            here.chosen_by(),
            here.place,
            takers.iter().map(|world| world.chosen_by()).collect::<Vec<_>>().join(" and ")
        );
    }
    let world = (here.open)(&Wanted { log, options, own, here })?;
    let policies = world.policies();
    for (k, Named { name, given, .. }) in policies.iter().enumerate() {
        if let Some(other) = policies[..k].iter().find(|other| other.name == *name) {
            bail!(
                "--policy {} and --policy {given} would both be called {name}, and write to one folder; rename a program",
                other.given
            );
        }
    }
    Ok(Opened { entry: here, world, policies })
}

/// The request for a world.
pub(super) struct Wanted<'a> {
    pub(super) log: &'a LogOptions,
    pub(super) options: &'a WorldOptions,
    pub(super) own: &'a [&'static Own],
    here: &'static Entry,
}

impl Wanted<'_> {
    /// Reads the names of policies; `parse` returns `None` for those of no policy of this world. Refuses a policy that is named
    /// twice.
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

    /// The message about a name that the world does not know.
    fn unknown(&self, text: &str) -> String {
        let names: Vec<&str> = self.own.iter().map(|own| own.name()).collect();
        let other = ALL.iter().find(|other| (other.normal)(text).is_some());
        if let Some(other) = other.or_else(|| names.contains(&text).then_some(&ALL[0])) {
            return format!(" is one of {}, and not of {}", other.chosen_by(), self.here.chosen_by());
        }
        let lists = ALL.iter().filter(|world| world.profile == CLEAN);
        let lists: Vec<String> =
            lists.map(|world| format!("with {} there are {}", world.chosen_by(), (world.policies)())).collect();
        let known: Vec<String> = ALL.iter().map(|world| (world.policies)()).collect();
        let known = known.iter().flat_map(|names| names.split(", ")).chain(names.iter().copied());
        let hint = did_you_mean(PolicyName::base_of(text), known);
        let added = if names.is_empty() { String::new() } else { format!("; this program adds {}", names.join(", ")) };
        format!(": no policy is called {text:?}{hint}; {}{added}", lists.join("; "))
    }
}

/// A world that is open, with its policies.
pub(crate) struct Opened {
    pub(crate) entry: &'static Entry,
    world: Box<dyn World>,
    policies: Vec<Named>,
}

impl Deref for Opened {
    type Target = dyn World;

    fn deref(&self) -> &Self::Target {
        &*self.world
    }
}

impl Opened {
    /// A sentence about each option that changes nothing in these runs.
    pub(crate) fn idle_options(&self) -> Vec<String> {
        self.without_effect().iter().map(|option| format!("{option} has no effect on this run")).collect()
    }

    /// Names of the policies, as their folders are called.
    pub(crate) fn names(&self) -> Vec<String> {
        self.policies.iter().map(|policy| policy.name.clone()).collect()
    }

    /// Position of the policy that `text` names, in whichever form `--policy` takes.
    pub(crate) fn position(&self, text: &str) -> Option<usize> {
        let normal = (self.entry.normal)(text);
        self.policies.iter().position(|policy| policy.name == text || normal.as_ref() == Some(&policy.given))
    }

    /// Replays all policies, in their order. `begin` gives each the files of its jobs; `done` is called after each.
    pub(crate) fn replay_all(
        &self,
        begin: &(dyn Fn() -> Result<Drafts> + Sync),
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Run>> {
        let programs = self.policies.iter().map(|policy| hashes_of(&policy.files));
        let programs: Vec<_> = programs.collect::<Result<_>>()?;
        let positions: Vec<usize> = (0..self.policies.len()).collect();
        let mut outcomes = in_parallel(&positions, |policy| {
            let outcome = self.world.replay(*policy, begin()?)?;
            done();
            Ok(outcome)
        })?;
        self.world.compare(&mut outcomes);
        let run = |((policy, outcome), programs): ((&Named, Outcome), _)| {
            let mut columns = outcome.watched.totals.row();
            columns.sort_by_key(|(metric, _)| metric.column_rank());
            let Named { name, given, idles, .. } = policy;
            Run { name: name.clone(), given: given.clone(), programs, idles: idles.clone(), columns, outcome }
        };
        Ok(self.policies.iter().zip(outcomes).zip(programs).map(run).collect())
    }

    /// Why these jobs started when they did, of each policy in their order.
    pub(crate) fn explain_all(&self, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let positions: Vec<usize> = (0..self.policies.len()).collect();
        let explanations = in_parallel(&positions, |policy| self.world.explain(*policy, jobs))?;
        Ok(explanations.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use gap_schedule::Fcfs;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        log: LogOptions,
        #[command(flatten)]
        options: WorldOptions,
    }

    const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

    /// The message about a command line that no world runs.
    fn refused(words: &[&str], own: &[&'static Own]) -> String {
        let Line { log, options } = Line::try_parse_from(["simulate", LOG].iter().chain(words)).expect("clap takes it");
        format!("{:#}", open(&log, &options, own).err().expect("it makes no sense"))
    }

    #[test]
    fn an_option_of_another_world_is_refused_and_its_world_named_even_where_it_says_the_usual() {
        let message = refused(&["--policy", "fcfs", "--tree", "4-2-5"], &[]);
        assert!(message.starts_with("--tree does not go with --model gap-schedule"), "{message}");
        assert!(message.contains("an option of --model hier-grid; leave it out"), "{message}");
        let message = refused(&["--model", "metasched", "--policy", "rr", "--passes", "per-instant"], &[]);
        assert!(
            message.starts_with("--passes does not go with --model metasched, which takes --clusters FILE"),
            "{message}"
        );
        let message = refused(&["--model", "hier-grid", "--policy", "p2p", "--machines", "m"], &[]);
        assert!(message.contains("an option of --model gap-schedule and --profile alea31"), "{message}");
        let message = refused(&["--policy", "easy", "--startup", "0s"], &[]);
        assert!(message.contains("an option of --profile alea31"), "{message}");
    }

    #[test]
    fn a_policy_of_another_world_is_refused_with_that_world_and_a_typing_error_with_a_near_name() {
        let message = refused(&["--policy", "ptt+w=0.5"], &[]);
        assert_eq!(message, "--policy ptt+w=0.5 is one of --model metasched, and not of --model gap-schedule");
        let message = refused(&["--policy", "eazy"], &[]);
        assert!(message.contains("no policy is called \"eazy\"; did you mean \"easy\"?"), "{message}");
        let message = refused(&["--policy", "easy+reserv=1"], &[]);
        assert!(message.contains("did you mean \"reserve\"?"), "{message}");
    }

    #[test]
    fn a_policy_that_is_named_twice_is_refused_in_any_spelling() {
        for (model, policies, expected) in [
            ("gap-schedule", "easy,fcfs,easy", "--policy easy: is named twice; leave one out"),
            (
                "gap-schedule",
                "easy:8,easy+reserve=8",
                "--policy easy+reserve=8: is named twice: easy:8 and easy+reserve=8 are both easy+reserve=8; leave one out",
            ),
            (
                "metasched",
                "ptt+w=0.5,rr,ptt+w=0.50",
                "--policy ptt+w=0.50: is named twice: ptt+w=0.5 and ptt+w=0.50 are both ptt+w=0.5; leave one out",
            ),
        ] {
            assert_eq!(refused(&["--model", model, "--policy", policies], &[]), expected);
        }
    }

    #[test]
    fn a_policy_that_the_program_adds_is_known_by_its_name_and_listed_where_no_name_fits() {
        let own: &'static Own = Box::leak(Box::new(Own::new("mine", "", || Box::new(Fcfs::default()))));
        // Its name is taken; what is wrong is the log.
        assert!(refused(&["--policy", "mine"], &[own]).contains("Cargo.toml"));
        assert!(refused(&["--policy", "yours"], &[own]).ends_with("; this program adds mine"));
        assert!(!refused(&["--policy", "yours"], &[]).contains("adds"));
        let message = refused(&["--model", "metasched", "--policy", "mine"], &[own]);
        assert_eq!(message, "--policy mine is one of --model gap-schedule, and not of --model metasched");
    }
}
