//! Flexible backfilling with any number of reservations, compared with its slow and obvious twin and with related policies.

use crate::backfill::{depths, placements, reserving};
use crate::grid_common::{Both, PASSES, WIDEST};
use gap_schedule::testkit::{assert_feasible, scenes};
use gap_schedule::{
    BackfillReadings, Depth, FlexibleBackfill, FlexibleConfig, Placement, Policy, QueuedJob, Starts, View,
};
use proptest::prelude::*;
use sim_core::{AvailabilityProfile, JobId, SiteId, Span, Time};

fn deep(config: FlexibleConfig, placement: Placement, depth: Depth) -> FlexibleBackfill {
    FlexibleBackfill::new(config, BackfillReadings { placement, ..BackfillReadings::default() }).with_reserve(depth)
}

/// Lays everything out at each pass: the holders of reservations, then the others by priority.
#[derive(Clone, Debug)]
struct Obvious {
    placement: Placement,
    depth: Depth,
    holders: Vec<JobId>,
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
        let fastest = (0..plans.len()).max_by(|one, other| speed(*one).total_cmp(&speed(*other))).expect("a machine");
        let shortest = view.queue.iter().filter_map(|job| job.request.estimate).min().unwrap_or(Span::ZERO);
        let priority = |job: &QueuedJob| {
            FlexibleConfig::default().priority(now, job.submit, job, &view.machines[fastest], shortest)
        };
        let held = |job: &QueuedJob| self.holders.iter().position(|holder| *holder == job.job).unwrap_or(usize::MAX);
        let mut queue: Vec<QueuedJob> = view.queue.iter().copied().collect();
        queue.sort_by(|one, other| held(one).cmp(&held(other)).then(priority(other).total_cmp(&priority(one))));
        self.holders.clear();
        for job in queue {
            let takes = |machine: usize| view.machines[machine].expects(&job.request).max(instant);
            let start = |machine: usize| plans[machine].earliest(now, takes(machine), job.request.processors);
            let slots = (0..plans.len()).filter(|machine| view.suits(*machine, &job.request));
            let slots = slots.filter_map(|machine| Some((start(machine)?, machine)));
            let preferred = |machine| if self.placement == Placement::Fastest { -speed(machine) } else { 0.0 };
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
                self.holders.push(job.job);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn it_equals_its_twin(scene in scenes(WIDEST), placement in placements(), depth in depths()) {
        for passes in PASSES {
            let twin = Obvious { placement, depth, holders: Vec::new() };
            scene.transcript(Both(deep(FlexibleConfig::default(), placement, depth), twin), passes);
        }
    }

    #[test]
    fn where_all_have_the_same_priority_it_is_backfilling_in_order_of_arrival(
        scene in scenes(WIDEST), placement in placements(), depth in depths(),
    ) {
        let indifferent = FlexibleConfig { age_factor: 0.0, max: 0.1, min: 0.1, boost: 0.0, ..FlexibleConfig::default() };
        for passes in PASSES {
            let flexible = scene.transcript(deep(indifferent, placement, depth), passes);
            prop_assert_eq!(flexible, scene.transcript(reserving(depth, placement), passes));
        }
    }

    #[test]
    fn it_keeps_the_books(scene in scenes(WIDEST), depth in depths()) {
        for passes in PASSES {
            let policy = deep(FlexibleConfig::default(), Placement::Fastest, depth);
            assert_feasible(policy, &scene, passes);
        }
    }
}
