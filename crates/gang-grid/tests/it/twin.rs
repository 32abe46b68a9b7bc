//! A slow plain twin: the specification written a second time, with vectors that are searched from end to end.
//!
//! It keeps no sets, no counts and no start times, and recomputes all of them. It draws no random numbers:
//! where the specification leaves a choice to chance, the twin computes the allowed outcomes, reads the model's
//! choice, rejects it if it is not allowed, and continues from there. After every event both must agree on every
//! processor, every queue and every fact. All readings are covered except R8 "random", whose draw decides which gang is next.

use crate::common::{ListGrid, Transcript, World, world};
use gang_grid::config::{
    BackfillOnArrival, EmptyInScan, EmptyOnArrival, GangArrival, GangOrder, Placement, Release, ScanTrigger,
    ShortestQueue, SiteOrder, Split, Startable, ThresholdFrom,
};
use gang_grid::{Approach, Config, Grid, Submission};
use proptest::prelude::*;
use sim_core::{Fact, Job, JobId, ProcId, Rejection, SiteId, Span, Time};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Run {
    job: JobId,
    is_task: bool,
    end: Time,
    believed_end: Time,
    /// Number of runs that began before this one: decides between simultaneous ends.
    number: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Waits {
    Task(JobId),
    Local { job: JobId, service: Span, estimate: Span },
}

#[derive(Clone, Debug)]
struct Machine {
    id: ProcId,
    site: SiteId,
    runs: Option<Run>,
    queue: VecDeque<Waits>,
}

impl Machine {
    fn is_idle(&self, reserved_is_idle: bool) -> bool {
        self.runs.is_none() && (reserved_is_idle || self.queue.is_empty())
    }
}

/// A gang on its processors: task i takes `places[i].1` on `places[i].0`.
#[derive(Clone, Debug)]
struct Placed {
    job: JobId,
    places: Vec<(ProcId, Span)>,
    promised: Time,
    tasks_left: usize,
}

struct Twin {
    config: Config,
    now: Time,
    to_come: VecDeque<Submission>,
    machines: Vec<Machine>,
    placed: Vec<Placed>,
    /// Gangs in order of joining.
    gs_queue: Vec<Submission>,
    begun: usize,
    facts: Transcript,
}

/// The model, from which the outcome for a job is read after the event.
type Model<'a> = &'a ListGrid;

impl Twin {
    fn new(world: &World) -> Self {
        let mut machines = Vec::new();
        for (site, shape) in (0..).map(SiteId).zip(&world.config.sites) {
            for _ in 0..shape.processors {
                let id = ProcId(u32::try_from(machines.len()).expect("few"));
                machines.push(Machine { id, site, runs: None, queue: VecDeque::new() });
            }
        }
        Self {
            config: world.config.clone(),
            now: Time::ZERO,
            to_come: world.submissions.clone().into(),
            machines,
            placed: Vec::new(),
            gs_queue: Vec::new(),
            begun: 0,
            facts: Vec::new(),
        }
    }

    /// Processes the next event: at one instant ends come before arrivals, and runs end in the order they began.
    fn step(&mut self, model: Model<'_>) -> bool {
        let ends = self
            .machines
            .iter()
            .filter_map(|machine| machine.runs.as_ref().map(|run| (run.end, run.number, machine.id)));
        let (end, arrival) = (ends.min(), self.to_come.front().map(|next| next.job.submit));
        match (end, arrival) {
            (None, None) => return false,
            (Some((end, _, id)), arrival) if arrival.is_none_or(|arrival| end <= arrival) => {
                self.now = end;
                self.ends(id, model);
            }
            _ => {
                let next = self.to_come.pop_front().expect("an arrival is next");
                self.now = next.job.submit;
                self.arrives(next, model);
            }
        }
        true
    }

    fn emit(&mut self, fact: Fact) {
        self.facts.push((self.now, fact));
    }

    fn speed(&self, id: ProcId) -> f64 {
        self.config.sites[self.machines[id.index()].site.index()].speed
    }

    fn arrives(&mut self, submission: Submission, model: Model<'_>) {
        let Job { id, origin, request, .. } = submission.job;
        self.emit(Fact::Submitted(submission.job));
        if let Some(site) = origin {
            return self.local_arrives(submission.job, site, model);
        }
        let sizes = self.config.sites.iter().map(|site| site.processors);
        let room = if self.config.approach == Approach::One { sizes.max().expect("a site") } else { sizes.sum() };
        if request.processors > room {
            return self.emit(Fact::Rejected { job: id, reason: Rejection::TooWide });
        }
        if self.config.readings.gang_arrival == GangArrival::JoinsQueue {
            self.gs_queue.push(submission);
            return self.scan(model);
        }
        match self.conditions_on_arrival().into_iter().find(|eligible| eligible.len() >= submission.tasks.len()) {
            Some(eligible) => self.place(submission, &eligible, model),
            None => self.gs_queue.push(submission),
        }
    }

    /// §3.1: the conditions of the approach, in order; each a list of eligible processors.
    fn conditions_on_arrival(&self) -> Vec<Vec<ProcId>> {
        let readings = self.config.readings;
        let idle = |machine: &Machine| machine.is_idle(readings.reserved_is_idle);
        let empty = |machine: &Machine| match readings.empty_on_arrival {
            EmptyOnArrival::NoneWaiting => machine.queue.is_empty(),
            EmptyOnArrival::Idle => machine.queue.is_empty() && machine.runs.is_none(),
        };
        let mut conditions = self.site_by_site(idle);
        conditions.extend(self.site_by_site(empty));
        if self.config.approach != Approach::One {
            conditions.push(self.everywhere(idle));
        }
        if self.config.approach == Approach::Three {
            conditions.push(self.everywhere(empty));
        }
        conditions
    }

    fn everywhere(&self, is: impl Fn(&Machine) -> bool) -> Vec<ProcId> {
        self.machines.iter().filter(|machine| is(machine)).map(|machine| machine.id).collect()
    }

    fn site_by_site(&self, is: impl Fn(&Machine) -> bool) -> Vec<Vec<ProcId>> {
        let sites = (0..).map(SiteId).take(self.config.sites.len());
        sites.map(|site| self.everywhere(|machine| machine.site == site && is(machine))).collect()
    }

    /// §3.1, steps 1 to 5.
    fn scan(&mut self, model: Model<'_>) {
        let readings = self.config.readings;
        loop {
            let empty = |reading| {
                move |machine: &Machine| match reading {
                    EmptyInScan::Idle => machine.queue.is_empty() && machine.runs.is_none(),
                    EmptyInScan::NoneWaiting => machine.queue.is_empty(),
                }
            };
            let mut steps = self.site_by_site(empty(readings.empty_in_scan));
            if self.config.approach != Approach::One {
                steps.push(self.everywhere(|machine| machine.is_idle(readings.reserved_is_idle)));
            }
            if self.config.approach == Approach::Three {
                steps.push(self.everywhere(empty(readings.empty_in_step_4)));
            }
            let chosen = steps.into_iter().find_map(|eligible| Some((self.next_gang(eligible.len())?, eligible)));
            let Some((gang, eligible)) = chosen else { return };
            let gang = self.gs_queue.remove(gang);
            self.place(gang, &eligible, model);
        }
    }

    /// R14: position in the GS queue of the gang that goes to `room` processors.
    fn next_gang(&self, room: usize) -> Option<usize> {
        let sizes: Vec<usize> = self.gs_queue.iter().map(|gang| gang.tasks.len()).collect();
        let wanted = match self.config.readings.gang_order {
            GangOrder::LargestThatFits => sizes.iter().copied().filter(|size| *size <= room).max()?,
            GangOrder::LargestOnly => sizes.iter().copied().max().filter(|size| *size <= room)?,
            GangOrder::OldestThatFits => return sizes.iter().position(|size| *size <= room),
        };
        sizes.iter().position(|size| *size == wanted)
    }

    /// Sends the tasks to the model's processors, after a check that they are allowed (R7).
    fn place(&mut self, Submission { job, tasks }: Submission, eligible: &[ProcId], model: Model<'_>) {
        let routed = model.gangs().find(|gang| gang.id == job.id);
        let routed = routed.unwrap_or_else(|| panic!("gang {} could go to {eligible:?} and was not routed", job.id));
        let chosen: Vec<ProcId> = routed.tasks.iter().map(|(processor, _)| *processor).collect();
        assert_eq!(chosen.len(), tasks.len());
        for (i, processor) in chosen.iter().enumerate() {
            assert!(eligible.contains(processor), "gang {} on {processor}, not of {eligible:?}", job.id);
            assert!(!chosen[..i].contains(processor), "gang {} twice on {processor}", job.id);
        }
        let runs = |id: &ProcId| self.machines[id.index()].runs.is_some();
        let site = |id: &ProcId| self.machines[id.index()].site;
        // Site by site if the gang's tasks are divided among sites, otherwise all in one.
        let over_sites = eligible.iter().any(|id| site(id) != site(&eligible[0]));
        let groups: Vec<(Vec<ProcId>, Vec<ProcId>)> = if over_sites && self.config.readings.split != Split::Pooled {
            let mut sites: Vec<SiteId> = eligible.iter().map(site).collect();
            sites.dedup();
            let at = |ids: &[ProcId], wanted: SiteId| ids.iter().copied().filter(|id| site(id) == wanted).collect();
            sites.into_iter().map(|wanted| (at(&chosen, wanted), at(eligible, wanted))).collect()
        } else {
            vec![(chosen.to_vec(), eligible.to_vec())]
        };
        for (i, (chosen, eligible)) in groups.iter().enumerate() {
            let is_full = chosen.len() == eligible.len();
            match self.config.readings.split {
                Split::Pooled => {}
                // A later site gets tasks only if the earlier ones are full.
                Split::SiteBySite => assert!(is_full || groups[i + 1..].iter().all(|(later, _)| later.is_empty())),
                // No site has two more than one that is not full.
                Split::Even => assert!(is_full || groups.iter().all(|(other, _)| other.len() <= chosen.len() + 1)),
            }
            match self.config.readings.placement {
                Placement::Random => {}
                Placement::LowestIndex => assert_eq!(chosen[..], eligible[..chosen.len()]),
                Placement::SoonestFree => {
                    let mut sorted = eligible.clone();
                    sorted.sort_by_key(|id| (self.free_at(*id), *id));
                    assert_eq!(chosen[..], sorted[..chosen.len()]);
                }
                Placement::IdleFirst => {
                    let idle = eligible.iter().filter(|id| !runs(id)).count().min(chosen.len());
                    assert!(chosen[..idle].iter().all(|id| !runs(id)) && chosen[idle..].iter().all(runs));
                }
            }
        }

        let spans_sites = chosen.iter().any(|id| site(id) != site(&chosen[0]));
        let overhead = if spans_sites { 1.0 + self.config.overhead } else { 1.0 };
        let places = chosen.iter().zip(&tasks).map(|(id, task)| (*id, task.scaled(overhead / self.speed(*id))));
        let promised = chosen.iter().map(|id| self.free_at(*id)).max().expect("a task");
        let gang = Placed { job: job.id, places: places.collect(), promised, tasks_left: tasks.len() };
        let start = !chosen.iter().any(runs);
        self.placed.push(gang.clone());
        if start {
            self.start_gang(&gang);
        } else {
            for id in chosen {
                assert!(self.machines[id.index()].queue.is_empty(), "a gang's task goes to an empty queue");
                self.machines[id.index()].queue.push_back(Waits::Task(job.id));
            }
        }
    }

    fn free_at(&self, id: ProcId) -> Time {
        self.machines[id.index()].runs.as_ref().map_or(self.now, |run| run.believed_end.max(self.now))
    }

    fn start_gang(&mut self, gang: &Placed) {
        let first_site = gang.places.iter().map(|(id, _)| self.machines[id.index()].site).min().expect("a task");
        let processors = u32::try_from(gang.places.len()).expect("few");
        self.emit(Fact::Started { job: gang.job, site: first_site, processors });
        let longest = gang.places.iter().map(|(_, span)| *span).max().expect("a task");
        for (id, span) in &gang.places {
            let held = if self.config.readings.release == Release::GangEnd { longest } else { *span };
            self.begin(*id, gang.job, true, held, held);
        }
    }

    fn start_local(&mut self, id: ProcId, job: JobId, service: Span, estimate: Span) {
        self.emit(Fact::Started { job, site: self.machines[id.index()].site, processors: 1 });
        self.begin(id, job, false, service, estimate);
    }

    fn begin(&mut self, id: ProcId, job: JobId, is_task: bool, service: Span, estimate: Span) {
        let (end, believed_end) = (self.now + service, self.now + estimate);
        let run = Run { job, is_task, end, believed_end, number: self.begun };
        self.begun += 1;
        assert!(self.machines[id.index()].runs.replace(run).is_none());
        self.emit(Fact::Seized { job, processor: id });
    }

    /// §3.2.
    fn local_arrives(&mut self, job: Job, site: SiteId, model: Model<'_>) {
        let readings = self.config.readings;
        let slowness = 1.0 / self.config.sites[site.index()].speed;
        let (service, estimate) =
            (job.runtime.scaled(slowness), job.request.estimate.expect("a local has an estimate").scaled(slowness));
        let here: Vec<&Machine> = self.machines.iter().filter(|machine| machine.site == site).collect();
        let ids = |from: Vec<&&Machine>| from.into_iter().map(|machine| machine.id).collect::<Vec<_>>();

        let may_backfill = |machine: &Machine| match machine.queue.front() {
            Some(Waits::Task(gang)) if machine.runs.is_none() => self.may_backfill(estimate, *gang),
            _ => false,
        };
        let yes = readings.backfill_on_arrival == BackfillOnArrival::Yes;
        let empty = ids(here.iter().filter(|machine| machine.is_idle(false)).collect());
        let reserved = ids(here.iter().filter(|machine| yes && may_backfill(machine)).collect());
        let startable = match readings.startable {
            Startable::PreferEmpty if !empty.is_empty() => empty,
            Startable::PreferReserved if !reserved.is_empty() => reserved,
            _ => [empty, reserved].concat(),
        };
        let load = |machine: &Machine| -> u64 {
            let waiting = machine.queue.len() as u64;
            match readings.shortest_queue {
                ShortestQueue::Jobs => waiting + u64::from(machine.runs.is_some()),
                ShortestQueue::Waiting => waiting,
                ShortestQueue::Work => {
                    let of = |waits: &Waits| match waits {
                        Waits::Local { estimate, .. } => estimate.as_nanos(),
                        Waits::Task(gang) => {
                            let places = &self.placed_gang(*gang).places;
                            places.iter().find(|(id, _)| *id == machine.id).expect("its own").1.as_nanos()
                        }
                    };
                    self.free_at(machine.id).since(self.now).as_nanos() + machine.queue.iter().map(of).sum::<u64>()
                }
                ShortestQueue::Random => 0,
            }
        };
        let least = here.iter().map(|machine| load(machine)).min().expect("a processor");
        let shortest = ids(here.iter().filter(|machine| load(machine) == least).collect());
        // The random choice, which is a check and no reading: any processor, able to start it or not.
        let anywhere = readings.shortest_queue == ShortestQueue::Random;
        let allowed = if startable.is_empty() || anywhere { &shortest } else { &startable };

        let has = |id: ProcId| {
            let processor = model.processors().get(id);
            processor.running.is_some_and(|running| running.job == job.id)
                || processor.queue().any(|local| local.id == job.id)
        };
        let chosen = here.iter().map(|machine| machine.id).find(|id| has(*id)).expect("the local is somewhere");
        assert!(allowed.contains(&chosen), "local {} went to {chosen}, allowed were {allowed:?}", job.id);
        let starts = if anywhere { self.machines[chosen.index()].is_idle(false) } else { !startable.is_empty() };
        if starts {
            self.start_local(chosen, job.id, service, estimate);
        } else {
            self.machines[chosen.index()].queue.push_back(Waits::Local { job: job.id, service, estimate });
        }
    }

    fn placed_gang(&self, job: JobId) -> &Placed {
        self.placed.iter().find(|gang| gang.job == job).expect("a placed gang")
    }

    /// Equation (1).
    fn may_backfill(&self, estimate: Span, gang: JobId) -> bool {
        let gang = self.placed_gang(gang);
        let start = match self.config.readings.threshold_from {
            ThresholdFrom::PresentStart => gang.places.iter().map(|(id, _)| self.free_at(*id)).max().expect("a task"),
            ThresholdFrom::PromisedStart => gang.promised,
        };
        self.now + estimate <= start + self.config.threshold
    }

    fn ends(&mut self, id: ProcId, model: Model<'_>) {
        let Run { job, is_task, .. } = self.machines[id.index()].runs.take().expect("it runs");
        self.emit(Fact::Released { job, processor: id });
        // The processors that the job used, if it has left.
        let mut left = (!is_task).then(|| vec![id]);
        if is_task {
            let gang = self.placed.iter().position(|gang| gang.job == job).expect("placed");
            self.placed[gang].tasks_left -= 1;
            if self.placed[gang].tasks_left == 0 {
                left = Some(self.placed.remove(gang).places.into_iter().map(|(id, _)| id).collect());
            }
        }
        if left.is_some() {
            self.emit(Fact::Finished { job });
        }

        let before: Vec<bool> = self.machines.iter().map(|machine| machine.queue.is_empty()).collect();
        self.serve(id);
        let is_empty = |id: &ProcId| self.machines[id.index()].queue.is_empty();
        let scan = match self.config.readings.scan_trigger {
            ScanTrigger::AnyRelease => true,
            ScanTrigger::ExitLeavesEmptyQueue => left.is_some_and(|used| used.iter().any(is_empty)),
            ScanTrigger::QueueBecomesEmpty => {
                self.machines.iter().zip(before).any(|(machine, before)| !before && machine.queue.is_empty())
            }
        };
        if scan {
            self.scan(model);
        }
    }

    /// §3.2: the next in the queue; behind a gang that cannot begin yet, the first local that satisfies (1).
    fn serve(&mut self, id: ProcId) {
        let next = match self.machines[id.index()].queue.front() {
            None => return,
            Some(Waits::Local { .. }) => Some(0),
            Some(Waits::Task(job)) => {
                let gang = self.placed_gang(*job).clone();
                if gang.places.iter().all(|(id, _)| self.machines[id.index()].runs.is_none()) {
                    for (id, _) in &gang.places {
                        self.machines[id.index()].queue.pop_front();
                    }
                    return self.start_gang(&gang);
                }
                self.machines[id.index()].queue.iter().position(|waits| match waits {
                    Waits::Local { estimate, .. } => self.may_backfill(*estimate, gang.job),
                    Waits::Task(_) => false,
                })
            }
        };
        let next = next.and_then(|position| self.machines[id.index()].queue.remove(position));
        if let Some(Waits::Local { job, service, estimate }) = next {
            self.start_local(id, job, service, estimate);
        }
    }

    /// Compares the complete visible state.
    fn agrees<S: Iterator<Item = Submission>>(&self, grid: &Grid<S>, now: Time) {
        assert_eq!(self.now, now);
        for (machine, (id, processor)) in self.machines.iter().zip(grid.processors().iter()) {
            assert_eq!(machine.id, id);
            assert_eq!(machine.site, processor.site);
            assert_eq!(
                machine.runs.as_ref().map(|run| (run.job, run.is_task, run.believed_end)),
                processor.running.map(|running| (running.job, running.gang.is_some(), running.expected_end))
            );
            let task = processor.reserved.map(|key| (grid.gang(key).id, None));
            let locals = processor.queue().map(|local| (local.id, Some(local.estimate)));
            let queue: Vec<_> = task.into_iter().chain(locals).collect();
            let expected: Vec<_> = machine.queue.iter().map(known).collect();
            assert_eq!(expected, queue, "queue of {id}");
        }
        let mut in_queue: Vec<JobId> = self.gs_queue.iter().map(|gang| gang.job.id).collect();
        in_queue.sort_unstable();
        let mut in_model: Vec<JobId> = grid.queue().iter().map(|(id, _)| id).collect();
        in_model.sort_unstable();
        assert_eq!(in_queue, in_model);
        assert_eq!(self.placed.len(), grid.gangs().count());
    }
}

fn check(world: &World) {
    let mut twin = Twin::new(world);
    let mut sim = world.start(Transcript::new());
    loop {
        let (model_went_on, heard) = (sim.step(), twin.facts.len());
        let twin_went_on = twin.step(sim.model());
        assert_eq!(model_went_on, twin_went_on);
        assert_eq!(sim.probe()[heard..], twin.facts[heard..]);
        if !model_went_on {
            return;
        }
        twin.agrees(sim.model(), sim.now());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_default_readings_equal_the_obvious_twin(world in world()) {
        check(&world.with_exact_estimates().reading(|readings| *readings = Default::default()));
    }

    #[test]
    fn all_readings_equal_the_obvious_twin(world in world()) {
        check(&world.reading(|readings| readings.site_order = SiteOrder::Fixed));
    }
}

/// Attributes of a waiting job that a scheduler may know: its number, and a local's estimate.
fn known(waits: &Waits) -> (JobId, Option<Span>) {
    match waits {
        Waits::Task(gang) => (*gang, None),
        Waits::Local { job, estimate, .. } => (*job, Some(*estimate)),
    }
}
