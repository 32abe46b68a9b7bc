//! `cargo xtask simulate`: a log under one or more policies.

mod alea31;
mod cli;
mod clock;
mod compare;
mod exec;
mod hier;
mod metasched;
mod name;
mod own;
#[doc(hidden)]
pub mod policy;
mod report;
mod rows;
mod sections;
#[doc(hidden)]
pub mod sites;
mod slurm;
#[doc(hidden)]
pub mod space_shared;
mod watch;
pub(crate) mod world;
pub(crate) mod worlds;

pub use crate::label::Label;
use crate::options::stem;
use anyhow::{Context, Result, ensure};
pub use cli::{Simulate, Table};
use lab::chart::{self, Picture};
use lab::cli::{Common, Ending, print};
pub use lab::difference::{Difference, Ranked};
use lab::output::OutDir;
use lab::output::provenance::sha256_of;
use lab::page;
use lab::progress::Progress;
use lab::shown;
use lab::table::csv;
use lab::terminal::tell;
pub use metrics::{Metric, OwnMetric};
pub use own::{Added, Own};
pub use policy::machines_under;
pub use report::Simulation;
pub use rows::{Processors, Row};
use rows::{Rows, SimulatedJob};
pub use sim_core::JobRecord;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use watch::{Keeps, Watch};
use world::Run;

/// Completions of policy names from `typed`, with descriptions: policies that a program `added`, and built-in ones.
pub fn policy_names(added: &Added, typed: &str) -> Vec<(String, String)> {
    let own = added.policies.iter().map(|own| (own.name.clone(), own.about.clone()));
    let ours = policy::Policy::completions(typed).into_iter();
    // A value is for the user to type.
    let beginning = |name: &str| name.split_inclusive('=').next().unwrap_or_default().to_owned();
    let others = metasched::POLICIES.forms().chain(hier::POLICIES.forms());
    let others = others.map(|(form, about)| (beginning(form), about));
    own.chain(ours.chain(others).map(|(name, about)| (name, about.to_owned()))).collect()
}

/// Replays the log under each policy, and keeps every job. Writes and prints nothing; the output options take effect in
/// [`Simulation::write`]. `added` are policies and metrics of the program's own.
///
/// ```
/// use replay::simulate::{Added, Simulate, simulate};
///
/// # fn main() -> anyhow::Result<()> {
/// let folder = tempfile::tempdir()?;
/// let log = folder.path().join("log.swf");
/// // Fields 4, 8 and 9 are the run time, the processors and the requested time.
/// let jobs = ["1 0 -1 90 -1 -1 -1 3 100", "2 5 -1 50 -1 -1 -1 2 60", "3 9 -1 20 -1 -1 -1 1 30"];
/// let lines = jobs.map(|job| format!("{job} -1 1 -1 -1 -1 -1 -1 -1 -1\n")).concat();
/// std::fs::write(&log, format!("; MaxProcs: 4\n{lines}"))?;
/// let mut options = Simulate::default();
/// options.log.log = Some(log);
/// options.world.policies = vec!["fcfs".to_owned(), "easy".to_owned()];
/// let simulation = simulate(&options, &Added::default())?;
/// let starts = |policy| simulation.jobs(policy).map(|job| job.start.map(|at| at.as_secs_f64())).collect::<Vec<_>>();
/// assert_eq!(starts(0), [Some(0.0), Some(90.0), Some(90.0)]);
/// assert_eq!(starts(1), [Some(0.0), Some(90.0), Some(9.0)]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Bad options or input, an unreadable file, or [`Control::stop`](lab::control::Control::stop).
pub fn simulate(options: &Simulate, added: &Added) -> Result<Simulation> {
    ensure!(options.further.is_empty(), "a simulation takes one log; the command takes several");
    let mut simulation = Simulation::open(options, added)?;
    let watch = || Ok(Watch::new(simulation.sites(), Keeps::All, Rows::default(), &added.metrics));
    simulation.runs = simulation.world.replay_all(&watch, &|| {})?;
    Ok(simulation)
}

