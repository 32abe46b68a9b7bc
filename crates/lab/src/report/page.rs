//! The report page: one file that opens offline and loads nothing.
//!
//! [`Page`] lists the parts to show, all optional; [`render`] writes it. The template engine escapes text, data reach the page's script as
//! JSON in which no tag can end, and a content security policy forbids the page to load anything. Pictures are inline SVG; the script adds
//! a crosshair, a search and sorting.

use crate::chart::{self, Chart, Picture, Point, Series, decimals_for, extremes, fixed, significant};
use crate::measure::claim::{Judged, JudgedCell, Verdict};
use crate::output::provenance::git_revision;
pub use crate::scenario::Parameter;
use anyhow::Context;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};
use serde::Serialize;
use sim_core::Reading;

/// All parts of a report, in the order of the page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Subject of the run: `multi-site`, or the name of a trace.
    pub title: String,
    /// One line below: the paper's citation.
    pub subtitle: String,
    /// The answer in a few sentences, the first of them as a headline.
    pub lead: Vec<String>,
    /// Lines that a reader must not miss, such as "quick run: one replication in ten".
    pub notes: Vec<String>,
    pub claims: Vec<Judged>,
    /// True if the claims are the user's own: they are supported or not, instead of reproduced or contradicted.
    pub has_own_claims: bool,
    /// Sections in an order of their own: pictures and tables that belong together, after introductory paragraphs.
    pub sections: Vec<Section>,
    /// Further pictures.
    pub figures: Vec<Figure>,
    /// Limits of the results, shown after them.
    pub caveats: Vec<String>,
    /// Further tables.
    pub tables: Vec<Table>,
    /// Questions that the paper's text leaves open, and the answers taken.
    pub readings: Vec<(Reading, String)>,
    pub parameters: Vec<Parameter>,
    /// Task and the command for it.
    pub commands: Vec<(String, String)>,
    /// Revision, seed, scenario hash and the like.
    pub provenance: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Short name, as in links.
    pub id: String,
    pub title: String,
    /// Paragraphs before its parts.
    pub words: Vec<String>,
    pub parts: Vec<Part>,
    /// Further pictures, closed at first: by what a reader clicks to open them.
    pub folds: Vec<(String, Vec<Figure>)>,
}

#[derive(Debug, Clone)]
pub enum Part {
    Figure(Box<Figure>),
    Table(Table),
}

#[derive(Debug, Clone)]
pub struct Figure {
    pub picture: Picture,
    pub caption: String,
    /// Ids of the claims that rest on it.
    pub claims: Vec<String>,
    /// Relative address of its data beside the page: `data/fig2.csv`.
    pub data: String,
}

impl Figure {
    /// Returns a figure with links to its `data`, to `figures/ID.svg` and, if this program writes PNG, to `figures/ID.png`.
    pub fn new(picture: impl Into<Picture>, caption: impl Into<String>, data: impl Into<String>) -> Self {
        Self { picture: picture.into(), caption: caption.into(), claims: Vec::new(), data: data.into() }
    }
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Short name, as in links.
    pub id: String,
    pub title: String,
    /// Explanation; may be empty.
    pub caption: String,
    /// Column heads.
    pub columns: Vec<String>,
    /// By column: what the pointer reads over a head that is a short name; may be empty.
    pub heads: Vec<String>,
    /// Cells, formatted. A column of numbers is aligned to the right.
    pub rows: Vec<Vec<String>>,
    /// Exact value of each rounded cell by row and column, for the tooltip and for sorting; empty if there is none.
    pub exact: Vec<Vec<String>>,
}

impl Table {
    pub fn new<T: Into<String>>(
        id: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = T>,
        rows: Vec<Vec<String>>,
    ) -> Self {
        let (id, title, caption) = (id.into(), title.into(), caption.into());
        Self { id, title, caption, columns: columns.into_iter().map(Into::into).collect(), rows, ..Self::default() }
    }
}

/// Renders the page; fails if the template does not fit the data, which is a bug.
pub fn render(page: &Page) -> anyhow::Result<String> {
    let mut engine = Environment::new();
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    engine.add_filter("bound", bound);
    engine.add_template("report.html", include_str!("../../templates/report.html")).context("report.html")?;
    let template = engine.get_template("report.html")?;
    template.render(view(page)).context("cannot write the report page")
}

