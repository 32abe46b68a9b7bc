//! Fallback: resources and bags change, and jobs that no server can run any more go back up.

use super::Trees;
use crate::fabric::run::Run;
use crate::message::Payload;
use crate::world::{SchedulerId, ServerId, narrow};
use sim_core::JobId;

impl Trees {
    /// Handles another operating system of a server. The LGS rematches; if the bags stay the same, nothing follows for others.
    pub(crate) fn resources_changed(&mut self, server: ServerId, run: &mut impl Run) {
        let leaf = self.forest.leaf_of_site[run.servers[server.index()].site.index()];
        let root = self.root_of(leaf);
        self.states[root.index()].root.stale = true;
        let at = &mut self.states[leaf.index()];
        // Servers that wanted jobs may want others now: the next RFJM reports the change and is forwarded even after an earlier one.
        (at.changed, at.wanting) = (true, false);
        // Without fallback channels stay as the last discovery made them, and jobs stay until the next one even if no server
        // can run them. The paper compares with this case.
        if run.config.algorithms.fallback && self.rematch(leaf, run) {
            self.tell_own_bags(leaf, 0, run);
            self.return_unreachable(leaf, run);
        }
        self.serve(leaf, run);
    }

    /// Reports a scheduler's changed channels to its parent, and returns jobs without a channel.
    pub(crate) fn channels_changed(&mut self, at: SchedulerId, run: &mut impl Run) {
        // At the root new bags are news for discovery: raw jobs may match now.
        if self.forest.is_root(at) {
            let state = &mut self.states[at.index()];
            state.root.news = true;
            state.drop_closed();
        } else {
            self.tell_own_bags(at, 0, run);
        }
        self.return_unreachable(at, run);
    }

    /// Returns jobs without a channel, or without a server at the site of an LGS, to the parent; at the root they become raw again.
    pub(crate) fn return_unreachable(&mut self, at: SchedulerId, run: &mut impl Run) {
        if !run.config.algorithms.fallback || self.states[at.index()].unassigned.total == 0 {
            return;
        }
        // Channels do not suffice at an LGS: they follow known classes, and a queued job may be of a class that was lost on its
        // way here.
        let is_leaf = self.forest.is_leaf(at);
        let reach = if is_leaf { self.bag_of_site(at, run) } else { self.states[at.index()].reach() };
        let state = &mut self.states[at.index()];
        let jobs = state.take_unreachable(reach);
        if jobs.is_empty() {
            return;
        }
        run.counts.fallback += jobs.len() as u64;
        if self.forest.is_root(at) {
            // They are raw again, and counted as matched once more when they match: `unstarted` counts matched jobs.
            state.root.unstarted -= narrow(jobs.len());
            self.sort_out(at, jobs, run);
        } else {
            self.send_up(at, Payload::Returned { jobs }, run);
        }
    }

    /// Receives jobs back from a child: they are scheduled again, the lowest sequence number first.
    pub(crate) fn returned(&mut self, slot: usize, at: SchedulerId, jobs: Vec<JobId>, run: &mut impl Run) {
        for job in jobs {
            let kind = self.class_and_home(at, job, run);
            // A cancel that came too late may have removed it already.
            self.states[at.index()].delegated[slot].jobs.remove(kind, job);
            self.add_unassigned(at, job, run);
        }
        // The child received everything pushed to it before this message: its jobs can be cancelled again.
        self.states[at.index()].delegated[slot].fresh = false;
        self.return_unreachable(at, run);
        self.serve(at, run);
    }
}