/// The command: replays the log, writes jobs as they leave the system, and prints the results.
///
/// # Errors
///
/// Those of [`simulate`], or a file that cannot be written.
pub fn command(options: &Simulate, added: &Added, common: &Common) -> Result<Ending> {
    let each = options.each_log()?;
    let (mut best, mut all) = (Vec::new(), Vec::new());
    for (position, options) in each.iter().enumerate() {
        if each.len() > 1 && !common.json {
            let apart = if position > 0 { "\n" } else { "" };
            print(&format!("{apart}{}\n", options.log.trace().display()));
        }
        let (simulation, out) = written(options, added, common.quiet)?;
        let name = || stem(options.log.trace());
        best.extend(simulation.compared().best().map(|[policy, mean, near]| vec![name(), policy, mean, near]));
        if common.json {
            all.push(simulation.as_json(&out));
        } else {
            print(&simulation.as_text(&out, common.quiet));
        }
    }
    if common.json {
        let all = if each.len() == 1 { all.remove(0) } else { all.into() };
        print(&format!("{all:#}\n"));
    } else if each.len() > 1 {
        print(&compare::best_by_log(best));
    }
    Ok(Ending::Done)
}

/// Replays one log and writes its results. Returns them with their folder.
fn written(options: &Simulate, added: &Added, quiet: bool) -> Result<(Simulation, PathBuf)> {
    let mut simulation = Simulation::open(options, added)?;
    simulation.world.idle_options().iter().for_each(|option| tell(option));
    let folder = || Path::new("results/simulate").join(stem(options.log.trace()));
    let out = OutDir::create(&options.out.clone().unwrap_or_else(folder), "simulate")?;
    let progress = Progress::new("simulate", simulation.world.policies.len() as u64, quiet);
    let keeps = if options.no_report { Keeps::None } else { Keeps::Drawable };
    let sites = &simulation.world.sites;
    let rows = || Rows::begin(options.log.trace(), sites, &out, options.of_jobs());
    let watch = || Ok(Watch::new(sites, keeps, rows()?, &added.metrics));
    simulation.runs = simulation.world.replay_all(&watch, &|| progress.add(1))?;
    drop(progress);
    // All policies or none: a folder never mixes the jobs of two logs.
    for Run { policy, outcome, .. } in &mut simulation.runs {
        mem::take(&mut outcome.rows).keep(&policy.name, &out)?;
    }
    simulation.remarks().iter().for_each(|note| tell(note));
    let path = out.path().to_owned();
    simulation.write_beside_jobs(out)?;
    simulation.repairs_in_words(true).iter().for_each(|repair| tell(repair));
    Ok((simulation, path))
}

impl Simulation {
    /// Checks the options, and reads the files that are needed before the log.
    fn open(options: &Simulate, added: &Added) -> Result<Self> {
        ensure!(!options.world.policies.is_empty(), "no policy is named; give one or more, such as easy");
        options.log.ensure_can_be_read_again()?;
        let world = worlds::open(&options.log, &options.world, &added.policies)?;
        let baseline = compare::baseline(&world, options.baseline.as_deref())?;
        Ok(Self { options: options.clone(), world, baseline, runs: Vec::new() })
    }

    /// Names of the policies, in their order; other functions take positions in it.
    pub fn policies(&self) -> Vec<&str> {
        self.runs.iter().map(|run| run.policy.name.as_str()).collect()
    }

    /// Position of the baseline.
    pub const fn baseline(&self) -> usize {
        self.baseline
    }

    /// Metrics of a policy, in the order of the columns of `summary.csv`.
    pub fn metrics(&self, policy: usize) -> &[(&'static Metric, Option<f64>)] {
        &self.runs[policy].columns
    }

    /// The jobs of a policy, in order of submission.
    pub fn jobs(&self, policy: usize) -> impl ExactSizeIterator<Item = Row<'_>> {
        let mut jobs: Vec<&SimulatedJob> = self.runs[policy].outcome.jobs.iter().collect();
        jobs.sort_unstable_by_key(|job| job.id());
        let sites = &self.world.sites;
        let tells_processors = rows::tells_processors(sites);
        jobs.into_iter().map(move |job| job.row(&sites.names, tells_processors))
    }

