//! Looking at a grid from outside: its trees with their channels, and where every job is.

use super::{Grid, Phase};
use crate::jobs::Submission;
use crate::message::Witness;
use crate::tree::{Role, SchedulerId};
use crate::world::{Bag, ServerId, narrow};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId};

/// A scheduler as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerView {
    /// Its number.
    pub id: SchedulerId,
    /// What the paper calls it.
    pub role: Role,
    /// Which tree it belongs to, counted from 0.
    pub tree: u32,
    /// Steps from the root.
    pub level: u32,
    /// Where it sits.
    pub site: SiteId,
    /// Its parent, but for a root.
    pub parent: Option<SchedulerId>,
    /// Its channels, by bag.
    pub channels: Vec<ChannelView>,
    /// N: unstarted jobs in its subtree, as far as it knows. At an LGS: jobs in its queue.
    pub unstarted: u32,
    /// Jobs that it has not pushed on.
    pub unassigned: u32,
}

/// A channel as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelView {
    /// The classes of jobs that may use it.
    pub bag: Bag,
    /// CPUs behind it.
    pub power: u64,
    /// Whether an RFC has gone up and has not been answered.
    pub asking: bool,
    /// Its branches; none at an LGS.
    pub branches: Vec<BranchView>,
}

/// A branch as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchView {
    /// Where it leads: to that scheduler's channel of the same bag.
    pub child: SchedulerId,
    /// CPUs behind it.
    pub power: u64,
    /// Whether it is marked by an RFC.
    pub marked: bool,
    /// B_share (formula 1): how many jobs it would be pushed now.
    pub share: u64,
}

