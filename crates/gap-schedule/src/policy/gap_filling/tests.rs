use super::*;
use crate::multi_cluster::MultiCluster;
use crate::policy::{forward_events, forward_wakeups};
use crate::queue::Queue;
use crate::view::{Machine, Running};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, JobLog, Outage, Purpose, Sim, Streams};

const MACHINES: [Machine; 3] = [
    Machine { processors: 4, speed: 1.0 },
    Machine { processors: 6, speed: 1.0 },
    Machine { processors: 3, speed: 2.0 },
];

fn stream(seed: u64) -> Stream {
    Streams::new(seed, 0).stream(Purpose("search"), 0)
}

/// Policy that is compared with its twins after each pass.
struct TwinChecked(GapFilling);

impl TwinChecked {
    /// Asserts that the sums kept job by job equal the sum over the plan.
    fn check_sums(&self, view: &View<'_>) {
        let GapFilling { plan, usage, .. } = &self.0;
        let (mut kept, mut again) = (usage.clone(), usage.clone());
        again.forget_plan();
        for held in plan.held().iter() {
            let Some(slot) = held.slot else { continue };
            let value = |usage: &mut UserUsage| {
                usage.sum_up(plan, view);
                format!("{:?}", usage.value(&held.waiting, (plan.machine(slot), slot.start), view))
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
            assert_eq!(search.accepted, 0);
        }
    }
}

impl Policy for TwinChecked {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.schedule(view, starts);
        self.check_sums(view);
        self.check_that_no_search_is_missed(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.0.on_submit(job, view);
    }

    forward_events!(|this| this.0);
    forward_wakeups!(|this| this.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Estimates may be too short, and machines fail.
    #[test]
    fn sums_are_kept_and_no_search_is_missed(
        mut jobs in workload(5),
        estimates in prop::collection::vec(0..9_u64, 60),
        (alone, machines, kind) in (any::<bool>(), 1..4_usize, 0..3_u8),
        outages in prop::collection::vec((1..30_u64, 0..9_u64), 0..3),
        (repair, by, seed) in (0..9_u64, 1..6_u64, any::<u64>()),
    ) {
        for (job, estimate) in jobs.iter_mut().zip(estimates) {
            job.submit = Time::from_nanos(job.submit.as_nanos() / by);
            job.request.user = Some(job.id.0 % 3);
            job.request.estimate = Some(if estimate < 6 { job.runtime } else { Span::from_secs(estimate) });
        }
        let mut down = Time::ZERO;
        let outages: Vec<Outage> = (outages.into_iter())
            .map(|(after, lasts)| {
                down += Span::from_secs(after);
                Outage { down, site: SiteId(0), up: down + Span::from_secs(lasts) }
            })
            .collect();
        let policy = match kind {
            0 => GapFilling::best_gap(Placement::Fastest),
            1 => GapFilling::bgt(Placement::Fastest, stream(seed)),
            _ => {
                let readings = (Completion::FromSubmission, Weight::AddedToDecision, Moves::Any);
                GapFilling::swift_gap(Placement::Fastest, readings, stream(seed))
            }
        };
        let machines = MACHINES[..if alone { 1 } else { machines }].to_vec();
        let checked = TwinChecked(policy.with_period(Span::from_secs(5)));
        let grid = MultiCluster::new(machines, checked, jobs.into_iter())
            .with_outages(outages)
            .with_repair_expected(Span::from_secs(repair));
        Sim::new(grid, JobLog::collecting()).run();
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
    let (free, running, queue) = ([4; 2], [Running::new(), Running::new()], Queue::new());
    let view = View { now: Time::from_secs(1), machines: &machines, free: &free, running: &running, queue: &queue };
    let mut policy = GapFilling::bgt(Placement::FirstFit, stream(1)).with_rounds_per_arrival(5);
    policy = policy.with_period(Span::from_secs(60));
    policy.begin(&view);
    (0..5).map(wide).for_each(|job| policy.on_submit(&job, &view));
    let mut starts = Starts::new();
    policy.schedule(&view, &mut starts);
    // Two start and three wait until 101 s; no round has been run.
    assert_eq!((starts.len(), policy.next_wakeup()), (2, Some(Time::from_secs(60))));
    assert_eq!(policy.search.map(|search| search.left), Some(25));
}
