use crate::policy::outlook::{Outlook, Slot};
use crate::policy::readings::Placement;
use crate::policy::rooms::Rooms;
use crate::policy::{Policy, Starts, View, site};
use crate::queue::{MinDemand, Queue, QueuedJob};
use crate::running::RunningJob;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId, SiteSet, Time};
use std::cell::Cell;

/// Backfilling with any number of reservations: none, one (EASY), some, or one for each job that waits (conservative
/// backfilling, CONS).
///
/// At each pass, the jobs take their turns in order of arrival. A job starts if it can start now and touches no
/// reservation, until its expected end, on whichever machine it can; of several, on the fastest (R5). Else it is
/// given a reservation, if fewer jobs than the depth says have one: at the earliest instant, over all machines, at
/// which it fits between what runs, by the expected ends, and the reservations before it; of several machines with the
/// same instant, on the fastest.
///
/// The schedule is that of a pass that lays out all reservations anew, in order of arrival. So when a job ends early, every
/// reservation is reconsidered (*compression*); so it is when a machine fails or has been repaired. That of the job which
/// has waited longest never moves to a later instant, where estimates are upper bounds; those of others do not as long as
/// estimates are exact, but what moves ahead after an early end may then be in their way.
///
/// At depth 1 this is [`Easy`](crate::Easy), which is faster. A job without an estimate is expected to run for ever:
/// no promise can rest on its end. A job that can never start, by expectations, has its turn all the same, and counts
/// as one that has a reservation.
///
/// Reservations are kept from pass to pass, and only those machines are planned anew whose jobs did not end as expected, or
/// that a job then leaves or comes to. As long as estimates are exact, an arrival costs one search per machine, and an
/// end nothing, if all jobs that wait have reservations. An operation is one search for the earliest start of one job on
/// one machine, or one step past jobs or machines in search of one that can start now.
///
/// Sources: A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
/// scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001 (conservative backfilling); Klusáček et al.,
/// "Comparison of multi-criteria scheduling techniques" (2008), §5 (several machines, reservation depth).
#[derive(Clone, Debug, Default)]
pub struct Backfill {
    depth: Depth,
    placement: Placement,
    /// The jobs that have waited longest, as many as the depth says, in order of arrival.
    promises: Vec<Promise>,
    /// The first promised start.
    next: Option<Time>,
    /// Kept for its memory only.
    former: Vec<Promise>,
    /// The others that have had their turn, and could not start.
    behind: Queue,
    /// Those that have come since the last pass.
    newcomers: Vec<QueuedJob>,
    outlook: Outlook,
    rooms: Rooms,
    /// Whether a job has ended since the last pass.
    freed: bool,
    /// By rank: the machines of which the outlook no longer holds, in ascending order.
    surprised: Vec<usize>,
    operations: u64,
}

/// How many jobs that wait hold a reservation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// At most so many. With none, whoever fits starts.
    Jobs(u32),
    /// All of them.
    #[default]
    All,
}

/// A job that waits, and the start it is promised; `None` if it can never start, by expectations.
#[derive(Clone, Debug)]
struct Promise {
    waiting: QueuedJob,
    slot: Option<Slot>,
}

impl Depth {
    /// Whether one more job may hold a reservation, beside those that do.
    pub const fn allows_beside(self, holders: usize) -> bool {
        match self {
            Self::Jobs(jobs) => holders < jobs as usize,
            Self::All => true,
        }
    }
}

impl Backfill {
    /// The policy with `depth` reservations, and nobody waiting.
    pub fn new(depth: Depth, placement: Placement) -> Self {
        Self { depth, placement, ..Self::default() }
    }

    /// Conservative backfilling: every job that waits holds a reservation.
    pub fn conservative() -> Self {
        Self::new(Depth::All, Placement::Fastest)
    }

    /// When and where the job is promised to start, as of the last pass.
    pub fn promised(&self, job: JobId) -> Option<(Time, SiteId)> {
        let promise = self.promises.iter().find(|promise| promise.waiting.job == job)?;
        promise.slot.map(|slot| (slot.start, site(self.outlook.index(slot.rank))))
    }

    /// Notes that the outlook of a machine no longer holds.
    fn surprise(&mut self, rank: usize) {
        if let Err(place) = self.surprised.binary_search(&rank) {
            self.surprised.insert(place, rank);
        }
    }

