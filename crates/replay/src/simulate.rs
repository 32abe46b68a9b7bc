//! `cargo xtask simulate`: a log under one or more policies.

mod alea31;
mod answer;
mod cli;
mod clock;
mod clusters;
#[cfg(feature = "parquet")]
mod columnar;
mod columns;
mod compare;
mod exec;
mod free;
mod grid_tree;
pub(crate) mod held;
mod hier;
mod log;
mod metasched;
mod name;
mod overheard;
mod own;
pub(crate) mod policy;
pub(crate) mod predicting;
mod report;
mod row;
mod rows;
mod schedules;
mod sections;
pub(crate) mod sites;
mod space_shared;
mod terminal;
mod watch;
pub(crate) mod world;
pub(crate) mod worlds;

use anyhow::{Context, Result, ensure};
pub use cli::Simulate;
use cli::{Format, Table};
use lab::chart;
use lab::cli::{Common, Ending, print};
use lab::output::OutDir;
use lab::page;
use lab::progress::Progress;
use lab::provenance::sha256_of;
use lab::terminal::tell;
pub use metrics::Metric;
pub use own::{Added, Own};
use report::Report;
use rows::Drafts;
pub use sim_core::JobRecord;
use sites::Sites;
use std::mem;
use std::path::Path;
use workload::{Intake, Options, SwfReader};
use world::Run;

/// Replays the log under each policy and writes the results. `added` are policies and metrics of the program's own.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read or written.
pub fn simulate(options: &Simulate, added: &Added, common: &Common) -> Result<Ending> {
    let trace = options.log.trace();
    options.log.ensure_can_be_read_again()?;
    ensure_can_be_written(&options.format)?;
    let world = worlds::open(&options.log, &options.world, &added.policies)?;
    world.idle_options().iter().for_each(|option| tell(option));
    let baseline = compare::baseline(&world, options.baseline.as_deref())?;
    let out = options.out.clone().unwrap_or_else(|| Path::new("results/simulate").join(stem(trace)));
    let out = OutDir::create(&out, "simulate")?;

    let progress = Progress::new("simulate", world.names().len() as u64, common.quiet);
    #[expect(clippy::disallowed_methods, reason = "for the manifest's timings alone")]
    let began = std::time::Instant::now();
    let header = swf_header(trace, world.sites())?;
    let begin = || {
        let wanted = |is_wanted: bool| is_wanted.then(|| out.begin()).transpose();
        let asked_for = |format| wanted(options.format.contains(&format));
        let log = stem(trace);
        Ok(Drafts {
            jobs: wanted(options.writes(Table::Jobs))?,
            swf: wanted(options.writes(Table::Schedule))?,
            evalys: asked_for(Format::Evalys)?,
            parquet: asked_for(Format::Parquet)?,
            header: header.clone(),
            log,
            is_drawn: !options.no_report,
            own: added.metrics.clone(),
        })
    };
    let mut runs = world.replay_all(&begin, &|| progress.add(1))?;
    drop(progress);
    // All policies or none: a folder never holds the jobs of one log under one policy and of another under the next.
    for Run { name, outcome, .. } in &mut runs {
        let Drafts { jobs, swf, evalys, parquet, .. } = mem::take(&mut outcome.watched.drafts);
        let drafts = [(jobs, "jobs.csv"), (swf, "schedule.swf"), (evalys, "evalys.csv"), (parquet, "jobs.parquet")];
        for (draft, file) in drafts {
            if let Some(draft) = draft {
                out.keep(draft, Path::new(name).join(file))?;
            }
        }
    }

    let hash = sha256_of(trace).with_context(|| format!("cannot read {}", trace.display()))?;
    let report = Report {
        trace,
        command: options.command_line(&world.arguments(), &runs, baseline),
        formats: &options.format,
        has_page: !options.no_report,
        world: &world,
        runs: &runs,
        baseline,
        hash: &hash,
    };
    report.remarks().iter().for_each(|note| tell(note));
    write(options, &report, &out)?;
    let path = out.path().to_owned();
    out.finish(report.manifest(began.elapsed().as_secs_f64()))?;

    report.large_repairs().iter().for_each(|repair| tell(repair));
    if common.json {
        print(&format!("{:#}\n", report.as_json(&path)));
    } else {
        print(&report.as_text(&path, common.quiet));
    }
    Ok(Ending::Done)
}

