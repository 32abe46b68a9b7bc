//! Main pass (SPEC 4).

use super::Controller;
use crate::cluster::nodes::NodeSet;
use crate::cluster::queue::{Pass, Start};
use std::collections::BTreeMap;

impl Controller {
    /// Decides a main pass; a full pass has no depth limit. The nodes are held afterwards; [`Self::commit`] removes the jobs from
    /// the queue.
    pub(crate) fn main_pass(&mut self, now: i64, is_full: bool) -> Pass {
        self.prepare(now);
        let Self { cluster, queue, lacking, site, .. } = self;
        let settings = &site.conf.scheduling;
        let mut pass = Pass::default();
        let mut available = NodeSet::full(cluster.machine.len());
        let mut depths = BTreeMap::<usize, usize>::new();
        // SPEC 4.1: the counter admits one record more than the depth.
        let depth = if is_full { usize::MAX } else { settings.default_queue_depth + 1 };
        for entry in queue.iter().take(depth) {
            if pass.starts.iter().any(|start| start.job == entry.job) {
                continue;
            }
            let reached = depths.entry(entry.partition).or_default();
            *reached += 1;
            if settings.partition_job_depth > 0 && *reached > settings.partition_job_depth {
                continue;
            }
            if pass.blocked.iter().any(|(_, partition)| *partition == entry.partition) {
                pass.changed = true;
                continue;
            }
            if cluster.limits.reason(&entry.demand).is_some() {
                // SPEC 4.4: it blocks nothing, except under assoc_limit_stop.
                if settings.assoc_limit_stop && cluster.limits.tasks_left(&entry.demand) > 0 {
                    pass.blocked.push((entry.job, entry.partition));
                }
                continue;
            }
            let mut candidates = cluster.partitions[entry.partition].intersection(&available);
            let required = entry.required.as_ref();
            let lacks_required = required.is_some_and(|nodes| !nodes.is_within(&candidates));
            // Such a job is tested once, and then passed over while it lacks a node.
            if lacks_required && lacking.contains(&entry.job) {
                continue;
            }
            lacking.remove(&entry.job);
            if candidates.len() >= entry.need.nodes {
                candidates.intersect(&cluster.idle);
                if let Some(excluded) = &entry.excluded {
                    candidates.subtract(excluded);
                }
                if let Some(nodes) = cluster.machine.choose(&candidates, entry.need, required) {
                    cluster.start(entry.job, now + entry.demand.limit, nodes.clone(), entry.demand);
                    pass.starts.push(Start { job: entry.job, partition: entry.partition, nodes, planned: None });
                    pass.changed = true;
                    if settings.sched_max_job_start > 0 && pass.starts.len() >= settings.sched_max_job_start {
                        break;
                    }
                    continue;
                }
                // SPEC 4.7: a job that requires all of its nodes by name keeps those alone from later jobs.
                if lacks_required {
                    lacking.insert(entry.job);
                }
                if let Some(nodes) = required.filter(|nodes| nodes.len() == entry.need.nodes) {
                    available.subtract(nodes);
                    continue;
                }
                let holds_no_place = lacks_required
                    || now - entry.eligible < settings.bf_min_age_reserve
                    || (entry.priority as usize) < settings.bf_min_prio_reserve;
                if holds_no_place {
                    continue;
                }
            }
            pass.blocked.push((entry.job, entry.partition));
            // SPEC 4.5, 4.6: the partition's nodes are also unavailable for lower partitions.
            available.subtract(&cluster.partitions[entry.partition]);
        }
        pass
    }
}
