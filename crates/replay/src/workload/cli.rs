//! Options of `cargo xtask workload`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use workload::Layout;
use workload::model::{self, ModelEntry, models};
use workload::sacct::Zone;

/// The commands below `workload`.
#[derive(Debug, Subcommand)]
pub enum Workload {
    /// Summarize a log: jobs, load, arrivals, sizes, run times, estimates, users, anomalies.
    Inspect(Inspect),
    /// List every anomaly of a log: line by line, and what a simulation does about it.
    Validate(Validate),
    /// Convert a log to another format: SWF, or SWF with the columns of MetaCentrum.
    Convert(Convert),
    /// Draw a synthetic log: from a published model, or from one that was measured in a log.
    Generate(Generate),
    /// Make another log like one: its weeks or its users drawn at random, or every submission moved by some seconds.
    Resample(Resample),
    /// Measure a model in a log, for `generate session`.
    Fit(Fit),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask workload resample KTH-SP2-1996-2.1-cln.swf.gz --out another.swf.gz --seed 1
      another year of such weeks on that machine; how similar it is to the log, in numbers
  cargo xtask workload resample log.swf.gz --users 1.2 --weeks 104 --out heavier.swf.gz
      two years with a fifth more users: more load, and days remain days
  cargo xtask workload resample log.swf.gz --shake 60s --out shaken.swf.gz

Without --users and --shake, weeks of the whole log are drawn in blocks. Each log that is written keeps the printed bounds; draws \
outside of them are refused and counted. Jobs are numbered from 1; FILE.jobs.csv beside FILE.swf has the job number of the \
original for each. Group, executable, queue, partition, memory and status are
those of the original.

Sources: H. R. Künsch, Annals of Statistics 17(3), 1989 (blocks); N. Zakay, D. G. Feitelson, ICPE 2013 (users); D. Tsafrir, \
K. Ouaknine, D. G. Feitelson, MASCOTS 2007 (shake). What each keeps, and its limits: docs/statistics.md. `experiment` does this \
for each replication.")]
pub struct Resample {
    /// The log, in the Standard Workload Format, plain or gzip.
    #[arg(value_name = "FILE.swf[.gz]")]
    pub(crate) file: PathBuf,
    /// Move every submission by up to ± SPAN, such as 60s, instead of drawing weeks.
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["users", "weeks"])]
    pub(crate) shake: Option<String>,
    /// Draw users independently, FACTOR times as many as in the log, instead of weeks.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) users: Option<f64>,
    /// Number of weeks, instead of as many as the log has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=5200))]
    pub(crate) weeks: Option<u64>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Seed of random numbers.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The file to write, in the Standard Workload Format; packed if its name ends in .gz.
    #[arg(long, value_name = "FILE.swf[.gz]")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask workload inspect KTH-SP2-1996-2.1-cln.swf.gz
      the log at a glance; figures, CSV, inspect.json and report.html below results/workload
  cargo xtask workload inspect wagap-2013.swf.gz --procs 2176 --utc-offset 1 --out /tmp/wagap
      a log without a header: the size of its machine, and its time zone
  cargo xtask workload inspect log.swf --json | jq .inspection.load

