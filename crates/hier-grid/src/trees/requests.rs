//! Requests at the roots: copies to the other trees of a hybrid, and raw jobs that wait for discovery.

use super::Trees;
use crate::config::RequestsTo;
use crate::fabric::Fabric;
use crate::fabric::run::Run;
use crate::message::{Address, Envelope, MessageObserver, Payload};
use crate::world::overlay::HOPS;
use crate::world::{SchedulerId, StationId, narrow};
use sim_core::JobId;

impl Trees {
    pub(crate) fn request(&mut self, station: StationId, job: JobId, run: &mut impl Run) {
        // A work station knows the tree that its site belongs to, and sends to its root directly: requests do not
        // climb.
        let root = self.root_of(self.forest.leaf_of_site[run.world.site_of(station).index()]);
        run.jobs.get_mut(job).copies += 1;
        run.send(Address::Station(station), Address::Scheduler(root), Payload::Request { job, hops: HOPS });
    }

    pub(crate) fn root_request(&mut self, root: SchedulerId, job: JobId, run: &mut impl Run) {
        // R8: to all trees at once, or only if the home tree has no server that could run the job.
        if run.config.readings.requests_to == RequestsTo::AllTrees || !self.has_servers(root, run) {
            self.ask_other_trees(root, job, run);
        }
        self.root_copy(root, job, run);
    }

    pub(crate) fn has_servers(&self, root: SchedulerId, fabric: &Fabric<impl MessageObserver>) -> bool {
        let sites = &self.forest.schedulers[root.index()].sites;
        fabric.world.first_server[sites.start as usize] < fabric.world.first_server[sites.end as usize]
    }

    /// Forwards a request to the other roots, unless that has been done (R8).
    ///
    /// Each root gets one copy; a second copy is dropped. The state of the roots has no influence on the forwarding, so only the
    /// first copies are events.
    pub(crate) fn ask_other_trees(&mut self, root: SchedulerId, job: JobId, run: &mut impl Run) {
        if self.forest.roots.len() == 1 || std::mem::replace(&mut run.jobs.get_mut(job).shared, true) {
            return;
        }
        let tree = self.forest.schedulers[root.index()].tree;
        let (now, address) = (run.now(), |tree: u32| Address::Scheduler(self.forest.roots[tree as usize]));
        let order = self.overlay.flood(
            tree,
            HOPS,
            |_| true,
            |copy| {
                let payload = Payload::Forward { job, hops: copy.hops };
                run.record(now + copy.sent, copy.hop, address(copy.from), address(copy.to), &payload);
            },
        );
        // The first in the order is this root itself.
        run.jobs.get_mut(job).copies += narrow(order.len() - 1);
        for &(to, latency) in &order[1..] {
            let payload = Payload::Forward { job, hops: HOPS };
            run.dispatch(Envelope { from: Address::Scheduler(root), to: address(to), payload }, latency);
        }
    }

    pub(crate) fn root_copy(&mut self, root: SchedulerId, job: JobId, run: &mut impl Run) {
        if !self.has_servers(root, run) {
            // No server of this tree would ever request it.
            run.jobs.drop_copy(job);
            return;
        }
        let at = &mut self.states[root.index()].root;
        at.raw.push(job);
        at.news = true;
        self.consider_discovery(root, run);
    }
}
