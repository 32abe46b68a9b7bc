//! What a run writes: pictures and their data here; tables, the manifest, the report page and the looks of plots below.

mod manifest;
mod page;
mod plot;
mod shown;
mod tables;

pub(crate) use page::readings_of;
pub(crate) use plot::Looks;
pub(crate) use shown::{Showing, Shown};

use crate::chart::{self, Picture};
use crate::claim::{Judged, Remark};
use crate::output::OutDir;
use crate::page::{Figure, render};
use crate::paper::Paper;
use crate::quantity::Quantity;
use crate::seeds::Seeds;
use crate::session::{Request, Session};
use crate::study::Study;
use crate::table::{number, optional};
use anyhow::Result;
use metrics::ConfidenceInterval;
use rayon::prelude::*;
use std::time::Instant;

/// All that was found.
pub(crate) struct Findings<'a, P: Paper> {
    pub(crate) session: &'a Session<P>,
    pub(crate) request: &'a Request,
    /// In the order of the page.
    pub(crate) exhibits: Vec<Shown>,
    pub(crate) judged: &'a [(Judged, Option<String>)],
    /// Sentences that are shown and not judged.
    pub(crate) remarks: &'a [Remark<P::Cell>],
    /// The claims under other seeds, if they were asked for.
    pub(crate) seeds: Option<&'a Seeds>,
    pub(crate) study: &'a Study<'a, P>,
}

impl<P: Paper> Findings<'_, P> {
    /// Writes every file.
    pub(crate) fn write(&self, out: OutDir, began: Instant) -> Result<()> {
        let mut ids: Vec<&'static str> = Vec::new();
        for exhibit in &self.exhibits {
            if !ids.contains(&exhibit.id) {
                ids.push(exhibit.id);
            }
        }
        // Drawing takes longer than all else here: a thread for each id, and then in their order again.
        let shown: Vec<Vec<Figure>> = ids.par_iter().map(|id| self.write_exhibits(id, &out)).collect::<Result<_>>()?;
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

    /// The pictures of all exhibits with this id, and their data; back comes what the page shows of them.
    fn write_exhibits(&self, id: &'static str, out: &OutDir) -> Result<Vec<Figure>> {
        let mut data = csv::Writer::from_writer(Vec::new());
        data.write_record(TIDY)?;
        let mut figures = Vec::new();
        for exhibit in self.exhibits.iter().filter(|exhibit| exhibit.id == id) {
            for (series, x, metric, estimate) in &exhibit.rows {
                data.write_record([
                    id,
                    series,
                    x,
                    metric,
                    &number(estimate.mean),
                    &optional(estimate.low),
                    &optional(estimate.high),
                    &estimate.replications.to_string(),
                ])?;
            }
            for (picture, caption) in &exhibit.pictures {
                write_picture(picture, out)?;
                figures.push(self.page_figure(id, caption, picture.clone()));
            }
        }
        out.write(format!("data/{id}.csv"), data.into_inner()?)?;
        Ok(figures)
    }

    fn estimate(&self, quantity: &Quantity<P::Cell>) -> ConfidenceInterval {
        self.study.estimate(quantity, self.session.replications)
    }

    fn page_figure(&self, id: &'static str, caption: &str, picture: Picture) -> Figure {
        let about_it = |judged: &&(Judged, _)| judged.0.figures.contains(&id);
        let stem = picture.id().to_owned();
        let mut shown = Figure::new(picture, &stem);
        caption.clone_into(&mut shown.caption);
        shown.claims = self.judged.iter().filter(about_it).map(|(judged, _)| judged.id.clone()).collect();
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
