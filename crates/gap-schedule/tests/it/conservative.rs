//! Conservative backfilling that keeps its promises: what it owes, its slow and obvious twin, and a case to check by hand.

use crate::common::job;
use crate::grid_books::{self, Scene, scenes};
use crate::grid_common::{Both, Noting, choosy, hurried, machines, starts, with_deadlines};
use gap_schedule::{
    Backfill, CompressOrder, Conservative, Depth, Grid, GridView, Machine, Passes, Placement, RunningJob, Scheduler,
    Waiting,
};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{AvailabilityProfile, Job, JobId, JobLog, Sim, SiteId, Span, Time};

const WIDEST: u32 = 6;
const PASSES: [Passes; 2] = [Passes::PerInstant, Passes::PerEvent];

/// Draws what runs and what is promised from the lists, whenever it looks at a machine.
#[derive(Clone, Default)]
struct ObviousConservative {
    order: CompressOrder,
    /// In order of arrival.
    waiting: Vec<(Waiting, Option<(Time, usize)>)>,
    newcomers: Vec<Waiting>,
    ended: bool,
    early: bool,
    astray: bool,
}

fn orders() -> impl Strategy<Value = CompressOrder> {
    prop::sample::select(vec![CompressOrder::Arrival, CompressOrder::Reserved])
}

/// The policy and its twin.
fn both(order: CompressOrder) -> Both<Conservative, ObviousConservative, false> {
    Both(
        Conservative::default().with_compress_order(order),
        ObviousConservative { order, ..ObviousConservative::default() },
    )
}

const INSTANT: Span = Span::from_nanos(1);
/// Jobs without an estimate run up to the end of time.
const END_OF_TIME: Time = Time::from_nanos(u64::MAX - 1);

impl ObviousConservative {
    /// The machine, with what runs there and the promises to all but one of those who wait.
    fn profile(&self, machine: usize, but: usize, view: &GridView<'_>) -> AvailabilityProfile {
        let mut profile = AvailabilityProfile::new(view.machines[machine].processors);
        for job in view.running[machine].iter() {
            let end = job.expected_end.max(view.now + INSTANT).min(END_OF_TIME);
            profile.reserve(view.now, end.since(view.now), job.processors);
        }
        for (number, (waiting, slot)) in self.waiting.iter().enumerate() {
            if let Some((start, _)) = slot.filter(|(_, place)| *place == machine && number != but) {
                profile.reserve(start, span(machine, waiting, view), waiting.request.processors);
            }
        }
        profile
    }

    /// The earliest start; of equal ones, on the fastest machine.
    fn best(&self, number: usize, view: &GridView<'_>) -> Option<(Time, usize)> {
        let waiting = self.waiting[number].0;
        let mut slots = Vec::new();
        for machine in (0..view.machines.len()).filter(|machine| view.suits(*machine, &waiting.request)) {
            let profile = self.profile(machine, number, view);
            let span = span(machine, &waiting, view);
            slots.extend(profile.earliest(view.now, span, waiting.request.processors).map(|start| (start, machine)));
        }
        let speed = |slot: &(Time, usize)| view.machines[slot.1].speed;
        slots.into_iter().min_by(|one, other| one.0.cmp(&other.0).then(speed(other).total_cmp(&speed(one))))
    }

    /// By promised start, then in order of arrival.
    fn by_start(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        order.sort_by_key(|number| self.waiting[*number].1.map_or(Time::MAX, |slot| slot.0));
        order
    }

    /// The order of turns in a compression.
    fn in_order(&self) -> Vec<usize> {
        match self.order {
            CompressOrder::Arrival => (0..self.waiting.len()).collect(),
            CompressOrder::Reserved => self.by_start(),
        }
    }

