//! A log on space-shared machines or clusters, which may fail.

use super::clock::{Control, LATEST, YEARS, run_of, run_out};
use super::exec::{Exec, Failure};
use super::log::Log;
use super::policy::{Policy, Search};
use super::predicting::{Predicting, carried, expired_percent, in_words};
use super::sites::Sites;
use super::watch::{Known, RunRequest, Watch};
use super::world::{Entry, Named, Outcome, Wanted, World};
use crate::explain::history::Explanation;
use crate::explain::listener::{Ear, Listener};
use crate::options::{LogOptions, MachineOptions, PassesName, name_of, words};
use crate::world_name;
use anyhow::{Result, bail, ensure};
use gap_schedule::{Explained, Machine, MultiCluster, PredictionCounts, Predictions};
use sim_core::{Job, Probe, Sim};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use workload::{Estimates, Outages, SwfReader};

/// Machines or clusters, each processor of which runs one job at a time.
struct SpaceShared {
    log: LogOptions,
    on: MachineOptions,
    policy_timeout: Option<Duration>,
    search: Search,
    policies: Vec<Policy>,
    sites: Sites,
    /// Predictor for policies whose name has none: `--estimates mean-of-user:K`.
    predicting: Option<Predicting>,
    /// Estimates as given.
    estimates: Estimates,
}

pub(super) const ENTRY: Entry = Entry {
    name: &world_name::SPACE_SHARED,
    place: "--machines FILE or --procs N",
    policies: Policy::names,
    normal: |text| Some(Policy::of_base(text, &[])?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Box<dyn World>> {
    let (log, options) = (wanted.log, wanted.options);
    let policies = wanted.policies(|text| Policy::of_base(text, wanted.own))?;
    let sites = Sites::of(log, &options.on, SwfReader::open(log.trace())?.header())?;
    let world = SpaceShared {
        // Predictions are no part of the log: jobs come with their requested times.
        log: LogOptions { estimates: carried(log.estimates), ..log.clone() },
        on: options.on.clone(),
        policy_timeout: options.policy_timeout,
        search: Search::of(log, &options.on),
        policies,
        sites,
        predicting: Predicting::by_estimates(log.estimates),
        estimates: log.estimates,
    };
    world.ensure_finishable()?;
    Ok(Box::new(world))
}

impl World for SpaceShared {
    fn policies(&self) -> Vec<Named> {
        self.policies.iter().map(|policy| policy.named(self.sites.iter().len())).collect()
    }

    fn sites(&self) -> &Sites {
        &self.sites
    }

    fn replay(&self, policy: usize, asked: RunRequest<'_>) -> Result<Outcome> {
        let (policy, control) = (&self.policies[policy], asked.control.clone());
        let log = Log::open(&self.log, &self.sites)?;
        let watch = Watch::new(asked, &self.sites);
        let engine = self.engine(policy, watch.known(), control)?;
        let arrivals = log.jobs(watch.known()).map(|one| one.job);
        let (counts, watch) = engine.run(|policy| policy, arrivals, watch, || true)?;
        let repairs = log.finish()?;
        let mut outcome = Outcome::new(watch.finish(), repairs);
        if self.on.outages.is_some() {
            let interrupted = outcome.watched.interrupted;
            outcome.count("interrupted", Some(interrupted));
        }
        if self.any(|policy| self.predicting_of(policy).is_some()) {
            outcome.count("predictions_expired_percent", counts.as_ref().and_then(expired_percent));
            outcome.notes.extend(counts.map(|counts| in_words(policy.label(), &counts)));
        }
        Ok(outcome)
    }

    fn explain(&self, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let policy = &self.policies[policy];
        let (log, known) = (Log::open(&self.log, &self.sites)?, Known::default());
        let listener = Listener::new(jobs, &self.sites.names());
        let engine = self.engine(policy, Rc::clone(&known), Control::default())?;
        let arrivals = {
            let listener = Rc::clone(&listener);
            log.jobs(known).map(move |one| {
                listener.borrow_mut().comes(&one);
                one.job
            })
        };
        let ear = Ear(Rc::clone(&listener));
        let heard = |policy| Explained::new(policy, ear.clone());
        engine.run(heard, arrivals, ear.clone(), || !listener.borrow().is_done())?;
        log.finish()?;
        let explanations = listener.borrow_mut().explanations(policy.name());
        Ok(explanations)
    }

    fn arguments(&self) -> String {
        let Self { on, search, .. } = self;
        let (searches, passes) = (self.any(Policy::searches), on.passes.unwrap_or_default());
        on.machine_words()
            + &words("procs", on.procs)
            + &words("estimates", Some(self.estimates))
            + &words("outages", on.outages.as_ref())
            + &words("tabu-iterations", searches.then_some(search.tabu_iterations))
            + &words("passes", Some(name_of(&passes)).filter(|_| passes != PassesName::PerInstant))
    }

    fn without_effect(&self) -> Vec<&'static str> {
        let (searches, drawn) = (self.any(Policy::searches), matches!(self.on.outages, Some(Outages::Drawn { .. })));
        let seeded = drawn || matches!(self.log.estimates, Estimates::FModel(_)) || self.any(Policy::draws);
        let given = [
            ("--seed", self.log.seed.is_some() && !seeded),
            ("--tabu-iterations", self.on.tabu_iterations.is_some() && !searches),
            ("--policy-timeout", self.policy_timeout.is_some() && !self.any(|policy| policy.command().is_some())),
        ];
        given.into_iter().filter(|(_, is_idle)| *is_idle).map(|(option, _)| option).collect()
    }
}

impl SpaceShared {
    fn any(&self, of: impl Fn(&Policy) -> bool) -> bool {
        self.policies.iter().any(of)
    }

    fn predicting_of(&self, policy: &Policy) -> Option<Predicting> {
        policy.predicting().or(self.predicting)
    }

    /// Refuses drawn outages under which some job would almost never finish.
    ///
    /// A job that is hit starts again. Between failures with mean interval `mtbf` it needs exp(L / mtbf) attempts to run
    /// for L, which take (mtbf + mttr) (exp(L / mtbf) - 1) in all: the expected completion time of a task under Poisson failures
    /// without checkpoints (A. Duda, "The effects of checkpointing on program execution time", 1983, with the downtime added).
    fn ensure_finishable(&self) -> Result<()> {
        let Some(outages @ Outages::Drawn { mtbf, mttr }) = &self.on.outages else { return Ok(()) };
        let log = Log::open(&self.log, &self.sites)?;
        let machines = self.sites.machines();
        let (mtbf, mttr) = (mtbf.as_secs_f64(), mttr.as_secs_f64());
        for one in log.jobs(Known::default()) {
            let suitable = machines.iter().filter(|machine| machine.suits(&one.job.request));
            // A job that suits no machine is rejected.
            let Some(takes) = suitable.map(|machine| machine.takes(one.job.runtime)).min() else { continue };
            let expected = (mtbf + mttr) * libm::expm1(takes.as_secs_f64() / mtbf);
            ensure!(
                expected < LATEST.as_secs_f64(),
                "{}: job {} runs for {takes} s and starts again after each failure; with --outages {outages} it would be expected \
                 to take more than {YEARS} years; give rarer outages, or fewer jobs with --max-jobs",
                self.log.trace().display(),
                one.number
            );
        }
        log.finish().map(|_| ())
    }

    fn engine<'a>(&'a self, policy: &Policy, known: Known, control: Control) -> Result<PolicyAtWork<'a>> {
        let machines = self.sites.machines();
        let (at_work, failure) = at_work(policy, &self.search, &machines, known, self.policy_timeout)?;
        let (predicting, run) = (self.predicting_of(policy), run_of(&self.log, policy.name()));
        let (on, names, seed) = (&self.on, self.sites.names(), self.search.seed);
        Ok(PolicyAtWork { at_work, failure, machines, names, on, seed, predicting, run, control })
    }
}

