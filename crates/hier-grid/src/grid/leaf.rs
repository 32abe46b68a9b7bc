//! The LGS of a site: it matches jobs with servers, asks for work, and gives the oldest queued job to an idle server.

use super::{Event, Grid, Phase};
use crate::config::Bags as BagRule;
use crate::jobs::Submission;
use crate::message::{Address, Reason, Witness};
use crate::post::{Body, Handle};
use crate::queue::Queue;
use crate::tree::SchedulerId;
use crate::world::{Bag, ServerId, narrow};
use sim_core::{Context, SiteId};

/// What an LGS knows.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Classes of all jobs that it has been shown in discoveries.
    pub(super) known: Bag,
    pub(super) channels: Vec<LeafChannel>,
    /// Jobs pushed here, by class.
    pub(super) queues: Vec<Queue>,
    pub(super) queued: u32,
    tickets: u32,
    /// Whether an RFJM has gone up for a server that no known job matches.
    pub(super) wanting: bool,
    /// Whether resources have changed since the last discovery.
    pub(super) changed: bool,
}

/// A channel of an LGS: the jobs of its bag find servers here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct LeafChannel {
    pub(super) bag: Bag,
    pub(super) power: u64,
    pub(super) port: bool,
    /// The RFC that is out, by number; 0 if none is.
    pub(super) ticket: u32,
    /// What it asks for.
    pub(super) asked: Bag,
}

impl Leaf {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            known: Bag::EMPTY,
            channels: Vec::new(),
            queues: vec![Queue::default(); classes],
            queued: 0,
            tickets: 0,
            wanting: false,
            changed: false,
        }
    }

    /// Forgets what it has asked its parent for.
    pub(super) fn forget_requests(&mut self) {
        for channel in &mut self.channels {
            (channel.ticket, channel.asked) = (0, Bag::EMPTY);
        }
        (self.wanting, self.changed) = (false, true);
    }

    fn take_oldest(&mut self, bag: Bag) -> Option<sim_core::JobId> {
        if self.queued == 0 {
            return None;
        }
        let heads = bag.classes().filter_map(|class| Some((self.queues[usize::from(class)].oldest()?, class)));
        let (_, class) = heads.min()?;
        self.queued -= 1;
        self.queues[usize::from(class)].pop_oldest()
    }
}

impl<W: Witness, L: Iterator<Item = Submission>> Grid<W, L> {
    fn leaf_at(&self, site: SiteId) -> SchedulerId {
        self.forest.leaf_of_site[site.index()]
    }

    fn site_of_leaf(&self, leaf: SchedulerId) -> SiteId {
        self.forest.schedulers[leaf.index()].site()
    }

    /// The bag whose channel a server of this site asks through.
    fn bag_of_server(&self, site: SiteId, server: u32) -> Bag {
        let known = self.leaves[site.index()].known;
        match self.config.readings.bags {
            BagRule::PerOs => self.machines[server as usize].bag.and(known),
            BagRule::PerSite => {
                let servers = self.world.servers_at(site);
                servers.fold(Bag::EMPTY, |all, server| all.with(self.machines[server as usize].bag)).and(known)
            }
        }
    }

    /// At system start an LGS has servers and knows no jobs: it asks for job matching.
    pub(super) fn leaf_opens(&mut self, site: SiteId, cx: &mut impl Context<Event>) {
        if !self.world.servers_at(site).is_empty() {
            self.ask_for_work(site, cx);
        }
    }

