//! The requested model, with its parameters.

use super::preset;
use crate::workload::cli::Generate;
use anyhow::{Result, anyhow, bail};
use sim_core::Streams;
use std::path::Path;
use workload::HeldLog;
use workload::model::{ModelEntry, ModelJob, Parameters, models};

pub(crate) struct CompleteModel {
    pub(super) model: &'static ModelEntry,
    parameters: Parameters,
    /// Processors of the machine that the jobs are for.
    pub(crate) processors: u32,
}

impl CompleteModel {
    /// The requested model; its parameters are valid.
    pub(in crate::workload) fn of(options: &Generate) -> Result<Self> {
        Self::new(options.model, options.procs, options.preset.as_deref(), &options.set)
    }

    /// The model of an experiment, for a machine of `procs` processors if it depends on them.
    ///
    /// # Errors
    ///
    /// Parameters that describe no workload.
    pub(crate) fn of_experiment(model: &'static ModelEntry, procs: Option<u32>, preset: Option<&Path>) -> Result<Self> {
        let takes_procs = model.least_processors.is_some() && preset.is_none();
        Self::new(model, procs.filter(|_| takes_procs), preset, &[])
    }

    fn new(model: &'static ModelEntry, procs: Option<u32>, preset: Option<&Path>, set: &[String]) -> Result<Self> {
        let name = model.name;
        match (procs, model.least_processors) {
            (Some(_), None) => {
                let others: Vec<&str> =
                    models().iter().filter(|model| model.least_processors.is_some()).map(|model| model.name).collect();
                bail!(
                    "--procs does not fit {name}: its sizes are those of a table; generate {}, or change the table in a \
                     preset (--show prints one)",
                    others.join(" or ")
                )
            }
            (Some(procs), Some(least)) if procs < least => {
                bail!("--procs {procs}: the jobs of {name} need a machine of at least {least} processors")
            }
            _ => {}
        }
        if let (Some(_), Some(general)) = (preset, model.preset_of) {
            bail!("--preset does not fit {name}, which is a preset itself; generate {general} --preset FILE");
        }
        let given = match preset {
            Some(path) => preset::read(model, path)?,
            None => model.defaults.map(|make| make(procs)).ok_or_else(|| {
                let program = lab::cli::program();
                anyhow!("{name}: needs --preset FILE; `{program} workload fit LOG --out FILE` measures one in a log")
            })?,
        };
        let parameters = preset::changed(model, given, set)?;
        parameters.validate().map_err(|error| anyhow!("{name}: {error}"))?;
        // The machine is large enough for every job of the log.
        let machine = procs.or(model.stands_for_processors).unwrap_or(0);
        Ok(Self { model, processors: machine.max(parameters.processors()), parameters })
    }

    /// All parameters, as a preset.
    pub(super) fn parameters(&self) -> Result<String> {
        Ok(self.parameters.to_toml()?)
    }

    /// Endless jobs, in order of submission.
    pub(super) fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.parameters.jobs(streams)
    }

    /// The first `count` jobs of one replication.
    pub(crate) fn drawn(&self, streams: &Streams, count: u32) -> HeldLog {
        HeldLog::of_model(self.jobs(streams).take(count as usize))
    }
}
