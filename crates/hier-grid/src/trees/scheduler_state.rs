//! State of a scheduler, and the arithmetic of its decisions, without clock and messages; those are in `trees`.

use crate::config::{Algorithms, BranchOrder, Config, LoadBalanceTakes, Share, UnassignedOrder};
use crate::message::{Payload, Reason};
use crate::trees::queue::{ClassAndHome, DelegatedJobs, JobsByClass, LeafQueue};
use crate::world::{Bag, narrow};
use sim_core::JobId;

/// Channel of a scheduler: jobs in its bag find resources behind its branches, or at the site of an LGS.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) bag: Bag,
    pub(crate) power: u64,
    pub(crate) uplink: Uplink,
    /// One for each child, bound to the child's channel of the same bag; its power is 0 if the child has none. None at an LGS.
    pub(crate) branches: Vec<Branch>,
}

/// Part of a channel that leads to one child.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branch {
    /// CPUs behind it; 0 if the child has no such channel.
    pub(crate) power: u64,
    /// Sequence number of its mark by an RFC; 0 if it is unmarked.
    pub(crate) marked: u64,
    pub(crate) ticket: u32,
    /// Last RFC that was answered. A repetition that was sent before the answer arrived is answered too.
    pub(crate) answered: u32,
    /// Classes that it requests, among those of the channel.
    pub(crate) wants: Bag,
    /// Number of jobs that have been cancelled for it without an answer yet.
    pub(crate) awaiting: u32,
    /// Number of the collection in progress for it.
    pub(crate) collection: u32,
    /// Jobs collected for it until the last answer arrives.
    pub(crate) collected: Vec<JobId>,
}

impl Branch {
    /// Returns true if it requests jobs and none are on their way back for it.
    pub(crate) const fn waits(&self) -> bool {
        self.marked > 0 && self.awaiting == 0
    }
}

/// Request of one channel, of an LGS or of a scheduler above. At most one is open; if more classes are wanted, it is sent
/// again under its number.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uplink {
    /// True if the parent has bound the channel: RFCs may go up.
    pub(crate) port: bool,
    /// Number of the open RFC; 0 if none is open.
    ticket: u32,
    asked: Bag,
}

impl Uplink {
    /// The RFC to send for these classes; `None` without a port, or if the open one covers all of them.
    pub(crate) fn ask(&mut self, bag: Bag, wants: Bag, tickets: &mut u32) -> Option<Payload> {
        if !self.port || wants.without(self.asked).is_empty() {
            return None;
        }
        if self.ticket == 0 {
            *tickets += 1;
            self.ticket = *tickets;
        }
        self.asked = self.asked.with(wants);
        Some(Payload::Rfc { bag, wants: self.asked, ticket: self.ticket })
    }

