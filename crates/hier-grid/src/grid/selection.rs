//! Resource Selection Stage: RFCs up, blocks of jobs down, and jobs taken back for those who ask.

use super::{Event, Grid};
use crate::desk::Collected;
use crate::jobs::Submission;
use crate::message::{Reason, Witness};
use crate::post::{Body, Handle};
use crate::tree::SchedulerId;
use crate::world::{Bag, narrow};
use sim_core::{Context, JobId};

/// What a cancel is for: the scheduler that wants the jobs, the number of its collection, and the algorithm.
type Purpose = (SchedulerId, u32, Reason);

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// An RFC comes in from a child.
    pub(super) fn rfc(
        &mut self,
        from: SchedulerId,
        at: SchedulerId,
        (bag, wants, ticket): (Bag, Bag, u32),
        cx: &mut impl Context<Event>,
    ) {
        let slot = self.forest.schedulers[from.index()].slot as usize;
        let desk = &mut self.desks[at.index()];
        desk.books.set_fresh(slot, false);
        desk.mark(bag, wants, slot, ticket);
        self.serve(at, cx);
    }

    /// Serves marked branches as long as there is anything for one, then asks for more on behalf of the others.
    pub(super) fn serve(&mut self, at: SchedulerId, cx: &mut impl Context<Event>) {
        while self.desks[at.index()].marks > 0
            && let Some((channel, slot)) = self.desks[at.index()].next_branch(&self.rules)
        {
            self.answer(at, channel, slot, cx);
        }
        if self.desks[at.index()].marks > 0 {
            self.ask_above(at, cx);
        }
    }

    /// Collects the share of a branch and pushes it, once cancelled jobs have come back.
    fn answer(&mut self, at: SchedulerId, channel: usize, slot: usize, cx: &mut impl Context<Event>) {
        let Self { desks, jobs, world, forest, rules, .. } = self;
        let child = forest.schedulers[at.index()].children.start as usize + slot;
        let seat = forest.schedulers[child].site();
        let distance = |job: JobId| world.distance(world.site_of(jobs.get(job).station), seat) as u32;
        let desk = &mut desks[at.index()];
        let found = desk.collect(channel, slot, rules, distance);
        let (cancelled, bag) = (found.cancelled(), desk.channels[channel].bag);
        let Collected { at_hand, cancels } = found;
        desk.limbo += cancelled + narrow(at_hand.len());
        desk.collections += 1;
        let number = desk.collections;
        let branch = &mut desk.channels[channel].branches[slot];
        branch.awaiting = cancelled;
        branch.collected = at_hand;
        branch.collection = number;
        if cancelled == 0 {
            self.push(at, bag, slot, cx);
            return;
        }
        for (child, reason, jobs) in cancels {
            for &job in &jobs {
                // Its end may be told on the way up while it is looked for below.
                self.jobs.get_mut(job).copies += 1;
            }
            let jobs = self.pools.wishes.keep(jobs);
            self.send_down(at, child, Body::Cancel { by: at, number, reason, jobs }, cx);
        }
    }

    /// The branch no longer asks: what was collected for it becomes unassigned.
    fn keep_collected(&mut self, at: SchedulerId, bag: Bag, slot: usize) {
        let desk = &mut self.desks[at.index()];
        let branch = &mut desk.channel(bag).expect("the branch exists").branches[slot];
        let jobs = std::mem::take(&mut branch.collected);
        desk.limbo -= narrow(jobs.len());
        for job in jobs {
            self.shelve(at, job);
        }
    }

    /// Puts a job among the unassigned ones.
    ///
    /// With faults a job may have been submitted anew while a copy was still in the tree. Where two copies meet they become
    /// one.
    pub(super) fn shelve(&mut self, at: SchedulerId, job: JobId) {
        let kind = self.kind(at, job);
        if !self.desks[at.index()].unassigned.insert(kind, job) {
            self.merge_copies(at, job);
        }
    }

    pub(super) fn merge_copies(&mut self, at: SchedulerId, job: JobId) {
        assert!(self.transport.is_some(), "job {job} was in the same place twice");
        let tree = self.forest.schedulers[at.index()].tree;
        self.trees[tree as usize].unstarted -= 1;
        self.jobs.drop_copy(job);
    }

    /// Pushes what was collected for a branch, as one block.
    fn push(&mut self, at: SchedulerId, bag: Bag, slot: usize, cx: &mut impl Context<Event>) {
        let desk = &mut self.desks[at.index()];
        let branch = &mut desk.channel(bag).expect("the branch exists").branches[slot];
        let mut jobs = std::mem::take(&mut branch.collected);
        (branch.marked, branch.awaiting) = (0, 0);
        let ticket = branch.ticket;
        branch.answered = ticket;
        desk.marks -= 1;
        desk.limbo -= narrow(jobs.len());
        desk.books.set_fresh(slot, true);
        jobs.sort_unstable();
        let twins: Vec<JobId> = jobs.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        for job in twins {
            self.merge_copies(at, job);
        }
        jobs.dedup();
        for &job in &jobs {
            let kind = self.kind(at, job);
            self.desks[at.index()].books.insert(slot, kind, job);
        }
        self.tally.pushed += jobs.len() as u64;
        let jobs = self.pools.jobs.keep(jobs);
        self.send_down(at, narrow(slot), Body::Block { bag, ticket, jobs }, cx);
    }

    /// One RFC per channel goes up for branches that could not be served; the root considers discovery.
    fn ask_above(&mut self, at: SchedulerId, cx: &mut impl Context<Event>) {
        let scheduler = &self.forest.schedulers[at.index()];
        if scheduler.parent.is_none() {
            self.consider_discovery(scheduler.tree, cx);
            return;
        }
        for channel in 0..self.desks[at.index()].channels.len() {
            let desk = &mut self.desks[at.index()];
            let channel = &mut desk.channels[channel];
            let waiting = channel.branches.iter().filter(|branch| branch.waits());
            let wants = waiting.fold(Bag::EMPTY, |all, branch| all.with(branch.wants));
            if !channel.port || wants.without(channel.asked).is_empty() {
                continue;
            }
            if channel.ticket == 0 {
                desk.tickets += 1;
                channel.ticket = desk.tickets;
            }
            channel.asked = channel.asked.with(wants);
            let body = Body::Rfc { bag: channel.bag, wants: channel.asked, ticket: channel.ticket };
            self.send_up(at, body, cx);
        }
    }

    /// A block comes in from the parent.
    pub(super) fn block(&mut self, at: SchedulerId, bag: Bag, ticket: u32, jobs: Handle, cx: &mut impl Context<Event>) {
        let list = self.pools.jobs.take(jobs);
        self.tally.received += list.len() as u64;
        for &job in &list {
            self.shelve(at, job);
        }
        self.pools.jobs.recycle(list);
        if let Some(channel) = self.desks[at.index()].channel(bag)
            && channel.ticket == ticket
        {
            (channel.ticket, channel.asked) = (0, Bag::EMPTY);
        }
        self.return_unreachable(at, cx);
        self.serve(at, cx);
    }

    /// A job has left an LGS's queue: struck from the books, and told further up.
    pub(super) fn started(&mut self, from: SchedulerId, at: SchedulerId, job: JobId, cx: &mut impl Context<Event>) {
        let slot = self.forest.schedulers[from.index()].slot as usize;
        let kind = self.kind(at, job);
        let desk = &mut self.desks[at.index()];
        desk.books.remove(slot, kind, job);
        desk.books.set_fresh(slot, false);
        let marked = desk.marks > 0;
        if self.forest.schedulers[at.index()].parent.is_some() {
            self.send_up(at, Body::Started { job }, cx);
        } else {
            let tree = self.forest.schedulers[at.index()].tree;
            self.trees[tree as usize].unstarted -= 1;
            self.jobs.drop_copy(job);
        }
        if marked {
            self.serve(at, cx);
        }
    }

    /// The parent wants jobs back: those at hand go at once, children are asked for those that were pushed on.
    pub(super) fn cancels(&mut self, at: SchedulerId, purpose: Purpose, jobs: Handle, cx: &mut impl Context<Event>) {
        let (by, number, reason) = purpose;
        let list = self.pools.wishes.take(jobs);
        let mut asked = narrow(list.len());
        let mut back = self.pools.jobs.open();
        let mut below: Vec<(u32, Vec<JobId>)> = Vec::new();
        for &job in &list {
            let kind = self.kind(at, job);
            let desk = &mut self.desks[at.index()];
            if desk.unassigned.remove(kind, job) {
                back.push(job);
                self.jobs.drop_copy(job);
            } else if let Some(slot) = desk.books.remove_anywhere(kind, job) {
                asked -= 1;
                let slot = narrow(slot);
                match below.iter_mut().find(|(of, _)| *of == slot) {
                    Some((_, jobs)) => jobs.push(job),
                    None => below.push((slot, vec![job])),
                }
            } else {
                self.jobs.drop_copy(job);
            }
        }
        self.pools.wishes.recycle(list);
        if asked > 0 {
            let jobs = self.pools.jobs.keep(back);
            self.send_up(at, Body::Cancelled { by, number, reason, asked, jobs }, cx);
        } else {
            self.pools.jobs.recycle(back);
        }
        for (slot, jobs) in below {
            let jobs = self.pools.wishes.keep(jobs);
            self.send_down(at, slot, Body::Cancel { by, number, reason, jobs }, cx);
        }
    }

    /// Jobs come back. Those between pass them on to the scheduler that wanted them; it pushes what it has collected when
    /// the last answer is in.
    pub(super) fn cancelled(
        &mut self,
        at: SchedulerId,
        purpose: Purpose,
        asked: u32,
        jobs: Handle,
        cx: &mut impl Context<Event>,
    ) {
        let (by, number, reason) = purpose;
        if by != at {
            self.send_up(at, Body::Cancelled { by, number, reason, asked, jobs }, cx);
            return;
        }
        let list = self.pools.jobs.take(jobs);
        let back = narrow(list.len());
        self.tally.moved(reason, u64::from(back));
        self.tally.cancelled += u64::from(back);
        let desk = &mut self.desks[at.index()];
        // Those that do not come back have gone to a server.
        desk.limbo -= asked - back;
        let wanted = desk.channels.iter_mut().find_map(|channel| {
            let slot = channel.branches.iter().position(|branch| branch.awaiting > 0 && branch.collection == number)?;
            Some((channel.bag, slot, &mut channel.branches[slot]))
        });
        let mut complete = None;
        if let Some((bag, slot, branch)) = wanted {
            branch.awaiting -= asked;
            branch.collected.extend_from_slice(&list);
            complete = (branch.awaiting == 0 && !branch.collected.is_empty()).then_some((bag, slot, branch.marked > 0));
        } else {
            // The branch has been unbound in the meantime.
            desk.limbo -= back;
            for &job in &list {
                self.shelve(at, job);
            }
        }
        self.pools.jobs.recycle(list);
        match complete {
            Some((bag, slot, true)) => self.push(at, bag, slot, cx),
            Some((bag, slot, false)) => self.keep_collected(at, bag, slot),
            None => {}
        }
        self.return_unreachable(at, cx);
        self.serve(at, cx);
    }
}
