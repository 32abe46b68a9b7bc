//! What the template sees: figures drawn, numbers formatted, places in the small pictures computed.

use super::{Cell, Claim, Figure, Page, Parameter, Part, Reading, Section, Table, Verdict};
use crate::chart::{self, Chart, Interactive, LegendMark, Picture, significant};
use minijinja::Value;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the template sees.
#[derive(Serialize)]
pub(super) struct View<'a> {
    title: &'a str,
    subtitle: &'a str,
    notes: &'a [String],
    tally: Vec<Tally>,
    claims: Vec<ClaimView<'a>>,
    /// Checks of the paper's own numbers, which are counted apart.
    checks: Vec<ClaimView<'a>>,
    sections: Vec<SectionView<'a>>,
    figures: Vec<FigureView<'a>>,
    tables: Vec<TableView<'a>>,
    readings: &'a [Reading],
    parameters: &'a [Parameter],
    commands: &'a [(String, String)],
    provenance: &'a [(String, String)],
    style: Value,
    script: Value,
    /// What draws plots; empty if there are none.
    plots: Value,
    /// Descriptions of all plots, by their anchors.
    all_plots: BTreeMap<String, Interactive>,
}

impl<'a> View<'a> {
    /// Draws the figures and formats the numbers.
    pub(super) fn new(page: &'a Page) -> anyhow::Result<Self> {
        let figures =
            page.figures.iter().map(|figure| figure_view(figure, page)).collect::<anyhow::Result<Vec<_>>>()?;
        let sections =
            page.sections.iter().map(|section| section_view(section, page)).collect::<anyhow::Result<Vec<_>>>()?;
        let pictures = page.sections.iter().flat_map(|section| &section.parts).filter_map(|part| match part {
            Part::Figure(figure) => Some(&**figure),
            Part::Table(_) => None,
        });
        let plot = |figure: &Figure| Some((figure.picture.id().to_owned(), chart::interactive(&figure.picture)?));
        let all_plots: BTreeMap<_, _> = pictures.chain(&page.figures).filter_map(plot).collect();
        let plots = if all_plots.is_empty() { "" } else { include_str!("../../templates/plot.js") };
        let (checks, claims) = page
            .claims
            .iter()
            .map(|claim| claim_view(claim, page))
            .partition(|view| view.claim.verdict.is_of_a_check());
        Ok(Self {
            title: &page.title,
            subtitle: &page.subtitle,
            notes: &page.notes,
            tally: Verdict::ALL.into_iter().map(|verdict| Tally::new(verdict, page)).collect(),
            claims,
            checks,
            sections,
            figures,
            tables: page.tables.iter().map(table_view).collect(),
            readings: &page.readings,
            parameters: &page.parameters,
            commands: &page.commands,
            provenance: &page.provenance,
            style: Value::from_safe_string(include_str!("../../templates/report.css").to_owned()),
            script: Value::from_safe_string(include_str!("../../templates/report.js").to_owned()),
            plots: Value::from_safe_string(plots.to_owned()),
            all_plots,
        })
    }
}

/// One part of the bar at the top.
#[derive(Serialize)]
struct Tally {
    verdict: Verdict,
    count: usize,
}

impl Tally {
    fn new(verdict: Verdict, page: &Page) -> Self {
        Self { verdict, count: page.claims.iter().filter(|claim| claim.verdict == verdict).count() }
    }
}

#[derive(Serialize)]
struct SectionView<'a> {
    id: &'a str,
    title: &'a str,
    words: &'a [String],
    /// There are schedules, in which a job can be looked for.
    searches: bool,
    parts: Vec<PartView<'a>>,
}

/// One of the two.
#[derive(Serialize)]
struct PartView<'a> {
    figure: Option<FigureView<'a>>,
    table: Option<TableView<'a>>,
}

fn section_view<'a>(section: &'a Section, page: &'a Page) -> anyhow::Result<SectionView<'a>> {
    let part = |part: &'a Part| {
        Ok(match part {
            Part::Figure(figure) => PartView { figure: Some(figure_view(figure, page)?), table: None },
            Part::Table(table) => PartView { figure: None, table: Some(table_view(table)) },
        })
    };
    let is_schedule = |part: &Part| matches!(part, Part::Figure(figure) if matches!(figure.picture, Picture::Gantt(_)));
    Ok(SectionView {
        id: &section.id,
        title: &section.title,
        words: &section.words,
        searches: section.parts.iter().any(is_schedule),
        parts: section.parts.iter().map(part).collect::<anyhow::Result<_>>()?,
    })
}

