//! Resource Discovery Stage: RFJM, raw jobs, bags, channels and their ports.
//!
//! The first discoveries make channels, by messages that pass from scheduler to scheduler. Later ones nearly
//! always find the same channels: the same servers match the same classes of jobs. If that is known beforehand
//! (no new class, no change of a server since the last discovery), nothing on the way can change the result. The
//! messages are then counted and shown to the observer, and one event stands for their end.

use super::Trees;
use crate::event::Event;
use crate::message::{Address, Kind, Payload};
use crate::run::Run;
use crate::scheduler_state::{Branch, Channel};
use crate::uplink::Uplink;
use crate::world::{Bag, SchedulerId, narrow};
use sim_core::JobId;

impl Trees {
    /// Receives an RFJM: one is forwarded for all children. At the root it waits for raw jobs.
    pub(crate) fn rfjm(&mut self, at: SchedulerId, anew: bool, run: &mut impl Run) {
        let state = &mut self.states[at.index()];
        // One RFJM stands for all servers below: more would not inform the root. Only changed resources (field `anew`)
        // justify a second one, since the last discovery did not know of them.
        let first = !std::mem::replace(&mut state.wanting, true);
        if self.is_root(at) {
            let tree = self.tree_of(at);
            let tree_at = &mut self.roots[tree as usize];
            tree_at.wanted = true;
            tree_at.news |= anew;
            // Without fallback only discovery notices new resources, and matched jobs may wait for them.
            tree_at.rematch |= anew && !run.config.algorithms.fallback;
            self.consider_discovery(tree, run);
        } else if first || anew {
            self.send_up(at, Payload::Rfjm { anew }, run);
        }
    }

    /// Starts discovery if there is anything new to discover and a request for it: an RFJM, or an RFC through a
    /// channel for which the tree has no matched unstarted job.
    pub(crate) fn consider_discovery(&mut self, tree: u32, run: &mut impl Run) {
        let Some(&root) = self.forest.roots.get(tree as usize) else { return };
        let at = &self.roots[tree as usize];
        let state = &self.states[root.index()];
        let rematch = at.rematch && at.unstarted > 0;
        // Without news the result would be that of the last discovery, and every RFJM would start another: a
        // livelock.
        if at.discovering || !at.news || at.raw.is_empty() && !rematch {
            return;
        }
        // An RFC is a second reason to discover. It may come through a channel whose jobs have all been started while raw jobs
        // that fit it wait: no RFJM is sent then, since a channel exists. Jobs on their way back for a branch are waited
        // for first.
        let starved = |channel: &Channel| {
            let waiting = channel.branches.iter().filter(|branch| branch.waits());
            channel.branches.iter().all(|branch| branch.awaiting == 0)
                && waiting.clone().any(|branch| state.unstarted_of(branch.wants) == 0)
        };
        if at.wanted || state.marked_branches > 0 && state.channels.iter().any(starved) {
            self.discover(tree, root, run);
        }
    }

    /// Starts a discovery: message by message, or only counted if its outcome is known beforehand.
    fn discover(&mut self, tree: u32, root: SchedulerId, run: &mut impl Run) {
        let at = &mut self.roots[tree as usize];
        // Jobs that arrive from now on are raw jobs of the next discovery.
        at.batch = std::mem::take(&mut at.raw);
        let known = at.batch.iter().fold(at.known, |all, job| all.with(Bag::of(run.jobs.get(*job).class)));
        let new = known != at.known || at.stale || !run.shortcuts;
        (at.known, at.discovering, at.news, at.stale, at.rematch) = (known, true, false, false, false);
        at.round += 1;
        let (round, jobs) = (at.round, narrow(at.batch.len()));
        run.counts.discoveries += 1;
        if new {
            self.passes_discovery(root, (round, known, jobs), run);
            return;
        }
        // Nothing new: one Discover goes down every edge and one Bags comes up, and the last arrives after twice the
        // latency to the deepest leaf.
        let edges = u64::from(self.forest.edges[tree as usize]);
        let deepest = self.forest.deepest[tree as usize];
        if run.is_observed() {
            self.show_discovery(tree, (round, known, jobs), run);
        } else {
            run.counts.count_many(Kind::Discover, edges);
            run.counts.count_many(Kind::Bags, edges);
        }
        run.post_in(deepest * 2, Event::Discovered(tree));
    }