Jobs are the records that a simulation would run; their times are those of the
log.")]
pub struct Inspect {
    /// The log, in the Standard Workload Format, plain or gzip.
    #[arg(value_name = "FILE.swf[.gz]")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) machine: Machine,
    #[command(flatten)]
    pub(crate) zone: ZoneOption,
    /// Output folder; results/workload/NAME if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask workload validate log.swf.gz
      one line for each anomaly, as FILE:LINE: job N: NAME: what is odd; then a summary by kind
  cargo xtask workload validate log.swf.gz --summary
      one line for each kind of anomaly, with its count
  cargo xtask workload validate log.swf.gz | grep ': cut-at-estimate'

The log is read once and never held in memory. Exit code 0 if every line can be
read, however odd, and 2 if one cannot.")]
pub struct Validate {
    /// The log, in the Standard Workload Format, plain or gzip.
    #[arg(value_name = "FILE.swf[.gz]")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// List the first N anomalies only; all are counted.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print one line for each kind of anomaly, with its count, and no single ones.
    #[arg(long, conflicts_with = "limit")]
    pub(crate) summary: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask workload convert plain.swf --to swf21 --out extended.swf
      with the columns of MetaCentrum: hosts, queue, nodes
  SLURM_TIME_FORMAT=%s sacct --allusers --allocations --parsable2 --starttime 2026-01-01 --endtime 2026-07-01 \\
    --format JobIDRaw,JobID,User,Group,Account,QOS,Partition,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocCPUS,ReqCPUS,\\
NNodes,AllocTRES,ReqMem,TotalCPU,State > jobs.sacct
  cargo xtask workload convert jobs.sacct --to swf --out site.swf.gz --procs 4096 --zone Europe/Berlin
      the jobs of your own Slurm cluster, as simulators take them

From sacct, steps, jobs that have not ended and the like are left out or repaired under named rules; the end of the file counts \
each. Names of users, groups, queues and partitions become numbers, and comments keep the names (`; User: 1000000000 alice`), as \
they keep names of jobs (`; Job: 12352 12345_7`). simulate, explain and check show these names; delete the comments \
before you publish the log. Columns may come in any order; others are not read. Without SLURM_TIME_FORMAT=%s times are local and have no zone; --zone gives it. \
--duplicates also gives the earlier runs of jobs that were requeued, under the
same number.

A name that ends in .gz is packed. A faulty line ends the conversion, and nothing is written: a log that was converted has \
all its records. Values that the other format has no column for are counted.")]
pub struct Convert {
    /// The log, plain or gzip.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format to write.
    #[arg(long, value_name = "swf|swf21")]
    pub(crate) to: Layout,
    /// The format to read; recognized by the first record if not given.
    #[arg(long, value_name = "swf|swf21|sacct")]
    pub(crate) from: Option<Layout>,
    /// Time zone of the clocks of sacct: a place (Europe/Berlin, with its summer times), or hours ahead of UTC (+01:00). Needed
    /// for times without a zone; of others it goes into the header.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) zone: Option<Zone>,
    /// Processors of the cluster, for the header of a log from sacct, which does not contain them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) procs: Option<u32>,
    /// The file to write; packed if its name ends in .gz.
    #[arg(long, value_name = "FILE[.gz]")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask workload generate lublin --procs 256 --count 10000 --seed 1 --out lublin.swf.gz
      ten thousand rigid jobs for 256 processors
  cargo xtask workload generate lublin --count 10000 --estimates tsafrir:48h --out est.swf
      the same two classes as published, and estimates as users choose them, up to 48 hours
  cargo xtask workload generate wagap-like --count 17900 --out wagap-like.swf.gz
      a stand-in for the log of Wagap, with the nodes and clusters that jobs request
  cargo xtask workload generate lublin --show > mine.toml
  cargo xtask workload generate lublin --preset mine.toml --set start_hour=8 --count 5000 --out mine.swf
      parameters of your own
  cargo xtask workload fit log.swf.gz --out site.toml
  cargo xtask workload generate session --preset site.toml --count 50000 --out more.swf
      sessions as in a log; requests are drawn one by one, so load and run times differ from the log's (`resample` keeps them)

The comments at the head of the file give the command that made it. The same model, parameters, seed and count give the same bytes \
on every machine.")]
pub struct Generate {
    /// The model.
    #[arg(value_parser = drawable())]
    pub(crate) model: &'static ModelEntry,
    /// Number of jobs. (`--jobs` is the number of threads, as everywhere.)
    #[arg(long, value_name = "N", required_unless_present = "show", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// Seed of random numbers.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Processors of the machine, for models whose sizes follow it, such as lublin (one class of jobs, sized for that machine).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "preset")]
    pub(crate) procs: Option<u32>,
    /// Estimates as users choose them: the model of Tsafrir, Etsion & Feitelson (2005), with the longest estimate that is
    /// allowed (`tsafrir:18h`); if that is not given, it is the longest run time, rounded up to an hour.
    #[arg(long, value_name = "tsafrir[:SPAN]", value_parser = tsafrir)]
    pub(crate) estimates: Option<TsafrirEstimates>,
    /// The model's parameters, a TOML file such as `--show` prints and `fit` writes.
    #[arg(long, value_name = "FILE")]
    pub(crate) preset: Option<PathBuf>,
    /// Another value for one parameter, such as `variation=1` or `classes.0.serial=0.3`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print the parameters as TOML, and draw nothing.
    #[arg(long)]
    pub(crate) show: bool,
    /// The file to write, in the Standard Workload Format; packed if its name ends in .gz.
    #[arg(long, value_name = "FILE.swf[.gz]", required_unless_present = "show")]
    pub(crate) out: Option<PathBuf>,
}

/// The models that can generate jobs, by name.
fn drawable() -> impl TypedValueParser<Value = &'static ModelEntry> {
    let names = models().iter().map(|model| PossibleValue::new(model.name).help(model.summary));
    PossibleValuesParser::new(names)
        .try_map(|name| model::named(&name).ok_or_else(|| format!("there is no model {name}")))
}

/// Estimates of the model of Tsafrir and others, with the longest one allowed, in seconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct TsafrirEstimates {
    pub(crate) max_estimate: Option<u32>,
}

fn tsafrir(text: &str) -> Result<TsafrirEstimates, String> {
    let wanted = || format!("expected tsafrir or tsafrir:SPAN such as tsafrir:36h, found {text:?}");
    let max_estimate = match text.split_once(':') {
        None if text == "tsafrir" => None,
        Some(("tsafrir", span)) => Some(seconds(span).ok_or_else(wanted)?),
        _ => return Err(wanted()),
    };
    Ok(TsafrirEstimates { max_estimate })
}

/// `90s`, `15m`, `4h`, `30d`, in seconds.
pub(super) fn seconds(span: &str) -> Option<u32> {
    u32::try_from(workload::span(span)?.as_nanos() / 1_000_000_000).ok()
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask workload fit KTH-SP2-1996-2.1-cln.swf.gz --out kth.toml
  cargo xtask workload generate session --preset kth.toml --count 28000 --seed 1 --out kth-like.swf.gz

What is measured: when sessions begin, how many jobs they have and how far apart, who submits, sizes, estimates by size, \
run times as parts of estimates, and how often a job requests the same as the
one before it.")]
pub struct Fit {
    /// The log, in the Standard Workload Format, plain or gzip.
    #[arg(value_name = "FILE.swf[.gz]")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) zone: ZoneOption,
    /// The preset to write.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Machine {
    /// Processors of the machine; from the log's header if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) procs: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ZoneOption {
    /// Hours by which local time was ahead of UTC, such as -8 or 5.5; from the log's header if not given.
    #[arg(long, value_name = "H", value_parser = utc_offset, allow_negative_numbers = true)]
    pub(crate) utc_offset: Option<i32>,
}

/// Parses hours, and returns seconds.
fn utc_offset(text: &str) -> Result<i32, String> {
    let hours = text.parse::<f64>().ok().filter(|hours| hours.abs() <= 24.0);
    #[expect(clippy::cast_possible_truncation, reason = "a day at most")]
    hours.map(|hours| (hours * 3_600.0).round() as i32).ok_or_else(|| "expected hours from -24 to 24".to_owned())
}
