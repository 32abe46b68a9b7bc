//! Jobs in sessions, with parameters measured in a log.

mod fit;
mod jobs;

pub use fit::fit;

use super::{ModelEntry, ModelJob, WorkloadModel};
use crate::error::{ParameterError, WEIGHTS, are_weights};
use jobs::SessionJobs;
use serde::{Deserialize, Serialize};
use sim_core::Streams;

/// Stand-in for a log: users submit in sessions, more by day than by night and on weekdays than on weekends, and within
/// a session mostly repeat their requests. [`fit`] measures its parameters in a log; two presets stand for the logs of
/// Dakkak, Nor & Arif (2017).
///
/// - Sessions begin as a Poisson process whose rate follows the hour of the day and the day of the week.
/// - A session belongs to one user and has a number of jobs with gaps between them.
/// - A job repeats the request of the previous job of the session with probability `repeat`. Otherwise it draws a new
///   request: a size, nodes and a cluster for that size, and an estimate for that size, all from tables. So the shares
///   of the tables are those of the jobs, for sessions of any length.
/// - A job's run time is a fraction of its estimate that depends on the estimate. The fractions of successive jobs of a
///   session are correlated (a Gaussian copula), and still have the distribution of the table.
///
/// The model omits repetitions of a user's requests across sessions, and trends over weeks.
///
/// ```
/// use sim_core::Streams;
/// use workload::model::{SessionModel, WorkloadModel};
///
/// let jobs: Vec<_> = SessionModel::wagap_like().jobs(&Streams::new(1, 0)).take(3000).collect();
/// assert!(jobs.iter().all(|job| job.job.limit.is_some() && job.further.is_some()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionModel {
    /// Mean number of sessions that begin in a day.
    pub sessions_per_day: f64,
    /// Sessions that begin in each hour of the day, relative to each other.
    pub by_hour: [f64; 24],
    /// Sessions that begin on each day of the week, Monday first, relative to each other.
    pub by_weekday: [f64; 7],
    /// Hour of the week at which the workload begins, 0 for Monday midnight.
    #[serde(default)]
    pub start_hour: u32,
    /// Jobs of a session.
    pub session_jobs: Quantiles,
    /// Seconds from one job of a session to the next.
    pub session_gap: Quantiles,
    /// Probability that a job repeats the request of the previous job of the session.
    pub repeat: f64,
    /// Correlation of the normal scores of successive parts of estimates.
    pub persistence: f64,
    /// Factor of every run time.
    #[serde(default = "one")]
    pub runtime_factor: f64,
    /// Shares of the users, relative to each other. The position of a user is its number.
    pub users: Vec<f64>,
    /// Requests of jobs.
    pub sizes: Vec<SizeShare>,
    /// Estimates, for jobs from small to large.
    pub estimates: Vec<EstimateShares>,
    /// Run times as parts of the estimate, for estimates from short to long.
    pub runtimes: Vec<RuntimeParts>,
}

const fn one() -> f64 {
    1.0
}

/// Jobs with one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Number of processors.
    pub processors: u32,
    /// Number of these jobs, relative to other sizes.
    pub weight: f64,
    /// Requested nodes; an empty list means as many nodes of one processor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Shape>,
}

/// Requested nodes of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Processors of each node; a divisor of the size.
    pub ppn: u32,
    /// Cluster that the job demands, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Number of jobs of that size with this request, relative to its other shapes.
    pub weight: f64,
}

/// Estimates of jobs of some sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimateShares {
    /// Largest number of processors of this entry; earlier entries come first, and the last one includes all larger jobs.
    pub up_to: u32,
    /// Seconds, with the number of jobs with that estimate, relative to the others.
    pub values: Vec<(u32, f64)>,
}

/// Run times of jobs with some estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeParts {
    /// Longest estimate of this entry, in seconds; earlier entries come first, and the last one includes all longer estimates.
    pub up_to: u32,
    /// Run time over estimate.
    pub parts: Quantiles,
}

impl SessionModel {
    /// Returns the stand-in for the log of Wagap (zewura and zegox, 2176 processors), as [`fit`] measured it in that log.
    pub fn wagap_like() -> Self {
        toml::from_str(include_str!("session/wagap-like.toml")).expect("the preset is sound, as a test shows")
    }

    /// Returns the stand-in for the log of Zewura, which is not public: the jobs of Wagap on zewura alone (20 × 80
    /// processors), without demands for a cluster, with run times scaled to the mean of 46 524.5 s that follows from
    /// the response and waiting times of the paper (its table 2).
    pub fn zewura_like() -> Self {
        let mut model = Self::wagap_like();
        for shape in model.sizes.iter_mut().flat_map(|size| &mut size.shapes) {
            shape.cluster = None;
        }
        model.runtime_factor = ZEWURA_FACTOR;
        model
    }
}

impl WorkloadModel for SessionModel {
    fn entries() -> Vec<ModelEntry> {
        let summary = "Users' sessions, as measured in a log by `workload fit`; needs --preset";
        let itself = ModelEntry::of::<Self>("session", summary, "a model measured in a log");
        let stand_in = ModelEntry { preset_of: Some(itself.name), ..itself };
        let wagap = ModelEntry {
            name: "wagap-like",
            summary: "A stand-in for the log of Wagap (2176 processors), measured in that log",
            origin: "a model measured in the log wagap-2013 of CERIT-SC, MetaCentrum",
            stands_for_processors: Some(2176),
            defaults: Some(|_| Box::new(Self::wagap_like())),
            ..stand_in
        };
        let zewura = ModelEntry {
            name: "zewura-like",
            summary: "A stand-in for the log of Zewura (1600 processors), which is not public",
            origin: "a model of the log of Zewura, after wagap-2013 of CERIT-SC, MetaCentrum",
            stands_for_processors: Some(1600),
            defaults: Some(|_| Box::new(Self::zewura_like())),
            ..stand_in
        };
        vec![wagap, zewura, itself]
    }

