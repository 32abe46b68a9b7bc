//! Flexible backfilling with any number of reservations.

use crate::machine::site;
use crate::min_demand::MinDemand;
use crate::policy::Policy;
use crate::policy::backfill::Depth;
use crate::policy::flexible::FlexibleConfig;
use crate::policy::machine_profiles::{MachineProfiles, Slot};
use crate::policy::readings::Placement;
use crate::policy::telling::Telling;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};
use sim_core::{Span, Time};

/// Flexible backfilling with any number of reservations: [`Backfill`](crate::Backfill) over a queue that is sorted by
/// priority at each event, as under [`FlexibleBackfill`](crate::FlexibleBackfill), which is this at depth 1.
///
/// The jobs that have been given a reservation have their turn first until they start, in the order in which they were given
/// it, whatever priorities become. If all have one, priority decides between jobs that come at the same instant alone.
///
/// All is laid out anew at each pass. An operation is one priority computed, one search for the earliest start of one job on
/// one machine, or one look whether it could start there now.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §3.1 and §5.
#[derive(Clone, Debug, Default)]
pub struct DeepFlexibleBackfill {
    config: FlexibleConfig,
    placement: Placement,
    depth: Depth,
    /// The jobs that hold a reservation, in the order in which they were given it.
    holders: Vec<Candidate>,
    /// The others, in order of arrival.
    queue: Vec<Candidate>,
    profiles: MachineProfiles,
    operations: u64,
}

/// A job that waits.
#[derive(Copy, Clone, Debug)]
struct Candidate {
    waiting: QueuedJob,
    submit: Time,
}

impl DeepFlexibleBackfill {
    /// The policy with `depth` reservations, and nobody waiting.
    pub fn new(config: FlexibleConfig, placement: Placement, depth: Depth) -> Self {
        Self { config, placement, depth, ..Self::default() }
    }

    /// The others by priority; of equal priority, in order of arrival.
    fn by_priority(&mut self, view: &View<'_>) -> Vec<Candidate> {
        let fastest = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed));
        let fastest = fastest.expect("a job waits, so there is a machine");
        let estimates = self.holders.iter().chain(&self.queue).filter_map(|job| job.waiting.request.estimate);
        let shortest = estimates.min().unwrap_or(Span::ZERO);
        self.operations += self.queue.len() as u64;
        let priority = |job: &Candidate| self.config.priority(view.now, job.submit, &job.waiting, fastest, shortest);
        let mut order: Vec<(f64, Candidate)> = self.queue.iter().map(|job| (priority(job), *job)).collect();
        order.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        order.into_iter().map(|(_, job)| job).collect()
    }

    fn pass(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut (impl ReasonProbe + ?Sized)) {
        let now = view.now;
        self.profiles.begin_pass();
        for rank in self.profiles.ranks() {
            self.profiles.look_again(rank, view);
            self.profiles.clear(rank, view);
        }
        let others = self.by_priority(view);
        let mut gone = Vec::new();
        let mut telling = Telling::new(probe);
        let mut promised: Vec<(QueuedJob, Slot)> = Vec::new();
        for job in std::mem::take(&mut self.holders).into_iter().chain(others) {
            telling.comes(&job.waiting, starts);
            let request = job.waiting.request;
            let may_hold = self.depth.allows_beside(self.holders.len());
            let best =
                if may_hold { self.profiles.best(self.profiles.ranks(), &request, now) } else { self.room(&job, now) };
            if let Some(slot) = best.filter(|slot| slot.start == now) {
                let machine = site(self.profiles.index(slot.rank));
                let right = if self.holders.is_empty() { Right::InTurn } else { Right::Backfilled };
                telling.starts(&job.waiting, machine, right, starts);
                self.profiles.start(slot, &request, !self.holders.is_empty());
                starts.push((job.waiting.job, machine));
                gone.push(job.waiting.job);
                continue;
            }
            telling.waits(&job.waiting, starts, || {
                let promised = promised.iter().map(|(other, slot)| (other, *slot));
                self.profiles.obstacle(&job.waiting, now, promised).unwrap_or(Reason::Kept)
            });
            if may_hold {
                if let Some(slot) = best {
                    self.profiles.reserve(slot, &request);
                    promised.push((job.waiting, slot));
                }
                telling.tells(&job.waiting, starts, || self.profiles.promise(best));
                self.holders.push(job);
                gone.push(job.waiting.job);
            }
        }
        gone.sort_unstable();
        self.queue.retain(|job| gone.binary_search(&job.waiting.job).is_err());
    }

    /// The most preferred machine on which the job can start now.
    fn room(&mut self, job: &Candidate, now: Time) -> Option<Slot> {
        let QueuedJob { request, .. } = job.waiting;
        let rank = self.profiles.ranks().find(|rank| {
            self.operations += 1;
            self.profiles.fits(*rank, MinDemand::of(&request), request.sites, now)
        });
        rank.map(|rank| Slot { start: now, rank })
    }
}

impl Policy for DeepFlexibleBackfill {
    fn begin(&mut self, view: &View<'_>) {
        self.profiles = MachineProfiles::new(view.machines, self.placement);
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.queue.push(Candidate { waiting: *job, submit: job.submit });
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.pass(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.pass(view, starts, probe);
    }
}

impl DeepFlexibleBackfill {
    /// Elementary operations so far, as described above.
    pub fn operations(&self) -> u64 {
        self.operations + self.profiles.searches
    }
}