    /// Matches servers against known jobs: channels are made, kept or destroyed. Whether the set of bags has changed.
    ///
    /// A channel whose bag stays keeps its port and its RFC: else every discovery would have all requests sent again.
    pub(super) fn rematch(&mut self, site: SiteId) -> bool {
        let mut channels: Vec<LeafChannel> = Vec::new();
        for server in self.world.servers_at(site) {
            let bag = self.bag_of_server(site, server);
            let power = u64::from(self.machines[server as usize].cpus);
            if bag.is_empty() {
                continue;
            }
            match channels.iter_mut().find(|channel| channel.bag == bag) {
                Some(channel) => channel.power += power,
                None => channels.push(LeafChannel { bag, power, port: false, ticket: 0, asked: Bag::EMPTY }),
            }
        }
        channels.sort_by_key(|channel| channel.bag);
        let old = &mut self.leaves[site.index()].channels;
        let changed = !old.iter().map(|channel| channel.bag).eq(channels.iter().map(|channel| channel.bag));
        for channel in &mut channels {
            if let Some(before) = old.iter().find(|before| before.bag == channel.bag) {
                (channel.port, channel.ticket, channel.asked) = (before.port, before.ticket, before.asked);
            }
        }
        *old = channels;
        changed
    }

    /// Tells the parent its bags.
    pub(super) fn tell_bags(&mut self, site: SiteId, round: u32, cx: &mut impl Context<Event>) {
        let leaf = &self.leaves[site.index()];
        let mut bags = self.pools.bags.open();
        bags.extend(leaf.channels.iter().map(|channel| (channel.bag, channel.power)));
        let wanting = leaf.wanting;
        let bags = self.pools.bags.keep(bags);
        self.send_up(self.leaf_at(site), Body::Bags { round, bags, wanting }, cx);
    }

    /// Discovery reaches the LGS.
    pub(super) fn leaf_discovers(
        &mut self,
        leaf: SchedulerId,
        round: u32,
        known: Bag,
        _jobs: u32,
        cx: &mut impl Context<Event>,
    ) {
        let site = self.site_of_leaf(leaf);
        self.leaves[site.index()].known = known;
        self.leaves[site.index()].changed = false;
        self.rematch(site);
        self.leaves[site.index()].wanting = self.unmatched_server(site);
        self.tell_bags(site, round, cx);
        self.fill(site, cx);
    }

    /// Whether an idle server has no channel to ask through.
    fn unmatched_server(&self, site: SiteId) -> bool {
        let channels = &self.leaves[site.index()].channels;
        self.world.servers_at(site).any(|server| {
            let bag = self.bag_of_server(site, server);
            self.machines[server as usize].phase == Phase::Idle && !channels.iter().any(|channel| channel.bag == bag)
        })
    }

    pub(super) fn leaf_ports(&mut self, leaf: SchedulerId, bags: Handle, cx: &mut impl Context<Event>) {
        let site = self.site_of_leaf(leaf);
        let bags = self.pools.bags.take(bags);
        for channel in &mut self.leaves[site.index()].channels {
            channel.port |= bags.iter().any(|(bag, _)| *bag == channel.bag);
        }
        self.pools.bags.recycle(bags);
        self.ask_for_work(site, cx);
    }

    /// A block of jobs comes in.
    pub(super) fn leaf_block(
        &mut self,
        leaf: SchedulerId,
        bag: Bag,
        ticket: u32,
        jobs: Handle,
        cx: &mut impl Context<Event>,
    ) {
        let site = self.site_of_leaf(leaf);
        let jobs = self.pools.jobs.take(jobs);
        let Self { leaves, jobs: tickets, tally, .. } = self;
        let at = &mut leaves[site.index()];
        for channel in &mut at.channels {
            if channel.bag == bag && channel.ticket == ticket {
                (channel.ticket, channel.asked) = (0, Bag::EMPTY);
            }
        }
        let mut twins = Vec::new();
        for &job in &jobs {
            if !at.queues[usize::from(tickets.get(job).class)].insert(job) {
                twins.push(job);
            }
        }
        at.queued += narrow(jobs.len() - twins.len());
        tally.received += jobs.len() as u64;
        for job in twins {
            self.merge_copies(leaf, job);
        }
        self.pools.jobs.recycle(jobs);
        self.return_incomputable(site, cx);
        self.fill(site, cx);
    }

