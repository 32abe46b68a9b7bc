//! Cases small enough to check by hand, written as sequences: at 2 s, job 1 starts on processors 0 and 1, `2: 1 on 0 1`.
//!
//! Chance is excluded: gangs go to the processors of lowest index, and sites with one processor leave a local no choice.

use crate::common::{Transcript, World};
use gang_grid::config::{EmptyInScan, EmptyOnArrival, GangArrival, GangOrder, Placement, ScanTrigger, ThresholdFrom};
use gang_grid::{Approach, Config, Grid, Readings, Site, Submission};
use sim_core::{Fact, JobId, SiteId, Span, Streams, Time};

fn local(id: u32, submit: f64, site: u32, service: f64) -> Submission {
    Submission::local(JobId(id), at(submit), SiteId(site), Span::from_secs_f64(service))
}

fn gang<const N: usize>(id: u32, submit: f64, tasks: [f64; N]) -> Submission {
    Submission::gang(JobId(id), at(submit), tasks.map(Span::from_secs_f64))
}

fn at(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

/// Sites with these numbers of processors.
fn world<const N: usize>(sites: [u32; N], approach: Approach, submissions: &[Submission]) -> World {
    let mut config = Config::uniform(N, 1, approach);
    for (site, processors) in config.sites.iter_mut().zip(sites) {
        site.processors = processors;
    }
    config.readings.placement = Placement::LowestIndex;
    World { config, submissions: submissions.to_vec(), seed: 0 }
}

/// The starts, in order.
fn story(world: &World) -> Vec<String> {
    let mut story: Vec<String> = Vec::new();
    for (now, fact) in world.start(Transcript::new()).run().1 {
        match fact {
            Fact::Started { job, .. } => story.push(format!("{now}: {job} on")),
            Fact::Seized { processor, .. } => {
                *story.last_mut().expect("started first") += &format!(" {processor}");
            }
            Fact::Rejected { job, .. } => story.push(format!("{now}: {job} rejected")),
            Fact::Submitted(_) | Fact::Finished { .. } | Fact::Released { .. } => {}
        }
    }
    story
}

#[track_caller]
fn check<const N: usize>(world: &World, expected: [&str; N]) {
    assert_eq!(story(world), expected);
}

mod backfilling {
    use super::*;

    /// Gang 1 waits on both processors until 5 s; processor 0 is free from 2 s on. Local 2 arrives at 2 s.
    fn arriving(threshold: f64, service: f64) -> World {
        let jobs = [gang(0, 0.0, [2.0, 5.0]), gang(1, 0.0, [1.0, 1.0]), local(2, 2.0, 0, service)];
        let mut world = world([2], Approach::One, &jobs);
        world.config.threshold = Span::from_secs_f64(threshold);
        world
    }

    /// A local that just fits starts, and one that is a nanosecond too long waits.
    #[test]
    fn a_local_may_delay_the_gang_by_the_threshold_and_no_more() {
        check(&arriving(0.0, 3.0), ["0: 0 on 0 1", "2: 2 on 0", "5: 1 on 0 1"]);
        check(&arriving(0.1, 3.1), ["0: 0 on 0 1", "2: 2 on 0", "5.1: 1 on 0 1"]);
        for (threshold, service) in [(0.0, 3.000_000_001), (0.1, 3.100_000_001)] {
            check(&arriving(threshold, service), ["0: 0 on 0 1", "5: 1 on 0 1", "6: 2 on 0"]);
        }
    }

    /// Two sites of one processor. Gang 1 waits on both until 5 s; locals 2, 3 and 4 wait behind it at the first.
    fn waiting(threshold: f64, services: [f64; 3]) -> World {
        let mut jobs = vec![gang(0, 0.0, [2.0, 5.0]), gang(1, 0.0, [1.0, 1.0])];
        jobs.extend((2..).zip(services).map(|(id, service)| local(id, 0.5, 0, service)));
        let mut world = world([1, 1], Approach::Three, &jobs);
        (world.config.threshold, world.config.overhead) = (Span::from_secs_f64(threshold), 0.0);
        world
    }

    /// At 2 s there are 3 s left: local 2 needs 4, local 3 fits, and local 4 fits in the time that local 3 may leave.
    #[test]
    fn a_freed_processor_takes_the_first_locals_of_its_queue_that_fit() {
        check(&waiting(0.0, [4.0, 3.0, 1.0]), ["0: 0 on 0 1", "2: 3 on 0", "5: 1 on 0 1", "6: 2 on 0", "10: 4 on 0"]);
        check(&waiting(0.0, [4.0, 2.0, 1.0]), ["0: 0 on 0 1", "2: 3 on 0", "4: 4 on 0", "5: 1 on 0 1", "6: 2 on 0"]);
    }

    /// T = 1 s. At 2 s local 2 (4 s) delays gang 1 from 5 s to 6 s. At 5 s local 3 (2 s) would delay it to 7 s: by one
    /// more second from the present start, by two from the promised one.
    #[test]
    fn delays_add_up_from_the_present_start_and_not_from_the_promised_one() {
        let jobs = [gang(0, 0.0, [2.0, 5.0]), gang(1, 0.0, [1.0, 1.0]), local(2, 0.5, 0, 4.0), local(3, 0.5, 1, 2.0)];
        let mut present = world([1, 1], Approach::Three, &jobs);
        (present.config.threshold, present.config.overhead) = (Span::from_secs(1), 0.0);
        check(&present, ["0: 0 on 0 1", "2: 2 on 0", "5: 3 on 1", "7: 1 on 0 1"]);
        let promised = present.reading(|readings| readings.threshold_from = ThresholdFrom::PromisedStart);
        check(&promised, ["0: 0 on 0 1", "2: 2 on 0", "6: 1 on 0 1", "7: 3 on 1"]);
    }
}

mod grid_queue {
    use super::*;

    /// Gangs 2 to 5 of 2, 3, 3 and 1 tasks wait in the GS queue. Gang 1 leaves at 10 s.
    fn queue(order: GangOrder) -> World {
        let jobs = [
            gang(0, 0.0, [9.0; 4]),
            gang(1, 0.0, [1.0; 4]),
            gang(2, 1.0, [2.0; 2]),
            gang(3, 2.0, [2.0; 3]),
            gang(4, 3.0, [2.0; 3]),
            gang(5, 4.0, [5.0]),
        ];
        world([4], Approach::One, &jobs).reading(|readings| readings.gang_order = order)
    }

    #[test]
    fn the_next_gang_is_the_one_that_the_order_names() {
        let first = ["0: 0 on 0 1 2 3", "9: 1 on 0 1 2 3"];
        for (order, then) in [
            (GangOrder::LargestThatFits, ["10: 3 on 0 1 2", "10: 5 on 3", "12: 4 on 0 1 2", "14: 2 on 0 1"]),
            (GangOrder::LargestOnly, ["10: 3 on 0 1 2", "12: 4 on 0 1 2", "14: 2 on 0 1", "14: 5 on 2"]),
            (GangOrder::OldestThatFits, ["10: 2 on 0 1", "10: 5 on 2", "12: 3 on 0 1 3", "14: 4 on 0 1 3"]),
        ] {
            assert_eq!(story(&queue(order)), [&first[..], &then[..]].concat(), "{order:?}");
        }
    }

    /// Gang 2 has an idle processor at 2 s, where the first task of gang 0 ends; gang 0 itself leaves at 6 s.
    fn trigger(trigger: ScanTrigger, more: Option<Submission>) -> World {
        let mut jobs = vec![gang(0, 0.0, [2.0, 6.0, 6.0]), gang(1, 1.0, [1.0])];
        jobs.extend(more);
        world([3], Approach::One, &jobs).reading(|readings| {
            // Otherwise the gang would be routed to wait behind a task.
            readings.empty_on_arrival = EmptyOnArrival::Idle;
            readings.scan_trigger = trigger;
        })
    }

    #[test]
    fn a_local_that_leaves_an_empty_queue_is_a_reason_to_scan_and_the_end_of_a_single_task_is_none() {
        check(&trigger(ScanTrigger::ExitLeavesEmptyQueue, None), ["0: 0 on 0 1 2", "6: 1 on 0"]);
        check(&trigger(ScanTrigger::AnyRelease, None), ["0: 0 on 0 1 2", "2: 1 on 0"]);
        let world = trigger(ScanTrigger::ExitLeavesEmptyQueue, Some(local(2, 2.5, 0, 1.0)));
        check(&world, ["0: 0 on 0 1 2", "2.5: 2 on 0", "3.5: 1 on 0"]);
    }

    /// At 2 s local 1 begins, and no job waits any more: not enough by default (R4), for the processor is not idle.
    /// Local 3 therefore comes before gang 2.
    #[test]
    fn an_empty_queue_in_the_scan_is_an_idle_processor() {
        let jobs = [local(0, 0.0, 0, 2.0), local(1, 0.0, 0, 2.0), gang(2, 1.0, [1.0]), local(3, 2.5, 0, 5.0)];
        let world = world([1], Approach::One, &jobs);
        check(&world, ["0: 0 on 0", "2: 1 on 0", "4: 3 on 0", "9: 2 on 0"]);
        let world = world.reading(|readings| readings.empty_in_scan = EmptyInScan::NoneWaiting);
        check(&world, ["0: 0 on 0", "2: 1 on 0", "4: 2 on 0", "5: 3 on 0"]);
    }

    /// No job waits behind job 0, so no queue becomes empty when it leaves: gang 1 is left forever. No other trigger
    /// leaves a job (`invariants::no_job_is_lost`).
    #[test]
    fn a_gang_may_be_left_if_only_a_queue_that_becomes_empty_triggers_a_scan() {
        let stranded = trigger(ScanTrigger::QueueBecomesEmpty, None);
        check(&stranded, ["0: 0 on 0 1 2"]);
        assert_eq!(stranded.start(()).run().0.queue().len(), 1);
    }

    /// The queue is scanned when a gang joins it: gang 2 causes the start of gang 1.
    #[test]
    fn a_gang_that_joins_the_queue_first_has_it_scanned() {
        let jobs = |id, submit| [gang(0, 0.0, [2.0, 6.0, 6.0]), gang(1, 1.0, [1.0]), gang(id, submit, [3.0])];
        let mut world = world([3], Approach::One, &jobs(2, 3.0));
        check(&world, ["0: 0 on 0 1 2", "2: 1 on 0", "3: 2 on 0"]);
        world = world.reading(|readings| readings.gang_arrival = GangArrival::JoinsQueue);
        check(&world, ["0: 0 on 0 1 2", "3: 1 on 0", "4: 2 on 0"]);
    }
}

mod approaches {
    use super::*;

    const ALL: [Approach; 3] = [Approach::One, Approach::Two, Approach::Three];

    /// Two sites of two processors. Gangs of one task keep processors 0, 1, … busy for these times; then `more` arrives.
    fn filled<const N: usize, const M: usize>(approach: Approach, busy: [f64; N], more: [Submission; M]) -> World {
        let mut jobs: Vec<Submission> = (0..).zip(busy).map(|(id, service)| gang(id, 0.0, [service])).collect();
        jobs.extend(more);
        world([2, 2], approach, &jobs)
    }

    /// Every approach first tries idle processors of site 1, then of site 2, then empty queues of site 1, then of
    /// site 2; even if two sites together could start the gang at once.
    #[test]
    fn the_conditions_of_approach_1_come_first_and_in_their_order() {
        let two = |id, submit| gang(id, submit, [1.0, 1.0]);
        for approach in ALL {
            check(&filled(approach, [], [two(9, 1.5)]), ["1.5: 9 on 0 1"]);
            check(&filled(approach, [9.0], [two(9, 1.5)]), ["0: 0 on 0", "1.5: 9 on 2 3"]);
            // At 1.5 s processors 1 and 3 are idle.
            check(
                &filled(approach, [9.0, 1.0, 9.0], [two(9, 1.5)]),
                ["0: 0 on 0", "0: 1 on 1", "0: 2 on 2", "9: 9 on 0 1"],
            );
            check(
                &filled(approach, [9.0, 1.0, 9.0], [two(8, 1.5), two(9, 1.5)]),
                ["0: 0 on 0", "0: 1 on 1", "0: 2 on 2", "9: 8 on 0 1", "9: 9 on 2 3"],
            );
        }
    }

    /// At 3 s processors 1 and 3 are idle, and a job waits behind each of those that run on 0 and 2.
    #[test]
    fn approach_2_starts_a_gang_on_idle_processors_of_both_sites() {
        let jobs = || {
            let behind = |id| gang(id, 0.5, [1.0]);
            [behind(4), behind(5), behind(6), behind(7), gang(9, 3.0, [1.0, 1.0])]
        };
        let last = |approach| story(&filled(approach, [9.0, 1.0, 9.0, 1.0], jobs())).split_off(6);
        assert_eq!(last(Approach::One), ["9: 4 on 0", "9: 6 on 2", "10: 9 on 0 1"]);
        assert_eq!(last(Approach::Two), ["3: 9 on 1 3", "9: 4 on 0", "9: 6 on 2"]);
        assert_eq!(last(Approach::Three), last(Approach::Two));
    }

    /// Gang 1 needs both sites. Approach 2 keeps it in the GS queue, and local 2 passes it. Under approach 3 it waits at the
    /// processors, where local 2 is too long to pass.
    #[test]
    fn approach_3_lets_a_gang_wait_in_empty_queues_of_both_sites() {
        let jobs = [gang(0, 0.0, [2.0, 5.0]), gang(1, 0.0, [1.0, 1.0]), local(2, 2.0, 0, 10.0)];
        let with = |approach| {
            let mut world = world([1, 1], approach, &jobs);
            world.config.overhead = 0.0;
            world
        };
        check(&with(Approach::Two), ["0: 0 on 0 1", "2: 2 on 0", "12: 1 on 0 1"]);
        check(&with(Approach::Three), ["0: 0 on 0 1", "5: 1 on 0 1", "6: 2 on 0"]);
    }

    /// 10 % on each task, only for the gang that spans sites: gang 0 does, gang 1 starts after it inside one site.
    #[test]
    fn overhead_is_paid_by_the_gang_that_spans_sites() {
        let world = world([2, 2], Approach::Two, &[gang(0, 0.0, [10.0, 5.0, 10.0]), gang(1, 0.0, [10.0, 10.0])]);
        let ends: Vec<String> = world
            .transcript()
            .into_iter()
            .filter_map(|(now, fact)| match fact {
                Fact::Released { job, processor } => Some(format!("{now}: {job} off {processor}")),
                _ => None,
            })
            .collect();
        assert_eq!(ends, ["5.5: 0 off 1", "11: 0 off 0", "11: 0 off 2", "21: 1 off 0", "21: 1 off 1"]);
    }

    #[test]
    fn a_task_takes_its_service_time_over_the_speed_of_its_site() {
        let mut world = world([1, 1], Approach::Two, &[gang(0, 0.0, [4.0, 4.0]), local(1, 0.0, 0, 3.0)]);
        (world.config.sites[0].speed, world.config.sites[1].speed) = (2.0, 0.5);
        let (grid, transcript) = world.start(Transcript::new()).run();
        let finished = |id| transcript.iter().find(|(_, fact)| *fact == Fact::Finished { job: JobId(id) });
        assert_eq!(finished(0).expect("it ran").0, at(8.8));
        assert_eq!(finished(1).expect("it ran").0, at(2.2 + 1.5)); // behind the task that took 2.2 s
        assert!((grid.utilization(at(8.8)) - (2.2 + 1.5 + 8.8) / (2.0 * 8.8)).abs() < 1e-12);
    }

    #[test]
    fn a_gang_that_can_never_fit_is_rejected() {
        let jobs = [gang(0, 0.0, [1.0; 4]), gang(1, 0.0, [1.0; 3])];
        check(&world([2, 3], Approach::One, &jobs), ["0: 0 rejected", "0: 1 on 2 3 4"]);
        check(&world([2, 3], Approach::Two, &jobs), ["0: 0 on 0 1 2 3", "1.1: 1 on 2 3 4"]);
        let jobs = [gang(0, 0.0, [1.0; 6])];
        check(&world([2, 3], Approach::Three, &jobs), ["0: 0 rejected"]);
    }
}

mod input {
    use super::*;

    fn refused(config: &Config) -> String {
        let grid = Grid::new(config.clone(), std::iter::empty(), &Streams::new(0, 0));
        grid.expect_err("no valid configuration").to_string()
    }

    #[test]
    fn a_configuration_that_makes_no_sense_is_refused_by_name() {
        let site = |processors, speed| Config {
            sites: vec![Site { processors: 1, speed: 1.0 }, Site { processors, speed }],
            ..Config::uniform(0, 0, Approach::One)
        };
        let overhead = |overhead| Config { overhead, ..Config::uniform(1, 1, Approach::One) };
        assert_eq!(refused(&Config::uniform(0, 16, Approach::One)), "sites: at least one site is needed");
        assert_eq!(refused(&site(0, 1.0)), "sites: site 2 has no processors; give it at least 1");
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(&site(1, speed)), format!("sites: site 2 has speed {speed}; a speed is above 0"));
        }
        for wrong in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(refused(&overhead(wrong)).starts_with("overhead: "));
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let Config { sites, threshold, overhead, readings, .. } = Config::uniform(2, 16, Approach::One);
        assert_eq!(sites, [Site { processors: 16, speed: 1.0 }; 2]);
        assert_eq!((threshold, overhead.to_bits()), (Span::ZERO, 0.10_f64.to_bits()));
        assert_eq!(readings, Readings::default());
        assert!(!readings.reserved_is_idle);
    }

    #[test]
    fn a_submission_that_makes_no_sense_stops_the_run() {
        let (mut wide, mut short) = (local(0, 0.0, 0, 1.0), gang(0, 0.0, [1.0, 1.0]));
        wide.job.request.processors = 2;
        short.job.request.processors = 3;
        for (submission, why) in [
            (local(0, 0.0, 2, 1.0), "local 0 arrives at site 2 of a grid of 2 sites"),
            (wide, "local 0 requests 2 processors"),
            (short, "gang 0 requests 3 processors and has 2 tasks"),
        ] {
            let world = world([4, 4], Approach::One, &[submission]);
            let panic = std::panic::catch_unwind(|| world.transcript()).expect_err(why);
            assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some(why));
        }
    }
}
