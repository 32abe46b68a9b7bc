//! View of a grid from outside: its trees with their channels, and what is left at the end.

use super::{Grid, SystemState};
use crate::config::Share;
use crate::fabric::jobs::Submission;
use crate::message::MessageObserver;
use crate::trees::Trees;
use crate::trees::scheduler_state::{Branch, Channel};
use crate::world::tree::Role;
use crate::world::{Bag, SchedulerId, narrow};
use serde::{Deserialize, Serialize};
use sim_core::SiteId;

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

impl Trees {
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
            role: match (self.forest.is_root(id), self.forest.is_leaf(id)) {
                (true, _) if self.forest.roots.len() > 1 => Role::Pgss,
                (true, _) => Role::Gss,
                (false, true) => Role::Lgs,
                (false, false) => Role::Gs,
            },
            tree: at.tree,
            level: at.level,
            site: at.site(),
            parent: at.parent,
            channels: open.map(view).collect(),
            unstarted: state.unstarted(),
        }
    }

    fn holds_raw_jobs(&self) -> bool {
        self.forest.roots.iter().any(|root| !self.states[root.index()].root.raw.is_empty())
    }

    /// Checks that no scheduler counts unstarted jobs, and that the only tree has no raw ones.
    fn is_at_rest(&self) -> Result<(), String> {
        if self.forest.roots.len() == 1 && self.holds_raw_jobs() {
            return Err("the root has raw jobs at the end".to_owned());
        }
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
        let rule = self.fabric.config.readings.share;
        trees.into_iter().flat_map(move |trees| {
            (0..narrow(trees.forest.schedulers.len())).map(move |id| trees.view(SchedulerId(id), rule))
        })
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
        match &self.system {
            SystemState::Trees(trees) => trees.is_at_rest()?,
            SystemState::Peers(peers) if !peers.is_empty() => return Err("a peer holds jobs at the end".to_owned()),
            SystemState::Peers(_) => {}
        }
        // A tree without a server for a job keeps its copy, although the job has been run elsewhere.
        let keeps_copies = matches!(&self.system, SystemState::Trees(trees) if trees.holds_raw_jobs());
        if !keeps_copies && !self.fabric.jobs.is_empty() {
            return Err("jobs are remembered at the end".to_owned());
        }
        self.fabric.is_at_rest()
    }
}
