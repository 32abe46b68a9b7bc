//! Options of the commands that replay a log. `Default` is the command line without any of them.
//!
//! Options that only some worlds take are an `Option`, so that a run can refuse them elsewhere.

use anyhow::{Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use flate2::bufread::MultiGzDecoder;
use gap_schedule::Passes;
use lab::output::provenance::quoted;
use sim_core::Span;
use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;
use workload::file;
use workload::inspect::zone;
use workload::{Deadlines, Estimates, InputError, Intake, SwfReader};

/// The log and its reading options.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct LogOptions {
    /// The log, in the Standard Workload Format, plain or gzip.
    #[arg(value_name = "LOG", required_unless_present = "trace")]
    pub log: Option<PathBuf>,
    /// The same as LOG.
    #[arg(long, value_name = "FILE.swf[.gz]", conflicts_with = "log")]
    pub trace: Option<PathBuf>,
    /// Run times that policies see; see the list below.
    #[arg(long, default_value = "user")]
    pub estimates: Estimates,
    /// Deadlines of jobs: `factor:F` (F times the user's estimate after submission), `column:N` (column N of the log, in
    /// seconds after submission), or `none`.
    #[arg(long, default_value = "none")]
    pub deadlines: Deadlines,
    /// Seed of random numbers (estimates of the f-model, the search of bgt and sg, the worlds of metasched and
    /// hier-grid); 0 if not given.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Only the first N records of the log.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_jobs: Option<u64>,
}

impl LogOptions {
    pub(crate) fn trace(&self) -> &Path {
        self.log.as_deref().or(self.trace.as_deref()).unwrap_or_else(|| Path::new(""))
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Refuses a log that can be read only once.
    pub(crate) fn ensure_can_be_read_again(&self) -> Result<()> {
        let (trace, name) = (self.trace(), self.trace().display());
        let is_pipe = trace.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir());
        ensure!(
            !is_pipe,
            "{name}: is a pipe or a device; a log is read once for each policy, so save it to a file first"
        );
        Ok(())
    }

    /// Options of the reader on machines of which the widest has this many processors.
    pub(crate) fn intake(&self, widest: u32) -> workload::Options {
        let Self { estimates, deadlines, max_jobs, .. } = *self;
        workload::Options { estimates, max_jobs, capacity: Some(widest), deadlines, seed: self.seed() }
    }
}

/// Space-shared machines, and all that determines a schedule on them beside the log and the policy.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct MachineOptions {
    /// Clusters: a tab-separated file `id name nodes cpus_per_node speed memory`, one line for each.
    #[arg(long, value_name = "FILE", conflicts_with = "procs")]
    pub machines: Option<PathBuf>,
    /// Place in which a job must fit, as the machine file has them; cluster if not given.
    #[arg(long, value_enum, requires = "machines")]
    pub inside: Option<Inside>,
    /// Processors of the machine; from the log's header if not given, and needed where the header has no number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub procs: Option<u32>,
    /// Maximum iterations of a Tabu search, after each arrival; 10 if not given.
    #[arg(long, value_name = "N")]
    pub tabu_iterations: Option<u32>,
    /// Scheduling passes at one instant, among several events; per-instant if not given.
    #[arg(long, value_enum)]
    pub passes: Option<PassesName>,
}

/// Place of the machine file in which a job must fit.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inside {
    /// Inside one cluster, a line of the machine file; it may span machines.
    #[default]
    Cluster,
    /// Inside one machine.
    Machine,
    /// All processors of the file form one pool.
    Pool,
}

/// Values of `--passes`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PassesName {
    /// Releases, then arrivals, then one scheduling pass.
    #[default]
    PerInstant,
    /// A pass after every single event, as in older simulators.
    PerEvent,
    /// Rules of the simulator pyss: submissions before ends, a pass after each, and processors with an expected end at this instant are
    /// free already. Plain easy makes no pass for a job that does not fit.
    Pyss,
}

impl MachineOptions {
    pub(crate) fn inside(&self) -> Inside {
        self.inside.unwrap_or_default()
    }

    pub(crate) fn tabu_iterations(&self) -> u32 {
        self.tabu_iterations.unwrap_or(10)
    }

    pub(crate) fn passes(&self) -> Passes {
        match self.passes.unwrap_or_default() {
            PassesName::PerInstant => Passes::PerInstant,
            PassesName::PerEvent => Passes::PerEvent,
            PassesName::Pyss => Passes::Pyss,
        }
    }

    /// `--machines` and `--inside` as on the command line.
    pub(crate) fn machine_words(&self) -> String {
        let inside = self.machines.as_ref().map(|_| name_of(&self.inside()));
        words("machines", self.machines.as_ref().map(|path| path.display())) + &words("inside", inside)
    }
}