    fn validate(&self) -> Result<(), ParameterError> {
        let check = |field: &str, is_good: bool, expected: &str| {
            ParameterError::check(is_good, || format!("{field}: expected {expected}"))
        };
        let is_positive = |value: f64| (1e-6..=1e6).contains(&value);
        check("sessions_per_day", is_positive(self.sessions_per_day), "a number from 0.000001 to 1000000")?;
        check("by_hour", are_weights(self.by_hour.into_iter()), WEIGHTS)?;
        check("by_weekday", are_weights(self.by_weekday.into_iter()), WEIGHTS)?;
        check("start_hour", self.start_hour < 168, "an hour of the week, 0 to 167")?;
        check("session_jobs", self.session_jobs.is_within(1.0, 1e6), "seventeen ascending numbers from 1 to 1000000")?;
        check("session_gap", self.session_gap.is_within(0.0, 1e6), "seventeen ascending numbers from 0 to 1000000")?;
        check("repeat", (0.0..=1.0).contains(&self.repeat), "a probability from 0 to 1")?;
        check("persistence", (-1.0..=1.0).contains(&self.persistence), "a correlation from -1 to 1")?;
        check("runtime_factor", is_positive(self.runtime_factor), "a number from 0.000001 to 1000000")?;
        check("users", are_weights(self.users.iter().copied()), WEIGHTS)?;
        check("sizes", are_weights(self.sizes.iter().map(|size| size.weight)), WEIGHTS)?;
        for (at, size) in self.sizes.iter().enumerate() {
            let name = |field: &str| format!("sizes[{at}].{field}");
            check(&name("processors"), size.processors > 0, "at least 1")?;
            let shapes = &size.shapes;
            let are_good = shapes.is_empty() || are_weights(shapes.iter().map(|shape| shape.weight));
            check(&name("shapes"), are_good, WEIGHTS)?;
            let divides = |shape: &Shape| shape.ppn > 0 && size.processors.is_multiple_of(shape.ppn);
            check(&name("shapes"), shapes.iter().all(divides), "ppn to divide processors")?;
            let is_word = |name: &String| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == ':');
            let are_words = shapes.iter().filter_map(|shape| shape.cluster.as_ref()).all(is_word);
            check(&name("shapes"), are_words, "clusters to be words without blanks and colons")?;
        }
        check("estimates", !self.estimates.is_empty(), "at least one entry")?;
        for (at, entry) in self.estimates.iter().enumerate() {
            let name = format!("estimates[{at}].values");
            check(&name, are_weights(entry.values.iter().map(|(_, weight)| *weight)), WEIGHTS)?;
            check(&name, entry.values.iter().all(|(seconds, _)| *seconds > 0), "estimates of at least a second")?;
        }
        check("estimates", self.estimates.is_sorted_by_key(|entry| entry.up_to), "entries sorted by up_to")?;
        check("runtimes", !self.runtimes.is_empty(), "at least one entry")?;
        for (at, entry) in self.runtimes.iter().enumerate() {
            let name = format!("runtimes[{at}].parts");
            check(&name, entry.parts.is_within(0.0, 1e6), "seventeen ascending numbers from 0 to 1000000")?;
        }
        check("runtimes", self.runtimes.is_sorted_by_key(|entry| entry.up_to), "entries sorted by up_to")
    }

    fn processors(&self) -> u32 {
        self.sizes.iter().map(|size| size.processors).max().unwrap_or(1)
    }

    fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.validate().unwrap_or_else(|error| panic!("{error}"));
        Box::new(SessionJobs::new(self.clone(), streams))
    }

    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

/// Factor with which the mean run time of [`SessionModel::zewura_like`], cut at the estimate, is 46 524.5 s.
const ZEWURA_FACTOR: f64 = 0.932_309;

/// Distribution of numbers from 0 on, as its quantiles at [`Quantiles::AT`]. In between, the distribution is uniform on
/// a logarithmic scale, or on a linear one if the lower quantile is zero.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quantiles(pub [f64; 17]);

impl Quantiles {
    /// Quantile levels of the table, from the least value to the largest.
    pub const AT: [f64; 17] =
        [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0];

    /// Returns the number below which this share of the distribution lies.
    pub fn at(&self, share: f64) -> f64 {
        let above = Self::AT.partition_point(|at| *at <= share).clamp(1, 16);
        let (low, high) = (self.0[above - 1], self.0[above]);
        let part = (share - Self::AT[above - 1]) / (Self::AT[above] - Self::AT[above - 1]);
        if low > 0.0 {
            // Equal ends are kept to the last bit.
            if low < high { low * libm::pow(high / low, part) } else { low }
        } else {
            low + part * (high - low)
        }
    }

    /// Returns true if the quantiles ascend from `least` or above to `most` or below.
    fn is_within(&self, least: f64, most: f64) -> bool {
        self.0.is_sorted() && self.0[0] >= least && self.0[16] <= most
    }
}
