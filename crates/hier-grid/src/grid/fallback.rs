//! Fallback: resources change, bags with them, and jobs that nothing can run any more go back up.

use super::{Event, Grid};
use crate::jobs::Submission;
use crate::message::Witness;
use crate::post::{Body, Handle};
use crate::tree::SchedulerId;
use crate::world::{Bag, narrow};
use sim_core::{Context, JobId, SiteId};

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// A server of the site offers another operating system. The LGS rematches: the same bags, and nothing follows for others.
    pub(super) fn resources_changed(&mut self, site: SiteId, cx: &mut impl Context<Event>) {
        let leaf = self.forest.leaf_of_site[site.index()];
        let tree = self.forest.schedulers[leaf.index()].tree;
        self.trees[tree as usize].stale = true;
        if self.is_down(leaf) {
            // It will look when it is up again.
            return;
        }
        let at = &mut self.leaves[site.index()];
        (at.changed, at.wanting) = (true, false);
        if self.config.algorithms.fallback && self.rematch(site) {
            self.tell_bags(site, 0, cx);
            self.return_incomputable(site, cx);
        }
        self.fill(site, cx);
    }

    /// An LGS returns jobs of classes that none of its servers can run.
    pub(super) fn return_incomputable(&mut self, site: SiteId, cx: &mut impl Context<Event>) {
        if !self.config.algorithms.fallback || self.leaves[site.index()].queued == 0 {
            return;
        }
        let servers = self.world.servers_at(site);
        let runs = servers.fold(Bag::EMPTY, |all, server| all.with(self.machines[server as usize].bag));
        let leaf = &mut self.leaves[site.index()];
        let mut jobs: Vec<JobId> = Vec::new();
        for (class, queue) in (0..).zip(&mut leaf.queues) {
            if !runs.holds(class) && !queue.is_empty() {
                jobs.extend(std::mem::take(queue).iter());
            }
        }
        if jobs.is_empty() {
            return;
        }
        leaf.queued -= narrow(jobs.len());
        jobs.sort_unstable();
        self.give_back(self.forest.leaf_of_site[site.index()], jobs, cx);
    }

    fn give_back(&mut self, from: SchedulerId, jobs: Vec<JobId>, cx: &mut impl Context<Event>) {
        self.tally.fallback += jobs.len() as u64;
        let jobs = self.pools.jobs.keep(jobs);
        self.send_up(from, Body::Returned { jobs }, cx);
    }

    /// The channels of a scheduler have changed: its parent is told, and jobs without a channel go back.
    pub(super) fn channels_changed(&mut self, at: SchedulerId, cx: &mut impl Context<Event>) {
        let scheduler = &self.forest.schedulers[at.index()];
        if scheduler.parent.is_none() {
            self.trees[scheduler.tree as usize].news = true;
            self.desks[at.index()].channels.retain(|channel| channel.power > 0);
        } else {
            self.tell_own_bags(at, 0, cx);
        }
        self.return_unreachable(at, cx);
    }

    /// Unassigned jobs that no channel leads on go back to the parent; at the root they are raw again.
    pub(super) fn return_unreachable(&mut self, at: SchedulerId, cx: &mut impl Context<Event>) {
        let desk = &mut self.desks[at.index()];
        if !self.config.algorithms.fallback || desk.unassigned.total() == 0 {
            return;
        }
        let jobs = desk.take_unreachable(desk.reach());
        if jobs.is_empty() {
            return;
        }
        if self.forest.schedulers[at.index()].parent.is_none() {
            self.tally.fallback += jobs.len() as u64;
            let tree = self.forest.schedulers[at.index()].tree;
            self.trees[tree as usize].unstarted -= narrow(jobs.len());
            self.sort_out(at, jobs, cx);
        } else {
            self.give_back(at, jobs, cx);
        }
    }

    /// Jobs come back from a child: they are scheduled again, the lowest sequence number first.
    pub(super) fn returned(&mut self, from: SchedulerId, at: SchedulerId, jobs: Handle, cx: &mut impl Context<Event>) {
        let slot = self.forest.schedulers[from.index()].slot as usize;
        let list = self.pools.jobs.take(jobs);
        for &job in &list {
            let kind = self.kind(at, job);
            let desk = &mut self.desks[at.index()];
            // It may have been struck already, by a cancel that came too late.
            desk.books.remove(slot, kind, job);
            self.shelve(at, job);
        }
        self.desks[at.index()].books.set_fresh(slot, false);
        self.pools.jobs.recycle(list);
        self.return_unreachable(at, cx);
        self.serve(at, cx);
    }
}
