//! Space-shared machines or clusters: the world of a log, and the runs on jobs in memory that an experiment repeats.

use super::clock::{self, Course, ensure_ends_on};
use super::exec::{Exec, Numbers};
use super::policy::Policy;
use super::sites::Sites;
use super::watch::{Known, Log, Outcome, Watch};
use super::world::{Entry, Opened, Wanted, World};
use crate::options::{MachineOptions, PassesName, name_of, words};
use crate::reasons::history::Explanation;
use crate::reasons::listener::Listener;
use anyhow::{Result, anyhow};
use gap_schedule::{Explained, Machine, MultiCluster, Policy as AtWork, PredictionCounts};
use lab::interrupt::Interrupted;
use lab::output::provenance::hashes_of;
use lab::units::float;
use metrics::backlog::{Backlog, Trend};
use sim_core::{Fact, Job, JobId, Probe, Time};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use workload::{Estimates, SwfReader};

/// Policies on machines, each processor of which runs one job at a time.
struct SpaceShared {
    policies: Vec<Policy>,
    on: MachineOptions,
    patience: Duration,
}

impl SpaceShared {
    fn machines<'a>(&'a self, Opened { sites, log, .. }: &'a Opened) -> Machines<'a> {
        let (Self { on, patience, .. }, machines) = (self, &sites.machines);
        Machines { machines, on, seed: log.seed(), patience: *patience, estimates: log.estimates }
    }
}

pub(super) const ENTRY: Entry = Entry {
    model: "gap-schedule",
    profile: "clean",
    place: "--machines FILE or --procs N",
    policies: Policy::names,
    normal: |text| Some(Policy::of_base(text, &[])?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Opened> {
    let (log, options, on) = (wanted.log, wanted.options, &wanted.options.on);
    let policies = wanted.policies(|text| Policy::of_base(text, wanted.own))?;
    let sites = Sites::of(log, on, SwfReader::open(log.trace())?.header())?;
    let any = |of: fn(&Policy) -> bool| policies.iter().any(of);
    let (searches, passes) = (any(Policy::searches), on.passes.unwrap_or_default());
    let seeded = matches!(log.estimates, Estimates::FModel(_)) || any(Policy::draws);
    let without_effect = [
        ("--seed", log.seed.is_some() && !seeded),
        ("--tabu-iterations", on.tabu_iterations.is_some() && !searches),
        ("--policy-timeout", options.policy_timeout.is_some() && !any(|policy| policy.command().is_some())),
    ];
    let without_effect = without_effect.into_iter().filter_map(|(option, is_idle)| is_idle.then_some(option)).collect();
    let arguments = on.machine_words()
        + &words("procs", on.procs)
        + &words("estimates", Some(log.estimates))
        + &words("tabu-iterations", searches.then_some(on.tabu_iterations()))
        + &words("passes", Some(name_of(&passes)).filter(|_| passes != PassesName::PerInstant));
    let named = policies.iter().map(|policy| policy.named(sites.names.len())).collect();
    let (on, patience) = (on.clone(), options.policy_timeout.unwrap_or(PATIENCE));
    Ok(Opened { arguments, without_effect, ..wanted.opened(sites, named, SpaceShared { policies, on, patience }) })
}

impl World for SpaceShared {
    fn replay(&self, at: &Opened, policy: usize, watch: Watch) -> Result<Outcome> {
        let (policies, machines, log) = (&self.policies, self.machines(at), Log::open(&at.log, &at.sites)?);
        let (arrivals, numbers) = (log.jobs(watch.known(), |one| one.job), numbers(watch.known()));
        let course: Course<'_> = (&at.run_of(policy), &|| true);
        let (counts, watch) = machines.run(&policies[policy], numbers, |policy| policy, arrivals, watch, course)?;
        let mut outcome = watch.finish(log.finish()?);
        if policies.iter().any(|policy| policy.predicting(machines.estimates).is_some()) {
            outcome.totals.count("predictions_expired_percent", counts.as_ref().and_then(expired_percent));
            outcome.notes.extend(counts.map(|counts| in_words(&at.policies[policy].label, &counts)));
        }
        Ok(outcome)
    }

    fn explain(&self, at: &Opened, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let (log, known) = (Log::open(&at.log, &at.sites)?, Known::default());
        let (listener, numbers) = (Listener::new(jobs, &at.sites.names), numbers(Rc::clone(&known)));
        let arrivals = log.jobs(known, |one| {
            listener.comes(one);
            one.job
        });
        let heard = |policy| Box::new(Explained { policy, probe: listener.clone() }) as Box<dyn AtWork>;
        let course: Course<'_> = (&at.run_of(policy), &|| !listener.is_done());
        let policy = &self.policies[policy];
        self.machines(at).run(policy, numbers, heard, arrivals, listener.clone(), course)?;
        log.finish()?;
        Ok(listener.explanations(policy.name()))
    }
}

/// Share of jobs, in percent, that outlived their prediction; `None` without predictions.
fn expired_percent(counts: &PredictionCounts) -> Option<f64> {
    (counts.predicted > 0).then(|| 100.0 * float(counts.expired) / float(counts.predicted))
}

fn in_words(policy: &str, counts: &PredictionCounts) -> String {
    let PredictionCounts { predicted, expired, corrections, .. } = *counts;
    let share = expired_percent(counts).map_or_else(String::new, |share| format!(" ({share:.1} %)"));
    let accuracy = counts.accuracy().map_or_else(String::new, |accuracy| format!("; accuracy {accuracy:.3}"));
    format!("{policy}: {expired} of {predicted} predictions expired{share}, corrected {corrections} times{accuracy}")
}

fn numbers(known: Known) -> Numbers {
    Box::new(move |job| known.borrow().get(&job).map(|one| one.log.record.number))
}

/// Time that a policy's program may take for one answer, if no other is given.
const PATIENCE: Duration = Duration::from_secs(60);

/// Space-shared machines, and all that determines a run on them beside jobs and policy: common to `simulate`, `explain` and `experiment`.
struct Machines<'a> {
    machines: &'a [Machine],
    on: &'a MachineOptions,
    seed: u64,
    patience: Duration,
    estimates: Estimates,
}

impl Machines<'_> {
    /// Runs the policy with `probe`. `wrap` may listen to the policy. Returns the counts of predictions, if there are any.
    fn run<P: Probe>(
        &self,
        policy: &Policy,
        numbers: Numbers,
        wrap: impl FnOnce(Box<dyn AtWork>) -> Box<dyn AtWork>,
        arrivals: impl Iterator<Item = Job>,
        probe: P,
        course: Course<'_>,
    ) -> Result<(Option<PredictionCounts>, P)> {
        let Self { machines, on, seed, patience, estimates } = *self;
        let at_work: Box<dyn AtWork> = match policy.command() {
            Some(command) => Box::new(Exec::start(command, machines, numbers, patience)?),
            None => policy.at_work(seed, on),
        };
        let multi_cluster = MultiCluster::new(machines.to_vec(), wrap(at_work), arrivals)
            .with_passes(on.passes())
            .with_predictions(policy.predicting(estimates));
        let (multi_cluster, probe) = clock::run(course, multi_cluster, probe)?;
        let counts = multi_cluster.predictions().map(|predictions| predictions.counts);
        multi_cluster.error().map_or(Ok(()), Err)?;
        Ok((counts, probe))
    }
}

