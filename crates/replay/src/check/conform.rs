//! Comparison of a schedule with a policy.
//!
//! The world of `simulate` runs once more, with its own order of events, passes, predictions and outages. At each pass the policy
//! decides; the starts are those of the schedule.

use super::feasible::{LoggedJobs, PlannedStart};
use super::finding::FindingList;
use super::follower::{Differences, Follower};
use crate::options::MachineOptions;
use crate::simulate::policy::{self, Search};
use crate::simulate::predicting::Predicting;
use anyhow::Result;
use gap_schedule::{Event, Machine, MultiCluster, Policy, PolicyError, QueuedJob, RunningJob, Starts, View};
use sim_core::{Context, EventPriority, Job, Model, Outage, Prioritized, Sim, SiteId, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// Policy with all inputs that determine its schedule of these jobs on these machines.
pub(super) struct Question<'a> {
    pub(super) jobs: &'a LoggedJobs,
    pub(super) machines: Vec<Machine>,
    /// Outages up to the end of the schedule, in order of failure.
    pub(super) outages: Vec<Outage>,
    pub(super) on: &'a MachineOptions,
    pub(super) policy: policy::Policy,
    pub(super) search: Search,
    pub(super) predicting: Option<Predicting>,
}

/// Lets the policy decide at each pass, in the state that the schedule has led to. The schedule is feasible, and its starts are in
/// order of time.
///
/// # Errors
///
/// A policy that cannot decide.
pub(super) fn check(
    question: Question<'_>,
    starts: &[PlannedStart],
    findings: &mut FindingList,
) -> Result<Differences> {
    let Question { jobs, machines, outages, on, policy, search, predicting } = question;
    let follower = Follower::new(jobs, (policy, search), starts, &machines, &outages);
    let follower = Rc::new(RefCell::new(follower));
    let mut world = MultiCluster::new(machines, Obeying(Rc::clone(&follower)), jobs.jobs.iter().map(|one| one.job))
        .with_outages(outages)
        .with_repair_expected(on.repair_expected())
        .with_passes(on.passes());
    if let Some(predicting) = predicting {
        world = world.with_predictions(predicting.at_work());
    }
    let mut sim = Sim::new(FollowedWorld { world, follower: Rc::clone(&follower), findings, will_close: false }, ());
    sim.run_while(|followed| followed.follower.borrow().differences.is_complete);
    if let Some(error) = sim.model().world.error() {
        return Err(error.into());
    }
    Ok(follower.borrow().differences)
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
    follower: Rc<RefCell<Follower<'a>>>,
    findings: &'f mut FindingList,
    /// True if the event for the end of the present instant has been posted.
    will_close: bool,
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
                if self.follower.borrow().waits_for_schedule(now) {
                    self.follower.borrow_mut().is_closing = true;
                    self.world.handle(Event::Decide, &mut cx.lift(Happening::World));
                    self.follower.borrow_mut().is_closing = false;
                }
                self.follower.borrow_mut().compare(now, self.findings);
            }
        }
        self.follower.borrow_mut().rebuild(&self.world.view(now));
    }
}

/// Policy as the world sees it.
struct Obeying<'a>(Rc<RefCell<Follower<'a>>>);

impl Policy for Obeying<'_> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.borrow_mut().schedule(view, starts);
    }

    fn begin(&mut self, view: &View<'_>) {
        self.0.borrow_mut().at_work.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.0.borrow_mut().at_work.on_submit(job, view);
    }

    fn on_start(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.borrow_mut().at_work.on_start(job, machine, view);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.borrow_mut().at_work.on_completion(job, machine, view);
    }

    fn on_expiry(&mut self, before: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.borrow_mut().at_work.on_expiry(before, after, machine, view);
    }

    fn on_failure(&mut self, machine: SiteId, lost: &[RunningJob], view: &View<'_>) {
        self.0.borrow_mut().at_work.on_failure(machine, lost, view);
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        self.0.borrow_mut().at_work.on_repair(machine, view);
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