    fn mend(&mut self, view: &GridView<'_>) {
        let order = self.in_order();
        let former: Vec<_> = self.waiting.iter_mut().map(|(_, slot)| slot.take()).collect();
        let mut lost = Vec::new();
        for number in order {
            let Waiting { request, .. } = self.waiting[number].0;
            let stands = former[number].filter(|(start, machine)| {
                let span = span(*machine, &self.waiting[number].0, view);
                *start >= view.now && self.profile(*machine, number, view).fits(*start, span, request.processors)
            });
            if stands.is_some() {
                self.waiting[number].1 = stands;
            } else {
                lost.push(number);
            }
        }
        for number in lost {
            self.waiting[number].1 = self.best(number, view);
        }
    }
}

fn span(machine: usize, waiting: &Waiting, view: &GridView<'_>) -> Span {
    view.machines[machine].expects(&waiting.request).max(INSTANT)
}

impl Scheduler for ObviousConservative {
    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.newcomers.push(*job);
    }

    fn finish(&mut self, job: &RunningJob, _: SiteId, view: &GridView<'_>) {
        self.ended = true;
        self.early |= job.expected_end > view.now;
        self.astray |= job.expected_end < view.now || job.expected_end == Time::MAX;
    }

    fn down(&mut self, _: SiteId, _: &[RunningJob], _: &GridView<'_>) {
        self.astray = true;
    }

    fn up(&mut self, _: SiteId, _: &GridView<'_>) {
        self.astray = true;
    }

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        let overdue = view.running.iter().any(|jobs| jobs.iter().any(|job| job.expected_end <= view.now));
        let astray = std::mem::replace(&mut self.astray, overdue) || overdue;
        if astray {
            self.mend(view);
        }
        let early = std::mem::take(&mut self.early);
        let ended = std::mem::take(&mut self.ended);
        let is_turn = if self.order == CompressOrder::Arrival { ended } else { early };
        if is_turn || astray {
            for number in self.in_order() {
                let best = self.best(number, view);
                let slot = &mut self.waiting[number].1;
                if best.is_some_and(|best| slot.is_none_or(|slot| best.0 < slot.0)) {
                    *slot = best;
                }
            }
        }
        for newcomer in std::mem::take(&mut self.newcomers) {
            self.waiting.push((newcomer, None));
            let last = self.waiting.len() - 1;
            self.waiting[last].1 = self.best(last, view);
        }
        let order = self.by_start().into_iter().map(|number| self.waiting[number]);
        for (Waiting { job, request }, slot) in order.collect::<Vec<_>>() {
            if let Some((start, machine)) = slot.filter(|(start, _)| *start <= view.now) {
                assert_eq!(start, view.now, "no start is missed");
                self.astray |= request.estimate.is_none_or(|estimate| estimate.is_zero());
                starts.push((job, SiteId(u32::try_from(machine).expect("few machines"))));
            }
        }
        self.waiting.retain(|(waiting, _)| starts.iter().all(|(job, _)| *job != waiting.job));
    }

    fn operations(&self) -> u64 {
        0
    }
}

/// Estimates at least as long as the jobs; many jobs wait, some not for every machine.
fn bounded() -> impl Strategy<Value = Vec<Job>> {
    (workload(WIDEST + 1), 1..6_u64).prop_map(|(jobs, by)| hurried(jobs, by)).prop_flat_map(choosy)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_job_is_ever_delayed_beyond_a_start_it_was_promised(
        machines in machines(WIDEST), jobs in bounded(), order in orders(),
    ) {
        let policy = Conservative::new(Placement::Fastest).with_compress_order(order);
        let mut promising = Noting::new(policy, &jobs, |policy, job, view| {
            let (start, machine) = policy.promised(job).expect("every job has an estimate");
            assert!(start > view.now && machine.index() < view.machines.len());
            Some(start)
        });
        let grid = Grid::new(machines, &mut promising, jobs.iter().copied());
        let (_, log) = Sim::new(grid, JobLog::collecting()).run();
        for record in log.into_sink() {
            let mut promised = promising.noted[record.job.id.index()].clone();
            promised.push(record.start);
            prop_assert!(promised.is_sorted_by(|earlier, later| later <= earlier), "{promised:?}");
        }
    }

    #[test]
    fn as_long_as_no_job_ends_early_it_is_backfilling_that_promises_anew(
        machines in machines(WIDEST), jobs in bounded(),
        placement in prop::sample::select(vec![Placement::Fastest, Placement::FirstFit]), order in orders(),
    ) {
        let scene = Scene::new(&machines, &with_deadlines(jobs));
        let anew = scene.transcript(Backfill::new(Depth::All, placement), Passes::PerInstant);
        let policy = Conservative::new(placement).with_compress_order(order);
        prop_assert_eq!(scene.transcript(policy, Passes::PerInstant), anew);
    }

    #[test]
    fn it_equals_its_twin(machines in machines(WIDEST), jobs in bounded(), order in orders()) {
        for passes in PASSES {
            Scene::new(&machines, &jobs).transcript(both(order), passes);
        }
    }

    #[test]
    fn it_equals_its_twin_whatever_goes_wrong(scene in scenes(WIDEST), order in orders()) {
        for passes in PASSES {
            scene.transcript(both(order), passes);
        }
    }

    #[test]
    fn it_keeps_the_books(scene in scenes(WIDEST), branch in 0..150_usize, order in orders()) {
        for passes in PASSES {
            grid_books::check_policy(Conservative::default().with_compress_order(order), &scene, passes, branch)?;
        }
    }
}

