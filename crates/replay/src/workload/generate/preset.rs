//! Parameters of a model: the published ones or a file's, with `--set` applied.

use anyhow::{Context, Result, anyhow, bail};
use lab::scenario::did_you_mean;
use std::path::Path;
use toml::Value;
use workload::model::{ModelEntry, Parameters};

/// Reads the parameters of a file. A missing file is bad usage instead of a read error.
pub(super) fn read(model: &ModelEntry, path: &Path) -> Result<Parameters> {
    let text = workload::file::read_text(path).context("--preset takes a file such as --show prints")?;
    (model.of_toml)(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Sets some parameters, each by `key=value`.
pub(super) fn changed(model: &ModelEntry, mut parameters: Parameters, assignments: &[String]) -> Result<Parameters> {
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
