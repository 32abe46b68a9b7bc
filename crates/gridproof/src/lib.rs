//! The papers and the worlds of Gridproof as one program, which other programs can extend.
//!
//! ```no_run
//! use gap_schedule::Fcfs;
//!
//! fn main() -> std::process::ExitCode {
//!     gridproof::Lab::standard()
//!         .policy("my-fcfs", "first come first served, my version", || Box::new(Fcfs::default()))
//!         .main()
//! }
//! ```
//!
//! `examples/outside` in the repository is such a program in a workspace of its own, with a policy and a small paper.

mod cli;
mod completions;
mod doubt;
mod list;
mod verify;

pub use cli::{Cli, Command, Doubt, EXIT_CODES, Reproduce, Verify};

use anyhow::{Result, bail};
use clap::{CommandFactory, FromArgMatches};
use gap_schedule::Policy;
use lab::cli::{Common, Ending, print, program};
use lab::interrupt;
pub use lab::metric::Better;
use lab::paper::Paper;
use lab::paper::logs::Missing;
use lab::registry::{Entry, find};
use lab::reproduce::Request;
use lab::terminal::{print_styled, tell};
pub use replay::simulate::JobRecord;
use replay::simulate::{Added, Own, OwnMetric};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The commit that this program was built from, marked `-dirty` if its sources differed from it.
pub const GIT_REVISION: &str = concat!(env!("GRIDPROOF_REVISION"), env!("GRIDPROOF_DIRTY"));

/// SHA-256 of the sources that this program was built from; `unknown` in a package of a registry.
pub const SOURCES: &str = env!("GRIDPROOF_SOURCES");

/// A laboratory: the papers, policies and metrics of a program.
#[derive(Clone, Debug)]
pub struct Lab {
    papers: Vec<Entry>,
    added: Added,
}

impl Lab {
    /// The papers and policies of this workspace, in the order in which they were built.
    pub fn standard() -> Self {
        Self { papers: papers::ALL.to_vec(), added: Added::default() }
    }

    /// Adds the paper `P` after the existing ones.
    ///
    /// # Panics
    ///
    /// Panics if another paper has its name.
    #[must_use]
    pub fn paper<P: Paper>(mut self) -> Self {
        let slug = P::ABOUT.slug;
        assert!(self.papers.iter().all(|paper| paper.about.slug != slug), "two papers are called {slug:?}; rename one");
        self.papers.push(Entry::of::<P>());
        self
    }

    /// Adds a policy of space-shared machines, as `simulate --policy name` takes it. `make` returns one before its first job. The policy
    /// replaces a built-in one of the same name.
    ///
    /// # Panics
    ///
    /// Panics if `name` contains other characters than letters, digits and hyphens, or another policy was added by it.
    #[must_use]
    pub fn policy<F>(mut self, name: &str, about: &str, make: F) -> Self
    where
        F: Fn() -> Box<dyn Policy> + Send + Sync + 'static,
    {
        assert!(self.added.policies.iter().all(|own| own.name != name), "two policies are called {name:?}; rename one");
        self.added.policies.push(Arc::new(Own::new(name, about, make)));
        self
    }

    /// Adds a metric of runs: a column at the end of `summary.csv`, a row of the page's tables, and a name for the `metrics` of an
    /// experiment. `value` is computed from the records of all finished jobs, in order of submission; NaN stands for "no
    /// value".
    ///
    /// # Panics
    ///
    /// Panics if `name` contains other characters than small letters, digits and underscores, or another metric has it.
    #[must_use]
    pub fn metric<F>(mut self, name: &str, label: &str, better: Better, value: F) -> Self
    where
        F: Fn(&[JobRecord]) -> f64 + Send + Sync + 'static,
    {
        assert!(
            self.added.metrics.iter().all(|own| own.metric.name() != name),
            "two metrics are called {name:?}; rename one"
        );
        self.added.metrics.push(OwnMetric::new(name, label, better, value));
        self
    }

    /// Sets the checkout in `folder`, if it is there: messages name files of it.
    #[must_use]
    pub fn in_workspace(self, folder: &Path) -> Self {
        lab::scenario::set_workspace(folder);
        self
    }

    /// Sets the name of the program, such as `cargo xtask`, for the commands in reports and messages.
    #[must_use]
    pub fn called(self, program: &str) -> Self {
        lab::cli::set_program(program);
        self
    }

    /// Reads the command line and runs its command.
    pub fn main(self) -> ExitCode {
        let path = std::env::args_os().next().map(PathBuf::from);
        let name = path.as_deref().and_then(Path::file_stem).unwrap_or_else(|| "gridproof".as_ref());
        let lab = self.called(&name.to_string_lossy());
        let mut program = lab.explained(Cli::command().name(program()));
        lab.complete(&program);
        let Cli { command, common } = parsed(&mut program);
        ended(begin(&common).and_then(|()| lab.run(command, &common, &program))).into()
    }