    /// The job starts now, as it was promised or at once.
    fn start(&mut self, waiting: &QueuedJob, slot: Slot, promised: bool, starts: &mut Starts) {
        let passes = !promised && !self.promises.is_empty();
        if promised {
            self.outlook.keep_promise(slot, &waiting.request);
        } else {
            self.outlook.start(slot, &waiting.request, passes);
        }
        // The next pass will expect of these jobs something else than this one does.
        let is_endless = waiting.request.estimate.is_none();
        if passes && is_endless || self.outlook.takes_no_time(slot.rank, &waiting.request) {
            self.surprise(slot.rank);
        }
        let machine = self.outlook.index(slot.rank);
        self.rooms.set(machine, self.rooms.free(machine) - waiting.request.processors);
        starts.push((waiting.job, site(machine)));
    }

    /// Starts the jobs whose promised start has come.
    fn keep_promises(&mut self, now: Time, starts: &mut Starts) {
        let mut promises = std::mem::take(&mut self.promises);
        for promise in &promises {
            if let Some(slot) = promise.due(now) {
                self.start(&promise.waiting, slot, true, starts);
            }
        }
        promises.retain(|promise| promise.due(now).is_none());
        self.next = promises.iter().filter_map(|promise| promise.slot).map(|slot| slot.start).min();
        self.promises = promises;
    }

    /// The machine has failed, or has been repaired.
    fn look_again(&mut self, machine: SiteId, view: &View<'_>) {
        let machine = machine.index();
        let rank = self.rooms.rank(machine);
        self.rooms.set(machine, view.free[machine]);
        self.outlook.look_again(rank, view);
        self.surprise(rank);
    }

    /// Gives all promises anew, in order of arrival, and starts the jobs that can start now.
    ///
    /// The machines that are `laid` out anew have no promises but those to jobs that have had their turn. On all others, the
    /// promises stand: no job has a better slot there than before.
    fn promise_anew(&mut self, view: &View<'_>, starts: &mut Starts) {
        let mut laid = std::mem::take(&mut self.surprised);
        for rank in &laid {
            self.outlook.clear(*rank, view);
        }
        self.next = None;
        let mut former = std::mem::replace(&mut self.promises, std::mem::take(&mut self.former));
        for promise in former.drain(..) {
            let (waiting, request) = (promise.waiting, promise.waiting.request);
            let mut best = self.outlook.best(laid.iter().copied(), &request, view.now);
            let stands = promise.slot.filter(|slot| laid.binary_search(&slot.rank).is_err());
            if let Some(slot) = stands {
                if best.is_none_or(|best| slot < best) {
                    if slot.start > view.now {
                        self.hold(promise);
                    } else {
                        self.start(&waiting, slot, true, starts);
                    }
                    continue;
                }
                self.lay(slot.rank, &mut laid, view);
            } else if let Some(lost) = promise.slot {
                // If its place is worse than before, another machine may now be better.
                for rank in self.outlook.ranks() {
                    let is_better = |slot: Slot| best.is_none_or(|best| slot < best);
                    if best.is_none_or(|best| best > lost)
                        && laid.binary_search(&rank).is_err()
                        && self.outlook.at_best(rank, &request, view.now).is_some_and(is_better)
                    {
                        self.lay(rank, &mut laid, view);
                        let there = self.outlook.best([rank], &request, view.now);
                        best = [best, there].into_iter().flatten().min();
                    }
                }
            }
            self.take_turn(&waiting, best, view.now, starts);
        }
        self.former = former;
    }

    /// Lays a machine out anew, with the promises to jobs that have had their turn.
    fn lay(&mut self, rank: usize, laid: &mut Vec<usize>, view: &View<'_>) {
        self.outlook.clear(rank, view);
        for promise in &self.promises {
            if let Some(slot) = promise.slot.filter(|slot| slot.rank == rank) {
                self.outlook.promise(slot, &promise.waiting.request);
            }
        }
        let place = laid.binary_search(&rank).unwrap_err();
        laid.insert(place, rank);
    }

    /// The job starts, or is promised its best slot.
    fn take_turn(&mut self, waiting: &QueuedJob, best: Option<Slot>, now: Time, starts: &mut Starts) {
        match best {
            Some(slot) if slot.start == now => self.start(waiting, slot, false, starts),
            slot => {
                if let Some(slot) = slot {
                    self.outlook.promise(slot, &waiting.request);
                }
                self.hold(Promise { waiting: *waiting, slot });
            }
        }
    }

    /// Keeps a promise for later.
    fn hold(&mut self, promise: Promise) {
        self.next = [self.next, promise.slot.map(|slot| slot.start)].into_iter().flatten().min();
        self.promises.push(promise);
    }

    /// The best slot for a job that comes after all promises.
    fn best(&mut self, waiting: &QueuedJob, now: Time) -> Option<Slot> {
        self.outlook.best(self.outlook.ranks(), &waiting.request, now)
    }

