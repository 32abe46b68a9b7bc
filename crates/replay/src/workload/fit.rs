//! `{program} workload fit`: a model, measured in a log.

use super::cli::{Fit, Fitted};
use super::file::NewFile;
use super::source::{failed, sha256_of, swf};
use super::words::counted;
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use lab::cli::{Common, Ending, print};
use std::io::Write;
use workload::model::{self, FitError, Jann, JannFitError, SessionModel};

pub(super) fn fit(options: &Fit, common: &Common) -> Result<Ending> {
    let Fit { file, zone, out, .. } = options;
    ensure!(
        options.model == Fitted::Session || zone.utc_offset.is_none(),
        "--utc-offset does not fit jann, which has no hours of the day"
    );
    let mut new = NewFile::create(out)?;
    let records = swf(file, "fit", common.quiet)?;
    let (preset, words) = match options.model {
        Fitted::Session => match model::fit(records, zone.utc_offset) {
            Ok(model) => (toml::to_string(&model)?, session_in_words(&model)),
            Err(FitError::Log(error)) => bail!(failed(error)),
            Err(error @ FitError::TooFew { .. }) => bail!(error),
        },
        Fitted::Jann => match Jann::fit(records) {
            Ok(model) => (toml::to_string(&model)?, jann_in_words(&model)),
            Err(JannFitError::Log(error)) => bail!(failed(error)),
            Err(error @ JannFitError::TooFew) => bail!("{}: {error}", file.display()),
        },
    };
    let log = file.file_name().unwrap_or_default().to_string_lossy();
    let hash = sha256_of(file).map_or_else(String::new, |hash| format!("# SHA-256 of the log: {hash}\n"));
    let model = options.model.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let program = lab::cli::program();
    let head = format!(
        "# Measured in {log} by `{program} workload fit`, version {}.\n{hash}\
         # For `{program} workload generate {model} --preset FILE`.\n\n",
        env!("CARGO_PKG_VERSION")
    );
    new.write_all((head + &preset).as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
    new.keep()?;
    if common.json {
        print(&format!("{:#}\n", serde_json::json!({ "out": out, "model": model })));
    } else {
        if !common.quiet {
            print(&words);
        }
        print(&format!("{}\n", out.display()));
    }
    Ok(Ending::Done)
}

fn session_in_words(model: &SessionModel) -> String {
    format!(
        "{:.1} sessions a day of {}; {}; {:.0} % of the jobs of a session ask for the same as the job before\n",
        model.sessions_per_day,
        counted(model.users.len() as u64, "user"),
        counted(model.sizes.len() as u64, "size"),
        100.0 * model.repeat
    )
}

fn jann_in_words(model: &Jann) -> String {
    let sizes = model.ranges.iter().map(|range| range.sizes.len() as u64).sum();
    format!("{} of sizes, {} in all\n", counted(model.ranges.len() as u64, "range"), counted(sizes, "size"))
}
