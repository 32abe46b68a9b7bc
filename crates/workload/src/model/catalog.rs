//! The interface of a model, and the form in which all are listed.

use super::ModelJob;
use crate::error::{InputError, ParameterError};
use crate::swf::SwfReader;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sim_core::Streams;
use std::fmt;

/// A model of workloads: parameters that a preset can hold, and the jobs that are drawn from them.
///
/// A model that implements it in a file of its own and stands in the list of [`models`](super::models) can be drawn from by
/// `workload generate` and by experiments, and, with a [`Measurement`], be measured in a log by `workload fit`.
pub trait WorkloadModel: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// As on the command line, such as `downey`.
    const NAME: &'static str;
    /// Whose model it is and what it draws, for `--help`: half a sentence, without a dot.
    const SUMMARY: &'static str;
    /// Origin of the jobs, for the head of a log, such as "the model of Downey (1997)".
    const ORIGIN: &'static str;
    /// Processors of the smallest machine, if the parameters follow the machine.
    const LEAST_PROCESSORS: Option<u32> = None;
    /// The parameters where no preset is given, for a number of processors or as published; `None` if they are measured in a log.
    const DEFAULTS: Option<fn(Option<u32>) -> Self>;
    /// Presets of their own names, which stand for certain logs.
    const STAND_INS: &'static [StandIn<Self>] = &[];
    /// Measurement in a log, if there is one.
    const MEASUREMENT: Option<Measurement<Self>> = None;

    /// Whether the parameters describe a workload.
    ///
    /// # Errors
    ///
    /// Names the first field that does not.
    fn validate(&self) -> Result<(), ParameterError>;

    /// Processors of the machine that its jobs are for: the largest size that the parameters name.
    fn processors(&self) -> u32;

    /// Jobs without end (up to 4 billion), in order of submission, numbered in that order.
    ///
    /// # Panics
    ///
    /// If [`validate`](Self::validate) finds fault with the parameters.
    fn jobs(&self, streams: &Streams) -> impl Iterator<Item = ModelJob> + 'static;
}

/// A preset that comes with a model and stands for a log.
pub struct StandIn<M> {
    /// As on the command line.
    pub name: &'static str,
    /// As [`WorkloadModel::SUMMARY`].
    pub summary: &'static str,
    /// As [`WorkloadModel::ORIGIN`].
    pub origin: &'static str,
    /// Processors of the machine of that log.
    pub processors: u32,
    /// Its parameters.
    pub make: fn() -> M,
}

/// Measurement of a model in a log.
pub struct Measurement<M> {
    /// The quantities that are measured, for `--help`: without a dot.
    pub what: &'static str,
    /// Whether hours of the day matter, and with them the zone of the log.
    pub knows_hours: bool,
    /// Measures the model and describes it in a line, given the seconds by which local time was ahead of UTC, for a log whose
    /// header does not give them.
    pub measure: fn(SwfReader, Option<i32>) -> Measured<M>,
}

/// A model that was measured in a log, described in a line.
pub type Measured<M> = Result<(M, String), MeasureError>;

/// The reason why no model was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The log is faulty, or cannot be read.
    #[error(transparent)]
    Log(#[from] InputError),
    /// There is too little to measure; the message names the log, and what it needs.
    #[error("{0}")]
    TooFew(String),
}

/// A name that jobs can be drawn under: a model, or one of its stand-ins.
pub struct ModelEntry {
    /// As on the command line.
    pub name: &'static str,
    /// Whose model it is and what it draws.
    pub summary: &'static str,
    /// Origin of the jobs, for the head of a log.
    pub origin: &'static str,
    /// The model whose preset this is, if it stands for a log.
    pub preset_of: Option<&'static str>,
    /// Processors of the smallest machine that the model can be asked for, if it follows machines at all.
    pub least_processors: Option<u32>,
    /// Processors of the machine of the log that it stands for.
    pub stands_for_processors: Option<u32>,
    /// Measurement in a log, if there is one.
    pub fit: Option<Measurement<Parameters>>,
    /// The parameters of a preset. They may describe no workload: see [`AnyModel::check`].
    pub of_toml: fn(&str) -> Result<Parameters, toml::de::Error>,
    /// The same, of what [`AnyModel::to_value`] gave.
    pub of_value: fn(toml::Value) -> Result<Parameters, toml::de::Error>,
    defaults: Option<Box<dyn Fn(Option<u32>) -> Parameters + Send + Sync>>,
}

