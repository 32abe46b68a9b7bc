//! A run of a paper: its options, its scenario, and the replications of its cells, in parallel, reusing those in the store.

#[doc(hidden)]
pub mod difference;
pub mod observations;
#[doc(hidden)]
pub mod reproduce;

use crate::measure::claim::{Claim, Judged};
use crate::output::provenance;
use crate::output::store::{Identity, Store};
use crate::paper::{Effort, Paper, models};
use crate::report::page::Page;
use crate::run::clock::{beyond_the_clock, within_the_clock};
use crate::run::interrupt::{self, Interrupted};
use crate::run::parallel::in_parallel;
use crate::run::progress::Progress;
use crate::scenario::Scenario;
use crate::study::observations::Observations;
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use sim_core::Streams;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Options of commands that run papers.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct Request {
    /// A tenth of the work or less.
    #[arg(long)]
    pub quick: bool,
    /// Replications of each point, instead of the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub reps: Option<u32>,
    /// Seed, instead of the scenario's.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Value of a parameter of workloads/SLUG.toml; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder of the logs that a paper ran on (swift-gap: wagap-2013.swf, plain or gzip); the variable GRID_TRACES may name
    /// it too. Without them stand-ins run, and the report says so.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Output folder; results/SLUG, or results/doubt/SLUG, if not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Ignore cached replications.
    #[arg(long)]
    pub fresh: bool,
    /// True to run inconclusive claims again with more replications.
    #[arg(skip)]
    pub decide: bool,
    /// Figures to redraw; empty for all.
    #[arg(skip)]
    pub only: Vec<String>,
    /// Number of seeds, from 1, under which to judge as well.
    #[arg(skip)]
    pub seeds: Option<u32>,
    /// True to show no progress.
    #[arg(skip)]
    pub quiet: bool,
}

impl Request {
    /// Returns the options as command-line arguments; options that cannot change a result are left out.
    pub(crate) fn options(&self) -> String {
        let Self { quick, decide, only, reps, seed, seeds, set, traces, .. } = self;
        let number = |flag: &str, value: Option<String>| value.map(|value| format!("{flag} {value}"));
        let options = [
            quick.then(|| "--quick".to_owned()),
            decide.then(|| "--decide".to_owned()),
            (!only.is_empty()).then(|| format!("--only {}", only.join(","))),
            number("--reps", reps.map(|reps| reps.to_string())),
            number("--seed", seed.map(|seed| seed.to_string())),
            number("--seeds", seeds.map(|seeds| seeds.to_string())),
            number("--traces", traces.as_ref().map(|path| provenance::quoted(&path.to_string_lossy()).into_owned())),
        ];
        let set = set.iter().map(|assignment| format!("--set {}", provenance::quoted(assignment)));
        options.into_iter().flatten().chain(set).map(|option| format!(" {option}")).collect()
    }

    /// Returns the kind of verdicts on record to compare with.
    pub(crate) const fn mode(&self) -> &'static str {
        match (self.decide, self.quick) {
            (true, _) => "--decide",
            (false, true) => "--quick",
            (false, false) => "",
        }
    }
}

pub(crate) struct Session<P> {
    pub(crate) paper: P,
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    pub(crate) replications: u32,
}

impl<P: Paper> Session<P> {
    pub(crate) fn new(request: &Request) -> Result<Self> {
        let mut scenario = P::scenario()?;
        request.set.iter().try_for_each(|assignment| scenario.set(assignment))?;
        let effort = if request.quick { Effort::Quick } else { Effort::Full };
        let paper = within_the_clock(|| P::new(&scenario, effort));
        let paper = paper.with_context(|| beyond_the_clock("a time of the scenario")).flatten();
        let both = paper.and_then(|paper| Ok((paper, scenario.runs()?)));
        let (paper, runs) = both.with_context(|| {
            let changes: String = request.set.iter().map(|assignment| format!(" --set {assignment}")).collect();
            format!("{}{}{changes}", scenario.name, if changes.is_empty() { "" } else { " with" })
        })?;
        let paper = paper.with_traces(request.traces.as_deref())?;
        let seed = request.seed.unwrap_or(runs.seed);
        let quick = runs.quick_replications.filter(|_| request.quick);
        let replications = request.reps.or(quick).unwrap_or(runs.replications);
        ensure!(replications > 0, "--reps 0: at least one replication is needed, two for an interval");
        Ok(Self { paper, scenario, seed, replications })
    }

