//! Comparison of a schedule with a policy.
//!
//! The world of `simulate` runs once more, with its own order of events, passes, predictions and outages. At each pass the policy
//! decides; the starts are those of the schedule.

use super::feasible::{Checked, LoggedJobs};
use super::finding::FindingList;
use super::follower::{Differences, Follower};
use crate::options::MachineOptions;
use crate::simulate::policy::{self, Search};
use crate::simulate::predicting::Predicting;
use anyhow::Result;
use gap_schedule::{Event, Machine, MultiCluster, Policy, PolicyError, QueuedJob, RunningJob, Starts, View};
use sim_core::{Context, EventPriority, Job, Model, Outage, Prioritized, Sim, SiteId, Time};
use std::cell::{RefCell, RefMut};

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
    (policy, search, predicting): (policy::Policy, Search, Option<Predicting>),
    Checked { starts, findings, .. }: &mut Checked,
) -> Result<Differences> {
    let follower = Follower::new(jobs, (policy, search), starts, &machines, &outages);
    let obeying = Obeying(RefCell::new(follower));
    let mut world = MultiCluster::new(machines, obeying, jobs.jobs.iter().map(|one| one.job))
        .with_outages(outages)
        .with_repair_expected(on.repair_expected())
        .with_passes(on.passes());
    if let Some(predicting) = predicting {
        world = world.with_predictions(predicting.at_work());
    }
    let mut sim = Sim::new(FollowedWorld { world, findings, will_close: false }, ());
    sim.run_while(|followed| followed.follower().differences.is_complete);
    if let Some(error) = sim.model().world.error() {
        return Err(error.into());
    }
    let differences = sim.model().follower().differences;
    Ok(differences)
}

/// Events of the world, and the end of each instant.
#[derive(Clone, Debug)]
enum Happening {
    World(Event),
    /// End of the instant, after all its other events.
    Close,
}

impl Prioritized for Happening {
    fn priority(&self) -> EventPriority {
        match self {
            Self::World(event) => event.priority(),
            Self::Close => EventPriority::SAMPLE,
        }
    }
}

/// World in which the policy decides and the schedule is obeyed.
struct FollowedWorld<'a, 'f, J> {
    world: MultiCluster<Obeying<'a>, J, std::vec::IntoIter<Outage>>,
    findings: &'f mut FindingList,
    /// True if the event for the end of the present instant has been posted.
    will_close: bool,
}

impl<'a, J: Iterator<Item = Job>> FollowedWorld<'a, '_, J> {
    fn follower(&self) -> RefMut<'_, Follower<'a>> {
        self.world.policy().0.borrow_mut()
    }
}

impl<J: Iterator<Item = Job>> Model for FollowedWorld<'_, '_, J> {
    type Event = Happening;

    fn start(&mut self, cx: &mut impl Context<Happening>) {
        self.world.start(&mut cx.lift(Happening::World));
    }

    fn handle(&mut self, event: Happening, cx: &mut impl Context<Happening>) {
        let now = cx.now();
        match event {
            Happening::World(event) => {
                self.world.handle(event, &mut cx.lift(Happening::World));
                if !self.will_close {
                    self.will_close = true;
                    cx.post_at(now, Happening::Close);
                }
            }
            // Makes the starts of the schedule that no pass has made, and compares.
            Happening::Close => {
                self.will_close = false;
                if self.follower().waits_for_schedule(now) {
                    self.follower().is_closing = true;
                    self.world.handle(Event::Decide, &mut cx.lift(Happening::World));
                    self.follower().is_closing = false;
                }
                self.world.policy().0.borrow_mut().compare(now, self.findings);
            }
        }
        self.follower().rebuild(&self.world.view(now));
    }
}

/// Policy as the world sees it.
struct Obeying<'a>(RefCell<Follower<'a>>);

impl Policy for Obeying<'_> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.get_mut().schedule(view, starts);
    }

    fn begin(&mut self, view: &View<'_>) {
        self.0.get_mut().at_work.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.0.get_mut().at_work.on_submit(job, view);
    }

    fn on_start(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.get_mut().at_work.on_start(job, machine, view);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.get_mut().at_work.on_completion(job, machine, view);
    }

    fn on_expiry(&mut self, before: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.get_mut().at_work.on_expiry(before, after, machine, view);
    }

    fn on_failure(&mut self, machine: SiteId, lost: &[RunningJob], view: &View<'_>) {
        self.0.get_mut().at_work.on_failure(machine, lost, view);
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        self.0.get_mut().at_work.on_repair(machine, view);
    }

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