impl fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ModelEntry {
    /// The names of a model: those of its stand-ins, and its own.
    pub(super) fn of<M: WorkloadModel>() -> impl Iterator<Item = Self> {
        let itself = || Self {
            name: M::NAME,
            summary: M::SUMMARY,
            origin: M::ORIGIN,
            preset_of: None,
            least_processors: M::LEAST_PROCESSORS,
            stands_for_processors: None,
            fit: M::MEASUREMENT.map(|Measurement { what, knows_hours, .. }| Measurement {
                what,
                knows_hours,
                measure: |log, utc_offset| {
                    let how = M::MEASUREMENT.expect("only what can be measured is listed so");
                    (how.measure)(log, utc_offset).map(|(model, words)| (Box::new(model) as Parameters, words))
                },
            }),
            of_toml: |text| toml::from_str::<M>(text).map(|model| Box::new(model) as Parameters),
            of_value: |value| value.try_into::<M>().map(|model| Box::new(model) as Parameters),
            defaults: M::DEFAULTS
                .map(|make| Box::new(move |processors| Box::new(make(processors)) as Parameters) as Box<_>),
        };
        let stand_ins = M::STAND_INS.iter().map(move |stand_in| Self {
            name: stand_in.name,
            summary: stand_in.summary,
            origin: stand_in.origin,
            preset_of: Some(M::NAME),
            least_processors: None,
            stands_for_processors: Some(stand_in.processors),
            fit: None,
            defaults: Some(Box::new(|_| Box::new((stand_in.make)()))),
            ..itself()
        });
        stand_ins.chain(std::iter::once_with(itself))
    }

    /// The parameters where no preset is given; of a machine of `processors` processors, if the model follows machines. `None` if it
    /// has none of its own.
    ///
    /// # Panics
    ///
    /// If there are fewer processors than [`least_processors`](Self::least_processors).
    pub fn defaults(&self, processors: Option<u32>) -> Option<Parameters> {
        self.defaults.as_ref().map(|make| make(processors))
    }
}

/// The parameters of some model.
pub type Parameters = Box<dyn AnyModel>;

/// [`WorkloadModel`] without its type.
pub trait AnyModel: Send + Sync {
    /// As a preset.
    ///
    /// # Errors
    ///
    /// If a field is none that TOML has.
    fn to_toml(&self) -> Result<String, toml::ser::Error>;

    /// As a tree in which single values can be changed.
    ///
    /// # Errors
    ///
    /// If a field is none that TOML has.
    fn to_value(&self) -> Result<toml::Value, toml::ser::Error>;

    /// See [`WorkloadModel::validate`].
    ///
    /// # Errors
    ///
    /// Names the first field that describes no workload.
    fn check(&self) -> Result<(), ParameterError>;

    /// See [`WorkloadModel::processors`].
    fn processors(&self) -> u32;

    /// See [`WorkloadModel::jobs`].
    ///
    /// # Panics
    ///
    /// If [`check`](Self::check) finds fault with them.
    fn draw(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>>;
}

impl<M: WorkloadModel> AnyModel for M {
    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    fn to_value(&self) -> Result<toml::Value, toml::ser::Error> {
        toml::Value::try_from(self)
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.validate()
    }

    fn processors(&self) -> u32 {
        WorkloadModel::processors(self)
    }

    fn draw(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        Box::new(self.jobs(streams))
    }
}
