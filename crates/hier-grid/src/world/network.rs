//! The network: latencies of messages and durations of flows ("Communication Model").
//!
//! A message takes the latency between two sites. A flow takes the latency plus bytes / rate. Its rate is at most a TCP window
//! per round trip, and at most its part of every link on its path. A link is shared by the flows of both directions.

use crate::config::{FlowRates, LinkContention, NetworkConfig, Readings};
use crate::world::{Distance, Places, World, narrow};
use sim_core::{SiteId, Span, Time};
use std::iter::repeat_n;

#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Numbers of sites and nets in all.
    sites: u32,
    nets: u32,
    places: Places,
    latency: [Span; 4],
    /// Window over round trip, in bytes per second, by distance.
    window_rate: [f64; 4],
    contention: bool,
    /// Bytes per second of each link: inside of each site, link of each site, link of each net, pairs of backbones.
    capacity: Vec<f64>,
    /// Flows on each link, if rates are fixed at the start.
    flows: Vec<u32>,
    /// R16: flows whose rates are recomputed at each change, keyed by the numbers of the grid's own slab, which is filled and
    /// emptied at the same moments. `None` if rates are fixed at the start.
    shared: Option<slab::Slab<Flow>>,
}

pub(crate) type Route = (SiteId, SiteId, Distance);

impl Network {
    pub(crate) fn new(config: &NetworkConfig, readings: &Readings, world: &World) -> Self {
        let NetworkConfig { site_latency, latency_per_km, kilometres: [net, backbone, across], .. } = *config;
        // Latency grows with the cable; every message adds that of its site.
        let seconds = [0.0, net, backbone, across].map(|km| site_latency + latency_per_km * km);
        let Places { backbones, nets, .. } = world.places;
        let (sites, nets) = (world.sites(), backbones * nets);
        let links = [
            (sites, config.inside_link),
            (sites + nets, config.site_link),
            (backbones * backbones, config.backbone_link),
        ];
        // Share of every link that the rest of the Internet leaves.
        let share = 1.0 - config.foreign_load;
        let capacity: Vec<f64> =
            links.into_iter().flat_map(|(links, bytes)| repeat_n(share * bytes, links as usize)).collect();
        let contention = readings.link_contention == LinkContention::On;
        let is_shared = contention && readings.flow_rates == FlowRates::ReShared;
        Self {
            sites,
            nets,
            places: world.places,
            latency: seconds.map(Span::from_secs_f64),
            window_rate: seconds.map(|latency| config.window / (2.0 * latency)),
            contention,
            flows: vec![0; capacity.len()],
            capacity,
            shared: is_shared.then(slab::Slab::new),
        }
    }

    /// One-way latency between two sites at this distance.
    #[inline]
    pub(crate) const fn latency(&self, distance: Distance) -> Span {
        self.latency[distance as usize]
    }

    /// Links between two sites: at most the two sites', the two nets' and that between their backbones.
    fn path(&self, (SiteId(a), SiteId(b), distance): Route) -> Vec<u32> {
        // Links are numbered kind by kind: the insides of sites, links of sites, links of nets, pairs of backbones.
        let site = |site: u32| self.sites + site;
        let net = |site: u32| 2 * self.sites + site / self.places.sites;
        let backbone = |site: u32| site / self.places.sites / self.places.nets;
        match distance {
            Distance::SameSite => vec![a],
            Distance::SameNet => vec![site(a), site(b)],
            Distance::SameBackbone => vec![site(a), site(b), net(a), net(b)],
            Distance::Across => {
                // Both directions share the link between two backbones: a pair has one number.
                let (low, high) = (backbone(a).min(backbone(b)), backbone(a).max(backbone(b)));
                let pair = 2 * self.sites + self.nets + low * self.places.backbones + high;
                vec![site(a), site(b), net(a), net(b), pair]
            }
        }
    }

    /// Begins a flow and returns its duration. It counts on its links until [`close`](Self::close).
    ///
    /// `None` if its rate changes with the others': [`reshare`](Self::reshare) reports the end of each flow.
    pub(crate) fn open(&mut self, flow: u32, route: Route, bytes: u64, now: Time) -> Option<Span> {
        let (path, bytes) = (self.path(route), bytes as f64);
        // A TCP connection never has more than one window under way: its rate is at most window / round trip,
        // independent of the width of the links.
        let window = self.window_rate[route.2 as usize];
        let latency = self.latency(route.2);
        if let Some(shared) = &mut self.shared {
            let number =
                shared.insert(Flow { path, window, latency, left: bytes, rate: 0.0, since: now, timed: false });
            assert_eq!(number, flow as usize, "both slabs of flows are filled and emptied alike");
            return None;
        }
        // The rate is fixed when the flow begins (R16, first answer): later flows count it, and do not slow it down.
        let mut rate = window;
        for link in path {
            let flows = &mut self.flows[link as usize];
            *flows += 1;
            let flows = if self.contention { f64::from(*flows) } else { 1.0 };
            rate = rate.min(self.capacity[link as usize] / flows);
        }
        Some(latency + Span::from_secs_f64(bytes / rate))
    }

