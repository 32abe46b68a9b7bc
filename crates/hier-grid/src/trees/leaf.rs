//! The LGS of a site: it matches jobs with servers, asks for work, and gives the oldest queued job to an idle server.

use super::Trees;
use crate::config::Bags as BagRule;
use crate::event::Event;
use crate::fabric::Fabric;
use crate::ids::{SchedulerId, ServerId, narrow};
use crate::leaf_state::LeafChannel;
use crate::message::{CompactPayload, Reason};
use crate::observer::MessageObserver;
use crate::pools::Handle;
use crate::world::Bag;
use sim_core::{Context, SiteId};

impl Trees {
    fn leaf_at(&self, site: SiteId) -> SchedulerId {
        self.forest.leaf_of_site[site.index()]
    }

    fn site_of_leaf(&self, leaf: SchedulerId) -> SiteId {
        self.forest.schedulers[leaf.index()].site()
    }

    /// The bag whose channel a server of this site asks through.
    fn bag_of_server(&self, site: SiteId, server: u32, fabric: &Fabric<impl MessageObserver>) -> Bag {
        let known = self.leaves[site.index()].known;
        // R15: one channel for each set of jobs that some server can run, or one for the site as a whole.
        match fabric.config.readings.bags {
            BagRule::PerOs => fabric.servers[server as usize].bag.and(known),
            BagRule::PerSite => {
                let servers = fabric.world.servers_at(site);
                servers.fold(Bag::EMPTY, |all, server| all.with(fabric.servers[server as usize].bag)).and(known)
            }
        }
    }

    /// At system start an LGS has servers and knows no jobs: it asks for job matching.
    pub(crate) fn leaf_opens(
        &mut self,
        site: SiteId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        // A site without servers has nothing to ask for, and its LGS answers discoveries with no bags.
        if !fabric.world.servers_at(site).is_empty() {
            self.ask_for_work(site, fabric, cx);
        }
    }

