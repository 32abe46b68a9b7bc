//! Files that describe a Slurm cluster and its jobs.

use super::trace::Trace;
use super::{sacct, sbatch};
use anyhow::{Result, bail};
use flate2::bufread::MultiGzDecoder;
use sim_core::Span;
use slurm_sched::accounts::Accounts;
use slurm_sched::conf::Conf;
use slurm_sched::workload::{Request, SubmittedJob};
use slurm_sched::{Events, Site, Version};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use workload::file::{self, FileError};
use workload::{SwfReader, SwfRecord};

impl Trace {
    /// Reads SWF (by the name of the file), the output of sacct, or CSV. `conf` gives the number of processors of an SWF log per node.
    pub(super) fn read(path: &Path, conf: &Conf) -> Result<Self> {
        if [".swf", ".swf.gz"].iter().any(|end| name(path).ends_with(end)) {
            return Self::of_swf(path, conf);
        }
        let mut text = String::new();
        reader(path)?.read_to_string(&mut text).map_err(|error| FileError::reading(path, error))?;
        if sacct::is_sacct(&text) {
            return Ok(sacct::read(&name(path), &text)?);
        }
        let jobs = sbatch::read_csv(&name(path), &text)?;
        Ok(Self { jobs, waits: BTreeMap::new(), zero: None, left_out: Vec::new() })
    }

    /// Jobs of an SWF log on whole nodes of the default partition, users by number.
    fn of_swf(path: &Path, conf: &Conf) -> Result<Self> {
        let Some(partition) = conf.default_partition().map(|at| &conf.partitions[at]) else {
            bail!("slurm.conf: no partition has Default=YES, which the jobs of {} go to; add it", path.display());
        };
        let cpus = partition.nodes.iter().map(|node| conf.nodes[*node].cpus).min().unwrap_or(1).max(1);
        let (mut jobs, mut waits, mut left_out) = (Vec::new(), BTreeMap::new(), BTreeMap::<&str, usize>::new());
        let mut log = SwfReader::open(path)?;
        for (line, record) in (1..).zip(log.by_ref()) {
            let record = record?;
            let SwfRecord { submit, runtime, wait, requested_time, user, .. } = record;
            let processors = record.requested_processors.or(record.allocated_processors).filter(|count| *count > 0);
            let (Some(submit), Some(run), Some(processors)) = (submit, runtime, processors) else {
                *left_out.entry("jobs without submission, run time or processors").or_default() += 1;
                continue;
            };
            let nodes = processors.div_ceil(cpus);
            if nodes as usize > partition.nodes.len() {
                *left_out.entry("jobs that are wider than the default partition").or_default() += 1;
                continue;
            }
            let Ok(id) = u32::try_from(record.number) else {
                bail!("{}: job {} is too large a number", name(path), record.number)
            };
            let user = user.map(|user| format!("u{user}"));
            let request = Request { user, nodes: Some(nodes), exclusive: true, ..Request::default() };
            let limit = requested_time.map(|limit| (seconds(limit) + 59) / 60 * 60).filter(|limit| *limit > 0);
            jobs.push(SubmittedJob { id, line, submit: seconds(submit), run: seconds(run), limit, request });
            waits.extend(wait.map(|wait| (id, seconds(wait))));
        }
        let first = jobs.iter().map(|job| job.submit).min().unwrap_or(0);
        jobs.iter_mut().for_each(|job| job.submit -= first);
        jobs.sort_by_key(|job| (job.submit, job.id));
        let left_out = left_out.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let start = log.header().unix_start_time.and_then(|start| i64::try_from(start).ok());
        Ok(Self { jobs, waits, zero: start.map(|start| start + first), left_out })
    }
}

fn seconds(span: Span) -> i64 {
    i64::try_from(span.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
}

/// Reads the files of a site. Each of `set` replaces a setting of slurm.conf.
pub(super) fn site(conf: &Path, accounts: Option<&Path>, version: Version, set: &[String]) -> Result<Site> {
    let overlays: Vec<&str> = set.iter().map(String::as_str).collect();
    let conf = Conf::load(conf, version, &overlays)?;
    let accounts =
        accounts.map(|path| anyhow::Ok(Accounts::read(&name(path), &file::read_text(path)?)?)).transpose()?;
    Ok(Site { conf, accounts, version })
}

pub(super) fn name(path: &Path) -> String {
    path.display().to_string()
}

pub(super) fn events(path: &Path) -> Result<Events<Box<dyn BufRead>>> {
    Ok(Events::new(reader(path)?))
}

/// A file, plain or gzip.
fn reader(path: &Path) -> Result<Box<dyn BufRead>> {
    let mut packed = BufReader::new(file::open(path)?);
    let is_gzip = packed.fill_buf().map_err(|error| FileError::reading(path, error))?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(packed))) } else { Box::new(packed) })
}
