//! Reliable, ordered delivery over a network that loses, delays and doubles messages.

use crate::faults::Faults;
use crate::ids::narrow;
use crate::message::{Address, Envelope};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use sim_core::{EventKey, Purpose, Span, Stream, Streams};
use std::collections::BTreeMap;

/// The transport.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) faults: Faults,
    /// Whether each scheduler is down.
    pub(crate) down: Vec<bool>,
    unacknowledged: slab::Slab<Unacknowledged>,
    connections: BTreeMap<(Address, Address), Connection>,
    draws: Stream,
    crashes: Stream,
}

/// One direction between two nodes.
#[derive(Clone, Debug, Default)]
struct Connection {
    sent: u32,
    delivered: u32,
    /// Messages that have not been acknowledged.
    open: Vec<u32>,
    /// Messages that came in before their predecessors.
    early: BTreeMap<u32, Envelope>,
}

/// A message that has not been acknowledged, or of which copies are still on their way.
#[derive(Clone, Debug)]
pub(crate) struct Unacknowledged {
    pub(crate) envelope: Envelope,
    pub(crate) latency: Span,
    number: u32,
    attempts: u32,
    /// Copies and acknowledgements on their way.
    travelling: u32,
    /// Until it is acknowledged: when it is sent again.
    again: Option<EventKey>,
}

/// The first pause before a message is sent again, beyond the round trip; each further one is twice as long.
const PAUSE: Span = Span::from_nanos(10_000_000);
/// After so many attempts the receiver may well be down.
const MANY_ATTEMPTS: u32 = 4;
/// No pause is longer.
const LONGEST_PAUSE: Span = Span::from_secs(600);

impl Transport {
    pub(crate) fn new(faults: &Faults, schedulers: usize, streams: &Streams) -> Self {
        Self {
            faults: faults.clone(),
            down: vec![false; schedulers],
            unacknowledged: slab::Slab::new(),
            connections: BTreeMap::new(),
            draws: streams.stream(Purpose("faults of messages"), 0),
            crashes: streams.stream(Purpose("crashes of schedulers"), 0),
        }
    }

    pub(crate) fn is_down(&self, address: Address) -> bool {
        matches!(address, Address::Scheduler(scheduler) if self.down[scheduler.index()])
    }

    /// Takes in a message to be sent.
    pub(crate) fn accept(&mut self, envelope: Envelope, latency: Span) -> u32 {
        let connection = self.connections.entry((envelope.from, envelope.to)).or_default();
        // Numbers count the messages of one sender to one receiver: the receiver puts them into that order.
        connection.sent += 1;
        let number = connection.sent;
        let parcel = Unacknowledged { envelope, latency, number, attempts: 0, travelling: 0, again: None };
        let key = narrow(self.unacknowledged.insert(parcel));
        connection.open.push(key);
        key
    }

    pub(crate) fn parcel(&mut self, key: u32) -> &mut Unacknowledged {
        &mut self.unacknowledged[key as usize]
    }

    /// The copies that one attempt puts on their way: after how long each comes in.
    pub(crate) fn attempt(&mut self, key: u32) -> Vec<Span> {
        let mut copies = Vec::new();
        // A doubled message is two copies, each of which may be lost or late.
        let times = 1 + u32::from(self.happens(self.faults.duplication));
        for _ in 0..times {
            if !self.happens(self.faults.loss) {
                let late = if self.happens(self.faults.delay) {
                    let draw: f64 = Exp1.sample(&mut self.draws);
                    Span::from_secs_f64(draw * self.faults.mean_delay)
                } else {
                    Span::ZERO
                };
                copies.push(self.unacknowledged[key as usize].latency + late);
            }
        }
        let parcel = &mut self.unacknowledged[key as usize];
        parcel.attempts += 1;
        parcel.travelling += narrow(copies.len());
        copies
    }