    /// Jobs are wanted back: those that are still queued go, the others have gone to a server.
    pub(super) fn leaf_cancels(
        &mut self,
        leaf: SchedulerId,
        (by, number, reason): (SchedulerId, u32, Reason),
        jobs: Handle,
        cx: &mut impl Context<Event>,
    ) {
        let site = self.site_of_leaf(leaf);
        let wanted = self.pools.wishes.take(jobs);
        let mut jobs = self.pools.jobs.open();
        let asked = narrow(wanted.len());
        let at = &mut self.leaves[site.index()];
        jobs.extend(wanted.iter().filter(|job| at.queues[usize::from(self.jobs.get(**job).class)].remove(**job)));
        at.queued -= narrow(jobs.len());
        for &job in &wanted {
            self.jobs.drop_copy(job);
        }
        self.pools.wishes.recycle(wanted);
        let jobs = self.pools.jobs.keep(jobs);
        self.send_up(leaf, Body::Cancelled { by, number, reason, asked, jobs }, cx);
    }

    /// Gives queued jobs to idle servers, then asks for more if a server is still idle.
    pub(super) fn fill(&mut self, site: SiteId, cx: &mut impl Context<Event>) {
        if self.is_down(self.leaf_at(site)) {
            return;
        }
        let mut idle = false;
        for server in self.world.servers_at(site) {
            if self.machines[server as usize].phase == Phase::Idle {
                idle |= !self.give(site, server, cx);
            }
        }
        if idle {
            self.ask_for_work(site, cx);
        }
    }

    /// A server has become idle.
    pub(super) fn refill(&mut self, server: ServerId, cx: &mut impl Context<Event>) {
        let site = self.machines[server.index()].site;
        if self.is_down(self.leaf_at(site)) {
            return;
        }
        if !self.give(site, server.0, cx) {
            self.ask_for_work(site, cx);
        }
    }

    /// Gives the oldest queued job that it can run to an idle server. False if there is none.
    fn give(&mut self, site: SiteId, server: u32, cx: &mut impl Context<Event>) -> bool {
        let bag = self.machines[server as usize].bag;
        let Some(job) = self.leaves[site.index()].take_oldest(bag) else { return false };
        self.send_up(self.leaf_at(site), Body::Started { job }, cx);
        self.offer(ServerId(server), job, cx);
        true
    }

    /// Sends an RFC through each channel that has an idle server and no RFC out; an RFJM if a server has no channel.
    fn ask_for_work(&mut self, site: SiteId, cx: &mut impl Context<Event>) {
        let leaf = self.leaf_at(site);
        for server in self.world.servers_at(site) {
            if self.machines[server as usize].phase != Phase::Idle {
                continue;
            }
            let bag = self.bag_of_server(site, server);
            let runs = self.machines[server as usize].bag;
            let at = &mut self.leaves[site.index()];
            let body = match at.channels.iter_mut().find(|channel| channel.bag == bag) {
                Some(channel) if channel.port && !runs.and(bag).without(channel.asked).is_empty() => {
                    if channel.ticket == 0 {
                        at.tickets += 1;
                        channel.ticket = at.tickets;
                    }
                    channel.asked = channel.asked.with(runs.and(bag));
                    Body::Rfc { bag, wants: channel.asked, ticket: channel.ticket }
                }
                None if !at.wanting => {
                    at.wanting = true;
                    Body::Rfjm { anew: at.changed }
                }
                _ => continue,
            };
            self.send_up(leaf, body, cx);
        }
    }
}

impl Leaf {
    /// Every queued job.
    pub(super) fn jobs(&self) -> impl Iterator<Item = sim_core::JobId> {
        self.queues.iter().flat_map(Queue::iter)
    }
}

/// The server's side of an address.
pub(super) const fn server(address: Address) -> ServerId {
    match address {
        Address::Server(server) => server,
        Address::Station(_) | Address::Scheduler(_) => panic!("only servers offer"),
    }
}
