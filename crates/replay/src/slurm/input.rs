//! Input of a run: the files that describe a Slurm cluster and its jobs, rigid jobs on whole nodes, the zero of the clock and the
//! phases of the controller's loops.

use crate::options::unpacked;
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use rand::RngExt;
use serde::Deserialize;
use sim_core::{Purpose, Span, Streams, Time};
use slurm_sched::accounts::Accounts;
use slurm_sched::conf::{Conf, YEAR};
use slurm_sched::workload::{Begin, Request, SubmittedJob};
use slurm_sched::{Phases, Site, Terms, Version, read_csv};
use std::collections::BTreeMap;
use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
use std::io::{BufRead, Read};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use workload::sacct::{SacctRule, Zone};
use workload::{InputError, Intake, LogJob, Options, SacctReader, SwfReader, SwfRecord};

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
            return read_sacct(&name(path), SacctReader::open(path, zone)?);
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
            runs.extend(logged.map(|start| (id, [submit, start, start + run])));
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

/// Command whose output is read; the columns may be in any order, and further ones are ignored.
const COMMAND: &str = "SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 \
    --starttime 2026-01-01 --endtime 2026-02-01 \
    --format JobIDRaw,User,Account,QOS,Partition,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,NNodes,AllocCPUS,State";

/// Columns that [`SacctReader`] does without.
const COLUMNS: [&str; 6] = ["JobIDRaw", "User", "Account", "Partition", "TimelimitRaw", "NNodes"];

/// Lines that the reader leaves out.
const RULES: [(SacctRule, &str); 4] = [
    (SacctRule::Step, "steps"),
    (SacctRule::Unfinished, "jobs that have not ended"),
    (SacctRule::Revoked, "jobs that another cluster ran"),
    (SacctRule::NoSubmit, "jobs without a time of submission"),
];

/// Reads the output of [`COMMAND`] in the file named `file`.
///
/// A job gets the nodes and CPUs that it had. If it became eligible after its submission (begin time, dependency, hold), it
/// does so here after the same time. Tasks of arrays are separate jobs. A requeued job has a line for each run.
fn read_sacct(file: &str, mut reader: SacctReader) -> Result<Trace> {
    for column in COLUMNS {
        ensure!(reader.cell(column).is_some(), "{file}:1: {column}: the heading has no such column; run: {COMMAND}");
    }
    // Jobs with the submission, start and end of each run.
    let (mut rows, mut never, mut reused) = (BTreeMap::<u32, (SubmittedJob, Vec<[i64; 3]>)>::new(), 0, 0);
    while let Some(job) = reader.next() {
        let Some((job, wait)) = started(file, &reader, &job?.record)? else {
            never += 1;
            continue;
        };
        let times = [job.submit, job.submit + wait, job.submit + wait + job.run];
        match rows.get_mut(&job.id) {
            // A requeue submits a job when its run ends. A number that comes back later is another job's.
            Some((_, runs)) if runs.last().is_some_and(|last| job.submit <= last[2] + 3600) => runs.push(times),
            earlier => {
                reused += u64::from(earlier.is_some());
                rows.insert(job.id, (job, vec![times]));
            }
        }
    }
    let mut left_out = BTreeMap::from([("jobs that never started", never), ("jobs of a number used again", reused)]);
    left_out.extend(RULES.map(|(rule, reason)| (reason, reader.repairs.count(rule))));
    let zero = rows.values().map(|(job, _)| job.submit).min().unwrap_or(0);
    let (mut jobs, mut log) = (Vec::new(), Vec::new());
    for (job, runs) in rows.into_values() {
        log.extend(runs.iter().map(|times| (job.id, times.map(|time| time - zero))));
        let mut earlier_runs: Vec<i64> = runs.iter().map(|[_, start, end]| end - start).collect();
        let run = earlier_runs.pop().unwrap_or(job.run);
        jobs.push(SubmittedJob { submit: job.submit - zero, earlier_runs, run, ..job });
    }
    jobs.sort_by_key(|job| (job.submit, job.id));
    log.sort_by_key(|(job, [submit, ..])| (*submit, *job));
    let left_out = left_out.into_iter().filter(|(_, count)| *count > 0);
    Ok(Trace { jobs, log, zero: Some(zero), left_out: left_out.map(|(why, count)| format!("{count} {why}")).collect() })
}

