//! A log on space-shared machines or clusters, which may fail.

use super::clock::{LATEST, YEARS, run_out};
use super::exec::{Exec, Failure};
use super::log::Log;
use super::policy::{Policy, Search};
use super::predicting::{Predicting, carried, expired_percent, in_words};
use super::rows::Drafts;
use super::sites::Sites;
use super::watch::{Known, Watch};
use super::world::{Entry, Named, Outcome, Wanted, World};
use crate::asked::Asked;
use crate::explanation::{Ear, Explanation, Listener};
use crate::run_options::RunOptions;
use anyhow::{Result, bail, ensure};
use clap::Args;
use gap_schedule::{Explained, MultiCluster, PredictionCounts, Predictions};
use sim_core::{Job, Outage, Probe, Sim};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use workload::{InputError, Outages, SwfReader};

/// Options of space-shared machines.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// End each Tabu search after so many milliseconds of wall-clock time. Results then depend on the computer, and are
    /// marked as not reproducible.
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    time_limit: Option<Duration>,
    /// How many seconds a policy that is a program may take for one answer.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    policy_timeout: Duration,
}

/// Machines or clusters, each processor of which one job has for itself.
struct SpaceShared {
    asked: Asked,
    options: Options,
    policies: Vec<Policy>,
    sites: Sites,
    /// Who predicts where a policy's name says nothing of that: `--estimates mean-of-user:K`.
    predicting: Option<Predicting>,
    /// Whether any policy of this run is told predictions.
    predicts: bool,
}

pub(super) const ENTRY: Entry = Entry {
    model: "gap-schedule",
    profile: "clean",
    about: "Space-shared machines or clusters, each processor to one job at a time",
    place: "--machines FILE or --procs N",
    takes_machines: true,
    policies: Policy::names,
    normal: |text| Some(Policy::of_base(text, &[])?.ok()?.to_string()),
};

pub(super) fn open(asked: &Asked, options: &Options, wanted: &Wanted<'_>) -> Result<Box<dyn World>> {
    let policies = wanted.read(|text| Policy::of_base(text, wanted.own))?;
    let header = SwfReader::open(&asked.trace)?.header().clone();
    let sites = Sites::of(asked, options.run.procs, &header)?;
    let predicting = Predicting::by_estimates(asked.estimates);
    let predicts = predicting.is_some() || policies.iter().any(|policy| policy.predicting().is_some());
    let world = SpaceShared { asked: asked.clone(), options: options.clone(), policies, sites, predicting, predicts };
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

    fn replay(&self, policy: usize, drafts: Drafts) -> Result<Outcome> {
        let (Self { options, sites, .. }, policy) = (self, self.policies[policy]);
        let log = self.log()?;
        let watch = Watch::new(drafts, sites)?;
        let (at_work, failure) = self.at_work(policy, watch.known())?;
        let arrivals = log.jobs(watch.known()).map(|one| one.job);
        let (counts, watch) = self.run(policy, at_work, &failure, arrivals, watch, || true)?;
        let repairs = log.finish()?;
        let mut outcome = Outcome::new(watch.finish()?, repairs);
        if options.run.outages.is_some() {
            let interrupted = outcome.watched.interrupted;
            outcome.count("interrupted", Some(interrupted));
        }
        if self.predicts {
            outcome.count("predictions_expired_percent", counts.as_ref().and_then(expired_percent));
            outcome.notes.extend(counts.map(|counts| in_words(policy.name(), &counts)));
        }
        Ok(outcome)
    }

    fn explain(&self, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let policy = self.policies[policy];
        let (log, known, listener) = (self.log()?, Known::default(), Listener::new(jobs, &self.sites.names()));
        let (at_work, failure) = self.at_work(policy, Rc::clone(&known))?;
        let arrivals = {
            let listener = Rc::clone(&listener);
            log.jobs(known).map(move |one| {
                listener.borrow_mut().comes(&one);
                one.job
            })
        };
        let ear = Ear(Rc::clone(&listener));
        let at_work = Explained::new(at_work, ear.clone());
        self.run(policy, at_work, &failure, arrivals, ear, || !listener.borrow().is_done())?;
        log.finish()?;
        let told = listener.borrow_mut().explanations(policy.name());
        Ok(told)
    }

    fn arguments(&self) -> String {
        let Options { run, time_limit, .. } = &self.options;
        let mut words = self.asked.machine_file_as_asked() + &run.processors_as_asked();
        words += &format!(" --estimates {}", self.asked.estimates);
        words += &run.outages_as_asked();
        if self.searches() {
            words += &format!(" --tabu-iterations {}", run.tabu_iterations);
            if let Some(limit) = time_limit {
                words += &format!(" --time-limit {}", 1e3 * limit.as_secs_f64());
            }
        }
        words + run.passes_as_asked()
    }

    fn is_reproducible(&self) -> bool {
        self.options.time_limit.is_none() || !self.searches()
    }
}

impl SpaceShared {
    /// Whether `--tabu-iterations` and `--time-limit` concern any policy.
    fn searches(&self) -> bool {
        self.policies.iter().any(|policy| policy.searches())
    }

