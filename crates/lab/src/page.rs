//! The report page: one file that opens offline and loads nothing.
//!
//! [`Page`] lists the parts to show, all optional; [`render`] writes it. The template engine escapes text, data reach the page's script as
//! JSON in which no tag can end, and a content security policy forbids the page to load anything. Pictures are inline SVG; the script adds
//! a crosshair, a search and sorting.

mod view;

use crate::chart::Picture;
use crate::claim::Judged;
pub use crate::scenario::Parameter;
use anyhow::Context;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
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
    /// The paper's claims.
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
    /// Parameters with their sources.
    pub parameters: Vec<Parameter>,
    /// Task and the command for it.
    pub commands: Vec<(String, String)>,
    /// Revision, seed, scenario hash and the like.
    pub provenance: Vec<(String, String)>,
}

/// A part of the page under a heading of its own.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Short name, as in links.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Paragraphs before its parts.
    pub words: Vec<String>,
    /// Pictures and tables, in order.
    pub parts: Vec<Part>,
    /// Further pictures, closed at first: by what a reader clicks to open them.
    pub folds: Vec<(String, Vec<Figure>)>,
}

/// A picture or a table of a [`Section`].
#[derive(Debug, Clone)]
pub enum Part {
    /// A picture.
    Figure(Box<Figure>),
    /// A table.
    Table(Table),
}

/// A picture with its caption.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Picture to draw.
    pub picture: Picture,
    /// Explanation below it.
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

/// A table of text and numbers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Short name, as in links.
    pub id: String,
    /// Heading of the table.
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
    /// Returns a table of these columns.
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
    engine.add_template("report.html", include_str!("../templates/report.html")).context("report.html")?;
    let template = engine.get_template("report.html")?;
    template.render(view::view(page)).context("cannot write the report page")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Chart, Point, Series};
    use crate::claim::{Check, Claim, Rule};
    use crate::metric::for_tests::Metric;
    use crate::quantity::DesignPoint as _;
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
}
