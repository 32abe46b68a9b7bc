//! Processors and their queues, with the sets of idle ones. Independent of policies.

use crate::config::Site;
use rand::{Rng, RngExt};
use sim_core::{JobId, ProcId, SiteId, Span, Time};
use std::collections::VecDeque;

/// A local in a processor's queue, as schedulers know it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// The job's number.
    pub id: JobId,
    /// Time for which it will occupy the processor, as the scheduler believes.
    pub estimate: Span,
}

/// Work that a processor runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RunningTask {
    /// Number of the job.
    pub job: JobId,
    /// Gang that it is a task of; `None` for a local.
    pub gang: Option<GangKey>,
    /// End expected by the scheduler: a local's by its estimate; the tasks of a gang are known exactly (§3.2).
    pub expected_end: Time,
}

/// Key of a routed gang while it waits or runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GangKey(pub(crate) u32);

/// One processor: its running work, its reservation and its queue.
#[derive(Clone, Debug)]
pub struct Processor {
    /// Site that it belongs to.
    pub site: SiteId,
    /// Work that it runs now.
    pub running: Option<RunningTask>,
    /// Gang whose task waits at the head of its queue. There is at most one.
    pub reserved: Option<GangKey>,
    /// Locals with their true service times, which no scheduler knows.
    queue: VecDeque<(Local, Span)>,
}

impl Processor {
    /// The locals in its queue, behind the gang's task if there is one.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &Local> {
        self.queue.iter().map(|(local, _)| local)
    }

    /// Returns true if no job waits here, neither a gang's task nor a local.
    pub(crate) fn none_waiting(&self) -> bool {
        self.reserved.is_none() && self.queue.is_empty()
    }

    /// Returns true if nothing runs and nothing is reserved. By work conservation nothing waits then either.
    pub const fn is_idle(&self) -> bool {
        self.running.is_none() && self.reserved.is_none()
    }

    /// Returns true if it runs nothing and is kept for a gang.
    pub const fn is_held(&self) -> bool {
        self.running.is_none() && self.reserved.is_some()
    }

    /// Number of jobs waiting, the gang's task included.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len() + usize::from(self.reserved.is_some())
    }
}

/// Condition under which a processor is eligible for a gang.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Eligible {
    /// [`Processor::is_idle`].
    Idle,
    /// [`Processor::is_idle`] or [`Processor::is_held`] (R6: yes).
    IdleOrHeld,
    /// No job waits for it, neither a gang's task nor a local.
    NoneWaiting,
}

impl Eligible {
    /// The sets that together contain the eligible processors of a site.
    const fn sets(self) -> &'static [usize] {
        match self {
            Self::Idle => &[IDLE],
            Self::IdleOrHeld => &[IDLE, HELD],
            Self::NoneWaiting => &[NONE_WAITING],
        }
    }
}

/// All processors of the grid, those of a site side by side, and the sets per site that policies need.
#[derive(Clone, Debug)]
pub struct Processors {
    all: Vec<Processor>,
    sites: Vec<SiteSets>,
}

/// Positions in [`SiteSets::sets`].
const IDLE: usize = 0;
const HELD: usize = 1;
const NONE_WAITING: usize = 2;

#[derive(Clone, Debug)]
struct SiteSets {
    first: u32,
    count: u32,
    sets: [IdSet; 3],
}

impl Processors {
    pub(crate) fn new(sites: &[Site]) -> Self {
        let mut processors = Self { all: Vec::new(), sites: Vec::new() };
        let mut first = 0_u32;
        for (index, site) in (0..).zip(sites) {
            let count = site.processors;
            let free = Processor { site: SiteId(index), running: None, reserved: None, queue: VecDeque::new() };
            processors.all.extend(std::iter::repeat_n(free, count as usize));
            let empty = IdSet { members: Vec::new(), position: vec![ABSENT; count as usize] };
            processors.sites.push(SiteSets { first, count, sets: [empty.clone(), empty.clone(), empty] });
            let next = first.checked_add(count).expect("fewer than 2³² processors");
            (first..next).for_each(|id| processors.refresh(ProcId(id)));
            first = next;
        }
        processors
    }

    /// The processor with this id.
    pub fn get(&self, processor: ProcId) -> &Processor {
        &self.all[processor.index()]
    }

    /// Time at which `processor` is believed to be free: `now`, if it runs nothing or has outlived its estimate.
    pub fn free_at(&self, processor: ProcId, now: Time) -> Time {
        self.get(processor).running.map_or(now, |running| running.expected_end.max(now))
    }

    /// All processors, by id.
    pub fn iter(&self) -> impl Iterator<Item = (ProcId, &Processor)> {
        (0..).map(ProcId).zip(&self.all)
    }

    /// The processors of `site`, by id.
    pub(crate) fn of_site(&self, site: SiteId) -> impl Iterator<Item = (ProcId, &Processor)> {
        let SiteSets { first, count, .. } = self.sites[site.index()];
        (first..first + count).map(|id| (ProcId(id), &self.all[id as usize]))
    }

