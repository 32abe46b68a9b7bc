//! The P2P system: every server is a peer, requests flood the overlay, the nearest peer that can meet the deadline wins.
//!
//! A flood takes milliseconds and jobs take hours, so a flood is one event: peers answer with their backlog at the time
//! of the request's entry into the overlay. Every copy is counted, and shown to the observer.
//!
//! A request that no peer accepts is sent again every two minutes, possibly for hours. Between two changes at a peer its
//! backlog only shrinks, at a known rate. The first resubmission that can succeed is therefore computed, and those before it are
//! only counted. `Peers::candidates` holds, for each peer, the unaccepted job whose resubmission it would accept first. The
//! earliest of all is the next event.

mod flood;

use crate::config::{Neighbours, PeerDeadline};
use crate::fabric::Fabric;
use crate::fabric::run::Run;
use crate::message::{Address, Event, MessageObserver, Payload};
use crate::world::network::Network;
use crate::world::overlay::{HOPS, Overlay};
use crate::world::{Server, ServerId, StationId, World, narrow};
use sim_core::{EventKey, JobId, SiteId, Span, Streams, Time};
use std::collections::{BTreeSet, VecDeque};

/// Deadlines, as multiples of an estimate ("P2P System").
const DEADLINE: u64 = 3;

/// Time after which a work station without an offer resubmits ("P2P System").
const RESUBMIT: Span = Span::from_secs(120);

#[derive(Clone, Debug)]
pub(crate) struct Peers {
    overlay: Overlay,
    peers: Vec<Peer>,
    /// Distinct numbers of CPUs of servers.
    widths: Vec<u32>,
    /// Jobs that no peer has accepted yet, by class.
    unaccepted: Vec<Unaccepted>,
    candidates: BTreeSet<(Time, JobId, u32)>,
    alarm: Option<(Time, EventKey)>,
    mean_cpus: f64,
}

/// Knowledge of a peer: its queue and the expected end of its current job.
#[derive(Clone, Debug, Default)]
struct Peer {
    /// Position of its number of CPUs among the widths.
    width: usize,
    queue: VecDeque<JobId>,
    /// Sum of the estimates of all jobs that it has accepted and not yet offered itself to.
    queued: Span,
    /// Expected end of the current job.
    free_at: Time,
    candidate: Option<(Time, JobId)>,
}

impl Peer {
    /// Returns true if it could start a job in time, given the allowed backlog.
    #[inline]
    fn meets(&self, allowance: Allowance, now: Time) -> bool {
        allowance.is_some_and(|allowed| self.free_at.saturating_since(now) + self.queued <= allowed)
    }

    /// Returns the job with the first time from `now` on at which the peer would accept its resubmission if nothing else changes;
    /// `None` if never, or not before `best`. With `shortcuts`, resubmissions that must fail are skipped.
    #[inline]
    fn acceptance(
        &self,
        waiting: &UnacceptedJob,
        allowance: Allowance,
        best: Option<(Time, JobId)>,
        (now, shortcuts): (Time, bool),
    ) -> Option<(Time, JobId)> {
        let allowed = allowance?;
        let from = if !shortcuts {
            now
        } else if self.queued > allowed {
            return None;
        } else {
            // Running the backlog down to this leaves exactly the allowance.
            let slack = allowed.saturating_sub(self.queued);
            Time::from_nanos(self.free_at.as_nanos().saturating_sub(slack.as_nanos())).max(now)
        };
        // Most jobs are excluded here, before the division in `next_from`.
        if best.is_some_and(|(best, _)| from > best) {
            return None;
        }
        let found = (waiting.next_from(from), waiting.job);
        best.is_none_or(|best| found < best).then_some(found)
    }
}

/// Largest backlog with which a peer accepts a job; `None` if it never accepts it.
type Allowance = Option<Span>;

/// Jobs of one class that no peer has accepted yet, unordered.
#[derive(Clone, Debug, Default)]
struct Unaccepted {
    jobs: Vec<UnacceptedJob>,
    /// Allowances of these jobs for each width of servers. A peer reads only one width, so the widths
    /// are stored separately.
    allowances: Vec<Vec<Allowance>>,
}

