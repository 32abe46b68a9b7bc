//! `cargo xtask workload generate`: a synthetic log.

mod model;

use super::cli::{Generate, TsafrirEstimates};
use super::io::{NewFile, printed};
use super::words::counted;
use crate::options::words;
use anyhow::{Context, Result, anyhow};
use lab::chart::fixed;
use lab::cli::{Common, Ending, print};
use lab::interrupt::{self, Interrupted};
use lab::progress::Progress;
use lab::units::{self, duration};
pub use model::CompleteModel;
use sha2::{Digest, Sha256};
use sim_core::{Span, Streams};
use workload::SwfWriter;
use workload::model::{ModelEntry, ModelJob, Tsafrir};

/// Number of jobs between two checks for Ctrl-C and reports of progress.
const PATIENCE: u32 = 4096;

/// Longest list of parameters, in lines, that is written into the head of a log.
const LONGEST_HEAD: usize = 80;

pub(super) fn generate(options: &Generate, common: &Common) -> Result<Ending> {
    let model = CompleteModel::new(options.model, options.procs, options.preset.as_deref(), &options.set)?;
    if options.show {
        print(&model.parameters.to_toml()?);
        return Ok(Ending::Done);
    }
    let (Some(count), Some(out)) = (options.count, &options.out) else {
        unreachable!("clap demands --count and --out where --show is not given")
    };
    let mut new = NewFile::create(out)?;
    let streams = Streams::new(options.seed, 0);
    let jobs = model.parameters.jobs(&streams).take(count as usize);
    let mut cut = 0;
    let head = head(options, &model, count)?;
    let progress = Progress::new("generate", u64::from(count), common.quiet);
    let written = match options.estimates {
        None => write(&mut new, &head, jobs, &progress),
        Some(tsafrir) => {
            // Estimates are distributed among all jobs, so all are needed at once.
            let mut all: Vec<ModelJob> = jobs.take_while(|_| !interrupt::requested()).collect();
            let estimates = model_of(tsafrir, &all)?;
            cut = estimates.assign(&mut all, &streams).map_err(|error| {
                let hours = 2 * estimates.0 / 3_600;
                anyhow!("--estimates: {error}; allow longer ones, such as --estimates tsafrir:{hours}h")
            })?;
            write(&mut new, &head, all.into_iter(), &progress)
        }
    };
    let (work, last) = written.with_context(|| format!("cannot write {}", out.display()))?;
    interrupt::check(Interrupted::Lost)?;
    new.keep()?;

    let load = (!last.is_zero()).then(|| work / (f64::from(model.processors) * last.as_secs_f64()));
    let answer = serde_json::json!({
        "out": out,
        "model": model.model.name,
        "seed": options.seed,
        "jobs": count,
        "processors": model.processors,
        "submission_span": last.as_secs_f64(),
        "load": load,
        "cut_at_longest_estimate": cut,
    });
    let load = load.map_or_else(String::new, |load| format!(", load {}", fixed(load, 2)));
    let (jobs, processors) = (counted(u64::from(count), "job"), counted(u64::from(model.processors), "processor"));
    let (name, span) = (model.model.name, duration(last.as_secs_f64()));
    let mut words = format!("{jobs} of {name} over {span} for {processors}{load}\n");
    if cut > 0 {
        words += &format!("{} ran for longer than the longest estimate: cut there\n", counted(u64::from(cut), "job"));
    }
    Ok(printed(common, &answer, if common.quiet { "" } else { &words }, out))
}

/// Writes the log, and returns its processor-seconds and its last submission.
fn write(
    out: &mut NewFile,
    head: &str,
    jobs: impl Iterator<Item = ModelJob>,
    progress: &Progress,
) -> std::io::Result<(f64, Span)> {
    let (mut out, mut work, mut last) = (SwfWriter::new(out), 0.0, Span::ZERO);
    out.comment(head)?;
    for (job, number) in jobs.zip(1_u32..) {
        let record = job.record();
        out.record(&record)?;
        work += job.job.runtime.as_secs_f64() * f64::from(job.job.processors);
        last = record.submit.unwrap_or_default();
        if number.is_multiple_of(PATIENCE) {
            progress.add(u64::from(PATIENCE));
            if interrupt::requested() {
                break;
            }
        }
    }
    Ok((work, last))
}

/// The model of estimates. Without a given one, its longest estimate is the longest run time, rounded up to an hour.
fn model_of(asked: TsafrirEstimates, jobs: &[ModelJob]) -> Result<Tsafrir> {
    let longest = || {
        let longest = jobs.iter().map(|job| job.job.runtime).max().unwrap_or_default();
        let hours = longest.as_nanos().div_ceil(3_600_000_000_000).max(1);
        u32::try_from(hours * 3_600).unwrap_or(u32::MAX)
    };
    let model = Tsafrir(asked.max_estimate.unwrap_or_else(longest));
    model.validate().map_err(|error| anyhow!("--estimates: {error}"))?;
    Ok(model)
}

fn head(options: &Generate, model: &CompleteModel, count: u32) -> Result<String> {
    let parameters = model.parameters.to_toml()?;
    let lines: Vec<&str> = parameters.lines().filter(|line| !line.is_empty()).collect();
    let (version, command) = (env!("CARGO_PKG_VERSION"), command(options, count));
    let (Generate { seed, .. }, CompleteModel { model: ModelEntry { origin, name, .. }, processors, .. }) =
        (options, model);
    let mut head = format!(
        "Version: 2.2\n\
         Computer: none; jobs drawn from {origin}\n\
         Installation: Gridproof {version}\n\
         MaxJobs: {count}\n\
         MaxRecords: {count}\n\
         MaxProcs: {processors}\n\
         Model: {name}\n\
         Seed: {seed}\n\
         Command: {command}\n"
    );
    if lines.len() <= LONGEST_HEAD {
        head += &format!("Parameters:\n{}\n", lines.join("\n"));
    } else {
        let hash = hex::encode(Sha256::digest(parameters.as_bytes()));
        let lines = units::count(lines.len() as u64);
        head += &format!("Parameters: {lines} lines of SHA-256 {hash}; the command with --show prints them\n");
    }
    Ok(head)
}

/// The command that makes the same log again, except for the file's name.
fn command(options: &Generate, count: u32) -> String {
    let Generate { model, seed, procs, preset, set, .. } = options;
    let estimates = options.estimates.map_or_else(String::new, |TsafrirEstimates { max_estimate }| {
        let longest = max_estimate.map_or_else(String::new, |seconds| format!(":{seconds}s"));
        format!(" --estimates tsafrir{longest}")
    });
    let preset = preset.as_ref().map(|file| file.file_name().unwrap_or_default().to_string_lossy());
    let set: String = set.iter().map(|assignment| words("set", Some(assignment))).collect();
    let (procs, preset) = (words("procs", *procs), words("preset", preset));
    let (program, model) = (lab::cli::program(), model.name);
    format!("{program} workload generate {model} --count {count} --seed {seed}{procs}{preset}{set}{estimates}")
}
