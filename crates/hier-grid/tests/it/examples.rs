//! The paper's own example, figure 1: six jobs and two channels.
//!
//! GSS over GS1; GS1 over GS2 and GS3; GS3 over GS4 and GS5. GS2, GS4 and GS5 are at sites. Jobs 1 to 3 find no resources at
//! GS4.

use hier_grid::grid::view::SchedulerView;
use hier_grid::{Address, Bag, Config, Grid, Message, Payload, Places, SchedulerId, Shape, StationId};
use hier_grid::{Submission, System, World};
use sim_core::{Job, JobId, Sim, Span, Streams, Time};

const GSS: SchedulerId = SchedulerId(0);
const GS1: SchedulerId = SchedulerId(1);
const GS2: SchedulerId = SchedulerId(2);
const GS3: SchedulerId = SchedulerId(3);
const GS4: SchedulerId = SchedulerId(4);
const GS5: SchedulerId = SchedulerId(5);
/// All jobs.
const FIRST: Bag = Bag(0b11);
/// Jobs 4, 5 and 6.
const SECOND: Bag = Bag(0b10);

type Figure = Grid<Vec<Message>, std::vec::IntoIter<Submission>>;

fn figure_1(jobs: &[u32], seconds: u64) -> Figure {
    let shape = Shape::over(vec![Shape::over(vec![Shape::site(), Shape::over(vec![Shape::site(), Shape::site()])])]);
    let servers = [vec![(64, 0b11)], vec![(64, 0b10)], vec![(64, 0b11)]];
    let places = Places { backbones: 1, nets: 1, sites: 3 };
    let world = World::explicit(places, &servers, &[1, 0, 0], shape).expect("a valid world");
    let submissions: Vec<_> = (0..)
        .zip(jobs)
        .map(|(id, system)| Submission {
            job: Job::new(JobId(id), Time::ZERO, 1, Span::from_secs(seconds)),
            station: StationId(0),
            system: *system,
            input: 0,
            output: 0,
        })
        .collect();
    let config = Config::of_the_paper(System::Trees(1), 1, 1.0);
    Grid::fed(config, world, submissions.into_iter(), &Streams::new(1, 0), Vec::new()).expect("a valid configuration")
}

/// `(bag, power, children)` of each channel.
fn channels(view: &SchedulerView) -> Vec<(Bag, u64, Vec<SchedulerId>)> {
    let children =
        |channel: &hier_grid::grid::view::ChannelView| channel.branches.iter().map(|branch| branch.child).collect();
    view.channels.iter().map(|channel| (channel.bag, channel.power, children(channel))).collect()
}

#[test]
fn six_jobs_make_two_channels() {
    let mut sim = Sim::new(figure_1(&[0, 0, 0, 1, 1, 1], 100), ());
    sim.run_until(Time::from_secs(1));
    let at = |id: SchedulerId| channels(&sim.model().schedulers().nth(id.index()).expect("a scheduler"));
    assert_eq!(at(GSS), [(SECOND, 64, vec![GS1]), (FIRST, 128, vec![GS1])]);
    assert_eq!(at(GS1), [(SECOND, 64, vec![GS3]), (FIRST, 128, vec![GS2, GS3])]);
    assert_eq!(at(GS3), [(SECOND, 64, vec![GS4]), (FIRST, 64, vec![GS5])]);
    assert_eq!(at(GS4), [(SECOND, 64, vec![])]);
    assert_eq!(at(GS2), at(GS5));
}

#[test]
fn the_six_jobs_run_where_they_can() {
    let (grid, log) = Sim::new(figure_1(&[0, 0, 0, 1, 1, 1], 90), sim_core::JobLog::collecting()).run();
    assert_eq!(grid.is_at_rest(), Ok(()));
    // Three servers for six equal jobs: two rounds, plus latencies.
    let records = log.into_sink();
    assert_eq!(records.len(), 6);
    let last = records.iter().map(|record| record.finish).max().expect("six");
    assert!(last < Time::from_secs(201), "{last} s for two rounds of 100 s");
    // Jobs 1 to 3 find no resources at GS4, which is site 1.
    assert!(records.iter().all(|record| record.job.id >= JobId(3) || record.site.0 != 1));
}

#[test]
fn nine_jobs_are_shared_by_three_branches_of_equal_power() {
    // Only GS1 has work once GSS has pushed it; a block to its first branch is at most a third.
    let (grid, _) = Sim::new(figure_1(&[0, 0, 0, 0, 1, 1, 1, 1, 1], 100), ()).run();
    assert_eq!(grid.is_at_rest(), Ok(()));
    for message in grid.observer() {
        if let Payload::Block { jobs, .. } = &message.payload
            && message.from == Address::Scheduler(GS1)
        {
            assert!(jobs.len() <= 3, "{message:?}");
        }
    }
}
