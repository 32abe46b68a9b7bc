//! Events in order: arrivals, ends of tasks, and the two schedulers that handle them.

use crate::config::{Config, GangArrival, Release, ScanTrigger};
use crate::gang::{Gang, GangQueue, Submission};
use crate::policy::GangView;
use crate::policy::grid::Route;
use crate::policy::local::Destination;
use crate::processors::{GangKey, Local, Processors, RunningTask};
use sim_core::{
    ConfigError, Context, EventPriority, Fact, Gauge, Job, Model, Prioritized, ProcId, Purpose, Rejection, SiteId,
    Span, Stream, Streams, Time,
};
use slab::Slab;

/// Event of a [`Grid`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The work on a processor ends.
    End(ProcId),
    /// The next submission arrives.
    Arrive,
}

impl Prioritized for Event {
    fn priority(&self) -> EventPriority {
        match self {
            Self::End(_) => EventPriority::RELEASE,
            Self::Arrive => EventPriority::ARRIVE,
        }
    }
}

/// Numbers of jobs of each kind that have arrived and left.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct GangCounts {
    /// Locals that have arrived.
    pub locals_arrived: u64,
    /// Locals that have ended.
    pub locals_completed: u64,
    /// Gangs that have arrived, without rejected ones.
    pub gangs_arrived: u64,
    /// Gangs whose last task has ended.
    pub gangs_completed: u64,
    /// Tasks of completed gangs.
    pub gang_tasks_completed: u64,
    /// Gangs that have begun on processors of more than one site.
    pub gangs_spanning: u64,
    /// Gangs with more tasks than there are processors to route them to.
    pub gangs_rejected: u64,
}

/// The grid of §2: sites, processors with queues, and a grid scheduler with its own queue.
///
/// Submissions are pulled from `S` one at a time, in order of submission, so memory follows the jobs in the system.
#[derive(Clone, Debug)]
pub struct Grid<S> {
    config: Config,
    processors: Processors,
    gangs: Slab<Gang>,
    queue: GangQueue,
    submissions: S,
    next: Option<Submission>,
    placement: Stream,
    routing: Stream,
    counts: GangCounts,
    busy: Gauge,
    scratch: Vec<ProcId>,
}

