//! Grid trees: schedulers that exchange bags and jobs (the paper's hierarchical system, and its hybrids).
//!
//! The methods of [`Trees`] are the actions of schedulers on messages. Each is written from the point of view of one scheduler,
//! `at`, and touches only `at`'s own state (and, at an LGS, that of the servers of its site): everything else goes
//! through messages. The exceptions are shortcuts and are marked as such.
//!
//! | file | stage |
//! |---|---|
//! | `requests` | jobs arrive at the roots |
//! | `discovery` | Resource Discovery Stage |
//! | `selection` | Resource Selection Stage, with butterfly and load-balance |
//! | `leaf` | actions of an LGS in both |
//! | `fallback` | resources change |

mod discovery;
mod fallback;
mod leaf;
mod requests;
mod selection;

use crate::config::{Config, Neighbours};
use crate::fabric::Fabric;
use crate::leaf_state::LeafState;
use crate::message::{Address, MessageObserver, Payload};
use crate::network::Network;
use crate::overlay::Overlay;
use crate::queue::ClassAndHome;
use crate::run::Run;
use crate::scheduler_state::{RootState, SchedulerState, SelectionRules};
use crate::tree::{Scheduler, SchedulerForest};
use crate::world::{SchedulerId, World, narrow};
use sim_core::{JobId, SiteId, Streams};

/// All schedulers of a grid tree, or of the several trees of a hybrid.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    pub(crate) rules: SelectionRules,
    pub(crate) forest: SchedulerForest,
    /// States by number of the scheduler; empty for leaves.
    pub(crate) states: Vec<SchedulerState>,
    pub(crate) leaves: Vec<LeafState>,
    pub(crate) roots: Vec<RootState>,
    /// Roots as peers of each other.
    overlay: Overlay,
}

impl Trees {
    /// Schedulers without any knowledge, over the world's tree cut into `trees` trees.
    pub(crate) fn new(config: &Config, trees: u32, world: &World, network: &Network, streams: &Streams) -> Self {
        let forest = SchedulerForest::plant(world, trees, network);
        let classes = world.classes.len();
        let state = |scheduler: &Scheduler| {
            if scheduler.is_leaf() {
                SchedulerState::default()
            } else {
                SchedulerState::new(scheduler.degree(), classes)
            }
        };
        let root_sites: Vec<SiteId> = forest.roots.iter().map(|root| forest.schedulers[root.index()].site()).collect();
        Self {
            rules: SelectionRules { algorithms: config.algorithms, readings: config.readings.clone() },
            states: forest.schedulers.iter().map(state).collect(),
            leaves: vec![LeafState::new(classes); world.sites() as usize],
            roots: vec![RootState::default(); trees as usize],
            overlay: Overlay::new(&root_sites, Neighbours::Geographic, (world, network), streams),
            forest,
        }
    }

    pub(crate) fn seats(&self) -> Vec<SiteId> {
        self.forest.schedulers.iter().map(Scheduler::site).collect()
    }

    /// Sends the first request for job matching of every LGS: at system start it has servers and knows no jobs.
    pub(crate) fn open(&mut self, run: &mut impl Run) {
        for site in 0..narrow(self.leaves.len()) {
            self.leaf_opens(SiteId(site), run);
        }
    }

    pub(crate) fn receive(&mut self, from: Address, to: SchedulerId, payload: Payload, run: &mut impl Run) {
        match (from, payload) {
            (_, Payload::Request { job, .. }) => self.root_request(to, job, run),
            (_, Payload::Forward { job, .. }) => self.root_copy(to, job, run),
            (Address::Scheduler(from), payload) if self.is_leaf(to) => self.at_leaf(from, to, payload, run),
            (Address::Scheduler(from), payload) => self.above_leaves(from, to, payload, run),
            (from, payload) => panic!("{from:?} sent {payload:?} to scheduler {to}"),
        }
    }

    fn at_leaf(&mut self, from: SchedulerId, leaf: SchedulerId, payload: Payload, run: &mut impl Run) {
        match payload {
            Payload::Discover { round, known, .. } => self.leaf_discovers(leaf, round, known, run),
            Payload::Ports { bags } => self.leaf_ports(leaf, &bags, run),
            Payload::Block { bag, ticket, jobs } => self.leaf_block(leaf, bag, ticket, jobs, run),
            Payload::Cancel { by, number, reason, jobs } => {
                self.leaf_cancels(leaf, (by, number, reason), jobs, run);
            }
            other => panic!("scheduler {from} sent {other:?} to LGS {leaf}"),
        }
    }

    /// Receives a message from the parent or a child at a scheduler above the leaves.
    fn above_leaves(&mut self, from: SchedulerId, at: SchedulerId, payload: Payload, run: &mut impl Run) {
        match payload {
            // From the parent.
            Payload::Discover { round, known, jobs } => {
                self.passes_discovery(at, (round, known, jobs), run);
            }
            Payload::Ports { bags } => self.ports(at, &bags, run),
            Payload::Block { bag, ticket, jobs } => self.block(at, bag, ticket, jobs, run),
            Payload::Cancel { by, number, reason, jobs } => {
                self.cancels(at, (by, number, reason), jobs, run);
            }
            // From a child.
            Payload::Rfjm { anew } => self.rfjm(at, anew, run),
            Payload::Bags { round, bags, wanting } => self.bags(from, at, (round, wanting), bags, run),
            Payload::Rfc { bag, wants, ticket } => self.rfc(from, at, (bag, wants, ticket), run),
            Payload::Cancelled { by, number, reason, asked, jobs } => {
                self.cancelled(at, (by, number, reason), asked, jobs, run);
            }
            Payload::Started { job } => self.started(from, at, job, run),
            Payload::Returned { jobs } => self.returned(from, at, jobs, run),
            other => panic!("scheduler {from} sent {other:?} to scheduler {at}"),
        }
    }

    fn is_leaf(&self, scheduler: SchedulerId) -> bool {
        self.forest.schedulers[scheduler.index()].is_leaf()
    }

    fn is_root(&self, scheduler: SchedulerId) -> bool {
        self.forest.schedulers[scheduler.index()].parent.is_none()
    }

    fn tree_of(&self, scheduler: SchedulerId) -> u32 {
        self.forest.schedulers[scheduler.index()].tree
    }

    fn send_up(&self, from: SchedulerId, payload: Payload, run: &mut impl Run) {
        // Only the root has no parent, and it receives nothing that it would have to pass up.
        let parent = self.forest.schedulers[from.index()].parent.expect("a root has no parent to tell");
        run.send(Address::Scheduler(from), Address::Scheduler(parent), payload);
    }

    fn send_down(&self, from: SchedulerId, slot: u32, payload: Payload, run: &mut impl Run) {
        let child = SchedulerId(self.forest.schedulers[from.index()].children.start + slot);
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
