//! Models as an experiment draws from them: by name, many times, into memory.

use super::cli::Generate;
use super::generate::Drawn;
use anyhow::Result;
use sim_core::Streams;
use std::path::Path;
use workload::HeldLog;
use workload::model::ModelEntry;

/// A model with its parameters.
pub(crate) struct Generated(Drawn);

impl Generated {
    /// The model of that name, for a machine of `procs` processors where it takes them, with the parameters of `preset` where it
    /// needs some.
    ///
    /// # Errors
    ///
    /// Parameters that describe no workload.
    pub(crate) fn new(model: &'static ModelEntry, procs: Option<u32>, preset: Option<&Path>) -> Result<Self> {
        let takes_procs = model.least_processors.is_some() && preset.is_none();
        let options = Generate {
            model,
            count: None,
            seed: 0,
            procs: procs.filter(|_| takes_procs),
            estimates: None,
            preset: preset.map(Path::to_owned),
            set: Vec::new(),
            show: false,
            out: None,
        };
        Drawn::of(&options).map(Self)
    }

    /// Processors of the machine that its jobs are for.
    pub(crate) const fn processors(&self) -> u32 {
        self.0.processors()
    }

    /// So many jobs of one replication.
    pub(crate) fn drawn(&self, streams: &Streams, count: u32) -> HeldLog {
        HeldLog::of_model(self.0.jobs(streams).take(count as usize))
    }
}
