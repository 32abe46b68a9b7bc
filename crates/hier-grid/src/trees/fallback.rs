//! Fallback: resources and bags change, and jobs that no server can run any more go back up.

use super::Trees;
use crate::message::Payload;
use crate::run::Run;
use crate::world::{Bag, SchedulerId, narrow};
use sim_core::{JobId, SiteId};

impl Trees {
    /// Handles another operating system of a server. The LGS rematches; if the bags stay the same, nothing follows for others.
    pub(crate) fn resources_changed(&mut self, site: SiteId, run: &mut impl Run) {
        let leaf = self.forest.leaf_of_site[site.index()];
        let tree = self.forest.schedulers[leaf.index()].tree;
        self.roots[tree as usize].stale = true;
        let at = &mut self.leaves[site.index()];
        // Servers that wanted jobs may want others now: the next RFJM reports the change and is forwarded even after an earlier one.
        (at.changed, at.wanting) = (true, false);
        // Without fallback channels stay as the last discovery made them, and jobs stay until the next one even if no server
        // can run them. The paper compares with this case.
        if self.rules.algorithms.fallback && self.rematch(site, run) {
            self.tell_own_bags(leaf, 0, run);
            self.return_incomputable(site, run);
        }
        self.fill(site, run);
    }

    /// Returns jobs of an LGS whose classes none of its servers can run.
    pub(crate) fn return_incomputable(&mut self, site: SiteId, run: &mut impl Run) {
        if !self.rules.algorithms.fallback || self.leaves[site.index()].queued == 0 {
            return;
        }
        let servers = run.world.servers_at(site);
        // Classes that some server can run at present. Channels do not suffice: they follow known classes, and a queued job
        // may be of a class that was lost on its way here.
        let runs = servers.fold(Bag::EMPTY, |all, server| all.with(run.servers[server as usize].bag));
        let leaf = &mut self.leaves[site.index()];
        // Class by class: all jobs of a class go or none.
        let mut jobs: Vec<JobId> = Vec::new();
        for (class, queue) in (0..).zip(&mut leaf.queues) {
            if !runs.holds(class) && !queue.is_empty() {
                jobs.extend(std::mem::take(queue));
            }
        }
        if jobs.is_empty() {
            return;
        }
        leaf.queued -= narrow(jobs.len());
        // Sorted: the lower its sequence number, the sooner a returned job is scheduled again.
        jobs.sort_unstable();
        self.give_back(self.forest.leaf_of_site[site.index()], jobs, run);
    }

    fn give_back(&mut self, from: SchedulerId, jobs: Vec<JobId>, run: &mut impl Run) {
        run.counts.fallback += jobs.len() as u64;
        self.send_up(from, Payload::Returned { jobs }, run);
    }

    /// Reports a scheduler's changed channels to its parent, and returns jobs without a channel.
    pub(crate) fn channels_changed(&mut self, at: SchedulerId, run: &mut impl Run) {
        let scheduler = &self.forest.schedulers[at.index()];
        // At the root new bags are news for discovery: raw jobs may match now.
        if scheduler.parent.is_none() {
            self.roots[scheduler.tree as usize].news = true;
            self.states[at.index()].channels.retain(|channel| channel.power > 0);
        } else {
            self.tell_own_bags(at, 0, run);
        }
        self.return_unreachable(at, run);
    }

    /// Returns unassigned jobs without a channel to the parent; at the root they become raw again.
    pub(crate) fn return_unreachable(&mut self, at: SchedulerId, run: &mut impl Run) {
        let state = &mut self.states[at.index()];
        if !self.rules.algorithms.fallback || state.unassigned.total == 0 {
            return;
        }
        let jobs = state.take_unreachable(state.reach());
        if jobs.is_empty() {
            return;
        }
        if self.forest.schedulers[at.index()].parent.is_none() {
            run.counts.fallback += jobs.len() as u64;
            // They are raw again, and counted as matched once more when they match: `unstarted` counts matched jobs.
            let tree = self.forest.schedulers[at.index()].tree;
            self.roots[tree as usize].unstarted -= narrow(jobs.len());
            self.sort_out(at, jobs, run);
        } else {
            self.give_back(at, jobs, run);
        }
    }

    /// Receives jobs back from a child: they are scheduled again, the lowest sequence number first.
    pub(crate) fn returned(&mut self, from: SchedulerId, at: SchedulerId, jobs: Vec<JobId>, run: &mut impl Run) {
        let slot = self.forest.schedulers[from.index()].slot as usize;
        for job in jobs {
            let kind = self.class_and_home(at, job, run);
            let state = &mut self.states[at.index()];
            // A cancel that came too late may have removed it already.
            state.delegated.by_child[slot].remove(kind, job);
            self.add_unassigned(at, job, run);
        }
        // The child received everything pushed to it before this message: its jobs can be cancelled again.
        self.states[at.index()].delegated.fresh[slot] = false;
        self.return_unreachable(at, run);
        self.serve(at, run);
    }
}
