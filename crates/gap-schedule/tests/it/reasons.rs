//! What policies say of why jobs start or wait: every claim is recomputed from what the pass was shown, and nobody who listens
//! changes anything.

use crate::backfill::{depths, reserving};
use crate::grid_books::{Scene, scenes};
use crate::grid_common::{choosy, hurried, machines, readings};
use crate::ordered::rules;
use gap_schedule::{
    BackfillRule, CompressOrder, Conservative, Easy, Explained, Fcfs, FlexibleBackfill, IfNewcomerFits, Machine, Order,
    OrderedBackfill, Passes, Policy, Priority, QueuedJob, Reason, ReasonProbe, ReservedStart, Right, RunningJob,
    Starts, View,
};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, JobId, Request, SiteId, Span, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const WIDEST: u32 = 6;

/// From here on, nothing is expected to end.
const NEVER: Time = Time::from_nanos(u64::MAX - 1);

/// Recomputes every claim.
#[derive(Clone, Debug, Default)]
struct Judge {
    /// Whether left-over processors are of use to nobody.
    is_strict: bool,
    /// Whether jobs may be left where they are though nothing is in their way.
    may_keep: bool,
    now: Time,
    machines: Vec<Machine>,
    free: Vec<u32>,
    running: Vec<Vec<RunningJob>>,
    queue: Vec<QueuedJob>,
    /// Of this pass, with those who had started by then.
    told: Vec<(JobId, Reason, Starts)>,
    /// All that was promised to each job, in all passes.
    promised: Rc<RefCell<BTreeMap<JobId, Vec<Time>>>>,
}

impl ReasonProbe for Judge {
    fn begin_pass(&mut self, view: &View<'_>) {
        self.now = view.now;
        self.machines = view.machines.to_vec();
        self.free = view.free.to_vec();
        self.running = view.running.iter().map(|running| running.iter().copied().collect()).collect();
        self.queue = view.queue.iter().copied().collect();
        self.told.clear();
    }

    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts) {
        self.told.push((job, reason, starts.clone()));
    }

    fn end_pass(&mut self, _: &View<'_>, starts: &Starts) {
        for (job, reason, before) in &self.told {
            assert!(
                starts.starts_with(before) || before.iter().all(|one| starts.contains(one)),
                "{before:?} {starts:?}"
            );
            self.check(self.request(*job), *job, reason, before, starts);
        }
        let places: Vec<usize> = self.told.iter().filter_map(|(_, reason, _)| place(reason)).collect();
        assert!(places.iter().copied().eq(1..=places.len()), "{places:?}");
        for queued in &self.queue {
            let of_it: Vec<&Reason> =
                self.told.iter().filter(|told| told.0 == queued.job).map(|told| &told.1).collect();
            let started = starts.iter().find(|(job, _)| *job == queued.job);
            let told = of_it.iter().find_map(|reason| match reason {
                Reason::Starts { machine, .. } => Some(*machine),
                _ => None,
            });
            assert_eq!(told, started.map(|(_, machine)| *machine), "job {}: {of_it:?}", queued.job);
            let obstacles = of_it.iter().filter(|reason| is_obstacle(reason)).count();
            assert_eq!(
                obstacles,
                usize::from(started.is_none() && !self.told.is_empty()),
                "job {}: {of_it:?}",
                queued.job
            );
        }
    }
}

fn place(reason: &Reason) -> Option<usize> {
    match reason {
        Reason::Turn { place } => Some(*place),
        _ => None,
    }
}

fn is_obstacle(reason: &Reason) -> bool {
    matches!(reason, Reason::NoRoom { .. } | Reason::Barred { .. } | Reason::Behind { .. } | Reason::Kept)
}

impl Judge {
    fn request(&self, job: JobId) -> &Request {
        &self.queue.iter().find(|queued| queued.job == job).unwrap_or_else(|| panic!("job {job} does not wait")).request
    }

    fn suits(&self, request: &Request, machine: SiteId) -> bool {
        self.machines[machine.index()].suits(request) && request.sites.contains(machine)
    }

