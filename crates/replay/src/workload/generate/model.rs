//! The requested model, with its parameters: the published ones or a file's, with `--set` applied.

use anyhow::{Context, Result, anyhow, bail};
use lab::scenario::did_you_mean;
use sim_core::Streams;
use std::path::Path;
use toml::Value;
use workload::HeldLog;
use workload::model::{ModelEntry, Parameters, models};

pub struct CompleteModel {
    pub(super) model: &'static ModelEntry,
    pub(super) parameters: Parameters,
    /// Processors of the machine that the jobs are for.
    pub processors: u32,
}

impl CompleteModel {
    /// The model for a machine of `procs` processors, if it depends on them, with the parameters of the file `preset`, of which each
    /// `KEY=VALUE` of `set` changes one. Fails for parameters that describe no workload.
    pub fn new(model: &'static ModelEntry, procs: Option<u32>, preset: Option<&Path>, set: &[String]) -> Result<Self> {
        let name = model.name;
        match (procs, model.least_processors) {
            (Some(_), None) => {
                let others = models().iter().filter(|model| model.least_processors.is_some()).map(|model| model.name);
                let others = others.collect::<Vec<_>>().join(" or ");
                bail!(
                    "--procs does not fit {name}: its sizes are those of a table; generate {others}, or change the table in a \
                     preset (--show prints one)"
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
            Some(path) => {
                // A missing file is bad usage instead of a read error.
                let text = workload::file::read_text(path).context("--preset takes a file such as --show prints")?;
                (model.of_toml)(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?
            }
            None => model.defaults.map(|make| make(procs)).ok_or_else(|| {
                let program = lab::cli::program();
                anyhow!("{name}: needs --preset FILE; `{program} workload fit LOG --out FILE` measures one in a log")
            })?,
        };
        let parameters = changed(model, given, set)?;
        parameters.validate().map_err(|error| anyhow!("{name}: {error}"))?;
        // The machine is large enough for every job of the log.
        let machine = procs.or(model.stands_for_processors).unwrap_or(0);
        Ok(Self { model, processors: machine.max(parameters.processors()), parameters })
    }

    /// The first `count` jobs of one replication.
    pub fn drawn(&self, streams: &Streams, count: u32) -> HeldLog {
        HeldLog::of_model(self.parameters.jobs(streams).take(count as usize))
    }
}

fn changed(model: &ModelEntry, mut parameters: Parameters, assignments: &[String]) -> Result<Parameters> {
    for assignment in assignments {
        let mut value = toml::from_str(&parameters.to_toml()?)?;
        set(&mut value, assignment).with_context(|| format!("--set {assignment}"))?;
        parameters =
            (model.of_value)(value).map_err(|error| anyhow!("--set {assignment}: {}", error.to_string().trim()))?;
    }
    Ok(parameters)
}

/// Applies `key=value`. The key is a path of names, and of positions from 0 in lists; the value is TOML.
fn set(model: &mut Value, assignment: &str) -> Result<()> {
    let (key, text) = assignment.split_once('=').ok_or_else(|| anyhow!("expected KEY=VALUE, such as variation=1"))?;
    let (key, text) = (key.trim(), text.trim());
    let mut place = model;
    for part in key.split('.') {
        place = match place {
            Value::Table(table) => {
                let hint = did_you_mean(part, table.keys().map(String::as_str));
                match table.get_mut(part) {
                    Some(inner) => inner,
                    None => bail!("no parameter is called {part:?}{hint}; --show lists them"),
                }
            }
            Value::Array(list) => {
                let length = list.len();
                match part.parse().ok().and_then(|position: usize| list.get_mut(position)) {
                    Some(inner) => inner,
                    None => bail!("{part:?} is no position in a list of {length}, which are counted from 0"),
                }
            }
            _ => bail!("{part:?} lies inside a single value; --show lists the parameters"),
        };
    }
    *place = text.parse().map_err(|_| anyhow!("{text:?} is no value; write a number or a list such as [1, 2]"))?;
    Ok(())
}
