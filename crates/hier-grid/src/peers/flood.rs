//! Floods of the overlay by one request, as one event: the peers that accept, and the number of copies.

use super::{Peer, Peers, RESUBMIT, UnacceptedJob};
use crate::fabric::ServerState;
use crate::fabric::jobs::JobState;
use crate::fabric::run::Run;
use crate::message::{Address, Envelope, Kind, Payload};
use crate::world::ServerId;
use crate::world::overlay::{ForwardedCopy, HOPS};
use sim_core::{JobId, Span, Time};

impl Peers {
    /// Floods the overlay with a request. Returns true if a peer has accepted it.
    pub(super) fn flood(&mut self, entry: u32, job: JobId, run: &mut impl Run) -> bool {
        let Some((winner, latency)) = self.first_to_accept(entry, job, run) else { return false };
        // Its place in the queue is reserved from now on: a peer does not promise the same time twice while a confirmation is on
        // its way.
        let now = run.now();
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

    /// Returns the nearest peer that accepts a job, with the latency of the path to it: the peer can run the job, and its backlog is
    /// short enough.
    fn first_to_accept(&mut self, entry: u32, job: JobId, run: &mut impl Run) -> Option<(u32, Span)> {
        let (now, allowances) = (run.now(), self.allowances(job, run));
        let JobState { class, station, .. } = *run.jobs.get(job);
        let accepts =
            |(at, server): (&Peer, &ServerState)| server.bag.holds(class) && at.meets(allowances[at.width], now);
        // If no peer accepts, including peers that the request does not reach, the outcome is known; an observer still needs
        // every copy.
        if !run.is_observed() && !self.peers.iter().zip(&run.servers).any(accepts) {
            let forwards = self.overlay.forwards(entry, HOPS);
            run.counts.count(Kind::Forward, forwards);
            return None;
        }
        let accepts = |peer: u32| accepts((&self.peers[peer as usize], &run.servers[peer as usize]));
        let mut copies = Vec::new();
        let mut order = self.overlay.flood(entry, HOPS, |peer| !accepts(peer), |copy| copies.push(copy));
        order.retain(|(peer, _)| accepts(*peer));
        copies.into_iter().for_each(|copy| record_copy(copy, now, job, run));
        let station = Address::Station(station);
        for (peer, latency) in &order {
            let peer = Address::Server(ServerId(*peer));
            let back = run.latency(peer, station);
            run.record(now + *latency, back, peer, station, &Payload::Accept { job });
        }
        order.first().copied()
    }

    /// Counts the resubmissions of a job up to this number. All but the last failed after they flooded the whole overlay; the
    /// last is about to be tried.
    pub(super) fn count_resubmissions(&mut self, waiting: &UnacceptedJob, number: u64, run: &mut impl Run) {
        let UnacceptedJob { job, since, tried, entry } = *waiting;
        let times = number - tried;
        run.counts.resubmitted += times;
        if !run.is_observed() {
            let forwards = self.overlay.forwards(entry, HOPS);
            run.counts.count(Kind::Forward, forwards * times.saturating_sub(1));
            run.counts.count(Kind::Request, times);
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
                self.overlay.flood(entry, HOPS, |_| true, |copy| record_copy(copy, at, job, run));
            }
        }
    }
}

fn record_copy(copy: ForwardedCopy, entered: Time, job: JobId, run: &mut impl Run) {
    let [from, to] = [copy.from, copy.to].map(|peer| Address::Server(ServerId(peer)));
    run.record(entered + copy.sent, copy.hop, from, to, &Payload::Forward { job, hops: copy.hops });
}
