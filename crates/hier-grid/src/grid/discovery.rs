//! Resource Discovery Stage: RFJM, raw jobs, bags, channels and their ports.
//!
//! The first discoveries make channels; those are messages that pass from scheduler to scheduler. Later ones nearly
//! always find what is there already: the same servers match the same classes of jobs. Where that is known beforehand
//! (no new class, no change of a server since the last discovery) nothing that happens on the way can bear on the result, so
//! the messages are counted and shown to the witness, and one event stands for their end.

use super::{Event, Grid};
use crate::desk::{Branch, Channel};
use crate::jobs::Submission;
use crate::message::{Address, Kind, Witness};
use crate::post::{Body, Handle};
use crate::tree::SchedulerId;
use crate::world::{Bag, narrow};
use sim_core::{Context, JobId, Time};

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    fn is_root(&self, scheduler: SchedulerId) -> bool {
        self.forest.schedulers[scheduler.index()].parent.is_none()
    }

    fn tree_of(&self, scheduler: SchedulerId) -> u32 {
        self.forest.schedulers[scheduler.index()].tree
    }

    /// An RFJM comes in: one goes on for all children. At the root it waits for raw jobs.
    pub(super) fn rfjm(&mut self, at: SchedulerId, anew: bool, cx: &mut impl Context<Event>) {
        let desk = &mut self.desks[at.index()];
        let first = !std::mem::replace(&mut desk.wanting, true);
        if self.is_root(at) {
            let tree = self.tree_of(at);
            let tree_at = &mut self.trees[tree as usize];
            tree_at.wanted = true;
            tree_at.news |= anew;
            // Without fallback it is discovery alone that notices new resources, and matched jobs may wait for them.
            tree_at.rematch |= anew && !self.config.algorithms.fallback;
            self.consider_discovery(tree, cx);
        } else if first || anew {
            self.send_up(at, Body::Rfjm { anew }, cx);
        }
    }

    /// Starts discovery if there is anything new to discover and somebody waits for it: an RFJM, or an RFC through a
    /// channel for which the tree has no matched unstarted job.
    pub(super) fn consider_discovery(&mut self, tree: u32, cx: &mut impl Context<Event>) {
        let Some(&root) = self.forest.roots.get(tree as usize) else { return };
        let at = &self.trees[tree as usize];
        let desk = &self.desks[root.index()];
        let rematch = at.rematch && at.unstarted > 0;
        if at.discovering || !at.news || at.raw.is_empty() && !rematch {
            return;
        }
        let starved = |channel: &Channel| {
            let waiting = channel.branches.iter().filter(|branch| branch.waits());
            channel.branches.iter().all(|branch| branch.awaiting == 0)
                && waiting.clone().any(|branch| desk.unstarted_of(branch.wants) == 0)
        };
        if at.wanted || desk.marks > 0 && desk.channels.iter().any(starved) {
            self.discover(tree, root, cx);
        }
    }

    fn discover(&mut self, tree: u32, root: SchedulerId, cx: &mut impl Context<Event>) {
        let at = &mut self.trees[tree as usize];
        at.batch = std::mem::take(&mut at.raw);
        let known = at.batch.iter().fold(at.known, |all, job| all.with(Bag::of(self.jobs.get(*job).class)));
        // Where messages may fail, nothing is known beforehand.
        let new = known != at.known || at.stale || self.literal || self.transport.is_some();
        (at.known, at.discovering, at.news, at.stale, at.rematch) = (known, true, false, false, false);
        at.round += 1;
        let (round, jobs) = (at.round, narrow(at.batch.len()));
        self.tally.discoveries += 1;
        if new {
            self.passes_discovery(root, round, known, jobs, cx);
            return;
        }
        let edges = u64::from(self.forest.edges[tree as usize]);
        let deepest = self.forest.deepest[tree as usize];
        if W::LOOKS {
            self.show_discovery(tree, (round, known, jobs), cx.now());
        } else {
            self.tally.count_many(Kind::Discover, edges);
            self.tally.count_many(Kind::Bags, edges);
        }
        cx.post_in(deepest * 2, Event::Discovered(tree));
    }

    /// Shows the witness the messages of a discovery that finds nothing new.
    fn show_discovery(&mut self, tree: u32, (round, known, jobs): (u32, Bag, u32), now: Time) {
        let root = self.forest.roots[tree as usize].index();
        let count = self.forest.edges[tree as usize] as usize + 1;
        let members = root + 1..root + count;
        // On the way down: when the block comes in. On the way up: when the last bag has.
        let mut came = vec![now; count];
        let hop = |grid: &Self, child: usize| {
            let parent = grid.forest.schedulers[child].parent.expect("only the first is a root");
            (parent, grid.latency(Address::Scheduler(parent), Address::Scheduler(SchedulerId(narrow(child)))))
        };
        for child in members.clone() {
            let (parent, latency) = hop(self, child);
            let sent = came[parent.index() - root];
            came[child - root] = sent + latency;
            let body = Body::Discover { round, known, jobs };
            self.note(sent, latency, Address::Scheduler(parent), Address::Scheduler(SchedulerId(narrow(child))), body);
        }
        for child in members.rev() {
            let (parent, latency) = hop(self, child);
            let sent = came[child - root];
            came[parent.index() - root] = came[parent.index() - root].max(sent + latency);
            let scheduler = SchedulerId(narrow(child));
            let bags = self.own_bags(scheduler);
            let wanting = self.is_wanting(scheduler);
            let bags = self.pools.bags.keep(bags);
            let body = Body::Bags { round, bags, wanting };
            self.note(sent, latency, Address::Scheduler(scheduler), Address::Scheduler(parent), body);
            let bags = self.pools.bags.take(bags);
            self.pools.bags.recycle(bags);
        }
    }

    fn own_bags(&self, scheduler: SchedulerId) -> Vec<(Bag, u64)> {
        let at = &self.forest.schedulers[scheduler.index()];
        if at.is_leaf() {
            let channels = &self.leaves[at.site().index()].channels;
            channels.iter().map(|channel| (channel.bag, channel.power)).collect()
        } else {
            let open = self.desks[scheduler.index()].channels.iter().filter(|channel| channel.power > 0);
            open.map(|channel| (channel.bag, channel.power)).collect()
        }
    }

    fn is_wanting(&self, scheduler: SchedulerId) -> bool {
        let at = &self.forest.schedulers[scheduler.index()];
        if at.is_leaf() { self.leaves[at.site().index()].wanting } else { self.desks[scheduler.index()].wanting }
    }

    /// A scheduler passes the raw jobs on to all children, and waits for their bags.
    pub(super) fn passes_discovery(
        &mut self,
        at: SchedulerId,
        round: u32,
        known: Bag,
        jobs: u32,
        cx: &mut impl Context<Event>,
    ) {
        let children = narrow(self.forest.schedulers[at.index()].degree());
        let desk = &mut self.desks[at.index()];
        (desk.round, desk.silent, desk.wanting) = (round, children, false);
        for child in 0..children {
            self.send_down(at, child, Body::Discover { round, known, jobs }, cx);
        }
    }

    /// Bags come in from a child: in answer to a discovery, or because its resources have changed.
    pub(super) fn bags(
        &mut self,
        from: SchedulerId,
        at: SchedulerId,
        round: u32,
        bags: Handle,
        wanting: bool,
        cx: &mut impl Context<Event>,
    ) {
        let slot = self.forest.schedulers[from.index()].slot;
        let list = self.pools.bags.take(bags);
        let before = self.own_bags(at);
        let bound = self.bind(at, slot as usize, &list);
        self.pools.bags.recycle(list);
        if !bound.is_empty() {
            let bags = self.pools.bags.keep(bound);
            self.send_down(at, slot, Body::Ports { bags }, cx);
        }
        let changed = self.own_bags(at) != before;
        if round == 0 {
            if changed {
                self.channels_changed(at, cx);
            }
        } else if changed {
            self.return_unreachable(at, cx);
        }
        let desk = &mut self.desks[at.index()];
        if round > 0 && round == desk.round {
            desk.wanting |= wanting;
            desk.silent -= 1;
            if desk.silent == 0 {
                self.all_bags_in(at, cx);
            }
        }
        self.serve(at, cx);
    }

    /// All children have answered: the scheduler tells its parent, or the root ends the discovery.
    fn all_bags_in(&mut self, at: SchedulerId, cx: &mut impl Context<Event>) {
        if self.is_root(at) {
            let tree = self.tree_of(at);
            self.trees[tree as usize].wanted = self.desks[at.index()].wanting;
            self.discovered(tree, cx);
        } else {
            let round = self.desks[at.index()].round;
            self.tell_own_bags(at, round, cx);
        }
    }

    pub(super) fn tell_own_bags(&mut self, at: SchedulerId, round: u32, cx: &mut impl Context<Event>) {
        // A channel that the parent is not told of any more is broken: should it come again it is another one.
        self.desks[at.index()].channels.retain(|channel| channel.power > 0);
        let bags = self.own_bags(at);
        let wanting = self.desks[at.index()].wanting;
        let bags = self.pools.bags.keep(bags);
        self.send_up(at, Body::Bags { round, bags, wanting }, cx);
    }

    /// Binds a branch of the channel of the same bag to each of a child's bags, and unbinds the others. Returns the bags that were bound just now: the child must be told their ports.
    fn bind(&mut self, at: SchedulerId, slot: usize, bags: &[(Bag, u64)]) -> Vec<(Bag, u64)> {
        let root = self.is_root(at);
        let desk = &mut self.desks[at.index()];
        let children = desk.books.children();
        let mut bound = Vec::new();
        for &(bag, power) in bags {
            if desk.channel(bag).is_none() {
                // A root has nobody to ask.
                let branches = vec![Branch::default(); children];
                desk.channels.push(Channel { bag, power: 0, port: root, ticket: 0, asked: Bag::EMPTY, branches });
                desk.channels.sort_by_key(|channel| channel.bag);
            }
            let channel = desk.channel(bag).expect("just made");
            if channel.branches[slot].power == 0 {
                bound.push((bag, power));
            }
            channel.power = channel.power - channel.branches[slot].power + power;
            channel.branches[slot].power = power;
        }
        let mut unmarked = 0;
        let mut homeless = Vec::new();
        for channel in &mut desk.channels {
            let branch = &mut channel.branches[slot];
            if branch.power > 0 && !bags.iter().any(|(bag, _)| *bag == channel.bag) {
                channel.power -= branch.power;
                unmarked += u32::from(branch.marked > 0);
                homeless.append(&mut branch.collected);
                *branch = Branch::default();
            }
        }
        desk.marks -= unmarked;
        desk.limbo -= narrow(homeless.len());
        for job in homeless {
            self.shelve(at, job);
        }
        bound
    }

    /// The parent has bound channels of this scheduler: RFCs may go up through them.
    pub(super) fn ports(&mut self, at: SchedulerId, bags: Handle, cx: &mut impl Context<Event>) {
        let bags = self.pools.bags.take(bags);
        for channel in &mut self.desks[at.index()].channels {
            channel.port |= bags.iter().any(|(bag, _)| *bag == channel.bag);
        }
        self.pools.bags.recycle(bags);
        self.serve(at, cx);
    }

    /// Discovery ends: raw jobs that some channel leads on are unassigned jobs now, others stay raw.
    pub(super) fn discovered(&mut self, tree: u32, cx: &mut impl Context<Event>) {
        let root = self.forest.roots[tree as usize];
        self.trees[tree as usize].discovering = false;
        let mut batch = std::mem::take(&mut self.trees[tree as usize].batch);
        let desk = &mut self.desks[root.index()];
        desk.channels.retain(|channel| channel.power > 0);
        // Jobs matched earlier whose channel has gone are without a channel too.
        let reach = desk.reach();
        let unreachable = self.desks[root.index()].take_unreachable(reach);
        self.trees[tree as usize].unstarted -= narrow(unreachable.len());
        batch.extend(unreachable);
        self.sort_out(root, batch, cx);
        self.serve(root, cx);
        self.consider_discovery(tree, cx);
    }

    /// At a root: jobs that a channel leads on become unassigned, others raw.
    pub(super) fn sort_out(&mut self, root: SchedulerId, jobs: Vec<JobId>, cx: &mut impl Context<Event>) {
        let tree = self.tree_of(root);
        let reach = self.desks[root.index()].reach();
        let mut stuck = Vec::new();
        for job in jobs {
            if reach.holds(self.jobs.get(job).class) {
                self.trees[tree as usize].unstarted += 1;
                self.shelve(root, job);
            } else {
                stuck.push(job);
            }
        }
        // Where requests go to the home tree alone (R8), others are asked once it has nothing that could run the job: grid
        // trees "serve as backups to each other".
        for job in &stuck {
            self.ask_other_trees(root, *job, cx);
        }
        let raw = &mut self.trees[tree as usize].raw;
        // The oldest first again.
        stuck.append(raw);
        *raw = stuck;
    }
}
