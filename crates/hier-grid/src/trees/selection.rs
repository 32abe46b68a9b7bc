//! Resource Selection Stage: RFCs up, blocks of jobs down, and jobs taken back for other branches.

use super::Trees;
use crate::fabric::Fabric;
use crate::fabric::run::Run;
use crate::message::{Payload, Reason};
use crate::trees::scheduler_state::group;
use crate::world::{Bag, SchedulerId, narrow};
use sim_core::JobId;

/// Identity of a cancel: the scheduler that takes the jobs back, the number of its collection, and the algorithm.
type CancelId = (SchedulerId, u32, Reason);

impl Trees {
    pub(crate) fn rfc(
        &mut self,
        slot: usize,
        at: SchedulerId,
        (bag, wants, ticket): (Bag, Bag, u32),
        run: &mut impl Run,
    ) {
        let state = &mut self.states[at.index()];
        // An RFC shows that blocks sent before it have arrived.
        state.delegated[slot].fresh = false;
        state.mark(bag, wants, slot, ticket);
        self.serve(at, run);
    }

    /// Serves marked branches as long as jobs can be found for one, then requests more on behalf of the others. An LGS serves its
    /// servers.
    pub(crate) fn serve(&mut self, at: SchedulerId, run: &mut impl Run) {
        if self.forest.is_leaf(at) {
            self.fill(at, run);
            return;
        }
        // Terminates because every turn either pushes a block, which removes a mark, or leaves jobs awaited, which excludes
        // the branch from the choice.
        while self.states[at.index()].marked_branches > 0
            && let Some((channel, slot)) = self.states[at.index()].next_branch(&run.config)
        {
            self.answer(at, channel, slot, run);
        }
        if self.states[at.index()].marked_branches > 0 {
            self.ask_above(at, run);
        }
    }

    /// Collects the share of a branch and pushes it, after cancelled jobs have come back.
    fn answer(&mut self, at: SchedulerId, channel: usize, slot: usize, run: &mut impl Run) {
        let Self { states, forest, .. } = self;
        let Fabric { jobs, world, config, .. } = &**run;
        let child = forest.schedulers[at.index()].children.start as usize + slot;
        // Distance from the child's seat, the first site of its range, which is known to the parent (R5).
        let seat = forest.schedulers[child].site();
        let distance = |job: JobId| world.distance(world.site_of(jobs.get(job).station), seat) as u32;
        let state = &mut states[at.index()];
        let (at_hand, cancels) = state.collect(channel, slot, config, distance);
        let cancelled = cancels.iter().map(|(_, jobs)| narrow(jobs.len())).sum();
        let bag = state.channels[channel].bag;
        state.in_transit += cancelled + narrow(at_hand.len());
        state.collections += 1;
        // The number distinguishes answers for this collection from those for an earlier one of the same branch, which has
        // been unbound and bound again since.
        let number = state.collections;
        let branch = &mut state.channels[channel].branches[slot];
        // The block waits until all cancels are answered, as the paper pushes the share "as one block".
        branch.awaiting = cancelled;
        branch.collected = at_hand;
        branch.collection = number;
        if cancelled == 0 {
            self.push(at, bag, slot, run);
            return;
        }
        for ((child, reason), jobs) in cancels {
            for &job in &jobs {
                // The report of its start may be on the way up while the cancel is on the way down.
                run.jobs.get_mut(job).copies += 1;
            }
            self.send_down(at, child, Payload::Cancel { by: at, number, reason, jobs }, run);
        }
    }

    pub(crate) fn add_unassigned(&mut self, at: SchedulerId, job: JobId, run: &mut impl Run) {
        let kind = self.class_and_home(at, job, run);
        let new = self.states[at.index()].unassigned.insert(kind, job);
        assert!(new, "job {job} is unassigned twice at scheduler {at}");
    }

    fn push(&mut self, at: SchedulerId, bag: Bag, slot: usize, run: &mut impl Run) {
        let state = &mut self.states[at.index()];
        let branch = &mut state.channel(bag).expect("the branch exists").branches[slot];
        let mut jobs = std::mem::take(&mut branch.collected);
        (branch.marked, branch.awaiting) = (0, 0);
        // `answered` must be set before anything else is marked: a request that was sent again under the same number
        // and is still on its way must not mark the branch once more.
        let ticket = branch.ticket;
        branch.answered = ticket;
        state.marked_branches -= 1;
        state.in_transit -= narrow(jobs.len());
        state.delegated[slot].fresh = true;
        jobs.sort_unstable();
        for &job in &jobs {
            let kind = self.class_and_home(at, job, run);
            self.states[at.index()].delegated[slot].jobs.insert(kind, job);
        }
        run.counts.pushed += jobs.len() as u64;
        self.send_down(at, slot, Payload::Block { bag, ticket, jobs }, run);
    }