    /// How long the sender waits for an acknowledgement.
    pub(crate) fn pause(&self, key: u32) -> Span {
        // Twice as long at each attempt: a receiver that is down would otherwise be flooded.
        let Unacknowledged { latency, attempts, .. } = self.unacknowledged[key as usize];
        latency * 2 + (PAUSE * (1 << attempts.min(20))).min(LONGEST_PAUSE)
    }

    pub(crate) fn set_again(&mut self, key: u32, event: EventKey) {
        self.unacknowledged[key as usize].again = Some(event);
    }

    /// A copy comes in at a receiver that is up. Returns the messages that can be delivered now, in order.
    pub(crate) fn arrive(&mut self, key: u32) -> Vec<Envelope> {
        let Unacknowledged { envelope, number, .. } = self.unacknowledged[key as usize];
        let connection = self.connections.get_mut(&(envelope.from, envelope.to)).expect("it was sent through it");
        // Else it is a copy of one that has been delivered.
        if number > connection.delivered {
            connection.early.insert(number, envelope);
        }
        let mut ready = Vec::new();
        while let Some(envelope) = connection.early.remove(&(connection.delivered + 1)) {
            connection.delivered += 1;
            ready.push(envelope);
        }
        ready
    }

    /// A message has come from `from`, which is therefore up: what `to` has tried in vain to tell it is due now. Returns
    /// those messages with the events that would have sent them again.
    pub(crate) fn overdue(&mut self, from: Address, to: Address) -> Vec<(u32, EventKey)> {
        let Some(connection) = self.connections.get(&(to, from)) else { return Vec::new() };
        let mut overdue = Vec::new();
        for &key in &connection.open {
            let Unacknowledged { attempts, again, .. } = &mut self.unacknowledged[key as usize];
            // Only what has long been tried: else every message would repeat all that is on its way.
            if *attempts >= MANY_ATTEMPTS {
                *attempts = 0;
                overdue.extend(again.take().map(|event| (key, event)));
            }
        }
        overdue
    }

    /// Whether an acknowledgement makes its way back.
    pub(crate) fn acknowledges(&mut self, key: u32) -> bool {
        // An acknowledgement may get lost as any other message; the message then comes once more and is dropped as a
        // copy.
        let makes_it = !self.happens(self.faults.loss);
        self.unacknowledged[key as usize].travelling += u32::from(makes_it);
        makes_it
    }

    /// The sender knows that it has come in. Returns the event that would have sent it again.
    pub(crate) fn acknowledged(&mut self, key: u32) -> Option<EventKey> {
        let Unacknowledged { envelope, again, .. } = &mut self.unacknowledged[key as usize];
        let event = again.take()?;
        let connection = self.connections.get_mut(&(envelope.from, envelope.to)).expect("it was sent through it");
        connection.open.retain(|open| *open != key);
        Some(event)
    }

    /// One copy or acknowledgement has come in, or nowhere.
    pub(crate) fn landed(&mut self, key: u32) {
        self.unacknowledged[key as usize].travelling -= 1;
        self.forget(key);
    }

    fn forget(&mut self, key: u32) {
        let Unacknowledged { travelling, again, .. } = &self.unacknowledged[key as usize];
        // Kept as long as a copy of it may still come in: the number must be recognised.
        if *travelling == 0 && again.is_none() {
            self.unacknowledged.remove(key as usize);
        }
    }

    /// Whether every message has been delivered and acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.unacknowledged.is_empty() && self.connections.values().all(|connection| connection.early.is_empty())
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.draws.random::<f64>() < probability
    }

    /// How long a scheduler stays up; `None` for ever.
    pub(crate) fn uptime(&mut self) -> Option<Span> {
        let mean = self.faults.mean_uptime?;
        Some(self.exponential(mean))
    }

    /// How long a scheduler stays down.
    pub(crate) fn downtime(&mut self) -> Span {
        self.exponential(self.faults.mean_downtime)
    }

    fn exponential(&mut self, mean: f64) -> Span {
        let draw: f64 = Exp1.sample(&mut self.crashes);
        Span::from_secs_f64(mean * draw)
    }
}
