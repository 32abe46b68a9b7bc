//! Flexible backfilling: backfilling over a queue sorted by priority at each pass.

use crate::machine::Machine;
use crate::min_demand::MinDemand;
use crate::policy::Policy;
use crate::policy::book::{Depth, Reserving};
use crate::policy::line::Line;
use crate::policy::readings::BackfillReadings;
use crate::policy::telling::Telling;
use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId, Span, Time};
use std::cmp::Reverse;

/// Flexible backfilling: EASY over a queue that is sorted by priority at each event.
///
/// The priority of a job is the sum of three heuristics, computed at each pass ([`FlexibleConfig`] has the
/// constants): it grows with the job's age, with the approach of its deadline, and with its shortness. Jobs of equal
/// priority keep their order of arrival. Then jobs start as under [`Easy`](crate::Easy). A job that has
/// been given a reservation stays the head until it starts, whatever priorities become; its earliest start is
/// looked up at each pass, and is never later than before, as long as estimates are upper bounds.
///
/// [`with_reserve`](Self::with_reserve) gives another number of jobs a reservation. They have their turns first until they
/// start, in the order in which they were given it. If all jobs have one, priority decides between jobs that come at the same
/// instant alone.
///
/// With one reservation, the order of the queue is worked out only for the jobs that may start. With another number, all is laid
/// out again at each pass.
///
/// Sources: Klusáček et al. (2008), §3.1 and §5; A. D. Techiouba et al., "Backfilling strategies for scheduling streams of jobs on
/// computational farms", CoreGRID 2007.
#[derive(Clone, Debug, Default)]
pub struct FlexibleBackfill {
    config: FlexibleConfig,
    readings: BackfillReadings,
    /// The most powerful machine.
    fastest: Option<Machine>,
    /// The smallest estimate of all that wait.
    shortest: Option<Span>,
    /// The jobs that hold reservations, in the order in which they were given them.
    holders: Vec<Candidate>,
    /// The others, in no particular order.
    queue: Vec<Candidate>,
    /// The number of the next job that arrives.
    arrivals: u32,
    reserving: Reserving,
    /// Scratch buffer, reused across passes.
    ahead: Vec<Place>,
    /// Scratch buffer, reused across passes.
    passed: Vec<u32>,
    /// Scratch buffer, reused across passes.
    now_holding: Vec<QueuedJob>,
}

/// The constants of Flexible backfilling, and its readings. [`FlexibleConfig::default`] is the paper's hand tuning
/// (§3.1, last paragraph) and the first value of each reading.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FlexibleConfig {
    /// `agefactor`: priority for each second in the queue.
    pub age_factor: f64,
    /// `k`: by how much a job's time is overestimated where its deadline is concerned.
    pub k: f64,
    /// `Max`: the priority of a job that would end right at its deadline.
    pub max: f64,
    /// `Min`: the priority of a job whose deadline is far, past, or absent.
    pub min: f64,
    /// `boostvalue`: the priority of the shortest job.
    pub boost: f64,
    /// R7: what jobs are short in comparison with.
    pub minext: Minext,
}

sim_core::answers! {
    /// R7: `minext`, defined by the paper as min(Estimated_J), and used with the job's index.
    pub enum Minext {
        /// The smallest estimate in the queue.
        Queue,
        /// The job's own smallest time over the machines. The heuristic then gives every job the same.
        Job,
    }
}

/// A waiting job, and all that its priority depends on beside the instant and the rest of the queue.
#[derive(Clone, Debug)]
struct Candidate {
    waiting: QueuedJob,
    /// Of jobs of equal priority, the first to arrive comes first.
    arrival: u32,
    submit: Time,
    urgency: Option<Urgency>,
    length: Length,
}

/// The heuristic *Deadline*, where there is one.
#[derive(Copy, Clone, Debug)]
struct Urgency {
    deadline: Time,
    /// Nxtime: how long the job takes on the most powerful machine.
    next: Span,
    /// k · Nxtime, in seconds.
    reach: f64,
    /// (Max − Min) / (k · Nxtime), per second.
    slope: f64,
}

/// The heuristic *Wait Minimization*, as far as it is known before the rest of the queue is.
#[derive(Copy, Clone, Debug)]
enum Length {
    /// The boost, whatever the others are.
    Known(f64),
    /// Seconds, to be compared with the shortest job in the queue.
    Compared(f64),
}

/// Where a job stands in the order of priorities: the greater, the earlier its turn.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// In the order of the priorities themselves.
    priority: u64,
    arrival: Reverse<u32>,
    /// In the queue.
    position: u32,
}

