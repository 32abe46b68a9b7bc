//! Priorities of jobs: multifactor with fair share, or first come, first served (SPEC 1 and 2).
//!
//! [`Priorities`] is the state of the priority plugin: usage, fair-share factors, time of the last round of the decay thread.
//! [`Priorities::priority`] is the formula. Times are whole seconds.

mod fair_share;

pub(crate) use fair_share::FairShare;

use crate::cluster::queue::Entry;
use crate::site::Site;
use crate::site::conf::PrioritySettings;
use crate::site::text::next_reset;
use std::sync::Arc;

/// Running job as the decay thread sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Running {
    pub association: Option<usize>,
    pub qos: Option<usize>,
    pub start: i64,
    /// Usage per second, by [`Priorities::billing`].
    pub billing: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    site: Arc<Site>,
    cluster_nodes: f64,
    cluster_cpus: f64,
    /// CPUs, MiB and nodes of each partition.
    totals: Vec<[f64; 3]>,
    /// Factors of the own priorities of partitions, QOS and associations.
    partitions: Vec<f64>,
    qos: Vec<f64>,
    associations: Vec<f64>,
    pub(crate) tree: FairShare,
    last_tick: i64,
    next_reset: Option<i64>,
    submissions: u32,
}

impl Priorities {
    /// Prepares the plugin at the start of the controller, `start`, without usage.
    pub(crate) fn new(site: Arc<Site>, start: i64) -> Self {
        let (conf, accounts, settings) = (&site.conf, &site.accounts, &site.conf.priority);
        let partitions = conf.partitions.iter().map(|partition| partition.priority_job_factor);
        let partitions = normalized(partitions, settings.has("NO_NORMAL_PART"));
        let qos = normalized(accounts.qos.iter().map(|qos| qos.priority), settings.has("NO_NORMAL_QOS"));
        // An association without a priority has that of the account above.
        let mut raw: Vec<u32> = Vec::new();
        for own in &accounts.associations {
            let above = own.parent.map_or(0, |parent| raw[parent]);
            raw.push(if own.priority > 0 { own.priority } else { above });
        }
        let totals = conf.partitions.iter().map(|partition| {
            let nodes = || partition.nodes.iter().map(|&node| &conf.nodes[node]);
            let cpus = nodes().map(|node| f64::from(node.cpus)).sum();
            [cpus, nodes().map(|node| node.memory as f64).sum(), partition.nodes.len() as f64]
        });
        let mut priorities = Self {
            cluster_nodes: conf.nodes.len() as f64,
            cluster_cpus: conf.nodes.iter().map(|node| f64::from(node.cpus)).sum(),
            totals: totals.collect(),
            partitions,
            qos,
            associations: normalized(raw.into_iter(), settings.has("NO_NORMAL_ASSOC")),
            tree: FairShare::new(&accounts.associations),
            last_tick: start,
            next_reset: next_reset(settings.reset, start),
            submissions: 0,
            site,
        };
        priorities.end_tick(start);
        priorities
    }

    fn settings(&self) -> &PrioritySettings {
        &self.site.conf.priority
    }

    /// Begins a round of the decay thread: reset and decay. Then usage since the last one is charged (SPEC 2.2).
    pub(crate) fn begin_tick(&mut self, now: i64) {
        if self.next_reset.is_some_and(|reset| now >= reset) {
            self.tree.scale(0.0);
            let reset = self.settings().reset;
            self.next_reset = if reset == "NOW" { None } else { next_reset(reset, now) };
        }
        // The effective usage of accounts is that before the decay.
        if self.is_classic() {
            self.tree.begin_classic(&self.site.conf.priority);
        }
        let decay = self.decay(now - self.last_tick);
        self.tree.scale(decay);
    }

    /// Ends a round of the decay thread: fair share. The classic factors of users are computed with the first job that needs them.
    pub(crate) fn end_tick(&mut self, now: i64) {
        self.last_tick = now;
        if !self.is_classic() {
            self.tree.fair_tree();
        }
    }

    /// Returns true if fair share is the classic formula, which depends on the order of jobs in a tick.
    fn is_classic(&self) -> bool {
        self.settings().has("NO_FAIR_TREE")
    }

    /// Computes the classic factor of a job's association, unless the tick has it already.
    pub(crate) fn renew_factor(&mut self, association: Option<usize>) {
        if let Some(at) = association.filter(|_| self.is_classic()) {
            self.tree.renew_classic(at, &self.site.conf.priority);
        }
    }

    /// Charges the rest of a job at its end if `AccountingStorageEnforce` has `limits`; otherwise that rest is never charged (SPEC 2.4).
    pub(crate) fn job_ended(&mut self, job: &Running, end: i64) {
        if self.site.conf.enforces_limits {
            self.charge(job, end);
        }
    }

    /// Returns the fraction of usage that is left after `seconds` (SPEC 2.1).
    pub(crate) fn decay(&self, seconds: i64) -> f64 {
        match self.settings().half_life {
            0 => 1.0,
            half_life => libm::pow(1.0 - 0.693 / (half_life as f64), seconds as f64),
        }
    }

