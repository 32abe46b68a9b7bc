//! The design of an experiment: its file, read and checked.

pub(crate) mod check;
pub(crate) mod file;
pub(crate) mod measure;
pub(crate) mod workloads;

use crate::design::file::{Log, Method, Replicate, WholeNumber};
use metrics::OwnMetric;
use replay::simulate::policy::Policy;
use workload::Estimates;

/// A metric of the catalogue, or of the program's own: a column of runs.csv.
pub(super) type Metric = &'static metrics::Metric;

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
    pub(super) replicate: Replicate,
    pub(super) claims: Vec<Claim>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `load` or `users`, relative to the log's own, or `procs`.
    Number(&'static str, f64),
    Estimates(Estimates),
}

impl Value {
    /// The key of the file, and the column of tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Number(name, _) => name,
            Self::Estimates(_) => "estimates",
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Number(_, number) => number.to_string(),
            Self::Estimates(estimates) => estimates.to_string(),
        }
    }
}

/// `load 0.8`.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name(), self.text())
    }
}

/// One combination of values, in the order of the dimensions.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting(pub(super) Vec<Value>);

impl Setting {
    /// The value of a number, if it is varied.
    pub(super) fn number(&self, wanted: &str) -> Option<f64> {
        self.0.iter().find_map(|value| match value {
            Value::Number(name, number) if *name == wanted => Some(*number),
            _ => None,
        })
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was read as a u32")]
    pub(super) fn procs(&self) -> Option<u32> {
        self.number("procs").map(|procs| procs as u32)
    }

    pub(super) fn estimates(&self, log: &Log) -> Estimates {
        let varied = |value: &Value| if let Value::Estimates(estimates) = value { Some(*estimates) } else { None };
        let own = || log.estimates.map(|own| own.0);
        self.0.iter().find_map(varied).or_else(own).unwrap_or(Estimates::User)
    }

    /// `load 0.8, estimates user`; empty if nothing is varied.
    pub(super) fn in_words(&self) -> String {
        self.0.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
    }
}

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
        const JOBS: WholeNumber<1, 100_000_000> = WholeNumber(2_000);
        let count = self.replicate.count();
        self.replicate.count = Some(WholeNumber((count / 10).max(3).min(count)));
        // Weeks and users are drawn from the whole log, since few jobs may not cover the weeks that they need: the number of weeks
        // is cut instead.
        let most = match self.replicate.method {
            Method::Blocks => Some(12),
            Method::Users => Some(8),
            Method::Shake | Method::Seeds => None,
        };
        self.replicate.weeks =
            most.map(WholeNumber).map(|most| self.replicate.weeks.map_or(most, |weeks| weeks.min(most)));
        for log in self.logs.iter_mut().filter(|log| most.is_none() || log.model.is_some()) {
            log.count = Some(log.count.map_or(JOBS, |count| count.min(JOBS)));
        }
        self.vary.iter_mut().for_each(|values| values.truncate(2));
        self
    }

    /// Every combination, the last dimension fastest.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let with = |setting: &Setting, value: &Value| Setting([&setting.0[..], &[*value]].concat());
        self.vary.iter().fold(vec![Setting::default()], |all, values| {
            all.iter().flat_map(|setting| values.iter().map(move |value| with(setting, value))).collect()
        })
    }

    /// Names of the dimensions.
    pub(super) fn varied(&self) -> impl Iterator<Item = &'static str> {
        self.vary.iter().map(|values| values[0].name())
    }
}