impl Default for FlexibleConfig {
    fn default() -> Self {
        Self { age_factor: 0.01, k: 2.0, max: 20.0, min: 0.1, boost: 2.0, minext: Minext::Queue }
    }
}

impl FlexibleConfig {
    /// The priority P(J) of a job that was submitted at `submit`, at the instant `now`: §3.1, all three heuristics.
    ///
    /// `fastest` is the most powerful machine, by which the time is predicted, optimistically; `shortest` is the smallest
    /// estimate in the queue. A job without an estimate takes for ever: its deadline cannot be met, and it gets no boost.
    pub fn priority(&self, now: Time, submit: Time, job: &QueuedJob, fastest: &Machine, shortest: Span) -> f64 {
        self.candidate(job, 0, submit, fastest).priority(self, now, shortest.as_secs_f64())
    }

    /// All that can be computed once.
    fn candidate(&self, job: &QueuedJob, arrival: u32, submit: Time, fastest: &Machine) -> Candidate {
        let next = fastest.expects(&job.request);
        let urgency = job.request.deadline.map(|deadline| {
            // t = Deadline − k · Nxtime may lie before the beginning of time, so only distances are computed. The straight
            // line through (t, Min) and (Deadline, Max) has the slope (Max − Min) / (k · Nxtime).
            let reach = self.k * next.as_secs_f64();
            Urgency { deadline, next, reach, slope: (self.max - self.min) / reach }
        });
        let length = match job.request.estimate {
            None => Length::Known(0.0),
            // A job of no length is as short as can be.
            Some(Span::ZERO) => Length::Known(self.boost),
            Some(estimate) if self.minext == Minext::Job => {
                Length::Known(self.boost * next.as_secs_f64() / estimate.as_secs_f64())
            }
            Some(estimate) => Length::Compared(estimate.as_secs_f64()),
        };
        Candidate { waiting: *job, arrival, submit, urgency, length }
    }
}

impl Candidate {
    /// P(J), where the shortest job in the queue takes `shortest` seconds.
    fn priority(&self, config: &FlexibleConfig, now: Time, shortest: f64) -> f64 {
        let age = now.saturating_since(self.submit).as_secs_f64();
        let urgency = self.urgency.map_or(config.min, |urgency| urgency.at(now, config.min));
        let shortness = match self.length {
            Length::Known(boost) => boost,
            Length::Compared(estimate) => config.boost * shortest / estimate,
        };
        config.age_factor * age + urgency + shortness
    }
}

impl Urgency {
    fn at(&self, now: Time, min: f64) -> f64 {
        let end = now.saturating_add(self.next); // Extime
        if end > self.deadline {
            return min;
        }
        let beyond = self.reach - self.deadline.since(end).as_secs_f64(); // Extime − t
        if beyond <= 0.0 { min } else { self.slope * beyond + min }
    }
}

/// A walk along the queue by priority, behind the jobs that hold reservations.
///
/// The order is not worked out before it is needed, and not where it is not: for the jobs that may start, once it is known
/// who the head is.
struct ByPriority<'a> {
    holders: std::slice::Iter<'a, Candidate>,
    queue: &'a [Candidate],
    config: &'a FlexibleConfig,
    now: Time,
    /// The smallest estimate in the queue, in seconds.
    shortest: f64,
    reached: Reached,
    /// Some of those that the walk has not come to, and their places in the order.
    ahead: &'a mut Vec<Place>,
    /// The positions of the jobs that the walk has come to, the holders excepted.
    passed: &'a mut Vec<u32>,
}

/// How far a walk has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Reached {
    /// No further than the holders: nothing is known of the order.
    Holders,
    /// Jobs in their turn: `ahead` are all others.
    All,
    /// Jobs that are worth it: `ahead` are all that may be.
    Some,
}

impl ByPriority<'_> {
    /// Finds the places of all jobs that are `worth` it.
    fn look_ahead(&mut self, worth: impl Fn(MinDemand) -> bool) {
        for (position, job) in (0..).zip(self.queue) {
            if worth(job.least()) {
                let priority = ascending(job.priority(self.config, self.now, self.shortest));
                self.ahead.push(Place { priority, arrival: Reverse(job.arrival), position });
            }
        }
    }

    fn least(&self, place: &Place) -> MinDemand {
        self.queue[place.position as usize].least()
    }

    /// The first of those ahead. To search for it takes less than to sort, for few are asked for before there is no room
    /// left.
    fn first_ahead(&mut self) -> Option<QueuedJob> {
        let (first, _) = self.ahead.iter().enumerate().max_by_key(|(_, place)| **place)?;
        let position = self.ahead.swap_remove(first).position;
        self.passed.push(position);
        Some(self.queue[position as usize].waiting)
    }
}

