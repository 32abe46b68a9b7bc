//! The LGS of a site: it matches jobs with servers, requests work, and gives the oldest queued job to an idle server.

use super::Trees;
use crate::config::Bags as BagRule;
use crate::fabric::Fabric;
use crate::leaf_state::LeafChannel;
use crate::message::{MessageObserver, Payload, Reason};
use crate::run::Run;
use crate::uplink::Uplink;
use crate::world::{Bag, SchedulerId, ServerId, narrow};
use sim_core::{JobId, SiteId};

impl Trees {
    fn leaf_at(&self, site: SiteId) -> SchedulerId {
        self.forest.leaf_of_site[site.index()]
    }

    fn site_of_leaf(&self, leaf: SchedulerId) -> SiteId {
        self.forest.schedulers[leaf.index()].site()
    }

    /// Bag of the channel through which a server of this site requests work.
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

    /// Requests job matching at system start, when an LGS has servers and knows no jobs.
    pub(crate) fn leaf_opens(&mut self, site: SiteId, run: &mut impl Run) {
        // A site without servers has nothing to request, and its LGS answers discoveries with no bags.
        if !run.world.servers_at(site).is_empty() {
            self.ask_for_work(site, run);
        }
    }

    /// Matches servers against known jobs: makes, keeps or destroys channels. Returns true if the set of bags has changed.
    ///
    /// A channel whose bag stays keeps its port and its RFC: otherwise every discovery would cause all requests to be sent again.
    pub(crate) fn rematch(&mut self, site: SiteId, fabric: &Fabric<impl MessageObserver>) -> bool {
        // Servers with the same bag share a channel: the paper joins "similar" bags.
        let mut channels: Vec<LeafChannel> = Vec::new();
        for server in fabric.world.servers_at(site) {
            let bag = self.bag_of_server(site, server, fabric);
            let power = u64::from(fabric.servers[server as usize].cpus);
            // No known job matches this server: an RFJM is sent for it.
            if bag.is_empty() {
                continue;
            }
            match channels.iter_mut().find(|channel| channel.bag == bag) {
                Some(channel) => channel.power += power,
                None => channels.push(LeafChannel { bag, power, uplink: Uplink::default() }),
            }
        }
        channels.sort_by_key(|channel| channel.bag);
        let old = &mut self.leaves[site.index()].channels;
        let changed = !old.iter().map(|channel| channel.bag).eq(channels.iter().map(|channel| channel.bag));
        // Port and RFC stay with the bag, since the parent knows a channel by its bag.
        for channel in &mut channels {
            if let Some(before) = old.iter().find(|before| before.bag == channel.bag) {
                channel.uplink = before.uplink;
            }
        }
        *old = channels;
        changed
    }

    pub(crate) fn leaf_discovers(&mut self, leaf: SchedulerId, round: u32, known: Bag, run: &mut impl Run) {
        let site = self.site_of_leaf(leaf);
        // Known classes first: channels depend on them.
        self.leaves[site.index()].known = known;
        self.leaves[site.index()].changed = false;
        self.rematch(site, run);
        self.leaves[site.index()].wanting = self.unmatched_server(site, run);
        self.tell_own_bags(leaf, round, run);
        self.fill(site, run);
    }

    /// Returns true if an idle server has no channel to request work through.
    fn unmatched_server(&self, site: SiteId, fabric: &Fabric<impl MessageObserver>) -> bool {
        let channels = &self.leaves[site.index()].channels;
        fabric.world.servers_at(site).any(|server| {
            let bag = self.bag_of_server(site, server, fabric);
            fabric.servers[server as usize].is_idle() && !channels.iter().any(|channel| channel.bag == bag)
        })
    }

    pub(crate) fn leaf_ports(&mut self, leaf: SchedulerId, bags: &[Bag], run: &mut impl Run) {
        let site = self.site_of_leaf(leaf);
        for channel in &mut self.leaves[site.index()].channels {
            channel.uplink.port |= bags.contains(&channel.bag);
        }
        self.ask_for_work(site, run);
    }

