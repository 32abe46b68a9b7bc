//! Faults: control messages that are lost, delayed or doubled, and schedulers that crash and restart.
//!
//! Below the model of the paper lies, once faults are switched on, a transport as any system of messages needs one. A
//! sender keeps each message until it has been acknowledged and sends it again and again; a receiver acknowledges every copy,
//! drops those that it has had, and puts messages of one sender into their order. So what is delivered is delivered once
//! and in order, but late.
//!
//! A crashed scheduler hears nothing and does nothing. What it owns is on stable storage: its jobs, its books, and the
//! messages that have not been acknowledged. What it can ask for again is not: who has requested computation of it, what it
//! has requested, and whom it has heard of. When it restarts it tells its neighbours
//! ([`Payload::Restarted`](crate::message::Payload::Restarted)), and everybody asks anew.

use crate::config::ConfigError;
use crate::message::Address;
use crate::post::Letter;
use crate::world::narrow;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};
use sim_core::{EventKey, Purpose, Span, Stream, Streams};
use std::collections::BTreeMap;

/// How often what fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Probability that a control message is lost on its way, acknowledgements included. Below 1.
    pub loss: f64,
    /// Probability that a message comes twice.
    pub duplication: f64,
    /// Probability that a message is delayed.
    pub delay: f64,
    /// Mean of the delay, which is exponential, in seconds.
    pub mean_delay: f64,
    /// Mean time between the restart of a scheduler and its next crash, in seconds; `None` if none ever crashes.
    pub mean_uptime: Option<f64>,
    /// Mean time that a crashed scheduler stays down, in seconds.
    pub mean_downtime: f64,
}

impl Faults {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first field that makes no sense, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let shares = [("loss", self.loss), ("duplication", self.duplication), ("delay", self.delay)];
        for (field, found) in shares {
            if !(0.0..=0.99).contains(&found) {
                return Err(ConfigError::Number { field, found, expected: "a probability from 0 to 0.99" });
            }
        }
        let means = [("mean_delay", Some(self.mean_delay)), ("mean_uptime", self.mean_uptime)];
        for (field, found) in means.into_iter().chain([("mean_downtime", Some(self.mean_downtime))]) {
            if let Some(found) = found
                && !(1e-9..1e9).contains(&found)
            {
                return Err(ConfigError::Mean { field, found });
            }
        }
        Ok(())
    }
}

/// The transport.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) faults: Faults,
    /// Whether each scheduler is down.
    pub(crate) down: Vec<bool>,
    parcels: slab::Slab<Parcel>,
    links: BTreeMap<(Address, Address), Link>,
    draws: Stream,
    crashes: Stream,
}

/// One direction between two nodes.
#[derive(Clone, Debug, Default)]
struct Link {
    sent: u32,
    delivered: u32,
    /// Messages that have not been acknowledged.
    open: Vec<u32>,
    /// Messages that came in before their predecessors.
    early: BTreeMap<u32, Letter>,
}

