//! Template data: drawn figures, formatted numbers, coordinates of the small pictures.

use super::{Figure, Page, Part, Section, Table};
use crate::chart::{self, Chart, Picture, Point, Series, decimals_for, fixed, significant};
use crate::claim::{Judged, JudgedCell};
use crate::provenance::git_revision;
use crate::verdict::Verdict;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

/// Widths of pictures in CSS pixels: desktop and paper, and phone. The page scales them a little.
const WIDE: f64 = 860.0;
const NARROW: f64 = 400.0;

/// Draws the figures of a page and formats its numbers.
pub(super) fn view(page: &Page) -> Value {
    // Checks of the paper's own numbers are counted separately.
    let (checks, claims): (Vec<_>, Vec<_>) =
        page.claims.iter().partition(|judged| Verdict::OF_CHECKS.contains(&judged.verdict));
    let count = |verdict: Verdict| page.claims.iter().filter(|judged| judged.verdict == verdict).count();
    let program = [("Version", env!("CARGO_PKG_VERSION")), ("Git revision", git_revision())];
    context! {
        title => page.title.as_str(),
        subtitle => page.subtitle.as_str(),
        lead => serde(&page.lead),
        notes => serde(&page.notes),
        has_own_claims => page.has_own_claims,
        tally => list(&Verdict::ALL, |verdict| context! { verdict => serde(verdict), count => count(*verdict) }),
        claims => list(&claims, |claim| claim_view(claim, page)),
        checks => list(&checks, |claim| claim_view(claim, page)),
        sections => list(&page.sections, |section| section_view(section, page)),
        figures => list(&page.figures, |figure| figure_view(figure, page)),
        caveats => serde(&page.caveats),
        tables => list(&page.tables, table_view),
        readings => list(&page.readings, |(reading, value)| {
            let others: Vec<&str> = reading.answers.iter().copied().filter(|answer| answer != value).collect();
            let is_default = reading.answers.first().is_some_and(|first| first == value);
            let (id, question) = (reading.id, reading.question);
            context! { id, question, value, alternatives => others.join(", "), is_default }
        }),
        parameters => serde(&page.parameters),
        commands => serde(&page.commands),
        provenance => serde(&[&page.provenance[..], &program.map(|(name, it)| (name.to_owned(), it.to_owned()))].concat()),
        style => safe(include_str!("../../templates/report.css")),
        dark => safe(&chart::dark_css()),
        script => safe(include_str!("../../templates/report.js")),
    }
}

fn serde(value: &impl Serialize) -> Value {
    Value::from(Serde(value))
}

fn safe(text: &str) -> Value {
    Value::from_safe_string(text.to_owned())
}

fn list<T>(items: &[T], view: impl Fn(&T) -> Value) -> Value {
    items.iter().map(view).collect()
}

fn section_view(section: &Section, page: &Page) -> Value {
    let part = |part: &Part| match part {
        Part::Figure(figure) => context! { figure => figure_view(figure, page), table => () },
        Part::Table(table) => context! { figure => (), table => table_view(table) },
    };
    let is_schedule = |part: &Part| matches!(part, Part::Figure(figure) if matches!(figure.picture, Picture::Gantt(_)));
    context! {
        id => section.id.as_str(),
        title => section.title.as_str(),
        words => serde(&section.words),
        // Schedules have a search for jobs.
        searches => section.parts.iter().any(is_schedule),
        parts => list(&section.parts, part),
        folds => list(&section.folds, |(title, figures)| {
            context! { title => title.as_str(), figures => list(figures, |figure| figure_view(figure, page)) }
        }),
    }
}

fn figure_view(figure: &Figure, page: &Page) -> Value {
    let picture = &figure.picture;
    let verdict_of = |id: &String| page.claims.iter().find(|it| it.id == *id).map(|it| (id.clone(), it.verdict));
    let claims: Vec<(String, Verdict)> = figure.claims.iter().filter_map(verdict_of).collect();
    let chart = if let Picture::Chart(chart) = picture { Some(chart) } else { None };
    let drawn = |kind: &str| format!("figures/{}.{kind}", picture.id());
    let png = cfg!(feature = "png").then(|| ("PNG", drawn("png")));
    let files: Vec<_> = [("SVG", drawn("svg"))].into_iter().chain(png).chain([("CSV", figure.data.clone())]).collect();
    context! {
        anchor => picture.id(),
        title => picture.title(),
        x_label => chart.map_or("", |chart| chart.x.label.as_str()),
        y_label => chart.map_or("", |chart| chart.y.label.as_str()),
        caption => figure.caption.as_str(),
        note => chart.map(chart::note).unwrap_or_default(),
        alt => format!("{}: {}", picture.title(), picture.about()),
        claims => serde(&claims),
        files => serde(&files),
        // Pictures drawn for one size are scrolled on a narrow screen.
        kind => picture.kind(),
        wide => safe(&chart::inline(picture, WIDE)),
        narrow => matches!(picture, Picture::Chart(_) | Picture::Forest(_)).then(|| safe(&chart::inline(picture, NARROW))),
        readout => serde(&chart.map(chart::readout)),
        numbers => chart.map(numbers).unwrap_or_default(),
        // Plural noun for the observations behind the numbers.
        observations => chart.map_or("", |chart| chart.counted()),
    }
}

