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

/// Local with its true service time, which no scheduler knows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrueLocal {
    pub(crate) local: Local,
    pub(crate) service: Span,
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
    site: SiteId,
    running: Option<RunningTask>,
    reserved: Option<GangKey>,
    queue: VecDeque<TrueLocal>,
}

impl Processor {
    /// Site that it belongs to.
    pub const fn site(&self) -> SiteId {
        self.site
    }

    /// Work that it runs now.
    pub const fn running(&self) -> Option<RunningTask> {
        self.running
    }

    /// Gang whose task waits at the head of its queue. There is at most one.
    pub const fn reserved(&self) -> Option<GangKey> {
        self.reserved
    }

    /// The locals in its queue, behind the gang's task if there is one.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &Local> {
        self.queue.iter().map(|queued| &queued.local)
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

/// All processors of the grid, those of a site side by side, and the sets per site that policies need.
#[derive(Clone, Debug)]
pub struct Processors {
    all: Vec<Processor>,
    sites: Vec<SiteSets>,
    idle: CountTree,
    none_waiting: CountTree,
    total_held: u32,
}

#[derive(Clone, Debug)]
struct SiteSets {
    first: u32,
    count: u32,
    idle: IdSet,
    held: IdSet,
    none_waiting: IdSet,
}

impl Processors {
    pub(crate) fn new(sites: &[Site]) -> Self {
        let mut all = Vec::new();
        let mut sets = Vec::new();
        for (index, site) in (0..).zip(sites) {
            let first = u32::try_from(all.len()).expect("fewer than 2³² processors");
            let free = Processor { site: SiteId(index), running: None, reserved: None, queue: VecDeque::new() };
            all.extend(std::iter::repeat_n(free, site.processors as usize));
            sets.push(SiteSets {
                first,
                count: site.processors,
                idle: IdSet::full(site.processors),
                held: IdSet::empty(site.processors),
                none_waiting: IdSet::full(site.processors),
            });
        }
        let counts = || CountTree::new(sites.iter().map(|site| site.processors));
        Self { all, sites: sets, idle: counts(), none_waiting: counts(), total_held: 0 }
    }

    /// The processor with this id.
    pub fn get(&self, processor: ProcId) -> &Processor {
        &self.all[processor.index()]
    }

    /// Time at which `processor` is believed to be free: `now`, if it runs nothing or has outlived its estimate.
    pub fn free_at(&self, processor: ProcId, now: Time) -> Time {
        self.get(processor).running().map_or(now, |running| running.expected_end.max(now))
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
        let sets = &self.sites[site.index()];
        match eligible {
            Eligible::Idle => sets.idle.len(),
            Eligible::IdleOrHeld => sets.idle.len() + sets.held.len(),
            Eligible::NoneWaiting => sets.none_waiting.len(),
        }
    }

    /// Number of eligible processors of the grid.
    pub fn total(&self, eligible: Eligible) -> u32 {
        match eligible {
            Eligible::Idle => self.idle.total(),
            Eligible::IdleOrHeld => self.idle.total() + self.total_held,
            Eligible::NoneWaiting => self.none_waiting.total(),
        }
    }

    /// The first site, by index, with at least `processors` eligible ones; O(log sites) for the sets that have an index.
    pub fn first_site(&self, processors: u32, eligible: Eligible) -> Option<SiteId> {
        match eligible {
            Eligible::Idle => self.idle.first_at_least(processors).map(SiteId),
            Eligible::NoneWaiting => self.none_waiting.first_at_least(processors).map(SiteId),
            Eligible::IdleOrHeld => self.site_ids().find(|&site| self.count(site, eligible) >= processors),
        }
    }

    /// Appends the eligible processors of `site` to `found`. The order depends on history.
    pub(crate) fn collect(&self, site: SiteId, eligible: Eligible, found: &mut Vec<ProcId>) {
        let SiteSets { first, idle, held, none_waiting, .. } = &self.sites[site.index()];
        let mut append = |set: &IdSet| found.extend(set.members.iter().map(|id| ProcId(first + id)));
        match eligible {
            Eligible::Idle => append(idle),
            Eligible::IdleOrHeld => {
                append(idle);
                append(held);
            }
            Eligible::NoneWaiting => append(none_waiting),
        }
    }

    /// The held processors of `site`.
    pub(crate) fn held(&self, site: SiteId) -> impl Iterator<Item = ProcId> {
        let SiteSets { first, held, .. } = &self.sites[site.index()];
        held.members.iter().map(move |id| ProcId(first + id))
    }

    /// One idle processor of `site` at random.
    pub(crate) fn any_idle(&self, site: SiteId, rng: &mut impl Rng) -> Option<ProcId> {
        let SiteSets { first, idle, .. } = &self.sites[site.index()];
        (idle.len() > 0).then(|| ProcId(first + idle.members[rng.random_range(0..idle.len()) as usize]))
    }

    /// One processor of `site` at random.
    pub(crate) fn any(&self, site: SiteId, rng: &mut impl Rng) -> ProcId {
        let SiteSets { first, count, .. } = self.sites[site.index()];
        ProcId(first + rng.random_range(0..count))
    }