    /// Matches servers against known jobs: channels are made, kept or destroyed. Whether the set of bags has changed.
    ///
    /// A channel whose bag stays keeps its port and its RFC: else every discovery would have all requests sent again.
    pub(crate) fn rematch(&mut self, site: SiteId, fabric: &Fabric<impl MessageObserver>) -> bool {
        // Servers with the same bag share a channel: the paper joins "similar" bags.
        let mut channels: Vec<LeafChannel> = Vec::new();
        for server in fabric.world.servers_at(site) {
            let bag = self.bag_of_server(site, server, fabric);
            let power = u64::from(fabric.servers[server as usize].cpus);
            // No known job matches this server: it is what RFJMs are for.
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
        // Port and RFC live on with the bag, since the parent knows a channel by its bag.
        for channel in &mut channels {
            if let Some(before) = old.iter().find(|before| before.bag == channel.bag) {
                (channel.port, channel.ticket, channel.asked) = (before.port, before.ticket, before.asked);
            }
        }
        *old = channels;
        changed
    }

    /// Tells the parent its bags.
    pub(crate) fn tell_bags(
        &mut self,
        site: SiteId,
        round: u32,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        let leaf = &self.leaves[site.index()];
        let mut bags = fabric.pools.bags.open();
        bags.extend(leaf.channels.iter().map(|channel| (channel.bag, channel.power)));
        let wanting = leaf.wanting;
        let bags = fabric.pools.bags.keep(bags);
        self.send_up(self.leaf_at(site), CompactPayload::Bags { round, bags, wanting }, fabric, cx);
    }

    /// Discovery reaches the LGS.
    pub(crate) fn leaf_discovers(
        &mut self,
        leaf: SchedulerId,
        round: u32,
        known: Bag,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        let site = self.site_of_leaf(leaf);
        // Known classes before anything else: which channels exist depends on them.
        self.leaves[site.index()].known = known;
        self.leaves[site.index()].changed = false;
        self.rematch(site, fabric);
        self.leaves[site.index()].wanting = self.unmatched_server(site, fabric);
        self.tell_bags(site, round, fabric, cx);
        self.fill(site, fabric, cx);
    }

    /// Whether an idle server has no channel to ask through.
    fn unmatched_server(&self, site: SiteId, fabric: &Fabric<impl MessageObserver>) -> bool {
        let channels = &self.leaves[site.index()].channels;
        fabric.world.servers_at(site).any(|server| {
            let bag = self.bag_of_server(site, server, fabric);
            fabric.servers[server as usize].is_idle() && !channels.iter().any(|channel| channel.bag == bag)
        })
    }

    pub(crate) fn leaf_ports(
        &mut self,
        leaf: SchedulerId,
        bags: Handle,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        let site = self.site_of_leaf(leaf);
        let bags = fabric.pools.ports.take(bags);
        for channel in &mut self.leaves[site.index()].channels {
            channel.port |= bags.contains(&channel.bag);
        }
        fabric.pools.ports.recycle(bags);
        self.ask_for_work(site, fabric, cx);
    }

    /// A block of jobs comes in.
    pub(crate) fn leaf_block(
        &mut self,
        leaf: SchedulerId,
        bag: Bag,
        ticket: u32,
        jobs: Handle,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        let site = self.site_of_leaf(leaf);
        let jobs = fabric.pools.jobs.take(jobs);
        let at = &mut self.leaves[site.index()];
        // The RFC is answered. A block that answers an older one, from before the channel was broken, leaves it open.
        for channel in &mut at.channels {
            if channel.bag == bag && channel.ticket == ticket {
                (channel.ticket, channel.asked) = (0, Bag::EMPTY);
            }
        }
        for &job in &jobs {
            let new = at.queues[usize::from(fabric.jobs.get(job).class)].insert(job);
            assert!(new, "job {job} is queued twice at LGS {leaf}");
        }
        at.queued += narrow(jobs.len());
        fabric.counts.received += jobs.len() as u64;
        fabric.pools.jobs.recycle(jobs);
        self.return_incomputable(site, fabric, cx);
        self.fill(site, fabric, cx);
    }

    /// Jobs are wanted back: those that are still queued go, the others have gone to a server.
    pub(crate) fn leaf_cancels(
        &mut self,
        leaf: SchedulerId,
        (by, number, reason): (SchedulerId, u32, Reason),
        jobs: Handle,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        // Those that are no longer queued have gone to a server, and the news of it has crossed the cancel.
        let site = self.site_of_leaf(leaf);
        let wanted = fabric.pools.wanted.take(jobs);
        let mut jobs = fabric.pools.jobs.open();
        let asked = narrow(wanted.len());
        let at = &mut self.leaves[site.index()];
        jobs.extend(wanted.iter().filter(|job| at.queues[usize::from(fabric.jobs.get(**job).class)].remove(**job)));
        at.queued -= narrow(jobs.len());
        // A cancel names jobs that may be done by the time it comes in; until here the name kept them from being
        // forgotten.
        for &job in &wanted {
            fabric.jobs.drop_copy(job);
        }
        fabric.pools.wanted.recycle(wanted);
        let jobs = fabric.pools.jobs.keep(jobs);
        self.send_up(leaf, CompactPayload::Cancelled { by, number, reason, asked, jobs }, fabric, cx);
    }

    /// Gives queued jobs to idle servers, then asks for more if a server is still idle.
    pub(crate) fn fill(
        &mut self,
        site: SiteId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        // All servers before the first request: a request should speak for all that are still idle.
        let mut idle = false;
        for server in fabric.world.servers_at(site) {
            if fabric.servers[server as usize].is_idle() {
                idle |= !self.give(site, server, fabric, cx);
            }
        }
        if idle {
            self.ask_for_work(site, fabric, cx);
        }
    }

    /// A server has become idle.
    pub(crate) fn refill(
        &mut self,
        server: ServerId,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) {
        let site = fabric.servers[server.index()].site;
        if !self.give(site, server.0, fabric, cx) {
            self.ask_for_work(site, fabric, cx);
        }
    }

    /// Gives the oldest queued job that it can run to an idle server. False if there is none.
    fn give(
        &mut self,
        site: SiteId,
        server: u32,
        fabric: &mut Fabric<impl MessageObserver>,
        cx: &mut impl Context<Event>,
    ) -> bool {
        let bag = fabric.servers[server as usize].bag;
        // First come, first served among those that it can run: nothing here knows of priorities other than age.
        let Some(job) = self.leaves[site.index()].take_oldest(bag) else { return false };
        self.send_up(self.leaf_at(site), CompactPayload::Started { job }, fabric, cx);
        fabric.offer(ServerId(server), job, cx);
        true
    }

    /// Sends an RFC through each channel that has an idle server and no RFC out; an RFJM if a server has no channel.
    fn ask_for_work(&mut self, site: SiteId, fabric: &mut Fabric<impl MessageObserver>, cx: &mut impl Context<Event>) {
        let leaf = self.leaf_at(site);
        for server in fabric.world.servers_at(site) {
            if !fabric.servers[server as usize].is_idle() {
                continue;
            }
            let bag = self.bag_of_server(site, server, fabric);
            let runs = fabric.servers[server as usize].bag;
            let at = &mut self.leaves[site.index()];
            // One RFC per channel, whatever the number of idle servers: the block that answers it is the share of the
            // whole branch, not of one server. It is repeated under its number only if servers want classes that it
            // does not ask for.
            let payload = match at.channels.iter_mut().find(|channel| channel.bag == bag) {
                Some(channel) if channel.port && !runs.and(bag).without(channel.asked).is_empty() => {
                    if channel.ticket == 0 {
                        at.tickets += 1;
                        channel.ticket = at.tickets;
                    }
                    channel.asked = channel.asked.with(runs.and(bag));
                    CompactPayload::Rfc { bag, wants: channel.asked, ticket: channel.ticket }
                }
                None if !at.wanting => {
                    at.wanting = true;
                    CompactPayload::Rfjm { anew: at.changed }
                }
                _ => continue,
            };
            self.send_up(leaf, payload, fabric, cx);
        }
    }
}
