//! Floods of the overlay by one request, as one event: the peers that accept, and the number of copies.

use super::{Peer, Peers};
use crate::fabric::Fabric;
use crate::message::{Address, Envelope, Kind, MessageObserver, Payload};
use crate::overlay::{ForwardedCopy, HOPS};
use crate::run::Run;
use crate::unaccepted::{Allowance, RESUBMIT, UnacceptedJob};
use crate::world::ServerId;
use sim_core::{JobId, Span, Time};

/// Attributes of a job that peers see in a request: its class, and the allowed backlog per width of servers.
struct RequestedClass<'a> {
    job: JobId,
    class: u8,
    allowances: &'a [Allowance],
}

/// Peer that accepts a job first, with the latency of the path to it.
type Winner = (u32, Span);

impl Peers {
    /// Floods the overlay with a request. Returns true if a peer has accepted it.
    pub(super) fn flood(&mut self, entry: u32, job: JobId, run: &mut impl Run) -> bool {
        let now = run.now();
        let allowances = self.allowances(job, run);
        let requested = RequestedClass { job, class: run.jobs.get(job).class, allowances: &allowances };
        // If no peer accepts, the outcome is known; an observer still needs every copy.
        let winner = if !run.is_observed() && !self.any_accepts(&requested, now, run) {
            let forwards = self.overlay.forwards(entry, HOPS);
            run.counts.count_many(Kind::Forward, forwards);
            None
        } else {
            self.flood_copy_by_copy(entry, &requested, now, run)
        };
        let Some((winner, latency)) = winner else { return false };
        // Its place in the queue is reserved from now on: a peer does not promise the same time twice while a confirmation is on
        // its way.
        self.peers[winner as usize].queued += Self::estimate(winner, job, run);
        self.choose_candidate(winner, run, now);
        let station = Address::Station(run.jobs.get(job).station);
        let peer = Address::Server(ServerId(winner));
        let back = run.latency(peer, station);
        let payload = Payload::Confirm { job };
        run.record(now + latency + back, back, station, peer, &payload);
        run.dispatch(Envelope { from: station, to: peer, payload }, latency + back + back);
        self.set_alarm(run);
        true
    }

    /// Returns true if any peer would accept a job, including peers that the request does not reach.
    fn any_accepts(&self, requested: &RequestedClass<'_>, now: Time, fabric: &Fabric<impl MessageObserver>) -> bool {
        let mut peers = (0..).zip(self.peers.iter().zip(&self.width_of));
        peers.any(|(peer, (at, width))| accepts(at, peer, *width, requested, now, fabric))
    }

    /// Simulates the flood copy by copy. Returns the first of the peers that accept.
    fn flood_copy_by_copy(
        &self,
        entry: u32,
        requested: &RequestedClass<'_>,
        now: Time,
        run: &mut impl Run,
    ) -> Option<Winner> {
        let accepts =
            |peer: u32| accepts(&self.peers[peer as usize], peer, self.width_of[peer as usize], requested, now, run);
        let mut copies = Vec::new();
        let order = self.overlay.flood(entry, HOPS, |peer| !accepts(peer), |copy| copies.push(copy));
        let accepting: Vec<Winner> = order.into_iter().filter(|(peer, _)| accepts(*peer)).collect();
        record_copies(&copies, now, requested.job, run);
        let station = Address::Station(run.jobs.get(requested.job).station);
        for (peer, latency) in &accepting {
            let peer = Address::Server(ServerId(*peer));
            let back = run.latency(peer, station);
            run.record(now + *latency, back, peer, station, &Payload::Accept { job: requested.job });
        }
        accepting.first().copied()
    }

    /// Counts the resubmissions of a job up to this number. All but the last failed after they flooded the whole overlay; the
    /// last is about to be tried.
    pub(super) fn count_resubmissions(&mut self, waiting: &UnacceptedJob, number: u64, run: &mut impl Run) {
        let UnacceptedJob { job, since, tried, entry } = *waiting;
        let times = number - tried;
        run.counts.resubmitted += times;
        if !run.is_observed() {
            let forwards = self.overlay.forwards(entry, HOPS);
            run.counts.count_many(Kind::Forward, forwards * times.saturating_sub(1));
            run.counts.count_many(Kind::Request, times);
            return;
        }
        let station = Address::Station(run.jobs.get(job).station);
        let to = Address::Server(ServerId(entry));
        let latency = run.latency(station, to);
        for resubmission in tried + 1..=number {
            let at = since + RESUBMIT * resubmission;
            let sent = Time::from_nanos(at.as_nanos() - latency.as_nanos());
            run.record(sent, latency, station, to, &Payload::Request { job, hops: HOPS });
            if resubmission < number {
                let mut copies = Vec::new();
                self.overlay.flood(entry, HOPS, |_| true, |copy| copies.push(copy));
                record_copies(&copies, at, job, run);
            }
        }
    }
}

/// Returns true if a peer accepts a job: it can run it, and its backlog is short enough.
#[inline]
fn accepts(
    at: &Peer,
    peer: u32,
    width: u32,
    requested: &RequestedClass<'_>,
    now: Time,
    fabric: &Fabric<impl MessageObserver>,
) -> bool {
    fabric.servers[peer as usize].bag.holds(requested.class) && at.meets(requested.allowances[width as usize], now)
}

/// Records the copies of a request that entered the overlay at the instant `entered`.
fn record_copies(copies: &[ForwardedCopy], entered: Time, job: JobId, run: &mut impl Run) {
    for copy in copies {
        let [from, to] = [copy.from, copy.to].map(|peer| Address::Server(ServerId(peer)));
        run.record(entered + copy.sent, copy.hop, from, to, &Payload::Forward { job, hops: copy.hops });
    }
}
