use crate::grid::{GridView, Machine, Scheduler};
use crate::policy::readings::BackfillReadings;
use crate::policy::scan::Scan;
use crate::queue::Waiting;
use crate::running::RunningJob;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId, Span, Time};

/// Flexible backfilling: EASY over a queue that is sorted by priority at each event.
///
/// The priority of a job is the sum of three heuristics, computed anew at each pass ([`FlexibleConfig`] has the
/// constants): it grows with the job's age, with the approach of its deadline, and with its shortness. Jobs of equal
/// priority keep their order of arrival. Then jobs start as under [`GridEasyScan`](crate::GridEasyScan). A job that has
/// been given a reservation stays the head until it starts, whatever priorities become; where it can start earliest is
/// looked up at each pass, and is never later than before, as long as estimates are upper bounds.
///
/// Operations are counted as by `GridEasyScan`, and one more for each job whose priority is computed; sorting n of
/// them counts as n ⌈log₂ n⌉ comparisons, the bound of a merge sort, whatever the sort of this program needs.
///
/// Sources: Klusáček et al. (2008), §3.1; A. D. Techiouba et al., "Backfilling strategies for scheduling streams of jobs on
/// computational farms", CoreGRID 2007.
#[derive(Clone, Debug, Default)]
pub struct FlexibleBackfill {
    config: FlexibleConfig,
    readings: BackfillReadings,
    /// In order of arrival.
    queue: Vec<Candidate>,
    /// Positions in the queue, in order of priority; a small key beside each, since they are sorted at every pass.
    order: Vec<(u64, u32)>,
    /// The job that holds the reservation.
    head: Option<JobId>,
    scan: Scan,
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

/// R7: `minext`, defined by the paper as min(Estimated_J), and used with the job's index.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Minext {
    /// The smallest estimate in the queue.
    #[default]
    Queue,
    /// The job's own smallest time over the machines. The heuristic then gives every job the same.
    Job,
}

/// A waiting job and what it is sorted by.
#[derive(Clone, Debug)]
struct Candidate {
    waiting: Waiting,
    submit: Time,
    started: bool,
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
    pub fn priority(&self, now: Time, submit: Time, job: &Waiting, fastest: &Machine, shortest: Span) -> f64 {
        let age = now.saturating_since(submit).as_secs_f64();
        self.age_factor * age + self.urgency(now, job, fastest) + self.shortness(job, fastest, shortest)
    }

    /// The heuristic *Deadline*.
    fn urgency(&self, now: Time, job: &Waiting, fastest: &Machine) -> f64 {
        let Some(deadline) = job.request.deadline else { return self.min };
        let next = fastest.expects(&job.request); // Nxtime
        let end = now.saturating_add(next); // Extime
        if end > deadline {
            return self.min;
        }
        // t = Deadline − k · Nxtime may lie before the beginning of time, so only distances are computed. The straight
        // line through (t, Min) and (Deadline, Max) has the slope (Max − Min) / (k · Nxtime).
        let reach = self.k * next.as_secs_f64();
        let beyond = reach - deadline.since(end).as_secs_f64(); // Extime − t
        if beyond <= 0.0 { self.min } else { (self.max - self.min) / reach * beyond + self.min }
    }

    /// The heuristic *Wait Minimization*.
    fn shortness(&self, job: &Waiting, fastest: &Machine, shortest: Span) -> f64 {
        let Some(estimate) = job.request.estimate else { return 0.0 };
        let least = match self.minext {
            Minext::Queue => shortest,
            Minext::Job => fastest.takes(estimate),
        };
        // A job of no length is as short as can be.
        if estimate.is_zero() { self.boost } else { self.boost * least.as_secs_f64() / estimate.as_secs_f64() }
    }
}

impl FlexibleBackfill {
    /// The policy, with nobody waiting.
    pub fn new(config: FlexibleConfig, readings: BackfillReadings) -> Self {
        Self { config, readings, ..Self::default() }
    }

    /// The job that holds the reservation since the last pass.
    pub const fn head(&self) -> Option<JobId> {
        self.head
    }