    pub(crate) fn close(&mut self, flow: u32, route: Route) {
        if let Some(shared) = &mut self.shared {
            shared.remove(flow as usize);
            return;
        }
        for link in self.path(route) {
            self.flows[link as usize] -= 1;
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.flows.iter().all(|flows| *flows == 0) && self.shared.as_ref().is_none_or(slab::Slab::is_empty)
    }

    /// R16: shares all links again, max-min fair, and calls `ends` with each flow whose rate has changed and its end.
    ///
    /// Progressive filling: the flow with the least fair share is settled first, and leaves the rest to the others.
    pub(crate) fn reshare(&mut self, now: Time, mut ends: impl FnMut(u32, Time)) {
        let Some(shared) = &mut self.shared else { return };
        // Bytes sent since the last change, at the old rates; new rates for the rest follow.
        let mut left = self.capacity.clone();
        let mut users = vec![0_u32; left.len()];
        let mut open: Vec<usize> = Vec::with_capacity(shared.len());
        for (number, flow) in &mut *shared {
            flow.left = (flow.left - flow.rate * now.since(flow.since).as_secs_f64()).max(0.0);
            flow.since = now;
            if flow.left < HALF_A_BYTE {
                // All bytes have been sent, and the last one is on its way.
                if !std::mem::replace(&mut flow.timed, true) {
                    ends(narrow(number), now + flow.latency);
                }
                flow.rate = 0.0;
                continue;
            }
            open.push(number);
            for &link in &flow.path {
                users[link as usize] += 1;
            }
        }
        // Invariant: `left` is the capacity that settled flows leave of each link, `users` the number of open flows that share it.
        // Each turn settles at least one flow, the one with the least share.
        while !open.is_empty() {
            // Rate of a flow if every link on its path were shared equally by its open flows.
            let fair = |number: &usize, left: &[f64], users: &[u32]| {
                let flow = &shared[*number];
                let links = flow.path.iter();
                links.map(|&link| left[link as usize] / f64::from(users[link as usize])).fold(flow.window, f64::min)
            };
            let least = open.iter().map(|number| fair(number, &left, &users)).fold(f64::INFINITY, f64::min);
            // All flows at the bottleneck at once, despite rounding differences.
            let (settled, others): (Vec<usize>, Vec<usize>) =
                open.iter().partition(|number| fair(number, &left, &users) <= least * (1.0 + 1e-9));
            for number in settled {
                let flow = &mut shared[number];
                for &link in &flow.path {
                    users[link as usize] -= 1;
                    left[link as usize] = (left[link as usize] - least).max(0.0);
                }
                // An end moves only if the rate has changed: every move costs two events of the calendar.
                let changed = flow.rate.to_bits() != least.to_bits();
                flow.rate = least;
                if changed {
                    flow.timed = true;
                    ends(narrow(number), now + flow.latency + Span::from_secs_f64(flow.left / least));
                }
            }
            open = others;
        }
    }
}

/// Flow whose rate is recomputed at each change.
#[derive(Clone, Debug)]
struct Flow {
    path: Vec<u32>,
    window: f64,
    latency: Span,
    left: f64,
    rate: f64,
    since: Time,
    /// True if its end is known.
    timed: bool,
}

/// Bytes below which a flow counts as empty.
const HALF_A_BYTE: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::shape::Shape;

    /// A network, and the routes from its first site to itself, to its net, to its backbone and to the other one.
    fn network(readings: &Readings) -> (Network, [Route; 4]) {
        let (places, servers) = (Places { backbones: 2, nets: 2, sites: 2 }, vec![vec![(64, 1)]; 8]);
        let world = World::explicit(places, &servers, &[1; 8], Shape::levels(&[2, 2, 2])).expect("a valid world");
        let to = |site| (SiteId(0), SiteId(site), world.distance(SiteId(0), SiteId(site)));
        (Network::new(&NetworkConfig::of_the_paper(), readings, &world), [0, 1, 2, 4].map(to))
    }

    fn assert_near(found: [f64; 2], expected: [f64; 2]) {
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3), "{found:?}");
    }

    #[test]
    fn a_flow_is_bound_by_its_window_or_by_its_part_of_the_narrowest_link_when_it_begins() {
        let (mut network, routes) = network(&Readings::default());
        // Alone: 90 MB/s inside the site, 17.4375 MB/s over its link, 64 KiB / 12.2 ms across backbones. Two share a link.
        let expected = [[11.1112, 22.2223], [57.3483, 114.6959], [57.3488, 114.6964], [186.1634, 186.1634]];
        for ((route, latency), expected) in routes.into_iter().zip([100, 600, 1_100, 6_100]).zip(expected) {
            assert_eq!(network.latency(route.2), Span::from_nanos(latency * 1_000));
            let lasts = [0, 1].map(|flow| network.open(flow, route, 1_000_000_000, Time::ZERO));
            assert_near(lasts.map(|span| span.expect("rates are fixed").as_secs_f64()), expected);
            (0..2).for_each(|flow| network.close(flow, route));
        }
        assert!(network.is_idle());
    }

    #[test]
    fn recomputed_rates_use_what_other_transfers_leave() {
        let readings = Readings { flow_rates: FlowRates::ReShared, ..Readings::default() };
        // Both share the site's link of 17.4375 MB/s: equally, or the first needs 64 KiB / 12.2 ms of it. At its end the other has all.
        for (first, bytes, until, both, alone) in [
            (1, [174_375_000, 523_125_000], 20, [20.0006, 60.0006], 40.0006),
            (3, [53_718_033, 361_970_902], 10, [10.0061, 30.0006], 23.8394),
        ] {
            let (mut network, routes) = network(&readings);
            let (routes, mut end) = ([routes[first], routes[1]], [0.0; 2]);
            for flow in [0, 1] {
                assert_eq!(network.open(flow, routes[flow as usize], bytes[flow as usize], Time::ZERO), None);
            }
            network.reshare(Time::ZERO, |flow, at| end[flow as usize] = at.as_secs_f64());
            assert_near(end, both);
            network.close(0, routes[0]);
            network.reshare(Time::from_secs(until), |flow, at| end[flow as usize] = at.as_secs_f64());
            assert_near(end, [both[0], alone]);
            network.close(1, routes[1]);
            assert!(network.is_idle());
        }
    }
}
