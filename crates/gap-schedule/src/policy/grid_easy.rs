use crate::grid::{GridView, Scheduler};
use crate::policy::readings::{BackfillReadings, BackfillRule};
use crate::policy::rooms::Rooms;
use crate::policy::scan::site;
use crate::queue::{Least, Queue, Waiting, WaitingJobs};
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Span, Time};
use std::cell::Cell;

/// EASY backfilling on several machines.
///
/// Jobs start in order of arrival as long as some machine has room, on the fastest such machine (R5). The first that finds
/// none, the head, is promised a start on the machine where it can start earliest, by the expected ends of the running
/// jobs; of several, on the fastest. Every later job, in order of arrival, starts now on the fastest machine that has room
/// and where it does no harm (R6): any machine but the reserved one; that one if the job is expected to end there by the
/// promised start, or takes only processors that the head will leave over.
///
/// Where the head can start earliest is looked up at each pass. Where estimates are upper bounds, it is never later than
/// before. With one machine this is [`EasyBackfill`](crate::EasyBackfill).
///
/// A pass takes about log n steps of a queue of n, and log m of m machines, for each job that it starts; one look at each
/// machine where there is a reservation to be made, and at those of its running jobs that end before the best start found
/// so far. An operation is one such step or look. [`GridEasyScan`](crate::GridEasyScan) finds the same schedule
/// by looking at everything.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §3.1 and §4, which name EASY and
/// leave its extension to several machines to the reader.
#[derive(Clone, Debug, Default)]
pub struct GridEasy {
    readings: BackfillReadings,
    queue: Queue,
    rooms: Rooms,
    /// What this pass has started before the head was found.
    in_turn: Vec<(usize, RunningJob)>,
    operations: u64,
}

/// What the head of the queue is promised.
#[derive(Copy, Clone, Debug)]
struct Reservation {
    machine: usize,
    /// Time until then. Of a job that is never expected to end, one nanosecond less than for ever.
    window: Span,
    /// Processors of the machine that the head leaves over then.
    extra: u32,
}

impl GridEasy {
    /// The policy, with nobody waiting.
    pub fn new(readings: BackfillReadings) -> Self {
        Self { readings, ..Self::default() }
    }

    /// The machine where `need` processors are free first, by the expected ends of what runs there; of several, the one
    /// that R5 prefers.
    fn reserve(&mut self, need: u32, view: &GridView<'_>) -> Reservation {
        self.in_turn.sort_unstable();
        let soonest = view.now.saturating_add(Span::from_nanos(1));
        let mut best: Option<(Time, usize)> = None;
        let mut operations = 0;
        for &machine in self.rooms.order() {
            operations += 1;
            if view.machines[machine].processors < need {
                continue;
            }
            let mut free = self.rooms.free(machine);
            let mut running = view.running[machine].iter().peekable();
            let mut beside = self.started_on(machine).iter().map(|(_, job)| job).peekable();
            loop {
                let next = match (running.peek(), beside.peek()) {
                    (Some(one), Some(other)) if other < one => beside.next(),
                    (Some(_), _) => running.next(),
                    (None, _) => beside.next(),
                };
                let next = next.expect("an idle machine has room for every job that suits it");
                operations += 1;
                let end = next.expected_end.max(soonest);
                if best.is_some_and(|(at, _)| at <= end) {
                    break;
                }
                free += next.processors;
                if free >= need {
                    best = Some((end, machine));
                    break;
                }
            }
        }
        self.operations += operations;
        let (at, machine) = best.expect("admission rejects jobs wider than the widest machine");
        // All releases of that instant count.
        let here = self.started_on(machine).iter().map(|(_, job)| job);
        let released = view.running[machine].iter().chain(here).filter(|job| job.expected_end <= at);
        let free = self.rooms.free(machine) + released.map(|job| job.processors).sum::<u32>();
        Reservation { machine, window: at.since(view.now).min(Span::from_nanos(u64::MAX - 1)), extra: free - need }
    }

    /// What this pass has started on the machine before the head was found, once `in_turn` is sorted.
    fn started_on(&self, machine: usize) -> &[(usize, RunningJob)] {
        let from = self.in_turn.partition_point(|(place, _)| *place < machine);
        let to = self.in_turn.partition_point(|(place, _)| *place <= machine);
        &self.in_turn[from..to]
    }

