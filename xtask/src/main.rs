//! The laboratory's one program: reproduce papers, simulate logs, check the workspace. `cargo xtask --help`.

mod bench;
mod chart;
mod ci;
mod cli;
mod interrupt;
mod list;
mod output;
mod page;
mod progress;
mod provenance;
mod reproduce;
mod scenario;
mod sequence;
mod simulate;
mod verdict;
mod workload;

use anyhow::{Result, bail};
use clap::{CommandFactory, Parser};
use cli::{Cli, Command, Ending, print};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    interrupt::listen();
    match run(cli) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Differs) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

/// 130 interrupted, 3 reading or writing failed, 2 bad usage or bad input.
fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<interrupt::Interrupted>() {
        return 130;
    }
    if let Some(error) = error.downcast_ref::<::workload::SwfError>() {
        return if error.is_io() { 3 } else { 2 };
    }
    if let Some(error) = error.downcast_ref::<::workload::OutagesError>() {
        return if error.is_io() { 3 } else { 2 };
    }
    if let Some(error) = error.downcast_ref::<::workload::MachinesError>() {
        return if error.is_io() { 3 } else { 2 };
    }
    if error.chain().any(|cause| cause.is::<std::io::Error>()) { 3 } else { 2 }
}

fn run(cli: Cli) -> Result<Ending> {
    let Cli { command, common } = cli;
    if let Some(jobs) = common.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global()?;
    }
    match command {
        Command::List => list::list(&common),
        Command::Reproduce(options) => reproduce_command(&options, &common),
        Command::Readings(options) => {
            let cli::TryReadings { slug: _, traces, reps, out } = options;
            print(&reproduce::try_readings(traces.as_deref(), out, reps, common.quiet)?);
            Ok(Ending::Done)
        }
        Command::Simulate(options) => simulate::simulate(&options, &common),
        Command::Workload(command) => workload::workload(&command, &common),
        Command::Bench(options) => bench::bench(&options, &common),
        Command::Ci => ci::ci(),
        Command::Completions { shell } => {
            // Into a buffer first: a pipe that closes early is no reason to panic.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "cargo-xtask", &mut script);
            print(&String::from_utf8(script)?);
            Ok(Ending::Done)
        }
    }
}

fn reproduce_command(options: &cli::Reproduce, common: &cli::Common) -> Result<Ending> {
    let slugs: Vec<&str> = if options.slug == "all" { reproduce::SLUGS.to_vec() } else { vec![&options.slug] };
    if let Some(id) = &options.run {
        let [slug] = slugs[..] else { bail!("--run takes one paper, not all") };
        let metrics = reproduce::rerun(slug, &request(options, common, slug), id)?;
        if common.json {
            let metrics: serde_json::Map<_, _> =
                metrics.into_iter().map(|(name, value)| (name, value.into())).collect();
            print(&format!("{:#}\n", serde_json::Value::from(metrics)));
        } else {
            let width = metrics.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            metrics.iter().for_each(|(name, value)| print(&format!("{name:width$}  {value}\n")));
        }
        return Ok(Ending::Done);
    }
    let mut outcomes = Vec::new();
    for slug in slugs {
        let outcome = reproduce::reproduce(slug, &request(options, common, slug))?;
        if !common.json {
            print(&list::verdicts(&outcome, common.quiet));
        }
        outcomes.push(outcome);
    }
    if common.json {
        let all: Vec<_> = outcomes.iter().map(list::verdicts_as_json).collect();
        print(&format!("{:#}\n", serde_json::Value::from(all)));
    }
    let mut ending = Ending::Done;
    if options.check {
        for outcome in &outcomes {
            for (judged, recorded) in outcome.surprises() {
                eprintln!("{} {}: {}, but {recorded} is on record", outcome.about.slug, judged.id, judged.in_words());
                ending = Ending::Differs;
            }
            for (judged, found, recorded) in outcome.unsteady() {
                let slug = outcome.about.slug;
                eprintln!("{slug} {}: stays under {found} seeds, but {recorded} is on record", judged.id);
                ending = Ending::Differs;
            }
        }
    }
    Ok(ending)
}

fn request(options: &cli::Reproduce, common: &cli::Common, slug: &str) -> reproduce::Request {
    // Several papers into one folder: each gets its own below it.
    let out = options.out.as_ref().map(|out| if options.slug == "all" { out.join(slug) } else { out.clone() });
    reproduce::Request {
        quick: options.quick,
        decide: options.decide,
        only: options.only.clone(),
        reps: options.reps,
        seed: options.seed,
        seeds: options.seeds,
        set: options.set.clone(),
        traces: options.traces.clone(),
        out,
        fresh: options.fresh,
        quiet: common.quiet,
    }
}
