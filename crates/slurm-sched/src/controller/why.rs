//! Reasons for which a pass does not start a pending job.

use super::{By, Controller};
use crate::cluster::nodes::NodeSet;
use crate::cluster::queue::{Entry, Pass};

/// Reason for which a pass did not start a job.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Why {
    /// Kind of the reason, such as `Resources`; the kinds of squeue have its names.
    pub kind: &'static str,
    /// The reason in words; times are seconds from the zero of the workload.
    pub words: String,
}

fn why(kind: &'static str, words: impl Into<String>) -> Option<Why> {
    Some(Why { kind, words: words.into() })
}

fn depth(parameter: &str) -> Option<Why> {
    why("Depth", format!("the pass does not reach it ({parameter})"))
}

fn priority(behind: u32) -> Option<Why> {
    why("Priority", format!("behind job {behind}, which does not fit"))
}

/// Jobs that hold nodes, of which more are not named.
const NAMED: usize = 4;

impl Controller {
    /// Returns the reason for which a pass at `now` did not start a job, or its plan; `None` for one that is not pending.
    pub(crate) fn why(&self, id: u32, by: By, is_full: bool, now: i64, zero: i64, pass: &Pass) -> Option<Why> {
        let is_pending = |job: &&super::Job| job.running.is_none() && pass.starts.iter().all(|start| start.job != id);
        let job = self.jobs.get(&id).filter(is_pending)?;
        if let Some((at, entry)) = self.queue.iter().enumerate().find(|(_, entry)| entry.job == id) {
            return match by {
                By::Main => self.why_main(at, entry, zero, is_full, pass),
                By::Backfill => self.why_backfill(at, entry, now, zero, pass),
            };
        }
        match self.ahead.iter().find(|(_, other)| *other == id) {
            _ if job.is_held => why("Held", "held"),
            Some((time, _)) => why("BeginTime", format!("its begin time is {} s", time - zero)),
            None if self.dependent.contains_key(&id) => why("Dependency", "a dependency is not met"),
            None => why("Partition", "no partition admits it: State, MaxTime, MinNodes or MaxNodes"),
        }
    }

    fn why_main(&self, at: usize, entry: &Entry, zero: i64, is_full: bool, pass: &Pass) -> Option<Why> {
        let settings = &self.site.conf.scheduling;
        let before = self.queue[..at].iter().filter(|other| other.partition == entry.partition).count();
        let is_reached = |most: usize, count: usize| most > 0 && count >= most;
        if !is_full && at > settings.default_queue_depth {
            return depth("default_queue_depth");
        } else if is_reached(settings.partition_job_depth, before) {
            return depth("partition_job_depth");
        } else if is_reached(settings.sched_max_job_start, pass.starts.len()) {
            return depth("sched_max_job_start");
        }
        let earlier = || pass.blocked.iter().take_while(|(other, _)| *other != entry.job);
        if let Some((behind, _)) = earlier().find(|(_, partition)| *partition == entry.partition) {
            return priority(*behind);
        }
        if let Some(limit) = self.cluster.limits.reason(&entry.demand) {
            return why("Limit", limit);
        }
        let partition = &self.cluster.partitions[entry.partition];
        let idle = partition.intersection(&self.cluster.idle);
        let (count, needed) = (idle.len(), entry.need.nodes);
        // SPEC 4.6: a blocked partition takes its nodes from later ones.
        let bars = |nodes: &NodeSet| count >= needed && nodes.meets(&idle);
        if let Some((behind, _)) = earlier().find(|(_, other)| bars(&self.cluster.partitions[*other])) {
            return priority(*behind);
        }
        let mut words = format!("{count} of {needed} nodes are idle");
        let holders = self.cluster.running.iter().filter(|running| running.nodes.meets(partition));
        for running in holders.take(NAMED) {
            words += &format!(", job {} holds others until {} s at most", running.job, running.end - zero);
        }
        why("Resources", words)
    }

    fn why_backfill(&self, at: usize, entry: &Entry, now: i64, zero: i64, pass: &Pass) -> Option<Why> {
        let settings = &self.site.conf.scheduling;
        if let Some(plan) = pass.plans.iter().find(|plan| plan.job == entry.job)
            && let Some((start, _)) = plan.planned
        {
            let nodes = self.site.conf.node_list(plan.nodes.iter());
            let words = format!("planned at {} s on whole nodes {nodes}", start - zero);
            return match start > now + settings.bf_window {
                true => why("Window", words + ", beyond bf_window: no place is held"),
                false => why("Plan", words),
            };
        } else if let Some(limit) = self.cluster.limits.reason(&entry.demand) {
            return why("Limit", limit);
        } else if pass.tested.iter().any(|(tested, _)| *tested == entry.job) {
            return why("Unplanned", "tested, and no start found that may be planned");
        }
        if self.queue[at..].iter().any(|later| pass.tested.contains(&(later.job, later.partition))) {
            return depth("bf_max_job_part, bf_max_job_user, bf_max_job_user_part or bf_max_job_assoc");
        }
        let is_over = pass.tested.len() >= settings.bf_max_job_test;
        depth(if is_over { "bf_max_job_test" } else { "bf_max_job_start, bf_node_space_size or bf_max_job_user" })
    }
}
