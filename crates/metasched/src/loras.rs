//! LoRaS, the scheduler of one cluster (§2.1): which nodes a job gets, and who waits.

use crate::application::Application;
use crate::config::OnOff;
use crate::fate::Fate;
use crate::floor::{Floor, Work, work_of};
use sim_core::{JobId, Span, Time};
use std::collections::VecDeque;

/// A cluster as its LoRaS knows it: nodes, what runs there and how far it is, what waits.
///
/// The world and the predictor both drive it, by the same two calls: end what is due, start what waits. What it does not
/// hold is how long jobs really take.
#[derive(Clone, Debug)]
pub struct Loras {
    pub(crate) floor: Floor,
    pub(crate) queue: VecDeque<Waiting>,
    /// How its users come and go, if they do.
    pub(crate) change: Option<OnOff>,
}

/// A job in a LoRaS queue.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Waiting {
    /// Its number with whoever drives the cluster.
    pub(crate) key: u32,
    pub(crate) app: Application,
}

/// A running job, as far as it can be observed.
#[derive(Copy, Clone, Debug)]
pub struct Observed<'a> {
    /// What was known of it before it ran.
    pub app: &'a Application,
    /// The nodes it runs on.
    pub nodes: &'a [u32],
    /// How much of its profile it has done; more than the profile if it has outlived it.
    pub done: Span,
    /// Its progress per time, 1 alone at reference speed.
    pub rate: f64,
}

impl Loras {
    pub(crate) const fn new(floor: Floor, change: Option<OnOff>) -> Self {
        Self { floor, queue: VecDeque::new(), change }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.floor.len()
    }

    /// Speed relative to the machine on which applications were measured.
    pub fn speed(&self) -> f64 {
        self.floor.rules().speed
    }

    /// Memory of a node, in KiB.
    pub fn memory(&self) -> u64 {
        self.floor.rules().memory
    }

    /// Whether a local user sits at the node.
    pub fn has_users(&self, node: u32) -> bool {
        self.floor.has_users(node)
    }

    /// Parallel tasks on the node.
    pub fn tasks_on(&self, node: u32) -> u32 {
        self.floor.tasks_on(node)
    }

    /// What tasks and users ask of the node's CPU, as a fraction of it; above 1 where they must share.
    pub fn cpu_demand(&self, node: u32) -> f64 {
        self.floor.cpu_demand(node)
    }

    /// What tasks and users hold of the node's memory, in KiB.
    pub fn memory_used(&self, node: u32) -> u64 {
        self.floor.memory_used(node)
    }

    /// The jobs that run, in the order of their start.
    pub fn running(&self, now: Time) -> impl Iterator<Item = Observed<'_>> {
        self.floor.live().iter().map(move |&slot| {
            let job = self.floor.running(slot);
            let done = u64::try_from(job.done(now) >> 32).expect("a job runs for at most 584 years");
            Observed { app: &job.app, nodes: &job.nodes, done: Span::from_nanos(done), rate: job.progress_rate() }
        })
    }

    /// The jobs that wait here, the next one first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Application> {
        self.queue.iter().map(|waiting| &waiting.app)
    }

    /// Whether one of the jobs that run or wait here is `job`.
    pub fn holds(&self, job: JobId) -> bool {
        let mut running = self.floor.live().iter().map(|&slot| &self.floor.running(slot).app);
        running.any(|app| app.job == job) || self.waiting().any(|app| app.job == job)
    }

    /// Whether `app` could run here if no other job did. Users who come and go will be gone some time.
    pub(crate) fn fits(&self, app: &Application) -> bool {
        self.floor.fits(app, self.change.is_none())
    }

    /// Whether `app` could start now: nobody waits before it (first come, first served), and enough nodes are below
    /// their MPL and have the memory. `places` is left with the nodes that it would get.
    pub(crate) fn can_start(&self, app: &Application, places: &mut Vec<u32>) -> bool {
        self.queue.is_empty() && self.floor.place(app, places)
    }

    /// Ends every job that is due at `now` and tells which.
    pub(crate) fn finish_due(
        &mut self,
        fate: &mut Fate,
        now: Time,
        due: &mut Vec<u32>,
        mut ended: impl FnMut(u32, &[u32]),
    ) {
        due.clear();
        due.extend(self.floor.live().iter().filter(|&&slot| fate.end(slot) <= now));
        for &slot in &*due {
            self.floor.release(now, slot, fate.goal(slot));
            fate.reckon(&self.floor, self.floor.touched());
            let job = self.floor.running(slot);
            ended(job.key, &job.nodes);
        }
    }

    /// Starts jobs from the head of the queue while they find nodes. `goal` says how much work a job has; `started` hears of
    /// each that is about to start, and where.
    pub(crate) fn start_waiting(
        &mut self,
        fate: &mut Fate,
        now: Time,
        places: &mut Vec<u32>,
        goal: impl Fn(&Waiting) -> Work,
        mut started: impl FnMut(&Waiting, &[u32], &Floor),
    ) {
        while let Some(head) = self.queue.front()
            && self.floor.place(&head.app, places)
        {
            let waiting = self.queue.pop_front().expect("it was just looked at");
            started(&waiting, places, &self.floor);
            self.start(fate, now, &waiting, places, goal(&waiting));
        }
    }

    /// Starts a job on `places`.
    pub(crate) fn start(&mut self, fate: &mut Fate, now: Time, waiting: &Waiting, places: &[u32], goal: Work) -> u32 {
        let slot = self.floor.admit(now, waiting.key, waiting.app, places);
        fate.set(slot, goal);
        fate.reckon(&self.floor, self.floor.touched());
        slot
    }

    /// Lets users of `nodes` come or go.
    pub(crate) fn set_users(&mut self, fate: &mut Fate, now: Time, nodes: &[u32], present: bool) {
        for &node in nodes {
            self.floor.set_users(now, node, present);
            fate.reckon(&self.floor, self.floor.touched());
        }
    }
}

/// Work of a job that takes exactly its profile.
pub(crate) fn profiled(app: &Application) -> Work {
    work_of(app.time)
}
