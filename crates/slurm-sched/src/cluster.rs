//! State of the nodes: idle or held by a job.

use crate::limits::{Demand, Limits};
use crate::nodes::NodeSet;
use crate::select::Machine;
use crate::will_run::{ExpectedEnds, Running};

/// Nodes of a cluster, the partitions over them, and the jobs that hold them.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub machine: Machine,
    partitions: Vec<NodeSet>,
    /// Seconds by which jobs of each partition outlast their limits; `None` without a bound.
    graces: Vec<Option<i64>>,
    /// Nodes that no job holds.
    pub idle: NodeSet,
    /// Running jobs by expected end.
    pub running: Vec<Running>,
    pub limits: Limits,
}

impl Cluster {
    /// Returns an idle cluster with these partitions.
    pub(crate) fn new(machine: Machine, partitions: Vec<NodeSet>, graces: Vec<Option<i64>>, limits: Limits) -> Self {
        let idle = NodeSet::full(machine.len());
        Self { machine, partitions, graces, idle, running: Vec::new(), limits }
    }

    /// Returns the nodes of a partition.
    pub(crate) fn partition(&self, index: usize) -> &NodeSet {
        &self.partitions[index]
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
        let place = self.running.partition_point(|running| (running.end, running.job) < (end, job));
        self.running.insert(place, Running { job, end, nodes, demand, is_completing: false });
    }

    /// Releases the nodes of a job; returns the job, or `None` if it is not running.
    pub(crate) fn end(&mut self, job: u32) -> Option<Running> {
        let place = self.running.iter().position(|running| running.job == job)?;
        let ended = self.running.remove(place);
        self.idle.unite(&ended.nodes);
        self.limits.ended(&ended.demand);
        Some(ended)
    }

    /// Marks a stopped job, whose nodes stay in use for a moment.
    pub(crate) fn stop(&mut self, job: u32, now: i64) {
        if let Some(place) = self.running.iter().position(|running| running.job == job) {
            let stopped = Running { end: now, is_completing: true, ..self.running.remove(place) };
            let place = self.running.partition_point(|running| (running.end, running.job) < (now, job));
            self.running.insert(place, stopped);
        }
    }

    /// Takes nodes as idle if they are those of stopped jobs.
    pub(crate) fn clean(&mut self, nodes: &NodeSet) {
        for stopped in self.running.iter_mut().filter(|running| running.is_completing) {
            let mut clean = stopped.nodes.clone();
            clean.intersect(nodes);
            stopped.nodes.subtract(&clean);
            self.idle.unite(&clean);
        }
    }

    /// Adds a node to a partition, or removes it.
    pub(crate) fn set_usable(&mut self, partition: usize, node: usize, is_up: bool) {
        let one = NodeSet::of(self.machine.len(), [node]);
        let nodes = &mut self.partitions[partition];
        if is_up { nodes.unite(&one) } else { nodes.subtract(&one) }
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
        let expected = |running: &Running| match self.graces[running.demand.partition] {
            _ if running.end > now => running.end,
            Some(grace) => (running.end + grace).max(now + 1),
            None => now + running.demand.limit,
        };
        let running = self.running.iter().filter(|running| !running.is_completing);
        let ends = running.map(|running| (running.end, expected(running), &running.nodes));
        ExpectedEnds::new(&idle, &ends.collect::<Vec<_>>())
    }
}
