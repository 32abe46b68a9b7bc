//! Floods of the overlay by one request, as one event: the peers that accept, and the number of copies.

use super::{Peer, Peers};
use crate::fabric::Fabric;
use crate::ids::ServerId;
use crate::message::{Address, CompactPayload, Envelope, Kind};
use crate::observer::MessageObserver;
use crate::overlay::{ForwardedCopy, HOPS};
use crate::run::Run;
use crate::unaccepted::{Allowance, RESUBMIT, UnacceptedJob};
use sim_core::{JobId, Span, Time};

/// A job as peers see it in a request: its class, and for each width of servers how much backlog it allows.
struct Requested<'a> {
    job: JobId,
    class: u8,
    allowances: &'a [Allowance],
}

/// The peer that accepts a job first, with the latency of the way to it.
type Winner = (u32, Span);

impl Peers {
    /// Floods the overlay with a request. Whether a peer has accepted it.
    pub(super) fn flood(&mut self, entry: u32, job: JobId, run: &mut impl Run) -> bool {
        let now = run.now();
        let allowances = self.allowances(job, run);
        let requested = Requested { job, class: run.jobs.get(job).class, allowances: &allowances };
        // Three ways to the same outcome; the obvious one, which an observer needs, is the last.
        let (winner, forwards) = if !run.is_observed() && self.overlay.len() <= HOPS as usize {
            self.flood_everybody(entry, &requested, now, run)
        } else if !run.is_observed() && !self.anybody_accepts(&requested, now, run) {
            (None, self.overlay.forwards(entry, HOPS))
        } else {
            self.flood_copy_by_copy(entry, &requested, now, run)
        };
        run.counts.count_many(Kind::Forward, forwards);
        let Some((winner, latency)) = winner else { return false };
        // Its place in the queue is kept from now on: a peer does not promise the same time twice while a confirmation is on
        // its way.
        self.peers[winner as usize].queued += Self::estimate(winner, job, run);
        self.choose_candidate(winner, run, now);
        let station = Address::Station(run.jobs.get(job).station);
        let peer = Address::Server(ServerId(winner));
        let back = run.latency(peer, station);
        let payload = CompactPayload::Confirm { job };
        run.record(now + latency + back, back, station, peer, payload);
        run.dispatch(Envelope { from: station, to: peer, payload }, latency + back + back);
        self.set_alarm(run);
        true
    }

    /// Whether any peer at all would accept a job, reached by the request or not.
    fn anybody_accepts(&self, requested: &Requested<'_>, now: Time, fabric: &Fabric<impl MessageObserver>) -> bool {
        let mut peers = (0..).zip(self.peers.iter().zip(&self.width_of));
        peers.any(|(peer, (at, width))| accepts(at, peer, *width, requested, now, fabric))
    }

    /// The outcome where hops never run out: a request reaches every peer to which a way leads past others that do not accept.
    ///
    /// On the way to the nearest of all peers that accept there is none that accepts, or it would be nearer. So the winner is
    /// known without playing the flood, and copies can be counted in any order.
    fn flood_everybody(
        &mut self,
        entry: u32,
        requested: &Requested<'_>,
        now: Time,
        run: &mut impl Run,
    ) -> (Option<Winner>, u64) {
        let Self { overlay, peers, width_of, scratch, .. } = self;
        let here = |peer: u32| (&peers[peer as usize], width_of[peer as usize]);
        let accepts = |peer: u32| {
            let (at, width) = here(peer);
            accepts(at, peer, width, requested, now, run)
        };
        let reach = overlay.reach(entry, HOPS);
        let nearest = reach.order.iter().find(|(peer, _)| accepts(*peer)).copied();
        let all = reach.forwards;
        if nearest.is_none() {
            return (None, all);
        }
        let (forwards, accepting) = overlay.count_forwards(entry, |peer| !accepts(peer), scratch);
        run.counts.count_many(Kind::Accept, u64::from(accepting));
        (nearest, forwards)
    }

    /// The outcome from playing the flood copy by copy, each shown to the observer.
    fn flood_copy_by_copy(
        &self,
        entry: u32,
        requested: &Requested<'_>,
        now: Time,
        run: &mut impl Run,
    ) -> (Option<Winner>, u64) {
        let accepts =
            |peer: u32| accepts(&self.peers[peer as usize], peer, self.width_of[peer as usize], requested, now, run);
        let mut copies = Vec::new();
        let reach = self.overlay.flood(entry, HOPS, |peer| !accepts(peer), |copy| copies.push(copy));
        let accepting: Vec<Winner> = reach.order.into_iter().filter(|(peer, _)| accepts(*peer)).collect();
        show_copies(&copies, now, requested.job, run);
        let station = Address::Station(run.jobs.get(requested.job).station);
        for (peer, latency) in &accepting {
            let peer = Address::Server(ServerId(*peer));
            let back = run.latency(peer, station);
            run.record(now + *latency, back, peer, station, CompactPayload::Accept { job: requested.job });
        }
        (accepting.first().copied(), reach.forwards)
    }

    /// Counts the resubmissions of a job up to this number. All but the last were in vain and flooded the whole overlay; the
    /// last is about to be tried.
    pub(super) fn count_resubmissions(&mut self, waiting: &UnacceptedJob, number: u64, run: &mut impl Run) {
        let UnacceptedJob { job, since, tried, entry } = *waiting;
        let times = number - tried;
        run.counts.resubmitted += times;
        let forwards = self.overlay.forwards(entry, HOPS);
        run.counts.count_many(Kind::Forward, forwards * times.saturating_sub(1));
        if !run.is_observed() {
            run.counts.count_many(Kind::Request, times);
            return;
        }
        let station = Address::Station(run.jobs.get(job).station);
        let to = Address::Server(ServerId(entry));
        let latency = run.latency(station, to);
        for resubmission in tried + 1..=number {
            let at = since + RESUBMIT * resubmission;
            let sent = Time::from_nanos(at.as_nanos() - latency.as_nanos());
            run.record(sent, latency, station, to, CompactPayload::Request { job, hops: HOPS });
            if resubmission < number {
                let mut copies = Vec::new();
                self.overlay.flood(entry, HOPS, |_| true, |copy| copies.push(copy));
                show_copies(&copies, at, job, run);
            }
        }
    }
}

/// Whether a peer accepts a job: it can run it, and has little enough to do.
#[inline]
fn accepts(
    at: &Peer,
    peer: u32,
    width: u32,
    requested: &Requested<'_>,
    now: Time,
    fabric: &Fabric<impl MessageObserver>,
) -> bool {
    fabric.servers[peer as usize].bag.holds(requested.class) && at.meets(requested.allowances[width as usize], now)
}

/// Shows the observer the copies of a request that entered the overlay at the instant `entered`.
fn show_copies(copies: &[ForwardedCopy], entered: Time, job: JobId, run: &mut impl Run) {
    for copy in copies {
        let [from, to] = [copy.from, copy.to].map(|peer| Address::Server(ServerId(peer)));
        run.show(entered + copy.sent, copy.hop, from, to, CompactPayload::Forward { job, hops: copy.hops });
    }
}