/// What the template needs of a plot; the rest is for the script.
#[derive(Serialize)]
struct PlotView {
    legend: Vec<LegendMark>,
}

#[derive(Serialize)]
struct FigureView<'a> {
    anchor: String,
    title: &'a str,
    y_label: &'a str,
    caption: &'a str,
    note: String,
    alt: String,
    claims: Vec<(&'a str, Verdict)>,
    files: &'a [(String, String)],
    is_schedule: bool,
    /// `None` if there is nothing to point at.
    plot: Option<PlotView>,
    svg: Value,
    numbers: Vec<NumberRow<'a>>,
    /// What the numbers rest on several of.
    observations: &'static str,
    x_label: &'a str,
}

/// One line of the table behind a figure.
#[derive(Serialize)]
struct NumberRow<'a> {
    series: &'a str,
    x: String,
    y: String,
    low: String,
    high: String,
    reps: Option<u32>,
    printed: bool,
}

fn figure_view<'a>(figure: &'a Figure, page: &'a Page) -> anyhow::Result<FigureView<'a>> {
    let picture = &figure.picture;
    let svg = chart::svg(picture);
    let verdict_of = |id: &'a String| page.claims.iter().find(|c| c.id == *id).map(|c| (id.as_str(), c.verdict));
    let (x_label, y_label, numbers) = match picture {
        Picture::Chart(chart) => (chart.x.label.as_str(), chart.y.label.as_str(), numbers(chart)),
        Picture::Gantt(gantt) => (gantt.time.as_str(), "Processor", Vec::new()),
        Picture::Sketch(_) => ("", "", Vec::new()),
    };
    let alt = match picture {
        Picture::Chart(chart) => {
            let names: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
            format!("{}: {y_label} over {x_label}, for {}", picture.title(), names.join(", "))
        }
        Picture::Gantt(gantt) => {
            format!("{}: {} jobs on {} processors", gantt.title, gantt.bars.len(), gantt.processors)
        }
        Picture::Sketch(sketch) => format!("{}: {}", sketch.title, sketch.about),
    };
    Ok(FigureView {
        anchor: picture.id().to_owned(),
        title: picture.title(),
        y_label,
        caption: &figure.caption,
        note: if let Picture::Chart(chart) = picture { chart::note(chart) } else { String::new() },
        alt,
        claims: figure.claims.iter().filter_map(verdict_of).collect(),
        files: &figure.files,
        is_schedule: matches!(picture, Picture::Gantt(_)),
        plot: chart::interactive(picture).map(|plot| PlotView { legend: plot.into_legend() }),
        svg: Value::from_safe_string(svg),
        numbers,
        observations: if let Picture::Chart(chart) = picture { chart.counted() } else { "" },
        x_label,
    })
}

/// The figure as a table, for readers who cannot see it or want the digits; empty for long curves.
fn numbers(chart: &Chart) -> Vec<NumberRow<'_>> {
    const MANY: usize = 200;
    let tick = |x: f64| {
        let own = chart.x.ticks.iter().flatten().find(|(at, _)| (at - x).abs() <= 1e-9 * x.abs());
        own.map_or_else(|| significant(x), |(_, label)| label.clone())
    };
    let all = [(&chart.series, false), (&chart.reference, true)];
    let rows: Vec<_> = all
        .into_iter()
        .flat_map(|(series, printed)| series.iter().map(move |s| (s, printed)))
        .flat_map(|(series, printed)| series.points.iter().map(move |p| (series, p, printed)))
        .map(|(series, point, printed)| {
            let (low, high) =
                point.interval.map_or((String::new(), String::new()), |(l, h)| (significant(l), significant(h)));
            let (x, y) = (tick(point.x), significant(point.y));
            NumberRow { series: &series.name, x, y, low, high, reps: point.reps, printed }
        })
        .collect();
    if rows.len() > MANY { Vec::new() } else { rows }
}

