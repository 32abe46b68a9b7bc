//! From a server's offer to the output of its job: what trees and peers have in common.

use super::Fabric;
use crate::config::OutputTransfer;
use crate::event::Event;
use crate::ids::{ServerId, StationId};
use crate::message::{Address, CompactPayload};
use crate::network::FlowStart;
use crate::observer::MessageObserver;
use crate::server_state::Phase;
use crate::transfer::{Arrived, Cargo, Transfer};
use sim_core::{Context, Fact, JobId, ProcId, SiteId, Span};

/// How long a server waits for an answer to its offer (100 ms).
const OFFER_TIMEOUT: Span = Span::from_nanos(100_000_000);

impl<W: MessageObserver> Fabric<W> {
    /// An idle server offers itself to a job's work station.
    pub(crate) fn offer(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let machine = &mut self.servers[server.index()];
        assert_eq!(machine.phase, Phase::Idle, "server {server} offers itself while it is busy");
        machine.phase = Phase::Offering(cx.now());
        machine.job = Some(job);
        let state = self.jobs.get_mut(job);
        // Until the offer has come in the job must not be forgotten.
        state.copies += 1;
        let station = state.station;
        self.send(Address::Server(server), Address::Station(station), CompactPayload::Offer { job }, cx);
    }

    /// An offer comes in. The first one for a job is answered, and the input follows.
    pub(crate) fn offered(&mut self, station: StationId, from: Address, job: JobId, cx: &mut impl Context<Event>) {
        let Address::Server(server) = from else { panic!("{from:?} offered itself for job {job}") };
        let first = !std::mem::replace(&mut self.jobs.get_mut(job).taken, true);
        if first {
            let answer = CompactPayload::Answer { job };
            // The transfer of the input, which begins at once, tells the server all that the answer would: the message is
            // counted and shown, and is no event of its own.
            let latency = self.latency(Address::Station(station), from);
            self.record(cx.now(), latency, Address::Station(station), from, answer);
            self.fetch(server, job, cx);
        } else {
            self.counts.unanswered += 1;
            // A server learns of nothing before its time is up, so the event is posted only here, where it is known to
            // happen.
            let Phase::Offering(since) = self.servers[server.index()].phase else {
                panic!("server {server} is not waiting for an answer")
            };
            let timeout = (since + OFFER_TIMEOUT).max(cx.now());
            cx.post_at(timeout, Event::OfferTimeout(server));
        }
        self.jobs.drop_copy(job);
    }

    /// A work station transfers the input of its job to the server.
    fn fetch(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        if !self.waits_until_accepted {
            self.end_wait(server, job, cx);
        }
        let state = self.jobs.get(job);
        let (input, here) = (state.input, self.world.site_of(state.station));
        let machine = &mut self.servers[server.index()];
        machine.phase = Phase::Fetching;
        let there = machine.site;
        cx.emit(Fact::Seized { job, processor: ProcId(server.0) });
        self.counts.ran_at(self.world.distance(here, there));
        self.transfer(here, there, input, Cargo::Input(server), cx);
    }

    /// A peer has accepted the job and keeps it: waiting ends here, if it ends at acceptance (R3).
    pub(crate) fn accepted(&mut self, peer: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        if self.waits_until_accepted {
            self.end_wait(peer, job, cx);
        }
    }

    /// Tells that a job's waiting has ended (the paper's SJTT).
    fn end_wait(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let machine = &self.servers[server.index()];
        // A job that a peer has accepted and given back waits no more, if waiting ends at acceptance (R3).
        if std::mem::replace(&mut self.jobs.get_mut(job).started, true) {
            return;
        }
        cx.emit(Fact::Started { job, site: machine.site, processors: machine.cpus });
    }

    /// Makes a server idle. Whoever schedules must be told of it.
    pub(crate) fn release(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        // R12: under the first answer this is called while the output is still on its way; the transfer goes on
        // without the server.
        let machine = &mut self.servers[server.index()];
        if machine.phase == Phase::Sending {
            let job = machine.job.expect("a job has run");
            cx.emit(Fact::Released { job, processor: ProcId(server.0) });
        }
        machine.phase = Phase::Idle;
        machine.job = None;
    }

    fn transfer(&mut self, from: SiteId, to: SiteId, bytes: u64, cargo: Cargo, cx: &mut impl Context<Event>) {
        let distance = self.world.distance(from, to);
        let entry = self.transfers.vacant_entry();
        let flow = crate::ids::narrow(entry.key());
        entry.insert(Transfer { from, to, distance, cargo, end: None });
        match self.network.open(flow, (from, to, distance), bytes, cx.now()) {
            FlowStart::Lasts(span) => {
                cx.post_in(span, Event::Transferred(flow));
            }
            FlowStart::Shared => self.reshare(cx),
        }
    }

    /// R16: every transfer ends when its new rate says.
    fn reshare(&mut self, cx: &mut impl Context<Event>) {
        let Self { network, transfers, .. } = self;
        network.reshare(cx.now(), |flow, end| {
            let key = &mut transfers[flow as usize].end;
            if let Some(key) = key.take() {
                cx.cancel(key);
            }
            *key = Some(cx.post_at(end, Event::Transferred(flow)));
        });
    }

    /// A transfer has ended: a server runs its job, or a work station has its output.
    pub(crate) fn transferred(&mut self, flow: u32, cx: &mut impl Context<Event>) -> Arrived {
        let Transfer { from, to, distance, cargo, .. } = self.transfers.remove(flow as usize);
        self.network.close(flow, (from, to, distance));
        self.reshare(cx);
        match cargo {
            Cargo::Input(server) => Arrived::Input(server, self.run(server, cx)),
            Cargo::Output(server, job) => Arrived::Output(server, job),
        }
    }

    /// A server runs the job whose input has come in.
    fn run(&mut self, server: ServerId, cx: &mut impl Context<Event>) -> JobId {
        let share = self.grid_share();
        let machine = &mut self.servers[server.index()];
        machine.phase = Phase::Running;
        let job = machine.job.expect("the input of a job has come in");
        // The work is spread over all CPUs, of which the owners leave a share to the grid.
        let runtime = self.jobs.get(job).runtime(f64::from(machine.cpus), share);
        cx.post_in(runtime, Event::Ran(server));
        job
    }

    /// A server has run its job: the output goes back.
    pub(crate) fn send_output(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let machine = &mut self.servers[server.index()];
        let job = machine.job.expect("a job has run");
        let site = machine.site;
        machine.phase = Phase::Sending;
        let state = self.jobs.get(job);
        let (output, to) = (state.output, self.world.site_of(state.station));
        self.transfer(site, to, output, Cargo::Output(server, job), cx);
    }

    /// R12: whether a server is taken until its output has been transferred.
    pub(crate) fn output_keeps_server(&self) -> bool {
        self.config.readings.output_transfer == OutputTransfer::ServerBusy
    }

    /// The output of a job has come in (the paper's JCT). Returns the work station that has it.
    pub(crate) fn complete(&mut self, job: JobId) -> StationId {
        self.counts.completed += 1;
        let state = self.jobs.get_mut(job);
        let station = state.station;
        assert!(!std::mem::replace(&mut state.done, true), "job {job} was completed twice");
        self.jobs.forget();
        station
    }
}
