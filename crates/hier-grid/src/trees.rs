//! Grid trees: schedulers that exchange bags and jobs (the paper's hierarchical system, and its hybrids).
//!
//! The methods of [`Trees`] are the actions of schedulers on messages. Each is written from the point of view of one scheduler,
//! `at`, and touches only `at`'s own state (and, at an LGS, that of the servers of its site): everything else goes
//! through messages. The exceptions are shortcuts and are marked as such.
//!
//! | file | stage |
//! |---|---|
//! | `trees` | jobs arrive at the roots |
//! | `discovery` | Resource Discovery Stage |
//! | `selection` | Resource Selection Stage, with butterfly and load-balance |
//! | `leaf` | actions of an LGS that differ from those of other schedulers |
//! | `fallback` | resources change |
//!
//! `scheduler_state` and `queue` hold a scheduler's knowledge, and the arithmetic of its decisions without clock and messages.

mod discovery;
mod fallback;
mod leaf;
mod queue;
pub(crate) mod scheduler_state;
mod selection;

use crate::config::{Neighbours, RequestsTo};
use crate::fabric::Fabric;
use crate::fabric::run::Run;
use crate::message::{Address, Envelope, MessageObserver, Payload};
use crate::trees::queue::ClassAndHome;
use crate::trees::scheduler_state::SchedulerState;
use crate::world::network::Network;
use crate::world::overlay::{HOPS, Overlay};
use crate::world::tree::{Scheduler, SchedulerForest};
use crate::world::{SchedulerId, StationId, World, narrow};
use sim_core::{JobId, SiteId, Streams};

/// All schedulers of a grid tree, or of the several trees of a hybrid.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    pub(crate) forest: SchedulerForest,
    pub(crate) states: Vec<SchedulerState>,
    /// Roots as peers of each other.
    overlay: Overlay,
}

impl Trees {
    /// Schedulers without any knowledge, over the world's tree cut into `trees` trees.
    pub(crate) fn new(trees: u32, world: &World, network: &Network, streams: &Streams) -> Self {
        let forest = SchedulerForest::plant(world, trees, network);
        let classes = world.classes.len();
        let state = |scheduler: &Scheduler| SchedulerState::new(scheduler.children.len(), classes);
        let root_sites: Vec<SiteId> = forest.roots.iter().map(|root| forest.schedulers[root.index()].site()).collect();
        Self {
            states: forest.schedulers.iter().map(state).collect(),
            overlay: Overlay::new(&root_sites, Neighbours::Geographic, (world, network), streams),
            forest,
        }
    }

    /// Sends the first request for job matching of every LGS: at system start it has servers and knows no jobs.
    pub(crate) fn open(&mut self, run: &mut impl Run) {
        for leaf in self.forest.leaf_of_site.clone() {
            self.ask_for_work(leaf, run);
        }
    }

    pub(crate) fn receive(&mut self, from: Address, at: SchedulerId, payload: Payload, run: &mut impl Run) {
        match payload {
            // From a work station, or from another root.
            Payload::Request { job, .. } => self.root_request(at, job, run),
            Payload::Forward { job, .. } => self.root_copy(at, job, run),
            // From the parent.
            Payload::Discover { round, known, .. } if self.forest.is_leaf(at) => {
                self.leaf_discovers(at, round, known, run)
            }
            Payload::Discover { round, known, jobs } => self.passes_discovery(at, (round, known, jobs), run),
            Payload::Ports { bags } => self.ports(at, &bags, run),
            Payload::Block { bag, ticket, jobs } => self.block(at, bag, ticket, jobs, run),
            Payload::Cancel { by, number, reason, jobs } => self.cancels(at, (by, number, reason), jobs, run),
            // From a child.
            Payload::Rfjm { changed } => self.rfjm(at, changed, run),
            Payload::Bags { round, bags, wanting } => self.bags(self.slot(from), at, (round, wanting), &bags, run),
            Payload::Rfc { bag, wants, ticket } => self.rfc(self.slot(from), at, (bag, wants, ticket), run),
            Payload::Cancelled { by, number, reason, asked, jobs } => {
                self.cancelled(at, (by, number, reason), asked, jobs, run);
            }
            Payload::Started { job } => self.started(self.slot(from), at, job, run),
            Payload::Returned { jobs } => self.returned(self.slot(from), at, jobs, run),
            other => panic!("{from:?} sent {other:?} to scheduler {at}"),
        }
    }

    pub(crate) fn request(&mut self, station: StationId, job: JobId, run: &mut impl Run) {
        // A work station knows the tree that its site belongs to, and sends to its root directly: requests do not
        // climb.
        let root = self.root_of(self.forest.leaf_of_site[run.world.site_of(station).index()]);
        run.jobs.get_mut(job).copies += 1;
        run.send(Address::Station(station), Address::Scheduler(root), Payload::Request { job, hops: HOPS });
    }

    fn root_request(&mut self, root: SchedulerId, job: JobId, run: &mut impl Run) {
        // R8: to all trees at once, or only if the home tree has no server that could run the job.
        if run.config.readings.requests_to == RequestsTo::AllTrees || !self.has_servers(root, run) {
            self.ask_other_trees(root, job, run);
        }
        self.root_copy(root, job, run);
    }

    fn has_servers(&self, root: SchedulerId, fabric: &Fabric<impl MessageObserver>) -> bool {
        let sites = &self.forest.schedulers[root.index()].sites;
        fabric.world.first_server[sites.start as usize] < fabric.world.first_server[sites.end as usize]
    }

    /// Forwards a request to the other roots, unless that has been done (R8).
    ///
    /// Each root gets one copy; a second copy is dropped. The state of the roots has no influence on the forwarding, so only the
    /// first copies are events.
    fn ask_other_trees(&mut self, root: SchedulerId, job: JobId, run: &mut impl Run) {
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

    fn root_copy(&mut self, root: SchedulerId, job: JobId, run: &mut impl Run) {
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

    fn slot(&self, from: Address) -> usize {
        let Address::Scheduler(child) = from else { panic!("{from:?} is no child of a scheduler") };
        self.forest.schedulers[child.index()].slot
    }

    fn root_of(&self, scheduler: SchedulerId) -> SchedulerId {
        self.forest.roots[self.forest.schedulers[scheduler.index()].tree as usize]
    }

    fn send_up(&self, from: SchedulerId, payload: Payload, run: &mut impl Run) {
        // Only the root has no parent, and it receives nothing that it would have to pass up.
        let parent = self.forest.schedulers[from.index()].parent.expect("a root has no parent to tell");
        run.send(Address::Scheduler(from), Address::Scheduler(parent), payload);
    }

    fn send_down(&self, from: SchedulerId, slot: usize, payload: Payload, run: &mut impl Run) {
        let child = SchedulerId(self.forest.schedulers[from.index()].children.start + narrow(slot));
        run.send(Address::Scheduler(from), Address::Scheduler(child), payload);
    }

    #[inline]
    fn class_and_home(&self, at: SchedulerId, job: JobId, fabric: &Fabric<impl MessageObserver>) -> ClassAndHome {
        let state = fabric.jobs.get(job);
        let site = fabric.world.site_of(state.station).0;
        let scheduler = &self.forest.schedulers[at.index()];
        ClassAndHome { class: state.class, home: self.forest.home_slot(scheduler, site) }
    }
}
