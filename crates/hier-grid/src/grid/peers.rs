//! The P2P system: every server is a peer, requests flood the overlay, the nearest peer that can meet the deadline wins.
//!
//! A flood takes milliseconds and jobs take hours, so a flood is one event: peers answer with the backlog that they have when
//! the request enters the overlay. Every copy is counted, and shown to the witness.
//!
//! A request that nobody accepts is sent again every two minutes, for hours perhaps. Between two changes at a peer its
//! backlog only shrinks, at a known pace, so the first resubmission that can succeed is reckoned and those before it are
//! merely counted. `Peers::candidates` holds, for each peer, the waiting job whose resubmission it would accept first.

use super::requests::HOPS;
use super::{Event, Grid, Phase};
use crate::config::{Neighbours, PeerDeadline, PeerWaitEnds, Readings};
use crate::jobs::Submission;
use crate::message::{Address, Kind, Witness};
use crate::network::Network;
use crate::overlay::{Overlay, Reach, Scratch};
use crate::post::{Body, Letter};
use crate::world::{ServerId, StationId, World, narrow};
use sim_core::{Context, EventKey, JobId, SiteId, Span, Streams, Time};
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
    /// Numbers of CPUs of which there are servers, and for each peer which of these it has.
    widths: Vec<u32>,
    width_of: Vec<u32>,
    /// Jobs that nobody has accepted yet, by class.
    waiting: Vec<Crowd>,
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

/// Jobs of one class that nobody has accepted yet, in no order.
#[derive(Clone, Debug, Default)]
struct Crowd {
    jobs: Vec<Waiting>,
    /// For each of the widths of servers: the allowances of these jobs there.
    allowances: Vec<Vec<Allowance>>,
}

/// How much backlog a peer may have to accept a job; `None` if it never accepts it.
type Allowance = Option<Span>;

impl Crowd {
    fn push(&mut self, waiting: Waiting, allowances: &[Allowance]) {
        self.jobs.push(waiting);
        for (all, allowance) in self.allowances.iter_mut().zip(allowances) {
            all.push(*allowance);
        }
    }

    fn remove(&mut self, place: usize) {
        self.jobs.swap_remove(place);
        for all in &mut self.allowances {
            all.swap_remove(place);
        }
    }
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

/// How much a peer has to do, at an instant.
#[derive(Copy, Clone, Debug)]
struct Backlog {
    queued: Span,
    free_at: Time,
    now: Time,
    /// Whether every resubmission is tried.
    literal: bool,
}

impl Backlog {
    /// When the peer would first accept a resubmission of a job, if nothing else changes. `None` if never, or not before
    /// `best`.
    #[inline]
    fn acceptance(
        &self,
        waiting: &Waiting,
        allowance: Allowance,
        best: Option<(Time, JobId)>,
    ) -> Option<(Time, JobId)> {
        let allowed = allowance?;
        let from = if self.literal {
            self.now
        } else if self.queued > allowed {
            return None;
        } else {
            // Running it down to this leaves just what is allowed.
            let slack = allowed.saturating_sub(self.queued);
            Time::from_nanos(self.free_at.as_nanos().saturating_sub(slack.as_nanos())).max(self.now)
        };
        if best.is_some_and(|(best, _)| from > best) {
            return None;
        }
        let found = (waiting.time(waiting.next(from)), waiting.job);
        best.is_none_or(|best| found < best).then_some(found)
    }
}

impl Peers {
    pub(super) fn new(world: &World, network: &Network, readings: &Readings, streams: &Streams) -> Self {
        let neighbours: Neighbours = readings.neighbours;
        let sites: Vec<SiteId> = world.servers().iter().map(|server| server.site).collect();
        let mut widths: Vec<u32> = world.servers().iter().map(|server| server.cpus).collect();
        widths.sort_unstable();
        widths.dedup();
        let width = |cpus| narrow(widths.partition_point(|width| *width < cpus));
        let crowd = Crowd { jobs: Vec::new(), allowances: vec![Vec::new(); widths.len()] };
        Self {
            width_of: world.servers().iter().map(|server| width(server.cpus)).collect(),
            overlay: Overlay::new(&sites, neighbours, (world, network), streams),
            peers: vec![Peer::default(); world.servers().len()],
            waiting: vec![crowd; world.classes.len()],
            widths,
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
        let peers = narrow(self.peers.len());
        ServerId(if servers.is_empty() {
            servers.start % peers
        } else {
            servers.start + place % (servers.end - servers.start)
        })
    }

    /// Whether anybody waits or is queued.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.iter().all(|crowd| crowd.jobs.is_empty())
            && self.candidates.is_empty()
            && self.peers.iter().all(|peer| peer.queue.is_empty() && peer.queued.is_zero())
    }

    /// Every job that waits, or is queued at a peer.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobId> {
        let waiting = self.waiting.iter().flat_map(|crowd| &crowd.jobs).map(|waiting| waiting.job);
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

    /// What each of the widths of servers allows a job.
    fn allowances(&self, peers: &Peers, job: JobId) -> Vec<Allowance> {
        let ticket = self.jobs.get(job);
        let allowance = |width: &u32| {
            let own = ticket.estimate(f64::from(*width), self.speed());
            let base = match peers.deadline {
                PeerDeadline::OwnEstimate => own,
                PeerDeadline::MeanServer => ticket.estimate(peers.mean_cpus, self.speed()),
            };
            let deadline = base * DEADLINE;
            (deadline >= own).then(|| deadline.saturating_sub(own))
        };
        peers.widths.iter().map(allowance).collect()
    }

