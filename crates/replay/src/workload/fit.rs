//! `{program} workload fit`: a model, measured in a log.

use super::cli::Fit;
use super::io::{NewFile, failed, printed, sha256_of, swf};
use super::words::counted;
use anyhow::{Context, Result};
use lab::cli::{Common, Ending};
use std::io::Write;
use workload::model::{self, WorkloadModel as _};

pub(super) fn fit(options: &Fit, common: &Common) -> Result<Ending> {
    let Fit { file, zone, out } = options;
    let mut new = NewFile::create(out)?;
    let records = swf(file, "fit", common.quiet)?;
    let model = model::fit(records, zone.utc_offset).map_err(failed)?;
    let log = file.file_name().unwrap_or_default().to_string_lossy();
    let hash = sha256_of(file).map_or_else(String::new, |hash| format!("# SHA-256 of the log: {hash}\n"));
    let (program, version) = (lab::cli::program(), env!("CARGO_PKG_VERSION"));
    let head = format!(
        "# Measured in {log} by `{program} workload fit`, version {version}.\n{hash}\
         # For `{program} workload generate session --preset FILE`.\n\n"
    );
    let preset = head + &model.to_toml()?;
    new.write_all(preset.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    new.keep()?;
    let words = format!(
        "{:.1} sessions a day of {}; {}; {:.0} % of the jobs of a session ask for the same as the job before\n",
        model.sessions_per_day,
        counted(model.users.len() as u64, "user"),
        counted(model.sizes.len() as u64, "size"),
        100.0 * model.repeat
    );
    let answer = serde_json::json!({ "out": out, "model": "session" });
    Ok(printed(common, &answer, if common.quiet { "" } else { &words }, out))
}
