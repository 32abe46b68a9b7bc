//! What a run writes: figures, data, runs, claims, the manifest and the report page.

use super::claim::{Judged, Remark};
use super::extra::Made;
use super::paper::{About, Drawing, Figure, Panel, Paper, Schedule, Table};
use super::quantity::Quantity;
use super::reproduce::{Request, Session, in_words, run_id, seconds};
use super::seeds::Seeds;
use super::study::{Study, models};
use super::table::Row;
use crate::chart::{self, Axis, Chart, Picture, Point};
use crate::cli::program;
use crate::output::OutDir;
use crate::page::{self, Page};
use crate::provenance;
use crate::scenario::Scenario;
use crate::verdict::Verdict;
use anyhow::Result;
use metrics::ConfidenceInterval;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// All that was found.
pub(crate) struct Findings<'a, P: Paper> {
    pub(crate) session: &'a Session<P>,
    pub(crate) request: &'a Request,
    pub(crate) figures: Vec<Figure<P::Cell>>,
    pub(crate) tables: Vec<Table<P::Cell>>,
    /// Each with the id of its figure.
    pub(crate) extras: Vec<(&'static str, Made)>,
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) drawings: Vec<Drawing>,
    pub(crate) judged: &'a [(Judged, Option<String>)],
    /// Sentences that are shown and not judged.
    pub(crate) remarks: &'a [Remark<P::Cell>],
    /// The claims under other seeds, if they were asked for.
    pub(crate) seeds: Option<&'a Seeds>,
    pub(crate) study: &'a Study<'a, P>,
}

/// One plotted point with its estimate.
type Estimated = (f64, ConfidenceInterval);

