//! Files that describe a Slurm cluster and its jobs.

use super::{sacct, sbatch};
use anyhow::Result;
use flate2::bufread::MultiGzDecoder;
use slurm_sched::accounts::Accounts;
use slurm_sched::conf::Conf;
use slurm_sched::workload::SubmittedJob;
use slurm_sched::{Events, Site, Version};
use std::io::{BufRead, BufReader};
use std::path::Path;
use workload::file::{self, FileError};

pub(super) struct Input {
    pub(super) site: Site,
    pub(super) jobs: Vec<SubmittedJob>,
}

impl Input {
    /// Reads the files, and checks that every job can be modelled.
    pub(super) fn read(
        conf: &Path,
        trace: &Path,
        accounts: Option<&Path>,
        version: Version,
        set: &[String],
    ) -> Result<Self> {
        let overlays: Vec<&str> = set.iter().map(String::as_str).collect();
        let mut conf = Conf::load(conf, version, &overlays)?;
        let accounts =
            accounts.map(|path| anyhow::Ok(Accounts::read(&name(path), &file::read_text(path)?)?)).transpose()?;
        let text = file::read_text(trace)?;
        let jobs = if sacct::is_sacct(&text) {
            let sacct::Listed { jobs, left_out } = sacct::read(&name(trace), &text)?;
            conf.not_modelled.extend(left_out.iter().map(|what| format!("{}: {what}", name(trace))));
            jobs
        } else {
            sbatch::read_csv(&name(trace), &text)?
        };
        let site = Site { conf, accounts, version };
        site.check(&name(trace), &jobs)?;
        Ok(Self { site, jobs })
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

pub(super) fn events(path: &Path) -> Result<Events<Box<dyn BufRead>>> {
    let mut packed = BufReader::new(file::open(path)?);
    let is_gzip = packed.fill_buf().map_err(|error| FileError::reading(path, error))?.starts_with(&[0x1f, 0x8b]);
    Ok(Events::new(if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(packed))) } else { Box::new(packed) }))
}