    /// All sites, by id.
    pub fn site_ids(&self) -> impl Iterator<Item = SiteId> + use<> {
        (0..u32::try_from(self.sites.len()).expect("site ids are 32 bits wide")).map(SiteId)
    }

    /// Number of eligible processors of `site`.
    pub fn count(&self, site: SiteId, eligible: Eligible) -> u32 {
        let SiteSets { sets, .. } = &self.sites[site.index()];
        eligible.sets().iter().map(|set| sets[*set].len()).sum()
    }

    /// Number of eligible processors of the grid.
    pub fn total(&self, eligible: Eligible) -> u32 {
        self.site_ids().map(|site| self.count(site, eligible)).sum()
    }

    /// The first site, by index, with at least `processors` eligible ones.
    pub fn first_site(&self, processors: u32, eligible: Eligible) -> Option<SiteId> {
        self.site_ids().find(|&site| self.count(site, eligible) >= processors)
    }

    /// Appends the eligible processors of `site` to `found`. The order depends on history.
    pub(crate) fn collect(&self, site: SiteId, eligible: Eligible, found: &mut Vec<ProcId>) {
        eligible.sets().iter().for_each(|set| found.extend(self.members(site, *set)));
    }

    fn members(&self, site: SiteId, set: usize) -> impl Iterator<Item = ProcId> {
        let SiteSets { first, sets, .. } = &self.sites[site.index()];
        sets[set].members.iter().map(move |id| ProcId(first + id))
    }

    pub(crate) fn held(&self, site: SiteId) -> impl Iterator<Item = ProcId> {
        self.members(site, HELD)
    }

    pub(crate) fn any_idle(&self, site: SiteId, rng: &mut impl Rng) -> Option<ProcId> {
        let SiteSets { first, sets, .. } = &self.sites[site.index()];
        let idle = &sets[IDLE];
        (idle.len() > 0).then(|| ProcId(first + idle.members[rng.random_range(0..idle.len()) as usize]))
    }

    pub(crate) fn any(&self, site: SiteId, rng: &mut impl Rng) -> ProcId {
        let SiteSets { first, count, .. } = self.sites[site.index()];
        ProcId(first + rng.random_range(0..count))
    }

    pub(crate) fn begin(&mut self, processor: ProcId, running: RunningTask) {
        let before = self.all[processor.index()].running.replace(running);
        assert!(before.is_none(), "processor {processor} runs {before:?} and cannot begin {running:?}");
        self.refresh(processor);
    }

    pub(crate) fn end(&mut self, processor: ProcId) -> RunningTask {
        let ended = self.all[processor.index()].running.take();
        self.refresh(processor);
        ended.unwrap_or_else(|| panic!("processor {processor} runs nothing that could end"))
    }

    /// Puts a gang's task at the head of an empty queue.
    pub(crate) fn reserve(&mut self, processor: ProcId, gang: GangKey) {
        let before = self.all[processor.index()].reserved.replace(gang);
        assert!(before.is_none(), "processor {processor} is kept for two gangs");
        self.refresh(processor);
    }

    pub(crate) fn unreserve(&mut self, processor: ProcId) {
        self.all[processor.index()].reserved = None;
        self.refresh(processor);
    }

    pub(crate) fn enqueue(&mut self, processor: ProcId, local: Local, service: Span) {
        self.all[processor.index()].queue.push_back((local, service));
        self.refresh(processor);
    }

    /// Removes the first local that satisfies `may_start` from the queue and returns it with its service time.
    pub(crate) fn dequeue(&mut self, processor: ProcId, may_start: impl Fn(&Local) -> bool) -> Option<(Local, Span)> {
        let queue = &mut self.all[processor.index()].queue;
        let position = queue.iter().position(|(local, _)| may_start(local))?;
        let local = queue.remove(position);
        self.refresh(processor);
        local
    }

    /// Brings the sets up to date after a change at `processor`.
    fn refresh(&mut self, processor: ProcId) {
        let state = &self.all[processor.index()];
        let SiteSets { first, sets, .. } = &mut self.sites[state.site.index()];
        let members = [state.is_idle(), state.is_held(), state.none_waiting()];
        sets.iter_mut().zip(members).for_each(|(set, member)| set.set(processor.0 - *first, member));
    }
}

/// Set of small ids: O(1) to change; its members are contiguous, for random draws.
#[derive(Clone, Debug)]
struct IdSet {
    members: Vec<u32>,
    /// Position of each id among the members; `ABSENT` if it is not a member.
    position: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl IdSet {
    #[expect(clippy::cast_possible_truncation, reason = "no more members than ids")]
    fn len(&self) -> u32 {
        self.members.len() as u32
    }

    fn set(&mut self, id: u32, member: bool) {
        let position = self.position[id as usize];
        if member == (position != ABSENT) {
            return;
        }
        if member {
            self.position[id as usize] = self.len();
            self.members.push(id);
        } else {
            // The last member takes its place: the order depends on history. Random draws are unaffected, and runs are
            // repeatable.
            self.members.swap_remove(position as usize);
            if let Some(&moved) = self.members.get(position as usize) {
                self.position[moved as usize] = position;
            }
            self.position[id as usize] = ABSENT;
        }
    }
}
