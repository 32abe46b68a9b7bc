//! Resource Discovery Stage: RFJM, raw jobs, bags, channels and their ports.
//!
//! The first discoveries make channels, by messages that pass from scheduler to scheduler. Later ones nearly
//! always find the same channels: the same servers match the same classes of jobs. If that is known beforehand
//! (no new class, no change of a server since the last discovery), nothing on the way can change the result. The
//! messages are then counted and shown to the observer, and one event stands for their end.

use super::Trees;
use crate::fabric::run::Run;
use crate::message::{Address, Event, Kind, Payload};
use crate::trees::scheduler_state::{Branch, Channel, RootState, SchedulerState, Uplink};
use crate::world::{Bag, SchedulerId, narrow};
use sim_core::JobId;

impl Trees {
    pub(crate) fn rfjm(&mut self, at: SchedulerId, changed: bool, run: &mut impl Run) {
        let state = &mut self.states[at.index()];
        // One RFJM stands for all servers below: more would not inform the root. Only changed resources (field `changed`)
        // justify a second one, since the last discovery did not know of them.
        let first = !std::mem::replace(&mut state.wanting, true);
        if self.forest.is_root(at) {
            let root = &mut state.root;
            root.wanted = true;
            root.news |= changed;
            // Without fallback only discovery notices new resources, and matched jobs may wait for them.
            root.rematch |= changed && !run.config.algorithms.fallback;
            self.consider_discovery(at, run);
        } else if first || changed {
            self.send_up(at, Payload::Rfjm { changed }, run);
        }
    }

    /// Starts discovery if there is anything new to discover and a request for it: an RFJM, or an RFC through a
    /// channel for which the tree has no matched unstarted job.
    pub(crate) fn consider_discovery(&mut self, root: SchedulerId, run: &mut impl Run) {
        let state = &self.states[root.index()];
        let RootState { discovering, news, raw, rematch, unstarted, wanted, .. } = &state.root;
        // Without news the result would be that of the last discovery, and every RFJM would start another: a
        // livelock.
        if *discovering || !news || raw.is_empty() && !(*rematch && *unstarted > 0) {
            return;
        }
        // An RFC is a second reason to discover. It may come through a channel whose jobs have all been started while raw jobs
        // that fit it wait: no RFJM is sent then, since a channel exists. Jobs on their way back for a branch are waited
        // for first.
        let starved = |channel: &Channel| {
            let mut waiting = channel.branches.iter().filter(|branch| branch.waits());
            channel.branches.iter().all(|branch| branch.awaiting == 0)
                && waiting.any(|branch| state.unstarted_of(branch.wants) == 0)
        };
        if *wanted || state.marked_branches > 0 && state.channels.iter().any(starved) {
            self.discover(root, run);
        }
    }

    /// Starts a discovery: message by message, or only counted if its outcome is known beforehand.
    fn discover(&mut self, root: SchedulerId, run: &mut impl Run) {
        let SchedulerState { root: at, known, round, .. } = &mut self.states[root.index()];
        // Jobs that arrive from now on are raw jobs of the next discovery.
        at.batch = std::mem::take(&mut at.raw);
        let shown = at.batch.iter().fold(*known, |all, job| all.with(Bag::of(run.jobs.get(*job).class)));
        let new = shown != *known || at.stale || !run.shortcuts;
        (at.discovering, at.news, at.stale, at.rematch) = (true, false, false, false);
        (*known, *round) = (shown, *round + 1);
        let discovery = (*round, *known, narrow(at.batch.len()));
        run.counts.discoveries += 1;
        if new {
            self.passes_discovery(root, discovery, run);
            return;
        }
        // Nothing new: one Discover goes down every edge and one Bags comes up, and the last arrives after twice the
        // latency to the deepest leaf.
        let tree = self.forest.schedulers[root.index()].tree;
        let edges = self.forest.edges[tree as usize];
        if run.is_observed() {
            self.show_discovery(root.index(), edges as usize + 1, discovery, run);
        } else {
            run.counts.count(Kind::Discover, edges.into());
            run.counts.count(Kind::Bags, edges.into());
        }
        run.post_in(self.forest.deepest[tree as usize] * 2, Event::Discovered(root));
    }