    /// Begins work.
    ///
    /// # Panics
    ///
    /// Panics if the processor is busy.
    pub(crate) fn begin(&mut self, processor: ProcId, running: RunningTask) {
        let before = self.all[processor.index()].running.replace(running);
        assert!(before.is_none(), "processor {processor} runs {before:?} and cannot begin {running:?}");
        self.refresh(processor);
    }

    /// Ends the work that runs.
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

    /// Takes the gang's task from the head of the queue.
    pub(crate) fn unreserve(&mut self, processor: ProcId) {
        self.all[processor.index()].reserved = None;
        self.refresh(processor);
    }

    /// Appends a local to the queue.
    pub(crate) fn enqueue(&mut self, processor: ProcId, local: TrueLocal) {
        self.all[processor.index()].queue.push_back(local);
        self.refresh(processor);
    }

    /// Removes the first local that satisfies `may_start` from the queue and returns it.
    pub(crate) fn dequeue(&mut self, processor: ProcId, may_start: impl Fn(&Local) -> bool) -> Option<TrueLocal> {
        let queue = &mut self.all[processor.index()].queue;
        let position = queue.iter().position(|queued| may_start(&queued.local))?;
        let local = queue.remove(position);
        self.refresh(processor);
        local
    }

    /// Brings the sets up to date after a change at `processor`.
    fn refresh(&mut self, processor: ProcId) {
        let state = &self.all[processor.index()];
        let site = state.site.index();
        let sets = &mut self.sites[site];
        let id = processor.0 - sets.first;
        if sets.idle.set(id, state.is_idle()) {
            self.idle.set(site, sets.idle.len());
        }
        if sets.none_waiting.set(id, state.none_waiting()) {
            self.none_waiting.set(site, sets.none_waiting.len());
        }
        // One sum for the grid instead of a tree: no policy needs the first site by held processors alone.
        let held_before = sets.held.len();
        sets.held.set(id, state.is_held());
        self.total_held = self.total_held + sets.held.len() - held_before;
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
    fn empty(ids: u32) -> Self {
        Self { members: Vec::with_capacity(ids as usize), position: vec![ABSENT; ids as usize] }
    }

    fn full(ids: u32) -> Self {
        Self { members: (0..ids).collect(), position: (0..ids).collect() }
    }

    #[expect(clippy::cast_possible_truncation, reason = "no more members than ids")]
    fn len(&self) -> u32 {
        self.members.len() as u32
    }

    /// Inserts or removes `id`; returns true if that changed the set.
    fn set(&mut self, id: u32, member: bool) -> bool {
        let position = self.position[id as usize];
        if member == (position != ABSENT) {
            return false;
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
        true
    }
}

/// One count per site under a tournament of maxima: the first site with at least n is found in O(log sites).
#[derive(Clone, Debug)]
struct CountTree {
    /// Complete binary tree, root at 1, leaves from `leaves` on.
    maxima: Vec<u32>,
    leaves: usize,
    total: u32,
}

impl CountTree {
    fn new(counts: impl ExactSizeIterator<Item = u32>) -> Self {
        let leaves = counts.len().next_power_of_two();
        let mut tree = Self { maxima: vec![0; 2 * leaves], leaves, total: 0 };
        for (site, count) in counts.enumerate() {
            tree.set(site, count);
        }
        tree
    }

    const fn total(&self) -> u32 {
        self.total
    }

    fn set(&mut self, site: usize, count: u32) {
        let mut node = self.leaves + site;
        self.total = self.total - self.maxima[node] + count;
        self.maxima[node] = count;
        while node > 1 {
            node /= 2;
            let maximum = self.maxima[2 * node].max(self.maxima[2 * node + 1]);
            if self.maxima[node] == maximum {
                break;
            }
            self.maxima[node] = maximum;
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "site ids are 32 bits wide")]
    fn first_at_least(&self, count: u32) -> Option<u32> {
        if self.maxima[1] < count {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node = if self.maxima[2 * node] >= count { 2 * node } else { 2 * node + 1 };
        }
        Some((node - self.leaves) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_id_set_equals_a_plain_set(changes in prop::collection::vec((0..10_u32, any::<bool>()), 0..100)) {
            let (mut set, mut twin) = (IdSet::empty(10), BTreeSet::new());
            for (id, member) in changes {
                let changed = if member { twin.insert(id) } else { twin.remove(&id) };
                prop_assert_eq!(set.set(id, member), changed);
                prop_assert_eq!(set.members.iter().copied().collect::<BTreeSet<_>>(), twin.clone());
                prop_assert_eq!(set.len() as usize, twin.len());
            }
        }

        #[test]
        fn the_count_tree_finds_the_first_site_that_a_search_finds(
            mut counts in prop::collection::vec(0..6_u32, 1..20),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..6_u32), 0..40),
            asked in 0..8_u32,
        ) {
            let mut tree = CountTree::new(counts.clone().into_iter());
            for (site, count) in changes {
                let site = site.index(counts.len());
                counts[site] = count;
                tree.set(site, count);
                let found = counts.iter().position(|&count| count >= asked);
                // A count of zero is met by any leaf, also by one without a site.
                prop_assert_eq!(tree.first_at_least(asked).map(|site| site as usize), found);
                prop_assert_eq!(tree.total(), counts.iter().sum::<u32>());
            }
        }
    }
}
