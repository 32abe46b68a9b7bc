//! Looking at a grid from outside: its trees with their channels, and where every job is.

use super::Grid;
use crate::ids::{SchedulerId, ServerId, narrow};
use crate::jobs::Submission;
use crate::observer::MessageObserver;
use crate::scheduler_state::Branch;
use crate::server_state::Phase;
use crate::system::System;
use crate::tree::Role;
use crate::trees::Trees;
use crate::world::Bag;
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
    /// Waiting at its work station, or queued at a peer.
    AmongPeers,
    /// With a server: offered, transferred or running.
    With(ServerId),
}

impl Trees {
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

    /// A scheduler as it stands.
    fn view(&self, id: SchedulerId) -> SchedulerView {
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
                asking: channel.uplink.is_asking(),
                branches: Vec::new(),
            });
            return SchedulerView { channels: channels.collect(), unstarted: leaf.queued, ..view };
        }
        let state = &self.states[id.index()];
        // A channel or branch without power has been closed, and waits to be forgotten.
        let open = state.channels.iter().enumerate().filter(|(_, channel)| channel.power > 0);
        let channels = open.map(|(c, channel)| {
            let branches = channel.branches.iter().enumerate().filter(|(_, branch)| branch.power > 0);
            let branch = |(slot, branch): (usize, &Branch)| BranchView {
                child: SchedulerId(at.children.start + narrow(slot)),
                power: branch.power,
                marked: branch.marked > 0,
                share: state.share_of(c, slot, self.rules.share),
            };
            ChannelView {
                bag: channel.bag,
                power: channel.power,
                asking: channel.uplink.is_asking(),
                branches: branches.map(branch).collect(),
            }
        });
        SchedulerView {
            channels: channels.collect(),
            unstarted: state.unstarted(),
            unassigned: state.unassigned.total(),
            ..view
        }
    }

    /// Where every job is that some scheduler holds.
    fn whereabouts(&self, all: &mut Vec<(JobId, Place)>) {
        for (tree, root) in (0..).zip(&self.roots) {
            all.extend(root.raw.iter().chain(&root.batch).map(|job| (*job, Place::Raw(tree))));
        }
        for (id, state) in (0..).map(SchedulerId).zip(&self.states) {
            all.extend(state.unassigned.iter().map(|job| (job, Place::Unassigned(id))));
            let branches = state.channels.iter().flat_map(|channel| &channel.branches);
            all.extend(branches.flat_map(|branch| &branch.collected).map(|job| (*job, Place::Collected(id))));
        }
        for (site, leaf) in self.leaves.iter().enumerate() {
            all.extend(leaf.jobs().map(|job| (job, Place::Queued(self.forest.leaf_of_site[site]))));
        }
    }

    /// Whether no scheduler believes in jobs.
    fn is_at_rest(&self) -> Result<(), String> {
        for (id, state) in self.states.iter().enumerate() {
            if state.unstarted() > 0 {
                return Err(format!("scheduler {id} believes in {} jobs at the end", state.unstarted()));
            }
        }
        match self.roots.iter().find(|root| root.unstarted > 0) {
            Some(root) => Err(format!("a tree believes in {} jobs at the end", root.unstarted)),
            None => Ok(()),
        }
    }
}

impl<O: MessageObserver, L: Iterator<Item = Submission>> Grid<O, L> {
    /// All schedulers, tree by tree, level by level; none among peers.
    pub fn schedulers(&self) -> impl Iterator<Item = SchedulerView> {
        let trees = match &self.system {
            System::Trees(trees) => Some(trees),
            System::Peers(_) => None,
        };
        let view = |trees: &'_ Trees| (0..narrow(trees.forest.schedulers.len())).map(SchedulerId);
        trees.into_iter().flat_map(move |trees| view(trees).map(|id| trees.view(id)))
    }

    /// One scheduler.
    ///
    /// # Panics
    ///
    /// If there is none of this number.
    pub fn scheduler(&self, id: SchedulerId) -> SchedulerView {
        match &self.system {
            System::Trees(trees) => trees.view(id),
            System::Peers(_) => panic!("there is no scheduler {id} among peers"),
        }
    }

    /// Where every job is that has arrived at a root or a peer and has not been run, but for jobs in messages between
    /// schedulers. In a hybrid each tree has a copy, so that a job has several places until its copies have been struck.
    pub fn whereabouts(&self) -> Vec<(JobId, Place)> {
        let mut all = Vec::new();
        match &self.system {
            System::Trees(trees) => trees.whereabouts(&mut all),
            System::Peers(peers) => all.extend(peers.jobs().map(|job| (job, Place::AmongPeers))),
        }
        for (server, machine) in (0..).map(ServerId).zip(&self.fabric.servers) {
            all.extend(machine.job.filter(|_| machine.phase != Phase::Sending).map(|job| (job, Place::With(server))));
        }
        all
    }

    /// Whether nothing is left: no job anywhere, nothing in any queue or list, no message with jobs, every server idle, every
    /// link free, as many jobs received as pushed.
    /// (A tree of a hybrid without a server for a job keeps its raw copy.)
    ///
    /// # Errors
    ///
    /// What is left, in words.
    pub fn is_at_rest(&self) -> Result<(), String> {
        let counts = self.counts();
        if counts.completed != counts.submitted {
            return Err(format!("{} of {} jobs completed", counts.completed, counts.submitted));
        }
        // A tree that has nothing to run a job keeps its copy, though the job has been run elsewhere.
        let hybrid = matches!(&self.system, System::Trees(trees) if trees.roots.len() > 1);
        let idle_copy = |place: &Place| matches!(place, Place::Raw(_)) && hybrid;
        let whereabouts = self.whereabouts();
        if let Some((job, place)) = whereabouts.iter().find(|(_, place)| !idle_copy(place)) {
            return Err(format!("job {job} is {place:?} at the end"));
        }
        if whereabouts.is_empty() && !self.fabric.jobs.is_empty() {
            return Err("jobs are remembered at the end".to_owned());
        }
        // What schedulers believe, beyond where jobs are: lists that were not struck would still promise jobs.
        match &self.system {
            System::Trees(trees) => trees.is_at_rest()?,
            System::Peers(peers) if !peers.is_empty() => return Err("a peer holds jobs at the end".to_owned()),
            System::Peers(_) => {}
        }
        self.fabric.is_at_rest()
    }
}
