//! The model that was asked for, with its parameters.

use super::preset;
use crate::workload::cli::Generate;
use anyhow::{Result, anyhow, bail};
use sim_core::Streams;
use workload::model::{ModelEntry, ModelJob, Parameters, models};

/// A model that jobs are drawn from.
pub(in crate::workload) struct Drawn {
    model: &'static ModelEntry,
    parameters: Parameters,
    /// Of the machine, for the head of the log.
    processors: u32,
}

impl Drawn {
    /// The model that was asked for; its parameters are sound.
    pub(in crate::workload) fn of(options: &Generate) -> Result<Self> {
        let model = options.model;
        let name = model.name;
        match (options.procs, model.least_processors) {
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
        if let (Some(_), Some(general)) = (&options.preset, model.preset_of) {
            bail!("--preset does not fit {name}, which is a preset itself; generate {general} --preset FILE");
        }
        let given = match &options.preset {
            Some(path) => preset::read(model, path)?,
            None => model.defaults(options.procs).ok_or_else(|| {
                let program = lab::cli::program();
                anyhow!("{name}: needs --preset FILE; `{program} workload fit LOG --out FILE` measures one in a log")
            })?,
        };
        let parameters = preset::changed(model, given, &options.set)?;
        parameters.check().map_err(|error| anyhow!("{name}: {error}"))?;
        // A machine on which a job does not fit is none for this log.
        let machine = options.procs.or(model.stands_for_processors).unwrap_or(0);
        Ok(Self { model, processors: machine.max(parameters.processors()), parameters })
    }

    /// As on the command line.
    pub(super) const fn name(&self) -> &'static str {
        self.model.name
    }

    /// Whose model it is.
    pub(super) const fn about(&self) -> &'static str {
        self.model.origin
    }

    /// Processors of the machine that the jobs are for.
    pub(in crate::workload) const fn processors(&self) -> u32 {
        self.processors
    }

    /// All parameters, as a preset.
    pub(super) fn parameters(&self) -> Result<String> {
        Ok(self.parameters.to_toml()?)
    }

    /// Jobs without end, in order of submission.
    pub(in crate::workload) fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        self.parameters.draw(streams)
    }
}
