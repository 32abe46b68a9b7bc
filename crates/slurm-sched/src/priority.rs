//! Priorities of jobs: multifactor with fair share, or first come, first served (SPEC 1 and 2).
//!
//! [`Priorities`] is the state of the priority plugin: usage, fair-share factors, time of the last round of the decay thread.
//! [`Priorities::priority`] is the formula. Times are whole seconds.

mod fair_share;

pub(crate) use fair_share::FairShare;

use crate::accounts::Accounts;
use crate::calendar::{day_of, first_of, month_of};
use crate::conf::{Conf, PrioritySettings};

/// Data on which the priority of a job depends. A job in several partitions has one priority in each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JobFactors {
    pub association: Option<usize>,
    pub qos: Option<usize>,
    pub partition: usize,
    pub submit: i64,
    /// Time since which the job gains age: begin time reached, dependencies met, accrual limits kept; `None` before.
    pub eligible: Option<i64>,
    pub min_nodes: u32,
    /// Number of CPUs: those requested, and after the first successful test those of the nodes found.
    pub cpus: u32,
    /// Number of CPUs requested, which counts among TRES.
    pub requested_cpus: u32,
    /// Memory over all nodes, in MiB.
    pub memory: u64,
    pub limit: i64,
    pub nice: i64,
}

/// Running job as the decay thread sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Running {
    pub association: Option<usize>,
    pub qos: Option<usize>,
    pub start: i64,
    /// Usage per second, by [`Priorities::billing`].
    pub billing: f64,
}

/// Terms of the formula that depend on the partition.
#[derive(Clone, Debug)]
struct OfPartition {
    factor: f64,
    /// CPUs, MiB and nodes of the partition.
    totals: [f64; 3],
    billing: Vec<(String, f64)>,
}

/// Terms of the formula that depend on the QOS.
#[derive(Clone, Debug)]
struct OfQos {
    factor: f64,
    usage_factor: f64,
    decays: bool,
    usage: f64,
}

/// State of the priority plugin.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    settings: PrioritySettings,
    cluster_nodes: f64,
    cluster_cpus: f64,
    partitions: Vec<OfPartition>,
    qos: Vec<OfQos>,
    /// Factor of each association's own priority.
    associations: Vec<f64>,
    pub(crate) tree: FairShare,
    charges_ends: bool,
    last_tick: i64,
    next_reset: Option<i64>,
    submissions: u32,
}

impl Priorities {
    /// Prepares the plugin at the start of the controller, `start`, without usage.
    pub(crate) fn new(conf: &Conf, accounts: Option<&Accounts>, start: i64) -> Self {
        let settings = conf.priority.clone();
        let raw: Vec<u32> = conf.partitions.iter().map(|partition| partition.priority_job_factor).collect();
        let partitions =
            conf.partitions.iter().zip(normalized(&raw, settings.has("NO_NORMAL_PART"))).map(|(partition, factor)| {
                let nodes = || partition.nodes.iter().map(|&node| &conf.nodes[node]);
                let cpus = nodes().map(|node| f64::from(node.cpus)).sum();
                let memory = nodes().map(|node| node.memory as f64).sum();
                OfPartition {
                    factor,
                    totals: [cpus, memory, partition.nodes.len() as f64],
                    billing: partition.billing.clone(),
                }
            });
        let of_qos = accounts.map_or(&[][..], |accounts| &accounts.qos);
        let raw: Vec<u32> = of_qos.iter().map(|qos| qos.priority).collect();
        let qos = of_qos.iter().zip(normalized(&raw, settings.has("NO_NORMAL_QOS"))).map(|(qos, factor)| OfQos {
            factor,
            usage_factor: qos.usage_factor,
            decays: !qos.has("NoDecay"),
            usage: 0.0,
        });
        // An association without a priority has that of the account above.
        let mut raw: Vec<u32> = Vec::new();
        for own in accounts.map_or(&[][..], |accounts| &accounts.associations) {
            let above = own.parent.map_or(0, |parent| raw[parent]);
            raw.push(if own.priority > 0 { own.priority } else { above });
        }
        let mut priorities = Self {
            cluster_nodes: conf.nodes.len() as f64,
            cluster_cpus: conf.nodes.iter().map(|node| f64::from(node.cpus)).sum(),
            partitions: partitions.collect(),
            qos: qos.collect(),
            associations: normalized(&raw, settings.has("NO_NORMAL_ASSOC")),
            tree: FairShare::new(accounts.map_or(&[][..], |accounts| &accounts.associations)),
            charges_ends: conf.enforces_limits,
            last_tick: start,
            next_reset: next_reset(settings.reset, start),
            submissions: 0,
            settings,
        };
        if !priorities.is_classic() {
            priorities.tree.fair_tree();
        }
        priorities
    }

