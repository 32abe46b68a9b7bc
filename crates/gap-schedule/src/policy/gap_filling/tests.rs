use super::*;
use crate::forward_events;
use crate::multi_cluster::Passes;
use crate::policy::forward_answers;
use crate::queue::Queue;
use crate::testkit::scenes;
use crate::view::{Machine, Running};
use proptest::prelude::*;
use sim_core::{Job, Purpose, Streams};

fn stream(seed: u64) -> Stream {
    Streams::new(seed, 0).stream(Purpose("search"), 0)
}

struct TwinChecked(GapFilling);

impl TwinChecked {
    /// Asserts that the sums kept job by job equal the sum over the plan.
    fn check_sums(&self, view: &View<'_>) {
        let GapFilling { plan, usage, .. } = &self.0;
        let (mut kept, mut again) = (usage.clone(), usage.clone());
        again.sums = None;
        for held in &plan.held {
            let Some(slot) = held.slot else { continue };
            let value = |usage: &mut UserUsage| {
                usage.sum_up(plan, view);
                format!("{:?}", usage.value(&held.waiting, slot, view))
            };
            assert_eq!(value(&mut kept), value(&mut again));
        }
    }

    /// Asserts that on one machine a search moves no job.
    fn check_that_no_search_is_missed(&self, view: &View<'_>) {
        let GapFilling { search: Some(search), plan, usage, .. } = &self.0 else { return };
        if view.machines.len() == 1 {
            let (mut search, mut plan) = (search.clone(), plan.clone());
            search.improve(&mut plan, &mut usage.clone(), view);
            let slots = |plan: &Reservations| plan.held.iter().map(|held| held.slot).collect::<Vec<_>>();
            assert_eq!(slots(&plan), slots(&self.0.plan));
        }
    }
}

impl Policy for TwinChecked {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.schedule(view, starts);
        self.check_sums(view);
        self.check_that_no_search_is_missed(view);
    }

    forward_events!(|this| this.0);
    forward_answers!(|this| this.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sums_are_kept_and_no_search_is_missed(
        mut scene in scenes(6), alone in any::<bool>(), kind in 0..3_u8, seed in any::<u64>(),
    ) {
        for job in &mut scene.jobs {
            job.request.user = Some(job.id.0 % 3);
            job.request.estimate.get_or_insert(job.runtime);
        }
        if alone {
            scene.machines.truncate(1);
        }
        let policy = match kind {
            0 => GapFilling::best_gap(Placement::Fastest),
            1 => GapFilling::bgt(Placement::Fastest, stream(seed)),
            _ => GapFilling::swift_gap(Placement::Fastest, stream(seed)),
        };
        scene.transcript(TwinChecked(policy.with_period(Span::from_secs(5))), Passes::PerInstant);
    }
}

/// Job that takes a machine of four processors for 100 s.
fn wide(id: u32) -> QueuedJob {
    let Job { id, request, .. } = Job::new(JobId(id), Time::ZERO, 4, Span::from_secs(100));
    QueuedJob { job: id, request, submit: Time::ZERO }
}

#[test]
fn a_search_waits_for_its_time() {
    let machines = [Machine::new(4); 2];
    let (free, running, queue) = ([4; 2], [Running::default(), Running::default()], Queue::default());
    let view = View { now: Time::from_secs(1), machines: &machines, free: &free, running: &running, queue: &queue };
    let mut policy = GapFilling::bgt(Placement::FirstFit, stream(1)).with_period(Span::from_secs(60));
    policy.begin(&view);
    (0..5).map(wide).for_each(|job| policy.on_submit(&job, &view));
    let mut starts = Starts::new();
    policy.schedule(&view, &mut starts);
    // Two start and three wait until 101 s; no round has been run.
    assert_eq!((starts.len(), policy.next_wakeup()), (2, Some(Time::from_secs(60))));
    assert_eq!(policy.search.as_ref().map(|search| search.left), Some(5 * 64));
    // Four rounds for each that waits; then not even one, however many wait.
    policy.schedule(&View { now: Time::from_secs(60), ..view }, &mut starts);
    let search = policy.search.as_mut().expect("it searches");
    assert_eq!(std::mem::take(&mut search.left), 5 * 64 - 4 * 3);
    policy.schedule(&View { now: Time::from_secs(61), ..view }, &mut starts);
    assert_eq!(policy.next_search, None);
}
