use crate::calendar::{Calendar, EventKey};
use crate::event::Prioritized;
use crate::fact::Fact;
use crate::sim::Context;
use crate::time::Time;

/// Records the events and facts that a component posts, to test it without a simulator.
#[derive(Debug)]
pub struct FakeContext<E> {
    /// Instant that the component sees.
    pub now: Time,
    /// Events that were posted and not cancelled.
    pub calendar: Calendar<E>,
    /// Facts that were emitted.
    pub facts: Vec<Fact>,
}

impl<E> FakeContext<E> {
    /// Returns a context at the instant `now`, without events and facts.
    pub const fn at(now: Time) -> Self {
        Self { now, calendar: Calendar::new(), facts: Vec::new() }
    }
}

impl<E: Prioritized> Context<E> for FakeContext<E> {
    fn now(&self) -> Time {
        self.now
    }

    fn post_at(&mut self, at: Time, event: E) -> EventKey {
        assert!(at >= self.now, "posted into the past");
        self.calendar.post(at, event.priority(), event)
    }

    fn cancel(&mut self, key: EventKey) -> bool {
        self.calendar.cancel(key).is_some()
    }

    fn emit(&mut self, fact: Fact) {
        self.facts.push(fact);
    }
}