/// Start and end of a job; `None` if it was rejected.
pub type Placement = Option<(Time, Time)>;

impl Policy {
    /// SHA-256 of the files that determine its behaviour, by path.
    pub fn programs(&self) -> Result<BTreeMap<String, String>> {
        hashes_of(&self.files())
    }

    /// Replays `jobs`, which are numbered 0, 1, 2 … in order of submission and called `numbers` in their log, with the run times by
    /// `estimates`, or the request if these are predictions. Returns start and end of each job, and the trend of the waiting work.
    pub fn replay(
        &self,
        sites: &Sites,
        jobs: &[Job],
        numbers: &[u64],
        estimates: Estimates,
        seed: u64,
    ) -> Result<(Vec<Placement>, Trend)> {
        let run = format!("under {}", self.name());
        let slowest = sites.slowest();
        for (job, number) in jobs.iter().zip(numbers) {
            ensure_ends_on(job, *number, slowest).map_err(|words| anyhow!("{run}: {words}"))?;
        }
        let (machines, on) = (&sites.machines, &MachineOptions::default());
        let machines = Machines { machines, on, seed, patience: PATIENCE, estimates };
        let numbers = numbers.to_vec();
        let probe = (Placements(vec![Default::default(); jobs.len()]), Backlog::default());
        let number = Box::new(move |job: JobId| numbers.get(job.index()).copied());
        let ran = machines.run(self, number, |policy| policy, jobs.iter().copied(), probe, (&run, &|| true));
        let (_, (Placements(kept), backlog)) =
            ran.map_err(|error| if error.is::<Interrupted>() { Interrupted::Resumable.into() } else { error })?;
        let placements = kept.into_iter().map(|(start, finish)| Some((start, finish?))).collect();
        Ok((placements, backlog.trend()))
    }
}

/// Probe that keeps start and end of jobs, by their numbers.
struct Placements(Vec<(Time, Option<Time>)>);

impl Probe for Placements {
    #[inline]
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Started { job, .. } => self.0[job.index()].0 = now,
            Fact::Finished { job } => self.0[job.index()].1 = Some(now),
            _ => {}
        }
    }
}