/// Where a copy of a job is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A raw job at the root of this tree.
    Raw(u32),
    /// Unassigned at a scheduler.
    Unassigned(SchedulerId),
    /// Collected by a scheduler for a branch, while cancelled jobs come back.
    Collected(SchedulerId),
    /// In the queue of an LGS.
    Queued(SchedulerId),
    /// In a message between schedulers.
    OnItsWay,
    /// Waiting at its work station, or queued at a peer.
    AmongPeers,
    /// With a server: offered, transferred or running.
    With(ServerId),
}

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// What the paper calls a scheduler.
    fn role(&self, scheduler: SchedulerId) -> Role {
        let at = &self.forest.schedulers[scheduler.index()];
        match (at.parent.is_none(), at.is_leaf()) {
            (true, _) if self.forest.roots.len() > 1 => Role::Pgss,
            (true, _) => Role::Gss,
            (false, true) => Role::Lgs,
            (false, false) => Role::Gs,
        }
    }

    /// All schedulers, tree by tree, level by level.
    pub fn schedulers(&self) -> impl Iterator<Item = SchedulerView> {
        (0..narrow(self.forest.schedulers.len())).map(SchedulerId).map(|id| self.scheduler(id))
    }

    /// One scheduler.
    ///
    /// # Panics
    ///
    /// If there is none of this number.
    pub fn scheduler(&self, id: SchedulerId) -> SchedulerView {
        let at = &self.forest.schedulers[id.index()];
        let view = SchedulerView {
            id,
            role: self.role(id),
            tree: at.tree,
            level: at.level,
            site: at.site(),
            parent: at.parent,
            channels: Vec::new(),
            unstarted: 0,
            unassigned: 0,
        };
        if at.is_leaf() {
            let leaf = &self.leaves[at.site().index()];
            let channels = leaf.channels.iter().map(|channel| ChannelView {
                bag: channel.bag,
                power: channel.power,
                asking: channel.ticket != 0,
                branches: Vec::new(),
            });
            return SchedulerView { channels: channels.collect(), unstarted: leaf.queued, ..view };
        }
        let desk = &self.desks[id.index()];
        let open = desk.channels.iter().enumerate().filter(|(_, channel)| channel.power > 0);
        let channels = open.map(|(c, channel)| {
            let branches = channel.branches.iter().enumerate().filter(|(_, branch)| branch.power > 0);
            let branch = |(slot, branch): (usize, &crate::desk::Branch)| BranchView {
                child: SchedulerId(at.children.start + narrow(slot)),
                power: branch.power,
                marked: branch.marked > 0,
                share: desk.share_of(c, slot, self.rules.share),
            };
            ChannelView {
                bag: channel.bag,
                power: channel.power,
                asking: channel.ticket != 0,
                branches: branches.map(branch).collect(),
            }
        });
        SchedulerView {
            channels: channels.collect(),
            unstarted: desk.unstarted(),
            unassigned: desk.unassigned.total(),
            ..view
        }
    }

    /// Where every job is that has come in at a root or a peer and has not been run. In a hybrid each tree has a copy, so
    /// that a job has several places until its copies have been struck.
    pub fn whereabouts(&self) -> Vec<(JobId, Place)> {
        let mut all = Vec::new();
        for (number, tree) in (0..).zip(&self.trees) {
            all.extend(tree.raw.iter().chain(&tree.batch).map(|job| (*job, Place::Raw(number))));
        }
        for (id, desk) in (0..).map(SchedulerId).zip(&self.desks) {
            all.extend(desk.unassigned.iter().map(|job| (job, Place::Unassigned(id))));
            let branches = desk.channels.iter().flat_map(|channel| &channel.branches);
            all.extend(branches.flat_map(|branch| &branch.collected).map(|job| (*job, Place::Collected(id))));
        }
        for (site, leaf) in self.leaves.iter().enumerate() {
            all.extend(leaf.jobs().map(|job| (job, Place::Queued(self.forest.leaf_of_site[site]))));
        }
        all.extend(self.pools.jobs.iter().map(|job| (*job, Place::OnItsWay)));
        if let Some(peers) = &self.peers {
            all.extend(peers.jobs().map(|job| (job, Place::AmongPeers)));
        }
        for (server, machine) in (0..).map(ServerId).zip(&self.machines) {
            all.extend(machine.job.filter(|_| machine.phase != Phase::Sending).map(|job| (job, Place::With(server))));
        }
        all
    }

    /// Whether nothing is left: no job anywhere, nothing in any queue or book, no message with jobs, every server idle, every
    /// link free, as many jobs received as pushed.
    /// (A tree of a hybrid without a server for a job keeps its raw copy.)
    ///
    /// # Errors
    ///
    /// What is left, in words.
    pub fn is_at_rest(&self) -> Result<(), String> {
        let left = |what: &str| Err(format!("{what} at the end"));
        if self.tally.completed != self.tally.submitted {
            return Err(format!("{} of {} jobs completed", self.tally.completed, self.tally.submitted));
        }
        // A tree that has nothing to run a job keeps its copy, though the job has been run elsewhere.
        let idle_copy = |place: &Place| matches!(place, Place::Raw(_)) && self.trees.len() > 1;
        let whereabouts = self.whereabouts();
        if let Some((job, place)) = whereabouts.iter().find(|(_, place)| !idle_copy(place)) {
            return Err(format!("job {job} is {place:?} at the end"));
        }
        for (id, desk) in self.desks.iter().enumerate() {
            if desk.unstarted() > 0 {
                return Err(format!("scheduler {id} believes in {} jobs at the end", desk.unstarted()));
            }
        }
        if let Some(tree) = self.trees.iter().find(|tree| tree.unstarted > 0) {
            return Err(format!("a tree believes in {} jobs at the end", tree.unstarted));
        }
        if whereabouts.is_empty() && !self.jobs.is_empty() {
            return left("jobs are remembered");
        }
        if !self.pools.is_empty() {
            return left("lists are on their way");
        }
        if self.machines.iter().any(|machine| machine.phase != Phase::Idle) {
            return left("a server is busy");
        }
        if !self.network.is_idle() || !self.flows.is_empty() {
            return left("a link is in use");
        }
        if self.peers.as_ref().is_some_and(|peers| !peers.is_empty()) {
            return left("a peer holds jobs");
        }
        if self.transport.as_ref().is_some_and(|transport| !transport.is_empty()) {
            return left("messages are not acknowledged");
        }
        if self.tally.pushed != self.tally.received {
            return Err(format!("{} jobs pushed, {} received", self.tally.pushed, self.tally.received));
        }
        Ok(())
    }
}
