//! The design of an experiment: its file, read and checked.

use super::file::RepairRule;
use super::measure::{Metric, Window};
use crate::options::Inside;
use crate::simulate::policy::Policy;
use sim_core::Span;
use std::path::PathBuf;
use workload::model::ModelEntry;
use workload::{Deadlines, Estimates};

#[derive(Clone, Debug)]
pub(super) struct Design {
    pub(super) name: String,
    pub(super) policies: Vec<Policy>,
    /// Position of the policy that differences are taken from.
    pub(super) baseline: usize,
    pub(super) metrics: Vec<Metric>,
    /// Metrics that the program adds, named in the file or not.
    pub(super) own_metrics: Vec<Metric>,
    pub(super) seed: u64,
    pub(super) logs: Vec<Log>,
    /// Dimensions that are varied, in the order of the columns.
    pub(super) vary: Vec<Dimension>,
    pub(super) method: Method,
    pub(super) count: u32,
    pub(super) window: Window,
    pub(super) precision: Option<f64>,
    pub(super) claims: Vec<Claim>,
}

/// One log, or a model in its place.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// Name, as in the column `log`.
    pub(super) name: String,
    pub(super) from: From,
    pub(super) procs: Option<u32>,
    pub(super) machines: Option<(PathBuf, Inside)>,
    /// Estimates that policies see, unless they are varied.
    pub(super) estimates: Estimates,
    /// Rule for the deadlines of jobs.
    pub(super) deadlines: Deadlines,
    /// Reaction to records that need a repair; `None` repairs them.
    pub(super) repairs: Option<RepairRule>,
    /// Number of jobs of a model; largest number of records of a log.
    pub(super) count: Option<u32>,
    /// Offered load that it is scaled to.
    pub(super) load: Option<f64>,
    /// Line of the experiment's file that names it.
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) enum From {
    /// File, as written.
    File(String),
    /// Model, and the file of its parameters, if given.
    Model(&'static ModelEntry, Option<String>),
}

/// One dimension of the settings, and its values.
#[derive(Clone, Debug)]
pub(super) struct Dimension {
    pub(super) key: DimensionKey,
    pub(super) values: Vec<Value>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DimensionKey {
    Load,
    Estimates,
    Users,
    Procs,
}

impl DimensionKey {
    pub(super) const ALL: [Self; 4] = [Self::Load, Self::Estimates, Self::Users, Self::Procs];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Estimates => "estimates",
            Self::Users => "users",
            Self::Procs => "procs",
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Estimates(Estimates),
    Procs(u32),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Estimates(estimates) => estimates.fmt(f),
            Self::Procs(procs) => procs.fmt(f),
        }
    }
}

/// One combination of values: for each dimension, the position of its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting(pub(super) Vec<usize>);

/// Method of replication.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Blocks { weeks: Option<u64> },
    Users { weeks: Option<u64> },
    Shake { most: Span },
    Weeks,
    Seeds,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Blocks { .. } => "blocks",
            Self::Users { .. } => "users",
            Self::Shake { .. } => "shake",
            Self::Weeks => "weeks",
            Self::Seeds => "seeds",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) says: String,
    pub(super) metric: Metric,
    pub(super) policy: usize,
    pub(super) is_below: bool,
    pub(super) bound: Against,
    /// Least difference relative to the other policy's value: 0.1 for ten percent, 0 for any difference.
    pub(super) by: f64,
    /// True if each log is judged by itself.
    pub(super) every_log: bool,
    /// Dimensions whose values are judged one by one; the mean is taken over the others.
    pub(super) every: Vec<DimensionKey>,
    /// `mine.toml:12`.
    pub(super) source: String,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Against {
    Policy(usize),
    Number(f64),
}

impl Claim {
    /// Part of the other policy's value that the claim compares with: 0.9 for "below by 10 %".
    pub(super) fn share(&self) -> f64 {
        if self.is_below { 1.0 - self.by } else { 1.0 + self.by }
    }
}

impl Design {
    /// A tenth of the work or less.
    pub(super) fn quick(mut self) -> Self {
        const JOBS: u32 = 2_000;
        self.count = (self.count / 10).max(3).min(self.count);
        // Weeks and users are drawn from the whole log, since few jobs may not cover the weeks that they need: the number of weeks
        // is cut instead.
        match &mut self.method {
            Method::Blocks { weeks } => *weeks = Some(weeks.unwrap_or(12).min(12)),
            Method::Users { weeks } => *weeks = Some(weeks.unwrap_or(8).min(8)),
            Method::Shake { .. } | Method::Weeks | Method::Seeds => {
                for log in self.logs.iter_mut().filter(|log| matches!(log.from, From::File(_))) {
                    log.count = Some(log.count.unwrap_or(JOBS).min(JOBS));
                }
            }
        }
        for log in self.logs.iter_mut().filter(|log| matches!(log.from, From::Model(..))) {
            log.count = Some(log.count.unwrap_or(JOBS).min(JOBS));
        }
        self.vary.iter_mut().for_each(|dimension| dimension.values.truncate(2));
        self
    }

    /// Every combination, the last dimension fastest.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut all = vec![Setting(Vec::new())];
        for dimension in &self.vary {
            all = all
                .iter()
                .flat_map(|setting| {
                    (0..dimension.values.len()).map(|value| {
                        let mut longer = setting.clone();
                        longer.0.push(value);
                        longer
                    })
                })
                .collect();
        }
        all
    }

    /// Value of a dimension in a setting, if it is varied.
    pub(super) fn value(&self, setting: &Setting, key: DimensionKey) -> Option<Value> {
        let at = self.vary.iter().position(|dimension| dimension.key == key)?;
        Some(self.vary[at].values[setting.0[at]])
    }

    /// Number of users in a setting, relative to the log's own.
    pub(super) fn users(&self, setting: &Setting) -> f64 {
        match self.value(setting, DimensionKey::Users) {
            Some(Value::Number(users)) => users,
            _ => 1.0,
        }
    }

    /// The values of a setting, as in the columns of tables.
    pub(super) fn texts(&self, setting: &Setting) -> Vec<String> {
        self.vary.iter().zip(&setting.0).map(|(dimension, value)| dimension.values[*value].to_string()).collect()
    }

    /// A setting in words, `load 0.8, estimates user`; empty if nothing is varied.
    pub(super) fn in_words(&self, setting: &Setting) -> String {
        let parts = self.vary.iter().zip(self.texts(setting));
        parts.map(|(dimension, value)| format!("{} {value}", dimension.key.name())).collect::<Vec<_>>().join(", ")
    }
}