    /// The command line with help that contains the program's name and the added policies.
    #[must_use]
    pub fn explained(&self, command: clap::Command) -> clap::Command {
        let added: String =
            self.added.policies.iter().map(|own| format!("\n  {}\n      {}", own.name, own.about)).collect();
        in_its_own_words(command, &|help| {
            let help = help.replace("cargo xtask", program());
            let end = "\n\nSettings of policies:";
            help.replacen(end, &format!("{added}{end}"), 1)
        })
    }

    /// Runs `command`. `program` is the whole command line that it belongs to.
    ///
    /// # Errors
    ///
    /// Bad usage or input, a file that cannot be read or written, or Ctrl-C; [`exit_code`] returns a number for each.
    pub fn run(&self, command: Command, common: &Common, program: &clap::Command) -> Result<Ending> {
        match command {
            Command::List => list::list(&self.papers, common),
            Command::Reproduce(options) => reproduce(&self.papers, &options, common),
            Command::Doubt(options) => doubt::doubt(&self.papers, &options, common),
            Command::Simulate(options) => replay::simulate::command(&options, &self.added, common),
            Command::Experiment(options) => experiment::experiment(&options, &self.added, common),
            Command::Explain(options) => {
                let found = replay::explain::explain(&options, &self.added.policies)?;
                found.without_effect.iter().chain(&found.notes).for_each(|note| tell(note));
                print(&if common.json { format!("{:#}\n", found.as_json()) } else { found.in_words() });
                Ok(Ending::Done)
            }
            Command::Check(options) => {
                let found = replay::check::check(&options, &self.added.policies)?;
                found.notes.iter().for_each(|note| tell(note));
                let words = || found.in_words(common.quiet);
                print(&if common.json { format!("{:#}\n", found.as_json()) } else { words() });
                Ok(if found.is_clean() { Ending::Done } else { Ending::Differs })
            }
            Command::Slurm(command) => replay::slurm::slurm(&command, common),
            Command::Workload(command) => replay::workload::workload(&command, common),
            Command::Verify(options) => verify::verify(&options, common),
            Command::Completions { shell } => completions::completions(shell, program),
        }
    }
}

/// Rewrites the text after the options in the help of `command` and of all commands below it. Only `--help` has that text and
/// the whole description of an option; `-h` has the beginning of its first sentence.
fn in_its_own_words(command: clap::Command, rewrite: &dyn Fn(&str) -> String) -> clap::Command {
    let command = command.mut_subcommands(|below| listed(in_its_own_words(below, rewrite))).mut_args(described);
    match command.get_after_help().map(|help| rewrite(&help.to_string())) {
        Some(help) => command.after_help("").after_long_help(help),
        None => command,
    }
}

/// A command in one line of the list above it.
fn listed(command: clap::Command) -> clap::Command {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    command.about(beginning(&about, &[". ", "; ", ": "]).to_owned()).long_about(about)
}

/// An option in one line of `-h`; `--help` has the whole description, and the values.
fn described(argument: clap::Arg) -> clap::Arg {
    let Some(help) = argument.get_help().map(ToString::to_string) else { return argument };
    let short = beginning(&help, &[". ", "; ", ": ", " (", ", "]).to_owned();
    // clap gives a switch values before it has built the command.
    let has_values = argument.get_action().takes_values();
    let values =
        argument.get_possible_values().into_iter().filter(|_| has_values).map(|value| match value.get_help() {
            Some(help) => format!("\n- {}: {help}", value.get_name()),
            None => format!("\n- {}", value.get_name()),
        });
    let values: String = values.collect();
    let long = if values.is_empty() { help } else { format!("{help}\n\nPossible values:{values}") };
    argument.help(short).long_help(long).hide_possible_values(has_values)
}

fn beginning<'a>(text: &'a str, stops: &[&str]) -> &'a str {
    let end = stops.iter().filter_map(|stop| text.find(stop)).min();
    &text[..end.unwrap_or(text.len())]
}

/// Parses the command line of `program`; ends the process with a message if it is wrong.
pub fn parsed<P: FromArgMatches>(program: &mut clap::Command) -> P {
    let matches = program.try_get_matches_from_mut(std::env::args_os());
    matches.and_then(|mut matches| P::from_arg_matches_mut(&mut matches)).unwrap_or_else(|error| {
        // The message repeats an argument, with the control characters that a terminal would obey.
        let commands_a_terminal = |argument: std::ffi::OsString| argument.to_string_lossy().contains(char::is_control);
        if error.use_stderr() && std::env::args_os().any(commands_a_terminal) {
            tell(error.render().to_string().trim_end());
            std::process::exit(2);
        }
        error.exit()
    })
}