impl<P: Paper> Findings<'_, P> {
    /// Writes every file.
    pub(crate) fn write(&self, out: OutDir, began: Instant) -> Result<()> {
        // Drawing takes longer than all else here: a thread for each figure, and then in their order again.
        let drawings = self.drawings.par_iter().map(|drawing| self.write_drawing(drawing, &out));
        let schedules = self.schedules.par_iter().map(|schedule| self.write_schedule(schedule, &out));
        let figures = self.figures.par_iter().map(|figure| self.write_figure(figure, &out));
        let shown: Vec<Vec<page::Figure>> = drawings.chain(schedules).chain(figures).collect::<Result<_>>()?;
        out.write("runs.csv", self.runs()?)?;
        out.write("claims.csv", self.claims()?)?;
        out.write("data/claim-cells.csv", self.claim_cells()?)?;
        if !self.remarks.is_empty() {
            out.write("data/not-judged.csv", self.not_judged()?)?;
        }
        if self.request.only.is_empty() {
            for (name, content) in self.session.paper.files(&|quantity| self.estimate(quantity))? {
                out.write(name, content)?;
            }
        }
        if let Some(seeds) = self.seeds {
            out.write("seeds.csv", self.under_seeds(seeds)?)?;
        }
        let report = page::render(&self.page(shown.into_iter().flatten().collect()))?;
        out.write("report.html", report)?;
        out.finish(self.manifest(began.elapsed()))
    }

    /// The pictures of a figure and its data; back comes what the page shows of it.
    fn write_figure(&self, figure: &Figure<P::Cell>, out: &OutDir) -> Result<Vec<page::Figure>> {
        let mut data = csv::Writer::from_writer(Vec::new());
        data.write_record(TIDY)?;
        let mut row = |series: &str, x: &str, metric: &str, estimate: &ConfidenceInterval| {
            data.write_record([
                figure.id,
                series,
                x,
                metric,
                &number(estimate.mean),
                &optional(estimate.low),
                &optional(estimate.high),
                &estimate.replications.to_string(),
            ])
        };
        let positions = self.session.paper.positions(figure.id);
        let all = self.session.paper.figures();
        let looks = Looks::of(&all);
        let mut shown = Vec::new();
        for panel in &figure.panels {
            let estimates = self.estimates(panel);
            for (series, points) in panel.series.iter().zip(&estimates) {
                for (x, estimate) in points {
                    row(&series.name, &position(*x, positions), panel.metric, estimate)?;
                }
            }
            let joined = self.session.paper.is_joined(figure.id);
            let picture = Picture::from(looks.applied_to(chart(figure, panel, &estimates, positions, joined)));
            write_picture(&picture, out)?;
            shown.push(self.page_figure(figure.id, &figure.caption, picture));
        }
        for table in self.tables.iter().filter(|table| table.id == figure.id) {
            for (column, entry, quantity) in table.found() {
                row(column, &entry.x, &entry.metric, &self.estimate(quantity))?;
            }
        }
        for (_, made) in self.extras.iter().filter(|(id, _)| *id == figure.id) {
            for (chart, caption) in &made.charts {
                let picture = Picture::from(looks.applied_to(chart.clone()));
                write_picture(&picture, out)?;
                shown.push(self.page_figure(figure.id, caption, picture));
            }
            for found in &made.rows {
                row(&found.series, &found.x, found.metric, &found.estimate)?;
            }
        }
        out.write(format!("data/{}.csv", figure.id), data.into_inner()?)?;
        Ok(shown)
    }

    /// The pictures of a schedule, and its bars as data: a row for the start, the end and the processors of each job.
    fn write_schedule(&self, schedule: &Schedule, out: &OutDir) -> Result<Vec<page::Figure>> {
        let mut data = csv::Writer::from_writer(Vec::new());
        data.write_record(TIDY)?;
        let mut shown = Vec::new();
        for (suffix, gantt) in &schedule.panels {
            for bar in &gantt.bars {
                let processors: u32 = bar.processors.iter().map(|(_, count)| count).sum();
                for (metric, value) in [("start", bar.start), ("end", bar.end), ("processors", processors.into())] {
                    data.write_record([schedule.id, suffix, &bar.job, metric, &number(value), "", "", "1"])?;
                }
            }
            let picture = Picture::from(gantt.clone());
            write_picture(&picture, out)?;
            shown.push(self.page_figure(schedule.id, &schedule.caption, picture));
        }
        out.write(format!("data/{}.csv", schedule.id), data.into_inner()?)?;
        Ok(shown)
    }

    /// A drawing and its data.
    fn write_drawing(&self, drawing: &Drawing, out: &OutDir) -> Result<Vec<page::Figure>> {
        let mut data = csv::Writer::from_writer(Vec::new());
        data.write_record(TIDY)?;
        for (series, x, metric, value) in &drawing.data {
            data.write_record([drawing.id, series, x, metric, &number(*value), "", "", "1"])?;
        }
        let picture = Picture::from(drawing.sketch.clone());
        write_picture(&picture, out)?;
        out.write(format!("data/{}.csv", drawing.id), data.into_inner()?)?;
        Ok(vec![self.page_figure(drawing.id, &drawing.caption, picture)])
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.estimate(quantity, self.session.replications)
    }

    fn estimates(&self, panel: &Panel<P::Cell>) -> Vec<Vec<Estimated>> {
        let points = |series: &super::paper::Series<P::Cell>| {
            series.points.iter().map(|(x, quantity)| (*x, self.estimate(quantity))).collect()
        };
        panel.series.iter().map(points).collect()
    }

    fn page_figure(&self, id: &'static str, caption: &str, picture: Picture) -> page::Figure {
        let about_it = |judged: &&(Judged, _)| judged.0.figures.contains(&id);
        let stem = picture.id().to_owned();
        let mut shown = page::Figure::new(picture, &stem);
        caption.clone_into(&mut shown.caption);
        shown.claims = self.judged.iter().filter(about_it).map(|(judged, _)| judged.id.to_owned()).collect();
        for (label, address) in &mut shown.files {
            // The panels of a figure share its data.
            if label == "CSV" {
                *address = format!("data/{id}.csv");
            }
        }
        shown
    }

    /// `runs.csv`: one row per replication.
    fn runs(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut header_written = false;
        for (cell, replication, metrics) in self.study.runs() {
            let parameters = self.session.paper.parameters(cell);
            if !header_written {
                let names = parameters.iter().map(|(name, _)| *name).chain(["seed", "replication"]);
                table.write_record(names.chain(self.study.names().iter().map(String::as_str)).chain(["run"]))?;
                header_written = true;
            }
            let mut row: Vec<String> = parameters.into_iter().map(|(_, value)| value).collect();
            row.extend([self.session.seed.to_string(), replication.to_string()]);
            row.extend(metrics.iter().map(|value| number(*value)));
            row.push(run_id(&self.session.paper, cell, replication));
            table.write_record(row)?;
        }
        Ok(table.into_inner()?)
    }

    /// `claims.csv`: one row per claim. Expected and observed are those of the cell that decides.
    fn claims(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record([
            "id",
            "source",
            "statement",
            "test",
            "expected",
            "observed",
            "ci_low",
            "ci_high",
            "verdict",
            "recorded",
        ])?;
        for (judged, recorded) in self.judged {
            let cell = judged.deciding_cell();
            table.write_record([
                judged.id,
                judged.source,
                &judged.statement,
                &judged.test,
                &format!("{} ({})", cell.expected(), cell.label),
                &number(cell.estimate.mean),
                &optional(cell.estimate.low),
                &optional(cell.estimate.high),
                &judged.in_words(),
                recorded.as_deref().unwrap_or(""),
            ])?;
        }
        Ok(table.into_inner()?)
    }

    /// `data/claim-cells.csv`: one row per cell of each claim.
    fn claim_cells(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "cell", "expected", "mean", "ci_low", "ci_high", "reps", "verdict"])?;
        for (judged, _) in self.judged {
            for cell in &judged.cells {
                table.write_record([
                    judged.id,
                    &cell.label,
                    &cell.expected(),
                    &number(cell.estimate.mean),
                    &optional(cell.estimate.low),
                    &optional(cell.estimate.high),
                    &cell.estimate.replications.to_string(),
                    &cell.verdict.to_string(),
                ])?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// `data/not-judged.csv`: one row per number beside a sentence that is not judged, or one without a number.
    fn not_judged(&self) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "source", "statement", "why", "shown", "mean", "ci_low", "ci_high", "reps"])?;
        for remark in self.remarks {
            let said = [remark.id, remark.source, remark.statement, remark.why];
            for (label, quantity) in &remark.shown {
                let estimate = self.estimate(quantity);
                let [low, high] = [estimate.low, estimate.high].map(optional);
                let found = [label, &number(estimate.mean), &low, &high, &estimate.replications.to_string()];
                table.write_record(said.into_iter().chain(found.map(String::as_str)))?;
            }
            if remark.shown.is_empty() {
                table.write_record(said.into_iter().chain([""; 5]))?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// `seeds.csv`: one row per claim and seed.
    fn under_seeds(&self, seeds: &Seeds) -> Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["id", "seed", "verdict", "stays", "expected", "observed", "ci_low", "ci_high"])?;
        for (judged, _) in self.judged {
            for (seed, other) in seeds.of(judged.id) {
                let cell = other.deciding_cell();
                table.write_record([
                    judged.id,
                    &seed.to_string(),
                    &other.verdict.to_string(),
                    if other.verdict == judged.verdict { "yes" } else { "no" },
                    &format!("{} ({})", cell.rule, cell.label),
                    &number(cell.estimate.mean),
                    &optional(cell.estimate.low),
                    &optional(cell.estimate.high),
                ])?;
            }
        }
        Ok(table.into_inner()?)
    }

    /// The verdicts under other seeds, as a table of the page.
    fn seeds_table(&self, seeds: &Seeds) -> page::Table {
        let row = |(judged, _): &(Judged, _)| {
            vec![judged.id.to_owned(), judged.verdict.to_string(), seeds.stays(judged), seeds.others(judged)]
        };
        page::Table {
            id: "seeds".to_owned(),
            title: "The verdicts under other seeds".to_owned(),
            caption: format!(
                "Under how many of the seeds 1 to {} each verdict of this run stays, and the seeds under which it is another.",
                seeds.count()
            ),
            columns: ["claim", "verdict", "stays under", "another under"].map(str::to_owned).into(),
            rows: self.judged.iter().map(row).collect(),
        }
    }

    /// Sentences that are not judged, as a table of the page.
    fn remarks_table(&self) -> page::Table {
        let row = |remark: &Remark<P::Cell>| {
            let shown = |(label, quantity): &(String, Quantity<P::Cell>)| {
                format!("{label}: {}", in_words(&self.estimate(quantity)))
            };
            let shown: Vec<String> = remark.shown.iter().map(shown).collect();
            let said = [remark.id, remark.source, remark.statement, remark.why].map(str::to_owned);
            said.into_iter().chain([shown.join("; ")]).collect()
        };
        page::Table {
            id: "not-judged".to_owned(),
            title: "Sentences that are not judged".to_owned(),
            caption: "What the paper says where no number of ours could contradict it, and our numbers beside it."
                .to_owned(),
            columns: ["id", "where", "the paper says", "not judged because", "ours"].map(str::to_owned).into(),
            rows: self.remarks.iter().map(row).collect(),
        }
    }

    fn manifest(&self, took: Duration) -> serde_json::Value {
        let (computed, reused, damaged) = self.study.effort();
        let mut manifest = serde_json::json!({
            "paper": P::ABOUT.slug,
            "scenario_hash": self.session.scenario.hash(),
            "seed": self.session.seed,
            "reps": self.session.replications,
            "options": {
                "quick": self.request.quick,
                "decide": self.request.decide,
                "seeds": self.request.seeds,
                "only": self.request.only,
                "set": self.request.set,
            },
            "version": env!("CARGO_PKG_VERSION"),
            "git_revision": provenance::git_revision(),
            "sources_sha256": provenance::sources(),
            "models": models::<P>(),
            "command_line": self.command(),
            "timings": {
                "wall_seconds": seconds(took),
                "cpu_seconds": provenance::cpu_seconds(),
                "threads": rayon::current_num_threads(),
                "replications_computed": computed,
                "replications_reused": reused,
                "replications_damaged": damaged,
            },
        });
        let data = self.session.paper.data();
        if !data.is_empty() {
            manifest["data"] = data.into_iter().map(|(name, hash)| (name, serde_json::Value::from(hash))).collect();
        }
        manifest
    }

    /// The command that makes this run again. Options that cannot change a result are left out.
    fn command(&self) -> String {
        format!("{} reproduce {}{}", program(), P::ABOUT.slug, self.request.options())
    }

    fn page(&self, figures: Vec<page::Figure>) -> Page {
        let About { slug, title, citation, .. } = P::ABOUT;
        let program = program();
        let session = self.session;
        let mut notes: Vec<String> = session.paper.preface().into_iter().collect();
        if self.request.quick {
            notes.push(
                "Quick run: a tenth of the work or less. Intervals are wide, and verdicts may differ.".to_owned(),
            );
        }
        if session.replications == 1 {
            notes.push("A single replication: no interval, so no verdict.".to_owned());
        }
        for parameter in session.scenario.parameters().iter().filter(|parameter| parameter.changed) {
            notes.push(format!("Not the paper's setting: {} = {}.", parameter.key, parameter.value));
        }
        notes.extend(session.paper.notes());
        Page {
            title: title.to_owned(),
            subtitle: citation.to_owned(),
            notes,
            claims: self.judged.iter().map(page_claim).collect(),
            sections: Vec::new(),
            tables: self
                .figures
                .iter()
                .filter(|figure| figure.as_table)
                .flat_map(|figure| self.tables_of(figure))
                .chain(self.tables.iter().map(|table| self.page_table(table)))
                .chain((!self.remarks.is_empty()).then(|| self.remarks_table()))
                .chain(self.seeds.map(|seeds| self.seeds_table(seeds)))
                .chain(self.extras.iter().flat_map(|(_, made)| made.tables.clone()))
                .collect(),
            figures,
            readings: readings_of::<P>(&session.scenario),
            parameters: session
                .scenario
                .parameters()
                .iter()
                .filter(|parameter| !parameter.key.starts_with("readings."))
                .map(|parameter| page::Parameter {
                    key: parameter.key.clone(),
                    value: parameter.value.clone(),
                    source: parameter.source.clone(),
                    changed: parameter.changed,
                })
                .collect(),
            commands: [
                Some(("Run this again".to_owned(), self.command())),
                Some(("Decide what is inconclusive".to_owned(), format!("{program} reproduce {slug} --decide"))),
                P::READINGS.get(1).or(P::READINGS.first()).and_then(|reading| {
                    let other = reading.answers.get(1)?;
                    let command = format!("{program} reproduce {slug} --set {}={other}", reading.key());
                    Some(("Doubt a reading".to_owned(), command))
                }),
                Some((
                    "Run one replication again and print its metrics".to_owned(),
                    format!("{program} reproduce {slug} --run '{}'", self.first_run()),
                )),
            ]
            .into_iter()
            .flatten()
            .collect(),
            provenance: [
                ("Version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
                ("Git revision".to_owned(), provenance::git_revision().to_owned()),
                ("Models (SHA-256 of the sources)".to_owned(), models::<P>().to_owned()),
                ("Scenario (SHA-256)".to_owned(), session.scenario.hash()),
                ("Seed".to_owned(), session.seed.to_string()),
                ("Replications".to_owned(), session.replications.to_string()),
            ]
            .into_iter()
            .chain(session.paper.data().into_iter().map(|(name, hash)| (format!("{name} (SHA-256)"), hash)))
            .collect(),
        }
    }

    fn first_run(&self) -> String {
        self.study.runs().next().map_or_else(String::new, |(cell, i, _)| run_id(&self.session.paper, cell, i))
    }

    /// A figure as a table: a row per series, a column per x.
    fn tables_of(&self, figure: &Figure<P::Cell>) -> Vec<page::Table> {
        let table = |panel: &Panel<P::Cell>| {
            let estimates = self.estimates(panel);
            let xs: Vec<f64> = ticks(&estimates);
            let row = |(series, points): (&super::paper::Series<P::Cell>, &Vec<Estimated>)| {
                let at = |x: &f64| points.iter().find(|(at, _)| at.total_cmp(x).is_eq());
                let cells = xs.iter().map(|x| at(x).map_or_else(String::new, |(_, estimate)| in_words(estimate)));
                std::iter::once(series.name.clone()).chain(cells).collect()
            };
            page::Table {
                id: format!("{}-values", figure.id),
                title: figure.title.clone(),
                caption: format!("{}, by {}; mean ± half-width of the 95 % interval.", panel.y_label, figure.x_label),
                columns: std::iter::once(String::new()).chain(xs.iter().map(f64::to_string)).collect(),
                rows: panel.series.iter().zip(&estimates).map(row).collect(),
            }
        };
        figure.panels.iter().map(table).collect()
    }

    fn page_table(&self, table: &Table<P::Cell>) -> page::Table {
        let row = |row: &Row<P::Cell>| {
            let cells = row.cells.iter().map(|entry| entry.text(|quantity| self.estimate(quantity)));
            row.names.iter().cloned().chain(cells).collect()
        };
        page::Table {
            id: format!("{}-values", table.id),
            title: table.title.clone(),
            caption: table.caption.clone(),
            columns: [&table.names[..], &table.columns].concat(),
            rows: table.rows.iter().map(row).collect(),
        }
    }
}