    /// Adds the usage from the last tick to `end`, decayed as if all of it were used at the beginning (SPEC 2.2).
    pub(crate) fn charge(&mut self, job: &Running, end: i64) {
        let run = (end - self.last_tick.max(job.start)).max(0);
        let mut usage = (run as f64) * self.decay(run) * job.billing;
        if let Some(at) = job.qos {
            usage *= self.site.accounts.qos[at].usage_factor;
        }
        if let Some(association) = job.association {
            self.tree.add(association, usage);
        }
    }

    /// Returns the usage per second of a job in `partition` (SPEC 2.3): its CPUs, or the weighted sum or maximum of CPUs, MiB and nodes.
    pub(crate) fn billing(&self, partition: usize, tres: [u64; 3]) -> f64 {
        let weights = &self.site.conf.partitions[partition].billing;
        let tres = tres.map(|amount| amount as f64);
        match (weights.is_empty(), self.settings().has("MAX_TRES")) {
            (true, _) => tres[0],
            (false, true) => weighted(weights, tres).fold(0.0, f64::max),
            (false, false) => weighted(weights, tres).sum(),
        }
    }

    /// Returns the first priority of a job, at its submission. The caller handles priorities set by hand, and holds.
    pub(crate) fn first(&mut self, job: &Entry, now: i64) -> u32 {
        if self.settings().multifactor {
            self.renew_factor(job.demand.association);
            return self.priority(job, now);
        }
        // Descending from a fixed number (SPEC 1.8).
        self.submissions += 1;
        clipped(f64::from(u32::MAX - 0xFFFF - self.submissions.min(u32::MAX - 0x1_0000)) - (job.nice as f64))
    }

    /// Returns the priority of a job after a tick. The caller passes running jobs only under `CALCULATE_RUNNING`.
    pub(crate) fn renewed(&self, job: &Entry, now: i64) -> u32 {
        match (self.settings().multifactor, self.settings().has("INCR_ONLY")) {
            (false, _) => job.priority,
            (true, false) => self.priority(job, now),
            (true, true) => self.priority(job, now).max(job.priority),
        }
    }

    /// Returns the multifactor priority of a job (SPEC 1.1).
    pub(crate) fn priority(&self, job: &Entry, now: i64) -> u32 {
        let settings = self.settings();
        let of = |factors: &[f64], at: Option<usize>| at.map_or(0.0, |at| factors[at]);
        let mut tres = [job.need.cpus, job.demand.tres[1], job.need.nodes as u64].map(|amount| amount as f64);
        if !settings.has("NO_NORMAL_TRES") {
            tres.iter_mut().zip(self.totals[job.partition]).for_each(|(amount, total)| *amount = ratio(*amount, total));
        }
        // The order of the sum is Slurm's, which matters for the last bit.
        let factors = [
            self.age(job, now),
            of(&self.associations, job.demand.association),
            of(&self.tree.factors, job.demand.association),
            self.size(job),
            self.partitions[job.partition],
            of(&self.qos, job.demand.qos),
        ];
        let sum = settings.weights.iter().zip(factors).map(|(weight, factor)| f64::from(*weight) * factor).sum::<f64>();
        clipped(sum + weighted(&settings.tres, tres).sum::<f64>() - (job.nice as f64))
    }

    /// Returns the age factor (SPEC 1.2).
    fn age(&self, job: &Entry, now: i64) -> f64 {
        let since = if self.settings().has("ACCRUE_ALWAYS") { Some(job.submit) } else { job.ages_from };
        since.map_or(0.0, |since| (((now - since) as f64) / (self.settings().max_age as f64)).clamp(0.0, 1.0))
    }

    /// Returns the size factor (SPEC 1.3).
    fn size(&self, job: &Entry) -> f64 {
        let (nodes, cpus) = (job.need.nodes as f64, job.cpus as f64);
        let favored = |part: f64| if self.settings().favor_small { 1.0 - part } else { part };
        let size = if self.settings().has("SMALL_RELATIVE_TO_TIME") {
            let cpus = (nodes * ratio(self.cluster_cpus, self.cluster_nodes)).max(cpus);
            favored(ratio(ratio(cpus, (job.demand.limit as f64) / 60.0), self.cluster_cpus))
        } else {
            (favored(ratio(nodes, self.cluster_nodes)) + favored(ratio(cpus, self.cluster_cpus))) / 2.0
        };
        size.clamp(0.0, 1.0)
    }
}

/// Multiplies amounts of CPUs, MiB and nodes by their weights, in the order of the weights; other resources have no amount.
fn weighted(weights: &[(String, f64)], amounts: [f64; 3]) -> impl Iterator<Item = f64> {
    weights.iter().map(move |(name, weight)| {
        let at = ["cpu", "mem", "node"].iter().position(|known| known == name);
        at.map_or(0.0, |at| weight * amounts[at])
    })
}

/// Divides each value by the greatest one, unless `raw`.
fn normalized(values: impl Iterator<Item = u32> + Clone, raw: bool) -> Vec<f64> {
    let most = values.clone().max().unwrap_or(0);
    values.map(|value| if raw { f64::from(value) } else { ratio(f64::from(value), f64::from(most)) }).collect()
}

fn ratio(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

/// Converts a priority to 32 bits: truncated, and at least 1, as 0 means held.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range first")]
fn clipped(priority: f64) -> u32 {
    priority.clamp(1.0, f64::from(u32::MAX)) as u32
}