    /// Begins a round of the decay thread: reset and decay. Then usage since the last one is charged (SPEC 2.2).
    pub(crate) fn begin_tick(&mut self, now: i64) {
        if self.next_reset.is_some_and(|reset| now >= reset) {
            self.tree.scale(0.0);
            self.qos.iter_mut().for_each(|qos| qos.usage = 0.0);
            self.next_reset = if self.settings.reset == "NOW" { None } else { next_reset(self.settings.reset, now) };
        }
        // The effective usage of accounts is that before the decay.
        if self.is_classic() {
            self.tree.begin_classic(self.settings.dampening, self.settings.has("DEPTH_OBLIVIOUS"));
        }
        let decay = self.decay(now - self.last_tick);
        self.tree.scale(decay);
        self.qos.iter_mut().filter(|qos| qos.decays).for_each(|qos| qos.usage *= decay);
    }

    /// Ends a round of the decay thread: fair share. The classic factors of users are computed with the first job that needs them.
    pub(crate) fn end_tick(&mut self, now: i64) {
        self.last_tick = now;
        if !self.is_classic() {
            self.tree.fair_tree();
        }
    }

    /// Returns true if classic factors depend on the order of jobs in a tick.
    pub(crate) fn is_classic(&self) -> bool {
        self.settings.has("NO_FAIR_TREE")
    }

    /// Computes the classic factor of a job's association, unless the tick has it already.
    pub(crate) fn renew_factor(&mut self, association: Option<usize>) {
        if let Some(at) = association.filter(|_| self.is_classic()) {
            self.tree.renew_classic(at, self.settings.dampening, self.settings.has("DEPTH_OBLIVIOUS"));
        }
    }

    /// Charges the rest of a job at its end if `AccountingStorageEnforce` has `limits`; otherwise that rest is never charged (SPEC 2.4).
    pub(crate) fn job_ended(&mut self, job: &Running, end: i64) {
        if self.charges_ends {
            self.charge(job, end);
        }
    }

    /// Returns the fraction of usage that is left after `seconds` (SPEC 2.1).
    pub(crate) fn decay(&self, seconds: i64) -> f64 {
        if self.settings.half_life == 0 {
            return 1.0;
        }
        libm::pow(1.0 - 0.693 / (self.settings.half_life as f64), seconds as f64)
    }

    /// Adds the usage from the last tick to `end`, decayed as if all of it were used at the beginning (SPEC 2.2).
    pub(crate) fn charge(&mut self, job: &Running, end: i64) {
        let run = (end - self.last_tick.max(job.start)).max(0);
        let mut usage = (run as f64) * self.decay(run) * job.billing;
        if let Some(qos) = job.qos.and_then(|at| self.qos.get_mut(at)) {
            usage *= qos.usage_factor;
            qos.usage += usage;
        }
        if let Some(association) = job.association {
            self.tree.add(association, usage);
        }
    }

    /// Returns the usage per second of a job in `partition` (SPEC 2.3): its CPUs, or the weighted sum or maximum of TRES.
    pub(crate) fn billing(&self, partition: usize, cpus: u32, memory: u64, nodes: u32) -> f64 {
        let weights = &self.partitions[partition].billing;
        let weighted = weights.iter().map(|(name, weight)| match name.as_str() {
            "cpu" => f64::from(cpus) * weight,
            "mem" => (memory as f64) * weight,
            "node" => f64::from(nodes) * weight,
            _ => 0.0,
        });
        match (weights.is_empty(), self.settings.has("MAX_TRES")) {
            (true, _) => f64::from(cpus),
            (false, true) => weighted.fold(0.0, f64::max),
            (false, false) => weighted.sum(),
        }
    }

    /// Returns the first priority of a job, at its submission. The caller handles priorities set by hand, and holds.
    pub(crate) fn first(&mut self, job: &JobFactors, now: i64) -> u32 {
        if self.settings.multifactor {
            self.renew_factor(job.association);
            return self.priority(job, now);
        }
        // Descending from a fixed number (SPEC 1.8).
        self.submissions += 1;
        clipped(f64::from(u32::MAX - 0xFFFF - self.submissions.min(u32::MAX - 0x1_0000)) - (job.nice as f64))
    }

