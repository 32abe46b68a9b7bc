//! Limits of associations and QOS on running jobs.
//!
//! A limit is that of the partition's QOS, else of the job's QOS (the other way round under its flag `OverPartQOS`), else of the
//! associations: those of groups hold at every account above the job, the others at the nearest association that sets them.

use crate::accounts::{self, Accounts, Tres};
use crate::conf::Conf;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What limits count of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Index of its association.
    pub association: Option<usize>,
    /// Index of its QOS.
    pub qos: Option<usize>,
    /// Index of its partition.
    pub partition: usize,
    /// Number of its user.
    pub user: usize,
    /// CPUs of its nodes, memory in MiB, nodes.
    pub tres: [u64; 3],
    /// Time limit in seconds.
    pub limit: i64,
}

/// Running jobs and their resources.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Load {
    jobs: u32,
    tres: [u64; 3],
}

impl Load {
    fn add(&mut self, demand: &Demand) {
        self.jobs += 1;
        (0..3).for_each(|at| self.tres[at] += demand.tres[at]);
    }

    fn remove(&mut self, demand: &Demand) {
        self.jobs -= 1;
        (0..3).for_each(|at| self.tres[at] -= demand.tres[at]);
    }
}

/// Whose load a limit is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Association(usize),
    Qos(usize),
    /// QOS and user.
    User(usize, usize),
    /// QOS and the account of the association.
    Account(usize, Option<usize>),
}

/// Jobs that share a limit.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Group,
    User,
    Account,
    Job,
}

/// Names of TRES in reasons.
const NAMES: [&str; 3] = ["Cpu", "Mem", "Node"];

/// Loads of associations and QOS.
#[derive(Clone, Debug)]
pub struct Limits {
    accounts: Option<Arc<Accounts>>,
    /// QOS of partitions.
    partitions: Vec<Option<usize>>,
    loads: BTreeMap<Scope, Load>,
}

impl Limits {
    /// Prepares the limits of an idle cluster. Without `limits` in AccountingStorageEnforce nothing is limited.
    #[must_use]
    pub fn new(conf: &Conf, accounts: Option<&Accounts>) -> Self {
        let accounts = accounts.filter(|_| conf.enforce.limits);
        let qos = |name: &Option<String>| accounts?.qos(name.as_deref()?);
        let partitions = conf.partitions.iter().map(|partition| qos(&partition.qos)).collect();
        Self { accounts: accounts.cloned().map(Arc::new), partitions, loads: BTreeMap::new() }
    }

    /// Counts a job that starts.
    pub fn started(&mut self, job: &Demand) {
        for scope in self.scopes(job) {
            self.loads.entry(scope).or_default().add(job);
        }
    }

    /// Counts a job that ends, with the demand of its start.
    ///
    /// # Panics
    ///
    /// If it did not start.
    pub fn ended(&mut self, job: &Demand) {
        for scope in self.scopes(job) {
            let load = self.loads.get_mut(&scope).expect("the job started");
            load.remove(job);
            if load.jobs == 0 {
                self.loads.remove(&scope);
            }
        }
    }

    /// Reason for which a job cannot start now, as squeue prints it; `None` if it can.
    #[must_use]
    pub fn reason(&self, job: &Demand) -> Option<String> {
        self.reason_before_selection(job).or_else(|| self.reason_after_selection(job))
    }

    /// Reason among the limits that are tested before nodes are selected: numbers of jobs and time limits.
    pub(crate) fn reason_before_selection(&self, job: &Demand) -> Option<String> {
        type Jobs = fn(&accounts::Limits) -> Option<u32>;
        let jobs: [(&str, Jobs, Over); 3] = [
            ("GrpJobs", |limits| limits.group_jobs, Over::Group),
            ("MaxJobs", |limits| limits.max_jobs, Over::User),
            ("MaxJobs", |limits| limits.max_jobs_per_account, Over::Account),
        ];
        for (name, limit, over) in jobs {
            let full = |(place, most): &(Scope, u32)| self.load(*place, over, job).jobs >= *most;
            if let Some((place, _)) = self.binding(job, over, limit).into_iter().find(full) {
                return Some(self::reason(place, name, over));
            }
        }
        let wall =
            self.binding(job, Over::Job, |limits| limits.max_wall).into_iter().find(|(_, most)| job.limit > *most)?;
        Some(self::reason(wall.0, "MaxWallDuration", Over::Job))
    }

