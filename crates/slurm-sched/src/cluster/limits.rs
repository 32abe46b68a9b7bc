//! Limits on running jobs: those of associations and QOS, and that of an array on its tasks.
//!
//! A limit is that of the partition's QOS, else of the job's QOS (the other way round under its flag `OverPartQOS`), else of the
//! associations: those of groups apply at every account above the job, the others at the nearest association that sets them.

use crate::site::Site;
use crate::site::limit_kinds::{Amounts, KINDS, Measure, NAMES, Over};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Demand of a job that counts towards limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    pub association: Option<usize>,
    pub qos: Option<usize>,
    pub partition: usize,
    pub user: usize,
    /// CPUs of its nodes, memory in MiB, nodes.
    pub tres: [u64; 3],
    /// Time limit in seconds.
    pub limit: i64,
    /// JobId of its array and the greatest number of tasks that run at a time, if that is limited.
    pub array: Option<(u32, u64)>,
}

/// CPUs, MiB and nodes of running jobs, and the number of these jobs.
type Load = [u64; 4];

impl Demand {
    fn load(&self) -> Load {
        let [cpus, memory, nodes] = self.tres;
        [cpus, memory, nodes, 1]
    }
}

/// Owner of a load that is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Association(usize),
    Qos(usize),
    /// QOS and user.
    User(usize, usize),
    /// QOS and the account of the association.
    Account(usize, Option<usize>),
    /// JobId of an array.
    Array(u32),
}

/// Loads of associations, QOS and arrays.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    site: Arc<Site>,
    /// QOS of partitions.
    partitions: Vec<Option<usize>>,
    /// Kinds that some association or QOS limits.
    kinds: Vec<usize>,
    loads: BTreeMap<Scope, Load>,
}

impl Limits {
    /// Prepares the limits of an idle cluster. Without `limits` in AccountingStorageEnforce there are no limits.
    pub(crate) fn new(site: Arc<Site>) -> Self {
        let accounts = &site.accounts;
        let qos = |name: &Option<String>| accounts.qos(name.as_deref()?);
        let partitions = site.conf.partitions.iter().map(|partition| qos(&partition.qos)).collect();
        let associations = accounts.associations.iter().map(|own| &own.limits);
        let all: Vec<&Amounts> = associations.chain(accounts.qos.iter().map(|qos| &qos.limits)).collect();
        let is_set = |kind: &usize| site.conf.enforces_limits && all.iter().any(|limits| limits[*kind] != [None; 3]);
        let kinds = (0..KINDS.len()).filter(is_set).collect();
        Self { partitions, kinds, loads: BTreeMap::new(), site }
    }

    pub(crate) fn started(&mut self, job: &Demand) {
        for scope in self.scopes(job) {
            let load = self.loads.entry(scope).or_default();
            load.iter_mut().zip(job.load()).for_each(|(sum, own)| *sum += own);
        }
    }

    /// Counts a job that ends, with the demand of its start.
    pub(crate) fn ended(&mut self, job: &Demand) {
        for scope in self.scopes(job) {
            let load = self.loads.get_mut(&scope).expect("the job started");
            load.iter_mut().zip(job.load()).for_each(|(sum, own)| *sum -= own);
            if load[3] == 0 {
                self.loads.remove(&scope);
            }
        }
    }

    /// Returns the number of further tasks that may run beside those of the job's array.
    pub(crate) fn tasks_left(&self, job: &Demand) -> u64 {
        let running = |array| self.loads.get(&Scope::Array(array)).map_or(0, |load| load[3]);
        job.array.map_or(u64::MAX, |(array, most)| most.saturating_sub(running(array)))
    }

    /// Reason for which a job cannot start now, in the form of squeue; `None` if it can.
    pub(crate) fn reason(&self, job: &Demand) -> Option<String> {
        self.reason_among(KINDS.len(), job)
    }

