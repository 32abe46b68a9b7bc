//! The front door: the papers and the worlds of Gridproof as one program, which others can add to.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     gridproof::Lab::standard().main()
//! }
//! ```

mod cli;
mod list;

pub use cli::{Cli, Command, EXIT_CODES, Reproduce, TryReadings};

use anyhow::{Result, bail};
use clap::{CommandFactory, Parser};
use lab::cli::{Common, Ending, print};
use lab::interrupt;
use lab::paper::Paper;
use lab::registry::{Entry, find};
use lab::reproduce::Request;
use std::path::Path;
use std::process::ExitCode;

/// A laboratory: the papers that its program knows.
#[derive(Clone, Debug)]
pub struct Lab {
    papers: Vec<Entry>,
}

impl Lab {
    /// The papers of this workspace, in the order in which they were built.
    pub fn standard() -> Self {
        Self { papers: papers::ALL.to_vec() }
    }

    /// With the paper `P`, behind those that are there.
    #[must_use]
    pub fn paper<P: Paper>(mut self) -> Self {
        self.papers.push(Entry::of::<P>());
        self
    }

    /// For the workspace in `folder`, if it is there: results go below it, and reports tell its revision.
    #[must_use]
    pub fn in_workspace(self, folder: &Path) -> Self {
        lab::scenario::set_workspace(folder);
        self
    }

    /// The papers, in their order.
    pub fn papers(&self) -> &[Entry] {
        &self.papers
    }

    /// The whole program: reads the command line, does what it says.
    pub fn main(self) -> ExitCode {
        let Cli { command, common } = Cli::parse();
        ended(begin(&common).and_then(|()| self.run(command, &common, &mut Cli::command())))
    }

    /// Does what `command` says. `program` is the whole command line that it belongs to, for shells to complete.
    ///
    /// # Errors
    ///
    /// Bad usage or input, a file that cannot be read or written, or Ctrl-C; [`ended`] tells which by the exit code.
    pub fn run(&self, command: Command, common: &Common, program: &mut clap::Command) -> Result<Ending> {
        match command {
            Command::List => list::list(&self.papers, common),
            Command::Reproduce(options) => reproduce(&self.papers, &options, common),
            Command::Readings(options) => {
                let TryReadings { slug: _, traces, reps, out } = options;
                print(&papers::try_readings(traces.as_deref(), out, reps, common.quiet)?);
                Ok(Ending::Done)
            }
            Command::Simulate(options) => replay::simulate::simulate(&options, common),
            Command::Workload(command) => replay::workload::workload(&command, common),
            Command::Completions { shell } => {
                // Into a buffer first: a pipe that closes early is no reason to panic.
                let mut script = Vec::new();
                let name = program.get_name().to_owned();
                clap_complete::generate(shell, program, name, &mut script);
                print(&String::from_utf8(script)?);
                Ok(Ending::Done)
            }
        }
    }
}

/// Listens for Ctrl-C, and keeps to the number of threads that was asked for. To be called once, before anything runs.
///
/// # Errors
///
/// The threads cannot be started.
pub fn begin(common: &Common) -> Result<()> {
    interrupt::listen();
    if let Some(jobs) = common.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global()?;
    }
    Ok(())
}

/// The exit code, after the error has been told on standard error: [`EXIT_CODES`].
pub fn ended(result: Result<Ending>) -> ExitCode {
    match result {
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

fn reproduce(papers: &[Entry], options: &Reproduce, common: &Common) -> Result<Ending> {
    let wanted = if options.slug == "all" { papers } else { std::slice::from_ref(find(papers, &options.slug)?) };
    if let Some(id) = &options.run {
        let [paper] = wanted else { bail!("--run takes one paper, not all") };
        let metrics = paper.rerun(&request(options, common, paper.about.slug), id)?;
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
    for paper in wanted {
        let outcome = paper.reproduce(&request(options, common, paper.about.slug))?;
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
        }
    }
    Ok(ending)
}

fn request(options: &Reproduce, common: &Common, slug: &str) -> Request {
    // Several papers into one folder: each gets its own below it.
    let out = options.out.as_ref().map(|out| if options.slug == "all" { out.join(slug) } else { out.clone() });
    Request {
        quick: options.quick,
        decide: options.decide,
        only: options.only.clone(),
        reps: options.reps,
        seed: options.seed,
        set: options.set.clone(),
        traces: options.traces.clone(),
        out,
        fresh: options.fresh,
        quiet: common.quiet,
    }
}
