//! Overlay networks for the forwarding of requests: peers, and the roots of the trees of a hybrid.

use crate::config::Neighbours;
use crate::network::Network;
use crate::world::{World, narrow};
use rand::RngExt;
use rand::seq::SliceRandom;
use sim_core::{Purpose, SiteId, Span, Streams};
use std::collections::VecDeque;

/// Number of times that a request may be forwarded ("P2P System").
pub(crate) const HOPS: u32 = 1000;

/// Connected graph of peers, each with its neighbours in order.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    neighbours: Vec<Vec<u32>>,
    /// Distinct latencies of hops; `hops` holds, for each neighbour, an index into them.
    latencies: Vec<Span>,
    hops: Vec<Vec<u8>>,
    /// Peers that a request reaches, by arrival, for each entry. Computed on first use.
    reach: Vec<Option<Reach>>,
    /// Number of times a request is forwarded if all peers forward it, for each entry. Computed on first use.
    forwards: Vec<Option<u64>>,
}

/// Spread of a request from one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Peers with the latency of the path to them, nearest first, beginning with the entry itself.
    pub(crate) order: Vec<(u32, Span)>,
    /// Number of times the request is forwarded: each peer passes it on to all neighbours except the one it came from.
    pub(crate) forwards: u64,
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
        let mut links = Links { neighbours: vec![Vec::new(); sites.len()] };
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
        let mut latencies = Vec::new();
        // There are four distances, so a hop is stored as a byte instead of a span: floods read millions of them.
        let mut hop = |from: SiteId, to: u32| {
            let latency = network.latency(world.distance(from, sites[to as usize]));
            let at = latencies.iter().position(|of| *of == latency).unwrap_or_else(|| {
                latencies.push(latency);
                latencies.len() - 1
            });
            u8::try_from(at).expect("four distances")
        };
        let of_peer = |(site, neighbours): (&SiteId, &Vec<u32>)| neighbours.iter().map(|to| hop(*site, *to)).collect();
        let hops = sites.iter().zip(&links.neighbours).map(of_peer).collect();
        let (reach, forwards) = (vec![None; sites.len()], vec![None; sites.len()]);
        Self { neighbours: links.neighbours, latencies, hops, reach, forwards }
    }

    pub(crate) fn len(&self) -> usize {
        self.neighbours.len()
    }

    pub(crate) fn neighbours(&self, peer: u32) -> &[u32] {
        &self.neighbours[peer as usize]
    }

    /// Returns the peers that a request reaches from `entry` if all forward it. Computed once for each entry.
    pub(crate) fn reach(&mut self, entry: u32, hops: u32) -> &Reach {
        if self.reach[entry as usize].is_none() {
            self.reach[entry as usize] = Some(self.flood(entry, hops, |_| true, |_| {}));
        }
        self.reach[entry as usize].as_ref().expect("just computed")
    }

    /// Returns the number of times a request is forwarded from `entry` if all peers forward it.
    pub(crate) fn forwards(&mut self, entry: u32, hops: u32) -> u64 {
        if self.len() <= hops as usize {
            // Hops never run out: every peer is reached, and forwards to all neighbours except the one it has the request from.
            let ends: u64 = self.neighbours.iter().map(|neighbours| neighbours.len() as u64).sum();
            return ends - (self.len() as u64 - 1);
        }
        if self.forwards[entry as usize].is_none() {
            let reach = self.flood(entry, hops, |_| true, |_| {});
            self.forwards[entry as usize] = Some(reach.forwards);
        }
        self.forwards[entry as usize].expect("just computed")
    }

    /// Spreads a request: each peer for which `forwards` is true passes the first copy that it gets to all neighbours except the one it
    /// came from, as long as there are hops left. `sends` receives each copy, in order of arrival.
    pub(crate) fn flood(
        &self,
        entry: u32,
        hops: u32,
        mut forwards: impl FnMut(u32) -> bool,
        mut sends: impl FnMut(ForwardedCopy),
    ) -> Reach {
        let mut found = Reach::default();
        let mut reached = vec![false; self.len()];
        // The entry itself is the first wave, at latency zero.
        let mut coming = CopiesInFlight {
            lanes: vec![VecDeque::new(); self.latencies.len()],
            wave: vec![Arrival { peer: entry, from: entry, hops }],
        };
        let mut latency = Span::ZERO;
        loop {
            // Dijkstra's algorithm: the first copy that arrives counts.
            // The wave is taken out so that copies can be sent during the loop, and put back to be reused.
            let wave = std::mem::take(&mut coming.wave);
            for &Arrival { peer, from, hops } in &wave {
                if std::mem::replace(&mut reached[peer as usize], true) {
                    continue;
                }
                found.order.push((peer, latency));
                // A peer that accepts does not forward.
                if hops == 0 || !forwards(peer) {
                    continue;
                }
                let neighbours = self.neighbours(peer).iter().zip(&self.hops[peer as usize]);
                for (&to, &lane) in neighbours.filter(|(to, _)| **to != from || peer == entry) {
                    let hop = self.latencies[usize::from(lane)];
                    found.forwards += 1;
                    sends(ForwardedCopy { from: peer, to, sent: latency, hop, hops: hops - 1 });
                    // A copy for a peer that has had one is counted, and dropped on arrival: it need not travel.
                    if !reached[to as usize] {
                        let arrival = Arrival { peer: to, from: peer, hops: hops - 1 };
                        coming.lanes[usize::from(lane)].push_back((latency + hop, arrival));
                    }
                }
            }
            coming.wave = wave;
            match coming.next_wave() {
                Some(at) => latency = at,
                None => return found,
            }
        }
    }
}

