//! Delivery of messages: at once through the calendar, or through the transport where messages may fail.

use super::Fabric;
use crate::event::Event;
use crate::message::{Envelope, Kind};
use crate::observer::MessageObserver;
use crate::transport::Transport;
use sim_core::{Context, Span};

impl<W: MessageObserver> Fabric<W> {
    /// Puts a message on its way: straight, or through the transport where messages may fail.
    pub(crate) fn dispatch(&mut self, envelope: Envelope, latency: Span, cx: &mut impl Context<Event>) {
        match &mut self.transport {
            None => {
                cx.post_in(latency, Event::Deliver(envelope));
            }
            Some(transport) => {
                let key = transport.accept(envelope, latency);
                self.attempt(key, cx);
            }
        }
    }

    /// The transport, of a run in which messages may fail.
    pub(crate) fn transport(&mut self) -> &mut Transport {
        self.transport.as_mut().expect("faults are switched on")
    }

    /// Sends a message, once more if need be.
    fn attempt(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        // None, one or two copies: lost, sent, or doubled on the way.
        for after in transport.attempt(key) {
            cx.post_in(after, Event::Arrives(key));
        }
        let again = cx.post_in(transport.pause(key), Event::SendAgain(key));
        transport.set_again(key, again);
    }

    /// Sends a message again that has not been acknowledged in time.
    pub(crate) fn send_again(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        let Envelope { from, .. } = transport.parcel(key).envelope;
        if transport.is_down(from) {
            // It is on stable storage, and will be sent when the sender is up again.
            let again = cx.post_in(transport.pause(key), Event::SendAgain(key));
            transport.set_again(key, again);
            return;
        }
        self.repeat(key, cx);
    }

    fn repeat(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let kind = self.transport().parcel(key).envelope.payload.kind();
        self.counts.repeated += 1;
        self.counts.count(kind);
        self.attempt(key, cx);
    }

    /// Takes in a copy of a message. Returns what can be delivered now: the message, unless a predecessor is missing, and those
    /// that had to wait for it.
    pub(crate) fn arrives(&mut self, key: u32, cx: &mut impl Context<Event>) -> Vec<Envelope> {
        let transport = self.transport();
        let Envelope { from, to, .. } = transport.parcel(key).envelope;
        if transport.is_down(to) {
            transport.landed(key);
            return Vec::new();
        }
        // The sender is up: what has long been sent to it in vain need not wait for the end of its pause.
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
        // Only now may the transport forget the message: until the acknowledgement was on its way nothing held it.
        transport.landed(key);
        self.counts.count(Kind::Acknowledgement);
        ready
    }

    /// Takes in an acknowledgement: the message need not be sent again.
    pub(crate) fn acknowledged(&mut self, key: u32, cx: &mut impl Context<Event>) {
        let transport = self.transport();
        let Envelope { from, .. } = transport.parcel(key).envelope;
        // A crashed sender does not hear it, and repeats the message when it is up.
        if !transport.is_down(from)
            && let Some(event) = transport.acknowledged(key)
        {
            cx.cancel(event);
        }
        transport.landed(key);
    }
}
