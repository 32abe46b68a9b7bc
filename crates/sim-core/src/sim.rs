//! Execution of a model: [`Model`], the [`Context`] it acts through, and [`Sim`], which drives it.

use crate::calendar::{Calendar, EventKey, Prioritized};
use crate::fact::{Fact, Probe};
use crate::time::{Span, Time};
use std::marker::PhantomData;

/// Discrete-event model. It owns all of its state.
pub trait Model {
    /// Closed enum of the events of the model.
    type Event: Prioritized;

    /// Posts the first events. Called once, before any event.
    fn start(&mut self, cx: &mut impl Context<Self::Event>);

    /// Handles `event`, which happens at `cx.now()`.
    fn handle(&mut self, event: Self::Event, cx: &mut impl Context<Self::Event>);
}

/// The loop of events as a model sees it: the clock, the calendar and the observers.
pub trait Context<E> {
    /// Present instant.
    fn now(&self) -> Time;

    /// Posts `event` for the instant `at`.
    ///
    /// # Panics
    ///
    /// If `at` lies in the past: a bug of the model.
    fn post_at(&mut self, at: Time, event: E) -> EventKey;

    /// Cancels an event, in O(1). Returns false if it has already happened or been cancelled.
    fn cancel(&mut self, key: EventKey) -> bool;

    /// Emits a fact to the probe, which cannot answer.
    fn emit(&mut self, fact: Fact);

    /// Returns true if no other event is known to be pending for the present instant. An event that the model would
    /// post for this instant as its last act would then be the next to happen. It may be handled at once, without its
    /// way through the calendar.
    ///
    /// Returns `false` where that is not known, as inside another model.
    fn is_last_of_instant(&self) -> bool {
        false
    }

    /// Posts `event` for the instant `after` from now.
    fn post_in(&mut self, after: Span, event: E) -> EventKey {
        self.post_at(self.now() + after, event)
    }

    /// Returns a context for a model inside this one, whose events are wrapped into this one's. One level of nesting
    /// per model: a `handle` that recursed through `lift` would need infinitely many types.
    fn lift<Child>(&mut self, wrap: impl Fn(Child) -> E) -> impl Context<Child>
    where
        Self: Sized,
    {
        Lift { parent: self, wrap, outer: PhantomData }
    }
}

struct Lift<'a, E, C, F> {
    parent: &'a mut C,
    wrap: F,
    outer: PhantomData<fn(E)>,
}

impl<E, Child, C: Context<E>, F: Fn(Child) -> E> Context<Child> for Lift<'_, E, C, F> {
    fn now(&self) -> Time {
        self.parent.now()
    }

    fn post_at(&mut self, at: Time, event: Child) -> EventKey {
        self.parent.post_at(at, (self.wrap)(event))
    }

    fn cancel(&mut self, key: EventKey) -> bool {
        self.parent.cancel(key)
    }

    fn emit(&mut self, fact: Fact) {
        self.parent.emit(fact);
    }
}

/// Simulation: a model, its calendar and its clock, with a probe `P` that observes.
///
/// The run is a function of the model as it was passed in: state is plain data, the order of events is total, and
/// nothing reads a clock.
pub struct Sim<M: Model, P = ()> {
    model: M,
    engine: EventLoop<M::Event, P>,
}

impl<M: Model, P: Probe> Sim<M, P> {
    /// Starts `model` at time zero.
    pub fn new(mut model: M, probe: P) -> Self {
        let mut engine = EventLoop { now: Time::ZERO, calendar: Calendar::default(), probe };
        model.start(&mut engine);
        Self { model, engine }
    }

    /// Handles the next event. Returns false if there is none.
    #[inline]
    pub fn step(&mut self) -> bool {
        let Some((at, event)) = self.engine.calendar.pop() else {
            return false;
        };
        self.engine.now = at;
        self.model.handle(event, &mut self.engine);
        true
    }

    /// Adds an event from outside of the model, such as the submission of one more job.
    ///
    /// # Panics
    ///
    /// Panics if `at` is in the past.
    pub fn post_at(&mut self, at: Time, event: M::Event) -> EventKey {
        self.engine.post_at(at, event)
    }

    /// Runs until the calendar is empty, and returns the model and the probe.
    pub fn run(mut self) -> (M, P) {
        while self.step() {}
        self.into_parts()
    }

    /// Runs until every event up to and including `end` has happened; the clock then stands at `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.next_time().is_some_and(|at| at <= end) {
            self.step();
        }
        // No event need have happened at `end` itself.
        self.engine.now = self.engine.now.max(end);
    }

    /// Runs while `more` returns true. It is called with the model before each event, for instance to stop at the 100 000th departure.
    pub fn run_while(&mut self, mut more: impl FnMut(&M) -> bool) {
        while more(&self.model) && self.step() {}
    }

    /// Returns an independent copy of the simulation at this point, with a probe of its own.
    pub fn fork<Q: Probe>(&self, probe: Q) -> Sim<M, Q>
    where
        M: Clone,
        M::Event: Clone,
    {
        let engine = EventLoop { now: self.engine.now, calendar: self.engine.calendar.clone(), probe };
        Sim { model: self.model.clone(), engine }
    }

    /// Instant of the next event, if there is one.
    pub fn next_time(&mut self) -> Option<Time> {
        self.engine.calendar.next_time()
    }

    /// Present instant: that of the last event.
    pub const fn now(&self) -> Time {
        self.engine.now
    }

    /// Model in its present state.
    pub const fn model(&self) -> &M {
        &self.model
    }

    /// Probe, with its observations so far.
    pub const fn probe(&self) -> &P {
        &self.engine.probe
    }

    /// Returns the model and the probe of a run that need not be over.
    pub fn into_parts(self) -> (M, P) {
        (self.model, self.engine.probe)
    }
}

/// Outermost context: the clock, the calendar and the probe.
struct EventLoop<E, P> {
    now: Time,
    calendar: Calendar<E>,
    probe: P,
}

impl<E: Prioritized, P: Probe> Context<E> for EventLoop<E, P> {
    #[inline]
    fn now(&self) -> Time {
        self.now
    }

    #[inline]
    fn post_at(&mut self, at: Time, event: E) -> EventKey {
        assert!(at >= self.now, "an event was posted for {at} s, but it is already {} s", self.now);
        self.calendar.post(at, event.priority(), event)
    }

    fn cancel(&mut self, key: EventKey) -> bool {
        self.calendar.cancel(key).is_some()
    }

    #[inline]
    fn emit(&mut self, fact: Fact) {
        self.probe.observe(self.now, &fact);
    }

    #[inline]
    fn is_last_of_instant(&self) -> bool {
        self.calendar.has_nothing_until(self.now)
    }
}