impl<S: Iterator<Item = Submission>> Grid<S> {
    /// A grid that is empty at time zero.
    ///
    /// Random choices (of processors, of queues) come from `streams`, under purposes of their own: they change no
    /// number of the workload.
    ///
    /// # Errors
    ///
    /// The first invalid field of `config`.
    ///
    /// # Panics
    ///
    /// The run panics on submissions out of order, on a local that requests several processors or a site that does not
    /// exist, and on a gang without a task for each of its processors.
    pub fn new(config: Config, submissions: S, streams: &Streams) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            processors: Processors::new(&config.sites),
            gangs: Slab::new(),
            queue: GangQueue::default(),
            submissions,
            next: None,
            placement: streams.stream(Purpose("gang placement"), 0),
            routing: streams.stream(Purpose("local routing"), 0),
            counts: GangCounts::default(),
            busy: Gauge::new(Time::ZERO, 0),
            scratch: Vec::new(),
            config,
        })
    }

    /// Numbers of jobs that have arrived and left.
    pub const fn counts(&self) -> &GangCounts {
        &self.counts
    }

    /// Number of locals and gangs completed.
    pub const fn completed(&self) -> u64 {
        self.counts.locals_completed + self.counts.gangs_completed
    }

    /// Processors that run something. A processor that R2 holds until the end of its gang counts as running.
    pub const fn busy(&self) -> &Gauge {
        &self.busy
    }

    /// Utilization up to `now`: processor time in use over total processor time, 0 … 1.
    pub fn utilization(&self, now: Time) -> f64 {
        self.busy.mean(now) / f64::from(self.config.processors())
    }

    /// The processors as they are now.
    pub const fn processors(&self) -> &Processors {
        &self.processors
    }

    /// The gang of this key, which has been routed and has not ended.
    pub fn gang(&self, key: GangKey) -> &Gang {
        &self.gangs[key.0 as usize]
    }

    /// The gangs that have been routed and have not ended.
    pub fn gangs(&self) -> impl Iterator<Item = &Gang> {
        self.gangs.iter().map(|(_, gang)| gang)
    }

    /// The grid scheduler's queue.
    pub const fn queue(&self) -> &GangQueue {
        &self.queue
    }

    fn pull(&mut self, cx: &mut impl Context<Event>) {
        self.next = self.submissions.next();
        if let Some(next) = &self.next {
            cx.post_at(next.job.submit, Event::Arrive);
        }
    }

    /// §3.2: sends the local to a processor that starts it at once, otherwise to the shortest queue.
    fn local_arrives(&mut self, job: &Job, site: SiteId, cx: &mut impl Context<Event>) {
        let sites = self.config.sites.len();
        assert!(site.index() < sites, "local {} arrives at site {site} of a grid of {sites} sites", job.id);
        assert!(job.request.processors == 1, "local {} requests {} processors", job.id, job.request.processors);
        self.counts.locals_arrived += 1;
        // Service and estimate are at reference speed until the site is known.
        let slowness = 1.0 / self.config.sites[site.index()].speed;
        let estimate = job.request.estimate.unwrap_or(job.runtime).scaled(slowness);
        let (local, service) = (Local { id: job.id, estimate }, job.runtime.scaled(slowness));
        let Self { config, processors, gangs, routing, scratch, .. } = self;
        let view = GangView { now: cx.now(), processors, gangs };
        match config.destination(estimate, site, view, routing, scratch) {
            Destination::Start(processor) => self.start_local(processor, local, service, cx),
            Destination::Queue(processor) => self.processors.enqueue(processor, local, service),
        }
    }

    /// §3.1: routes the gang by the conditions of the approach, otherwise to the GS queue.
    fn gang_arrives(&mut self, gang: Submission, cx: &mut impl Context<Event>) {
        let (job, tasks, found) = (gang.job.id, gang.job.request.processors, gang.tasks.len());
        assert!(found == tasks as usize, "gang {job} requests {tasks} processors and has {found} tasks");
        if tasks > self.config.widest() {
            self.counts.gangs_rejected += 1;
            cx.emit(Fact::Rejected { job, reason: Rejection::TooWide });
            return;
        }
        self.counts.gangs_arrived += 1;
        // Under the first answer an arriving gang is tried at once, and passes those that wait in the GS queue: in
        // the paper the queue is scanned only when a job leaves.
        if self.config.readings.gang_arrival == GangArrival::JoinsQueue {
            self.queue.push(gang);
            self.scan(cx);
            return;
        }
        match self.config.route_of(tasks, &self.processors, &mut self.placement) {
            Some(route) => self.route(gang, route, cx),
            None => self.queue.push(gang),
        }
    }

    /// Sends the tasks of a gang to processors. It starts at once if all of them are free.
    fn route(&mut self, submission: Submission, route: Route, cx: &mut impl Context<Event>) {
        let Submission { job, tasks } = submission;
        let Self { config, processors, gangs, placement, scratch, .. } = self;
        let view = GangView { now: cx.now(), processors, gangs };
        config.place(tasks.len(), route, view, placement, scratch);

        let site = |processor: &ProcId| processors.get(*processor).site;
        let spans_sites = scratch.iter().any(|processor| site(processor) != site(&scratch[0]));
        // Overhead is paid only by a gang that really spans sites (§3.1).
        let overhead = if spans_sites { 1.0 + config.overhead } else { 1.0 };
        let start = scratch.iter().map(|id| processors.free_at(*id, cx.now())).max().expect("a gang has tasks");
        let busy = scratch.iter().filter(|id| processors.get(**id).running.is_some()).count();
        let tasks = scratch.iter().zip(&tasks).map(|(processor, task)| {
            let speed = config.sites[site(processor).index()].speed;
            (*processor, task.scaled(overhead / speed))
        });
        let gang = Gang {
            id: job.id,
            tasks: tasks.collect(),
            spans_sites,
            promised_start: start,
            present_start: start,
            outstanding: u32::try_from(busy).expect("no more than the gang has tasks"),
            started: false,
        };
        // The gang stays in the slab from its routing to the end of its last task; keys are reused.
        let key = GangKey(u32::try_from(gangs.insert(gang)).expect("fewer than 2³² gangs at once"));
        if busy == 0 {
            self.start_gang(key, cx);
        } else {
            for &processor in &self.scratch {
                self.processors.reserve(processor, key);
            }
        }
    }

    fn start_gang(&mut self, key: GangKey, cx: &mut impl Context<Event>) {
        let now = cx.now();
        let gang = &mut self.gangs[key.0 as usize];
        let (job, processors) = (gang.id, gang.size());
        gang.started = true;
        gang.present_start = now;
        gang.outstanding = processors;
        // R2: a processor that is held until the end of the gang is released with the longest task.
        let held = match self.config.readings.release {
            Release::TaskEnd => None,
            Release::GangEnd => gang.tasks.iter().map(|(_, task)| *task).max(),
        };
        // Taken out and put back, so that processors can be updated for each task while the gangs are borrowed.
        let tasks = std::mem::take(&mut gang.tasks);
        self.counts.gangs_spanning += u64::from(gang.spans_sites);
        // Processors are numbered site by site: the first one lies in the first site.
        let first = tasks.iter().map(|(processor, _)| *processor).min().expect("a gang has tasks");
        cx.emit(Fact::Started { job, site: self.processors.get(first).site, processors });
        for &(processor, task) in &tasks {
            let end = now + held.unwrap_or(task);
            self.begin(processor, RunningTask { job, gang: Some(key), expected_end: end }, end, cx);
        }
        self.gangs[key.0 as usize].tasks = tasks;
    }

    fn start_local(&mut self, processor: ProcId, local: Local, service: Span, cx: &mut impl Context<Event>) {
        let Local { id: job, estimate } = local;
        cx.emit(Fact::Started { job, site: self.processors.get(processor).site, processors: 1 });
        let running = RunningTask { job, gang: None, expected_end: cx.now() + estimate };
        self.begin(processor, running, cx.now() + service, cx);
    }

    /// Begins work on a processor. If it is kept for another gang, that gang now waits for this work too.
    fn begin(&mut self, processor: ProcId, running: RunningTask, end: Time, cx: &mut impl Context<Event>) {
        if let Some(waiting) = self.processors.get(processor).reserved {
            let gang = &mut self.gangs[waiting.0 as usize];
            gang.outstanding += 1;
            gang.present_start = gang.present_start.max(running.expected_end);
        }
        self.processors.begin(processor, running);
        self.busy.raise(cx.now(), 1);
        cx.emit(Fact::Seized { job: running.job, processor });
        cx.post_at(end, Event::End(processor));
    }

    /// Ends the work of a processor: the job may leave, the processor serves its own queue, the GS may scan its own.
    fn end(&mut self, processor: ProcId, cx: &mut impl Context<Event>) {
        let RunningTask { job, gang, .. } = self.processors.end(processor);
        self.busy.lower(cx.now(), 1);
        cx.emit(Fact::Released { job, processor });
        // The job leaves with its only task, or with the last one of its gang.
        let gone = match gang {
            None => {
                self.counts.locals_completed += 1;
                cx.emit(Fact::Finished { job });
                None
            }
            Some(key) => {
                let gang = &mut self.gangs[key.0 as usize];
                gang.outstanding -= 1;
                (gang.outstanding == 0).then(|| self.gangs.remove(key.0 as usize))
            }
        };
        if let Some(gang) = &gone {
            self.counts.gangs_completed += 1;
            self.counts.gang_tasks_completed += u64::from(gang.size());
            cx.emit(Fact::Finished { job });
        }

        // State before the freed processor is served: the scan may depend on whether serving empties a queue.
        let head = self.processors.get(processor).reserved;
        let waited = !self.processors.get(processor).none_waiting();
        self.serve(processor, cx);

        if self.queue.is_empty() {
            return;
        }
        let empty = |id: ProcId| self.processors.get(id).none_waiting();
        let scan = match self.config.readings.scan_trigger {
            ScanTrigger::AnyRelease => true,
            ScanTrigger::QueueBecomesEmpty => match head.map(|key| self.gang(key)).filter(|gang| gang.started) {
                // The gang has left the head of each of its queues.
                Some(gang) => gang.tasks.iter().any(|(used, _)| empty(*used)),
                None => waited && empty(processor),
            },
            ScanTrigger::ExitLeavesEmptyQueue => match &gone {
                Some(gang) => gang.tasks.iter().any(|(used, _)| empty(*used)),
                None => gang.is_none() && empty(processor),
            },
        };
        if scan {
            self.scan(cx);
        }
    }

    /// Serves the queue of a freed processor (§3.2).
    fn serve(&mut self, processor: ProcId, cx: &mut impl Context<Event>) {
        let now = cx.now();
        // No gang waits for this processor: the first local in its queue begins.
        let Some(key) = self.processors.get(processor).reserved else {
            if let Some((local, service)) = self.processors.dequeue(processor, |_| true) {
                self.start_local(processor, local, service, cx);
            }
            return;
        };
        let Self { config, processors, gangs, .. } = self;
        let gang = &mut gangs[key.0 as usize];
        // `outstanding` counts the processors of the gang that are busy with something else; this one was.
        gang.outstanding -= 1;
        if gang.outstanding == 0 {
            for &(processor, _) in &gang.tasks {
                processors.unreserve(processor);
            }
            self.start_gang(key, cx);
            return;
        }
        // With exact estimates this changes nothing; with others the start is recomputed at each release.
        gang.present_start =
            gang.tasks.iter().map(|(id, _)| processors.free_at(*id, now)).max().expect("a gang has tasks");
        // While the processor is kept idle for the gang a local may pass, by equation (1).
        let may_start = |local: &Local| config.may_backfill(local.estimate, gang, now);
        if let Some((local, service)) = processors.dequeue(processor, may_start) {
            self.start_local(processor, local, service, cx);
        }
    }

    /// Routes gangs from the GS queue until none can be chosen (§3.1, steps 1 to 5).
    fn scan(&mut self, cx: &mut impl Context<Event>) {
        // Terminates: each round takes a gang out of the queue, and a gang that is routed takes processors.
        while let Some((size, route)) = self.config.on_scan(&self.queue, &self.processors, &mut self.placement) {
            let gang = self.queue.pop(size).expect("the policy names a size that is in the queue");
            self.route(gang, route, cx);
        }
    }
}

impl<S: Iterator<Item = Submission>> Model for Grid<S> {
    type Event = Event;

    fn start(&mut self, cx: &mut impl Context<Event>) {
        self.pull(cx);
    }

    fn handle(&mut self, event: Event, cx: &mut impl Context<Event>) {
        match event {
            Event::End(processor) => self.end(processor, cx),
            Event::Arrive => {
                let Some(submission) = self.next.take() else { return };
                self.pull(cx);
                cx.emit(Fact::Submitted(submission.job));
                match submission.job.origin {
                    Some(site) => self.local_arrives(&submission.job, site, cx),
                    None => self.gang_arrives(submission, cx),
                }
            }
        }
    }
}