/// Handles Ctrl-C, and sets the number of threads. Call once, before anything runs.
///
/// # Errors
///
/// The threads cannot be started.
pub fn begin(common: &Common) -> Result<()> {
    lab::output::provenance::built_from(GIT_REVISION, SOURCES);
    interrupt::listen();
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}

/// Reports an error on standard error, and returns the exit code: [`EXIT_CODES`].
pub fn ended(result: Result<Ending>) -> u8 {
    match result {
        Ok(Ending::Done) => 0,
        Ok(Ending::Differs) => 1,
        Err(error) => {
            tell(&format!("error: {error:#}"));
            exit_code(&error)
        }
    }
}

/// Returns the exit code of an error: 130 interrupted, 3 reading or writing failed, 2 bad usage or bad input.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<interrupt::Interrupted>() {
        return 130;
    }
    let of_input = error.downcast_ref::<::workload::InputError>().map(::workload::InputError::is_io);
    let is_io = || error.chain().any(|cause| cause.is::<std::io::Error>());
    if of_input.unwrap_or_else(is_io) { 3 } else { 2 }
}

/// The papers that a command names, each with the request for it: of several papers, each has a folder of its own below.
fn requested<'a>(papers: &'a [Entry], slug: &str, run: &Request, common: &Common) -> Result<Vec<(&'a Entry, Request)>> {
    let wanted = if slug == "all" { papers } else { std::slice::from_ref(find(papers, slug)?) };
    let request = |paper: &'a Entry| {
        let out = run.out.clone().map(|out| if slug == "all" { out.join(paper.about.slug) } else { out });
        (paper, Request { quiet: common.quiet, out, ..run.clone() })
    };
    Ok(wanted.iter().map(request).collect())
}

/// The outcomes of papers, which are printed in words one by one, or together as JSON. A paper that lacks a log is skipped, with a
/// line on standard error.
fn of_each<T>(
    papers: Vec<(&Entry, Request)>,
    common: &Common,
    run: impl Fn(&Entry, Request) -> Result<T>,
    in_words: fn(&T, bool) -> String,
    as_json: fn(&T) -> serde_json::Value,
) -> Result<Vec<T>> {
    let mut outcomes = Vec::new();
    for (paper, request) in papers {
        match run(paper, request) {
            Err(error) if error.is::<Missing>() => tell(&format!("{}: skipped: {error}", paper.about.slug)),
            outcome => {
                let outcome = outcome?;
                if !common.json {
                    print_styled(&in_words(&outcome, common.quiet));
                }
                outcomes.push(outcome);
            }
        }
    }
    if common.json {
        print(&format!("{:#}\n", outcomes.iter().map(as_json).collect::<serde_json::Value>()));
    }
    Ok(outcomes)
}

fn reproduce(papers: &[Entry], options: &Reproduce, common: &Common) -> Result<Ending> {
    let Reproduce { slug, run, check, decide, only, seeds, repeat } = options;
    let run = Request { decide: *decide, only: only.clone(), seeds: *seeds, ..run.clone() };
    let wanted = requested(papers, slug, &run, common)?;
    if let Some(id) = repeat {
        let [(paper, request)] = &wanted[..] else { bail!("--run takes one paper, not all") };
        let metrics = (paper.rerun)(request, id)?;
        if common.json {
            let metrics = metrics.into_iter().map(|(name, value)| (name, value.into()));
            print(&format!("{:#}\n", serde_json::Value::Object(metrics.collect())));
        } else {
            let width = metrics.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            metrics.iter().for_each(|(name, value)| print(&format!("{name:width$}  {value}\n")));
        }
        return Ok(Ending::Done);
    }
    let run = |paper: &Entry, request| (paper.reproduce)(&request);
    let outcomes = of_each(wanted, common, run, list::verdicts, list::verdicts_as_json)?;
    let mut ending = Ending::Done;
    for outcome in outcomes.iter().filter(|_| *check) {
        let slug = outcome.about.slug;
        for (judged, recorded) in outcome.surprises() {
            tell(&format!("{slug} {}: {}, but {recorded} is on record", judged.id, judged.in_words()));
            ending = Ending::Differs;
        }
        for judged in outcome.never_recorded() {
            let (id, words) = (&judged.id, judged.in_words());
            tell(&format!("{slug} {id}: {words}; no run of this kind is on record, so nothing was checked"));
        }
        for (judged, found, recorded) in outcome.unsteady() {
            tell(&format!("{slug} {}: stays under {found} seeds, but {recorded} is on record", judged.id));
            ending = Ending::Differs;
        }
    }
    Ok(ending)
}
