//! `{program} workload fit`: a model, measured in a log.

use super::cli::Fit;
use super::file::NewFile;
use super::source::{failed, sha256_of, swf};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lab::cli::{Common, Ending, print};
use std::io::Write;
use workload::model::MeasureError;

pub(super) fn fit(options: &Fit, common: &Common) -> Result<Ending> {
    let Fit { file, zone, out, model } = options;
    let name = model.name;
    let how = model.fit.as_ref().ok_or_else(|| anyhow!("{name} is measured in no log"))?;
    ensure!(
        how.knows_hours || zone.utc_offset.is_none(),
        "--utc-offset does not fit {name}, which has no hours of the day"
    );
    let mut new = NewFile::create(out)?;
    let records = swf(file, "fit", common.quiet)?;
    let (parameters, words) = match (how.measure)(records, zone.utc_offset) {
        Ok(measured) => measured,
        Err(MeasureError::Log(error)) => bail!(failed(error)),
        Err(error @ MeasureError::TooFew(_)) => bail!(error),
    };
    let log = file.file_name().unwrap_or_default().to_string_lossy();
    let hash = sha256_of(file).map_or_else(String::new, |hash| format!("# SHA-256 of the log: {hash}\n"));
    let program = lab::cli::program();
    let head = format!(
        "# Measured in {log} by `{program} workload fit`, version {}.\n{hash}\
         # For `{program} workload generate {name} --preset FILE`.\n\n",
        env!("CARGO_PKG_VERSION")
    );
    let preset = head + &parameters.to_toml()?;
    new.write_all(preset.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    new.keep()?;
    if common.json {
        print(&format!("{:#}\n", serde_json::json!({ "out": out, "model": name })));
    } else {
        if !common.quiet {
            print(&format!("{words}\n"));
        }
        print(&format!("{}\n", out.display()));
    }
    Ok(Ending::Done)
}
