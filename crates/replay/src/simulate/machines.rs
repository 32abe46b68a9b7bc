//! A log on space-shared machines or clusters, which may fail.

use super::clock::{LATEST, YEARS, run_out_while};
use super::exec::{Exec, Failure};
use super::log::Log;
use super::policy;
use super::sites::Sites;
use super::watch::{Numbers, Watch};
use super::{Policy, Run, Source};
use crate::cli::{self, PassesName};
use anyhow::{Result, bail, ensure};
use gap_schedule::{MultiCluster, Passes};
use lab::output::OutDir;
use sim_core::{Outage, Sim, Span, Streams};
use std::rc::Rc;
use tempfile::NamedTempFile;
use workload::{Outages, OutagesError};

/// One policy on the whole log: what came of it, and `jobs.csv`, which gets its name when all policies are done.
pub(super) fn replay(
    policy: policy::Policy,
    options: &cli::Simulate,
    sites: &Sites,
    out: &OutDir,
) -> Result<(Run, NamedTempFile)> {
    let log = Log::open(options, sites)?;
    let watch = Watch::new(out.begin()?, sites)?;
    let (at_work, failure) = at_work(policy, options, sites, &watch)?;
    // Once a program has failed, nobody else needs to come.
    let arrivals = {
        let failure = Rc::clone(&failure);
        log.jobs(watch.numbers()).map(|one| one.job).take_while(move |_| failure.borrow().is_none())
    };
    let passes = match options.passes {
        PassesName::PerInstant => Passes::PerInstant,
        PassesName::PerEvent => Passes::PerEvent,
    };
    let outages = Source::shared(outages_of(options, sites)?);
    let world = MultiCluster::new(sites.machines(), at_work, arrivals)
        .with_outages({
            let outages = Rc::clone(&outages);
            std::iter::from_fn(move || outages.borrow_mut().next())
        })
        .with_repair_expected(options.outages.as_ref().and_then(Outages::repair_expected).unwrap_or(Span::MAX))
        .with_passes(passes);
    let mut sim = Sim::new(world, watch);
    run_out_while(&mut sim, &policy.name(), options, || failure.borrow().is_none())?;
    let (_, watch) = sim.into_parts();
    if let Some(error) = failure.take() {
        bail!(error);
    }
    let repairs = log.finish()?;
    if let Some(error) = outages.borrow_mut().failed.take() {
        bail!(error);
    }
    let watched = watch.finish()?;
    let mut row = watched.summary.row(sites.processors());
    if options.outages.is_some() {
        row.push(("interrupted", Some(watched.interrupted)));
    }
    Ok(Run::new(Policy::Gap(policy), row, watched, repairs))
}

/// Refuses drawn outages that let some job never finish, as far as a run can tell, before anybody tries.
///
/// A job that is hit starts anew. Between failures that come after `mtbf` on average it needs exp(L / mtbf) attempts to run for
/// L, which take (mtbf + mttr) (exp(L / mtbf) - 1) in all: the expected completion time of a task under Poisson failures
/// without checkpoints (A. Duda, "The effects of checkpointing on program execution time", 1983, with the downtime added).
pub(super) fn ensure_finishable(options: &cli::Simulate, sites: &Sites) -> Result<()> {
    let Some(outages @ Outages::Drawn { mtbf, mttr }) = &options.outages else { return Ok(()) };
    let log = Log::open(options, sites)?;
    let machines = sites.machines();
    let (mtbf, mttr) = (mtbf.as_secs_f64(), mttr.as_secs_f64());
    for one in log.jobs(Numbers::default()) {
        let suitable = machines.iter().filter(|machine| machine.suits(&one.job.request));
        // One that suits no machine is rejected.
        let Some(takes) = suitable.map(|machine| machine.takes(one.job.runtime)).min() else { continue };
        let expected = (mtbf + mttr) * (takes.as_secs_f64() / mtbf).exp_m1();
        ensure!(
            expected < LATEST.as_secs_f64(),
            "{}: job {} runs for {takes} s and starts anew after each failure; with --outages {outages} it would be expected to \
             take more than {YEARS} years; give rarer outages, or fewer jobs with --max-jobs",
            options.trace.display(),
            one.number
        );
    }
    log.finish().map(|_| ())
}

/// The policy at work, and where it says what went wrong, if it is a program and something does.
fn at_work(
    policy: policy::Policy,
    options: &cli::Simulate,
    sites: &Sites,
    watch: &Watch,
) -> Result<(Box<dyn gap_schedule::Policy>, Failure)> {
    if let policy::Policy::Exec(command) = policy {
        let (exec, failure) = Exec::start(command, &sites.machines(), watch.numbers(), options.policy_timeout)?;
        return Ok((Box::new(exec), failure));
    }
    Ok((policy.at_work(options, sites.iter().len()), Failure::default()))
}

/// The outages of the places: the same for every policy.
fn outages_of(options: &cli::Simulate, sites: &Sites) -> Result<impl Iterator<Item = Result<Outage, OutagesError>>> {
    let names: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
    let streams = Streams::new(options.seed, 0);
    let stream = options.outages.as_ref().map(|outages| outages.stream(&names, &streams)).transpose()?;
    Ok(stream.into_iter().flatten())
}