impl Unaccepted {
    fn push(&mut self, job: UnacceptedJob, allowances: &[Allowance]) {
        self.jobs.push(job);
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

/// A job that no peer has accepted yet, and its resubmissions so far.
#[derive(Copy, Clone, Debug)]
struct UnacceptedJob {
    job: JobId,
    /// Time at which its first request arrived at the entry.
    since: Time,
    tried: u64,
    entry: u32,
}

impl UnacceptedJob {
    /// Time of its first resubmission to come at or after `at`.
    fn next_from(&self, at: Time) -> Time {
        // Resubmissions come every two minutes since the first request; those up to `tried` are past.
        let number = at.saturating_since(self.since).as_nanos().div_ceil(RESUBMIT.as_nanos());
        self.since + RESUBMIT * number.max(self.tried + 1)
    }
}

impl Peers {
    pub(crate) fn new(world: &World, network: &Network, neighbours: Neighbours, streams: &Streams) -> Self {
        let sites: Vec<SiteId> = world.servers().iter().map(|server| server.site).collect();
        // Estimates and deadlines depend on a server only by its CPUs, and there are few distinct numbers of them:
        // the allowance of a job is computed once per width.
        let mut widths: Vec<u32> = world.servers().iter().map(|server| server.cpus).collect();
        widths.sort_unstable();
        widths.dedup();
        let width = |cpus| widths.partition_point(|width| *width < cpus);
        let unaccepted = Unaccepted { jobs: Vec::new(), allowances: vec![Vec::new(); widths.len()] };
        let peer = |server: &Server| Peer { width: width(server.cpus), ..Peer::default() };
        Self {
            overlay: Overlay::new(&sites, neighbours, (world, network), streams),
            peers: world.servers().iter().map(peer).collect(),
            unaccepted: vec![unaccepted; world.classes.len()],
            widths,
            candidates: BTreeSet::new(),
            alarm: None,
            mean_cpus: world.mean_cpus(),
        }
    }

    /// Entry of a work station's requests into the overlay: a fixed peer of its site, or the next peer if the site has none.
    fn entry(&self, world: &World, station: StationId) -> ServerId {
        let site = world.site_of(station);
        let servers = world.servers_at(site);
        let place = station.0 - world.stations_at(site).start;
        ServerId((servers.start + place % (servers.end - servers.start).max(1)) % narrow(self.peers.len()))
    }

    /// Returns true if no job waits to be accepted, and none is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.unaccepted.iter().all(|class| class.jobs.is_empty())
            && self.candidates.is_empty()
            && self.peers.iter().all(|peer| peer.queue.is_empty() && peer.queued.is_zero())
    }

    pub(crate) fn request(&self, station: StationId, job: JobId, run: &mut impl Run) {
        let to = Address::Server(self.entry(&run.world, station));
        run.send(Address::Station(station), to, Payload::Request { job, hops: HOPS });
    }

    pub(crate) fn receive(&mut self, from: Address, to: ServerId, payload: Payload, run: &mut impl Run) {
        match payload {
            Payload::Request { job, .. } => self.first_request(to, job, run),
            Payload::Confirm { job } => self.confirmed(to, job, run),
            other => panic!("{from:?} sent {other:?} to peer {to}"),
        }
    }

    fn estimate(peer: u32, job: JobId, fabric: &Fabric<impl MessageObserver>) -> Span {
        fabric.jobs.get(job).estimate(f64::from(fabric.servers[peer as usize].cpus), fabric.grid_share())
    }

    /// Allowances of a job, one per width of servers: its deadline less its own estimate there.
    fn allowances(&self, job: JobId, fabric: &Fabric<impl MessageObserver>) -> Vec<Allowance> {
        let state = fabric.jobs.get(job);
        let share = fabric.grid_share();
        let allowance = |width: &u32| {
            let own = state.estimate(f64::from(*width), share);
            let base = match fabric.config.readings.peer_deadline {
                PeerDeadline::OwnEstimate => own,
                PeerDeadline::MeanServer => state.estimate(self.mean_cpus, share),
            };
            let deadline = base * DEADLINE;
            (deadline >= own).then(|| deadline.saturating_sub(own))
        };
        self.widths.iter().map(allowance).collect()
    }

    /// Receives a job's first request at its entry: if no peer accepts it, the job waits for its resubmissions.
    fn first_request(&mut self, entry: ServerId, job: JobId, run: &mut impl Run) {
        if self.flood(entry.0, job, run) {
            return;
        }
        let class = run.jobs.get(job).class;
        let waiting = UnacceptedJob { job, since: run.now(), tried: 0, entry: entry.0 };
        let allowances = self.allowances(job, run);
        self.unaccepted[usize::from(class)].push(waiting, &allowances);
        let mode = (run.now(), run.shortcuts);
        for peer in 0..narrow(self.peers.len()) {
            let at = &self.peers[peer as usize];
            // A new job can only bring a peer's candidate forward, so the other jobs need no second look.
            if run.servers[peer as usize].bag.holds(class)
                && let Some(found) = at.acceptance(&waiting, allowances[at.width], at.candidate, mode)
            {
                self.set_candidate(peer, Some(found));
            }
        }
        self.set_alarm(run);
    }

    fn confirmed(&mut self, peer: ServerId, job: JobId, run: &mut impl Run) {
        if !run.servers[peer.index()].bag.holds(run.jobs.get(job).class) {
            // The peer has changed its operating system since it accepted.
            self.decline(peer, job, run);
            return;
        }
        // R3: a job's wait may end here.
        if run.waits_until_accepted {
            run.end_wait(peer, job);
        }
        self.peers[peer.index()].queue.push_back(job);
        if run.servers[peer.index()].is_idle() {
            self.server_free(peer, run);
        }
    }

    /// Offers an idle peer to the first job of its queue.
    pub(crate) fn server_free(&mut self, peer: ServerId, run: &mut impl Run) {
        // The estimate moves from the queue to the current job; it counts from the offer, and again from the arrival of the input.
        let at = &mut self.peers[peer.index()];
        at.free_at = run.now();
        if let Some(job) = at.queue.pop_front() {
            let estimate = Self::estimate(peer.0, job, run);
            at.queued = at.queued.saturating_sub(estimate);
            at.free_at = run.now() + estimate;
            run.offer(peer, job);
        }
        self.peer_has_changed(peer.0, run);
    }

    /// Begins a job whose input has arrived at a peer: its estimate counts from now on.
    pub(crate) fn runs(&mut self, peer: ServerId, job: JobId, run: &mut impl Run) {
        self.peers[peer.index()].free_at = run.now() + Self::estimate(peer.0, job, run);
        self.peer_has_changed(peer.0, run);
    }

    /// Handles another operating system of a peer: queued jobs that it can no longer run go back to their work stations.
    pub(crate) fn resources_changed(&mut self, peer: ServerId, run: &mut impl Run) {
        let bag = run.servers[peer.index()].bag;
        let queue = std::mem::take(&mut self.peers[peer.index()].queue);
        // Keeps their order: the queue is first come, first served.
        let (stay, go): (Vec<_>, Vec<_>) = queue.into_iter().partition(|job| bag.holds(run.jobs.get(*job).class));
        self.peers[peer.index()].queue = stay.into();
        for job in go {
            self.decline(peer, job, run);
        }
        self.peer_has_changed(peer.0, run);
    }

    fn decline(&mut self, peer: ServerId, job: JobId, run: &mut impl Run) {
        let at = &mut self.peers[peer.index()];
        at.queued = at.queued.saturating_sub(Self::estimate(peer.0, job, run));
        let station = Address::Station(run.jobs.get(job).station);
        run.send(Address::Server(peer), station, Payload::Decline { job });
        self.peer_has_changed(peer.0, run);
    }

    fn choose_candidate(&mut self, peer: u32, fabric: &Fabric<impl MessageObserver>, now: Time) {
        let at = &self.peers[peer as usize];
        let mut best = None;
        for class in fabric.servers[peer as usize].bag.classes() {
            let unaccepted = &self.unaccepted[usize::from(class)];
            for (waiting, allowance) in unaccepted.jobs.iter().zip(&unaccepted.allowances[at.width]) {
                // `acceptance` returns a value only if it beats the best so far, so most jobs cost one comparison.
                best = at.acceptance(waiting, *allowance, best, (now, fabric.shortcuts)).or(best);
            }
        }
        self.set_candidate(peer, best);
    }

    fn peer_has_changed(&mut self, peer: u32, run: &mut impl Run) {
        self.choose_candidate(peer, run, run.now());
        self.set_alarm(run);
    }

    /// Replaces a peer's candidate, here and in the set of all candidates.
    fn set_candidate(&mut self, peer: u32, candidate: Option<(Time, JobId)>) {
        let at = &mut self.peers[peer as usize].candidate;
        if let Some((time, job)) = at.take() {
            self.candidates.remove(&(time, job, peer));
        }
        *at = candidate;
        if let Some((time, job)) = candidate {
            self.candidates.insert((time, job, peer));
        }
    }

    /// Posts the event of the earliest candidate, unless it is posted already.
    fn set_alarm(&mut self, run: &mut impl Run) {
        let next = self.candidates.first().map(|(time, ..)| *time);
        // Candidates change far more often than the earliest of them.
        if self.alarm.map(|(time, _)| time) == next {
            return;
        }
        if let Some((_, key)) = self.alarm.take() {
            run.cancel(key);
        }
        self.alarm = next.map(|time| (time, run.post_at(time, Event::Resubmit)));
    }

    /// Resubmits a job that some peer may accept now. The resubmissions before it could not succeed and are only counted.
    pub(crate) fn resubmit(&mut self, run: &mut impl Run) {
        let now = run.now();
        self.alarm = None;
        let &(_, job, _) = self.candidates.first().expect("the alarm was set for it");
        let class = usize::from(run.jobs.get(job).class);
        let waits = |waiting: &UnacceptedJob| waiting.job == job;
        let place = self.unaccepted[class].jobs.iter().position(waits).expect("it waits");
        let waiting = self.unaccepted[class].jobs[place];
        let number = now.since(waiting.since).as_nanos() / RESUBMIT.as_nanos();
        self.count_resubmissions(&waiting, number, run);
        self.unaccepted[class].jobs[place].tried = number;
        if self.flood(waiting.entry, job, run) {
            self.unaccepted[class].remove(place);
        }
        // Peers whose candidate was this job need another. If no peer has accepted it, the peer that would lies beyond the
        // request's hops, or (without shortcuts) every resubmission is tried: the next candidate may be the same job, later.
        let hopeful: Vec<u32> =
            self.candidates.iter().filter(|(_, of, _)| *of == job).map(|(.., peer)| *peer).collect();
        for peer in hopeful {
            self.choose_candidate(peer, run, now);
        }
        self.set_alarm(run);
    }
}