    /// Shows the observer the messages of a discovery that finds nothing new.
    fn show_discovery(&self, root: usize, count: usize, (round, known, jobs): (u32, Bag, u32), run: &mut impl Run) {
        // Time for each scheduler: on the way down, of the block's arrival; on the way up, of the last bag's. Schedulers are
        // numbered level by level, so parents come before their children on the way down, and after them on the way up.
        let mut came = vec![run.now(); count];
        let ends = |child: usize| {
            let parent = self.forest.schedulers[child].parent.expect("only the first is a root");
            (parent.index() - root, Address::Scheduler(parent), Address::Scheduler(SchedulerId(narrow(child))))
        };
        for child in root + 1..root + count {
            let (place, parent, address) = ends(child);
            let (sent, latency) = (came[place], run.latency(parent, address));
            came[child - root] = sent + latency;
            run.record(sent, latency, parent, address, &Payload::Discover { round, known, jobs });
        }
        for child in (root + 1..root + count).rev() {
            let (place, parent, address) = ends(child);
            let (sent, latency) = (came[child - root], run.latency(parent, address));
            came[place] = came[place].max(sent + latency);
            let state = &self.states[child];
            let (bags, wanting) = (state.open_bags(), state.wanting);
            run.record(sent, latency, address, parent, &Payload::Bags { round, bags, wanting });
        }
    }

    pub(crate) fn passes_discovery(
        &mut self,
        at: SchedulerId,
        (round, known, jobs): (u32, Bag, u32),
        run: &mut impl Run,
    ) {
        let children = self.forest.schedulers[at.index()].children.len();
        let state = &mut self.states[at.index()];
        (state.round, state.awaited_bags, state.wanting) = (round, children, false);
        for child in 0..children {
            self.send_down(at, child, Payload::Discover { round, known, jobs }, run);
        }
    }

    pub(crate) fn bags(
        &mut self,
        slot: usize,
        at: SchedulerId,
        (round, wanting): (u32, bool),
        list: &[(Bag, u64)],
        run: &mut impl Run,
    ) {
        // Compared before and after, power included: a parent whose sums are right needs no message.
        let before = self.states[at.index()].open_bags();
        let bound = self.bind(at, slot, list, run);
        // Ports go to the child only for new bags: a channel that stays keeps its port, and its RFC.
        if !bound.is_empty() {
            self.send_down(at, slot, Payload::Ports { bags: bound }, run);
        }
        let changed = self.states[at.index()].open_bags() != before;
        // Round 0 is a change of resources, reported at once. Within a discovery the report to the parent follows after the
        // bags of all children.
        if changed && round == 0 {
            self.channels_changed(at, run);
        } else if changed {
            self.return_unreachable(at, run);
        }
        let state = &mut self.states[at.index()];
        if round > 0 {
            assert_eq!(round, state.round, "a discovery ends before the next one begins");
            state.wanting |= wanting;
            state.awaited_bags -= 1;
            if state.awaited_bags == 0 && self.forest.is_root(at) {
                state.root.wanted = state.wanting;
                self.discovered(at, run);
            } else if state.awaited_bags == 0 {
                self.tell_own_bags(at, round, run);
            }
        }
        self.serve(at, run);
    }

    /// Sends the bags of a scheduler's open channels to its parent.
    pub(crate) fn tell_own_bags(&mut self, at: SchedulerId, round: u32, run: &mut impl Run) {
        // A channel that is no longer reported to the parent is broken: a later channel of the same bag is a new one.
        let state = &mut self.states[at.index()];
        state.drop_closed();
        let (bags, wanting) = (state.open_bags(), state.wanting);
        self.send_up(at, Payload::Bags { round, bags, wanting }, run);
    }

