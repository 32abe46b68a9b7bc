//! View of a grid from outside: its trees with their channels, and the place of every job.

use super::{Grid, SystemState};
use crate::config::Share;
use crate::fabric::Phase;
use crate::fabric::jobs::Submission;
use crate::message::MessageObserver;
use crate::trees::Trees;
use crate::trees::scheduler_state::{Branch, Channel, RootState};
use crate::world::tree::Role;
use crate::world::{Bag, SchedulerId, ServerId, narrow};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId};

/// State of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerView {
    /// Its number.
    pub id: SchedulerId,
    /// Name of its role in the paper.
    pub role: Role,
    /// Tree that it belongs to, counted from 0.
    pub tree: u32,
    /// Steps from the root.
    pub level: u32,
    /// Site at which it sits.
    pub site: SiteId,
    /// Parent; `None` for a root.
    pub parent: Option<SchedulerId>,
    /// Its channels, by bag.
    pub channels: Vec<ChannelView>,
    /// N: unstarted jobs in its subtree, as known to it. At an LGS: jobs in its queue.
    pub unstarted: u32,
}

/// State of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelView {
    /// The classes of jobs that may use it.
    pub bag: Bag,
    /// CPUs behind it.
    pub power: u64,
    /// Its branches; none at an LGS.
    pub branches: Vec<BranchView>,
}

/// State of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchView {
    /// Scheduler that it leads to, at whose channel of the same bag it ends.
    pub child: SchedulerId,
    /// CPUs behind it.
    pub power: u64,
    /// B_share (formula 1): number of jobs that would be pushed to it now.
    pub share: u64,
}

/// Place of a copy of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A raw job at the root of this tree.
    Raw(u32),
    /// Unassigned at a scheduler.
    Unassigned(SchedulerId),
    /// Collected by a scheduler for a branch that waits for cancelled jobs.
    Collected(SchedulerId),
    /// In the queue of an LGS.
    Queued(SchedulerId),
    /// Waiting at its work station, or queued at a peer.
    AmongPeers,
    /// With a server: offered, transferred or running.
    With(ServerId),
}

impl Trees {
    fn role(&self, scheduler: SchedulerId) -> Role {
        match (self.forest.is_root(scheduler), self.forest.is_leaf(scheduler)) {
            (true, _) if self.forest.roots.len() > 1 => Role::Pgss,
            (true, _) => Role::Gss,
            (false, true) => Role::Lgs,
            (false, false) => Role::Gs,
        }
    }

    fn view(&self, id: SchedulerId, rule: Share) -> SchedulerView {
        let (at, state) = (&self.forest.schedulers[id.index()], &self.states[id.index()]);
        // A channel or branch without power is closed; it is removed later.
        let open = state.channels.iter().enumerate().filter(|(_, channel)| channel.power > 0);
        let view = |(c, channel): (usize, &Channel)| {
            let branches = channel.branches.iter().enumerate().filter(|(_, branch)| branch.power > 0);
            let branch = |(slot, branch): (usize, &Branch)| BranchView {
                child: SchedulerId(at.children.start + narrow(slot)),
                power: branch.power,
                share: state.share_of(c, slot, rule),
            };
            ChannelView { bag: channel.bag, power: channel.power, branches: branches.map(branch).collect() }
        };
        SchedulerView {
            id,
            role: self.role(id),
            tree: at.tree,
            level: at.level,
            site: at.site(),
            parent: at.parent,
            channels: open.map(view).collect(),
            unstarted: state.unstarted(),
        }
    }

    fn whereabouts(&self, all: &mut Vec<(JobId, Place)>) {
        for (tree, root) in (0..).zip(&self.forest.roots) {
            let RootState { raw, batch, .. } = &self.states[root.index()].root;
            all.extend(raw.iter().chain(batch).map(|job| (*job, Place::Raw(tree))));
        }
        for (id, state) in (0..).map(SchedulerId).zip(&self.states) {
            let place = if self.forest.is_leaf(id) { Place::Queued(id) } else { Place::Unassigned(id) };
            all.extend(state.unassigned.iter().map(|job| (job, place)));
            let branches = state.channels.iter().flat_map(|channel| &channel.branches);
            all.extend(branches.flat_map(|branch| &branch.collected).map(|job| (*job, Place::Collected(id))));
        }
    }

    /// Checks that no scheduler counts unstarted jobs.
    fn is_at_rest(&self) -> Result<(), String> {
        match self.states.iter().map(|state| state.unstarted() + state.root.unstarted).sum() {
            0 => Ok(()),
            unstarted @ 1_u32.. => Err(format!("schedulers believe in {unstarted} jobs at the end")),
        }
    }
}

impl<O: MessageObserver, L: Iterator<Item = Submission>> Grid<O, L> {
    /// All schedulers, tree by tree, level by level; none among peers.
    pub fn schedulers(&self) -> impl Iterator<Item = SchedulerView> {
        let trees = match &self.system {
            SystemState::Trees(trees) => Some(trees),
            SystemState::Peers(_) => None,
        };
        let view = |trees: &'_ Trees| (0..narrow(trees.forest.schedulers.len())).map(SchedulerId);
        let rule = self.fabric.config.readings.share;
        trees.into_iter().flat_map(move |trees| view(trees).map(move |id| trees.view(id, rule)))
    }

    /// Place of every job that has arrived at a root or a peer and has not been run, except jobs in messages between
    /// schedulers. In a hybrid each tree has a copy, so that a job has several places until its copies have been removed.
    pub fn whereabouts(&self) -> Vec<(JobId, Place)> {
        let mut all = Vec::new();
        match &self.system {
            SystemState::Trees(trees) => trees.whereabouts(&mut all),
            SystemState::Peers(peers) => all.extend(peers.jobs().map(|job| (job, Place::AmongPeers))),
        }
        for (server, machine) in (0..).map(ServerId).zip(&self.fabric.servers) {
            all.extend(machine.job.filter(|_| machine.phase != Phase::Sending).map(|job| (job, Place::With(server))));
        }
        all
    }

    /// Checks that nothing is left: no job in a queue or list, no message with jobs, every server idle, every
    /// link free, as many jobs received as pushed.
    /// (A tree of a hybrid without a server for a job keeps its raw copy.)
    ///
    /// # Errors
    ///
    /// The first thing left, in words.
    pub fn is_at_rest(&self) -> Result<(), String> {
        let counts = self.counts();
        if counts.completed != counts.submitted {
            return Err(format!("{} of {} jobs completed", counts.completed, counts.submitted));
        }
        // A tree without a server for a job keeps its copy, although the job has been run elsewhere.
        let hybrid = matches!(&self.system, SystemState::Trees(trees) if trees.forest.roots.len() > 1);
        let idle_copy = |place: &Place| matches!(place, Place::Raw(_)) && hybrid;
        let whereabouts = self.whereabouts();
        if let Some((job, place)) = whereabouts.iter().find(|(_, place)| !idle_copy(place)) {
            return Err(format!("job {job} is {place:?} at the end"));
        }
        if whereabouts.is_empty() && !self.fabric.jobs.is_empty() {
            return Err("jobs are remembered at the end".to_owned());
        }
        // State of schedulers beyond the places of jobs: lists with completed jobs would still promise them.
        match &self.system {
            SystemState::Trees(trees) => trees.is_at_rest()?,
            SystemState::Peers(peers) if !peers.is_empty() => return Err("a peer holds jobs at the end".to_owned()),
            SystemState::Peers(_) => {}
        }
        self.fabric.is_at_rest()
    }
}