    /// Returns the priority after a tick of a job that had `previous`. The caller passes running jobs only under
    /// `CALCULATE_RUNNING`.
    pub(crate) fn renewed(&self, job: &JobFactors, previous: u32, now: i64) -> u32 {
        match (self.settings.multifactor, self.settings.has("INCR_ONLY")) {
            (false, _) => previous,
            (true, false) => self.priority(job, now),
            (true, true) => self.priority(job, now).max(previous),
        }
    }

    /// Returns the multifactor priority of a job (SPEC 1.1).
    pub(crate) fn priority(&self, job: &JobFactors, now: i64) -> u32 {
        let of_association = |factors: &[f64]| job.association.and_then(|at| factors.get(at)).copied().unwrap_or(0.0);
        let partition = &self.partitions[job.partition];
        let amounts = [f64::from(job.requested_cpus), job.memory as f64, f64::from(job.min_nodes)];
        let tres = |(name, weight): &(String, f64)| {
            let at = ["cpu", "mem", "node"].iter().position(|known| known == name);
            let part = at.map_or(0.0, |at| {
                if self.settings.has("NO_NORMAL_TRES") { amounts[at] } else { ratio(amounts[at], partition.totals[at]) }
            });
            weight * part
        };
        // The order of the sum is Slurm's, which matters for the last bit.
        let factors = [
            self.age(job, now),
            of_association(&self.associations),
            of_association(&self.tree.factors),
            self.size(job),
            partition.factor,
            job.qos.and_then(|at| self.qos.get(at)).map_or(0.0, |qos| qos.factor),
        ];
        let weighted = self.settings.weights.iter().zip(factors).map(|(weight, factor)| f64::from(*weight) * factor);
        let sum = weighted.sum::<f64>() + self.settings.tres.iter().map(tres).sum::<f64>();
        clipped(sum - (job.nice as f64))
    }

    /// Returns the age factor (SPEC 1.2).
    fn age(&self, job: &JobFactors, now: i64) -> f64 {
        let since = if self.settings.has("ACCRUE_ALWAYS") { Some(job.submit) } else { job.eligible };
        since.map_or(0.0, |since| (((now - since) as f64) / (self.settings.max_age as f64)).clamp(0.0, 1.0))
    }

    /// Returns the size factor (SPEC 1.3).
    fn size(&self, job: &JobFactors) -> f64 {
        let favor_small = self.settings.favor_small;
        let (nodes, cpus) = (f64::from(job.min_nodes), f64::from(job.cpus));
        let favored = |part: f64| if favor_small { 1.0 - part } else { part };
        let size = if self.settings.has("SMALL_RELATIVE_TO_TIME") {
            let cpus = (nodes * ratio(self.cluster_cpus, self.cluster_nodes)).max(cpus);
            favored(ratio(ratio(cpus, (job.limit as f64) / 60.0), self.cluster_cpus))
        } else {
            (favored(ratio(nodes, self.cluster_nodes)) + favored(ratio(cpus, self.cluster_cpus))) / 2.0
        };
        size.clamp(0.0, 1.0)
    }
}

/// Divides each value by the greatest one, unless `raw`.
fn normalized(values: &[u32], raw: bool) -> Vec<f64> {
    let most = values.iter().copied().max().unwrap_or(0);
    values.iter().map(|&value| if raw { f64::from(value) } else { ratio(f64::from(value), f64::from(most)) }).collect()
}

fn ratio(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

/// Converts a priority to 32 bits: truncated, and at least 1, as 0 means held.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range first")]
fn clipped(priority: f64) -> u32 {
    priority.clamp(1.0, f64::from(u32::MAX)) as u32
}

/// Returns the first reset of usage after `now`, which is in seconds since 1970.
fn next_reset(period: &str, now: i64) -> Option<i64> {
    let day = now.div_euclid(86_400);
    let (year, month) = month_of(day);
    let first_after = |months: i64| first_of(year * 12 + (month - 1).div_euclid(months) * months + months);
    let next = match period {
        "NOW" => return Some(now),
        "DAILY" => day + 1,
        // 1970-01-01 was a Thursday.
        "WEEKLY" => day + 7 - (day + 4).rem_euclid(7),
        "MONTHLY" => first_after(1),
        "QUARTERLY" => first_after(3),
        "YEARLY" => day_of(year + 1, 1, 1),
        _ => return None,
    };
    Some(next * 86_400)
}
