//! Crashes of schedulers: what is lost, and how it is asked for again.
//!
//! What a scheduler owns is on stable storage: its jobs, what it has delegated, and messages that have not been acknowledged.
//! What it can ask for again is lost.

use super::Trees;
use crate::event::Event;
use crate::fabric::Fabric;
use crate::ids::{SchedulerId, narrow};
use crate::message::CompactPayload;
use crate::observer::MessageObserver;
use crate::world::Bag;
use sim_core::Context;

impl Trees {
    /// Posts the next crash of every scheduler.
    pub(crate) fn post_crashes(&mut self, fabric: &mut Fabric<impl MessageObserver>, cx: &mut impl Context<Event>) {
        if fabric.transport.is_some() {
            for scheduler in 0..narrow(self.forest.schedulers.len()) {
                self.post_crash(SchedulerId(scheduler), fabric, cx);
            }
        }
    }

    fn post_crash(
        &mut self,
        scheduler: SchedulerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        if let Some(uptime) = fabric.transport().uptime() {
            cx.post_in(uptime, Event::Crash(scheduler));
        }
    }

    /// A scheduler crashes: it loses what it can ask for again.
    pub(crate) fn crash(
        &mut self,
        scheduler: SchedulerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        fabric.counts.crashes += 1;
        let transport = fabric.transport();
        // Down: the transport drops what comes for it, and keeps what it has to send.
        transport.down[scheduler.index()] = true;
        let downtime = transport.downtime();
        cx.post_in(downtime, Event::Restart(scheduler));
        let at = &self.forest.schedulers[scheduler.index()];
        if at.is_leaf() {
            self.leaves[at.site().index()].forget_requests();
        } else {
            let state = &mut self.states[scheduler.index()];
            state.forget_requests();
            // Marks can be asked for again: children send their RFCs anew when they hear of the restart.
            for slot in 0..state.delegated.children() {
                self.unmark(scheduler, slot);
            }
        }
    }

    /// A scheduler restarts from stable storage, and tells its neighbours.
    pub(crate) fn restart(
        &mut self,
        scheduler: SchedulerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        fabric.transport().down[scheduler.index()] = false;
        self.post_crash(scheduler, fabric, cx);
        // Neighbours must hear of it even if nothing was asked: they may wait for an answer to what it has forgotten.
        let at = self.forest.schedulers[scheduler.index()].clone();
        if at.parent.is_some() {
            self.send_up(scheduler, CompactPayload::Restarted, fabric, cx);
        }
        for child in 0..narrow(at.degree()) {
            self.send_down(scheduler, child, CompactPayload::Restarted, fabric, cx);
        }
        if at.is_leaf() {
            // Resources may have changed in the meantime.
            self.resources_changed(at.site(), fabric, cx);
        } else {
            self.serve(scheduler, fabric, cx);
        }
    }

    /// A neighbour has restarted: what it was asked is forgotten, and so is what it asked for.
    pub(crate) fn neighbour_restarted(
        &mut self,
        from: SchedulerId,
        at: SchedulerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        let scheduler = &self.forest.schedulers[at.index()];
        let (leaf, site) = (scheduler.is_leaf(), scheduler.site());
        // A child has lost its requests: its marks here are void, and its RFCs will come again. A parent has lost
        // those of this scheduler, which asks again.
        if scheduler.parent != Some(from) {
            let slot = self.forest.schedulers[from.index()].slot as usize;
            self.unmark(at, slot);
            self.serve(at, fabric, cx);
        } else if leaf {
            self.leaves[site.index()].forget_requests();
            self.fill(site, fabric, cx);
        } else {
            self.states[at.index()].forget_requests();
            self.ask_again(at, fabric, cx);
        }
    }

    /// Tells the parent anew that servers below want jobs that nobody knows, and asks for work through every channel.
    fn ask_again(&mut self, at: SchedulerId, fabric: &mut Fabric<impl MessageObserver>, cx: &mut impl Context<Event>) {
        if std::mem::take(&mut self.states[at.index()].wanting) {
            self.rfjm(at, true, fabric, cx);
        }
        self.serve(at, fabric, cx);
    }

    /// Takes back the marks of a child's branches. Jobs that are being collected for one become unassigned when they come.
    fn unmark(&mut self, at: SchedulerId, slot: usize) {
        let state = &mut self.states[at.index()];
        for channel in &mut state.channels {
            let branch = &mut channel.branches[slot];
            if std::mem::take(&mut branch.marked) > 0 {
                state.marked_branches -= 1;
            }
            (branch.ticket, branch.wants) = (0, Bag::EMPTY);
        }
    }
}