/// The policy on these machines before its first job, and the place of its error if it is a program.
pub(super) fn at_work(
    policy: &Policy,
    search: &Search,
    machines: &[Machine],
    known: Known,
    timeout: Option<Duration>,
) -> Result<(Box<dyn gap_schedule::Policy>, Failure)> {
    if let Some(command) = policy.command() {
        let patience = timeout.unwrap_or(Duration::from_secs(60));
        let (exec, failure) = Exec::start(command, machines, known, patience)?;
        return Ok((Box::new(exec), failure));
    }
    Ok((policy.at_work(search, machines.len()), Failure::default()))
}

/// A policy at work on machines, before its first job: common to `simulate`, `explain` and `experiment`.
pub(super) struct PolicyAtWork<'a> {
    pub(super) at_work: Box<dyn gap_schedule::Policy>,
    pub(super) failure: Failure,
    pub(super) machines: Vec<Machine>,
    /// Names of the machines, as in a file of outages.
    pub(super) names: Vec<String>,
    pub(super) on: &'a MachineOptions,
    pub(super) seed: u64,
    pub(super) predicting: Option<Predicting>,
    /// Name of the run in messages.
    pub(super) run: String,
    pub(super) control: Control,
}

impl PolicyAtWork<'_> {
    /// Runs as long as `goes_on`, with `probe`. `wrap` may listen to the policy. Returns the counts of predictions, if there are
    /// any.
    pub(super) fn run<Q: Probe, W: gap_schedule::Policy>(
        self,
        wrap: impl FnOnce(Box<dyn gap_schedule::Policy>) -> W,
        arrivals: impl Iterator<Item = Job>,
        probe: Q,
        goes_on: impl Fn() -> bool,
    ) -> Result<(Option<PredictionCounts>, Q)> {
        let Self { at_work, failure, machines, names, on, seed, predicting, run, control } = self;
        // After a program has failed, no further job is needed.
        let arrivals = {
            let failure = Rc::clone(&failure);
            arrivals.take_while(move |_| failure.borrow().is_none())
        };
        // The same for every policy.
        let outages = UntilError::shared(on.outages_of(&names, seed)?);
        let mut multi_cluster = MultiCluster::new(machines, wrap(at_work), arrivals)
            .with_outages({
                let outages = Rc::clone(&outages);
                std::iter::from_fn(move || outages.borrow_mut().next())
            })
            .with_repair_expected(on.repair_expected())
            .with_passes(on.passes());
        if let Some(predicting) = predicting {
            multi_cluster = multi_cluster.with_predictions(predicting.at_work());
        }
        let mut sim = Sim::new(multi_cluster, probe);
        run_out(&mut sim, &run, &control, || failure.borrow().is_none() && goes_on())?;
        let (multi_cluster, probe) = sim.into_parts();
        if let Some(error) = failure.take() {
            bail!(error);
        }
        if let Some(error) = outages.borrow_mut().failed.take() {
            bail!(error);
        }
        Ok((multi_cluster.predictions().map(Predictions::counts), probe))
    }
}

/// Stream that stops at its first error, and keeps it.
struct UntilError<I, E> {
    items: I,
    failed: Option<E>,
}

impl<T, E, I: Iterator<Item = Result<T, E>>> UntilError<I, E> {
    /// Shares the stream: a model reads it, and the error is read afterwards.
    fn shared(items: I) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { items, failed: None }))
    }
}

impl<T, E, I: Iterator<Item = Result<T, E>>> Iterator for UntilError<I, E> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.next()?.map_err(|error| self.failed = Some(error)).ok()
    }
}
