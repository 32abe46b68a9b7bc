//! The options of a run, and the paper with the resulting scenario.

use crate::clock::{beyond_the_clock, within_the_clock};
use crate::logs::Logs;
use crate::paper::{Effort, Paper, models};
use crate::provenance;
use crate::scenario::{Runs, Scenario};
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Options of `cargo xtask reproduce`.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// True for a tenth of the work.
    pub quick: bool,
    /// True to run inconclusive claims again with more replications.
    pub decide: bool,
    /// Figures to redraw; empty for all.
    pub only: Vec<String>,
    /// Replications of each cell, instead of those of the scenario.
    pub reps: Option<u32>,
    /// Seed, instead of that of the scenario.
    pub seed: Option<u64>,
    /// Number of seeds, from 1, under which to judge as well.
    pub seeds: Option<u32>,
    /// `KEY=VALUE` for parameters of the scenario.
    pub set: Vec<String>,
    /// Folder of logs.
    pub traces: Option<PathBuf>,
    /// Output folder.
    pub out: Option<PathBuf>,
    /// True to discard stored replications.
    pub fresh: bool,
    /// True to show no progress.
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

    pub(crate) const fn effort(&self) -> Effort {
        if self.quick { Effort::Quick } else { Effort::Full }
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

/// A paper with the scenario and the options of a run.
pub(crate) struct Session<P> {
    pub(crate) paper: P,
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    pub(crate) replications: u32,
}

impl<P: Paper> Session<P> {
    pub(crate) fn new(request: &Request) -> Result<Self> {
        let (scenario, paper, runs) = set_up::<P>(request)?;
        let mut paper = paper.with_traces(request.traces.as_deref())?;
        if !P::LOGS.is_empty() {
            paper = paper.with_logs(Logs::read(P::LOGS, request.traces.as_deref())?);
        }
        let seed = request.seed.unwrap_or(runs.seed);
        let replications = request.reps.unwrap_or_else(|| runs.replications(request.effort()));
        ensure!(replications > 0, "--reps 0: at least one replication is needed, two for an interval");
        Ok(Self { paper, scenario, seed, replications })
    }

    /// Returns the lead lines of every page on it.
    pub(crate) fn lead(&self, request: &Request) -> Vec<String> {
        let quick = "Quick run: a tenth of the work or less. Intervals are wide, and verdicts may differ.";
        self.paper.preface().into_iter().chain(request.quick.then(|| quick.to_owned())).collect()
    }

    pub(crate) fn provenance(&self) -> Vec<(String, String)> {
        let own = [
            ("Models (SHA-256 of the sources)", models::<P>().to_owned()),
            ("Scenario (SHA-256)", self.scenario.hash()),
            ("Seed", self.seed.to_string()),
            ("Replications", self.replications.to_string()),
        ];
        let data = self.paper.data().into_iter().map(|(name, hash)| (format!("{name} (SHA-256)"), hash));
        own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(data).collect()
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

/// Returns the scenario with the changes of the request, the paper that it describes, without any log, and its `run` keys.
fn set_up<P: Paper>(request: &Request) -> Result<(Scenario, P, Runs)> {
    let mut scenario = P::scenario()?;
    for assignment in &request.set {
        scenario.set(assignment)?;
    }
    let beyond = || anyhow!(beyond_the_clock("a time of the scenario"));
    let paper = within_the_clock(|| P::new(&scenario, request.effort())).unwrap_or_else(|| Err(beyond()));
    let both = paper.and_then(|paper| Ok((paper, scenario.runs()?)));
    let (paper, runs) = both.with_context(|| {
        let changes: String = request.set.iter().map(|assignment| format!(" --set {assignment}")).collect();
        format!("{}{}{changes}", scenario.name, if changes.is_empty() { "" } else { " with" })
    })?;
    Ok((scenario, paper, runs))
}
