//! A log on space-shared machines or clusters, which may fail.

use super::policy;
use super::sites::Sites;
use super::watch::Watch;
use super::{Policy, Run, Source, run_out};
use crate::cli::{self, PassesName};
use crate::output::OutDir;
use anyhow::{Result, bail};
use gap_schedule::{Grid, Passes};
use sim_core::{Outage, Sim, Span, Streams};
use std::rc::Rc;
use tempfile::NamedTempFile;
use workload::{Intake, LogJob, Options, Outages, OutagesError, SwfReader};

/// One policy on the whole log: what came of it, and `jobs.csv`, which gets its name when all policies are done.
pub(super) fn replay(
    policy: policy::Policy,
    options: &cli::Simulate,
    sites: &Sites,
    out: &OutDir,
) -> Result<(Run, NamedTempFile)> {
    let mut intake = Intake::new(
        SwfReader::open(&options.trace)?,
        Options {
            estimates: options.estimates,
            max_jobs: options.max_jobs,
            capacity: Some(sites.widest()),
            deadlines: options.deadlines,
            seed: options.seed,
        },
    );
    if let Some(rule) = sites.rule {
        intake.note(rule);
    }
    let source = Source::shared(intake);
    let watch = Watch::new(out.begin()?, sites)?;
    let numbers = watch.numbers();
    let arrivals = {
        let source = Rc::clone(&source);
        std::iter::from_fn(move || {
            let LogJob { job, number, .. } = source.borrow_mut().next()?;
            numbers.borrow_mut().insert(job.id, number);
            Some(job)
        })
    };
    let passes = match options.passes {
        PassesName::PerInstant => Passes::PerInstant,
        PassesName::PerEvent => Passes::PerEvent,
    };
    let outages = Source::shared(outages_of(options, sites)?);
    let grid = Grid::new(sites.machines(), policy.scheduler(options, sites.iter().len()), arrivals)
        .with_outages({
            let outages = Rc::clone(&outages);
            std::iter::from_fn(move || outages.borrow_mut().next())
        })
        .with_repair_expected(options.outages.as_ref().and_then(Outages::repair_expected).unwrap_or(Span::MAX))
        .with_passes(passes);
    let mut sim = Sim::new(grid, watch);
    run_out(&mut sim, &policy.name(), options)?;
    let (_, watch) = sim.into_parts();
    let source = Rc::into_inner(source).expect("the model has gone, and its arrivals with it").into_inner();
    if let Some(error) = source.failed {
        bail!(error);
    }
    if let Some(error) = outages.borrow_mut().failed.take() {
        bail!(error);
    }
    let watched = watch.finish()?;
    let mut row = watched.summary.row(sites.processors());
    if options.outages.is_some() {
        row.push(("interrupted", Some(watched.interrupted)));
    }
    let run = Run {
        policy: Policy::Gap(policy),
        row,
        rejected: watched.rejected,
        repairs: source.items.repairs().clone(),
        busy: watched.busy,
        waiting: watched.waiting,
        placed: watched.placed,
        beside: None,
        told: None,
    };
    Ok((run, watched.jobs))
}

/// The outages of the places: the same for every policy.
fn outages_of(options: &cli::Simulate, sites: &Sites) -> Result<impl Iterator<Item = Result<Outage, OutagesError>>> {
    let names: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
    let streams = Streams::new(options.seed, 0);
    let stream = options.outages.as_ref().map(|outages| outages.stream(&names, &streams)).transpose()?;
    Ok(stream.into_iter().flatten())
}