    /// Binds a branch of the channel of the same bag to each of a child's bags, and unbinds the others. Returns the bags that
    /// were bound just now, whose ports the child needs.
    fn bind(&mut self, at: SchedulerId, slot: usize, bags: &[(Bag, u64)], run: &mut impl Run) -> Vec<Bag> {
        let state = &mut self.states[at.index()];
        let children = state.delegated.len();
        let mut bound = Vec::new();
        for &(bag, power) in bags {
            if state.channel(bag).is_none() {
                let branches = vec![Branch::default(); children];
                state.channels.push(Channel { bag, power: 0, uplink: Uplink::default(), branches });
                state.channels.sort_by_key(|channel| channel.bag);
            }
            let channel = state.channel(bag).expect("just made");
            if channel.branches[slot].power == 0 {
                bound.push(bag);
            }
            channel.power = channel.power - channel.branches[slot].power + power;
            channel.branches[slot].power = power;
        }
        // A bag that the child no longer has unbinds its branch and removes its mark: the servers that
        // requested jobs through it are gone. Jobs collected for it stay here.
        //
        // Invariant: `marked_branches` counts branches with a mark, and `in_transit` jobs that are collected or
        // cancelled; both follow the branches.
        let mut homeless = Vec::new();
        for channel in &mut state.channels {
            let branch = &mut channel.branches[slot];
            if branch.power > 0 && !bags.iter().any(|(bag, _)| *bag == channel.bag) {
                channel.power -= branch.power;
                state.marked_branches -= u32::from(branch.marked > 0);
                state.in_transit -= narrow(branch.collected.len());
                homeless.append(&mut branch.collected);
                *branch = Branch::default();
            }
        }
        for job in homeless {
            self.add_unassigned(at, job, run);
        }
        bound
    }

    pub(crate) fn ports(&mut self, at: SchedulerId, bags: &[Bag], run: &mut impl Run) {
        for channel in &mut self.states[at.index()].channels {
            channel.uplink.port |= bags.contains(&channel.bag);
        }
        self.serve(at, run);
    }

    /// Ends a discovery: raw jobs in the bag of some channel become unassigned, others stay raw.
    pub(crate) fn discovered(&mut self, root: SchedulerId, run: &mut impl Run) {
        let state = &mut self.states[root.index()];
        state.root.discovering = false;
        let mut batch = std::mem::take(&mut state.root.batch);
        state.drop_closed();
        // Jobs matched earlier whose channel is gone are without a channel too.
        let unreachable = state.take_unreachable(state.reach());
        state.root.unstarted -= narrow(unreachable.len());
        batch.extend(unreachable);
        self.sort_out(root, batch, run);
        // Marked branches first: only the jobs they leave, and news since, can require another discovery.
        self.serve(root, run);
        self.consider_discovery(root, run);
    }

    /// Makes jobs in the bag of a channel unassigned, and others raw; called at a root.
    pub(crate) fn sort_out(&mut self, root: SchedulerId, jobs: Vec<JobId>, run: &mut impl Run) {
        let reach = self.states[root.index()].reach();
        let mut stuck = Vec::new();
        for job in jobs {
            if reach.holds(run.jobs.get(job).class) {
                self.states[root.index()].root.unstarted += 1;
                self.add_unassigned(root, job, run);
            } else {
                stuck.push(job);
            }
        }
        // If requests go only to the home tree (R8), the other trees get them once it has no server that could run the job: grid
        // trees "serve as backups to each other".
        for job in &stuck {
            self.ask_other_trees(root, *job, run);
        }
        let raw = &mut self.states[root.index()].root.raw;
        // Keeps the oldest first.
        stuck.append(raw);
        *raw = stuck;
    }
}