    /// Differences of every pair of policies, by metric, with 95 % intervals over blocks of the log.
    pub fn differences(&self) -> Vec<Difference<'_>> {
        self.by_name().all()
    }

    /// Every policy by metric: its mean, and its standing.
    pub fn ranks(&self) -> Vec<Ranked<'_>> {
        self.by_name().standings()
    }

    /// Options without effect, repairs, and ignored content.
    pub fn notes(&self) -> Vec<String> {
        [self.world.idle_options(), self.remarks(), self.repairs_in_words(true)].concat()
    }

    /// The figures of the page, as `(id, SVG)`.
    pub fn figures(&self) -> Vec<(String, String)> {
        let sections = sections::sections(self);
        pictures(&sections).map(|picture| (picture.id().to_owned(), chart::svg(picture))).collect()
    }

    /// Writes the files of the command into this folder.
    ///
    /// # Errors
    ///
    /// The folder contains files that this command did not write, or a disk error.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let out = OutDir::create(folder, "simulate")?;
        for Run { policy, outcome, .. } in &self.runs {
            let mut rows = Rows::begin(self.trace(), self.sites(), &out, self.options.of_jobs())?;
            outcome.jobs.iter().for_each(|job| rows.add(job));
            rows.keep(&policy.name, &out)?;
        }
        self.write_beside_jobs(out)
    }

    /// Writes the jobs of a policy as `jobs.csv` has them, in order of submission.
    ///
    /// # Errors
    ///
    /// A disk error.
    pub fn write_jobs(&self, policy: usize, file: &Path) -> Result<()> {
        let (mut table, mut line) = (BufWriter::new(File::create(file)?), String::new());
        writeln!(table, "{}", Row::HEADER)?;
        self.jobs(policy).try_for_each(|row| row.write(&mut table, &mut line))?;
        Ok(table.flush()?)
    }

    /// Tables, pictures, the page and the manifest.
    fn write_beside_jobs(&self, out: OutDir) -> Result<()> {
        let (options, runs, trace) = (&self.options, &self.runs, self.trace());
        let hash = sha256_of(trace).with_context(|| format!("cannot read {}", trace.display()))?;
        let write = |table, name: &str, content: &dyn Fn() -> Result<Vec<u8>>| {
            if options.writes(table) { out.write(name, content()?) } else { Ok(()) }
        };
        write(Table::Summary, "summary.csv", &|| self.summary())?;
        write(Table::Differences, "differences.csv", &|| self.by_name().differences_csv())?;
        if runs.len() > 1 {
            write(Table::Best, "best.csv", &|| csv(Ranked::COLUMNS, self.ranks().iter().map(Ranked::row)))?;
        }
        write(Table::Columns, "columns.md", &|| Ok(report::columns_md(self).into()))?;
        if !options.no_report {
            let sections = sections::sections(self);
            for picture in pictures(&sections) {
                shown::write_picture(picture, &out)?;
                if let Some(data) = self.data(picture)? {
                    out.write(format!("data/{}.csv", picture.id()), data)?;
                }
            }
            out.write("report.html", page::render(&self.page(self.compared().sentences(), sections, &hash))?)?;
        }
        out.finish(self.manifest(&hash))
    }
}

fn pictures(sections: &[page::Section]) -> impl Iterator<Item = &Picture> {
    sections.iter().flat_map(|section| &section.parts).filter_map(|part| match part {
        page::Part::Figure(figure) => Some(&figure.picture),
        _ => None,
    })
}

/// Parsers of the files beside a log, for tests with damaged files.
pub mod read {
    pub use super::hier::parse as tree;
    pub use super::metasched::parse as clusters;
}