#[test]
fn after_an_early_end_no_job_is_delayed() {
    // At 1 s, jobs 2 and 3 are promised 20 s and 10 s, until when job 0 is expected to run beside job 1. It ends at 4 s:
    // job 3, which is next in the plan, starts at once, and job 2 as soon as that ends. Given anew in order of arrival,
    // job 2 would start at 10 s, and job 3 at 20 s.
    let mut jobs = [job(0, 0, 2, 4), job(1, 0, 2, 10), job(2, 1, 3, 10), job(3, 1, 2, 10)];
    jobs[0].request.estimate = Some(Span::from_secs(20));
    let machine = [Machine::new(4)];
    let policy = |order| Conservative::default().with_compress_order(order);
    assert_eq!(starts(&machine, policy(CompressOrder::Reserved), &jobs), [(0., 0), (0., 0), (14., 0), (4., 0)]);
    assert_eq!(starts(&machine, Backfill::conservative(), &jobs), [(0., 0), (0., 0), (10., 0), (20., 0)]);
}

#[test]
fn the_order_of_compression_decides_who_gets_the_room_that_an_early_end_leaves() {
    // At 1 s, jobs 2, 3 and 4 are promised 20 s, 10 s and 30 s. At 4 s, job 0 ends 16 s early. In order of arrival, job 2 cannot
    // move: job 3 has its turn later, and is still in the way. It moves to 4 s, and then job 4 takes 10 s to 20 s. In order of
    // reserved starts, job 3 moves first, job 2 follows it to 14 s, and leaves job 4 no room before its own end.
    let mut jobs = [job(0, 0, 2, 4), job(1, 0, 2, 10), job(2, 1, 3, 10), job(3, 1, 2, 10), job(4, 1, 2, 10)];
    jobs[0].request.estimate = Some(Span::from_secs(20));
    let machine = [Machine::new(4)];
    let found = |order| starts(&machine, Conservative::default().with_compress_order(order), &jobs);
    assert_eq!(found(CompressOrder::Arrival), [(0., 0), (0., 0), (20., 0), (4., 0), (10., 0)]);
    assert_eq!(found(CompressOrder::Reserved), [(0., 0), (0., 0), (14., 0), (4., 0), (24., 0)]);
}

#[test]
fn a_job_moves_to_another_machine_only_to_start_earlier() {
    // Job 2 is promised 10 s on machine 1. Job 0 ends at 5 s, and lets it start at once on machine 0.
    let mut jobs = [job(0, 0, 2, 5), job(1, 0, 2, 10), job(2, 1, 2, 10), job(3, 2, 1, 10)];
    jobs[0].request.estimate = Some(Span::from_secs(30));
    let machines = [Machine::new(2), Machine::new(2)];
    assert_eq!(starts(&machines, Conservative::default(), &jobs), [(0., 0), (0., 1), (5., 0), (10., 1)]);
}
