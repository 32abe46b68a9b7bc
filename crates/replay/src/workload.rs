//! `cargo xtask workload`: inspects, checks and converts a log, measures a model in it, and draws synthetic logs.

mod cli;
mod convert;
mod fit;
#[doc(hidden)]
pub mod generate;
mod inspect;
mod io;
mod resample;
mod validate;
mod words;

use anyhow::Result;
pub use cli::Workload;
use lab::cli::{Common, Ending};

/// Runs `command`.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read or written.
pub fn workload(command: &Workload, common: &Common) -> Result<Ending> {
    match command {
        Workload::Inspect(options) => inspect::inspect(options, common),
        Workload::Validate(options) => validate::validate(options, common),
        Workload::Convert(options) => convert::convert(options, common),
        Workload::Generate(options) => generate::generate(options, common),
        Workload::Resample(options) => resample::resample(options, common),
        Workload::Fit(options) => fit::fit(options, common),
    }
}