/// The world, its policies, and the options of worlds.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct WorldOptions {
    /// Policies to compare, separated by commas: see the list below.
    #[arg(long = "policy", value_name = "a,b,…", value_delimiter = ',', required = true)]
    pub policies: Vec<String>,
    /// World in which the log is replayed; gap-schedule if not given.
    #[arg(long, value_parser = values(&MODELS))]
    pub model: Option<String>,
    /// Rules of the world: see below; clean if not given.
    #[arg(long, value_parser = values(&PROFILES))]
    pub profile: Option<String>,
    /// Its machines, if they are space-shared.
    #[command(flatten)]
    pub on: MachineOptions,
    /// Seconds that a policy's program may take, for one answer; 60 if not given.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub policy_timeout: Option<Duration>,
    /// Start of the simulator of --profile alea31, such as 16.9688s: jobs submitted earlier start then. If not given, it
    /// follows from the clusters by that simulator's own protocol (29.2416s on Wagap).
    #[arg(long, value_name = "SPAN", value_parser = startup)]
    pub startup: Option<Span>,
    /// The clusters of --model metasched: see below.
    #[arg(long, value_name = "FILE")]
    pub clusters: Option<PathBuf>,
    /// The grid tree of --model hier-grid: see below.
    #[arg(long, value_name = "FILE.toml")]
    pub tree: Option<PathBuf>,
}

/// Values of `--model`, the first of which is the usual one, with descriptions.
pub(crate) const MODELS: [(&str, &str); 3] = [
    ("gap-schedule", "Space-shared machines or clusters, each processor to one job at a time"),
    ("metasched", "Time-shared clusters with local users, under a metascheduler: needs --clusters"),
    (
        "hier-grid",
        "Servers that run one job at a time, among peers or below trees of schedulers, message by message: needs --tree",
    ),
];

/// Values of `--profile`, likewise.
pub(crate) const PROFILES: [(&str, &str); 2] = [
    ("clean", "Those of the policies, as their authors describe them"),
    ("alea31", "Those of the simulator Alea 3.1, rule for rule: needs --machines"),
];

fn values(all: &[(&'static str, &'static str)]) -> PossibleValuesParser {
    all.iter().map(|(name, about)| PossibleValue::new(name).help(about)).collect::<Vec<_>>().into()
}

/// Returns a log's name without its folder and endings: `KTH-SP2` of `logs/KTH-SP2.swf.gz`.
#[doc(hidden)]
pub fn stem(log: &Path) -> String {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".gz").trim_end_matches(".swf").to_owned()
}

/// Returns the intake of a log after its first job, from whose submission times count.
pub(crate) fn begun(trace: &Path) -> Result<Intake, InputError> {
    let mut intake = Intake::new(SwfReader::open(trace)?, workload::Options::default());
    intake.next().transpose()?;
    Ok(intake)
}

/// Returns the first submission of a log in local time, in seconds since 1970, if the log says when it began.
pub(crate) fn start_of(trace: &Path) -> Option<i64> {
    let intake = begun(trace).ok()?;
    let origin = i64::try_from(intake.origin()?.as_nanos() / 1_000_000_000).ok()?;
    let header = intake.reader().header();
    let start = i64::try_from(header.unix_start_time.filter(|start| *start > 0)?).ok()?;
    Some(start + origin + i64::from(zone(header).unwrap_or_default()))
}

/// Opens a file, plain or gzip (recognized by its first bytes).
pub(crate) fn unpacked(path: &Path) -> Result<Box<dyn BufRead>, InputError> {
    let mut packed = BufReader::new(file::open(path)?);
    let is_gzip = packed.fill_buf().map_err(|error| InputError::reading(path, error))?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(packed))) } else { Box::new(packed) })
}

/// An option with its value as on the command line, after a blank; empty without a value.
pub(crate) fn words(option: &str, value: Option<impl Display>) -> String {
    value.map_or_else(String::new, |value| format!(" --{option} {}", quoted(&value.to_string())))
}

/// A value as on the command line.
#[doc(hidden)]
pub fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// `60`: above zero, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    number.map(Duration::from_secs_f64).ok_or_else(|| "expected seconds, above 0 and up to 86400".to_owned())
}

/// `16.9688s`, `0s`: at most a day.
fn startup(text: &str) -> Result<Span, String> {
    let wanted = || format!("expected a span of at most a day, such as 0s, 16.9688s or 1m, found {text:?}");
    workload::span(text).filter(|span| *span <= Span::from_secs(86_400)).ok_or_else(wanted)
}