    /// Runs the cells of the claims under one seed, and judges the claims; fails as [`Study::run`] does.
    pub(crate) fn judged(
        &self,
        claims: &[Claim<P::Cell>],
        seed: u64,
        store: &Store,
        quiet: bool,
    ) -> Result<Vec<Judged>> {
        let mut study = Study::new(self, seed, store, quiet);
        study.run(&claims.iter().flat_map(Claim::cells).collect(), self.replications)?;
        Ok(claims.iter().map(|claim| study.judge(claim, self.replications)).collect())
    }

    /// Returns the parts that all pages on it share; `command` repeats the run.
    pub(crate) fn page(&self, request: &Request, command: &str) -> Page {
        let quick = "Quick run: a tenth of the work or less. Intervals are wide, and verdicts may differ.";
        let own = [
            ("Models (SHA-256 of the sources)", models::<P>().to_owned()),
            ("Scenario (SHA-256)", self.scenario.hash()),
            ("Seed", self.seed.to_string()),
            ("Replications", self.replications.to_string()),
        ];
        let data = self.paper.data().into_iter().map(|(name, hash)| (format!("{name} (SHA-256)"), hash));
        Page {
            title: P::ABOUT.title.to_owned(),
            subtitle: P::ABOUT.citation.to_owned(),
            notes: self.paper.preface().into_iter().chain(request.quick.then(|| quick.to_owned())).collect(),
            readings: P::READINGS.iter().map(|reading| (*reading, self.scenario.answer(reading).to_owned())).collect(),
            commands: vec![("The same run".to_owned(), command.to_owned())],
            provenance: own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(data).collect(),
            ..Page::default()
        }
    }

    /// Returns the manifest of a run: its origin, and the command that repeats it. `timings` holds what may differ between equal runs.
    pub(crate) fn manifest(&self, options: Value, command: &str, timings: Value) -> Value {
        let mut manifest = json!({
            "paper": P::ABOUT.slug,
            "scenario_hash": self.scenario.hash(),
            "seed": self.seed,
            "reps": self.replications,
            "options": options,
            "models": models::<P>(),
            "command_line": command,
            "timings": timings,
        });
        let data = self.paper.data();
        if !data.is_empty() {
            manifest["data"] = data.into_iter().map(|(name, hash)| (name, Value::from(hash))).collect();
        }
        manifest
    }
}

/// Returns the name of a run in `runs.csv`: its cell and its replication.
pub(crate) fn run_id<P: Paper>(paper: &P, cell: &P::Cell, replication: usize) -> String {
    let cell: String = parameters(paper, cell).iter().map(|(name, value)| format!("{name}={value} ")).collect();
    format!("{cell}rep={replication}")
}

/// Returns the parameters of a cell by name: those that the paper lists, or else the fields of the cell.
pub(crate) fn parameters<P: Paper>(paper: &P, cell: &P::Cell) -> Vec<(String, String)> {
    let own = paper.parameters(cell);
    if !own.is_empty() {
        return own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    }
    let flat = "a cell without Paper::parameters has fields that are numbers, text or plain names";
    let Value::Object(fields) = serde_json::to_value(cell).expect(flat) else { panic!("{flat}") };
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fields.into_iter().map(|(name, value)| (name, text(value))).collect()
}