impl Line for ByPriority<'_> {
    fn next(&mut self) -> Option<QueuedJob> {
        if let Some(holder) = self.holders.next() {
            return Some(holder.waiting);
        }
        if self.reached == Reached::Holders {
            self.look_ahead(|_| true);
            self.reached = Reached::All;
        }
        self.first_ahead()
    }

    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        if self.reached == Reached::Holders {
            self.look_ahead(worth);
        } else {
            self.ahead.retain(|place| worth(self.queue[place.position as usize].least()));
        }
        self.reached = Reached::Some;
        self.first_ahead()
    }

    fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        match self.reached {
            Reached::Holders => self.queue.iter().any(|job| worth(job.least())),
            Reached::All | Reached::Some => self.ahead.iter().any(|place| worth(self.least(place))),
        }
    }
}

impl Candidate {
    fn least(&self) -> MinDemand {
        MinDemand::of(&self.waiting.request)
    }
}

impl FlexibleBackfill {
    /// The policy with one reservation.
    pub fn new(config: FlexibleConfig, readings: BackfillReadings) -> Self {
        Self { config, readings, reserving: Reserving::new(Depth::Jobs(1), readings), ..Self::default() }
    }

    /// The same with another number of reservations. [`BackfillReadings::rule`] is about a single one, and has no meaning then.
    #[must_use]
    pub fn with_reserve(self, reserve: Depth) -> Self {
        Self { reserving: Reserving::new(reserve, self.readings), ..self }
    }

    /// The job that has held a reservation for longest, as of the last pass.
    pub fn head(&self) -> Option<JobId> {
        self.holders.first().map(|head| head.waiting.job)
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        self.ahead.clear();
        let mut line = ByPriority {
            holders: self.holders.iter(),
            queue: &self.queue,
            config: &self.config,
            now: view.now,
            shortest: self.shortest.unwrap_or(Span::ZERO).as_secs_f64(),
            reached: Reached::Holders,
            ahead: &mut self.ahead,
            passed: &mut self.passed,
        };
        let mut telling = Telling::new(probe);
        let mut holding = std::mem::take(&mut self.now_holding);
        holding.clear();
        if self.reserving.take_turns(&mut line, (true, false), &mut holding, view, starts, &mut telling) {
            self.reserving.backfill(&holding, &mut line, view, starts, &mut telling);
        }
        self.leave(&holding, starts);
        self.now_holding = holding;
    }

    /// Removes the jobs that have started, and sets those apart that now hold reservations.
    fn leave(&mut self, holding: &[QueuedJob], starts: &[(JobId, SiteId)]) {
        let mut shortest_left = false;
        // The walk came to the jobs that have started in the order of the starts: to the former holders first.
        let mut started = starts.iter().map(|(job, _)| *job).peekable();
        self.holders.retain(|former| {
            let has_started = started.next_if_eq(&former.waiting.job).is_some();
            shortest_left |= has_started && former.waiting.request.estimate == self.shortest;
            !has_started
        });
        let former = self.holders.len();
        let mut joining = holding[former..].iter().map(|holder| holder.job).peekable();
        self.passed.retain(|position| {
            let job = self.queue[*position as usize].waiting.job;
            joining.next_if_eq(&job).is_some() || started.next_if_eq(&job).is_some()
        });
        // From the back: the job that takes an empty place comes from further back still.
        self.passed.sort_unstable();
        for position in self.passed.drain(..).rev() {
            let gone = self.queue.swap_remove(position as usize);
            if holding[former..].iter().any(|holder| holder.job == gone.waiting.job) {
                self.holders.push(gone);
            } else {
                shortest_left |= gone.waiting.request.estimate == self.shortest;
            }
        }
        self.holders[former..].sort_by_key(|one| holding.iter().position(|holder| holder.job == one.waiting.job));
        if shortest_left {
            let jobs = self.holders.iter().chain(&self.queue);
            self.shortest = jobs.filter_map(|job| job.waiting.request.estimate).min();
        }
    }
}

impl Policy for FlexibleBackfill {
    fn begin(&mut self, view: &View<'_>) {
        self.fastest = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed)).copied();
        self.reserving.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        let fastest = self.fastest.expect("a job is admitted because there is a machine for it");
        self.queue.push(self.config.candidate(job, self.arrivals, job.submit, &fastest));
        self.arrivals += 1;
        self.shortest = [self.shortest, job.request.estimate].into_iter().flatten().min();
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
    }
}

/// The number as an integer: the order of `f64::total_cmp` is that of the integers.
const fn ascending(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
