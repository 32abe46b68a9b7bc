//! What happens when messages get lost and schedulers crash.

use super::{Event, Grid, Phase};
use crate::faults::Transport;
use crate::jobs::Submission;
use crate::message::{Address, Kind, Witness};
use crate::post::{Body, Letter};
use crate::tree::SchedulerId;
use crate::world::{Bag, ServerId, StationId, narrow};
use sim_core::{Context, JobId, Span};

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// Puts a message on its way: straight, or through the transport where messages may fail.
    pub(super) fn dispatch(&mut self, letter: Letter, latency: Span, cx: &mut impl Context<Event>) {
        match &mut self.transport {
            None => {
                cx.post_in(latency, Event::Deliver(letter));
            }
            Some(transport) => {
                let key = transport.accept(letter, latency);
                self.attempt(key, cx);
            }
        }
    }

    fn transport(&mut self) -> &mut Transport {
        self.transport.as_mut().expect("faults are switched on")
    }

    /// Sends a message, once more if need be.
    fn attempt(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        for after in transport.attempt(key) {
            cx.post_in(after, Event::Arrives(key));
        }
        let again = cx.post_in(transport.pause(key), Event::SendAgain(key));
        transport.set_again(key, again);
    }

    /// No acknowledgement has come in time.
    pub(super) fn send_again(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        let Letter { from, .. } = transport.parcel(key).letter;
        if transport.is_down(from) {
            // It is on stable storage, and will be sent when the sender is up again.
            let again = cx.post_in(transport.pause(key), Event::SendAgain(key));
            transport.set_again(key, again);
            return;
        }
        self.repeat(key, cx);
    }

    fn repeat(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let kind = self.transport().parcel(key).letter.body.kind();
        self.tally.repeated += 1;
        self.tally.count(kind);
        self.attempt(key, cx);
    }

    /// A copy of a message comes in.
    pub(super) fn arrives(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        let Letter { from, to, .. } = transport.parcel(key).letter;
        if transport.is_down(to) {
            transport.landed(key);
            return;
        }
        for (overdue, event) in transport.overdue(from, to) {
            cx.cancel(event);
            self.repeat(overdue, cx);
        }
        let transport = self.transport();
        let ready = transport.arrive(key);
        if transport.acknowledges(key) {
            let latency = transport.parcel(key).latency;
            cx.post_in(latency, Event::Acknowledged(key));
        }
        transport.landed(key);
        self.tally.count(Kind::Acknowledgement);
        for letter in ready {
            self.deliver(letter, cx);
        }
    }

    pub(super) fn acknowledged(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        let Letter { from, .. } = transport.parcel(key).letter;
        if !transport.is_down(from)
            && let Some(event) = transport.acknowledged(key)
        {
            cx.cancel(event);
        }
        transport.landed(key);
    }

    /// Posts the next crash of every scheduler.
    pub(super) fn post_crashes(&mut self, cx: &mut impl Context<Event>) {
        if self.transport.is_some() {
            for scheduler in 0..narrow(self.forest.schedulers.len()) {
                self.post_crash(SchedulerId(scheduler), cx);
            }
        }
    }

    fn post_crash(&mut self, scheduler: SchedulerId, cx: &mut impl Context<Event>) {
        if let Some(uptime) = self.transport().uptime() {
            cx.post_in(uptime, Event::Crash(scheduler));
        }
    }

    /// A scheduler crashes: it loses what it can ask for again.
    pub(super) fn crash(&mut self, scheduler: SchedulerId, cx: &mut impl Context<Event>) {
        if !self.has_work() {
            return;
        }
        self.tally.crashes += 1;
        let transport = self.transport();
        transport.down[scheduler.index()] = true;
        let downtime = transport.downtime();
        cx.post_in(downtime, Event::Restart(scheduler));
        let at = &self.forest.schedulers[scheduler.index()];
        if at.is_leaf() {
            self.leaves[at.site().index()].forget_requests();
        } else {
            let desk = &mut self.desks[scheduler.index()];
            desk.forget_requests();
            for slot in 0..desk.books.children() {
                self.unmark(scheduler, slot);
            }
        }
    }

    /// A scheduler restarts from stable storage, and tells its neighbours.
    pub(super) fn restart(&mut self, scheduler: SchedulerId, cx: &mut impl Context<Event>) {
        self.transport().down[scheduler.index()] = false;
        self.post_crash(scheduler, cx);
        let at = self.forest.schedulers[scheduler.index()].clone();
        if at.parent.is_some() {
            self.send_up(scheduler, Body::Restarted, cx);
        }
        for child in 0..narrow(at.degree()) {
            self.send_down(scheduler, child, Body::Restarted, cx);
        }
        if at.is_leaf() {
            // Resources may have changed in the meantime.
            self.resources_changed(at.site(), cx);
        } else {
            self.serve(scheduler, cx);
        }
    }

    /// A neighbour has restarted: what it was asked is forgotten, and so is what it asked for.
    pub(super) fn neighbour_restarted(&mut self, from: SchedulerId, at: SchedulerId, cx: &mut impl Context<Event>) {
        let scheduler = &self.forest.schedulers[at.index()];
        let (leaf, site) = (scheduler.is_leaf(), scheduler.site());
        if scheduler.parent != Some(from) {
            let slot = self.forest.schedulers[from.index()].slot as usize;
            self.unmark(at, slot);
            self.serve(at, cx);
        } else if leaf {
            self.leaves[site.index()].forget_requests();
            self.fill(site, cx);
        } else {
            self.desks[at.index()].forget_requests();
            self.ask_again(at, cx);
        }
    }

    /// Tells the parent anew that servers below want jobs that nobody knows, and asks for work through every channel.
    fn ask_again(&mut self, at: SchedulerId, cx: &mut impl Context<Event>) {
        if std::mem::take(&mut self.desks[at.index()].wanting) {
            self.rfjm(at, true, cx);
        }
        self.serve(at, cx);
    }

    /// Takes back the marks of a child's branches. Jobs that are being collected for one become unassigned when they come.
    fn unmark(&mut self, at: SchedulerId, slot: usize) {
        let desk = &mut self.desks[at.index()];
        for channel in &mut desk.channels {
            let branch = &mut channel.branches[slot];
            if std::mem::take(&mut branch.marked) > 0 {
                desk.marks -= 1;
            }
            (branch.ticket, branch.wants) = (0, Bag::EMPTY);
        }
    }

    /// Where messages may fail the answer to an offer is a message, and the server waits for it.
    pub(super) fn answered(&mut self, server: ServerId, job: JobId, cx: &mut impl Context<Event>) {
        let machine = &mut self.machines[server.index()];
        let waits = matches!(machine.phase, Phase::Offering(_)) && machine.job == Some(job);
        if !waits {
            // Too late: it has given up, and may be busy with something else.
            let station = Address::Station(self.jobs.get(job).station);
            self.send(Address::Server(server), station, Body::Decline { job }, cx);
            return;
        }
        if let Some(silence) = machine.silence.take() {
            cx.cancel(silence);
        }
        self.fetch(server, job, cx);
    }

    /// A work station's answer came too late, or a peer gives a job back: it is submitted anew.
    pub(super) fn declined(&mut self, station: StationId, job: JobId, cx: &mut impl Context<Event>) {
        self.tally.resubmitted += 1;
        let ticket = self.jobs.get_mut(job);
        (ticket.taken, ticket.shared) = (false, false);
        self.request(station, job, cx);
    }
}