/// The readings of a paper, as its page shows them.
pub(crate) fn readings_of<P: Paper>(scenario: &Scenario) -> Vec<page::Reading> {
    let reading = |reading: &super::paper::Reading| {
        let value = scenario.answer(reading);
        let others: Vec<&str> = reading.answers.iter().copied().filter(|answer| *answer != value).collect();
        page::Reading {
            id: reading.id.to_owned(),
            question: reading.question.to_owned(),
            alternatives: others.join(", "),
            is_default: reading.answers.first() == Some(&value),
            value: value.to_owned(),
        }
    };
    P::READINGS.iter().map(reading).collect()
}

/// The columns of a figure's data.
const TIDY: [&str; 8] = ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"];

pub(crate) fn write_picture(picture: &Picture, out: &OutDir) -> Result<()> {
    let svg = chart::svg(picture)?;
    #[cfg(feature = "png")]
    out.write(format!("figures/{}.png", picture.id()), chart::png(&svg)?)?;
    out.write(format!("figures/{}.svg", picture.id()), svg)
}

/// A place on the x axis in words: its name, or the number.
fn position(x: f64, names: &[&str]) -> String {
    let named = names.iter().zip(0_u32..).find(|(_, place)| f64::from(*place).total_cmp(&x).is_eq());
    named.map_or_else(|| x.to_string(), |(name, _)| (*name).to_owned())
}