/// Binds numbers to their units, so that no line ends between them.
fn bound(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(' ') {
        let is_unit = ["%", "s", "min", "h", "days"].contains(&word.trim_end_matches([')', ',', '.', ';', ']']));
        let space = if is_unit && out.ends_with(|before: char| before.is_ascii_digit()) { '\u{a0}' } else { ' ' };
        out.extend((!out.is_empty()).then_some(space));
        out += word;
    }
    out
}

/// Widths of pictures in CSS pixels: desktop and paper, and phone. The page scales them a little.
const WIDE: f64 = 860.0;
const NARROW: f64 = 400.0;

/// Draws the figures of a page and formats its numbers.
fn view(page: &Page) -> Value {
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
    // A record may go on, as in `reproduced at 40 replications`.
    let in_record = |verdict: &Verdict| judged.recorded.as_ref().is_some_and(|it| it.starts_with(&verdict.to_string()));
    let recorded = Verdict::every().find(in_record);
    let Judged { id, source, statement, test, verdict, decided_at, cells, .. } = judged;
    let figures = page.figures.iter().filter(|figure| figure.claims.contains(id));
    let figures: Vec<&str> = figures.map(|figure| figure.picture.id()).collect();
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

/// Returns the coordinates, from 0 to 100, in the small pictures of cells. All cells of one claim share a scale.
fn strips(cells: &[JudgedCell]) -> Vec<Option<Value>> {
    let interval = |cell: &JudgedCell| cell.interval().unwrap_or((cell.estimate.mean, cell.estimate.mean));
    let ends = |cell: &JudgedCell| [interval(cell), cell.rule.range(), (cell.estimate.mean, f64::NAN)];
    let values = cells.iter().flat_map(ends).flat_map(|(low, high)| [low, high]).filter(|value| value.is_finite());
    let Some((low, high)) = extremes(values).filter(|(low, high)| low < high) else {
        return vec![None; cells.len()];
    };
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
    use crate::chart::Axis;
    use crate::measure::claim::{Check, Claim, Rule};
    use crate::measure::metric::for_tests::Metric;
    use crate::measure::quantity::DesignPoint as _;
    use metrics::ConfidenceInterval;

    fn claim(statement: &str) -> Judged {
        let check = Check::new("λ = 10", 0_u8.get(Metric::wait), Rule::POSITIVE);
        let estimate = ConfidenceInterval { high: None, ..ConfidenceInterval::of(&[-1.5, -0.5]) };
        let judged = Judged::new(&Claim::new("W1", "§4", statement, &[], [check]), |_| estimate);
        Judged { recorded: Some("reproduced".into()), ..judged }
    }

    fn example(text: &str) -> Page {
        let points = vec![Point::of(1.0, &ConfidenceInterval::of(&[1.5, 2.5])), Point::new(2.0, f64::NAN)];
        let chart = Chart::new("fig2", text, Axis::new(text), Axis::new(text), vec![Series::lines(text, points)]);
        let figure = Figure { claims: vec!["W1".into(), "absent".into()], ..Figure::new(chart, "", "data/fig2.csv") };
        let rows = vec![vec![text.into(), "1.5".into()]];
        Page {
            title: text.into(),
            notes: vec![text.into()],
            claims: vec![claim(text)],
            figures: vec![figure],
            tables: vec![Table::new("table2", text, text, [text, "Mean"], rows)],
            commands: vec![(text.into(), text.into())],
            provenance: vec![(text.into(), text.into())],
            ..Page::default()
        }
    }

    #[test]
    fn no_text_breaks_out_of_the_page() {
        let calm = render(&example("quiet")).unwrap();
        let wild = render(&example("</script><script>alert(1)</script><!-- & \"'</title>")).unwrap();
        assert!(!wild.contains("<script>alert"), "a name became a script");
        for tag in ["<script", "</script", "</title", "</svg", "<!--"] {
            assert_eq!(wild.matches(tag).count(), calm.matches(tag).count(), "{tag}");
        }
        assert!(wild.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn columns_of_numbers_are_aligned_to_the_right() {
        let rows = vec![vec!["EASY".into(), "−1.5".into()], vec!["2 policies".into(), "±3".into()]];
        let table = Table { columns: vec!["Policy".into(), "Mean".into()], rows, ..Table::default() };
        let columns = table_view(&table).get_attr("columns").expect("they are given");
        assert_eq!(columns.to_string(), "[('Policy', False), ('Mean', True)]");
    }
}