    /// Shows the observer the messages of a discovery that finds nothing new.
    fn show_discovery(&mut self, tree: u32, (round, known, jobs): (u32, Bag, u32), run: &mut impl Run) {
        let root = self.forest.roots[tree as usize].index();
        let count = self.forest.edges[tree as usize] as usize + 1;
        // Time for each scheduler: on the way down, of the block's arrival; on the way up, of the last bag's. Schedulers are
        // numbered level by level, so parents come before their children on the way down, and after them on the way up.
        let mut came = vec![run.now(); count];
        let ends = |trees: &Self, child: usize| {
            let parent = trees.forest.schedulers[child].parent.expect("only the first is a root");
            (parent.index() - root, Address::Scheduler(parent), Address::Scheduler(SchedulerId(narrow(child))))
        };
        for child in root + 1..root + count {
            let (place, parent, address) = ends(self, child);
            let (sent, latency) = (came[place], run.latency(parent, address));
            came[child - root] = sent + latency;
            run.record(sent, latency, parent, address, &Payload::Discover { round, known, jobs });
        }
        for child in (root + 1..root + count).rev() {
            let (place, parent, address) = ends(self, child);
            let (sent, latency) = (came[child - root], run.latency(parent, address));
            came[place] = came[place].max(sent + latency);
            let scheduler = SchedulerId(narrow(child));
            let (bags, wanting) = (self.own_bags(scheduler), self.is_wanting(scheduler));
            run.record(sent, latency, address, parent, &Payload::Bags { round, bags, wanting });
        }
    }

    /// Bags that a scheduler reports to its parent: those of its open channels, with the CPUs behind them.
    fn own_bags(&self, scheduler: SchedulerId) -> Vec<(Bag, u64)> {
        let at = &self.forest.schedulers[scheduler.index()];
        if at.is_leaf() {
            let channels = &self.leaves[at.site().index()].channels;
            channels.iter().map(|channel| (channel.bag, channel.power)).collect()
        } else {
            let open = self.states[scheduler.index()].channels.iter().filter(|channel| channel.power > 0);
            open.map(|channel| (channel.bag, channel.power)).collect()
        }
    }

    /// Returns true if an RFJM has gone up on behalf of a server that still wants jobs.
    fn is_wanting(&self, scheduler: SchedulerId) -> bool {
        let at = &self.forest.schedulers[scheduler.index()];
        if at.is_leaf() { self.leaves[at.site().index()].wanting } else { self.states[scheduler.index()].wanting }
    }

    /// Passes the raw jobs on to all children, and waits for their bags.
    pub(crate) fn passes_discovery(
        &mut self,
        at: SchedulerId,
        (round, known, jobs): (u32, Bag, u32),
        run: &mut impl Run,
    ) {
        let children = narrow(self.forest.schedulers[at.index()].degree());
        let state = &mut self.states[at.index()];
        (state.round, state.awaited_bags, state.wanting) = (round, children, false);
        for child in 0..children {
            self.send_down(at, child, Payload::Discover { round, known, jobs }, run);
        }
    }

    /// Receives bags from a child: in answer to a discovery, or because its resources have changed.
    pub(crate) fn bags(
        &mut self,
        from: SchedulerId,
        at: SchedulerId,
        (round, wanting): (u32, bool),
        list: Vec<(Bag, u64)>,
        run: &mut impl Run,
    ) {
        let slot = self.forest.schedulers[from.index()].slot;
        // Compared before and after, power included: a parent whose sums are right needs no message.
        let before = self.own_bags(at);
        let bound = self.bind(at, slot as usize, &list, run);
        // Ports go to the child only for new bags: a channel that stays keeps its port, and its RFC.
        if !bound.is_empty() {
            self.send_down(at, slot, Payload::Ports { bags: bound }, run);
        }
        let changed = self.own_bags(at) != before;
        // Round 0 is a change of resources, reported at once. Within a discovery the report to the parent follows after the
        // bags of all children.
        if round == 0 {
            if changed {
                self.channels_changed(at, run);
            }
        } else if changed {
            self.return_unreachable(at, run);
        }
        let state = &mut self.states[at.index()];
        if round > 0 {
            assert_eq!(round, state.round, "a discovery ends before the next one begins");
            state.wanting |= wanting;
            state.awaited_bags -= 1;
            if state.awaited_bags == 0 {
                self.all_bags_in(at, run);
            }
        }
        self.serve(at, run);
    }

