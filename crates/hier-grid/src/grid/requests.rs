//! Jobs enter the grid: work stations or a log submit them, and requests go to roots or peers.

use super::{Event, Grid, Source, Tree};
use crate::config::RequestsTo;
use crate::jobs::{Next, Submission, Ticket, Work};
use crate::message::{Address, Kind, Witness};
use crate::post::{Body, Letter};
use crate::tree::SchedulerId;
use crate::world::{Requirement, StationId, narrow};
use sim_core::{Context, Fact, Job, JobId, Rejection};

/// How often a request may be forwarded ("P2P System").
pub(crate) const HOPS: u32 = 1000;

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    /// A job enters the grid.
    pub(super) fn submit(&mut self, ticket: Ticket, job: Job, cx: &mut impl Context<Event>) {
        let station = ticket.station;
        let id = self.jobs.push(ticket);
        assert_eq!(id, job.id, "jobs are numbered in order of submission, without gaps");
        self.tally.submitted += 1;
        cx.tell(Fact::Submitted(job));
        self.request(station, id, cx);
    }

    /// A work station sends its request to its entry: the root of its tree, or its peer.
    pub(super) fn request(&mut self, station: StationId, job: JobId, cx: &mut impl Context<Event>) {
        let to = match &self.peers {
            Some(peers) => Address::Server(peers.entry(&self.world, station)),
            None => {
                let leaf = self.forest.leaf_of_site[self.world.site_of(station).index()];
                let tree = self.forest.schedulers[leaf.index()].tree;
                self.jobs.get_mut(job).copies += 1;
                Address::Scheduler(self.forest.roots[tree as usize])
            }
        };
        self.send(Address::Station(station), to, Body::Request { job, hops: HOPS }, cx);
    }

    /// A work station makes its next job and submits it.
    pub(super) fn submit_from(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        let now = cx.now();
        let ticket = stations.make(station, now);
        let mean_cpus = self.mean_cpus;
        let mut job = Job::new(self.jobs.next(), now, 1, ticket.runtime(mean_cpus, 1.0));
        job.origin = Some(self.world.site_of(station));
        job.request.estimate = Some(ticket.estimate(mean_cpus, 1.0));
        self.submit(ticket, job, cx);
    }

    /// What a work station does when it has no job in the grid.
    pub(super) fn continue_from(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        match stations.next(station) {
            Next::Submit => self.submit_from(station, cx),
            Next::Think(span) => {
                cx.post_in(span, Event::Due(station));
            }
            Next::Rest => {}
        }
    }

    pub(super) fn due(&mut self, station: StationId, cx: &mut impl Context<Event>) {
        let Source::Stations(stations) = &mut self.source else { return };
        if stations.left() == 0 {
            return;
        }
        if stations.happens(station) {
            self.submit_from(station, cx);
        } else {
            self.continue_from(station, cx);
        }
    }

    /// Takes the next submission from outside.
    pub(super) fn pull(&mut self, cx: &mut impl Context<Event>) {
        let Source::Outside { submissions, next } = &mut self.source else { return };
        *next = submissions.next();
        if let Some(next) = next {
            cx.post_at(next.job.submit, Event::Submit);
        }
    }

    /// A job from outside is submitted.
    pub(super) fn submit_next(&mut self, cx: &mut impl Context<Event>) {
        let Source::Outside { next, .. } = &mut self.source else { return };
        let Some(Submission { job, station, system, input, output }) = next.take() else { return };
        self.pull(cx);
        let requirement = Requirement { system, cpus: job.request.processors };
        let class = self.world.class_of(requirement);
        let (estimate, actual) = (job.request.estimate.unwrap_or(job.runtime).as_secs_f64(), job.runtime.as_secs_f64());
        let work = if self.divides {
            let processors = f64::from(job.request.processors);
            Work::Divisible { estimate: processors * estimate, actual: processors * actual }
        } else {
            Work::Rigid { estimate, actual }
        };
        let ticket = Ticket {
            station,
            class: class.unwrap_or(0),
            started: false,
            taken: false,
            done: false,
            shared: false,
            copies: 0,
            input,
            output,
            work,
            submit: job.submit,
        };
        if class.is_some() {
            self.submit(ticket, job, cx);
        } else {
            cx.tell(Fact::Submitted(job));
            cx.tell(Fact::Rejected { job: job.id, reason: Rejection::TooWide });
            let id = self.jobs.push(Ticket { done: true, ..ticket });
            assert_eq!(id, job.id, "jobs are numbered in order of submission, without gaps");
            self.jobs.forget();
            self.tally.rejected += 1;
        }
    }

    /// A request comes in at the root of its home tree, which keeps it and forwards it to its peers.
    pub(super) fn root_request(&mut self, root: SchedulerId, job: JobId, cx: &mut impl Context<Event>) {
        if self.config.readings.requests_to == RequestsTo::AllTrees || !self.has_servers(root) {
            self.ask_other_trees(root, job, cx);
        }
        self.root_copy(root, job, cx);
    }

    /// Whether any server stands in the tree.
    pub(super) fn has_servers(&self, root: SchedulerId) -> bool {
        let sites = &self.forest.schedulers[root.index()].sites;
        self.world.first_server[sites.start as usize] < self.world.first_server[sites.end as usize]
    }

    /// Forwards a request to the other roots, unless that has been done.
    pub(super) fn ask_other_trees(&mut self, root: SchedulerId, job: JobId, cx: &mut impl Context<Event>) {
        if self.trees.len() > 1 && !std::mem::replace(&mut self.jobs.get_mut(job).shared, true) {
            self.forward_to_roots(root, job, cx);
        }
    }

    /// Every root gets one copy; a second is dropped. Nothing that the roots know bears on who forwards what to whom, so
    /// only the first copies are events.
    pub(super) fn forward_to_roots(&mut self, root: SchedulerId, job: JobId, cx: &mut impl Context<Event>) {
        let tree = self.forest.schedulers[root.index()].tree;
        let roots = &mut self.roots;
        let reach = roots.reach(tree, HOPS);
        let (order, forwards) = (reach.order.clone(), reach.forwards);
        if W::LOOKS {
            let mut copies = Vec::new();
            roots.flood(tree, HOPS, |_| true, |copy| copies.push(copy));
            for copy in copies {
                let address = |tree: u32| Address::Scheduler(self.forest.roots[tree as usize]);
                let body = Body::Forward { job, hops: copy.hops };
                self.note(cx.now() + copy.sent, copy.hop, address(copy.from), address(copy.to), body);
            }
        } else {
            self.tally.count_many(Kind::Forward, forwards);
        }
        self.jobs.get_mut(job).copies += narrow(order.len() - 1);
        for &(to, latency) in &order[1..] {
            let to = Address::Scheduler(self.forest.roots[to as usize]);
            let body = Body::Forward { job, hops: HOPS };
            self.dispatch(Letter { from: Address::Scheduler(root), to, body }, latency, cx);
        }
    }

    /// A copy of a request comes in at a root.
    pub(super) fn root_copy(&mut self, root: SchedulerId, job: JobId, cx: &mut impl Context<Event>) {
        if !self.has_servers(root) {
            // Nobody here would ever ask for it.
            self.jobs.drop_copy(job);
            return;
        }
        let tree = self.forest.schedulers[root.index()].tree;
        let Tree { raw, news, .. } = &mut self.trees[tree as usize];
        raw.push(job);
        *news = true;
        self.consider_discovery(tree, cx);
    }
}