/// Parsers of the files beside a log, for tests that try to break them.
pub mod read {
    use super::{clusters::Clusters, grid_tree::GridTree};
    use anyhow::Result;

    /// Parses the text of a clusters file, as `--clusters` takes it.
    ///
    /// # Errors
    ///
    /// The text is no clusters file.
    pub fn clusters(text: &str) -> Result<()> {
        Ok(Clusters::parse(text)?.config.validate()?)
    }

    /// Parses the text of a tree file, as `--tree` takes it.
    ///
    /// # Errors
    ///
    /// The text is no tree file.
    pub fn tree(text: &str) -> Result<()> {
        GridTree::parse(text).map(drop)
    }
}

/// Refuses a format that this program was built without.
fn ensure_can_be_written(formats: &[Format]) -> Result<()> {
    ensure!(
        cfg!(feature = "parquet") || !formats.contains(&Format::Parquet),
        "--format parquet: this program was built without it, since few need it and it takes long to build; build it with \
         `cargo run --release -p xtask --features parquet -- simulate …`, or to be installed with \
         `cargo install --path crates/gridproof --features parquet`"
    );
    Ok(())
}

/// The comments at the head of `schedule.swf`: the fields that readers of the format need. Times count from the first submit.
fn swf_header(trace: &Path, sites: &Sites) -> Result<String> {
    let mut intake = Intake::new(SwfReader::open(trace)?, Options::default());
    if let Some(first) = intake.next() {
        first?;
    }
    let origin = intake.origin().unwrap_or_default();
    let header = intake.reader().header();
    let mut text = "Version: 2.2\n".to_owned();
    for key in ["Computer", "Installation", "TimeZone", "TimeZoneString"] {
        if let Some(value) = header.get(key) {
            let value = value.lines().next().unwrap_or_default();
            text += &format!("{key}: {}\n", lab::terminal::csv_name(value));
        }
    }
    if let Some(start) = header.unix_start_time {
        text += &format!("UnixStartTime: {}\n", start + origin.as_nanos() / 1_000_000_000);
    }
    text += &format!("MaxProcs: {}\n", sites.processors());
    text +=
        "Note: a simulated schedule; status 1 ran to its end, 0 was cut at its limit, 5 was rejected and never ran\n";
    if sites.iter().len() > 1 {
        let names = (1..)
            .zip(sites.iter())
            .map(|(number, site)| format!("Partition: {number} {}\n", lab::terminal::csv_name(&site.name)));
        text += &names.collect::<String>();
    }
    Ok(text)
}

/// Tables, pictures and the page.
fn write(options: &Simulate, report: &Report<'_>, out: &OutDir) -> Result<()> {
    let writes = |table| options.writes(table);
    if writes(Table::Summary) {
        out.write("summary.csv", report.summary()?)?;
    }
    if writes(Table::Differences) {
        out.write("differences.csv", compare::table(report.runs, report.baseline)?)?;
    }
    if report.runs.len() > 1 && writes(Table::Best) {
        out.write("best.csv", compare::best_table(report.runs)?)?;
    }
    if writes(Table::Columns) {
        out.write("columns.md", columns::text(report))?;
    }
    if options.no_report {
        return Ok(());
    }
    let sections = sections::sections(report);
    for part in sections.iter().flat_map(|section| &section.parts) {
        let page::Part::Figure(figure) = part else { continue };
        let picture = &figure.picture;
        let svg = chart::svg(picture);
        #[cfg(feature = "png")]
        out.write(format!("figures/{}.png", picture.id()), chart::png(&svg)?)?;
        out.write(format!("figures/{}.svg", picture.id()), svg)?;
        if let Some(data) = report.data(picture)? {
            out.write(format!("data/{}.csv", picture.id()), data)?;
        }
    }
    out.write("report.html", page::render(&report.page(answer::sentences(report), sections))?)
}

/// The log's name without its endings.
fn stem(trace: &Path) -> String {
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".gz").trim_end_matches(".swf").to_owned()
}
