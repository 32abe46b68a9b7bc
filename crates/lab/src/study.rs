//! Execution of a paper's cells: parallel over replications, reusing those in the store.

use super::claim::{Claim, Judged};
use super::observations::Observations;
use super::paper::{Paper, models};
use super::session::Session;
use super::store::{Identity, Store};
use crate::clock::{beyond_the_clock, within_the_clock};
use crate::interrupt::{self, Interrupted};
use crate::parallel::in_parallel;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sim_core::Streams;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the name of a run in `runs.csv`: its cell and its replication.
pub(crate) fn run_id<P: Paper>(paper: &P, cell: &P::Cell, replication: usize) -> String {
    let mut id: Vec<String> =
        parameters(paper, cell).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    id.push(format!("rep={replication}"));
    id.join(" ")
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

/// Runs the cells of the claims under one seed, and judges the claims; fails as [`Study::run`] does.
pub(crate) fn judged<P: Paper>(
    session: &Session<P>,
    claims: &[Claim<P::Cell>],
    seed: u64,
    replications: u32,
    store: &Store,
    quiet: bool,
) -> Result<Vec<Judged>> {
    let mut study = Study::new(session, seed, store, quiet);
    study.run(&claims.iter().flat_map(Claim::cells).collect(), replications)?;
    Ok(claims.iter().map(|claim| study.judge(claim, replications)).collect())
}

/// A paper with its finished replications.
pub(crate) struct Study<'a, P: Paper> {
    paper: &'a P,
    /// The scenario, for papers that do not define their determinants.
    scenario: Value,
    seed: u64,
    store: &'a Store,
    /// Names of the metrics in files.
    pub(crate) names: Vec<String>,
    pub(crate) observations: Observations<P::Cell>,
    quiet: bool,
    pub(crate) computed: u64,
    pub(crate) reused: u64,
}

impl<'a, P: Paper> Study<'a, P> {
    /// Returns a study without replications; `quiet` shows no progress.
    pub(crate) fn new(session: &'a Session<P>, seed: u64, store: &'a Store, quiet: bool) -> Self {
        let metrics = session.paper.metrics();
        let names = metrics.iter().map(ToString::to_string).collect();
        let scenario = session.scenario.typed().expect("a scenario that was read is plain data");
        Self {
            paper: &session.paper,
            scenario,
            seed,
            store,
            names,
            observations: Observations::new(metrics),
            quiet,
            computed: 0,
            reused: 0,
        }
    }

    /// Ensures that each of `cells` has at least `replications` replications, or as many of them as are affordable. Fails on Ctrl-C
    /// ([`Interrupted::Resumable`]), and if a replication cannot be stored. What is finished stays in the store.
    pub(crate) fn run(&mut self, cells: &BTreeSet<P::Cell>, replications: u32) -> Result<()> {
        let missing: Vec<(&P::Cell, u32)> = cells
            .iter()
            .flat_map(|cell| {
                (self.observations.replications_of(cell)..self.worth_running(cell, replications))
                    .map(move |replication| (cell, replication))
            })
            .collect();
        let total = missing.iter().map(|(cell, _)| self.paper.cost(cell)).sum();
        let progress = Progress::new(format!("{}, {} replications", P::ABOUT.slug, missing.len()), total, self.quiet);
        let (computed, reused) = (AtomicU64::new(0), AtomicU64::new(0));
        let finished = in_parallel(&missing, |&(cell, replication)| {
            if interrupt::requested() {
                bail!(Interrupted::Resumable);
            }
            // All that determines a run: the paper's determinants, or else the whole scenario, the logs and the cell.
            let determinants = match self.paper.determinants(cell) {
                Value::Null => json!({ "scenario": self.scenario, "data": self.paper.data(), "cell": cell }),
                own => own,
            };
            let (paper, models) = (P::ABOUT.slug, models::<P>());
            let identity = Identity { paper, models, cell: &determinants, seed: self.seed, replication };
            let metrics = if let Some(metrics) = self.store.load(&identity, &self.names) {
                reused.fetch_add(1, Ordering::Relaxed);
                metrics
            } else {
                let metrics = simulate(self.paper, cell, self.seed, replication)?;
                self.store.save(&identity, &self.names, &metrics)?;
                computed.fetch_add(1, Ordering::Relaxed);
                metrics
            };
            progress.add(self.paper.cost(cell));
            Ok(metrics)
        })?;
        self.computed += computed.into_inner();
        self.reused += reused.into_inner();
        // In the order of `missing`: results do not depend on the number of threads.
        for ((cell, _), metrics) in missing.into_iter().zip(finished) {
            if self.paper.draws(cell) {
                self.observations.add(cell.clone(), metrics);
            } else {
                self.observations.add_exact(cell.clone(), metrics);
            }
        }
        Ok(())
    }

    /// Returns the number of replications of a cell to run, at most `wanted`.
    pub(crate) fn worth_running(&self, cell: &P::Cell, wanted: u32) -> u32 {
        if self.paper.draws(cell) { self.paper.affordable(cell, wanted) } else { 1 }
    }

    pub(crate) fn judge(&self, claim: &Claim<P::Cell>, replications: u32) -> Judged {
        Judged::new(claim, |quantity| self.observations.estimate(quantity, replications))
    }
}
