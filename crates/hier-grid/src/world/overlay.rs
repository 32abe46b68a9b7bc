//! Overlay networks for the forwarding of requests: peers, and the roots of the trees of a hybrid.

use crate::config::Neighbours;
use crate::world::network::Network;
use crate::world::{World, narrow};
use rand::RngExt;
use rand::seq::SliceRandom;
use sim_core::{Purpose, SiteId, Span, Streams};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of times that a request may be forwarded ("P2P System").
pub(crate) const HOPS: u32 = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    /// Neighbours of each peer, in order, with the latency of the hop.
    neighbours: Vec<Vec<(u32, Span)>>,
    /// Number of times a request is forwarded if all peers forward it, for each entry. Computed on first use.
    forwards: Vec<Option<u64>>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct ForwardedCopy {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Time since the arrival of the request at the entry.
    pub(crate) sent: Span,
    pub(crate) hop: Span,
    /// Number of times that it may still be forwarded.
    pub(crate) hops: u32,
}

impl Overlay {
    /// Peers at these sites, in the order of their numbers, with neighbours according to R9.
    pub(crate) fn new(
        sites: &[SiteId],
        neighbours: Neighbours,
        (world, network): (&World, &Network),
        streams: &Streams,
    ) -> Self {
        let mut links = Links(vec![Vec::new(); sites.len()]);
        let mut ring: Vec<u32> = (0..narrow(sites.len())).collect();
        match neighbours {
            // Peers are numbered site by site: the ring runs through neighbouring sites, and so do links to the next but one.
            Neighbours::Geographic => {
                links.ring(&ring, 1);
                links.ring(&ring, 2);
            }
            Neighbours::Random4 => links.random(&mut ring, 4, streams),
            Neighbours::Random8 => links.random(&mut ring, 8, streams),
        }
        let hop = |from: SiteId, to: u32| (to, network.latency(world.distance(from, sites[to as usize])));
        let of_peer = |(site, neighbours): (&SiteId, &Vec<u32>)| neighbours.iter().map(|to| hop(*site, *to)).collect();
        let neighbours = sites.iter().zip(&links.0).map(of_peer).collect();
        Self { neighbours, forwards: vec![None; sites.len()] }
    }

    pub(crate) fn forwards(&mut self, entry: u32, hops: u32) -> u64 {
        if self.neighbours.len() <= hops as usize {
            // Hops never run out: every peer is reached, and forwards to all neighbours except the one it has the request from.
            let ends: u64 = self.neighbours.iter().map(|neighbours| neighbours.len() as u64).sum();
            return ends - (self.neighbours.len() as u64 - 1);
        }
        if let Some(forwards) = self.forwards[entry as usize] {
            return forwards;
        }
        let mut forwards = 0;
        self.flood(entry, hops, |_| true, |_| forwards += 1);
        self.forwards[entry as usize] = Some(forwards);
        forwards
    }

    /// Spreads a request: each peer for which `forwards` is true passes the first copy that it gets to all neighbours except the one it
    /// came from, as long as there are hops left. `sends` receives each copy, in order of arrival.
    ///
    /// Returns the peers that the request reaches with the latency of the path to them, nearest first, beginning with the entry.
    pub(crate) fn flood(
        &self,
        entry: u32,
        hops: u32,
        mut forwards: impl FnMut(u32) -> bool,
        mut sends: impl FnMut(ForwardedCopy),
    ) -> Vec<(u32, Span)> {
        let mut order = Vec::with_capacity(self.neighbours.len());
        let mut reached = vec![false; self.neighbours.len()];
        // Dijkstra's algorithm: the first copy that arrives counts. Ties of one instant are ordered by receiver and sender.
        let mut coming = BinaryHeap::from([Reverse((Span::ZERO, entry, entry, hops))]);
        while let Some(Reverse((latency, peer, from, hops))) = coming.pop() {
            if std::mem::replace(&mut reached[peer as usize], true) {
                continue;
            }
            order.push((peer, latency));
            // A peer that accepts does not forward.
            if hops == 0 || !forwards(peer) {
                continue;
            }
            for &(to, hop) in self.neighbours[peer as usize].iter().filter(|(to, _)| *to != from || peer == entry) {
                sends(ForwardedCopy { from: peer, to, sent: latency, hop, hops: hops - 1 });
                // A copy for a peer that has had one is counted, and dropped on arrival: it need not travel.
                if !reached[to as usize] {
                    coming.push(Reverse((latency + hop, to, peer, hops - 1)));
                }
            }
        }
        order
    }
}

/// Neighbours of each peer.
struct Links(Vec<Vec<u32>>);

impl Links {
    fn join(&mut self, a: u32, b: u32) -> bool {
        if a == b || self.0[a as usize].contains(&b) {
            return false;
        }
        self.0[a as usize].push(b);
        self.0[b as usize].push(a);
        true
    }

    fn ring(&mut self, ring: &[u32], step: usize) {
        for (i, &peer) in ring.iter().enumerate() {
            self.join(peer, ring[(i + step) % ring.len()]);
        }
    }

    /// A random ring, and random links between peers that have fewer than `degree`.
    fn random(&mut self, ring: &mut [u32], degree: usize, streams: &Streams) {
        let mut draws = streams.stream(Purpose("neighbours"), 0);
        // The ring keeps the graph connected, independent of later draws.
        ring.shuffle(&mut draws);
        self.ring(ring, 1);
        let mut open: Vec<u32> = ring.to_vec();
        let mut failures = 0;
        // The last few peers may all be neighbours of each other already: they then have too few links.
        while open.len() > 1 && failures < 100 {
            let (a, b) = (open[draws.random_range(0..open.len())], open[draws.random_range(0..open.len())]);
            failures = if self.join(a, b) { 0 } else { failures + 1 };
            open.retain(|peer| self.0[*peer as usize].len() < degree);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, System};

    #[test]
    fn every_peer_has_as_many_neighbours_as_it_should() {
        let (config, streams) = (Config::of_the_paper(System::P2p, 1, 1.0), Streams::new(5, 0));
        let world = World::draw(&config, &streams).expect("a valid configuration");
        let network = Network::new(&config.network, &config.readings, &world);
        let sites: Vec<SiteId> = world.servers().iter().map(|server| server.site).collect();
        for (neighbours, degree) in [(Neighbours::Geographic, 4), (Neighbours::Random4, 4), (Neighbours::Random8, 8)] {
            let overlay = Overlay::new(&sites, neighbours, (&world, &network), &streams);
            let lacking = overlay.neighbours.iter().filter(|found| found.len() != degree).count();
            // The last few of a random graph may find no free peer.
            assert!(lacking <= 4, "{neighbours:?}: {lacking} lack neighbours");
        }
    }
}
