//! How a model runs: [`Model`], the [`Context`] it acts through, and [`Sim`], which drives it.

use crate::calendar::{Calendar, EventKey};
use crate::event::Prioritized;
use crate::fact::{Fact, Probe};
use crate::time::{Span, Time};
use std::marker::PhantomData;

/// A discrete-event model. It owns all of its state.
pub trait Model {
    /// The closed enum of everything that can happen.
    type Event: Prioritized;

    /// Posts the first events. Called once, before anything happens.
    fn start(&mut self, cx: &mut impl Context<Self::Event>);

    /// Handles `event`, which happens at `cx.now()`.
    fn handle(&mut self, event: Self::Event, cx: &mut impl Context<Self::Event>);
}

/// The engine as a model sees it: the clock, the calendar and the observers.
pub trait Context<E> {
    /// The present instant.
    fn now(&self) -> Time;

    /// Posts `event` for the instant `at`.
    ///
    /// # Panics
    ///
    /// If `at` lies in the past: a bug of the model.
    fn post_at(&mut self, at: Time, event: E) -> EventKey;

    /// Takes an event back, in O(1); false if it has already happened or been cancelled.
    fn cancel(&mut self, key: EventKey) -> bool;

    /// Emits a fact to the probe, which cannot answer.
    fn emit(&mut self, fact: Fact);

    /// Whether nothing else is known to be pending for the present instant: an event that the model would post for this very
    /// instant, as the last thing that it does about the present one, would be the next to happen. It may as well happen at
    /// once, which saves its way through the calendar.
    ///
    /// `false` where that is not known, as inside another model.
    fn is_last_of_instant(&self) -> bool {
        false
    }

    /// Posts `event` for the instant `after` from now.
    fn post_in(&mut self, after: Span, event: E) -> EventKey {
        self.post_at(self.now() + after, event)
    }

    /// A context for a model inside this one, whose events are wrapped into this one's. One level of nesting per
    /// model: a `handle` that recursed through `lift` would ask the compiler for infinitely many types.
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

/// A simulation: a model, its calendar and its clock, with a probe `P` that observes.
///
/// The run is a function of the model as it was handed over: state is plain data, the order of events is total, and
/// nothing reads a clock.
pub struct Sim<M: Model, P = ()> {
    model: M,
    probe: P,
    calendar: Calendar<M::Event>,
    now: Time,
}

impl<M: Model, P: Probe> Sim<M, P> {
    /// Starts `model` at time zero.
    pub fn new(model: M, probe: P) -> Self {
        let mut sim = Self { model, probe, calendar: Calendar::new(), now: Time::ZERO };
        let mut cx = EngineContext { now: sim.now, calendar: &mut sim.calendar, probe: &mut sim.probe };
        sim.model.start(&mut cx);
        sim
    }

    /// Handles the next event; false if there is none.
    #[inline]
    pub fn step(&mut self) -> bool {
        let Some((at, event)) = self.calendar.pop() else {
            return false;
        };
        self.now = at;
        let mut cx = EngineContext { now: at, calendar: &mut self.calendar, probe: &mut self.probe };
        self.model.handle(event, &mut cx);
        true
    }

    /// Runs until the calendar is empty, and hands back the model and the probe.
    pub fn run(mut self) -> (M, P) {
        while self.step() {}
        (self.model, self.probe)
    }

    /// Runs until every event up to and including `end` has happened; the clock then stands at `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.calendar.next_time().is_some_and(|at| at <= end) {
            self.step();
        }
        // No event need have happened at `end` itself.
        self.now = self.now.max(end);
    }

    /// Runs while `more` says so of the model, asked before each event: until the 100 000th departure, say.
    pub fn run_while(&mut self, mut more: impl FnMut(&M) -> bool) {
        while more(&self.model) && self.step() {}
    }

    /// A copy that goes its own way from here, with a probe of its own: state is plain data, so a copy is a branch.
    pub fn fork<Q: Probe>(&self, probe: Q) -> Sim<M, Q>
    where
        M: Clone,
        M::Event: Clone,
    {
        Sim { model: self.model.clone(), probe, calendar: self.calendar.clone(), now: self.now }
    }

    /// The present instant: that of the event that happened last.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The model as it is now.
    pub const fn model(&self) -> &M {
        &self.model
    }

    /// The probe, with what it has observed so far.
    pub const fn probe(&self) -> &P {
        &self.probe
    }

    /// Hands back the model and the probe of a run that need not be over.
    pub fn into_parts(self) -> (M, P) {
        (self.model, self.probe)
    }
}

/// The outermost context: the engine itself, borrowed for one event.
struct EngineContext<'a, E, P> {
    now: Time,
    calendar: &'a mut Calendar<E>,
    probe: &'a mut P,
}

impl<E: Prioritized, P: Probe> Context<E> for EngineContext<'_, E, P> {
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
