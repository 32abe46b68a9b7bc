//! What a run writes: figures and their data here; tables, the manifest, the report page and the looks of plots below.

mod manifest;
mod page;
mod plot;
mod tables;

pub(crate) use page::{page_claim, readings_of};

use crate::chart::{self, Picture};
use crate::claim::{Judged, Remark};
use crate::extra::Made;
use crate::output::OutDir;
use crate::page::{Figure as Shown, render};
use crate::paper::{Drawing, Figure, Panel, Paper, Schedule, Series, Table};
use crate::quantity::Quantity;
use crate::seeds::Seeds;
use crate::session::{Request, Session};
use crate::study::Study;
use anyhow::Result;
use metrics::ConfidenceInterval;
use plot::{Looks, chart, position};
use rayon::prelude::*;
use std::time::Instant;
use tables::{number, optional};

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
        let shown: Vec<Vec<Shown>> = drawings.chain(schedules).chain(figures).collect::<Result<_>>()?;
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
        let report = render(&self.page(shown.into_iter().flatten().collect()))?;
        out.write("report.html", report)?;
        out.finish(self.manifest(began.elapsed()))
    }

    /// The pictures of a figure and its data; back comes what the page shows of it.
    fn write_figure(&self, figure: &Figure<P::Cell>, out: &OutDir) -> Result<Vec<Shown>> {
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
    fn write_schedule(&self, schedule: &Schedule, out: &OutDir) -> Result<Vec<Shown>> {
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
    fn write_drawing(&self, drawing: &Drawing, out: &OutDir) -> Result<Vec<Shown>> {
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
        let points = |series: &Series<P::Cell>| {
            series.points.iter().map(|(x, quantity)| (*x, self.estimate(quantity))).collect()
        };
        panel.series.iter().map(points).collect()
    }

    fn page_figure(&self, id: &'static str, caption: &str, picture: Picture) -> Shown {
        let about_it = |judged: &&(Judged, _)| judged.0.figures.contains(&id);
        let stem = picture.id().to_owned();
        let mut shown = Shown::new(picture, &stem);
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
}

/// The columns of a figure's data.
const TIDY: [&str; 8] = ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"];

pub(crate) fn write_picture(picture: &Picture, out: &OutDir) -> Result<()> {
    let svg = chart::svg(picture)?;
    #[cfg(feature = "png")]
    out.write(format!("figures/{}.png", picture.id()), chart::png(&svg)?)?;
    out.write(format!("figures/{}.svg", picture.id()), svg)
}