    /// Handles the arrival of a block. One that answers an older RFC, from before the channel was broken, leaves this one open.
    pub(crate) fn answered(&mut self, ticket: u32) {
        if self.ticket == ticket {
            (self.ticket, self.asked) = (0, Bag::EMPTY);
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SchedulerState {
    pub(crate) channels: Vec<Channel>,
    /// Jobs that have not been pushed. At an LGS: its queue, the jobs that have not been given to a server.
    pub(crate) unassigned: JobsByClass,
    pub(crate) delegated: Vec<DelegatedJobs>,
    /// Jobs cancelled or collected, and not yet pushed on.
    pub(crate) in_transit: u32,
    pub(crate) marked_branches: u32,
    pub(crate) clock: u64,
    pub(crate) collections: u32,
    pub(crate) tickets: u32,
    /// True if an RFJM has gone up, on behalf of a server that still wants jobs.
    pub(crate) wanting: bool,
    /// Number of the discovery in progress, or of the last one.
    pub(crate) round: u32,
    /// Number of children that have not answered it.
    pub(crate) awaited_bags: usize,
    /// At a root or an LGS: classes of all jobs that have been through discovery.
    pub(crate) known: Bag,
    /// At an LGS: true if resources have changed since the last discovery.
    pub(crate) changed: bool,
    pub(crate) root: RootState,
}

/// Jobs to cancel, by the child that has them and the algorithm that takes them back.
type Cancels = Vec<((usize, Reason), Vec<JobId>)>;

/// Adds a job to the list of its key. Lists are in the order of their first jobs.
pub(crate) fn group<K: PartialEq>(lists: &mut Vec<(K, Vec<JobId>)>, key: K, job: JobId) {
    match lists.iter_mut().find(|(of, _)| *of == key) {
        Some((_, jobs)) => jobs.push(job),
        None => lists.push((key, vec![job])),
    }
}

impl SchedulerState {
    pub(crate) fn new(children: usize, classes: usize) -> Self {
        let unassigned = JobsByClass::new(children + 1, classes);
        let delegated = vec![DelegatedJobs { jobs: unassigned.clone(), fresh: false }; children];
        Self { unassigned, delegated, ..Self::default() }
    }

    /// N: all unstarted jobs in the subtree, as known here.
    pub(crate) fn unstarted(&self) -> u32 {
        let delegated = self.delegated.iter().map(|child| child.jobs.total);
        self.unassigned.total + self.in_transit + delegated.sum::<u32>()
    }

    /// Unstarted jobs that could use a channel, except those in transit.
    pub(crate) fn unstarted_of(&self, bag: Bag) -> u32 {
        let delegated = |class| self.delegated.iter().map(|child| child.jobs.count(class)).sum::<u32>();
        bag.classes().map(|class| self.unassigned.count(class) + delegated(class)).sum()
    }

    pub(crate) fn channel(&mut self, bag: Bag) -> Option<&mut Channel> {
        self.channels.iter_mut().find(|channel| channel.bag == bag)
    }

    /// Bags of the open channels, with the CPUs behind them.
    pub(crate) fn open_bags(&self) -> Vec<(Bag, u64)> {
        let open = self.channels.iter().filter(|channel| channel.power > 0);
        open.map(|channel| (channel.bag, channel.power)).collect()
    }

    /// Removes channels without power.
    pub(crate) fn drop_closed(&mut self) {
        self.channels.retain(|channel| channel.power > 0);
    }

    /// Classes in the bags of all open channels.
    pub(crate) fn reach(&self) -> Bag {
        let open = self.channels.iter().filter(|channel| channel.power > 0);
        open.fold(Bag::EMPTY, |all, channel| all.with(channel.bag))
    }

    /// Removes and returns unassigned jobs whose class is not in `reach`, oldest first.
    pub(crate) fn take_unreachable(&mut self, reach: Bag) -> Vec<JobId> {
        let mut jobs = self.unassigned.drain(|class| !reach.holds(class));
        jobs.sort_unstable();
        jobs
    }

    /// Number of jobs that may be pushed to a branch: B_share = ⌈B_rate × N⌉ with B_rate = B_power / Σ C_power (formulas 1 and 2).
    pub(crate) fn share_of(&self, channel: usize, slot: usize, rule: Share) -> u64 {
        let Channel { bag, power, branches, .. } = &self.channels[channel];
        let (total, jobs) = match rule {
            Share::AllChannels => (self.channels.iter().map(|channel| channel.power).sum(), self.unstarted()),
            Share::OwnChannel => {
                // `unstarted_of` excludes jobs in transit, whose class is not stored.
                let in_transit = branches.iter().map(|branch| branch.awaiting + narrow(branch.collected.len()));
                (*power, self.unstarted_of(*bag) + in_transit.sum::<u32>())
            }
        };
        (branches[slot].power * u64::from(jobs)).div_ceil(total)
    }

    /// Marks the branch from which an RFC came; does nothing if the channel is gone.
    pub(crate) fn mark(&mut self, bag: Bag, wants: Bag, slot: usize, ticket: u32) {
        self.clock += 1;
        let clock = self.clock;
        let Some(channel) = self.channel(bag) else { return };
        let branch = &mut channel.branches[slot];
        // The RFC crossed the block that answers it, or came through a channel that has been broken: no server waits for it
        // any more.
        if branch.power == 0 || ticket <= branch.answered {
            return;
        }
        branch.ticket = ticket;
        // A second RFC of a marked branch adds to its wants, and the branch keeps its place.
        branch.wants = if branch.marked == 0 { wants } else { branch.wants.with(wants) };
        if branch.marked == 0 {
            branch.marked = clock;
            self.marked_branches += 1;
        }
    }

    /// Returns the branch to serve next: marked, waiting, and with jobs that can be found for it.
    pub(crate) fn next_branch(&self, config: &Config) -> Option<(usize, usize)> {
        // Least key wins: (lacks jobs of its own work stations, age of the mark), as R6 orders them.
        let mut best: Option<((bool, u64), (usize, usize))> = None;
        for (c, channel) in self.channels.iter().enumerate() {
            for (slot, branch) in channel.branches.iter().enumerate() {
                if !branch.waits() {
                    continue;
                }
                // A branch without available jobs keeps its mark; an RFC to the parent is sent for it.
                let at_hand = branch.wants.classes().any(|class| self.unassigned.count(class) > 0);
                if !at_hand && !self.can_cancel(branch.wants, slot, config.algorithms) {
                    continue;
                }
                let key = match config.readings.branch_order {
                    BranchOrder::NearestThenOldest => (!has_own(&self.unassigned, branch.wants, slot), branch.marked),
                    BranchOrder::OldestRfc => (false, branch.marked),
                    BranchOrder::Index => (false, u64::from(narrow(slot))),
                };
                if best.is_none_or(|(least, _)| key < least) {
                    best = Some((key, (c, slot)));
                }
            }
        }
        best.map(|(_, found)| found)
    }

    /// Jobs of the other children from which jobs can be taken back.
    fn siblings(&self, slot: usize) -> impl Iterator<Item = (usize, &JobsByClass)> {
        let settled = self.delegated.iter().enumerate().filter(move |(child, at)| *child != slot && !at.fresh);
        settled.map(|(child, at)| (child, &at.jobs))
    }

    /// Returns true if a sibling has a job that an algorithm would take back for this child.
    fn can_cancel(&self, bag: Bag, slot: usize, algorithms: Algorithms) -> bool {
        let mut siblings = self.siblings(slot);
        if algorithms.load_balance {
            // Any job qualifies, including those that butterfly would take.
            return siblings.any(|(_, held)| bag.classes().any(|class| held.count(class) > 0));
        }
        algorithms.butterfly && siblings.any(|(_, held)| has_own(held, bag, slot))
    }

    /// Collects the branch's share: butterfly, unassigned jobs, load-balance, in this order. Returns the unassigned jobs, and those to
    /// cancel. The jobs found are no longer delegated.
    ///
    /// `distance` returns the distance of a job's work station from the child (R5).
    pub(crate) fn collect(
        &mut self,
        channel: usize,
        slot: usize,
        Config { algorithms, readings, .. }: &Config,
        distance: impl Fn(JobId) -> u32,
    ) -> (Vec<JobId>, Cancels) {
        // The share is that of the branch when it is served: N may have changed since it was marked.
        let bag = self.channels[channel].branches[slot].wants;
        let (mut at_hand, mut cancels) = (Vec::new(), Cancels::new());
        for _ in 0..self.share_of(channel, slot, readings.share) {
            if let Some((sibling, kind, job)) = self.nearer(bag, slot).filter(|_| algorithms.butterfly) {
                self.delegated[sibling].jobs.remove(kind, job);
                group(&mut cancels, (sibling, Reason::Butterfly), job);
            } else if let Some((kind, job)) = self.next_unassigned(bag, slot, readings.unassigned_order, &distance) {
                self.unassigned.remove(kind, job);
                at_hand.push(job);
            } else if let Some((sibling, kind, job)) =
                self.of_most_loaded(bag, slot, readings.load_balance_takes).filter(|_| algorithms.load_balance)
            {
                // It counts as in transit from now on; its cancel is sent after all jobs have been chosen.
                self.delegated[sibling].jobs.remove(kind, job);
                group(&mut cancels, (sibling, Reason::LoadBalance), job);
            } else {
                break;
            }
        }
        (at_hand, cancels)
    }

    fn kinds(&self, bag: Bag) -> impl Iterator<Item = ClassAndHome> + use<> {
        (0..=self.delegated.len()).flat_map(move |home| bag.classes().map(move |class| ClassAndHome { class, home }))
    }

    /// Butterfly: the oldest job queued at a sibling whose work station lies under this child.
    fn nearer(&self, bag: Bag, slot: usize) -> Option<(usize, ClassAndHome, JobId)> {
        let heads = self.siblings(slot).flat_map(|(sibling, held)| {
            let kinds = bag.classes().map(move |class| ClassAndHome { class, home: slot });
            kinds.filter_map(move |kind| Some((sibling, kind, *held.queue(kind).first()?)))
        });
        heads.min_by_key(|(.., job)| *job)
    }

    /// R5: returns the unassigned job to push next.
    pub(crate) fn next_unassigned(
        &self,
        bag: Bag,
        slot: usize,
        order: UnassignedOrder,
        distance: impl Fn(JobId) -> u32,
    ) -> Option<(ClassAndHome, JobId)> {
        let queues = self.kinds(bag).map(|kind| (kind, self.unassigned.queue(kind)));
        if order == UnassignedOrder::GradedDistance {
            // Visits every job, since none are sorted by distance: this answer is for comparison only.
            let all = queues.flat_map(|(kind, queue)| queue.iter().map(move |job| (kind, *job)));
            return all.min_by_key(|(_, job)| (distance(*job), *job));
        }
        let own_first = order == UnassignedOrder::OwnFirst;
        let heads = queues.filter_map(|(kind, queue)| Some((kind, *queue.first()?)));
        heads.min_by_key(|(kind, job)| (own_first && kind.home != slot, *job))
    }

    /// Load-balance: the oldest (R7) job of the sibling with the most queued jobs per CPU.
    fn of_most_loaded(&self, bag: Bag, slot: usize, takes: LoadBalanceTakes) -> Option<(usize, ClassAndHome, JobId)> {
        // CPUs that could run such jobs at the sibling: those behind every channel whose bag shares a class with them. Without
        // power no server is left to run them: infinitely loaded.
        let shared = || self.channels.iter().filter(|channel| !channel.bag.and(bag).is_empty());
        let mut most: Option<((u64, u64), usize)> = None;
        for (sibling, held) in self.siblings(slot) {
            let queued = bag.classes().map(|class| u64::from(held.count(class))).sum::<u64>();
            let power = shared().map(|channel| channel.branches[sibling].power).sum::<u64>();
            // queued / power compared by cross-multiplication: exact; the first of equally loaded siblings wins.
            if queued > 0 && most.is_none_or(|(most, _)| queued * most.1 > most.0 * power) {
                most = Some(((queued, power), sibling));
            }
        }
        let (_, sibling) = most?;
        let oldest = takes == LoadBalanceTakes::Oldest;
        let end = |queue: &LeafQueue| if oldest { queue.first().copied() } else { queue.last().copied() };
        let ends =
            self.kinds(bag).filter_map(|kind| Some((sibling, kind, end(self.delegated[sibling].jobs.queue(kind))?)));
        if oldest { ends.min_by_key(|(.., job)| *job) } else { ends.max_by_key(|(.., job)| *job) }
    }
}

/// Returns true if one of the jobs has its work station under the child.
fn has_own(jobs: &JobsByClass, bag: Bag, slot: usize) -> bool {
    bag.classes().any(|class| !jobs.queue(ClassAndHome { class, home: slot }).is_empty())
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RootState {
    /// Jobs that have not been through discovery, in order of arrival.
    pub(crate) raw: Vec<JobId>,
    pub(crate) batch: Vec<JobId>,
    pub(crate) discovering: bool,
    /// True if discovery may find anything that the last one did not.
    pub(crate) news: bool,
    /// True if matched jobs must be matched again, although no raw jobs have arrived.
    pub(crate) rematch: bool,
    /// Number of matched jobs that were not reported started. The root's delegated jobs may be fewer: a cancel misses a job
    /// that a scheduler below holds for one of its branches, and counts it as started.
    pub(crate) unstarted: u32,
    /// True if an RFJM waits for raw jobs.
    pub(crate) wanted: bool,
    /// True if channels may be out of date: the next discovery goes through all schedulers message by message.
    pub(crate) stale: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::System;

    const ALL: Bag = Bag(0b11);
    const ELSEWHERE: usize = 2;

    fn kind(class: u8, home: usize) -> ClassAndHome {
        ClassAndHome { class, home }
    }

    /// GS1 of figure 1: two children; the first channel leads to the second child, the second to both.
    fn gs1() -> SchedulerState {
        let channel = |(bag, powers): (Bag, [u64; 2])| {
            let branches = powers.map(|power| Branch { power, ..Branch::default() }).into();
            Channel { bag, power: powers.iter().sum(), uplink: Uplink::default(), branches }
        };
        SchedulerState {
            channels: [(Bag(0b10), [0, 64]), (ALL, [64, 64])].map(channel).into(),
            ..SchedulerState::new(2, 2)
        }
    }

    #[test]
    fn with_shares_of_the_own_channel_only_its_jobs_and_its_power_count() {
        let mut state = gs1();
        for job in 0..9 {
            state.unassigned.insert(kind(u8::from(job >= 4), ELSEWHERE), JobId(job));
        }
        // Five jobs can use the first channel, and it has one branch. The other share is half of nine, rounded up.
        assert_eq!([(0, 1), (1, 0)].map(|(channel, slot)| state.share_of(channel, slot, Share::OwnChannel)), [5, 5]);
    }

    #[test]
    fn butterfly_comes_first_then_own_work_stations_then_the_oldest_then_load_balance() {
        let (mut state, config) = (gs1(), Config::of_the_paper(System::Trees(1), 1, 1.0));
        // One job of a work station under child 0 is queued at child 1, and one that belongs elsewhere.
        state.delegated[1].jobs.insert(kind(0, 0), JobId(5));
        state.delegated[1].jobs.insert(kind(0, ELSEWHERE), JobId(1));
        state.unassigned.insert(kind(0, 1), JobId(2));
        state.unassigned.insert(kind(0, 0), JobId(7));
        state.mark(ALL, ALL, 0, 1);
        // A third of four jobs, rounded up, is two: the nearer one and the own one.
        let butterfly = ((1, Reason::Butterfly), vec![JobId(5)]);
        let found = state.clone().collect(1, 0, &config, |_| 0);
        assert_eq!(found, (vec![JobId(7)], vec![butterfly.clone()]));
        // All of them if the branch is the only one.
        state.channels.remove(0);
        state.channels[0].power = 64;
        state.channels[0].branches[1].power = 0;
        let load_balance = ((1, Reason::LoadBalance), vec![JobId(1)]);
        let found = state.collect(0, 0, &config, |_| 0);
        assert_eq!(found, (vec![JobId(7), JobId(2)], vec![butterfly, load_balance]));
    }
}