    fn all_bags_in(&mut self, at: SchedulerId, run: &mut impl Run) {
        if self.is_root(at) {
            let tree = self.tree_of(at);
            self.roots[tree as usize].wanted = self.states[at.index()].wanting;
            self.discovered(tree, run);
        } else {
            let round = self.states[at.index()].round;
            self.tell_own_bags(at, round, run);
        }
    }

    pub(crate) fn tell_own_bags(&mut self, at: SchedulerId, round: u32, run: &mut impl Run) {
        // A channel that is no longer reported to the parent is broken: a later channel of the same bag is a new one.
        self.states[at.index()].channels.retain(|channel| channel.power > 0);
        let (bags, wanting) = (self.own_bags(at), self.is_wanting(at));
        self.send_up(at, Payload::Bags { round, bags, wanting }, run);
    }

    /// Binds a branch of the channel of the same bag to each of a child's bags, and unbinds the others. Returns the bags that
    /// were bound just now, whose ports the child needs.
    fn bind(&mut self, at: SchedulerId, slot: usize, bags: &[(Bag, u64)], run: &mut impl Run) -> Vec<Bag> {
        let state = &mut self.states[at.index()];
        let children = state.delegated.by_child.len();
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
        let mut unmarked = 0;
        let mut homeless = Vec::new();
        for channel in &mut state.channels {
            let branch = &mut channel.branches[slot];
            if branch.power > 0 && !bags.iter().any(|(bag, _)| *bag == channel.bag) {
                channel.power -= branch.power;
                unmarked += u32::from(branch.marked > 0);
                homeless.append(&mut branch.collected);
                *branch = Branch::default();
            }
        }
        // Invariant: `marked_branches` counts branches with a mark, and `in_transit` jobs that are collected or
        // cancelled; both follow the branches.
        state.marked_branches -= unmarked;
        state.in_transit -= narrow(homeless.len());
        for job in homeless {
            self.add_unassigned(at, job, run);
        }
        bound
    }

    /// Receives the ports of bound channels: RFCs may go up through them.
    pub(crate) fn ports(&mut self, at: SchedulerId, bags: &[Bag], run: &mut impl Run) {
        for channel in &mut self.states[at.index()].channels {
            channel.uplink.port |= bags.contains(&channel.bag);
        }
        self.serve(at, run);
    }

    /// Ends a discovery: raw jobs in the bag of some channel become unassigned, others stay raw.
    pub(crate) fn discovered(&mut self, tree: u32, run: &mut impl Run) {
        let root = self.forest.roots[tree as usize];
        self.roots[tree as usize].discovering = false;
        let mut batch = std::mem::take(&mut self.roots[tree as usize].batch);
        let state = &mut self.states[root.index()];
        state.channels.retain(|channel| channel.power > 0);
        // Jobs matched earlier whose channel is gone are without a channel too.
        let reach = state.reach();
        let unreachable = self.states[root.index()].take_unreachable(reach);
        self.roots[tree as usize].unstarted -= narrow(unreachable.len());
        batch.extend(unreachable);
        self.sort_out(root, batch, run);
        // Marked branches first: only the jobs they leave, and news since, can require another discovery.
        self.serve(root, run);
        self.consider_discovery(tree, run);
    }

    /// Makes jobs in the bag of a channel unassigned, and others raw; called at a root.
    pub(crate) fn sort_out(&mut self, root: SchedulerId, jobs: Vec<JobId>, run: &mut impl Run) {
        let tree = self.tree_of(root);
        let reach = self.states[root.index()].reach();
        let mut stuck = Vec::new();
        for job in jobs {
            if reach.holds(run.jobs.get(job).class) {
                self.roots[tree as usize].unstarted += 1;
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
        let raw = &mut self.roots[tree as usize].raw;
        // Keeps the oldest first.
        stuck.append(raw);
        *raw = stuck;
    }
}
