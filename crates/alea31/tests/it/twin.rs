//! Policies of the profile `alea31` compared with their obvious twins, and invariants of that world.

use crate::common::{WAGAP, wagap};
use crate::obvious::{Kind, Obvious};
use crate::obvious_easy::ObviousEasy;
use alea31::{Cons, Easy, GapFilling, Means, Policy, Readings, World, executed_time, start_up, work};
use proptest::prelude::*;
use sim_core::{Fact, Job, JobId, Purpose, Sim, SiteId, SiteSet, Span, Stream, Streams, Time, testkit};
use std::collections::BTreeMap;
use std::ops::Range;

const CLUSTERS: [u32; 2] = [12, 8];

/// Strategy for up to 40 jobs that crowd two small clusters.
fn jobs() -> impl Strategy<Value = Vec<Job>> {
    crowd(1..40, 0..120)
}

/// Strategy for more than a hundred jobs that arrive so fast that nearly all of them wait: plans with several marks.
fn long_queues() -> impl Strategy<Value = Vec<Job>> {
    crowd(100..160, 0..8)
}

/// Strategy for a number of jobs, a number of seconds apart, of three users. Some may use one cluster only, and limits
/// are longer than runs by up to some minutes, or shorter.
fn crowd(number: Range<usize>, gaps: Range<u64>) -> impl Strategy<Value = Vec<Job>> {
    let job = (gaps, 1..=12_u32, 0..900_u64, 0..1_200_u64, 0..4_u32, 0..3_u32);
    prop::collection::vec(job, number).prop_map(|jobs| {
        let mut submit = Time::ZERO;
        let mut numbers = 0..;
        jobs.into_iter()
            .map(|(gap, processors, runtime, limit, places, user)| {
                submit += Span::from_secs(gap);
                let id = JobId(numbers.next().expect("few"));
                let mut job = Job::new(id, submit, processors, Span::from_secs(runtime));
                job.request.estimate = Some(Span::from_secs(limit));
                job.request.deadline = Some(submit + Span::from_secs(2 * runtime));
                job.request.sites = match places {
                    0 if processors <= CLUSTERS[1] => SiteSet::NONE.with(SiteId(1)),
                    1 => SiteSet::NONE.with(SiteId(0)),
                    _ => SiteSet::ALL,
                };
                job.request.user = Some(user);
                job
            })
            .collect()
    })
}

fn stream() -> Stream {
    Streams::new(7, 0).stream(Purpose("tabu search"), 0)
}

fn check(jobs: &[Job], fast: impl Policy, slow: Kind) -> Result<(), TestCaseError> {
    prop_assert_eq!(World::new(&CLUSTERS, fast, jobs).run(), World::new(&CLUSTERS, Obvious::new(slow), jobs).run());
    Ok(())
}