    pub(crate) fn leaf_block(
        &mut self,
        leaf: SchedulerId,
        bag: Bag,
        ticket: u32,
        jobs: Vec<JobId>,
        run: &mut impl Run,
    ) {
        let site = self.site_of_leaf(leaf);
        let at = &mut self.leaves[site.index()];
        // The RFC is answered. A block that answers an older one, from before the channel was broken, leaves it open.
        for channel in &mut at.channels {
            if channel.bag == bag {
                channel.uplink.answered(ticket);
            }
        }
        for &job in &jobs {
            let new = at.queues[usize::from(run.jobs.get(job).class)].insert(job);
            assert!(new, "job {job} is queued twice at LGS {leaf}");
        }
        at.queued += narrow(jobs.len());
        run.counts.received += jobs.len() as u64;
        self.return_incomputable(site, run);
        self.fill(site, run);
    }

    /// Receives a cancel: jobs that are still queued go back, the others have gone to a server.
    pub(crate) fn leaf_cancels(
        &mut self,
        leaf: SchedulerId,
        (by, number, reason): (SchedulerId, u32, Reason),
        wanted: Vec<JobId>,
        run: &mut impl Run,
    ) {
        // Jobs that are no longer queued have gone to a server, and the report of it has crossed the cancel.
        let site = self.site_of_leaf(leaf);
        let asked = narrow(wanted.len());
        let at = &mut self.leaves[site.index()];
        let is_queued = |job: &JobId| at.queues[usize::from(run.jobs.get(*job).class)].remove(job);
        let jobs: Vec<JobId> = wanted.iter().copied().filter(is_queued).collect();
        at.queued -= narrow(jobs.len());
        // A cancel may arrive after its jobs are completed; its copy count kept them from being forgotten until here.
        for job in wanted {
            run.jobs.drop_copy(job);
        }
        self.send_up(leaf, Payload::Cancelled { by, number, reason, asked, jobs }, run);
    }

    /// Gives queued jobs to idle servers, then requests more if a server is still idle.
    pub(crate) fn fill(&mut self, site: SiteId, run: &mut impl Run) {
        // All servers before the first request: a request speaks for all servers that are still idle.
        let mut idle = false;
        for server in run.world.servers_at(site) {
            if run.servers[server as usize].is_idle() {
                idle |= !self.give(site, server, run);
            }
        }
        if idle {
            self.ask_for_work(site, run);
        }
    }

    pub(crate) fn refill(&mut self, server: ServerId, run: &mut impl Run) {
        let site = run.servers[server.index()].site;
        if !self.give(site, server.0, run) {
            self.ask_for_work(site, run);
        }
    }

    /// Gives an idle server the oldest queued job that it can run. Returns false if there is none.
    fn give(&mut self, site: SiteId, server: u32, run: &mut impl Run) -> bool {
        let bag = run.servers[server as usize].bag;
        // First come, first served among those that it can run: age is the only priority.
        let Some(job) = self.leaves[site.index()].take_oldest(bag) else { return false };
        self.send_up(self.leaf_at(site), Payload::Started { job }, run);
        run.offer(ServerId(server), job);
        true
    }

    /// Sends an RFC through each channel that has an idle server and no open RFC, and an RFJM if a server has no channel.
    fn ask_for_work(&mut self, site: SiteId, run: &mut impl Run) {
        let leaf = self.leaf_at(site);
        for server in run.world.servers_at(site) {
            if !run.servers[server as usize].is_idle() {
                continue;
            }
            let bag = self.bag_of_server(site, server, run);
            let runs = run.servers[server as usize].bag;
            let at = &mut self.leaves[site.index()];
            // One RFC per channel for any number of idle servers: the block that answers it is the share of the
            // whole branch.
            let payload = match at.channels.iter_mut().find(|channel| channel.bag == bag) {
                Some(channel) => channel.uplink.ask(bag, runs.and(bag), &mut at.tickets),
                None if at.wanting => None,
                None => {
                    at.wanting = true;
                    Some(Payload::Rfjm { anew: at.changed })
                }
            };
            if let Some(payload) = payload {
                self.send_up(leaf, payload, run);
            }
        }
    }
}