    /// Computes all priorities and sorts the queue by them; the job that holds the reservation comes first.
    fn sort(&mut self, view: &GridView<'_>) {
        let Some(fastest) = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed)) else {
            return;
        };
        let estimates = self.queue.iter().filter_map(|job| job.waiting.request.estimate);
        let shortest = estimates.min().unwrap_or(Span::ZERO);
        self.order.clear();
        for (position, job) in (0..).zip(&self.queue) {
            let priority = self.config.priority(view.now, job.submit, &job.waiting, fastest, shortest);
            let is_head = Some(job.waiting.job) == self.head;
            self.order.push((if is_head { 0 } else { key(priority) }, position));
        }
        self.order.sort_unstable();
        let jobs = self.queue.len() as u64;
        let levels = u64::from(jobs.next_power_of_two().trailing_zeros()); // ⌈log₂ n⌉
        self.scan.operations += jobs + jobs * levels;
    }
}

impl Scheduler for FlexibleBackfill {
    fn arrive(&mut self, job: &Waiting, submit: Time, _: &GridView<'_>) {
        self.queue.push(Candidate { waiting: *job, submit, started: false });
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.sort(view);
        let by_priority = self.order.iter().map(|(_, position)| &self.queue[*position as usize].waiting);
        self.head = self.scan.pass(by_priority, self.readings, view, starts);
        if starts.is_empty() {
            return;
        }
        // Jobs start in the order of their priorities.
        let mut started = starts.iter().map(|(job, _)| *job).peekable();
        for (_, position) in &self.order {
            let job = &mut self.queue[*position as usize];
            job.started = started.next_if_eq(&job.waiting.job).is_some();
        }
        self.queue.retain(|job| !job.started);
    }

    fn operations(&self) -> u64 {
        self.scan.operations
    }
}

/// A key that is the smaller the higher the priority, and never 0.
fn key(priority: f64) -> u64 {
    let bits = priority.to_bits();
    // The order of IEEE 754's totalOrder as that of integers: all bits of a negative number flipped, else the sign alone.
    let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    (!ascending).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Request;

    /// A job of 100 s at reference speed, 50 s on the fastest machine.
    fn priority(now: u64, submit: u64, deadline: Option<u64>, config: FlexibleConfig) -> f64 {
        let estimate = Some(Span::from_secs(100));
        let request = Request { processors: 1, estimate, deadline: deadline.map(Time::from_secs) };
        let fastest = Machine { processors: 4, speed: 2.0 };
        let job = Waiting { job: JobId(0), request };
        config.priority(Time::from_secs(now), Time::from_secs(submit), &job, &fastest, Span::from_secs(25))
    }

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    #[test]
    fn the_priority_is_the_sum_of_three_heuristics() {
        // Age 60 s: 0.6. The shortest in the queue takes a quarter: 0.5. No deadline: 0.1.
        check(priority(1_060, 1_000, None, FlexibleConfig::default()), 1.2);
    }

    #[test]
    fn urgency_rises_in_a_straight_line_until_the_deadline_can_no_longer_be_met() {
        let urgency = |deadline| priority(1_000, 1_000, Some(deadline), FlexibleConfig::default()) - 0.5;
        // Extime = 1050 s, t = Deadline − 100 s.
        check(urgency(1_151), 0.1);
        check(urgency(1_150), 0.1);
        check(urgency(1_100), (20.0 - 0.1) / 100.0 * 50.0 + 0.1);
        check(urgency(1_050), 20.0);
        check(urgency(1_049), 0.1);
        // t may lie before the beginning of time.
        let early = priority(0, 0, Some(90), FlexibleConfig::default()) - 0.5;
        check(early, (20.0 - 0.1) / 100.0 * 60.0 + 0.1);
    }

    #[test]
    fn read_per_job_the_boost_is_the_same_for_all() {
        let config = FlexibleConfig { minext: Minext::Job, ..FlexibleConfig::default() };
        check(priority(1_000, 1_000, None, config), 0.1 + 2.0 * 0.5);
    }
}
