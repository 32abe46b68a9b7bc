//! Backfilling with any number of reservations as one would explain it; shared with the benches.

use gap_schedule::{Depth, GridView, Placement, RunningJob, Scheduler, Waiting};
use sim_core::{AvailabilityProfile, JobId, SiteId, Span, Time};

/// Draws the whole future anew at each pass.
#[derive(Clone)]
pub(crate) struct ObviousBackfill {
    depth: Depth,
    placement: Placement,
    queue: Vec<Waiting>,
}

impl ObviousBackfill {
    pub(crate) fn new(depth: Depth, placement: Placement) -> Self {
        Self { depth, placement, queue: Vec::new() }
    }
}

impl Scheduler for ObviousBackfill {
    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.queue.push(*job);
    }

    fn finish(&mut self, _: &RunningJob, _: SiteId, _: &GridView<'_>) {}

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        let now = view.now;
        let instant = Span::from_nanos(1);
        // Jobs without an estimate run up to the end of time. Those that wait, or pass one that does, take that, too.
        let end_of_time = Time::from_nanos(u64::MAX - 1);
        let mut plans: Vec<AvailabilityProfile> =
            view.machines.iter().map(|machine| AvailabilityProfile::new(machine.processors)).collect();
        for (plan, running) in plans.iter_mut().zip(view.running) {
            for job in running.iter() {
                let end = job.expected_end.max(now + instant).min(end_of_time);
                plan.reserve(now, end.since(now), job.processors);
            }
        }
        let mut promised = 0;
        for waiting in &self.queue {
            let request = &waiting.request;
            // Even a job that is expected to take no time needs its processors at its start.
            let span = |machine: usize| view.machines[machine].expects(request).max(instant);
            let mut best: Option<(Time, usize)> = None;
            for (machine, place) in view.machines.iter().enumerate() {
                if !view.suits(machine, request) {
                    continue;
                }
                let Some(start) = plans[machine].earliest(now, span(machine), request.processors) else { continue };
                let is_better = best.is_none_or(|(earliest, other)| {
                    let faster = self.placement == Placement::Fastest && place.speed > view.machines[other].speed;
                    start < earliest || start == earliest && faster
                });
                if is_better {
                    best = Some((start, machine));
                }
            }
            match best {
                Some((start, machine)) if start == now => {
                    let span = if promised > 0 { span(machine) } else { span(machine).min(end_of_time.since(now)) };
                    plans[machine].reserve(now, span, request.processors);
                    starts.push((waiting.job, SiteId(u32::try_from(machine).expect("few machines"))));
                }
                _ if !self.depth.allows_beside(promised) => {}
                _ => {
                    promised += 1;
                    if let Some((start, machine)) = best {
                        plans[machine].reserve(start, span(machine), request.processors);
                    }
                }
            }
        }
        self.queue.retain(|waiting| starts.iter().all(|(job, _)| *job != waiting.job));
    }

    fn operations(&self) -> u64 {
        0
    }
}