#[derive(Serialize)]
struct ClaimView<'a> {
    #[serde(flatten)]
    claim: &'a Claim,
    changed: bool,
    figures: Vec<(&'a str, &'a str)>,
    cells: Vec<CellView<'a>>,
}

#[derive(Serialize)]
struct CellView<'a> {
    label: &'a str,
    estimate: String,
    low: String,
    high: String,
    has_interval: bool,
    verdict: Verdict,
    strip: Option<Strip>,
}

/// Where things stand in a cell's little picture, from 0 to 100.
#[derive(Serialize)]
struct Strip {
    estimate: f64,
    low: f64,
    width: f64,
    zero: Option<f64>,
    band: Option<(f64, f64)>,
}

fn claim_view<'a>(claim: &'a Claim, page: &'a Page) -> ClaimView<'a> {
    let figures = page.figures.iter().filter(|figure| figure.claims.contains(&claim.id));
    let strips = strips(&claim.cells);
    let cells = claim.cells.iter().zip(strips).map(|(cell, strip)| CellView {
        label: &cell.label,
        estimate: significant(cell.estimate),
        low: significant(cell.low),
        high: significant(cell.high),
        has_interval: cell.low.is_finite() && cell.high.is_finite(),
        verdict: cell.verdict,
        strip,
    });
    ClaimView {
        claim,
        changed: claim.recorded.is_some_and(|recorded| recorded != claim.verdict),
        figures: figures.map(|figure| (figure.picture.id(), figure.picture.id())).collect(),
        cells: cells.collect(),
    }
}

/// The cells of one claim on one scale, so that they can be compared by eye.
fn strips(cells: &[Cell]) -> Vec<Option<Strip>> {
    let ends = |cell: &Cell| {
        let band = cell.claimed.map_or([f64::NAN; 2], |(low, high)| [low, high]);
        [cell.estimate, cell.low, cell.high, band[0], band[1]]
    };
    let values = || cells.iter().flat_map(ends).filter(|v| v.is_finite());
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low >= high {
        return cells.iter().map(|_| None).collect();
    }
    let (low, high) = (low - 0.06 * (high - low), high + 0.06 * (high - low));
    // Two decimals are finer than a pixel.
    let place = |v: f64| ((v - low) / (high - low) * 10_000.0).round().clamp(0.0, 10_000.0) / 100.0;
    let strip = |cell: &Cell| {
        let (from, to) = if cell.low.is_finite() && cell.high.is_finite() {
            (place(cell.low), place(cell.high))
        } else {
            (place(cell.estimate), place(cell.estimate))
        };
        cell.estimate.is_finite().then(|| Strip {
            estimate: place(cell.estimate),
            low: from,
            width: to - from,
            zero: (low < 0.0 && high > 0.0).then(|| place(0.0)),
            band: cell.claimed.map(|(a, b)| (place(a), place(b) - place(a))),
        })
    };
    cells.iter().map(strip).collect()
}

#[derive(Serialize)]
struct TableView<'a> {
    id: &'a str,
    title: &'a str,
    caption: &'a str,
    columns: Vec<(&'a str, bool)>,
    rows: &'a [Vec<String>],
}

fn table_view(table: &Table) -> TableView<'_> {
    let is_numeric = |k: usize| {
        let cells = || table.rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.trim()).filter(|c| !c.is_empty());
        cells().next().is_some()
            && cells().all(|cell| {
                cell.starts_with([
                    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '−', '–', '+', '±', '<', '>', '≥', '≤', '∞',
                    '.',
                ])
            })
    };
    TableView {
        id: &table.id,
        title: &table.title,
        caption: &table.caption,
        columns: table.columns.iter().enumerate().map(|(k, name)| (name.as_str(), is_numeric(k))).collect(),
        rows: &table.rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_aligned_to_the_right() {
        let rows = vec![vec!["EASY".into(), "−1.5".into()], vec!["2 policies".into(), "±3".into()]];
        let columns = vec!["Policy".into(), "Mean".into()];
        let table = Table { id: String::new(), title: String::new(), caption: String::new(), columns, rows };
        assert_eq!(table_view(&table).columns, [("Policy", false), ("Mean", true)]);
    }
}
