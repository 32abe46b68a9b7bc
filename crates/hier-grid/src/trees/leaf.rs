//! The LGS of a site: it matches jobs with servers, requests work, and gives the oldest queued job to an idle server.

use super::Trees;
use crate::config::{Bags as BagRule, UnassignedOrder};
use crate::fabric::Fabric;
use crate::fabric::run::Run;
use crate::message::{MessageObserver, Payload};
use crate::trees::scheduler_state::{Channel, Uplink};
use crate::world::{Bag, SchedulerId, ServerId};
use std::collections::BTreeMap;
use std::ops::Range;

impl Trees {
    fn servers_of(&self, leaf: SchedulerId, fabric: &Fabric<impl MessageObserver>) -> Range<u32> {
        fabric.world.servers_at(self.forest.schedulers[leaf.index()].site())
    }

    /// Classes that some server of the site can run at present.
    pub(super) fn bag_of_site(&self, leaf: SchedulerId, fabric: &Fabric<impl MessageObserver>) -> Bag {
        let bag = |server: u32| fabric.servers[server as usize].bag;
        self.servers_of(leaf, fabric).fold(Bag::EMPTY, |all, server| all.with(bag(server)))
    }

    /// Bag of the channel through which a server of this site requests work; empty if no known job matches the server.
    fn bag_of_server(&self, leaf: SchedulerId, server: u32, fabric: &Fabric<impl MessageObserver>) -> Bag {
        // R15: one channel for each set of jobs that some server can run, or one for the site as a whole.
        let bag = match fabric.config.readings.bags {
            BagRule::PerOs => fabric.servers[server as usize].bag,
            BagRule::PerSite => self.bag_of_site(leaf, fabric),
        };
        bag.and(self.states[leaf.index()].known)
    }

    /// Matches servers against known jobs: makes, keeps or destroys channels. Returns true if the set of bags has changed.
    pub(super) fn rematch(&mut self, leaf: SchedulerId, fabric: &Fabric<impl MessageObserver>) -> bool {
        // Servers with the same bag share a channel: the paper joins "similar" bags.
        let mut powers: BTreeMap<Bag, u64> = BTreeMap::new();
        for server in self.servers_of(leaf, fabric) {
            let bag = self.bag_of_server(leaf, server, fabric);
            if !bag.is_empty() {
                *powers.entry(bag).or_default() += u64::from(fabric.servers[server as usize].cpus);
            }
        }
        let channels = &mut self.states[leaf.index()].channels;
        let changed = !channels.iter().map(|channel| &channel.bag).eq(powers.keys());
        // A channel whose bag stays keeps its port and its RFC, since the parent knows a channel by its bag: otherwise every
        // discovery would cause all requests to be sent again.
        let channel = |(bag, power)| {
            let before = channels.iter().find(|channel| channel.bag == bag);
            Channel {
                bag,
                power,
                uplink: before.map_or_else(Uplink::default, |before| before.uplink),
                branches: Vec::new(),
            }
        };
        *channels = powers.into_iter().map(channel).collect();
        changed
    }

    pub(super) fn leaf_discovers(&mut self, leaf: SchedulerId, round: u32, known: Bag, run: &mut impl Run) {
        let state = &mut self.states[leaf.index()];
        // Known classes first: channels depend on them.
        (state.known, state.changed) = (known, false);
        self.rematch(leaf, run);
        let is_unmatched =
            |server: u32| run.servers[server as usize].is_idle() && self.bag_of_server(leaf, server, &**run).is_empty();
        let wanting = self.servers_of(leaf, run).any(is_unmatched);
        self.states[leaf.index()].wanting = wanting;
        self.tell_own_bags(leaf, round, run);
        self.fill(leaf, run);
    }

    /// Gives queued jobs to idle servers, then requests more if a server is still idle.
    pub(super) fn fill(&mut self, leaf: SchedulerId, run: &mut impl Run) {
        // All servers before the first request: a request speaks for all servers that are still idle.
        let mut idle = false;
        for server in self.servers_of(leaf, run) {
            if run.servers[server as usize].is_idle() {
                idle |= !self.give(leaf, server, run);
            }
        }
        if idle {
            self.ask_for_work(leaf, run);
        }
    }

    pub(crate) fn refill(&mut self, server: ServerId, run: &mut impl Run) {
        let leaf = self.forest.leaf_of_site[run.servers[server.index()].site.index()];
        if !self.give(leaf, server.0, run) {
            self.ask_for_work(leaf, run);
        }
    }

    /// Gives an idle server the oldest queued job that it can run. Returns false if there is none.
    fn give(&mut self, leaf: SchedulerId, server: u32, run: &mut impl Run) -> bool {
        let bag = run.servers[server as usize].bag;
        let state = &mut self.states[leaf.index()];
        // First come, first served among those that it can run: age is the only priority.
        let oldest = state.next_unassigned(bag, 0, UnassignedOrder::OldestFirst, |_| 0);
        let Some((kind, job)) = oldest else { return false };
        state.unassigned.remove(kind, job);
        self.send_up(leaf, Payload::Started { job }, run);
        run.offer(ServerId(server), job);
        true
    }

    /// Sends an RFC through each channel that has an idle server and no open RFC, and an RFJM if a server has no channel.
    pub(super) fn ask_for_work(&mut self, leaf: SchedulerId, run: &mut impl Run) {
        for server in self.servers_of(leaf, run) {
            if !run.servers[server as usize].is_idle() {
                continue;
            }
            let bag = self.bag_of_server(leaf, server, run);
            let runs = run.servers[server as usize].bag;
            let at = &mut self.states[leaf.index()];
            // One RFC per channel for any number of idle servers: the block that answers it is the share of the
            // whole branch.
            let payload = match at.channels.iter_mut().find(|channel| channel.bag == bag) {
                Some(channel) => channel.uplink.ask(bag, runs.and(bag), &mut at.tickets),
                None if at.wanting => None,
                None => {
                    at.wanting = true;
                    Some(Payload::Rfjm { changed: at.changed })
                }
            };
            if let Some(payload) = payload {
                self.send_up(leaf, payload, run);
            }
        }
    }
}
