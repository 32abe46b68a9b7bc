//! EASY and Flexible backfilling on several machines in their most obvious form.

use gap_schedule::{
    BackfillReadings, BackfillRule, Depth, FlexibleConfig, Minext, Placement, Policy, QueuedJob, Starts, View,
};
use sim_core::{AvailabilityProfile, JobId, SiteId, Span, Time};

/// Lays everything out at each pass: the holders of reservations, then the others by priority.
#[derive(Clone, Debug)]
pub(crate) struct Obvious {
    config: FlexibleConfig,
    readings: BackfillReadings,
    depth: Depth,
    holders: Vec<JobId>,
}

/// Constants with which all jobs have the same priority.
pub(crate) fn indifferent() -> FlexibleConfig {
    FlexibleConfig { age_factor: 0.0, max: 0.1, min: 0.1, boost: 0.0, ..FlexibleConfig::default() }
}

impl Obvious {
    pub(crate) fn new(config: FlexibleConfig, readings: BackfillReadings, depth: Depth) -> Self {
        Self { config, readings, depth, holders: Vec::new() }
    }

    /// Returns EASY, under which all jobs have the same priority.
    pub(crate) fn easy(readings: BackfillReadings) -> Self {
        Self::new(indifferent(), readings, Depth::default())
    }

    /// Computes the paper's formulas (§3.1), one after the other.
    fn priority(&self, job: &QueuedJob, view: &View<'_>) -> f64 {
        let fastest = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed)).expect("a machine");
        let (config, request) = (&self.config, &job.request);
        let aging = config.age_factor * view.now.since(job.submit).as_secs_f64();

        let next = fastest.expects(request);
        let end = view.now.saturating_add(next);
        let urgency = match request.deadline {
            Some(deadline) if end <= deadline => {
                let beyond = config.k * next.as_secs_f64() - deadline.since(end).as_secs_f64();
                let slope = (config.max - config.min) / (config.k * next.as_secs_f64());
                if beyond <= 0.0 { config.min } else { slope * beyond + config.min }
            }
            _ => config.min,
        };

        let shortest = match config.minext {
            Minext::Queue => view.queue.iter().filter_map(|job| job.request.estimate).min(),
            Minext::Job => request.estimate.map(|estimate| fastest.takes(estimate)),
        };
        let shortness = match (request.estimate, shortest) {
            (Some(Span::ZERO), _) => config.boost,
            (Some(estimate), Some(shortest)) => config.boost * shortest.as_secs_f64() / estimate.as_secs_f64(),
            _ => 0.0,
        };
        aging + urgency + shortness
    }
}

impl Policy for Obvious {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let (now, instant, end) = (view.now, Span::from_nanos(1), Time::from_nanos(u64::MAX - 1));
        let mut plans: Vec<AvailabilityProfile> = Vec::new();
        for (machine, running) in view.machines.iter().zip(view.running) {
            let mut plan = AvailabilityProfile::new(machine.processors);
            for job in running.iter() {
                plan.reserve(now, job.expected_end.max(now + instant).min(end).since(now), job.processors);
            }
            plans.push(plan);
        }
        let speed = |machine: usize| view.machines[machine].speed;
        let preferred = |machine| if self.readings.placement == Placement::Fastest { -speed(machine) } else { 0.0 };
        let held = |job: &QueuedJob| self.holders.iter().position(|holder| *holder == job.job).unwrap_or(usize::MAX);
        // The sort is stable: ties stay in order of arrival.
        let mut queue: Vec<_> = view.queue.iter().map(|job| (held(job), self.priority(job, view), job)).collect();
        queue.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
        self.holders.clear();
        // By the strict rule, the start of the head, by which all that overtake it must end.
        let mut limit = Time::MAX;
        for (_, _, job) in queue {
            let takes = |machine: usize| view.machines[machine].expects(&job.request).max(instant);
            let start = |machine: usize| plans[machine].earliest(now, takes(machine), job.request.processors);
            let in_time = |machine: usize| now.saturating_add(view.machines[machine].expects(&job.request)) <= limit;
            let slots = (0..plans.len()).filter(|machine| view.suits(*machine, &job.request) && in_time(*machine));
            let slots = slots.filter_map(|machine| Some((start(machine)?, machine)));
            let best =
                slots.min_by(|one, other| one.0.cmp(&other.0).then(preferred(one.1).total_cmp(&preferred(other.1))));
            if let Some((start, machine)) = best.filter(|(start, _)| *start == now) {
                // A job that overtakes others also takes the last instant.
                let takes = takes(machine);
                let takes = if self.holders.is_empty() { takes.min(end.since(start)) } else { takes };
                plans[machine].reserve(start, takes, job.request.processors);
                starts.push((job.job, SiteId(u32::try_from(machine).expect("few machines"))));
            } else if self.depth.allows_beside(self.holders.len()) {
                if let Some((start, machine)) = best {
                    plans[machine].reserve(start, takes(machine), job.request.processors);
                }
                if self.readings.rule == BackfillRule::Strict && self.depth == Depth::Jobs(1) {
                    limit = best.map_or(end, |(start, _)| start);
                }
                self.holders.push(job.job);
            }
        }
    }
}
