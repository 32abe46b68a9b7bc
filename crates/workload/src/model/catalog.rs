//! What is asked of a model, and the form in which all are listed.

use super::ModelJob;
use crate::swf::{SwfError, SwfReader};
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
    /// What jobs are drawn from, for the head of a log, such as "the model of Downey (1997)".
    const ORIGIN: &'static str;
    /// The parameters where no preset is given.
    const DEFAULTS: Defaults<Self>;
    /// Presets of their own names, which stand for certain logs.
    const STAND_INS: &'static [StandIn<Self>] = &[];
    /// How it is measured in a log, if it can be.
    const MEASUREMENT: Option<Measurement<Self>> = None;

    /// Whether the parameters describe a workload.
    ///
    /// # Errors
    ///
    /// Names the first field that does not.
    fn check(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;

    /// Processors of the machine that its jobs are for: the largest size that the parameters name.
    fn processors(&self) -> u32;

    /// Jobs without end, in order of submission, numbered in that order.
    ///
    /// # Panics
    ///
    /// If [`check`](Self::check) finds fault with the parameters.
    fn draw(&self, streams: &Streams) -> impl Iterator<Item = ModelJob> + 'static;
}

/// Parameters that a model has by itself.
pub enum Defaults<M> {
    /// One set, whatever the machine.
    Published(fn() -> M),
    /// They follow the machine.
    ForMachine {
        /// Processors of the smallest machine.
        least: u32,
        /// The parameters for `processors` processors; as published, where their number is not given.
        make: fn(Option<u32>) -> M,
    },
    /// None: they are measured in a log.
    Measured,
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

/// How a model is measured in a log.
pub struct Measurement<M> {
    /// What is measured, for `--help`: without a dot.
    pub what: &'static str,
    /// Whether hours of the day matter, and with them the zone of the log.
    pub knows_hours: bool,
    /// Measures it, given the seconds by which local time was ahead of UTC, where the header does not tell.
    pub measure: fn(SwfReader, Option<i32>) -> Result<M, MeasureError>,
    /// The outcome in a line.
    pub in_words: fn(&M) -> String,
}

/// Why no model was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The log is faulty, or cannot be read.
    #[error(transparent)]
    Log(#[from] SwfError),
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
    /// What jobs are drawn from, for the head of a log.
    pub origin: &'static str,
    /// The model whose preset this is, if it stands for a log.
    pub preset_of: Option<&'static str>,
    /// Processors of the smallest machine that the model can be asked for, if it follows machines at all.
    pub least_processors: Option<u32>,
    /// Processors of the machine of the log that it stands for.
    pub stands_for_processors: Option<u32>,
    /// How it is measured in a log, if it can be.
    pub fit: Option<Fit>,
    defaults: Option<Box<dyn Fn(Option<u32>) -> Parameters + Send + Sync>>,
    of_toml: fn(&str) -> Result<Parameters, toml::de::Error>,
    of_value: fn(toml::Value) -> Result<Parameters, toml::de::Error>,
}

impl fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ModelEntry {
    /// The names of a model: those of its stand-ins, and its own.
    pub(super) fn of<M: WorkloadModel>() -> impl Iterator<Item = Self> {
        let stand_ins = M::STAND_INS.iter().map(|stand_in| Self {
            name: stand_in.name,
            summary: stand_in.summary,
            origin: stand_in.origin,
            preset_of: Some(M::NAME),
            least_processors: None,
            stands_for_processors: Some(stand_in.processors),
            fit: None,
            defaults: Some(Box::new(|_| Parameters::of((stand_in.make)()))),
            of_toml: of_toml::<M>,
            of_value: of_value::<M>,
        });
        stand_ins.chain(std::iter::once_with(Self::itself::<M>))
    }

