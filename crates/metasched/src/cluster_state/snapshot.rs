//! Snapshots of a cluster for a prediction: only the nodes and jobs that can affect one job.

use super::{ActiveJob, ClusterState, NodeState, index_of, rate};
use crate::cluster_state::Intrusion;
use sim_core::Time;

/// Set of nodes and jobs that can affect a job: those copied, and those still to be examined.
#[derive(Clone, Debug, Default)]
pub(crate) struct AffectedSet {
    mark: u64,
    nodes: Vec<u64>,
    slots: Vec<u64>,
    /// The nodes copied.
    copied: Vec<u32>,
}

impl AffectedSet {
    pub(crate) fn copied(&self) -> &[u32] {
        &self.copied
    }

    fn begin(&mut self, nodes: usize, slots: usize) {
        self.mark += 1;
        self.copied.clear();
        if self.nodes.len() < nodes {
            self.nodes.resize(nodes, 0);
        }
        if self.slots.len() < slots {
            self.slots.resize(slots, 0);
        }
    }

    fn add(&mut self, nodes: &[u32]) {
        for &node in nodes {
            if std::mem::replace(&mut self.nodes[node as usize], self.mark) != self.mark {
                self.copied.push(node);
            }
        }
    }

    fn is_new_slot(&mut self, slot: u32) -> bool {
        std::mem::replace(&mut self.slots[slot as usize], self.mark) != self.mark
    }
}

impl ClusterState {
    /// Makes this state a copy of `source` around `places`: these nodes, the jobs on them, all nodes of those jobs, the jobs
    /// there, and so on. While no job waits, nothing else can change the course of a job on `places`.
    ///
    /// Nodes and slots keep their numbers. The rest holds stale values and must not be read.
    pub(crate) fn copy_around(
        &mut self,
        source: &Self,
        places: &[u32],
        now: Time,
        sees_users: bool,
        affected: &mut AffectedSet,
    ) {
        self.make_room(source, affected);
        self.unordered = true;
        affected.add(places);
        self.copy_reached(source, now, sees_users, affected);
    }

    /// Makes this state a copy of the whole of `source`.
    pub(crate) fn copy_all(&mut self, source: &Self, now: Time, sees_users: bool, affected: &mut AffectedSet) {
        self.make_room(source, affected);
        self.unordered = false;
        for &key in &source.order {
            affected.add(&[index_of(key)]);
        }
        self.copy_reached(source, now, sees_users, affected);
        self.open =
            u32::try_from(affected.copied().iter().filter(|&&node| self.is_open(node)).count()).expect("nodes are u32");
        self.order.clear();
        let least_demand = self.rules.node_choice == crate::config::NodeChoice::LeastDemand;
        for &key in &source.order {
            let node = index_of(key);
            let demand = if least_demand { self.nodes[node as usize].demand } else { 0 };
            self.order.push(u64::from(demand) << 32 | u64::from(node));
        }
        // Without users the order may differ.
        if !sees_users {
            self.order.sort_unstable();
        }
    }

    fn make_room(&mut self, source: &Self, affected: &mut AffectedSet) {
        affected.begin(source.nodes.len(), source.running.len());
        self.rules = source.rules;
        // The predictor does not know the hidden loss (R12): it believes that users cost a task only CPU.
        self.rules.loss = 0.0;
        self.intrusion = Intrusion::new(None);
        self.live.clear();
        if self.nodes.len() < source.nodes.len() {
            self.nodes.resize(source.nodes.len(), source.nodes[0]);
            self.tasks.resize(source.tasks.len(), super::Task::default());
        }
        // One more than the source has, for the job of the prediction.
        while self.running.len() <= source.running.len() {
            self.running.push(ActiveJob::NONE);
        }
        // One slot that the source does not use; further ones are appended.
        self.vacant.clear();
        self.vacant.push(u32::try_from(self.running.len() - 1).expect("slots are u32"));
        self.open = source.open;
    }

    fn copy_reached(&mut self, source: &Self, now: Time, sees_users: bool, affected: &mut AffectedSet) {
        let Self { rules, nodes, tasks, running, live, .. } = self;
        let mpl = rules.mpl as usize;
        let mut looked_at = 0;
        // `copied` grows during the loop: nodes of jobs on copied nodes join at its end, until no job leads to a
        // new node.
        while let Some(&node) = affected.copied.get(looked_at) {
            looked_at += 1;
            let from = &source.nodes[node as usize];
            nodes[node as usize] = *from;
            let first = node as usize * mpl;
            for at in first..first + from.tasks as usize {
                let task = source.tasks[at];
                tasks[at] = task;
                if affected.is_new_slot(task.slot) {
                    let job = &source.running[task.slot as usize];
                    running[task.slot as usize].copy(job);
                    live.push(task.slot);
                    affected.add(&job.nodes);
                }
            }
        }
        // Otherwise rates are those of the source, and jobs continue unchanged.
        if source.rules.loss > 0.0 || !sees_users {
            self.believe(now, sees_users, affected);
        }
    }

    /// Changes the rates of jobs from now on to the believed ones.
    fn believe(&mut self, now: Time, sees_users: bool, affected: &AffectedSet) {
        for &index in affected.copied() {
            let NodeState { users, demand, memory, .. } = &mut self.nodes[index as usize];
            if *users && !sees_users {
                *users = false;
                *demand -= self.rules.user_cpu;
                *memory -= self.rules.user_memory;
            }
            self.level(index);
        }
        let Self { rules, nodes, running, live, .. } = self;
        for &slot in &*live {
            let job = &mut running[slot as usize];
            job.done = job.done(now);
            job.since = now;
            job.rate = rate(job, nodes, rules);
        }
    }
}

impl ActiveJob {
    fn copy(&mut self, from: &Self) {
        let Self { app, key, nodes, users, rate, done, since, mark } = self;
        (*app, *key, *users, *rate, *done, *since, *mark) =
            (from.app, from.key, from.users, from.rate, from.done, from.since, 0);
        nodes.clone_from(&from.nodes);
    }
}