/// Which colour and mark each series has in all figures of a paper: names that stand in several figures keep theirs.
struct Looks<'a>(Vec<&'a str>);

impl<'a> Looks<'a> {
    /// By the order in which the names first appear.
    fn of<C>(figures: &'a [Figure<C>]) -> Self {
        let names_of = |figure: &'a Figure<C>| -> BTreeSet<&'a str> {
            figure.panels.iter().flat_map(|panel| &panel.series).map(|series| series.name.as_str()).collect()
        };
        let mut figures_with: BTreeMap<&str, u32> = BTreeMap::new();
        figures.iter().flat_map(names_of).for_each(|name| *figures_with.entry(name).or_default() += 1);
        let mut recurring: Vec<&str> = Vec::new();
        for series in figures.iter().flat_map(|figure| &figure.panels).flat_map(|panel| &panel.series) {
            if figures_with[series.name.as_str()] > 1 && !recurring.contains(&series.name.as_str()) {
                recurring.push(&series.name);
            }
        }
        Self(recurring)
    }

    /// The chart with the paper's looks. Names of this figure alone take what no other name has, if it shows a name of
    /// several figures beside them, and begin anew otherwise.
    fn applied_to(&self, mut chart: Chart) -> Chart {
        let slot_of = |name: &str| self.0.iter().position(|known| *known == name);
        if !chart.series.iter().any(|series| slot_of(&series.name).is_some()) {
            return chart;
        }
        let mut next = self.0.len();
        for series in chart.series.iter_mut().filter(|series| series.slot.is_none()) {
            series.slot = Some(slot_of(&series.name).unwrap_or_else(|| {
                next += 1;
                next - 1
            }));
        }
        chart
    }
}