/// Arrival of a copy of a request. The order is that of copies that arrive at the same instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    peer: u32,
    from: u32,
    hops: u32,
}

/// Copies on their way, by arrival. Hops have few distinct latencies, and copies with the same latency arrive in
/// the order in which they were sent: one lane per latency needs no sorting.
#[derive(Debug)]
struct CopiesInFlight {
    lanes: Vec<VecDeque<(Span, Arrival)>>,
    /// Copies that arrive next, all at the same instant.
    wave: Vec<Arrival>,
}

impl CopiesInFlight {
    /// Fills the wave, and returns its arrival time.
    fn next_wave(&mut self) -> Option<Span> {
        let at = self.lanes.iter().filter_map(|lane| Some(lane.front()?.0)).min()?;
        self.wave.clear();
        for lane in &mut self.lanes {
            while let Some((_, arrival)) = lane.pop_front_if(|(next, _)| *next == at) {
                self.wave.push(arrival);
            }
        }
        // Ties of one instant by receiver and sender, so that the outcome does not depend on the data structure.
        self.wave.sort_unstable();
        Some(at)
    }
}

struct Links {
    neighbours: Vec<Vec<u32>>,
}

impl Links {
    fn join(&mut self, a: u32, b: u32) -> bool {
        if a == b || self.neighbours[a as usize].contains(&b) {
            return false;
        }
        self.neighbours[a as usize].push(b);
        self.neighbours[b as usize].push(a);
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
            open.retain(|peer| self.neighbours[*peer as usize].len() < degree);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, System};
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    fn overlay(neighbours: Neighbours) -> (Overlay, World, Network) {
        let config = Config::of_the_paper(System::P2p, 1, 1.0);
        let streams = Streams::new(5, 0);
        let world = World::draw(&config, &streams).expect("a valid configuration");
        let network = Network::new(&config.network, &config.readings, &world);
        let sites: Vec<SiteId> = world.servers().iter().map(|server| server.site).collect();
        (Overlay::new(&sites, neighbours, (&world, &network), &streams), world, network)
    }

    #[test]
    fn every_peer_has_as_many_neighbours_as_it_should() {
        for (neighbours, degree) in [(Neighbours::Geographic, 4), (Neighbours::Random4, 4), (Neighbours::Random8, 8)] {
            let (overlay, ..) = overlay(neighbours);
            let degrees = (0..520).map(|peer| overlay.neighbours(peer).len());
            let lacking = degrees.clone().filter(|found| *found < degree).count();
            // The last few of a random graph may find no free peer.
            assert!(degrees.max() == Some(degree) && lacking <= 4, "{neighbours:?}: {lacking} lack neighbours");
        }
    }

    /// Same flood with a heap of all copies, ordered by arrival, receiver and sender.
    fn flood_with_a_heap(
        (overlay, world, network): &(Overlay, World, Network),
        (entry, hops): (u32, u32),
        forwards: impl Fn(u32) -> bool,
        sends: &mut Vec<(u32, u32, Span, u32)>,
    ) -> (Vec<(u32, Span)>, u64) {
        let mut order: Vec<(u32, Span)> = Vec::new();
        let mut coming = BinaryHeap::from([Reverse((Span::ZERO, entry, entry, hops))]);
        while let Some(Reverse((latency, peer, from, hops))) = coming.pop() {
            if order.iter().any(|(reached, _)| *reached == peer) {
                continue;
            }
            order.push((peer, latency));
            if hops == 0 || !forwards(peer) {
                continue;
            }
            for &to in overlay.neighbours(peer).iter().filter(|to| **to != from || peer == entry) {
                let [a, b] = [peer, to].map(|peer| world.servers()[peer as usize].site);
                sends.push((peer, to, latency, hops - 1));
                coming.push(Reverse((latency + network.latency(world.distance(a, b)), to, peer, hops - 1)));
            }
        }
        (order, sends.len() as u64)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Peers that a request reaches, with time and predecessor.
        #[test]
        fn lanes_give_the_order_that_a_heap_gives(
            neighbours in prop::sample::select(vec![Neighbours::Geographic, Neighbours::Random4, Neighbours::Random8]),
            stops in prop::collection::vec(0..520_u32, 0..200),
            (entry, hops) in (0..520_u32, prop_oneof![0..20_u32, Just(1000)]),
        ) {
            let mut of = overlay(neighbours);
            let forwards = |peer: u32| !stops.contains(&peer);
            let (mut sends, mut obvious) = (Vec::new(), Vec::new());
            let send = |copy: ForwardedCopy| sends.push((copy.from, copy.to, copy.sent, copy.hops));
            let flood = of.0.flood(entry, hops, forwards, send);
            prop_assert_eq!((flood.order, flood.forwards), flood_with_a_heap(&of, (entry, hops), forwards, &mut obvious));
            prop_assert_eq!(sends, obvious);
            let all = flood_with_a_heap(&of, (entry, hops), |_| true, &mut Vec::new()).1;
            prop_assert_eq!(of.0.forwards(entry, hops), all);
        }
    }
}
