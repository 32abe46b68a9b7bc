//! `cargo xtask simulate`: a log under one or more policies.

mod alea31;
mod clock;
mod clusters;
mod exec;
mod free;
mod grid_tree;
mod hier;
mod log;
mod machines;
mod metasched;
mod model;
mod name;
mod own;
mod policy;
mod report;
mod sites;
mod transcript;
mod watch;

use crate::cli;
pub(crate) use alea31::Profile;
use anyhow::{Context, Result, bail, ensure};
use clock::run_out;
use clusters::Clusters;
use grid_tree::GridTree;
use lab::chart;
use lab::cli::{Common, Ending, print};
use lab::new_folders::NewFolders;
use lab::output::{OutDir, keep_as};
use lab::page;
use lab::progress::Progress;
use lab::scenario::workspace;
use lab::terminal::tell;
pub(crate) use model::{Model, Policy};
pub use own::Own;
use rayon::prelude::*;
use report::Report;
use sha2::{Digest, Sha256};
use sim_core::Time;
use sites::Sites;
use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;
use tempfile::NamedTempFile;
use watch::{Placed, Watched};
use workload::{Repairs, SwfReader};

/// A log of at most so many jobs is drawn as a Gantt chart.
const GANTT_JOBS: usize = 3000;

/// What came of one policy.
struct Run {
    policy: Policy,
    /// Column and value, as in `summary.csv`.
    row: Vec<(&'static str, Option<f64>)>,
    rejected: u64,
    repairs: Repairs,
    busy: Vec<(Time, f64)>,
    waiting: Vec<(Time, f64)>,
    placed: Option<Vec<Placed>>,
    /// Of metasched alone.
    beside: Option<metasched::Beside>,
    /// Of hier-grid, where somebody listens to its messages.
    told: Option<transcript::Told>,
}

impl Run {
    /// What every model tells; `row` is [`Summary::row`](metrics::Summary::row) and what else the model has measured.
    fn new(
        policy: Policy,
        row: Vec<(&'static str, Option<f64>)>,
        watched: Watched,
        repairs: Repairs,
    ) -> (Self, NamedTempFile) {
        let Watched { rejected, busy, waiting, placed, jobs, .. } = watched;
        (Self { policy, row, rejected, repairs, busy, waiting, placed, beside: None, told: None }, jobs)
    }
}

/// Replays the log under each policy and writes what came of it. `own` are policies that the program adds.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read or written.
pub fn simulate(mut options: cli::Simulate, own: &[&'static Own], common: &Common) -> Result<Ending> {
    options.policy = options.named.iter().map(|text| Policy::named(text, own)).collect::<Result<_>>()?;
    let options = &options;
    if options.trace.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir()) {
        bail!(
            "{}: is a pipe or a device; a log is read once for each policy, so save it to a file first",
            options.trace.display()
        );
    }
    for policy in &options.policy {
        policy.ensure_of(options.model)?;
    }
    if options.profile == Profile::Alea31 {
        alea31::ensure_possible(options)?;
    } else if options.startup.is_some() {
        bail!("--startup goes with --profile alea31, whose simulator takes time to start up; leave it out");
    }
    let start_up = (options.profile == Profile::Alea31).then(|| alea31::start_up(options)).transpose()?;
    ensure_recordable(options)?;
    let header = SwfReader::open(&options.trace)?.header().clone();
    let clusters = clusters_of(options)?;
    let tree = tree_of(options)?;
    let sites = match (&clusters, &tree, options.profile) {
        (Some(clusters), ..) => clusters.sites(),
        (None, Some(tree), _) => tree.sites(),
        (None, None, Profile::Alea31) => alea31::sites(options)?,
        (None, None, Profile::Clean) => Sites::of(options, &header)?,
    };
    if options.model == Model::GapSchedule {
        machines::ensure_finishable(options, &sites)?;
    }
    let out = options.out.clone().unwrap_or_else(|| workspace().join("results/simulate").join(stem(&options.trace)));
    // The folder of results takes itself away if nothing comes of it; that of a transcript lies elsewhere.
    let made = options.transcript.as_deref().and_then(Path::parent).map(NewFolders::on_the_way_to);
    let out = OutDir::create(&out, "simulate")?;

    let mut policies: Vec<Policy> = Vec::new();
    for policy in &options.policy {
        if !policies.contains(policy) {
            policies.push(*policy);
        }
    }
    for (k, policy) in policies.iter().enumerate() {
        let name = policy.name();
        if let Some(other) = policies[..k].iter().find(|other| other.name() == name) {
            bail!(
                "--policy {other} and --policy {policy} would both be called {name}, and write to one folder; rename a program"
            );
        }
    }
    let progress = Progress::new("simulate", policies.len() as u64, common.quiet);
    #[expect(clippy::disallowed_methods, reason = "for the manifest's timings alone")]
    let began = std::time::Instant::now();
    let finished: Vec<(Run, NamedTempFile)> = policies
        .par_iter()
        .map(|&policy| {
            let run = match (policy, &clusters, &tree) {
                (Policy::Meta(policy), Some(clusters), _) => {
                    metasched::replay(policy, options, clusters, &sites, &out)?
                }
                (Policy::Hier(policy), _, Some(tree)) => hier::replay(policy, options, tree, &sites, &out)?,
                (Policy::Gap(policy), None, None) if options.profile == Profile::Alea31 => {
                    alea31::replay(policy, options, &sites, &out)?
                }
                (Policy::Gap(policy), None, None) => machines::replay(policy, options, &sites, &out)?,
                _ => unreachable!("policies were checked"),
            };
            progress.add(1);
            Ok(run)
        })
        .collect::<Result<_>>()?;
    drop(progress);
    // All policies or none: a folder never holds the jobs of one log under one policy and of another under the next.
    let mut runs = Vec::new();
    for (run, jobs) in finished {
        out.keep(jobs, Path::new(&run.policy.name()).join("jobs.csv"))?;
        let mut run = run;
        if let Some((file, path)) = run.told.as_mut().and_then(|told| told.transcript.take()) {
            keep_as(file, &path)?;
        }
        runs.push(run);
    }
    made.into_iter().for_each(NewFolders::keep);
    metasched::compare(&mut runs);

    let hash = sha256_of(&options.trace).with_context(|| format!("cannot read {}", options.trace.display()))?;
    let report = Report { options, sites: &sites, runs: &runs, hash: &hash, start_up };
    report.idle().iter().for_each(|note| tell(note));
    out.write("summary.csv", report.summary()?)?;
    let mut figures = Vec::new();
    for (picture, caption) in report.pictures() {
        let svg = chart::svg(&picture)?;
        #[cfg(feature = "png")]
        out.write(format!("figures/{}.png", picture.id()), chart::png(&svg)?)?;
        out.write(format!("figures/{}.svg", picture.id()), svg)?;
        if let Some(data) = report.data(&picture)? {
            out.write(format!("data/{}.csv", picture.id()), data)?;
        }
        figures.push(report.page_figure(picture, caption));
    }
    out.write("report.html", page::render(&report.page(figures))?)?;
    let path = out.path().to_owned();
    out.finish(report.manifest(began.elapsed().as_secs_f64()))?;

    report.large_repairs().iter().for_each(|repair| tell(repair));
    if common.json {
        print(&format!("{:#}\n", report.as_json(&path)));
    } else {
        print(&report.as_text(&path, common.quiet));
    }
    let differs: Vec<&String> = runs.iter().filter_map(|run| run.told.as_ref()?.differs.as_ref()).collect();
    differs.iter().for_each(|difference| tell(difference));
    Ok(if differs.is_empty() { Ending::Done } else { Ending::Differs })
}

/// The log's name without its endings.
fn stem(trace: &Path) -> String {
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".gz").trim_end_matches(".swf").to_owned()
}

fn sha256_of(path: &Path) -> std::io::Result<String> {
    let (mut hash, mut log, mut chunk) = (Sha256::new(), File::open(path)?, vec![0; 1 << 16]);
    loop {
        match log.read(&mut chunk)? {
            0 => return Ok(hex::encode(hash.finalize())),
            length => hash.update(&chunk[..length]),
        }
    }
}

/// A stream that stops at its first error, and keeps it.
struct Source<I, E> {
    items: I,
    failed: Option<E>,
}

impl<T, E, I: Iterator<Item = Result<T, E>>> Source<I, E> {
    /// To be read by a model, and looked at when it has gone.
    fn shared(items: I) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { items, failed: None }))
    }
}