/// What is measured in percent or seconds of something else may be negative; nothing that is counted or waited for is.
fn is_signed(metric: &str) -> bool {
    ["gain", "reduction", "difference", "error", "change"].iter().any(|word| metric.contains(word))
}

fn chart<C>(
    figure: &Figure<C>,
    panel: &Panel<C>,
    estimates: &[Vec<Estimated>],
    positions: &[&str],
    joined: bool,
) -> Chart {
    let point = |(x, estimate): &Estimated| {
        let point = Point::new(*x, estimate.mean).over(u32::try_from(estimate.replications).unwrap_or(u32::MAX));
        match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => point.within(low, high),
            _ => point,
        }
    };
    let series = panel.series.iter().zip(estimates);
    let has_interval =
        estimates.iter().flatten().any(|(_, estimate)| estimate.half_width().is_some_and(|half| half > 0.0));
    // Between categories there is nothing to join; values alone may stand on the ground.
    let drawn = match (joined, panel.series.len()) {
        (true, _) => chart::Series::lines,
        (false, 1) if !has_interval => chart::Series::bars,
        (false, _) => chart::Series::marks,
    };
    let series = series.map(|(series, points)| drawn(series.name.clone(), points.iter().map(point).collect()));
    let mut printed: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for (name, x, y) in &panel.printed {
        printed.entry(name).or_default().push(Point::new(*x, *y));
    }
    let slot = |name: &str| panel.series.iter().position(|series| series.name == name);
    let reference =
        printed.into_iter().filter_map(|(name, points)| Some(chart::Series::marks(name, points).in_slot(slot(name)?)));
    let labels = ticks(estimates).into_iter().map(|x| (x, position(x, positions))).collect();
    let id = if panel.suffix.is_empty() { figure.id.to_owned() } else { format!("{}-{}", figure.id, panel.suffix) };
    // Several plots of one figure are told apart by what they show.
    let title =
        if figure.panels.len() > 1 { format!("{}: {}", figure.title, panel.y_label) } else { figure.title.clone() };
    Chart {
        id,
        title,
        note: String::new(),
        x: Axis { log: figure.log_x, ..Axis::new(figure.x_label).with_ticks(labels) },
        y: Axis { log: panel.log_y, signed: is_signed(panel.metric), ..Axis::new(panel.y_label) },
        series: series.collect(),
        reference: reference.collect(),
        link: "",
    }
}