    /// Reason among the limits that depend on the nodes found.
    fn reason_after_selection(&self, job: &Demand) -> Option<String> {
        type OfTres = fn(&accounts::Limits) -> Tres;
        let minutes = u64::try_from(job.limit / 60).unwrap_or(0);
        let tres: [(&str, &str, OfTres, Over, u64); 5] = [
            ("Grp", "", |limits| limits.group_tres, Over::Group, 1),
            ("Max", "", |limits| limits.max_tres_per_user, Over::User, 1),
            ("Max", "", |limits| limits.max_tres_per_account, Over::Account, 1),
            ("Max", "", |limits| limits.max_tres_per_job, Over::Job, 1),
            ("Max", "Minutes", |limits| limits.max_tres_minutes_per_job, Over::Job, minutes),
        ];
        for (begin, end, limit, over, factor) in tres {
            for (at, name) in NAMES.into_iter().enumerate() {
                let needs = job.tres[at].saturating_mul(factor);
                let full = |(place, most): &(Scope, u64)| self.load(*place, over, job).tres[at] + needs > *most;
                if let Some((place, _)) = self.binding(job, over, |limits| limit(limits)[at]).into_iter().find(full) {
                    return Some(self::reason(place, &format!("{begin}{name}{end}"), over));
                }
            }
        }
        None
    }

    /// Limits of one kind that hold for a job, with the place where each is set.
    fn binding<T>(&self, job: &Demand, over: Over, limit: impl Fn(&accounts::Limits) -> Option<T>) -> Vec<(Scope, T)> {
        let Some(accounts) = &self.accounts else { return Vec::new() };
        let of_qos = |at: usize| Some((Scope::Qos(at), limit(&accounts.qos[at].limits)?));
        if let Some(nearest) = self.qos(job).into_iter().flatten().find_map(of_qos) {
            return vec![nearest];
        }
        let of_association = |at: usize| Some((Scope::Association(at), limit(&accounts.associations[at].limits)?));
        let mut above = accounts.above(job.association).filter_map(of_association);
        if over == Over::Group { above.collect() } else { above.next().into_iter().collect() }
    }

    /// QOS of the partition and of the job, in the order in which they count.
    fn qos(&self, job: &Demand) -> [Option<usize>; 2] {
        let of_partition = self.partitions.get(job.partition).copied().flatten();
        let is_over =
            job.qos.is_some_and(|at| self.accounts.as_ref().is_some_and(|all| all.qos[at].has("OverPartQOS")));
        if is_over { [job.qos, of_partition] } else { [of_partition, job.qos] }
    }

    /// Load that a limit at `place` is held against.
    fn load(&self, place: Scope, over: Over, job: &Demand) -> Load {
        let scope = match (place, over) {
            (_, Over::Job) => return Load::default(),
            (Scope::Qos(at), Over::User) => Scope::User(at, job.user),
            (Scope::Qos(at), Over::Account) => Scope::Account(at, self.account(job)),
            // A limit of an account holds for each user of it.
            (Scope::Association(_), Over::User) => Scope::Association(job.association.unwrap_or(0)),
            _ => place,
        };
        self.loads.get(&scope).copied().unwrap_or_default()
    }

    fn account(&self, job: &Demand) -> Option<usize> {
        self.accounts.as_ref()?.associations[job.association?].parent
    }

    /// All loads that a job is part of.
    fn scopes(&self, job: &Demand) -> Vec<Scope> {
        let Some(accounts) = &self.accounts else { return Vec::new() };
        let mut scopes: Vec<Scope> = accounts.above(job.association).map(Scope::Association).collect();
        let [first, second] = self.qos(job);
        for at in first.into_iter().chain(second.filter(|_| second != first)) {
            scopes.extend([Scope::Qos(at), Scope::User(at, job.user), Scope::Account(at, self.account(job))]);
        }
        scopes
    }
}

/// Name of a reason, such as `QOSMaxCpuPerUserLimit`.
fn reason(place: Scope, name: &str, over: Over) -> String {
    let is_qos = matches!(place, Scope::Qos(_));
    let over = match over {
        Over::User if is_qos => "PerUser",
        Over::Account => "PerAccount",
        Over::Job => "PerJob",
        Over::Group | Over::User => "",
    };
    format!("{}{name}{over}Limit", if is_qos { "QOS" } else { "Assoc" })
}
