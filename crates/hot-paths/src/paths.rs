//! The hot paths of simulations.

use crate::inputs::{Draws, PROCESSORS, jobs, log};
use gap_schedule::{
    Backfilling, Conservative, Easy, EgEdf, Fcfs, FlexibleBackfill, Machine, MultiCluster, Order, OrderedBackfill,
    Planner, Policy, Tabu,
};
use sim_core::{
    AvailabilityProfile, Calendar, EventPriority, Fact, Job, JobLog, JobRecord, Probe, Sim, Span, Streams, Time,
};
use std::io::Cursor;
use workload::resample::Users;
use workload::{Estimates, HeldLog, Options, SwfReader};

#[path = "../../metasched/tests/it/generator.rs"]
mod applications;
#[path = "../../gang-grid/tests/it/generator.rs"]
mod gangs;

/// Work whose instructions are counted. It results in a number that depends on all of it.
pub(crate) type Work = Box<dyn FnOnce() -> u64>;

/// Name of a path, and a function that makes its input.
pub(crate) type Path = (&'static str, fn() -> Work);

/// All paths: ten to a hundred million instructions each.
pub(crate) const PATHS: [Path; 15] = [
    ("calendar", calendar),
    ("profile", profile),
    ("fcfs", || on_one_machine(5_000, 57, Fcfs::default())),
    ("easy", || on_one_machine(5_000, 57, Easy::default())),
    ("easy-sjf", || on_one_machine(5_000, 57, OrderedBackfill::new(sjf()))),
    ("flex", || on_one_machine(5_000, 57, FlexibleBackfill::default())),
    ("cons", || on_one_machine(2_000, 57, Conservative::default())),
    ("cons-overload", || on_one_machine(800, 20, Conservative::default())),
    ("eg-edf", || on_one_machine(1_000, 57, Planner::new(EgEdf::default(), None))),
    ("eg-edf-tabu", || on_one_machine(300, 57, Planner::new(EgEdf::default(), Some(Tabu::default())))),
    ("gangs", gang_world),
    ("prediction", prediction),
    ("flood", flood),
    ("swf", swf),
    ("replication", replication),
];

fn sjf() -> Backfilling {
    Backfilling { order: Order::Sjf, backfill: Order::Sjf, ..Backfilling::default() }
}

/// Pops one event and posts another, with a thousand pending.
fn calendar() -> Work {
    let mut draws = Draws(1);
    let delays: Vec<Span> = (0..100_000).map(|_| Span::from_nanos(draws.below(1 << 40))).collect();
    Box::new(move || {
        let mut calendar = Calendar::new();
        for (number, delay) in (0_u64..).zip(&delays[..1_000]) {
            calendar.post(Time::ZERO + *delay, EventPriority::ARRIVE, number);
        }
        let mut sum = 0;
        for delay in &delays {
            let (now, number) = calendar.pop().expect("as many are posted as popped");
            sum += number;
            calendar.post(now + *delay, EventPriority::ARRIVE, number);
        }
        sum
    })
}

/// Reserves a job in a crowded profile, and releases it.
fn profile() -> Work {
    let crowd = jobs(1_500, 57);
    let mut profile = AvailabilityProfile::new(PROCESSORS);
    let plan = |profile: &mut AvailabilityProfile, job: &Job| {
        let (span, processors) = (job.runtime, job.request.processors);
        let start = profile.earliest(Time::ZERO, span, processors).expect("no wider than the machine");
        profile.reserve(start, span, processors);
        start
    };
    for job in &crowd {
        plan(&mut profile, job);
    }
    Box::new(move || {
        let mut sum = 0;
        for _ in 0..4 {
            for job in &crowd {
                let start = plan(&mut profile, job);
                profile.cancel(start, job.runtime, job.request.processors);
                sum += start.as_nanos() / 1_000_000_000;
            }
        }
        sum
    })
}

fn on_one_machine(count: u32, gap: u64, policy: impl Policy + 'static) -> Work {
    let jobs = jobs(count, gap);
    Box::new(move || {
        let mut waits = 0;
        let sink = |record: JobRecord| waits += record.wait().as_nanos() / 1_000_000_000;
        let world = MultiCluster::new(vec![Machine::new(PROCESSORS)], policy, jobs.into_iter());
        drop(Sim::new(world, JobLog::new(sink)).run());
        waits
    })
}

fn gang_world() -> Work {
    let submissions: Vec<_> = gangs::Load::of_the_paper(10.0).submissions(5_000, &Streams::new(2010, 0)).collect();
    Box::new(move || {
        let config = gang_grid::Config::uniform(2, 16, gang_grid::Approach::Two);
        let grid = gang_grid::Grid::new(config, submissions.into_iter(), &Streams::new(2010, 0)).expect("valid");
        Sim::new(grid, ()).run().0.completed()
    })
}

/// Runs the metascheduler that predicts by simulation.
fn prediction() -> Work {
    let load = applications::Load { copies: 40, interarrival: 60.0, ..applications::Load::OF_THE_PAPER };
    let jobs = load.submissions(&Streams::new(1, 0));
    Box::new(move || {
        let config = metasched::Config {
            forecasts: metasched::config::Forecasts::AsThePolicyAsks,
            ..metasched::Config::of_the_paper(1)
        };
        let policy = metasched::Tat::new(&metasched::Readings::default());
        let world = metasched::MetaLoras::new(config, policy, jobs.into_iter(), Vec::new(), &Streams::new(1, 0));
        Sim::new(world.expect("valid"), ()).run().0.outcomes().len() as u64
    })
}

/// Runs peers that flood their neighbours with requests.
fn flood() -> Work {
    let config = hier_grid::Config::of_the_paper(hier_grid::System::P2p, 300, 1.0);
    let grid = hier_grid::Grid::new(config, &Streams::new(2007, 0), ()).expect("valid");
    Box::new(move || Sim::new(grid, ()).run().0.counts().completed)
}

fn swf() -> Work {
    let text = log(20_000, 57);
    Box::new(move || {
        let reader = SwfReader::from_read("log", Cursor::new(text)).expect("a log");
        reader.map(|record| record.expect("no faulty line").number).sum()
    })
}

/// Runs one replication of an experiment on a small machine: users drawn, estimates, EASY, and the start of each job.
fn replication() -> Work {
    let text = log(6_000, 420);
    let (held, _) = HeldLog::read(SwfReader::from_read("log", Cursor::new(text)).expect("a log"), Options::default())
        .expect("a log");
    let users = Users::of(&held).expect("its users are known");
    Box::new(move || {
        let jobs = users.redrawn(&Streams::new(1, 0)).with_estimates(Estimates::User, 1);
        let starts = StartTimes(vec![Time::ZERO; jobs.len()]);
        let policy: Box<dyn Policy> = Box::new(Easy::default());
        let world = MultiCluster::new(vec![Machine::new(64)], policy, jobs.iter().copied());
        let (_, StartTimes(starts)) = Sim::new(world, starts).run();
        starts.iter().map(|start| start.as_nanos() / 1_000_000_000).sum()
    })
}

/// Sink that keeps the start of each job, as an experiment does.
struct StartTimes(Vec<Time>);

impl Probe for StartTimes {
    fn observe(&mut self, now: Time, fact: &Fact) {
        if let Fact::Started { job, .. } = fact {
            self.0[job.index()] = now;
        }
    }
}