/// The positions on the x axis, in order.
fn ticks(estimates: &[Vec<Estimated>]) -> Vec<f64> {
    let bits: BTreeSet<u64> = estimates.iter().flatten().map(|(x, _)| x.to_bits()).collect();
    let mut xs: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
    xs.sort_by(f64::total_cmp);
    xs
}

pub(crate) fn page_claim((judged, recorded): &(Judged, Option<String>)) -> page::Claim {
    let cell = judged.deciding_cell();
    page::Claim {
        id: judged.id.to_owned(),
        source: judged.source.to_owned(),
        statement: judged.statement.clone(),
        test: judged.test.clone(),
        expected: cell.expected(),
        observed: cell.observed(),
        verdict: judged.verdict,
        recorded: recorded.as_deref().and_then(Verdict::from_words),
        reps: judged.decided_at,
        cells: judged
            .cells
            .iter()
            .map(|cell| page::Cell {
                label: cell.label.clone(),
                estimate: cell.estimate.mean,
                low: cell.estimate.low.unwrap_or(f64::NAN),
                high: cell.estimate.high.unwrap_or(f64::NAN),
                claimed: Some(cell.rule.range()),
                verdict: cell.verdict,
            })
            .collect(),
    }
}

/// A number as it is written into tables: shortest digits that read back the same; nothing where undefined.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

