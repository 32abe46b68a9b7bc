//! The P2P system: every server is a peer, requests flood the overlay, the nearest peer that can meet the deadline wins.
//!
//! A flood takes milliseconds and jobs take hours, so a flood is one event: peers answer with the backlog that they have when
//! the request enters the overlay. Every copy is counted, and shown to the witness.
//!
//! A request that nobody accepts is sent again every two minutes, for hours perhaps. Between two changes at a peer its
//! backlog only shrinks, at a known pace, so the first resubmission that can succeed is reckoned and those before it are
//! merely counted. `Peers::candidates` holds, for each peer, the waiting job whose resubmission it would accept first.

use super::{Event, Grid, HOPS, Phase};
use crate::config::{Neighbours, PeerDeadline, PeerWaitEnds, Readings};
use crate::jobs::Submission;
use crate::message::{Address, Kind, Witness};
use crate::overlay::{Overlay, Reach, Scratch};
use crate::post::{Body, Letter};
use crate::world::{ServerId, StationId, World};
use sim_core::{Context, EventKey, JobId, Span, Streams, Time};
use std::collections::{BTreeSet, VecDeque};

/// Without an offer a work station resubmits after this.
const RESUBMIT: Span = Span::from_secs(120);
/// A deadline is so many times an estimate.
const DEADLINE: u64 = 3;

/// All peers.
#[derive(Clone, Debug)]
pub(super) struct Peers {
    overlay: Overlay,
    peers: Vec<Peer>,
    /// Jobs that nobody has accepted yet, by class, in no order.
    waiting: Vec<Vec<Waiting>>,
    /// The next resubmission that each peer would accept.
    candidates: BTreeSet<(Time, JobId, u32)>,
    alarm: Option<(Time, EventKey)>,
    deadline: PeerDeadline,
    mean_cpus: f64,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Peer {
    queue: VecDeque<JobId>,
    /// Estimates of all jobs that it has accepted and not yet offered itself to.
    queued: Span,
    /// When it expects to have run what it runs.
    free_at: Time,
    candidate: Option<(Time, JobId)>,
}

#[derive(Copy, Clone, Debug)]
struct Waiting {
    job: JobId,
    /// When its first request came in at the entry.
    since: Time,
    /// Resubmissions that have been counted.
    tried: u64,
    entry: u32,
}

impl Waiting {
    /// The number of its first resubmission at or after `at`.
    const fn next(&self, at: Time) -> u64 {
        let number = at.saturating_since(self.since).as_nanos().div_ceil(RESUBMIT.as_nanos());
        if number > self.tried { number } else { self.tried + 1 }
    }

    fn time(&self, number: u64) -> Time {
        self.since + RESUBMIT * number
    }
}

impl Peers {
    pub(super) fn new(world: &World, readings: &Readings, streams: &Streams) -> Self {
        let neighbours: Neighbours = readings.neighbours;
        let sites = world.servers().iter().map(|server| server.site).collect();
        Self {
            overlay: Overlay::new(sites, neighbours, streams),
            peers: vec![Peer::default(); world.servers().len()],
            waiting: vec![Vec::new(); world.classes.len()],
            candidates: BTreeSet::new(),
            alarm: None,
            deadline: readings.peer_deadline,
            mean_cpus: world.mean_cpus(),
            scratch: Scratch::default(),
        }
    }

    /// A work station enters at a fixed peer of its site; where there is none, at the next one.
    pub(super) fn entry(&self, world: &World, station: StationId) -> ServerId {
        let site = world.site_of(station);
        let servers = world.servers_at(site);
        let place = station.0 - world.stations_at(site).start;
        let peers = crate::world::narrow(self.peers.len());
        ServerId(if servers.is_empty() {
            servers.start % peers
        } else {
            servers.start + place % (servers.end - servers.start)
        })
    }

    /// Whether anybody waits or is queued.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.iter().all(Vec::is_empty)
            && self.candidates.is_empty()
            && self.peers.iter().all(|peer| peer.queue.is_empty() && peer.queued.is_zero())
    }