    /// Starts, in order of arrival, the jobs behind the head that do it no harm.
    fn backfill(
        &mut self,
        behind: &mut WaitingJobs<'_>,
        promise: Reservation,
        view: &GridView<'_>,
        starts: &mut Vec<(JobId, SiteId)>,
    ) {
        let Reservation { machine: reserved, window, mut extra } = promise;
        // The reserved machine has its own rule, and is out of the others' tree meanwhile.
        let mut left = self.rooms.free(reserved);
        self.rooms.set(reserved, 0);
        let place = &view.machines[reserved];
        let steps = Cell::new(0);
        loop {
            let most = self.rooms.most();
            // Of a single job, `Least` is the job itself, so whatever is found may start.
            let on_reserved = |least: Least| {
                least.processors <= left && (least.processors <= extra || place.takes(least.estimate) <= window)
            };
            let next = behind.next_where(|least| {
                steps.set(steps.get() + 1);
                least.processors <= most || on_reserved(least)
            });
            let Some(next) = next else { break };
            let need = next.request.processors;
            let elsewhere = self.rooms.first(need, &mut self.operations);
            let preferred = elsewhere.filter(|other| self.rooms.rank(*other) < self.rooms.rank(reserved));
            let machine = if preferred.is_none() && on_reserved(Least::of(&next.request)) {
                reserved
            } else {
                elsewhere.expect("a job is found because there is a machine for it")
            };
            if machine == reserved {
                left -= need;
                if place.expects(&next.request) > window {
                    extra -= need;
                }
            } else {
                self.rooms.set(machine, self.rooms.free(machine) - need);
            }
            starts.push((next.job, site(machine)));
        }
        self.rooms.set(reserved, left);
        self.operations += steps.get();
    }

    /// The same, where they must end by the reservation on whatever machine (R6, strictly).
    fn backfill_strictly(
        &mut self,
        behind: &mut WaitingJobs<'_>,
        window: Span,
        view: &GridView<'_>,
        starts: &mut Vec<(JobId, SiteId)>,
    ) {
        let speeds = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed));
        let fastest = speeds.expect("a job waits, so there is a machine");
        let steps = Cell::new(0);
        loop {
            let most = self.rooms.most();
            let next = behind.next_where(|least| {
                steps.set(steps.get() + 1);
                least.processors <= most && fastest.takes(least.estimate) <= window
            });
            let Some(next) = next else { break };
            let need = next.request.processors;
            let mut rank = 0;
            while let Some(found) = self.rooms.next(rank, need, &mut self.operations) {
                let machine = self.rooms.order()[found];
                if view.machines[machine].expects(&next.request) <= window {
                    self.start(next, machine, starts);
                    break;
                }
                rank = found + 1;
            }
        }
        self.operations += steps.get();
    }

    fn start(&mut self, job: &Waiting, machine: usize, starts: &mut Vec<(JobId, SiteId)>) {
        self.rooms.set(machine, self.rooms.free(machine) - job.request.processors);
        starts.push((job.job, site(machine)));
    }

    fn decide(&mut self, queue: &Queue, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.in_turn.clear();
        let mut queue = queue.iter();
        let head = loop {
            let Some(next) = queue.next() else { return };
            let Some(machine) = self.rooms.first(next.request.processors, &mut self.operations) else {
                break next;
            };
            self.start(next, machine, starts);
            self.in_turn.push((machine, view.machines[machine].running(next.job, &next.request, view.now)));
        };
        // Most passes end here: the search for a reservation would be for nobody.
        let most = self.rooms.most();
        let steps = Cell::new(0);
        let narrow = queue.clone().next_where(|least| {
            steps.set(steps.get() + 1);
            least.processors <= most
        });
        self.operations += steps.get();
        if narrow.is_none() {
            return;
        }
        let promise = self.reserve(head.request.processors, view);
        match self.readings.rule {
            BackfillRule::MachineAware => self.backfill(&mut queue, promise, view, starts),
            BackfillRule::Strict => self.backfill_strictly(&mut queue, promise.window, view, starts),
        }
    }
}

impl Scheduler for GridEasy {
    fn begin(&mut self, view: &GridView<'_>) {
        self.rooms = Rooms::new(view.machines, view.free, self.readings.placement);
    }

    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.queue.push(job.job, job.request);
    }

    fn finish(&mut self, job: &RunningJob, machine: SiteId, _: &GridView<'_>) {
        let machine = machine.index();
        self.rooms.set(machine, self.rooms.free(machine) + job.processors);
    }

    fn down(&mut self, machine: SiteId, _: &[RunningJob], _: &GridView<'_>) {
        self.rooms.set(machine.index(), 0);
    }

    fn up(&mut self, machine: SiteId, view: &GridView<'_>) {
        self.rooms.set(machine.index(), view.free[machine.index()]);
    }

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        let mut queue = std::mem::take(&mut self.queue);
        self.decide(&queue, view, starts);
        for (job, _) in starts {
            queue.remove(*job);
        }
        self.queue = queue;
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}
