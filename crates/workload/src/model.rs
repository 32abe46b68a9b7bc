//! Models of the workload of parallel machines: a published one, and one that is fitted to a log.
//!
//! | model | source | content |
//! |---|---|---|
//! | [`Lublin`] | Lublin & Feitelson (1999, 2003) | arrivals with a daily cycle, sizes, run times that depend on them |
//! | [`SessionModel`] | a log, by [`fit`] | users' sessions, requests for nodes, estimates and run times |
//! | [`Tsafrir`] | Tsafrir, Etsion & Feitelson (2005) | users' estimates for the jobs of any source |
//!
//! Each contains its parameters, the published ones with the published values as default. Each attribute has its own
//! stream, so a change of one parameter moves no draw of another attribute. All times are whole seconds, as in logs, so
//! that a workload is the same if it is written to a file or simulated at once.
//!
//! [`models`] lists those available to `workload generate` and experiments; each is a [`WorkloadModel`].

mod lublin;
mod session;
mod tsafrir;

pub use lublin::{Lublin, LublinClass};
pub use session::{EstimateShares, Quantiles, RuntimeParts, SessionModel, Shape, SizeShare, fit};
pub use tsafrir::Tsafrir;

use crate::error::ParameterError;
use crate::format::swf::SwfRecord;
use crate::intake::held::{HeldJob, HeldLog};
use serde::de::DeserializeOwned;
use sim_core::{Span, Streams, Time};
use std::sync::LazyLock;

/// Model of workloads: parameters that a preset can hold, and the jobs drawn from them.
///
/// A model that implements this trait in a file of its own and is in the list of [`models`] is available
/// to `workload generate` and to experiments.
pub trait WorkloadModel: Send + Sync {
    /// Entries of the model in the list: presets with names of their own, which stand for certain logs, then the model itself.
    fn entries() -> Vec<ModelEntry>
    where
        Self: Sized;

    /// Checks that the parameters describe a workload.
    ///
    /// # Errors
    ///
    /// Names the first field that does not.
    fn validate(&self) -> Result<(), ParameterError>;

    /// Processors of the machine that its jobs are for: the largest size in the parameters.
    fn processors(&self) -> u32;

    /// Draws jobs without end (up to 4 billion), in order of submission, numbered in that order.
    ///
    /// # Panics
    ///
    /// If [`validate`](Self::validate) finds fault with the parameters.
    fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>>;

    /// Returns the parameters as a preset.
    ///
    /// # Errors
    ///
    /// If TOML has no type for a field.
    fn to_toml(&self) -> Result<String, toml::ser::Error>;
}

/// Parameters of some model.
pub type Parameters = Box<dyn WorkloadModel>;

/// Name from which jobs can be drawn: a model, or one of its stand-ins.
#[derive(Copy, Clone, Debug)]
pub struct ModelEntry {
    /// Name on the command line, such as `lublin`.
    pub name: &'static str,
    /// Authors and content of the model, for `--help`: half a sentence, without a dot.
    pub summary: &'static str,
    /// Origin of the jobs, for the head of a log, such as "the model of Lublin & Feitelson (2003)".
    pub origin: &'static str,
    /// Model of which this is a preset, if it stands for a log.
    pub preset_of: Option<&'static str>,
    /// Processors of the smallest machine that the model supports, if its parameters follow the machine.
    pub least_processors: Option<u32>,
    /// Processors of the machine of the log that it stands for.
    pub stands_for_processors: Option<u32>,
    /// Parses the parameters of a preset. They may describe no workload: see [`WorkloadModel::validate`].
    pub of_toml: fn(&str) -> Result<Parameters, toml::de::Error>,
    /// Parses the parameters from a preset as a tree.
    pub of_value: fn(toml::Value) -> Result<Parameters, toml::de::Error>,
    /// Parameters without a preset, for a machine of at least [`least_processors`](Self::least_processors) processors if the model
    /// follows machines, or as published; `None` if they are measured in a log.
    pub defaults: Option<fn(Option<u32>) -> Parameters>,
}

impl ModelEntry {
    /// Returns the entry of a model without defaults that does not follow machines.
    fn of<M: WorkloadModel + DeserializeOwned + 'static>(
        name: &'static str,
        summary: &'static str,
        origin: &'static str,
    ) -> Self {
        Self {
            name,
            summary,
            origin,
            preset_of: None,
            least_processors: None,
            stands_for_processors: None,
            of_toml: |text| toml::from_str::<M>(text).map(|model| Box::new(model) as Parameters),
            of_value: |value| value.try_into::<M>().map(|model| Box::new(model) as Parameters),
            defaults: None,
        }
    }
}

/// Lists every name from which jobs can be drawn: each model, preceded by its presets. A new model needs a file that
/// implements [`WorkloadModel`], its `mod` line above, and a line here.
pub fn models() -> &'static [ModelEntry] {
    static MODELS: LazyLock<Vec<ModelEntry>> = LazyLock::new(|| [Lublin::entries(), SessionModel::entries()].concat());
    &MODELS
}

/// Returns the model or preset with that name.
///
/// ```
/// use workload::model::named;
///
/// let wagap = named("wagap-like").expect("a stand-in for a log");
/// assert_eq!(wagap.preset_of, Some("session"));
/// assert!(named("wagap").is_none());
/// ```
pub fn named(name: &str) -> Option<&'static ModelEntry> {
    models().iter().find(|model| model.name == name)
}

/// Job drawn from a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelJob {
    /// Job, numbered from 1, with a limit and a user if the model has them.
    pub job: HeldJob,
    /// Queue or class, if the model has several.
    pub queue: Option<u32>,
    /// Columns 20 and 21 of a log of MetaCentrum, if the model has them: the queue's name, and the requested nodes.
    pub further: Option<Box<str>>,
}

impl ModelJob {
    /// Returns the job that is drawn after `before` others.
    pub(crate) fn new(before: u32, submit: Time, processors: u32, runtime: Span) -> Self {
        let number = u64::from(before) + 1;
        let job = HeldJob { submit, runtime, wait: None, limit: None, due: None, processors, user: None, number };
        Self { job, queue: None, further: None }
    }

    /// Converts the job to the record of a log.
    pub fn record(&self) -> SwfRecord {
        let record = self.job.record(Span::ZERO, SwfRecord::default());
        SwfRecord { queue: self.queue, further: self.further.clone(), ..record }
    }
}

impl HeldLog {
    /// Holds the jobs of a model.
    pub fn of_model(jobs: impl Iterator<Item = ModelJob>) -> Self {
        Self::of(jobs.map(|job| job.job).collect())
    }
}

/// Returns the beginning of the second that contains `seconds`; the range of time ends after 584 years.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
pub(crate) fn at_second(seconds: f64) -> Time {
    Time::from_secs((seconds as u64).min(LATEST))
}

/// Rounds a number of seconds up; at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is wanted")]
pub(crate) fn whole_seconds(seconds: f64) -> Span {
    Span::from_secs((libm::ceil(seconds) as u64).clamp(1, LATEST))
}

/// Latest time that a log can hold: 136 years, in seconds.
const LATEST: u64 = u32::MAX as u64;