/// A message that has not been acknowledged, or of which copies are still on their way.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) letter: Letter,
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
            parcels: slab::Slab::new(),
            links: BTreeMap::new(),
            draws: streams.stream(Purpose("faults of messages"), 0),
            crashes: streams.stream(Purpose("crashes of schedulers"), 0),
        }
    }

    pub(crate) fn is_down(&self, address: Address) -> bool {
        matches!(address, Address::Scheduler(scheduler) if self.down[scheduler.index()])
    }

    /// Takes in a message to be sent.
    pub(crate) fn accept(&mut self, letter: Letter, latency: Span) -> u32 {
        let link = self.links.entry((letter.from, letter.to)).or_default();
        link.sent += 1;
        let number = link.sent;
        let parcel = Parcel { letter, latency, number, attempts: 0, travelling: 0, again: None };
        let key = narrow(self.parcels.insert(parcel));
        link.open.push(key);
        key
    }

    pub(crate) fn parcel(&mut self, key: u32) -> &mut Parcel {
        &mut self.parcels[key as usize]
    }

    /// The copies that one attempt puts on their way: after how long each comes in.
    pub(crate) fn attempt(&mut self, key: u32) -> Vec<Span> {
        let mut copies = Vec::new();
        let times = 1 + u32::from(self.happens(self.faults.duplication));
        for _ in 0..times {
            if !self.happens(self.faults.loss) {
                let late = if self.happens(self.faults.delay) {
                    let draw: f64 = Exp1.sample(&mut self.draws);
                    Span::from_secs_f64(draw * self.faults.mean_delay)
                } else {
                    Span::ZERO
                };
                copies.push(self.parcels[key as usize].latency + late);
            }
        }
        let parcel = &mut self.parcels[key as usize];
        parcel.attempts += 1;
        parcel.travelling += narrow(copies.len());
        copies
    }

    /// How long the sender waits for an acknowledgement.
    pub(crate) fn pause(&self, key: u32) -> Span {
        let Parcel { latency, attempts, .. } = self.parcels[key as usize];
        latency * 2 + (PAUSE * (1 << attempts.min(20))).min(LONGEST_PAUSE)
    }

    pub(crate) fn set_again(&mut self, key: u32, event: EventKey) {
        self.parcels[key as usize].again = Some(event);
    }

    /// A copy comes in at a receiver that is up. Returns the messages that can be delivered now, in order.
    pub(crate) fn arrive(&mut self, key: u32) -> Vec<Letter> {
        let Parcel { letter, number, .. } = self.parcels[key as usize];
        let link = self.links.get_mut(&(letter.from, letter.to)).expect("it was sent through it");
        if number > link.delivered {
            link.early.insert(number, letter);
        }
        let mut ready = Vec::new();
        while let Some(letter) = link.early.remove(&(link.delivered + 1)) {
            link.delivered += 1;
            ready.push(letter);
        }
        ready
    }

    /// A message has come from `from`, which is therefore up: what `to` has tried in vain to tell it is due now. Returns
    /// those messages with the events that would have sent them again.
    pub(crate) fn overdue(&mut self, from: Address, to: Address) -> Vec<(u32, EventKey)> {
        let Some(link) = self.links.get(&(to, from)) else { return Vec::new() };
        let mut overdue = Vec::new();
        for &key in &link.open {
            let Parcel { attempts, again, .. } = &mut self.parcels[key as usize];
            if *attempts >= MANY_ATTEMPTS {
                *attempts = 0;
                overdue.extend(again.take().map(|event| (key, event)));
            }
        }
        overdue
    }

    /// Whether an acknowledgement makes its way back.
    pub(crate) fn acknowledges(&mut self, key: u32) -> bool {
        let makes_it = !self.happens(self.faults.loss);
        self.parcels[key as usize].travelling += u32::from(makes_it);
        makes_it
    }

    /// The sender knows that it has come in. Returns the event that would have sent it again.
    pub(crate) fn acknowledged(&mut self, key: u32) -> Option<EventKey> {
        let Parcel { letter, again, .. } = &mut self.parcels[key as usize];
        let event = again.take()?;
        let link = self.links.get_mut(&(letter.from, letter.to)).expect("it was sent through it");
        link.open.retain(|open| *open != key);
        Some(event)
    }

    /// One copy or acknowledgement has come in, or nowhere.
    pub(crate) fn landed(&mut self, key: u32) {
        self.parcels[key as usize].travelling -= 1;
        self.forget(key);
    }

    fn forget(&mut self, key: u32) {
        let Parcel { travelling, again, .. } = &self.parcels[key as usize];
        if *travelling == 0 && again.is_none() {
            self.parcels.remove(key as usize);
        }
    }

    /// Whether every message has been delivered and acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.parcels.is_empty() && self.links.values().all(|link| link.early.is_empty())
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
