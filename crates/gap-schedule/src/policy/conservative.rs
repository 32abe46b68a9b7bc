use crate::grid::{GridView, Scheduler, site};
use crate::policy::outlook::{Outlook, Slot};
use crate::policy::readings::Placement;
use crate::queue::{Least, Waiting};
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Time};

/// Conservative backfilling in its classic form: every job is given a reservation when it arrives, and keeps it or moves to
/// an earlier one. Where estimates are upper bounds, no job is ever delayed beyond a start that it has been promised.
///
/// A job is given the earliest start, over all machines that it may use, at which it fits between what runs, by the
/// expected ends, and all reservations; of several machines with the same start, the preferred one (R5). When a job ends
/// earlier than expected, the plan is compressed: each job that waits, in order of its reserved start (of those with the
/// same start, in order of arrival), is taken out of the plan and given the earliest start there is now. Its old one is
/// still there, so it only moves if it then starts earlier.
///
/// [`Backfill`](crate::Backfill) with [`Depth::All`](crate::Depth::All) gives all reservations anew, in order of arrival,
/// where this keeps them. As long as no job ends early, the schedule is the same.
///
/// What nobody expected may break promises: a job that outlives its estimate, a machine that fails, or one that is repaired
/// early or late. Then all reservations that are still possible are kept, those that are not are given anew, both in the
/// same order, and the plan is compressed. A job without an estimate is expected to run for ever; one that can never start,
/// by expectations, has no reservation until something unexpected happens.
///
/// An operation is one search for the earliest start of one job on one machine.
///
/// Source: A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
/// scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, §2.
#[derive(Clone, Debug, Default)]
pub struct Conservative {
    placement: Placement,
    /// The jobs that wait, by reserved start, then in order of arrival.
    held: Vec<Reservation>,
    /// Those that have come since the last pass.
    newcomers: Vec<Waiting>,
    /// How many have come.
    arrivals: u64,
    outlook: Outlook,
    /// Whether a job has ended earlier than expected since the last pass.
    freed: bool,
    /// Whether something else has happened that was not expected.
    surprised: bool,
}

/// A job that waits, and the start that it is promised; `None` if it can never start, by expectations.
#[derive(Clone, Debug)]
struct Reservation {
    waiting: Waiting,
    slot: Option<Slot>,
    arrival: u64,
}

impl Conservative {
    /// The policy, with nobody waiting.
    pub fn new(placement: Placement) -> Self {
        Self { placement, ..Self::default() }
    }

    /// When and where the job is promised to start, as of the last pass.
    pub fn promised(&self, job: JobId) -> Option<(Time, SiteId)> {
        let reservation = self.held.iter().find(|held| held.waiting.job == job)?;
        reservation.slot.map(|slot| (slot.start, site(self.outlook.index(slot.rank))))
    }

    /// Keeps the reservations that are still possible after what has happened, and gives the others anew.
    fn mend(&mut self, view: &GridView<'_>) {
        let Self { outlook, held, .. } = self;
        outlook.ranks().for_each(|rank| outlook.clear(rank, view));
        for held in held.iter_mut() {
            let request = held.waiting.request;
            held.slot = held.slot.filter(|slot| {
                slot.start >= view.now && outlook.fits(slot.rank, Least::of(&request), request.sites, slot.start)
            });
            if let Some(slot) = held.slot {
                outlook.promise(slot, &request);
            }
        }
        for held in held.iter_mut().filter(|held| held.slot.is_none()) {
            let request = held.waiting.request;
            held.slot = outlook.best(outlook.ranks(), &request, view.now);
            if let Some(slot) = held.slot {
                outlook.promise(slot, &request);
            }
        }
        self.sort();
    }

    /// Lets the jobs move to earlier starts.
    fn compress(&mut self, now: Time) {
        for held in &mut self.held {
            let request = held.waiting.request;
            if let Some(slot) = held.slot {
                self.outlook.withdraw(slot, &request);
            }
            let best = self.outlook.best(self.outlook.ranks(), &request, now);
            if let Some(best) = best.filter(|best| held.slot.is_none_or(|slot| best.start < slot.start)) {
                held.slot = Some(best);
            }
            if let Some(slot) = held.slot {
                self.outlook.promise(slot, &request);
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.held.sort_by_key(Reservation::place);
    }

    /// Gives the jobs that have come since the last pass their reservations.
    fn receive(&mut self, now: Time) {
        for waiting in self.newcomers.drain(..) {
            let slot = self.outlook.best(self.outlook.ranks(), &waiting.request, now);
            if let Some(slot) = slot {
                self.outlook.promise(slot, &waiting.request);
            }
            let new = Reservation { waiting, slot, arrival: self.arrivals };
            self.arrivals += 1;
            let place = self.held.partition_point(|held| held.place() < new.place());
            self.held.insert(place, new);
        }
    }

    /// Starts the jobs whose reserved start has come.
    fn start_due(&mut self, now: Time, starts: &mut Vec<(JobId, SiteId)>) {
        let due = self.held.partition_point(|held| held.slot.is_some_and(|slot| slot.start <= now));
        for Reservation { waiting, slot, .. } in self.held.drain(..due) {
            let slot = slot.expect("a job without a reservation is not due");
            self.outlook.keep_promise(slot, &waiting.request);
            // Such a job holds its processors otherwise when it runs than when it waits.
            let is_endless = waiting.request.estimate.is_none();
            self.surprised |= is_endless || self.outlook.takes_no_time(slot.rank, &waiting.request);
            starts.push((waiting.job, site(self.outlook.index(slot.rank))));
        }
    }
}

impl Reservation {
    /// In the order of the plan: those without a reservation are last.
    fn place(&self) -> (Time, u64) {
        (self.slot.map_or(Time::MAX, |slot| slot.start), self.arrival)
    }
}

impl Scheduler for Conservative {
    fn begin(&mut self, view: &GridView<'_>) {
        self.outlook = Outlook::new(view.machines, self.placement);
    }

    fn arrive(&mut self, job: &Waiting, _: Time, _: &GridView<'_>) {
        self.newcomers.push(*job);
    }

    fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &GridView<'_>) {
        let rank = self.outlook.rank(machine.index());
        if job.expected_end == Time::MAX {
            self.outlook.cut_short(rank, job, view.now);
            self.surprised = true;
        } else if job.expected_end > view.now {
            self.outlook.give_back(rank, job, view.now);
            self.freed = true;
        }
        self.surprised |= job.expected_end < view.now;
    }

    fn down(&mut self, machine: SiteId, _: &[RunningJob], view: &GridView<'_>) {
        self.outlook.look_again(self.outlook.rank(machine.index()), view);
        self.surprised = true;
    }

    fn up(&mut self, machine: SiteId, view: &GridView<'_>) {
        self.outlook.look_again(self.outlook.rank(machine.index()), view);
        self.surprised = true;
    }

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.outlook.begin_pass();
        let is_overdue = self.outlook.ranks().any(|rank| self.outlook.is_overdue(rank, view));
        let surprised = std::mem::replace(&mut self.surprised, is_overdue) || is_overdue;
        if surprised {
            self.mend(view);
        }
        if std::mem::take(&mut self.freed) || surprised {
            self.compress(view.now);
        }
        self.receive(view.now);
        self.start_due(view.now, starts);
    }

    fn operations(&self) -> u64 {
        self.outlook.searches
    }
}