fn readings() -> impl Strategy<Value = Readings> {
    testkit::answers(Readings::LIST).prop_map(|lines| toml::from_str(&lines).expect("they are answers"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn easy_backfills_as_its_twin_does(jobs in jobs()) {
        prop_assert_eq!(
            World::new(&CLUSTERS, Easy::default(), &jobs[..]).run(),
            World::new(&CLUSTERS, ObviousEasy::default(), &jobs[..]).run()
        );
    }

    #[test]
    fn cons_plans_as_its_twin_does(jobs in jobs()) {
        check(&jobs, Cons::default(), Kind::Cons)?;
    }

    #[test]
    fn best_gap_plans_as_its_twin_does(jobs in jobs()) {
        check(&jobs, GapFilling::best_gap(), Kind::BestGap)?;
    }

    #[test]
    fn bgt_searches_as_its_twin_does(jobs in jobs()) {
        check(&jobs, GapFilling::bgt(stream()), Kind::Bgt(stream()))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// The search skips most repeated moves, and plans from the last mark on: the result equals that from scratch.
    #[test]
    fn the_same_is_planned_where_many_wait(jobs in long_queues()) {
        check(&jobs, Cons::default(), Kind::Cons)?;
        check(&jobs, GapFilling::best_gap(), Kind::BestGap)?;
        check(&jobs[..100], GapFilling::bgt(stream()), Kind::Bgt(stream()))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Under every policy, every job runs on allowed and existing processors, and starts are 8 ms apart.
    #[test]
    fn the_world_keeps_its_rules(jobs in jobs(), readings in readings()) {
        let policies: [Box<dyn Policy>; 5] = [
            Box::new(Easy::default()),
            Box::new(Cons::default()),
            Box::new(GapFilling::best_gap()),
            Box::new(GapFilling::bgt(stream())),
            Box::new(GapFilling::swift_gap(readings, stream())),
        ];
        for (index, policy) in policies.into_iter().enumerate() {
            let (_, told) = Sim::new(World::new(&CLUSTERS, policy, &jobs[..]), Vec::new()).run();
            let mut busy = [0; 2];
            let mut running = BTreeMap::new();
            let mut latest = Time::ZERO;
            for (now, fact) in told {
                match fact {
                    Fact::Started { job, site, processors } => {
                        let asked = &jobs[job.index()];
                        prop_assert_eq!(processors, asked.request.processors);
                        prop_assert!(index == 4 || asked.request.sites.contains(site));
                        prop_assert!(now >= latest + Span::from_nanos(8_000_000), "{} s after {} s", now, latest);
                        latest = now;
                        busy[site.index()] += processors;
                        prop_assert!(busy[site.index()] <= CLUSTERS[site.index()]);
                        running.insert(job, (site, now, processors));
                    }
                    Fact::Finished { job } => {
                        let (site, start, processors) = running.remove(&job).expect("it runs");
                        busy[site.index()] -= processors;
                        let (took, asked) = (now.since(start), &jobs[job.index()]);
                        let allowed = work(asked)..=executed_time(asked);
                        prop_assert!(allowed.contains(&took), "{} s: {:?}", took, asked);
                    }
                    Fact::Rejected { .. } => prop_assert!(false, "some cluster suits every job"),
                    _ => {}
                }
            }
            prop_assert_eq!(busy, [0; 2]);
        }
    }

    #[test]
    fn the_same_stream_makes_the_same_schedule(jobs in jobs()) {
        let searched = || World::new(&CLUSTERS, GapFilling::bgt(stream()), &jobs[..]).run();
        prop_assert_eq!(searched(), searched());
    }
}

/// Returns a job of the smaller cluster, submitted at once.
fn on_the_smaller(id: u32, processors: u32, runtime: u64, limit: u64) -> Job {
    let mut job = Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(runtime));
    job.request.estimate = Some(Span::from_secs(limit));
    job.request.sites = SiteSet::NONE.with(SiteId(1));
    job
}

/// Jobs 0 and 1 are done at the same look, long before their limits. When 0 compresses the plan, the processors of 1
/// are free already. If they were not, job 3 would wait for less than job 2 and be put before it.
#[test]
fn of_two_jobs_that_are_done_at_once_neither_holds_processors_when_the_plan_is_compressed() {
    let jobs = [
        on_the_smaller(0, 2, 90, 400),
        on_the_smaller(1, 2, 90, 700),
        on_the_smaller(2, 7, 1, 1),
        on_the_smaller(3, 5, 1, 358),
    ];
    let records = World::new(&CLUSTERS, Cons::default(), jobs).run();
    assert_eq!(records[0].finish, records[1].finish);
    assert!(records[2].start < records[3].start, "{records:?}");
    assert_eq!(records, World::new(&CLUSTERS, Obvious::new(Kind::Cons), jobs).run());
}

/// Clusters of 68 and 120 nodes: the simulator queries the nodes and processors of each before it admits jobs.
#[test]
fn the_simulator_starts_up_the_later_the_more_processors_there_are() {
    let wagap = start_up([(20, 80), (48, 12)]);
    assert_eq!(wagap, Time::from_nanos(29_241_600_000));
    assert_eq!(start_up([(120, 2)]), Time::from_nanos(16_968_800_000));
    let job = [Job::new(JobId(0), Time::ZERO, 4, Span::from_secs(60))];
    let travel = Span::from_nanos(8_000_000);
    assert_eq!(
        World::new(&CLUSTERS, Easy::default(), job).run()[0].start,
        wagap + travel,
        "the start-up time is that of wagap by default"
    );
    for start_up in [Time::ZERO, start_up([(120, 2)])] {
        let world = World::new(&CLUSTERS, Easy::default(), job).with_start_up(start_up);
        assert_eq!(world.run()[0].start, start_up + travel);
    }
}

/// None of the first 3000 jobs waits but for the start-up, and response − wait is the executed time under every policy.
#[test]
fn the_first_3000_jobs_start_at_once() {
    let Some(jobs) = wagap(3_000) else { return };
    let policies: [Box<dyn Policy>; 4] = [
        Box::new(Easy::default()),
        Box::new(Cons::default()),
        Box::new(GapFilling::best_gap()),
        Box::new(GapFilling::swift_gap(Readings::default(), stream())),
    ];
    for policy in policies {
        let records = World::new(&WAGAP, policy, &jobs[..]).run();
        assert_eq!(records.len(), jobs.len());
        for record in &records[1..] {
            assert!(record.wait() < Span::from_secs(10), "{record:?}");
        }
        let means = Means::of(&records);
        assert!((means.response - means.wait - 47_772.67).abs() < 0.01, "{means:?}");
    }
}
