//! From the offer to the output: what all systems share once a server is free for a job.

use super::leaf;
use super::{Event, Grid, Phase};
use crate::config::{OutputTransfer, PeerWaitEnds};
use crate::jobs::Submission;
use crate::message::{Address, Witness};
use crate::network::Begun;
use crate::post::Body;
use crate::world::{Distance, ServerId, StationId};
use sim_core::{Context, EventKey, Fact, JobId, ProcId, SiteId, Span};

/// How long a server waits for an answer to its offer (100 ms).
const PATIENCE: Span = Span::from_nanos(100_000_000);

/// A data transfer.
#[derive(Copy, Clone, Debug)]
pub(super) struct Flow {
    from: SiteId,
    to: SiteId,
    distance: Distance,
    load: Load,
    /// The event of its end; rates that are shared anew move it.
    end: Option<EventKey>,
}

/// What a flow carries.
#[derive(Copy, Clone, Debug)]
enum Load {
    /// A job's input, to a server.
    Input(ServerId),
    /// A job's output, from a server.
    Output(ServerId, JobId),
}

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// An idle server offers itself to a job's work station.
    pub(super) fn offer(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let machine = &mut self.machines[server.index()];
        assert_eq!(machine.phase, Phase::Idle, "server {server} offers itself while it is busy");
        machine.phase = Phase::Offering(cx.now());
        machine.job = Some(job);
        let ticket = self.jobs.get_mut(job);
        // Until the offer has come in the job must not be forgotten.
        ticket.copies += 1;
        let station = ticket.station;
        self.send(Address::Server(server), Address::Station(station), Body::Offer { job }, cx);
        if self.transport.is_some() {
            // No answer is known to come: the server's own clock must tell.
            self.machines[server.index()].silence = Some(cx.post_in(PATIENCE, Event::Silence(server)));
        }
    }

    /// An offer comes in. The first one is answered, and the input follows.
    pub(super) fn offered(&mut self, station: StationId, from: Address, job: JobId, cx: &mut impl Context<Event>) {
        let server = leaf::server(from);
        let ticket = self.jobs.get_mut(job);
        let first = !std::mem::replace(&mut ticket.taken, true);
        if first {
            let answer = Body::Answer { job };
            if self.transport.is_some() {
                self.send(Address::Station(station), from, answer, cx);
            } else {
                // The input itself is the answer.
                let latency = self.latency(Address::Station(station), from);
                self.note(cx.now(), latency, Address::Station(station), from, answer);
                self.fetch(server, job, cx);
            }
        } else {
            self.tally.unanswered += 1;
            if self.transport.is_none() {
                let Phase::Offering(since) = self.machines[server.index()].phase else {
                    panic!("server {server} is not waiting for an answer")
                };
                let silence = (since + PATIENCE).max(cx.now());
                cx.post_at(silence, Event::Silence(server));
            }
        }
        self.jobs.drop_copy(job);
    }

    /// A work station transfers the input of its job to the server.
    pub(super) fn fetch(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let waited = self.peers.is_some() && self.config.readings.peer_wait_ends == PeerWaitEnds::Acceptance;
        if !waited {
            self.tell_start(server, job, cx);
        }
        let ticket = self.jobs.get(job);
        let (input, here) = (ticket.input, self.world.site_of(ticket.station));
        let machine = &mut self.machines[server.index()];
        machine.phase = Phase::Fetching;
        let there = machine.site;
        cx.tell(Fact::Seized { job, processor: ProcId(server.0) });
        self.tally.ran_at(self.world.distance(here, there));
        self.transfer(here, there, input, Load::Input(server), cx);
    }

    /// Waiting ends (SJTT).
    pub(super) fn tell_start(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let machine = &self.machines[server.index()];
        // A job that a peer has accepted and given back waits no more, if waiting ends at acceptance (R3).
        if std::mem::replace(&mut self.jobs.get_mut(job).started, true) {
            return;
        }
        cx.tell(Fact::Started { job, site: machine.site, processors: machine.cpus });
    }

    /// Nobody has answered: the server is free again.
    pub(super) fn silence(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        self.machines[server.index()].silence = None;
        self.free(server, cx);
    }

    fn free(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let machine = &mut self.machines[server.index()];
        if machine.phase == Phase::Sending {
            let job = machine.job.expect("a job has run");
            cx.tell(Fact::Released { job, processor: ProcId(server.0) });
        }
        machine.phase = Phase::Idle;
        machine.job = None;
        if self.peers.is_some() {
            self.peer_free(server, cx);
        } else {
            self.refill(server, cx);
        }
    }

    fn transfer(&mut self, from: SiteId, to: SiteId, bytes: u64, load: Load, cx: &mut impl Context<Event>) {
        let distance = self.world.distance(from, to);
        let entry = self.flows.vacant_entry();
        let flow = crate::world::narrow(entry.key());
        entry.insert(Flow { from, to, distance, load, end: None });
        match self.network.open(flow, (from, to, distance), bytes, cx.now()) {
            Begun::Lasts(span) => {
                cx.post_in(span, Event::Transferred(flow));
            }
            Begun::Shared => self.reshare(cx),
        }
    }

    /// R16: every flow ends when its new rate says.
    fn reshare(&mut self, cx: &mut impl Context<Event>) {
        let Self { network, flows, .. } = self;
        network.reshare(cx.now(), |flow, end| {
            let key = &mut flows[flow as usize].end;
            if let Some(key) = key.take() {
                cx.cancel(key);
            }
            *key = Some(cx.post_at(end, Event::Transferred(flow)));
        });
    }

    /// A transfer has ended: a server has its input and runs, or a work station has its output.
    pub(super) fn transferred(&mut self, flow: u32, cx: &mut impl Context<Event>) {
        let Flow { from, to, distance, load, .. } = self.flows.remove(flow as usize);
        self.network.close(flow, (from, to, distance));
        self.reshare(cx);
        match load {
            Load::Input(server) => self.run(server, cx),
            Load::Output(server, job) => self.complete(server, job, cx),
        }
    }

    fn run(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let share = self.speed();
        let machine = &mut self.machines[server.index()];
        machine.phase = Phase::Running;
        let job = machine.job.expect("the input of a job has come in");
        let runtime = self.jobs.get(job).runtime(f64::from(machine.cpus), share);
        cx.post_in(runtime, Event::Ran(server));
        if self.peers.is_some() {
            self.peer_runs(server, job, cx);
        }
    }

    /// A server has run its job: the output goes back.
    pub(super) fn ran(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let machine = &mut self.machines[server.index()];
        let job = machine.job.expect("a job has run");
        let site = machine.site;
        let busy = self.config.readings.output_transfer == OutputTransfer::ServerBusy;
        machine.phase = Phase::Sending;
        let ticket = self.jobs.get(job);
        let (output, to) = (ticket.output, self.world.site_of(ticket.station));
        self.transfer(site, to, output, Load::Output(server, job), cx);
        if !busy {
            self.free(server, cx);
        }
    }

    /// The output has come in (JCT).
    fn complete(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        self.tally.completed += 1;
        let ticket = self.jobs.get_mut(job);
        let station = ticket.station;
        assert!(!std::mem::replace(&mut ticket.done, true), "job {job} was completed twice");
        self.jobs.forget();
        if self.config.readings.output_transfer == OutputTransfer::ServerBusy {
            self.free(server, cx);
        }
        cx.tell(Fact::Finished { job });
        self.continue_from(station, cx);
    }
}