/// Returns the figure as a table, for screen readers and for exact digits; empty for long curves.
fn numbers(chart: &Chart) -> Vec<Value> {
    const MANY: usize = 200;
    let tick = |x: f64| {
        let named = chart.x.date(x).or_else(|| chart.x.tick(x).map(str::to_owned));
        named.unwrap_or_else(|| if x.fract() == 0.0 { fixed(x, 0) } else { significant(x) })
    };
    let row = |(series, point): (&Series, &Point)| {
        let printed = chart.reference.iter().any(|printed| std::ptr::eq(printed, series));
        let [low, high] = point.interval.map_or([String::new(), String::new()], |(l, h)| [l, h].map(significant));
        let (x, y) = (tick(point.x), significant(point.y));
        context! { series => series.name.as_str(), x, y, low, high, reps => point.reps, printed }
    };
    let points = chart.shown().flat_map(|series| series.points.iter().map(move |point| (series, point)));
    if points.clone().count() > MANY { Vec::new() } else { points.map(row).collect() }
}

fn claim_view(judged: &Judged, page: &Page) -> Value {
    let recorded = judged.recorded.as_deref().and_then(Verdict::from_words);
    let Judged { id, source, statement, test, verdict, decided_at, cells, .. } = judged;
    let figures = page.figures.iter().filter(|figure| figure.claims.contains(id));
    let figures: Vec<[&str; 2]> = figures.map(|figure| [figure.picture.id(); 2]).collect();
    let cell = |(cell, strip): (&JudgedCell, Option<Value>)| {
        let mean = cell.estimate.mean;
        let rounded = |value: f64| match cell.estimate.half_width() {
            Some(half) if half > 1e-9 * mean.abs() => fixed(value, decimals_for(half, 2)),
            _ => significant(value),
        };
        context! {
            label => cell.label.as_str(),
            estimate => rounded(mean),
            interval => serde(&cell.interval().map(|(low, high)| (rounded(low), rounded(high)))),
            verdict => serde(&cell.verdict),
            strip,
        }
    };
    let decides = judged.deciding_cell();
    let in_words = || [decides.expected(), decides.observed()].map(|text| text.replace('-', "−"));
    let [expected, observed] = judged.shown.clone().unwrap_or_else(in_words);
    context! {
        id, source, statement, test, expected, observed,
        verdict => serde(verdict),
        recorded => serde(&recorded),
        reps => decided_at,
        changed => recorded.is_some_and(|recorded| recorded != *verdict),
        figures => serde(&figures),
        cells => cells.iter().zip(strips(cells)).map(cell).collect::<Vec<_>>(),
    }
}

/// Returns the coordinates, from 0 to 100, in the small pictures of cells. All cells of one claim share a scale, so that they can be
/// compared by eye.
fn strips(cells: &[JudgedCell]) -> Vec<Option<Value>> {
    let interval = |cell: &JudgedCell| cell.interval().unwrap_or((cell.estimate.mean, cell.estimate.mean));
    let ends = |cell: &JudgedCell| [interval(cell), cell.rule.range(), (cell.estimate.mean, f64::NAN)];
    let values = cells.iter().flat_map(ends).flat_map(|(low, high)| [low, high]).filter(|value| value.is_finite());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low >= high {
        return vec![None; cells.len()];
    }
    let (low, high) = (low - 0.06 * (high - low), high + 0.06 * (high - low));
    // Two decimals are finer than a pixel.
    let place = |v: f64| ((v - low) / (high - low) * 10_000.0).round().clamp(0.0, 10_000.0) / 100.0;
    let strip = |cell: &JudgedCell| {
        let ((from, to), (least, most)) = (interval(cell), cell.rule.range());
        cell.estimate.mean.is_finite().then(|| {
            context! {
                estimate => place(cell.estimate.mean),
                low => place(from),
                width => place(to) - place(from),
                zero => (low < 0.0 && high > 0.0).then(|| place(0.0)),
                band => serde(&(place(least), place(most) - place(least))),
            }
        })
    };
    cells.iter().map(strip).collect()
}

fn table_view(table: &Table) -> Value {
    let is_numeric = |k: usize| {
        let mut cells =
            table.rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.trim()).filter(|c| !c.is_empty());
        // A flag among numbers stands below them.
        let is_number = |cell: &str| {
            matches!(cell, "yes" | "no") || cell.starts_with(|c: char| c.is_ascii_digit() || "-−–+±<>≥≤∞.".contains(c))
        };
        cells.next().is_some_and(|cell| cell.starts_with(|c| !"yn".contains(c)) && is_number(cell))
            && cells.all(is_number)
    };
    let columns: Vec<(&str, bool)> =
        table.columns.iter().enumerate().map(|(k, name)| (name.as_str(), is_numeric(k))).collect();
    context! { columns => serde(&columns), ..serde(table) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_aligned_to_the_right() {
        let rows = vec![vec!["EASY".into(), "−1.5".into()], vec!["2 policies".into(), "±3".into()]];
        let table = Table { columns: vec!["Policy".into(), "Mean".into()], rows, ..Table::default() };
        let columns = table_view(&table).get_attr("columns").expect("they are given");
        assert_eq!(columns.to_string(), "[('Policy', False), ('Mean', True)]");
    }
}