    /// Refuses drawn outages that let some job never finish, as far as a run can tell, before anybody tries.
    ///
    /// A job that is hit starts anew. Between failures that come after `mtbf` on average it needs exp(L / mtbf) attempts to run for
    /// L, which take (mtbf + mttr) (exp(L / mtbf) - 1) in all: the expected completion time of a task under Poisson failures
    /// without checkpoints (A. Duda, "The effects of checkpointing on program execution time", 1983, with the downtime added).
    fn ensure_finishable(&self) -> Result<()> {
        let Some(outages @ Outages::Drawn { mtbf, mttr }) = &self.options.run.outages else { return Ok(()) };
        let log = self.log()?;
        let machines = self.sites.machines();
        let (mtbf, mttr) = (mtbf.as_secs_f64(), mttr.as_secs_f64());
        for one in log.jobs(Known::default()) {
            let suitable = machines.iter().filter(|machine| machine.suits(&one.job.request));
            // One that suits no machine is rejected.
            let Some(takes) = suitable.map(|machine| machine.takes(one.job.runtime)).min() else { continue };
            let expected = (mtbf + mttr) * libm::expm1(takes.as_secs_f64() / mtbf);
            ensure!(
                expected < LATEST.as_secs_f64(),
                "{}: job {} runs for {takes} s and starts anew after each failure; with --outages {outages} it would be expected to \
             take more than {YEARS} years; give rarer outages, or fewer jobs with --max-jobs",
                self.asked.trace.display(),
                one.number
            );
        }
        log.finish().map(|_| ())
    }

    /// Runs the world as long as it `goes_on`: the policy is at work, and `probe` watches. How predictions have fared, if there
    /// are any.
    fn run<Q: Probe>(
        &self,
        policy: Policy,
        at_work: impl gap_schedule::Policy,
        failure: &Failure,
        arrivals: impl Iterator<Item = Job>,
        probe: Q,
        goes_on: impl Fn() -> bool,
    ) -> Result<(Option<PredictionCounts>, Q)> {
        let Self { asked, options, sites, .. } = self;
        // Once a program has failed, nobody else needs to come.
        let arrivals = {
            let failure = Rc::clone(failure);
            arrivals.take_while(move |_| failure.borrow().is_none())
        };
        let outages = Source::shared(self.outages()?);
        let mut multi_cluster = MultiCluster::new(sites.machines(), at_work, arrivals)
            .with_outages({
                let outages = Rc::clone(&outages);
                std::iter::from_fn(move || outages.borrow_mut().next())
            })
            .with_repair_expected(options.run.repair_expected())
            .with_passes(options.run.passes.passes());
        if let Some(predicting) = policy.predicting().or(self.predicting) {
            multi_cluster = multi_cluster.with_predictions(predicting.at_work());
        }
        let mut sim = Sim::new(multi_cluster, probe);
        run_out(&mut sim, policy.name(), asked, || failure.borrow().is_none() && goes_on())?;
        let (multi_cluster, probe) = sim.into_parts();
        if let Some(error) = failure.take() {
            bail!(error);
        }
        if let Some(error) = outages.borrow_mut().failed.take() {
            bail!(error);
        }
        Ok((multi_cluster.predictions().map(Predictions::counts), probe))
    }

    /// The policy at work, and where it says what went wrong, if it is a program and something does.
    fn at_work(&self, policy: Policy, known: Known) -> Result<(Box<dyn gap_schedule::Policy>, Failure)> {
        let Self { asked, options, sites, .. } = self;
        if let Some(command) = policy.command() {
            let (exec, failure) = Exec::start(command, &sites.machines(), known, options.policy_timeout)?;
            return Ok((Box::new(exec), failure));
        }
        let search =
            Search { seed: asked.seed, tabu_iterations: options.run.tabu_iterations, time_limit: options.time_limit };
        let at_work = policy.at_work_under(options.run.passes, &search, sites.iter().len());
        Ok((at_work, Failure::default()))
    }

    /// The log as policies are told of it. What is predicted is no part of it: jobs come with what was requested.
    fn log(&self) -> Result<Log> {
        Log::open(&Asked { estimates: carried(self.asked.estimates), ..self.asked.clone() }, &self.sites)
    }

    /// The outages of the places: the same for every policy.
    fn outages(&self) -> Result<impl Iterator<Item = Result<Outage, InputError>> + use<>> {
        let names = self.sites.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.options.run.outages_of(&names, self.asked.seed)
    }
}

/// A stream that stops at its first error, and keeps it.
struct Source<I, E> {
    items: I,
    failed: Option<E>,
}

impl<T, E, I: Iterator<Item = Result<T, E>>> Source<I, E> {
    /// To be read by a model, and looked at when it has gone.
    fn shared(items: I) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { items, failed: None }))
    }
}

impl<T, E, I: Iterator<Item = Result<T, E>>> Iterator for Source<I, E> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.next()?.map_err(|error| self.failed = Some(error)).ok()
    }
}

/// `0.5`: above zero, at most an hour.
fn milliseconds(text: &str) -> Result<Duration, String> {
    let wanted = "expected milliseconds, above 0 and up to 3600000";
    let number = text.parse::<f64>().ok().filter(|ms| *ms > 0.0 && *ms <= 3.6e6);
    number.map(|ms| Duration::from_secs_f64(ms / 1e3)).ok_or_else(|| wanted.to_owned())
}

/// `60`: above zero, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    number.map(Duration::from_secs_f64).ok_or_else(|| "expected seconds, above 0 and up to 86400".to_owned())
}