    /// The reason among the kinds of limits below `end`.
    pub(crate) fn reason_among(&self, end: usize, job: &Demand) -> Option<String> {
        if self.tasks_left(job) == 0 {
            return Some("JobArrayTaskLimit".to_owned());
        }
        let seconds = job.limit.max(0).unsigned_abs();
        for &kind in self.kinds.iter().take_while(|kind| **kind < end) {
            let (_, measure, over) = KINDS[kind];
            let resources = if matches!(measure, Measure::Jobs | Measure::Seconds) { 1 } else { 3 };
            for at in 0..resources {
                let exceeds = |(place, most): &(Scope, u64)| {
                    let load = self.load(*place, over, job);
                    let (used, needed) = match measure {
                        Measure::Jobs => (load[3], 1),
                        Measure::Seconds => (0, seconds),
                        Measure::Tres => (load[at], job.tres[at]),
                        Measure::TresMinutes => (0, job.tres[at].saturating_mul(seconds / 60)),
                    };
                    used + needed > *most
                };
                if let Some((place, _)) = self.binding(job, over, kind, at).into_iter().find(exceeds) {
                    return Some(name_of(place, measure, over, at));
                }
            }
        }
        None
    }

    /// Limits of one kind that apply to a job, with the place where each is set.
    fn binding(&self, job: &Demand, over: Over, kind: usize, at: usize) -> Vec<(Scope, u64)> {
        let accounts = &self.site.accounts;
        let of_qos = |index: usize| Some((Scope::Qos(index), accounts.qos[index].limits[kind][at]?));
        if let Some(nearest) = self.qos(job).into_iter().flatten().find_map(of_qos) {
            return vec![nearest];
        }
        let of_association =
            |index: usize| Some((Scope::Association(index), accounts.associations[index].limits[kind][at]?));
        let mut above = accounts.above(job.association).filter_map(of_association);
        if over == Over::Group { above.collect() } else { above.next().into_iter().collect() }
    }

    /// QOS of the partition and of the job, in the order of precedence.
    fn qos(&self, job: &Demand) -> [Option<usize>; 2] {
        let of_partition = self.partitions.get(job.partition).copied().flatten();
        let is_over = job.qos.is_some_and(|at| self.site.accounts.qos[at].has("OverPartQOS"));
        if is_over { [job.qos, of_partition] } else { [of_partition, job.qos] }
    }

    /// Load that is compared with a limit at `place`.
    fn load(&self, place: Scope, over: Over, job: &Demand) -> Load {
        let scope = match (place, over) {
            (_, Over::Job) => return Load::default(),
            (Scope::Qos(at), Over::User) => Scope::User(at, job.user),
            (Scope::Qos(at), Over::Account) => Scope::Account(at, self.account(job)),
            // A limit of an account applies to each user of it.
            (Scope::Association(_), Over::User) => Scope::Association(job.association.unwrap_or(0)),
            _ => place,
        };
        self.loads.get(&scope).copied().unwrap_or_default()
    }

    fn account(&self, job: &Demand) -> Option<usize> {
        self.site.accounts.associations[job.association?].parent
    }

    fn scopes(&self, job: &Demand) -> Vec<Scope> {
        let mut scopes: Vec<Scope> = job.array.iter().map(|(array, _)| Scope::Array(*array)).collect();
        if !self.site.conf.enforces_limits {
            return scopes;
        }
        scopes.extend(self.site.accounts.above(job.association).map(Scope::Association));
        let [first, second] = self.qos(job);
        for at in first.into_iter().chain(second.filter(|_| second != first)) {
            scopes.extend([Scope::Qos(at), Scope::User(at, job.user), Scope::Account(at, self.account(job))]);
        }
        scopes
    }
}

/// Returns the name of a reason, such as `QOSMaxCpuPerUserLimit`.
fn name_of(place: Scope, measure: Measure, over: Over, at: usize) -> String {
    let is_qos = matches!(place, Scope::Qos(_));
    let of = if is_qos { "QOS" } else { "Assoc" };
    let bound = if over == Over::Group { "Grp" } else { "Max" };
    let what = match measure {
        Measure::Jobs => "Jobs".to_owned(),
        Measure::Seconds => "WallDuration".to_owned(),
        Measure::Tres => NAMES[at].to_owned(),
        Measure::TresMinutes => format!("{}Minutes", NAMES[at]),
    };
    let each = match over {
        Over::User if is_qos => "PerUser",
        Over::Account => "PerAccount",
        Over::Job => "PerJob",
        Over::Group | Over::User => "",
    };
    format!("{of}{bound}{what}{each}Limit")
}