    /// Whether a peer accepts a job of the class now, with these allowances.
    #[inline]
    fn accepts(&self, peers: &Peers, peer: u32, (class, allowances): (u8, &[Allowance]), now: Time) -> bool {
        let Peer { queued, free_at, .. } = peers.peers[peer as usize];
        self.machines[peer as usize].bag.holds(class)
            && allowances[peers.width_of[peer as usize] as usize]
                .is_some_and(|allowed| free_at.saturating_since(now) + queued <= allowed)
    }

    /// A request comes in at its entry, and spreads.
    pub(super) fn flood(&mut self, entry: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        if self.spread(entry.0, job, cx) {
            return;
        }
        let class = self.jobs.get(job).class;
        let waiting = Waiting { job, since: cx.now(), tried: 0, entry: entry.0 };
        let mut peers = self.peers.take().expect("a P2P system");
        let allowances = self.allowances(&peers, job);
        peers.waiting[usize::from(class)].push(waiting, &allowances);
        for peer in 0..narrow(peers.peers.len()) {
            if !self.machines[peer as usize].bag.holds(class) {
                continue;
            }
            let Peer { queued, free_at, candidate, .. } = peers.peers[peer as usize];
            let backlog = Backlog { queued, free_at, now: cx.now(), literal: self.literal };
            let allowance = allowances[peers.width_of[peer as usize] as usize];
            let found = backlog.acceptance(&waiting, allowance, candidate);
            if found.is_some() {
                set_candidate(&mut peers, peer, found);
            }
        }
        self.peers = Some(peers);
        self.set_alarm(cx);
    }

    /// Floods the overlay with a request. Whether a peer has accepted it.
    fn spread(&mut self, entry: u32, job: JobId, cx: &mut impl Context<Event>) -> bool {
        let now = cx.now();
        let mut peers = self.peers.take().expect("a P2P system");
        let class = self.jobs.get(job).class;
        let allowances = self.allowances(&peers, job);
        let job_there = (class, allowances.as_slice());
        let few = peers.overlay.len() <= HOPS as usize;
        let mut copies = Vec::new();
        let (order, forwards) = if few && !W::LOOKS {
            // On the way to the nearest of all that accept there is none that accepts.
            peers.overlay.reach(entry, HOPS);
            let reach = peers.overlay.known_reach(entry);
            let nearest = reach.order.iter().find(|(peer, _)| self.accepts(&peers, *peer, job_there, now)).copied();
            let all = reach.forwards;
            let mut scratch = std::mem::take(&mut peers.scratch);
            let forwards = match nearest {
                None => all,
                Some(_) => {
                    let passes = |peer: u32| !self.accepts(&peers, peer, job_there, now);
                    let (forwards, accepting) = peers.overlay.count_forwards(entry, passes, &mut scratch);
                    self.tally.count_many(Kind::Accept, u64::from(accepting));
                    forwards
                }
            };
            peers.scratch = scratch;
            (nearest, forwards)
        } else if !W::LOOKS && !(0..narrow(peers.peers.len())).any(|peer| self.accepts(&peers, peer, job_there, now)) {
            // Not only those that the request reaches.
            (None, peers.overlay.forwards(entry, HOPS))
        } else {
            let passes = |peer: u32| !self.accepts(&peers, peer, job_there, now);
            let Reach { order, forwards } = peers.overlay.flood(entry, HOPS, passes, |copy| copies.push(copy));
            let accepting: Vec<_> =
                order.into_iter().filter(|(peer, _)| self.accepts(&peers, *peer, job_there, now)).collect();
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

    /// Finds the waiting job whose resubmission a peer would accept first.
    fn choose_candidate(&self, peers: &mut Peers, peer: u32, now: Time) {
        let Peer { queued, free_at, .. } = peers.peers[peer as usize];
        let backlog = Backlog { queued, free_at, now, literal: self.literal };
        let mut best = None;
        for class in self.machines[peer as usize].bag.classes() {
            let crowd = &peers.waiting[usize::from(class)];
            let allowances = &crowd.allowances[peers.width_of[peer as usize] as usize];
            for (waiting, allowance) in crowd.jobs.iter().zip(allowances) {
                best = backlog.acceptance(waiting, *allowance, best).or(best);
            }
        }
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
        let place = peers.waiting[class].jobs.iter().position(|waiting| waiting.job == job).expect("it waits");
        let Waiting { since, tried, entry, .. } = peers.waiting[class].jobs[place];
        let number = now.since(since).as_nanos() / RESUBMIT.as_nanos();
        self.count_resubmissions(&mut peers, (job, entry, since), tried..number);
        peers.waiting[class].jobs[place].tried = number;
        self.peers = Some(peers);
        if self.spread(entry, job, cx) {
            let mut peers = self.peers.take().expect("a P2P system");
            peers.waiting[class].remove(place);
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
        let forwards = peers.overlay.forwards(entry, HOPS);
        self.tally.count_many(Kind::Forward, forwards * times.saturating_sub(1));
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
            peers.overlay.flood(entry, HOPS, |_| true, |copy| copies.push(copy));
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