    fn itself<M: WorkloadModel>() -> Self {
        Self {
            name: M::NAME,
            summary: M::SUMMARY,
            origin: M::ORIGIN,
            preset_of: None,
            least_processors: match M::DEFAULTS {
                Defaults::ForMachine { least, .. } => Some(least),
                Defaults::Published(_) | Defaults::Measured => None,
            },
            stands_for_processors: None,
            fit: M::MEASUREMENT.map(Fit::of),
            defaults: match M::DEFAULTS {
                Defaults::Published(make) => Some(Box::new(move |_| Parameters::of(make()))),
                Defaults::ForMachine { make, .. } => Some(Box::new(move |processors| Parameters::of(make(processors)))),
                Defaults::Measured => None,
            },
            of_toml: of_toml::<M>,
            of_value: of_value::<M>,
        }
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

    /// The parameters of a preset. They may describe no workload: see [`Parameters::check`].
    ///
    /// # Errors
    ///
    /// If that is no TOML, or has not the fields of this model.
    pub fn of_toml(&self, text: &str) -> Result<Parameters, toml::de::Error> {
        (self.of_toml)(text)
    }

    /// The same, of what [`Parameters::to_value`] gave.
    ///
    /// # Errors
    ///
    /// If it has not the fields of this model.
    pub fn of_value(&self, value: toml::Value) -> Result<Parameters, toml::de::Error> {
        (self.of_value)(value)
    }
}

fn of_toml<M: WorkloadModel>(text: &str) -> Result<Parameters, toml::de::Error> {
    toml::from_str::<M>(text).map(Parameters::of)
}

fn of_value<M: WorkloadModel>(value: toml::Value) -> Result<Parameters, toml::de::Error> {
    value.try_into::<M>().map(Parameters::of)
}

/// How some model is measured in a log.
pub struct Fit {
    /// What is measured, for `--help`.
    pub what: &'static str,
    /// Whether hours of the day matter, and with them the zone of the log.
    pub knows_hours: bool,
    measure: Box<Measure>,
}

type Measure = dyn Fn(SwfReader, Option<i32>) -> Result<(Parameters, String), MeasureError> + Send + Sync;

impl Fit {
    fn of<M: WorkloadModel>(how: Measurement<M>) -> Self {
        let Measurement { what, knows_hours, measure, in_words } = how;
        let measure = move |log: SwfReader, utc_offset: Option<i32>| {
            let model = measure(log, utc_offset)?;
            let words = in_words(&model);
            Ok((Parameters::of(model), words))
        };
        Self { what, knows_hours, measure: Box::new(measure) }
    }

    /// The parameters as measured in a log, and the outcome in a line. `utc_offset` are the seconds by which local time was ahead
    /// of UTC, where the header does not tell.
    ///
    /// # Errors
    ///
    /// If the log is faulty, or has too few jobs.
    pub fn measure(&self, log: SwfReader, utc_offset: Option<i32>) -> Result<(Parameters, String), MeasureError> {
        (self.measure)(log, utc_offset)
    }
}

/// The parameters of some model.
pub struct Parameters(Box<dyn Erased>);

impl Parameters {
    fn of(model: impl WorkloadModel) -> Self {
        Self(Box::new(model))
    }

    /// As a preset.
    ///
    /// # Errors
    ///
    /// If a field is none that TOML has.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        self.0.to_toml()
    }

    /// As a tree in which single values can be changed.
    ///
    /// # Errors
    ///
    /// If a field is none that TOML has.
    pub fn to_value(&self) -> Result<toml::Value, toml::ser::Error> {
        self.0.to_value()
    }

    /// See [`WorkloadModel::check`].
    ///
    /// # Errors
    ///
    /// Names the first field that describes no workload.
    pub fn check(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.0.check()
    }

    /// See [`WorkloadModel::processors`].
    pub fn processors(&self) -> u32 {
        self.0.processors()
    }

    /// See [`WorkloadModel::draw`].
    ///
    /// # Panics
    ///
    /// If [`check`](Self::check) finds fault with them.
    pub fn draw(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.0.draw(streams)
    }
}

/// [`WorkloadModel`] without its type.
trait Erased: Send + Sync {
    fn to_toml(&self) -> Result<String, toml::ser::Error>;
    fn to_value(&self) -> Result<toml::Value, toml::ser::Error>;
    fn check(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
    fn processors(&self) -> u32;
    fn draw(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>>;
}

impl<M: WorkloadModel> Erased for M {
    fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    fn to_value(&self) -> Result<toml::Value, toml::ser::Error> {
        toml::Value::try_from(self)
    }

    fn check(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        WorkloadModel::check(self)
    }

    fn processors(&self) -> u32 {
        WorkloadModel::processors(self)
    }

    fn draw(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        Box::new(WorkloadModel::draw(self, streams))
    }
}
