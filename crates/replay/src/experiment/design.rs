//! The design of an experiment: its file, read and checked.

use super::file::{Log, Method, WholeNumber};
use super::measure::{Metric, Window};
use crate::simulate::policy::Policy;
use metrics::OwnMetric;
use sim_core::Span;
use workload::Estimates;

#[derive(Clone, Debug)]
pub(super) struct Design {
    pub(super) name: String,
    pub(super) policies: Vec<Policy>,
    /// Position of the policy that differences are taken from.
    pub(super) baseline: usize,
    pub(super) metrics: Vec<Metric>,
    /// Metrics that the program adds, named in the file or not.
    pub(super) own_metrics: Vec<OwnMetric>,
    pub(super) seed: u64,
    pub(super) logs: Vec<Log>,
    /// Values of each dimension, in the order of the columns. None is empty.
    pub(super) vary: Vec<Vec<Value>>,
    pub(super) method: Method,
    /// Number of replications.
    pub(super) count: u32,
    /// Length of a replication by blocks or users; that of the log if not given.
    pub(super) weeks: Option<u64>,
    /// Largest shift of a submission by shake.
    pub(super) shift: Span,
    pub(super) window: Window,
    pub(super) precision: Option<f64>,
    pub(super) claims: Vec<Claim>,
}

/// Value of one dimension.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Load, relative to the log's own.
    Load(f64),
    Estimates(Estimates),
    /// Number of users, relative to the log's own.
    Users(f64),
    Procs(u32),
}

impl Value {
    /// The key of the file, and the column of tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Load(_) => "load",
            Self::Estimates(_) => "estimates",
            Self::Users(_) => "users",
            Self::Procs(_) => "procs",
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Load(number) | Self::Users(number) => number.fmt(f),
            Self::Estimates(estimates) => estimates.fmt(f),
            Self::Procs(procs) => procs.fmt(f),
        }
    }
}

/// One combination of values. A number that is not varied is 1, relative to the log's own.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The values, in the order of the dimensions.
    pub(super) values: Vec<Value>,
    pub(super) load: f64,
    pub(super) estimates: Option<Estimates>,
    pub(super) users: f64,
    pub(super) procs: Option<u32>,
}

impl Setting {
    fn with(&self, value: Value) -> Self {
        let mut changed = self.clone();
        changed.values.push(value);
        match value {
            Value::Load(load) => changed.load = load,
            Value::Estimates(estimates) => changed.estimates = Some(estimates),
            Value::Users(users) => changed.users = users,
            Value::Procs(procs) => changed.procs = Some(procs),
        }
        changed
    }

    /// The values, as in the columns of tables.
    pub(super) fn texts(&self) -> Vec<String> {
        self.values.iter().map(Value::to_string).collect()
    }

    /// `load 0.8, estimates user`; empty if nothing is varied.
    pub(super) fn in_words(&self) -> String {
        self.values.iter().map(|value| format!("{} {value}", value.name())).collect::<Vec<_>>().join(", ")
    }
}

/// A claim about a policy.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) says: String,
    pub(super) metric: Metric,
    pub(super) policy: usize,
    pub(super) is_below: bool,
    /// The other policy; `None` if the policy is compared with a number.
    pub(super) other: Option<usize>,
    /// That number; 0 for a difference of policies.
    pub(super) bound: f64,
    /// Part of the other policy's value that the claim compares with: 0.9 for "below by 10 %".
    pub(super) share: Option<f64>,
    /// True if each log is judged by itself.
    pub(super) every_log: bool,
    /// Dimensions whose values are judged one by one, by position; the mean is taken over the others.
    pub(super) every: Vec<usize>,
    /// `mine.toml:12`.
    pub(super) source: String,
}

impl Design {
    /// A tenth of the work or less.
    pub(super) fn quick(mut self) -> Self {
        const JOBS: u32 = 2_000;
        self.count = (self.count / 10).max(3).min(self.count);
        // Weeks and users are drawn from the whole log, since few jobs may not cover the weeks that they need: the number of weeks
        // is cut instead.
        let most = match self.method {
            Method::Blocks => Some(12),
            Method::Users => Some(8),
            Method::Shake | Method::Seeds => None,
        };
        self.weeks = most.map(|most| self.weeks.unwrap_or(most).min(most));
        for log in self.logs.iter_mut().filter(|log| most.is_none() || log.model.is_some()) {
            log.count = Some(WholeNumber(log.count.map_or(JOBS, |count| count.0.min(JOBS))));
        }
        self.vary.iter_mut().for_each(|values| values.truncate(2));
        self
    }

    /// Every combination, the last dimension fastest.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut all = vec![Setting { values: Vec::new(), load: 1.0, estimates: None, users: 1.0, procs: None }];
        for values in &self.vary {
            all = all.iter().flat_map(|setting| values.iter().map(|value| setting.with(*value))).collect();
        }
        all
    }

    /// Names of the dimensions.
    pub(super) fn varied(&self) -> impl Iterator<Item = &'static str> {
        self.vary.iter().map(|values| values[0].name())
    }
}
