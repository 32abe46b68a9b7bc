//! A run in progress: the fabric with the simulation's clock and calendar. Sends messages, offers and transfers.

use crate::config::OutputTransfer;
use crate::fabric::{Cargo, Fabric, Phase, Transfer};
use crate::message::{Address, Envelope, Event, MessageObserver, Payload};
use crate::world::{ServerId, StationId, narrow};
use sim_core::{Context, EventKey, Fact, JobId, ProcId, SiteId, Span, Time};
use std::ops::{Deref, DerefMut};

/// Time that a server waits for an answer to its offer (100 ms).
const OFFER_TIMEOUT: Span = Span::from_nanos(100_000_000);

pub(crate) trait Run: Context<Event> + DerefMut<Target = Fabric<Self::Observer>> {
    type Observer: MessageObserver;

    fn send(&mut self, from: Address, to: Address, payload: Payload) {
        let (now, latency) = (self.now(), self.latency(from, to));
        self.record(now, latency, from, to, &payload);
        self.dispatch(Envelope { from, to, payload }, latency);
    }

    /// Delivers a message that has been recorded, after its latency.
    fn dispatch(&mut self, envelope: Envelope, latency: Span) {
        self.post_in(latency, Event::Deliver(envelope));
    }

    /// Offers an idle server to a job's work station.
    fn offer(&mut self, server: ServerId, job: JobId) {
        let now = self.now();
        let machine = &mut self.servers[server.index()];
        assert_eq!(machine.phase, Phase::Idle, "server {server} offers itself while it is busy");
        (machine.phase, machine.job) = (Phase::Offering(now), Some(job));
        let state = self.jobs.get_mut(job);
        // Keeps the job until the offer has arrived.
        state.copies += 1;
        let station = state.station;
        self.send(Address::Server(server), Address::Station(station), Payload::Offer { job });
    }

    /// Receives an offer. The first one for a job is answered, and the input follows.
    fn offered(&mut self, station: StationId, from: Address, job: JobId) {
        let Address::Server(server) = from else { panic!("{from:?} offered itself for job {job}") };
        if std::mem::replace(&mut self.jobs.get_mut(job).taken, true) {
            self.counts.unanswered += 1;
            // A server does not notice before its timeout; the event is posted here because the outcome is known here.
            let Phase::Offering(since) = self.servers[server.index()].phase else {
                panic!("server {server} is not waiting for an answer")
            };
            let timeout = (since + OFFER_TIMEOUT).max(self.now());
            self.post_at(timeout, Event::OfferTimeout(server));
        } else {
            // The transfer of the input, which begins at once, informs the server as the answer would: the message is
            // counted and shown, without an event of its own.
            let (now, station) = (self.now(), Address::Station(station));
            let latency = self.latency(station, from);
            self.record(now, latency, station, from, &Payload::Answer { job });
            self.fetch(server, job);
        }
        self.jobs.drop_copy(job);
    }

    /// Transfers the input of a job from its work station to the server.
    fn fetch(&mut self, server: ServerId, job: JobId) {
        if !self.waits_until_accepted {
            self.end_wait(server, job);
        }
        let state = self.jobs.get(job);
        let (input, here) = (state.input, self.world.site_of(state.station));
        let machine = &mut self.servers[server.index()];
        machine.phase = Phase::Serving;
        let there = machine.site;
        self.emit(Fact::Seized { job, processor: ProcId(server.0) });
        let distance = self.world.distance(here, there);
        self.counts.ran_at[distance as usize] += 1;
        self.transfer(here, there, input, Cargo::Input(server, job));
    }

    /// Ends a job's wait time (the paper's SJTT).
    fn end_wait(&mut self, server: ServerId, job: JobId) {
        // The wait of a job that a peer has accepted and given back has ended already if R3 ends it at acceptance.
        if !std::mem::replace(&mut self.jobs.get_mut(job).started, true) {
            let machine = &self.servers[server.index()];
            let (site, processors) = (machine.site, machine.cpus);
            self.emit(Fact::Started { job, site, processors });
        }
    }