    /// Sends one RFC per channel up for branches that could not be served; at the root, considers discovery.
    fn ask_above(&mut self, at: SchedulerId, run: &mut impl Run) {
        if self.forest.is_root(at) {
            self.consider_discovery(at, run);
            return;
        }
        for channel in 0..self.states[at.index()].channels.len() {
            let state = &mut self.states[at.index()];
            let channel = &mut state.channels[channel];
            let waiting = channel.branches.iter().filter(|branch| branch.waits());
            let wants = waiting.fold(Bag::EMPTY, |all, branch| all.with(branch.wants));
            if let Some(rfc) = channel.uplink.ask(channel.bag, wants, &mut state.tickets) {
                self.send_up(at, rfc, run);
            }
        }
    }

    pub(crate) fn block(&mut self, at: SchedulerId, bag: Bag, ticket: u32, jobs: Vec<JobId>, run: &mut impl Run) {
        run.counts.received += jobs.len() as u64;
        // Jobs first, then the answer to the request: `serve` below may send the next request at once.
        for job in jobs {
            self.add_unassigned(at, job, run);
        }
        if let Some(channel) = self.states[at.index()].channel(bag) {
            channel.uplink.answered(ticket);
        }
        self.return_unreachable(at, run);
        self.serve(at, run);
    }

    pub(crate) fn started(&mut self, slot: usize, at: SchedulerId, job: JobId, run: &mut impl Run) {
        let kind = self.class_and_home(at, job, run);
        let state = &mut self.states[at.index()];
        state.delegated[slot].jobs.remove(kind, job);
        state.delegated[slot].fresh = false;
        // A share depends on N, so a start can change the share of the next branch; without marks there is nothing
        // to share.
        let marked = state.marked_branches > 0;
        if self.forest.is_root(at) {
            state.root.unstarted -= 1;
            run.jobs.drop_copy(job);
        } else {
            self.send_up(at, Payload::Started { job }, run);
        }
        if marked {
            self.serve(at, run);
        }
    }

    pub(crate) fn cancels(&mut self, at: SchedulerId, id: CancelId, list: Vec<JobId>, run: &mut impl Run) {
        let (by, number, reason) = id;
        let mut asked = narrow(list.len());
        let mut back = Vec::new();
        // Three cases. An unassigned job goes back at once. A job that was pushed to a child is cancelled there in turn. An
        // unknown job has been started, and the report crosses this cancel; its copy count kept it from being forgotten until
        // here. `asked` is the number of jobs that this answer accounts for; the children answer for the rest.
        let mut below = Vec::new();
        for job in list {
            let kind = self.class_and_home(at, job, run);
            let state = &mut self.states[at.index()];
            if state.unassigned.remove(kind, job) {
                back.push(job);
                run.jobs.drop_copy(job);
            } else if let Some(slot) = state.delegated.iter_mut().position(|child| child.jobs.remove(kind, job)) {
                asked -= 1;
                group(&mut below, slot, job);
            } else {
                run.jobs.drop_copy(job);
            }
        }
        if asked > 0 {
            self.send_up(at, Payload::Cancelled { by, number, reason, asked, jobs: back }, run);
        }
        for (slot, jobs) in below {
            self.send_down(at, slot, Payload::Cancel { by, number, reason, jobs }, run);
        }
    }

    /// Receives the answer to a cancel. Schedulers in between pass it on to the scheduler that cancelled; it pushes its collected jobs
    /// when the last answer has arrived.
    pub(crate) fn cancelled(
        &mut self,
        at: SchedulerId,
        id: CancelId,
        asked: u32,
        jobs: Vec<JobId>,
        run: &mut impl Run,
    ) {
        let (by, number, reason) = id;
        // Schedulers on the way up only pass it on: the jobs left their lists when the cancel went down.
        if by != at {
            self.send_up(at, Payload::Cancelled { by, number, reason, asked, jobs }, run);
            return;
        }
        let back = narrow(jobs.len());
        match reason {
            Reason::Butterfly => run.counts.butterfly += u64::from(back),
            Reason::LoadBalance => run.counts.load_balance += u64::from(back),
        }
        run.counts.cancelled += u64::from(back);
        let state = &mut self.states[at.index()];
        // Jobs that do not come back have gone to a server.
        state.in_transit -= asked - back;
        // The branch that they were collected for, unless it has been unbound in the meantime.
        let wanted = state.channels.iter_mut().find_map(|channel| {
            let slot = channel.branches.iter().position(|branch| branch.awaiting > 0 && branch.collection == number)?;
            Some((channel.bag, slot, &mut channel.branches[slot]))
        });
        let mut complete = None;
        if let Some((bag, slot, branch)) = wanted {
            branch.awaiting -= asked;
            branch.collected.extend(jobs);
            complete = (branch.awaiting == 0 && !branch.collected.is_empty()).then_some((bag, slot));
        } else {
            // The branch has been unbound in the meantime.
            state.in_transit -= back;
            for job in jobs {
                self.add_unassigned(at, job, run);
            }
        }
        // If nothing was collected (all jobs had started), the mark stays, and `serve` looks for other jobs.
        if let Some((bag, slot)) = complete {
            self.push(at, bag, slot, run);
        }
        self.return_unreachable(at, run);
        self.serve(at, run);
    }
}
