//! Files that describe a Slurm cluster and its jobs.

use super::sacct;
use super::trace::{LoggedRun, Trace, WholeNodes, seconds};
use crate::options::unpacked;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Deserialize;
use sim_core::Time;
use slurm_sched::accounts::Accounts;
use slurm_sched::conf::Conf;
use slurm_sched::workload::SubmittedJob;
use slurm_sched::{Site, Version, read_csv};
use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
use std::io::{BufRead, Read};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use workload::sacct::Zone;
use workload::{InputError, Intake, LogJob, Options, SacctReader, SwfReader};

/// Files of a cluster and of its jobs, and how they are read.
#[derive(Clone, Debug, Args)]
pub struct Inputs {
    /// slurm.conf of the cluster, of the time of the trace; or its nodes alone (.toml).
    #[arg(long, value_name = "FILE")]
    pub conf: PathBuf,
    /// The jobs: the output of sacct, an SWF log (.swf, .swf.gz), or CSV id,submit,run,limit,args.
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// Accounts of the cluster: shares and QOS, as `sacctmgr dump` writes them.
    #[arg(long, value_name = "FILE")]
    pub accounts: Option<PathBuf>,
    /// Setting of slurm.conf, in place of the file's; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Version of Slurm: 22.05, 24.11 or nearest:VERSION. If not given, that of the log to follow, else 24.11.
    #[arg(long, value_name = "VERSION")]
    pub slurm_version: Option<String>,
    /// Time zone of the clocks of sacct, as Europe/Berlin or +01:00; needed for times that are no seconds since 1970.
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<Zone>,
}

impl Inputs {
    /// Reads slurm.conf and the accounts. Each of `own` replaces a setting, too.
    pub(super) fn site(&self, version: Version, own: &[String]) -> Result<Site> {
        let overlays: Vec<&str> = self.set.iter().chain(own).map(String::as_str).collect();
        site(&self.conf, self.accounts.as_deref(), version, &overlays)
    }

    /// Reads the jobs, and checks that `site` can run them.
    pub(super) fn jobs(&self, site: &Site) -> Result<Trace> {
        let trace = Trace::read(&self.trace, self.zone.clone().unwrap_or_default(), &site.conf)?;
        site.check(&name(&self.trace), &trace.jobs)?;
        Ok(trace)
    }
}

/// Reads slurm.conf, or the nodes alone, and the accounts. Each of `overlays` replaces a setting.
pub(crate) fn site(conf: &Path, accounts: Option<&Path>, version: Version, overlays: &[&str]) -> Result<Site> {
    let file = name(conf);
    let conf = if file.ends_with(".toml") {
        Conf::read(&file, &conf_of_nodes(&file, &text(conf)?)?, version, overlays)?
    } else {
        Conf::load(conf, version, overlays)?
    };
    let accounts = match accounts {
        Some(path) => Accounts::read(&name(path), &text(path)?)?,
        None => Accounts::default(),
    };
    Ok(Site { conf, accounts, version })
}

/// Nodes of a cluster without a slurm.conf.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesFile {
    nodes: Vec<NodeGroup>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeGroup {
    count: NonZeroU32,
    cpus: NonZeroU32,
    weight: Option<u64>,
}

/// Returns the lines of slurm.conf for the nodes of a TOML file: nodes `n1`, `n2` …, all in one partition.
fn conf_of_nodes(file: &str, text: &str) -> Result<String> {
    let NodesFile { nodes } = toml::from_str(text).map_err(|error| anyhow!("{file}: {error}"))?;
    let (mut lines, mut first) = (String::new(), 1);
    for NodeGroup { count, cpus, weight } in nodes {
        let last = first + u64::from(count.get()) - 1;
        lines += &format!("NodeName=n[{first}-{last}] CPUs={cpus} Weight={}\n", weight.unwrap_or(1));
        first = last + 1;
    }
    Ok(lines + "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\n")
}

impl Trace {
    /// Reads SWF (by the name of the file), the output of sacct, or CSV. `conf` gives the number of processors of an SWF log per node.
    fn read(path: &Path, zone: Zone, conf: &Conf) -> Result<Self> {
        if [".swf", ".swf.gz"].iter().any(|end| name(path).ends_with(end)) {
            return Self::of_swf(path, conf);
        }
        let mut heading = Vec::new();
        let read = unpacked(path)?.take(1 << 16).read_until(b'\n', &mut heading);
        read.map_err(|error| InputError::reading(path, error))?;
        if heading.contains(&b'|') && String::from_utf8_lossy(&heading).contains("JobID") {
            return sacct::read(&name(path), SacctReader::open(path, zone)?);
        }
        let jobs = read_csv(&name(path), &text(path)?)?;
        Ok(Self { jobs, log: Vec::new(), zero: None, left_out: Vec::new() })
    }

    /// Jobs of an SWF log on whole nodes of the default partition, users by number.
    fn of_swf(path: &Path, conf: &Conf) -> Result<Self> {
        let nodes = WholeNodes::of(conf).with_context(|| name(path))?;
        let (mut jobs, mut runs, mut wide) = (Vec::new(), Vec::new(), 0);
        let mut log = Intake::new(SwfReader::open(path)?, Options::default());
        for one in log.by_ref() {
            let LogJob { job, line, logged_runtime, record, .. } = one?;
            let number = record.number;
            let Ok(id) = u32::try_from(number) else { bail!("{}: job {number} is too large a number", name(path)) };
            let Some(own) = nodes.job(id, &job.request, record.requested_time) else {
                wide += 1;
                continue;
            };
            let (line, submit) = (usize::try_from(line).unwrap_or(usize::MAX), seconds(job.submit.since(Time::ZERO)));
            let run = seconds(logged_runtime);
            let logged = record.wait.map(|wait| submit + seconds(wait));
            runs.extend(logged.map(|start| LoggedRun { job: id, times: [submit, start, start + run] }));
            jobs.push(SubmittedJob { line, submit, run, ..own });
        }
        let repairs = log.repairs().iter();
        let mut left_out: Vec<String> =
            repairs.map(|repair| format!("{} records ({})", repair.count, repair.rule.description())).collect();
        left_out.extend((wide > 0).then(|| format!("{wide} jobs that are wider than the default partition")));
        let start = log.reader().header().unix_start_time.and_then(|start| i64::try_from(start).ok());
        let zero = start.map(|start| start + log.origin().map_or(0, seconds));
        Ok(Self { jobs, log: runs, zero, left_out })
    }
}

pub(super) fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The text of a file, plain or gzip.
fn text(path: &Path) -> Result<String> {
    const MOST: usize = 256 << 20;
    let (mut text, mut input) = (String::new(), unpacked(path)?);
    for line in 1.. {
        let room = MOST + 1 - text.len();
        match input.by_ref().take(room as u64).read_line(&mut text) {
            Ok(0) => break,
            Ok(_) if text.len() <= MOST => {}
            Ok(_) => bail!("{}:{line}: the file is larger than 256 MiB; is this the right one?", name(path)),
            Err(error) if matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) => {
                bail!("{}:{line}: cannot be read on ({error}); is this the right file, and whole?", name(path))
            }
            Err(error) => return Err(InputError::reading(path, error).into()),
        }
    }
    Ok(text)
}
