//! Comparison of a schedule with a policy.
//!
//! The world of `simulate` runs once more, with its own order of events, passes, predictions and outages. At each pass the policy
//! decides; the starts are those of the schedule.

use super::feasible::{Checked, LoggedJobs};
use super::follower::{Differences, Follower};
use crate::options::MachineOptions;
use crate::simulate::policy::{self, Search};
use anyhow::Result;
use gap_schedule::{Event, Machine, MultiCluster, Policy, PolicyError, Predictions, Starts, View, forward_events};
use sim_core::{Outage, Sim, Time};
use std::cell::RefCell;

/// Lets the policy decide at each pass, in the state that the schedule has led to. The schedule is feasible, and its starts are in
/// order of time, as are the outages, up to its end.
///
/// # Errors
///
/// A policy that cannot decide.
pub(super) fn check(
    jobs: &LoggedJobs,
    machines: Vec<Machine>,
    outages: Vec<Outage>,
    on: &MachineOptions,
    (policy, search, predicting): (policy::Policy, Search, Option<Predictions>),
    Checked { starts, findings, .. }: &mut Checked,
) -> Result<Differences> {
    let obeying = Obeying(RefCell::new(Follower::new(jobs, (policy, search), starts, &machines, &outages)));
    let mut world = MultiCluster::new(machines, obeying, jobs.jobs.iter().map(|one| one.job))
        .with_outages(outages)
        .with_repair_expected(on.repair_expected())
        .with_passes(on.passes());
    if let Some(predicting) = predicting {
        world = world.with_predictions(predicting);
    }
    let mut sim = Sim::new(world, ());
    while sim.model().policy().0.borrow().differences.is_complete && sim.step() {
        let now = sim.now();
        let rebuild = |world: &MultiCluster<Obeying<'_>, _, _>| world.policy().0.borrow_mut().rebuild(&world.view(now));
        rebuild(sim.model());
        if sim.next_time() == Some(now) {
            continue;
        }
        // The instant is over. The starts of the schedule that no pass has made are made now.
        let waits = sim.model().policy().0.borrow().waits_for_schedule(now);
        if waits {
            sim.model().policy().0.borrow_mut().is_closing = true;
            sim.post_at(now, Event::Decide);
            sim.step();
            sim.model().policy().0.borrow_mut().is_closing = false;
        }
        sim.model().policy().0.borrow_mut().compare(now, findings);
        rebuild(sim.model());
    }
    if let Some(error) = sim.model().error() {
        return Err(error.into());
    }
    let differences = sim.model().policy().0.borrow().differences;
    Ok(differences)
}

/// Policy as the world sees it.
struct Obeying<'a>(RefCell<Follower<'a>>);

impl Policy for Obeying<'_> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.get_mut().schedule(view, starts);
    }

    forward_events!(|this| this.0.get_mut().at_work);

    fn next_wakeup(&self) -> Option<Time> {
        self.0.borrow().next_wakeup()
    }

    fn wants_every_event(&self) -> bool {
        self.0.borrow().at_work.wants_every_event()
    }

    fn error(&self) -> Option<PolicyError> {
        self.0.borrow().at_work.error()
    }
}