    /// Every job that waits, or is queued at a peer.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobId> {
        let waiting = self.waiting.iter().flatten().map(|waiting| waiting.job);
        waiting.chain(self.peers.iter().flat_map(|peer| peer.queue.iter().copied()))
    }
}

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    fn crowd(&mut self) -> &mut Peers {
        self.peers.as_mut().expect("a P2P system")
    }

    fn peer_estimate(&self, peer: u32, job: JobId) -> Span {
        self.jobs.get(job).estimate(f64::from(self.machines[peer as usize].cpus), self.speed())
    }

    /// How much backlog a peer may have to accept a job; `None` if it never accepts it.
    #[inline]
    fn allowance(&self, peers: &Peers, peer: u32, job: JobId) -> Option<Span> {
        let own = self.peer_estimate(peer, job);
        let base = match peers.deadline {
            PeerDeadline::OwnEstimate => own,
            PeerDeadline::MeanServer => self.jobs.get(job).estimate(peers.mean_cpus, self.speed()),
        };
        let deadline = base * DEADLINE;
        (deadline >= own).then(|| deadline.saturating_sub(own))
    }

    fn accepts(&self, peers: &Peers, peer: u32, job: JobId, now: Time) -> bool {
        let Peer { queued, free_at, .. } = peers.peers[peer as usize];
        self.machines[peer as usize].bag.holds(self.jobs.get(job).class)
            && self.allowance(peers, peer, job).is_some_and(|allowed| free_at.saturating_since(now) + queued <= allowed)
    }

    /// A request comes in at its entry, and spreads.
    pub(super) fn flood(&mut self, entry: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        if self.spread(entry.0, job, cx) {
            return;
        }
        let class = usize::from(self.jobs.get(job).class);
        let waiting = Waiting { job, since: cx.now(), tried: 0, entry: entry.0 };
        self.crowd().waiting[class].push(waiting);
        let mut peers = self.peers.take().expect("a P2P system");
        for peer in 0..crate::world::narrow(peers.peers.len()) {
            if let Some(time) = self.acceptance(&peers, peer, &waiting, cx.now()) {
                let better = peers.peers[peer as usize].candidate.is_none_or(|candidate| (time, job) < candidate);
                if better {
                    set_candidate(&mut peers, peer, Some((time, job)));
                }
            }
        }
        self.peers = Some(peers);
        self.set_alarm(cx);
    }

    /// Floods the overlay with a request. Whether a peer has accepted it.
    fn spread(&mut self, entry: u32, job: JobId, cx: &mut impl Context<Event>) -> bool {
        let now = cx.now();
        let mut peers = self.peers.take().expect("a P2P system");
        let few = peers.overlay.len() <= HOPS as usize;
        let mut copies = Vec::new();
        let (order, forwards) = if few && !W::LOOKS {
            // On the way to the nearest of all that accept there is none that accepts.
            let reach = peers.overlay.reach(entry, HOPS, &self.world, &self.network);
            let (all, order) = (reach.forwards, reach.order.clone());
            let nearest = order.iter().find(|(peer, _)| self.accepts(&peers, *peer, job, now)).copied();
            let mut scratch = std::mem::take(&mut peers.scratch);
            let forwards = match nearest {
                None => all,
                Some(_) => {
                    let passes = |peer: u32| !self.accepts(&peers, peer, job, now);
                    let (forwards, accepting) = peers.overlay.count_forwards(entry, passes, &mut scratch);
                    self.tally.count_many(Kind::Accept, u64::from(accepting));
                    forwards
                }
            };
            peers.scratch = scratch;
            (nearest, forwards)
        } else {
            let passes = |peer: u32| !self.accepts(&peers, peer, job, now);
            let Reach { order, forwards } =
                peers.overlay.flood(entry, HOPS, &self.world, &self.network, passes, |copy| copies.push(copy));
            let accepting: Vec<_> =
                order.into_iter().filter(|(peer, _)| self.accepts(&peers, *peer, job, now)).collect();
            let station = Address::Station(self.jobs.get(job).station);
            for copy in std::mem::take(&mut copies) {
                let body = Body::Forward { job, hops: copy.hops };
                let address = |peer: u32| Address::Server(ServerId(peer));
                self.show(now + copy.sent, copy.hop, address(copy.from), address(copy.to), body);
            }
            for (peer, latency) in &accepting {
                let peer = Address::Server(ServerId(*peer));
                self.note(now + *latency, self.latency(peer, station), peer, station, Body::Accept { job });
            }
            (accepting.first().copied(), forwards)
        };
        self.tally.count_many(Kind::Forward, forwards);
        let Some((winner, latency)) = order else {
            self.peers = Some(peers);
            return false;
        };
        // Its place in the queue is kept from now on.
        let estimate = self.peer_estimate(winner, job);
        peers.peers[winner as usize].queued += estimate;
        self.choose_candidate(&mut peers, winner, now);
        self.peers = Some(peers);
        let station = Address::Station(self.jobs.get(job).station);
        let peer = Address::Server(ServerId(winner));
        let back = self.latency(peer, station);
        self.note(now + latency + back, back, station, peer, Body::Confirm { job });
        let confirm = Letter { from: station, to: peer, body: Body::Confirm { job } };
        self.dispatch(confirm, latency + back + back, cx);
        self.set_alarm(cx);
        true
    }

    /// The work station has confirmed: the job joins the queue.
    pub(super) fn peer_queues(&mut self, peer: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        if !self.machines[peer.index()].bag.holds(self.jobs.get(job).class) {
            self.decline(peer, job, cx);
            return;
        }
        if self.config.readings.peer_wait_ends == PeerWaitEnds::Acceptance {
            self.tell_start(peer, job, cx);
        }
        self.crowd().peers[peer.index()].queue.push_back(job);
        if self.machines[peer.index()].phase == Phase::Idle {
            self.peer_free(peer, cx);
        }
    }

    /// A peer is idle: it offers itself to the first job of its queue.
    pub(super) fn peer_free(&mut self, peer: ServerId, cx: &mut impl Context<Event>) {
        let at = &mut self.crowd().peers[peer.index()];
        at.free_at = cx.now();
        if let Some(job) = at.queue.pop_front() {
            let estimate = self.peer_estimate(peer.0, job);
            let at = &mut self.crowd().peers[peer.index()];
            at.queued = at.queued.saturating_sub(estimate);
            at.free_at = cx.now() + estimate;
            self.offer(peer, job, cx);
        }
        self.peer_has_changed(peer.0, cx);
    }

    /// A peer has the input of a job and begins to run it.
    pub(super) fn peer_runs(&mut self, peer: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let estimate = self.peer_estimate(peer.0, job);
        self.crowd().peers[peer.index()].free_at = cx.now() + estimate;
        self.peer_has_changed(peer.0, cx);
    }

    /// A peer offers another operating system: queued jobs that it can no longer run go back to their work stations.
    pub(super) fn peer_changed(&mut self, peer: ServerId, cx: &mut impl Context<Event>) {
        let bag = self.machines[peer.index()].bag;
        let queue = std::mem::take(&mut self.crowd().peers[peer.index()].queue);
        let (stay, go): (Vec<_>, Vec<_>) = queue.into_iter().partition(|job| bag.holds(self.jobs.get(*job).class));
        self.crowd().peers[peer.index()].queue = stay.into();
        for job in go {
            self.decline(peer, job, cx);
        }
        self.peer_has_changed(peer.0, cx);
    }

    fn decline(&mut self, peer: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let estimate = self.peer_estimate(peer.0, job);
        let at = &mut self.crowd().peers[peer.index()];
        at.queued = at.queued.saturating_sub(estimate);
        let station = Address::Station(self.jobs.get(job).station);
        self.send(Address::Server(peer), station, Body::Decline { job }, cx);
        self.peer_has_changed(peer.0, cx);
    }

    /// When a peer would first accept a resubmission of a job, if nothing else changes.
    #[inline]
    fn acceptance(&self, peers: &Peers, peer: u32, waiting: &Waiting, now: Time) -> Option<Time> {
        if !self.machines[peer as usize].bag.holds(self.jobs.get(waiting.job).class) {
            return None;
        }
        let Peer { queued, free_at, .. } = peers.peers[peer as usize];
        let allowed = self.allowance(peers, peer, waiting.job)?;
        if self.literal {
            return Some(waiting.time(waiting.next(now)));
        }
        if queued > allowed {
            return None;
        }
        // Running it down to this leaves just what is allowed.
        let slack = allowed.saturating_sub(queued);
        let from = Time::from_nanos(free_at.as_nanos().saturating_sub(slack.as_nanos())).max(now);
        Some(waiting.time(waiting.next(from)))
    }

    /// Finds the waiting job whose resubmission a peer would accept first.
    fn choose_candidate(&self, peers: &mut Peers, peer: u32, now: Time) {
        let classes = self.machines[peer as usize].bag.classes();
        let waiting = classes.flat_map(|class| &peers.waiting[usize::from(class)]);
        let best = waiting.filter_map(|waiting| Some((self.acceptance(peers, peer, waiting, now)?, waiting.job))).min();
        set_candidate(peers, peer, best);
    }

    fn peer_has_changed(&mut self, peer: u32, cx: &mut impl Context<Event>) {
        let mut peers = self.peers.take().expect("a P2P system");
        self.choose_candidate(&mut peers, peer, cx.now());
        self.peers = Some(peers);
        self.set_alarm(cx);
    }

    fn set_alarm(&mut self, cx: &mut impl Context<Event>) {
        let peers = self.crowd();
        let next = peers.candidates.first().map(|(time, ..)| *time);
        if peers.alarm.map(|(time, _)| time) == next {
            return;
        }
        if let Some((_, key)) = peers.alarm.take() {
            cx.cancel(key);
        }
        peers.alarm = next.map(|time| (time, cx.post_at(time, Event::Resubmit)));
    }

    /// A resubmission that a peer will accept: those before it are counted.
    pub(super) fn resubmit(&mut self, cx: &mut impl Context<Event>) {
        let now = cx.now();
        let peers = self.crowd();
        peers.alarm = None;
        let &(_, job, _) = peers.candidates.first().expect("the alarm was set for it");
        let class = usize::from(self.jobs.get(job).class);
        let mut peers = self.peers.take().expect("a P2P system");
        let place = peers.waiting[class].iter().position(|waiting| waiting.job == job).expect("it waits");
        let Waiting { since, tried, entry, .. } = peers.waiting[class][place];
        let number = now.since(since).as_nanos() / RESUBMIT.as_nanos();
        self.count_resubmissions(&mut peers, (job, entry, since), tried..number);
        peers.waiting[class][place].tried = number;
        self.peers = Some(peers);
        if self.spread(entry, job, cx) {
            let mut peers = self.peers.take().expect("a P2P system");
            peers.waiting[class].swap_remove(place);
            let stale: Vec<u32> =
                peers.candidates.iter().filter(|(_, of, _)| *of == job).map(|(.., peer)| *peer).collect();
            for peer in stale {
                self.choose_candidate(&mut peers, peer, now);
            }
            self.peers = Some(peers);
        } else {
            // The peer lies beyond the request's hops; or nothing but a try would tell.
            let mut peers = self.peers.take().expect("a P2P system");
            let hopeful: Vec<u32> =
                peers.candidates.iter().filter(|(_, of, _)| *of == job).map(|(.., peer)| *peer).collect();
            for peer in hopeful {
                self.choose_candidate(&mut peers, peer, now);
            }
            self.peers = Some(peers);
        }
        self.set_alarm(cx);
    }

    /// Counts resubmissions `tried + 1 ..= number` of a job: all but the last were in vain, and flooded the whole overlay.
    fn count_resubmissions(
        &mut self,
        peers: &mut Peers,
        (job, entry, since): (JobId, u32, Time),
        numbers: std::ops::Range<u64>,
    ) {
        let times = numbers.end - numbers.start;
        self.tally.resubmitted += times;
        let reach = peers.overlay.reach(entry, HOPS, &self.world, &self.network);
        self.tally.count_many(Kind::Forward, reach.forwards * times.saturating_sub(1));
        if !W::LOOKS {
            self.tally.count_many(Kind::Request, times);
            return;
        }
        let station = Address::Station(self.jobs.get(job).station);
        let to = Address::Server(ServerId(entry));
        let latency = self.latency(station, to);
        for number in numbers.start + 1..=numbers.end {
            let at = since + RESUBMIT * number;
            let sent = Time::from_nanos(at.as_nanos() - latency.as_nanos());
            self.note(sent, latency, station, to, Body::Request { job, hops: HOPS });
            if number == numbers.end {
                break;
            }
            let mut copies = Vec::new();
            peers.overlay.flood(entry, HOPS, &self.world, &self.network, |_| true, |copy| copies.push(copy));
            for copy in copies {
                let address = |peer: u32| Address::Server(ServerId(peer));
                self.show(
                    at + copy.sent,
                    copy.hop,
                    address(copy.from),
                    address(copy.to),
                    Body::Forward { job, hops: copy.hops },
                );
            }
        }
    }

    /// Shows the witness a message that is counted elsewhere.
    fn show(&mut self, sent: Time, latency: Span, from: Address, to: Address, body: Body) {
        if W::LOOKS {
            let payload = body.payload(&self.pools);
            self.witness.see(crate::message::Message { sent, arrives: sent + latency, from, to, payload });
        }
    }
}

fn set_candidate(peers: &mut Peers, peer: u32, candidate: Option<(Time, JobId)>) {
    let at = &mut peers.peers[peer as usize].candidate;
    if let Some((time, job)) = at.take() {
        peers.candidates.remove(&(time, job, peer));
    }
    *at = candidate;
    if let Some((time, job)) = candidate {
        peers.candidates.insert((time, job, peer));
    }
}
