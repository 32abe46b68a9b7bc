//! State of the nodes: idle or held by a job.

pub(crate) mod limits;
pub(crate) mod nodes;
pub(crate) mod queue;
pub(crate) mod select;
pub(crate) mod table;
pub(crate) mod will_run;

use crate::cluster::limits::{Demand, Limits};
use crate::cluster::nodes::NodeSet;
use crate::cluster::select::Machine;
use crate::cluster::will_run::{ExpectedEnds, Running};
use crate::site::Site;
use crate::site::conf::{Partition, YEAR};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    site: Arc<Site>,
    pub machine: Machine,
    /// Nodes of each partition on which jobs may start.
    pub partitions: Vec<NodeSet>,
    /// Nodes that no job holds.
    pub idle: NodeSet,
    /// Running jobs by expected end.
    pub running: Vec<Running>,
    pub limits: Limits,
}

impl Cluster {
    pub(crate) fn new(site: Arc<Site>) -> Self {
        let nodes = &site.conf.nodes;
        let up = |partition: &Partition| {
            NodeSet::of(nodes.len(), partition.nodes.iter().copied().filter(|node| nodes[*node].up))
        };
        Self {
            machine: Machine(nodes.iter().map(|node| (node.cpus, node.weight)).collect()),
            partitions: site.conf.partitions.iter().map(up).collect(),
            idle: NodeSet::full(nodes.len()),
            running: Vec::new(),
            limits: Limits::new(Arc::clone(&site)),
            site,
        }
    }

    /// Assigns nodes to a job until `end` at the latest.
    pub(crate) fn start(&mut self, job: u32, end: i64, nodes: NodeSet, demand: Demand) {
        assert!(
            nodes.is_within(&self.idle),
            "job {job} starts on {nodes:?}, of which some are not idle: {:?}",
            self.idle
        );
        self.idle.subtract(&nodes);
        self.limits.started(&demand);
        self.insert(Running { job, end, nodes, demand, is_completing: false });
    }

    fn insert(&mut self, job: Running) {
        let place = self.running.partition_point(|other| (other.end, other.job) < (job.end, job.job));
        self.running.insert(place, job);
    }

    fn remove(&mut self, job: u32) -> Option<Running> {
        let place = self.running.iter().position(|running| running.job == job)?;
        Some(self.running.remove(place))
    }

    /// Releases the nodes of a job; returns the job, or `None` if it is not running.
    pub(crate) fn end(&mut self, job: u32) -> Option<Running> {
        let ended = self.remove(job)?;
        self.idle.unite(&ended.nodes);
        self.limits.ended(&ended.demand);
        Some(ended)
    }

    /// Marks a stopped job, whose nodes stay in use until [`Self::clean_up`].
    pub(crate) fn stop(&mut self, job: u32, now: i64) {
        if let Some(running) = self.remove(job) {
            self.insert(Running { end: now, is_completing: true, ..running });
        }
    }

    /// Releases the nodes of jobs that were stopped by `time`.
    pub(crate) fn clean_up(&mut self, time: i64) {
        let is_stopped = |running: &&Running| running.is_completing;
        while let Some(stopped) = self.running.iter().take_while(|running| running.end <= time).find(is_stopped) {
            self.end(stopped.job);
        }
    }

    /// Takes nodes as idle if they are those of stopped jobs.
    pub(crate) fn clean(&mut self, nodes: &NodeSet) {
        for stopped in self.running.iter_mut().filter(|running| running.is_completing) {
            let clean = stopped.nodes.intersection(nodes);
            stopped.nodes.subtract(&clean);
            self.idle.unite(&clean);
        }
    }

    pub(crate) fn release_node(&mut self, job: u32, node: usize) {
        if let Some(running) = self.running.iter_mut().find(|one| one.job == job && one.nodes.contains(node)) {
            let one = NodeSet::of(self.machine.len(), [node]);
            running.nodes.subtract(&one);
            self.idle.unite(&one);
        }
    }

    pub(crate) fn set_usable(&mut self, node: usize, is_up: bool) {
        let one = NodeSet::of(self.machine.len(), [node]);
        for (nodes, partition) in self.partitions.iter_mut().zip(&self.site.conf.partitions) {
            match is_up {
                true if partition.nodes.contains(&node) => nodes.unite(&one),
                _ => nodes.subtract(&one),
            }
        }
    }

    /// Returns the nodes of stopped jobs, which are not idle yet, without the first `skip` nodes of each job.
    pub(crate) fn completing(&self, skip: usize) -> NodeSet {
        let stopped = self.running.iter().filter(|running| running.is_completing);
        NodeSet::of(self.machine.len(), stopped.flat_map(|running| running.nodes.iter().skip(skip)))
    }

    /// Returns the running jobs for the will-run test, which takes nodes of stopped jobs as idle. A job past its limit keeps its place
    /// in their order, and is expected to end after its partition's grace, or else after another limit.
    pub(crate) fn releases(&self, now: i64) -> ExpectedEnds {
        let mut idle = self.completing(0);
        idle.unite(&self.idle);
        let expected = |running: &Running| match self.site.conf.partitions[running.demand.partition].over_time_limit {
            _ if running.end > now => running.end,
            over if over < YEAR => (running.end + self.site.conf.kill_wait + over).max(now + 1),
            _ => now + running.demand.limit,
        };
        let running = self.running.iter().filter(|running| !running.is_completing);
        let ends = running.map(|running| (running.end, expected(running), &running.nodes));
        ExpectedEnds::new(&idle, &ends.collect::<Vec<_>>())
    }
}