#[cfg(test)]
mod tests {
    use super::super::paper::Series;
    use super::*;

    fn figure(id: &'static str, names: &[&str]) -> Figure<u8> {
        let series = names.iter().map(|name| Series { name: (*name).to_owned(), points: Vec::new() }).collect();
        let panel = Panel { suffix: "", metric: "awt", y_label: "AWT (s)", log_y: false, series, printed: Vec::new() };
        Figure {
            id,
            title: String::new(),
            caption: String::new(),
            x_label: "N",
            log_x: false,
            panels: vec![panel],
            as_table: false,
        }
    }

    #[test]
    fn a_name_keeps_its_colour_in_every_figure_and_no_other_name_takes_it() {
        let figures = [
            figure("fig3", &["P2P", "Tree"]),
            figure("fig8", &["Tree", "Tree, butterfly off"]),
            figure("fig9", &["P2P"]),
        ];
        let looks = Looks::of(&figures);
        let slots = |figure: &Figure<u8>| -> Vec<Option<usize>> {
            let drawn = looks.applied_to(chart(figure, &figure.panels[0], &[Vec::new(), Vec::new()], &[], true));
            drawn.series.iter().map(|series| series.slot).collect()
        };
        assert_eq!(slots(&figures[0]), [Some(0), Some(1)]);
        assert_eq!(slots(&figures[1]), [Some(1), Some(2)], "blue is P2P's in every figure");
    }
}