impl<T, E, I: Iterator<Item = Result<T, E>>> Iterator for Source<I, E> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.next()?.map_err(|error| self.failed = Some(error)).ok()
    }
}

/// The clusters of metasched; none for another model.
fn clusters_of(options: &cli::Simulate) -> Result<Option<Clusters>> {
    match (options.model, &options.clusters) {
        (Model::GapSchedule | Model::HierGrid, None) => Ok(None),
        (Model::GapSchedule, Some(_)) => bail!("--clusters goes with --model metasched; other models take --machines"),
        (Model::HierGrid, Some(_)) => bail!("--clusters goes with --model metasched; --model hier-grid takes --tree"),
        (Model::Metasched, None) => {
            bail!("--model metasched needs --clusters FILE; see --help for what the file holds")
        }
        (Model::Metasched, Some(path)) => Clusters::open(path).map(Some),
    }
}

/// The grid tree of hier-grid; none for another model.
fn tree_of(options: &cli::Simulate) -> Result<Option<GridTree>> {
    let tree = match (options.model, &options.tree) {
        (Model::HierGrid, Some(tree)) => GridTree::open(tree, options.seed)?,
        (Model::HierGrid, None) => {
            bail!("--model hier-grid needs --tree FILE.toml, or a short form such as --tree 4-2-5; see --help")
        }
        (_, Some(_)) => bail!("--tree goes with --model hier-grid; --model {} has none", options.model.name()),
        (_, None) => return Ok(None),
    };
    for policy in &options.policy {
        if let Policy::Hier(policy) = policy {
            policy.ensure_fits(&tree)?;
        }
    }
    Ok(Some(tree))
}

/// Only hier-grid sends messages, and a transcript is that of one run.
fn ensure_recordable(options: &cli::Simulate) -> Result<()> {
    let asked = [("--transcript", &options.transcript), ("--replay", &options.replay)];
    if let Some((name, _)) = asked.iter().find(|(_, path)| path.is_some()) {
        ensure!(
            options.model == Model::HierGrid,
            "{name} goes with --model hier-grid: --model {} sends no messages",
            options.model.name()
        );
        ensure!(
            options.policy.len() == 1,
            "{name} takes the messages of one run; give one --policy, and run again for the others"
        );
    }
    Ok(())
}