/// Returns the metrics of one replication; fails if its time leaves the clock.
pub(crate) fn simulate<P: Paper>(paper: &P, cell: &P::Cell, seed: u64, replication: u32) -> Result<Vec<f64>> {
    within_the_clock(|| paper.simulate(cell, &Streams::new(seed, replication)).in_order(&paper.metrics()))
        .with_context(|| beyond_the_clock(&format!("the run {:?}", run_id(paper, cell, replication as usize))))
}

/// A paper with its finished replications.
pub(crate) struct Study<'a, P: Paper> {
    pub(crate) session: &'a Session<P>,
    /// The scenario, for papers that do not define their determinants.
    scenario: Value,
    seed: u64,
    pub(crate) store: &'a Store,
    /// Names of the metrics in files.
    pub(crate) names: Vec<String>,
    pub(crate) observations: Observations<P::Cell>,
    quiet: bool,
    pub(crate) computed: u64,
    pub(crate) reused: u64,
}

impl<'a, P: Paper> Study<'a, P> {
    pub(crate) fn new(session: &'a Session<P>, seed: u64, store: &'a Store, quiet: bool) -> Self {
        let metrics = session.paper.metrics();
        let names = metrics.iter().map(ToString::to_string).collect();
        let scenario = session.scenario.typed().expect("a scenario that was read is plain data");
        let observations = Observations::new(metrics);
        Self { session, scenario, seed, store, names, observations, quiet, computed: 0, reused: 0 }
    }

    /// Ensures that each of `cells` has at least `replications` replications, or as many of them as are affordable. Fails on Ctrl-C
    /// ([`Interrupted::Resumable`]), and if a replication cannot be stored. What is finished stays in the store.
    pub(crate) fn run(&mut self, cells: &BTreeSet<P::Cell>, replications: u32) -> Result<()> {
        let (paper, slug) = (&self.session.paper, P::ABOUT.slug);
        let missing = |cell| {
            let numbers = self.observations.replications_of(cell)..self.worth_running(cell, replications);
            numbers.map(move |replication| (cell, replication))
        };
        let missing: Vec<(&P::Cell, u32)> = cells.iter().flat_map(missing).collect();
        let total = missing.iter().map(|(cell, _)| paper.cost(cell)).sum();
        let progress = Progress::new(format!("{slug}, {} replications", missing.len()), total, self.quiet);
        let finished = in_parallel(&missing, |&(cell, replication)| {
            interrupt::check(Interrupted::Resumable)?;
            let determinants = match paper.determinants(cell) {
                Value::Null => json!({ "scenario": self.scenario, "data": paper.data(), "cell": cell }),
                own => own,
            };
            let models = models::<P>();
            let identity = Identity { paper: slug, models, cell: &determinants, seed: self.seed, replication };
            let stored = self.store.load(&identity, &self.names);
            let is_new = stored.is_none();
            let metrics = stored.map_or_else(|| simulate(paper, cell, self.seed, replication), Ok)?;
            if is_new {
                self.store.save(&identity, &self.names, &metrics)?;
            }
            progress.add(paper.cost(cell));
            Ok((metrics, is_new))
        })?;
        // In the order of `missing`: results do not depend on the number of threads.
        for ((cell, _), (metrics, is_new)) in missing.into_iter().zip(finished) {
            *if is_new { &mut self.computed } else { &mut self.reused } += 1;
            if paper.draws(cell) {
                self.observations.add(cell.clone(), metrics);
            } else {
                self.observations.add_exact(cell.clone(), metrics);
            }
        }
        Ok(())
    }

    /// Returns the number of replications of a cell to run, at most `wanted`.
    pub(crate) fn worth_running(&self, cell: &P::Cell, wanted: u32) -> u32 {
        let paper = &self.session.paper;
        if paper.draws(cell) { paper.affordable(cell, wanted) } else { 1 }
    }

    pub(crate) fn judge(&self, claim: &Claim<P::Cell>, replications: u32) -> Judged {
        Judged::new(claim, |quantity| self.observations.estimate(quantity, replications))
    }
}
