//! Interface of a model, and the entries of the list of models.

use super::ModelJob;
use crate::error::ParameterError;
use serde::de::DeserializeOwned;
use sim_core::Streams;

/// Model of workloads: parameters that a preset can hold, and the jobs drawn from them.
///
/// A model that implements this trait in a file of its own and is in the list of [`models`](super::models) is available
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
    /// Name on the command line, such as `downey`.
    pub name: &'static str,
    /// Authors and content of the model, for `--help`: half a sentence, without a dot.
    pub summary: &'static str,
    /// Origin of the jobs, for the head of a log, such as "the model of Downey (1997)".
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
    pub(super) fn of<M: WorkloadModel + DeserializeOwned + 'static>(
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