    /// Makes a server idle. The caller must inform the system.
    fn release(&mut self, server: ServerId) {
        // R12: under the first answer this is called while the output is still on its way; the transfer continues
        // without the server.
        let machine = &mut self.servers[server.index()];
        let (phase, job) = (machine.phase, machine.job);
        (machine.phase, machine.job) = (Phase::Idle, None);
        if phase == Phase::Sending {
            let job = job.expect("a job has run");
            self.emit(Fact::Released { job, processor: ProcId(server.0) });
        }
    }

    fn transfer(&mut self, from: SiteId, to: SiteId, bytes: u64, cargo: Cargo) {
        let now = self.now();
        let route = (from, to, self.world.distance(from, to));
        let flow = narrow(self.transfers.insert(Transfer { route, cargo, end: None }));
        match self.network.open(flow, route, bytes, now) {
            Some(span) => {
                self.post_in(span, Event::Transferred(flow));
            }
            None => self.reshare(),
        }
    }

    /// R16: moves the end of every transfer according to its new rate.
    fn reshare(&mut self) {
        let now = self.now();
        let mut ends = Vec::new();
        self.network.reshare(now, |flow, end| ends.push((flow, end)));
        for (flow, end) in ends {
            if let Some(key) = self.transfers[flow as usize].end.take() {
                self.cancel(key);
            }
            let key = self.post_at(end, Event::Transferred(flow));
            self.transfers[flow as usize].end = Some(key);
        }
    }

    fn transferred(&mut self, flow: u32) -> Cargo {
        let Transfer { route, cargo, .. } = self.transfers.remove(flow as usize);
        self.network.close(flow, route);
        self.reshare();
        if let Cargo::Input(server, job) = cargo {
            let cpus = f64::from(self.servers[server.index()].cpus);
            // The work is spread over all CPUs, of which the owners leave a share to the grid.
            let runtime = self.jobs.get(job).runtime(cpus, self.grid_share());
            self.post_in(runtime, Event::Ran(server));
        }
        cargo
    }

    fn send_output(&mut self, server: ServerId) {
        let machine = &mut self.servers[server.index()];
        machine.phase = Phase::Sending;
        let (job, site) = (machine.job.expect("a job has run"), machine.site);
        let state = self.jobs.get(job);
        let (output, to) = (state.output, self.world.site_of(state.station));
        self.transfer(site, to, output, Cargo::Output(server, job));
    }

    /// R12: returns true if a server is occupied until its output has been transferred.
    fn output_keeps_server(&self) -> bool {
        self.config.readings.output_transfer == OutputTransfer::ServerBusy
    }

    /// Records that the output of a job has arrived (the paper's JCT). Returns the work station that has it.
    fn complete(&mut self, job: JobId) -> StationId {
        self.counts.completed += 1;
        let state = self.jobs.get_mut(job);
        let station = state.station;
        assert!(!std::mem::replace(&mut state.done, true), "job {job} was completed twice");
        self.jobs.forget();
        station
    }
}

/// Run of a [`Grid`](crate::Grid), for the length of one event.
pub(crate) struct Running<'a, O, C> {
    pub(crate) fabric: &'a mut Fabric<O>,
    pub(crate) context: &'a mut C,
}

impl<O, C> Deref for Running<'_, O, C> {
    type Target = Fabric<O>;

    #[inline]
    fn deref(&self) -> &Fabric<O> {
        self.fabric
    }
}

impl<O, C> DerefMut for Running<'_, O, C> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Fabric<O> {
        self.fabric
    }
}

impl<O: MessageObserver, C: Context<Event>> Run for Running<'_, O, C> {
    type Observer = O;
}

impl<O, C: Context<Event>> Context<Event> for Running<'_, O, C> {
    #[inline]
    fn now(&self) -> Time {
        self.context.now()
    }

    fn post_at(&mut self, at: Time, event: Event) -> EventKey {
        self.context.post_at(at, event)
    }

    fn cancel(&mut self, key: EventKey) -> bool {
        self.context.cancel(key)
    }

    fn emit(&mut self, fact: Fact) {
        self.context.emit(fact);
    }
}