    /// By plain subtraction.
    fn free(&self, machine: SiteId, starts: &Starts) -> u32 {
        let here = starts.iter().filter(|(_, place)| *place == machine);
        self.free[machine.index()] - here.map(|(job, _)| self.request(*job).processors).sum::<u32>()
    }

    /// Who holds processors of the machine, and until when that is expected: what runs, and what the pass has started.
    fn held(&self, machine: SiteId, starts: &Starts) -> Vec<(Time, u32)> {
        let soonest = self.now + Span::from_nanos(1);
        let running = self.running[machine.index()].iter().map(|job| (job.expected_end, job.processors));
        let here = starts.iter().filter(|(_, place)| *place == machine).map(|(job, _)| self.request(*job));
        let takes = |request: &Request| self.machines[machine.index()].expects(request);
        let here = here.map(|request| (self.now.saturating_add(takes(request)), request.processors));
        running.chain(here).map(|(end, processors)| (end.max(soonest), processors)).collect()
    }

    fn waits(&self, job: JobId, starts: &Starts) {
        self.request(job);
        assert!(starts.iter().all(|(start, _)| *start != job), "job {job} has started");
    }

    fn check(&self, request: &Request, job: JobId, reason: &Reason, before: &Starts, starts: &Starts) {
        assert!(before.iter().all(|(other, _)| *other != job), "job {job} had started before");
        match reason {
            Reason::Turn { .. } | Reason::Hopeless => {}
            Reason::Starts { machine, right, passed } => {
                assert!(self.suits(request, *machine) && self.free(*machine, before) >= request.processors);
                passed.iter().for_each(|other| self.waits(*other, starts));
                assert!(*right != Right::Backfilled || !passed.is_empty(), "{passed:?}");
            }
            Reason::NoRoom { machine, free } => {
                assert_eq!(*free, self.free(*machine, before), "job {job}");
                assert!(self.suits(request, *machine) && *free < request.processors);
                let all = (0..).map(SiteId).take(self.machines.len()).filter(|other| self.suits(request, *other));
                assert_eq!(all.map(|other| self.free(other, before)).max(), Some(*free));
            }
            Reason::Barred { machine, at, left, by } => {
                self.check_bar((job, request), (*machine, *at, *left), by, before, starts);
            }
            Reason::Behind { head } => {
                self.waits(*head, starts);
                assert!(self.told.iter().any(|told| told.0 == *head && matches!(told.1, Reason::NoRoom { .. })));
            }
            Reason::Reserved { machine, start } => {
                assert!(self.suits(request, *machine) && *start > self.now);
                self.promised.borrow_mut().entry(job).or_default().push(*start);
            }
            Reason::Kept => assert!(self.may_keep, "job {job} could have started"),
        }
    }

    fn check_bar(
        &self,
        (job, request): (JobId, &Request),
        (machine, at, left): (SiteId, Time, u32),
        by: &[ReservedStart],
        before: &Starts,
        starts: &Starts,
    ) {
        assert!(self.suits(request, machine) && self.free(machine, before) >= request.processors, "job {job} has room");
        assert!(at > self.now && left < request.processors && !by.is_empty());
        let place = &self.machines[machine.index()];
        let is_beyond = |end: Time| self.is_strict || end > at || end == Time::MAX;
        assert!(is_beyond(self.now.saturating_add(place.expects(request))), "job {job} would end in time");
        for ReservedStart { job: other, start, processors } in by {
            self.waits(*other, starts);
            let theirs = self.request(*other);
            assert!(*other != job && *start <= at && *processors == theirs.processors);
            let end = start.saturating_add(place.expects(theirs).max(Span::from_nanos(1)));
            assert!(is_beyond(end), "job {other} has ended by {at}");
        }
        // What never ends is expected to at the last instant, of which there are two: not recomputed.
        let held = self.held(machine, before);
        if !self.is_strict && at < NEVER && held.iter().all(|(end, _)| *end < NEVER) {
            let busy: u32 = held.iter().filter(|(end, _)| *end > at).map(|(_, processors)| processors).sum();
            let promised: u32 = by.iter().map(|by| by.processors).sum();
            assert_eq!(left, place.processors - busy - promised, "left for job {job} at {at}");
        }
    }
}

