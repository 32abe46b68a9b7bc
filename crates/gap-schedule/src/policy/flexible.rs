//! Flexible backfilling: backfilling over a queue sorted by priority at each pass.

use crate::order::Key;
use crate::policy::Policy;
use crate::policy::pass::{JobLine, QueuePass};
use crate::policy::readings::BackfillReadings;
use crate::policy::reserving::{Depth, Reserving};
use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::view::{Machine, Starts, View};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Span, Time};

/// Flexible backfilling: EASY over a queue that is sorted by priority at each event.
///
/// The priority of a job is the sum of three heuristics, computed at each pass ([`FlexibleConfig`] has the constants):
/// it grows with the job's age, with the approach of its deadline, and with its shortness. Jobs of equal priority keep
/// their order of arrival. Then jobs start as under [`Easy`](crate::Easy). A job with a reservation stays the head
/// until it starts, however priorities change. Its earliest start is recomputed at each pass, and is never later than
/// before, as long as estimates are upper bounds.
///
/// [`with_reserve`](Self::with_reserve) sets another number of reservations. Their holders have their turns first until
/// they start, in the order in which they got them. If all jobs have one, priority decides only between jobs that
/// arrive at the same instant.
///
/// Sources: Klusáček et al. (2008), §3.1 and §5; A. D. Techiouba et al., "Backfilling strategies for scheduling streams of jobs on
/// computational farms", CoreGRID 2007.
#[derive(Clone, Debug)]
pub struct FlexibleBackfill {
    config: FlexibleConfig,
    reserving: Reserving,
}

/// Constants of Flexible backfilling, and its readings. [`FlexibleConfig::default`] is the paper's hand tuning (§3.1,
/// last paragraph) and the first value of each reading.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlexibleConfig {
    /// `agefactor`: priority for each second in the queue.
    pub age_factor: f64,
    /// `k`: factor by which a job's time is overestimated in the deadline heuristic.
    pub k: f64,
    /// `Max`: priority of a job that would end right at its deadline.
    pub max: f64,
    /// `Min`: priority of a job whose deadline is far, past, or absent.
    pub min: f64,
    /// `boostvalue`: priority of the shortest job.
    #[serde(rename = "boost_value")]
    pub boost: f64,
    /// R7: reference value of the shortness heuristic.
    pub minext: Minext,
}

sim_core::answers! {
    /// R7: `minext`, defined by the paper as min(Estimated_J), and used with the job's index.
    pub enum Minext {
        /// The smallest estimate in the queue.
        Queue,
        /// The job's own smallest time over the machines. The heuristic then has the same value for every job.
        Job,
    }
}

impl Default for FlexibleConfig {
    fn default() -> Self {
        Self { age_factor: 0.01, k: 2.0, max: 20.0, min: 0.1, boost: 2.0, minext: Minext::Queue }
    }
}

impl FlexibleConfig {
    /// Returns the priority P(J) at the instant `now` of a job that was submitted at `submit`: §3.1, all three heuristics.
    ///
    /// `fastest` is the most powerful machine, by which the time is predicted, optimistically; `shortest` is the smallest
    /// estimate in the queue. A job without an estimate takes for ever: its deadline cannot be met, and it gets no boost.
    pub fn priority(&self, now: Time, submit: Time, job: &QueuedJob, fastest: &Machine, shortest: Span) -> f64 {
        let seconds = Span::as_secs_f64;
        let age = now.saturating_since(submit);
        let next = fastest.expects(&job.request); // Nxtime
        let end = now.saturating_add(next); // Extime
        let urgency = match job.request.deadline {
            Some(deadline) if end <= deadline => {
                // t = Deadline − k · Nxtime may lie before time zero, so only distances are computed. The straight line
                // through (t, Min) and (Deadline, Max) has the slope (Max − Min) / (k · Nxtime).
                let reach = self.k * seconds(next);
                let beyond = reach - seconds(deadline.since(end)); // Extime − t
                if beyond <= 0.0 { self.min } else { (self.max - self.min) / reach * beyond + self.min }
            }
            _ => self.min,
        };
        let shortness = match job.request.estimate {
            None => 0.0,
            // A job of no length counts as the shortest.
            Some(Span::ZERO) => self.boost,
            Some(estimate) if self.minext == Minext::Job => self.boost * seconds(next) / seconds(estimate),
            Some(estimate) => self.boost * seconds(shortest) / seconds(estimate),
        };
        self.age_factor * seconds(age) + urgency + shortness
    }
}

impl Default for FlexibleBackfill {
    fn default() -> Self {
        Self::new(FlexibleConfig::default(), BackfillReadings::default())
    }
}

impl FlexibleBackfill {
    /// Returns the policy with one reservation.
    pub fn new(config: FlexibleConfig, readings: BackfillReadings) -> Self {
        let mut reserving = Reserving::new(Depth::default(), readings);
        reserving.keeps_holders = true;
        Self { config, reserving }
    }

    /// Sets the number of reservations. [`BackfillReadings::rule`] applies to a single one only.
    #[must_use]
    pub fn with_reserve(mut self, reserve: Depth) -> Self {
        self.reserving.depth = reserve;
        self
    }
}

impl Policy for FlexibleBackfill {
    fn begin(&mut self, view: &View<'_>) {
        self.reserving.begin(view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.schedule_with_reasons(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        let mut pass = QueuePass::new(view, starts, probe);
        let Self { config, reserving } = self;
        // If no holder starts and no job may become one, only jobs that fit matter.
        let most = view.free.iter().copied().max().unwrap_or(0);
        let is_settled = !pass.listens
            && !reserving.allows_another()
            && reserving.holders.iter().all(|holder| holder.request.processors > most);
        if is_settled && !view.some_job_is_narrow_enough() {
            return;
        }
        let first = reserving.holders.clone();
        let mut held: Vec<JobId> = first.iter().map(|holder| holder.job).collect();
        held.sort_unstable();
        let (fastest, shortest) = (view.fastest(), view.queue.least().estimate);
        let key = |job: &QueuedJob| {
            let is_held = held.binary_search(&job.job).is_ok();
            (!is_held).then(|| Key::largest_first(config.priority(view.now, job.submit, job, fastest, shortest)))
        };
        let mut line = JobLine::ranked(&first, view, key);
        if reserving.take_turns(&mut line, &mut pass) {
            reserving.backfill(&mut line, &mut pass);
        }
    }
}