/// The job of the line that was read last, submitted in seconds since 1970, and its wait; `None` if it never started.
fn started(file: &str, reader: &SacctReader, record: &SwfRecord) -> Result<Option<(SubmittedJob, i64)>> {
    let cell = |column| reader.cell(column).unwrap_or_default();
    let name = |column| Some(cell(column).to_owned()).filter(|name| !name.is_empty());
    let whole = |column: &str, found: &str| match found.parse::<u32>() {
        Ok(number) => Ok(number),
        Err(_) => bail!("{file}:{}: {column}: expected a number below 4294967296, found {found:?}", reader.line()),
    };
    let (Some(wait), Some(run)) = (record.wait, record.runtime) else { return Ok(None) };
    let nodes = whole("NNodes", cell("NNodes"))?;
    if nodes == 0 {
        return Ok(None);
    }
    let [submit, wait, run] = [record.submit.unwrap_or_default(), wait, run].map(seconds);
    let later = reader.eligible.and_then(|eligible| i64::try_from(eligible).ok()).map(|eligible| eligible - submit);
    let partitions = cell("Partition").split(',').map(str::trim);
    let request = Request {
        user: name("User"),
        account: name("Account"),
        qos: name("QOS"),
        partitions: partitions.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        nodes: Some(nodes),
        tasks: record.allocated_processors,
        begin: later.filter(|later| *later > 0).map(Begin::After),
        ..Request::default()
    };
    let limit = match cell("TimelimitRaw") {
        "UNLIMITED" => Some(YEAR),
        _ => record.requested_time.map(seconds),
    };
    let id = whole("JobIDRaw", cell("JobIDRaw"))?;
    let line = usize::try_from(reader.line()).unwrap_or(usize::MAX);
    Ok(Some((SubmittedJob { id, line, submit, earlier_runs: Vec::new(), run, limit, request }, wait)))
}

#[derive(Debug)]
pub(super) struct Trace {
    /// Ordered by submission, which counts from the zero of the trace.
    pub(super) jobs: Vec<SubmittedJob>,
    /// Runs in the trace itself, if it has them: the job, its submission (or the requeue that ended the run before), start and end, in
    /// seconds from the zero of the trace.
    pub(super) log: Vec<(u32, [i64; 3])>,
    /// Zero of the trace in seconds since 1970, if it is known.
    pub(super) zero: Option<i64>,
    /// Records that are left out or repaired, as `12 jobs that never started`.
    pub(super) left_out: Vec<String>,
}

pub(crate) fn seconds(span: Span) -> i64 {
    i64::try_from(span.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
}

/// Nodes of the default partition, to which the jobs of a log go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeNodes {
    pub(crate) count: usize,
    /// Processors of the smallest node, on which the number of nodes of a job depends.
    pub(crate) cpus: u32,
    /// Processors of all nodes that are up.
    pub(crate) processors: u32,
}

impl WholeNodes {
    pub(crate) fn of(conf: &Conf) -> Result<Self> {
        let partition = conf.default_partition().map(|at| &conf.partitions[at]);
        let partition = partition.context("slurm.conf: no partition has Default=YES, which the jobs go to; add it")?;
        let nodes = || partition.nodes.iter().map(|node| &conf.nodes[*node]);
        let cpus = nodes().map(|node| node.cpus).min().unwrap_or(1).max(1);
        let processors = nodes().filter(|node| node.up).map(|node| node.cpus).sum();
        Ok(Self { count: partition.nodes.len(), cpus, processors })
    }

    /// Returns the job that takes as many nodes as its processors fill, with a limit in whole minutes, its times left out; `None`
    /// if it is wider than the partition.
    pub(crate) fn job(&self, id: u32, request: &sim_core::Request, limit: Option<Span>) -> Option<SubmittedJob> {
        let nodes = request.processors.div_ceil(self.cpus);
        let user = request.user.map(|user| format!("u{user}"));
        let request = Request { user, nodes: Some(nodes), exclusive: true, ..Default::default() };
        let limit = limit.map(|limit| (seconds(limit) + 59) / 60 * 60).filter(|limit| *limit > 0);
        (nodes as usize <= self.count).then_some(SubmittedJob { id, limit, request, ..SubmittedJob::default() })
    }
}

/// Seconds from the start of the controller to the zero of the trace, and that zero if the trace does not define it.
const LEAD: i64 = 200;
pub(crate) const ZERO: i64 = 1_700_000_200;

/// Terms of one replication. Phases are shares of each loop's period: the same shares for every variant.
pub(crate) fn terms(site: &Site, zero: Option<i64>, seed: u64, phase: u32) -> Terms {
    let mut stream = Streams::new(seed, phase).stream(Purpose("phases of slurmctld"), 0);
    let (scheduling, priority) = (&site.conf.scheduling, &site.conf.priority);
    let mut within = |period: i64| {
        let share: f64 = stream.random();
        #[expect(clippy::cast_possible_truncation, reason = "a share of a period below 2^53 seconds")]
        let seconds = (share * period as f64) as i64;
        seconds
    };
    let phases = Phases {
        full: within(scheduling.sched_interval),
        backfill: within(scheduling.bf_interval),
        decay: within(priority.calc_period),
        limits: within(30),
        backfill_first: within(2) == 1,
    };
    let zero = zero.unwrap_or(ZERO);
    Terms { start: zero - LEAD, zero, phases }
}