/// The same schedule with somebody who listens, and every claim holds.
fn check(policy: impl Policy + Clone, scene: &Scene, judge: &Judge) {
    for passes in [Passes::PerInstant, Passes::PerEvent] {
        let explained = Explained::new(policy.clone(), judge.clone());
        assert_eq!(scene.transcript(explained, passes), scene.transcript(policy.clone(), passes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// On one machine and on several, with estimates of every kind, and where machines fail.
    #[test]
    fn every_claim_of_a_policy_in_order_of_arrival_holds(
        scene in scenes(WIDEST), readings in readings(), depth in depths(),
    ) {
        let judge = Judge::default();
        let rule = Judge { is_strict: readings.rule == BackfillRule::Strict, ..judge.clone() };
        check(Fcfs::new(), &scene, &judge);
        check(Easy::new(readings), &scene, &rule);
        check(reserving(depth, readings.placement), &scene, &judge);
        let keeps = Judge { may_keep: true, ..judge };
        check(Conservative::new(readings.placement), &scene, &keeps);
        check(Conservative::default().with_compress_order(CompressOrder::Reserved), &scene, &keeps);
    }

    #[test]
    fn every_claim_of_a_policy_in_any_order_holds(
        scene in scenes(WIDEST), rule in rules(), order in prop::sample::select(Order::ALL.to_vec()), depth in depths(),
    ) {
        let judge = Judge::default();
        check(OrderedBackfill::new(rule), &scene, &judge);
        check(Fcfs::in_order(Priority { order, threshold: rule.threshold }), &scene, &judge);
        check(FlexibleBackfill::default(), &scene, &judge);
        check(FlexibleBackfill::default().with_reserve(depth), &scene, &judge);
        let keeps = Judge { may_keep: true, ..judge };
        check(Conservative::default().with_order(Priority::of(order)), &scene, &keeps);
    }

    /// Where estimates are upper bounds and nothing fails.
    #[test]
    fn nobody_starts_later_than_was_last_told(
        machines in machines(WIDEST),
        jobs in (workload(WIDEST), 1..6_u64).prop_map(|(jobs, by)| hurried(jobs, by)).prop_flat_map(choosy),
    ) {
        fn check(policy: impl Policy, machines: &[Machine], jobs: &[Job]) -> usize {
            let judge = Judge { may_keep: true, ..Judge::default() };
            let promised = Rc::clone(&judge.promised);
            let records = crate::grid_common::records(machines, Explained::new(policy, judge), jobs);
            let promised = promised.borrow();
            for record in &records {
                for start in promised.get(&record.job.id).into_iter().flatten() {
                    assert!(record.start <= *start, "job {}: {} s after {start} s", record.job.id, record.start);
                }
            }
            promised.len()
        }
        check(Easy::default(), &machines, &jobs);
        check(Conservative::default(), &machines, &jobs);
    }
}

/// Nothing is told in a pass that is not made.
#[test]
fn a_policy_that_makes_no_pass_tells_nothing() {
    struct Silent(usize);
    impl ReasonProbe for Silent {
        fn observe(&mut self, _: JobId, _: Reason, _: &Starts) {
            self.0 += 1;
        }
    }
    let job = |id, processors| Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(10));
    let policy = Explained::new(IfNewcomerFits::new(Easy::default()), Silent(0));
    let world = gap_schedule::MultiCluster::new(vec![Machine::new(4)], policy, [job(0, 4), job(1, 4)].into_iter());
    let mut sim = sim_core::Sim::new(world.with_passes(Passes::Pyss), ());
    // The first is told its turn and its start; the second does not fit, so that no pass is made for it.
    sim.run_until(Time::from_secs(5));
    let (world, ()) = sim.into_parts();
    assert_eq!(world.policy().probe().0, 2);
}