    /// The most preferred machine on which a job of such demands that may run at these `sites` could start now.
    fn room(&self, least: MinDemand, sites: SiteSet, now: Time, steps: &Cell<u64>) -> Option<Slot> {
        let mut from = 0;
        let mut looked = 0;
        let found = loop {
            let Some(rank) = self.rooms.next(from, least.processors, &mut looked) else { break None };
            if self.outlook.fits(rank, least, sites, now) {
                break Some(Slot { start: now, rank });
            }
            from = rank + 1;
        };
        steps.set(steps.get() + looked);
        found
    }

    /// Gives the jobs that have no reservation their turn, in order of arrival.
    fn backfill(&mut self, now: Time, starts: &mut Starts) {
        while self.depth.allows_beside(self.promises.len())
            && let Some(next) = self.behind.front().copied()
        {
            self.behind.remove(next.job);
            let best = self.best(&next, now);
            self.take_turn(&next, best, now, starts);
        }
        let mut behind = std::mem::take(&mut self.behind);
        let mut walk = behind.iter();
        let first = starts.len();
        let steps = Cell::new(0);
        while let Some(next) = walk.next_where(|least| self.room(least, SiteSet::ALL, now, &steps).is_some()) {
            // There is room, but the job may not be allowed there.
            let room = self.room(MinDemand::of(&next.request), next.request.sites, now, &steps);
            if let Some(slot) = room {
                self.start(next, slot, false, starts);
            }
        }
        for (job, _) in &starts[first..] {
            behind.remove(*job);
        }
        self.operations += steps.get();
        self.behind = behind;
    }

    /// Gives the jobs that have come since the last pass their turn.
    fn receive(&mut self, now: Time, starts: &mut Starts) {
        let mut newcomers = std::mem::take(&mut self.newcomers);
        let steps = Cell::new(0);
        for next in newcomers.drain(..) {
            if self.depth.allows_beside(self.promises.len()) {
                let best = self.best(&next, now);
                self.take_turn(&next, best, now, starts);
            } else if let Some(slot) = self.room(MinDemand::of(&next.request), next.request.sites, now, &steps) {
                self.start(&next, slot, false, starts);
            } else {
                self.behind.push(next);
            }
        }
        self.operations += steps.get();
        self.newcomers = newcomers;
    }
}

impl Promise {
    /// The slot, if its start has come.
    fn due(&self, now: Time) -> Option<Slot> {
        self.slot.filter(|slot| slot.start <= now)
    }
}

impl Policy for Backfill {
    fn begin(&mut self, view: &View<'_>) {
        self.outlook = Outlook::new(view.machines, self.placement);
        self.rooms = Rooms::new(view.machines, view.free, self.placement);
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.newcomers.push(*job);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let machine = machine.index();
        self.rooms.set(machine, self.rooms.free(machine) + job.processors);
        self.freed = true;
        let rank = self.rooms.rank(machine);
        if job.expected_end != view.now {
            self.surprise(rank);
        }
        if job.expected_end > view.now {
            self.outlook.cut_short(rank, job, view.now);
        }
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.look_again(machine, view);
    }

    fn on_failure(&mut self, machine: SiteId, _: &[RunningJob], view: &View<'_>) {
        self.look_again(machine, view);
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        self.look_again(machine, view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let now = view.now;
        self.outlook.begin_pass();
        let overdue: Vec<usize> = self.outlook.ranks().filter(|rank| self.outlook.is_overdue(*rank, view)).collect();
        overdue.iter().for_each(|rank| self.surprise(*rank));
        let is_due = self.next.is_some_and(|start| start <= now);
        if is_due {
            // While it waits, a job without an estimate is given more than when it runs: the last instant, too.
            let endless = |promise: &Promise| promise.due(now).filter(|_| promise.waiting.request.estimate.is_none());
            let ranks: Vec<usize> = self.promises.iter().filter_map(endless).map(|slot| slot.rank).collect();
            ranks.into_iter().for_each(|rank| self.surprise(rank));
        }
        let freed = std::mem::take(&mut self.freed) || is_due || !self.surprised.is_empty();
        if !self.surprised.is_empty() {
            self.promise_anew(view, starts);
        } else if is_due {
            self.keep_promises(now, starts);
        }
        // As long as nothing is given back, what could not start before cannot start now.
        if freed {
            self.backfill(now, starts);
        }
        self.receive(now, starts);
        // What is expected to end at any moment does not do so when it is expected to.
        overdue.into_iter().for_each(|rank| self.surprise(rank));
    }
}

impl Backfill {
    /// Elementary operations so far, as described above.
    pub fn operations(&self) -> u64 {
        self.operations + self.outlook.searches
    }
}
