//! Pictures: a [`Chart`] of series over x, a [`Forest`] of differences, a [`Gantt`] chart of a schedule, or a [`Sketch`].
//!
//! One renderer draws SVG. [`svg`] returns the picture of a file, `png` rasterises it, and a page embeds the same picture in a desktop
//! and a phone width; the script of the page adds a crosshair that shows the values.
//! A picture is a function of its data alone: the same chart gives the same bytes, independent of system fonts.

mod canvas;
mod draw;
mod forest;
mod frame;
mod gantt;
mod scale;
mod sketch;

use canvas::Sheet;
pub(crate) use canvas::dark_css;
use draw::Plot;
pub(crate) use draw::readout;
pub use forest::{Dot, Facet, Forest};
pub use gantt::{Bar, Gantt};

pub(crate) use scale::decimals_for;
pub use scale::{date, extremes, fixed, significant};
pub use sketch::{Piece, Sketch};

use metrics::ConfidenceInterval;

/// Width of every picture in CSS pixels.
pub(crate) const WIDTH: f64 = 720.0;

/// Height of every picture in CSS pixels.
pub(crate) const HEIGHT: f64 = 450.0;

/// One figure: series of points over a common x.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// Short name, as in file names and links: `fig2`.
    pub id: String,
    /// Title in a few words. At most two lines of it are drawn.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis. If its label contains `%`, the axis shows zero.
    pub y: Axis,
    /// Simulated series.
    pub series: Vec<Series>,
    /// Values printed in the paper, drawn as hollow marks. A name that is also in `series` shares its colour and mark.
    pub reference: Vec<Series>,
    /// Plural noun for the observations behind a value: `weeks`; if empty, replications.
    pub observations: &'static str,
}

impl Chart {
    /// Returns a chart of these series.
    pub fn new(id: impl Into<String>, title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { id: id.into(), title: title.into(), x, y, series, ..Self::default() }
    }

    /// Returns the series that are not hidden, then the reference series.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Series> + Clone {
        self.series.iter().filter(|series| !series.is_hidden).chain(&self.reference)
    }

    fn has(&self, style: LineStyle) -> bool {
        self.shown().any(|series| series.style == style)
    }

    fn about(&self) -> String {
        let own = self.series.iter().filter(|series| !series.is_hidden);
        let names: Vec<&str> = own.map(|series| series.name.as_str()).collect();
        format!("{} over {}, for {}", self.y.label, self.x.label, names.join(", "))
    }

    pub(crate) fn counted(&self) -> &'static str {
        if self.observations.is_empty() { "replications" } else { self.observations }
    }
}

/// One axis of a [`Chart`].
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// Quantity and unit: `Mean response time (s)`.
    pub label: String,
    /// True for a logarithmic axis, which omits points that are not positive.
    pub log: bool,
    /// Exact places and their labels. `None` chooses: the x values themselves if they are few, otherwise round numbers.
    pub ticks: Option<Vec<(f64, String)>>,
    /// True if values below zero are meaningful, as for a difference. Otherwise the axis does not extend below zero to show an interval.
    pub signed: bool,
    /// True if values are spans in seconds, written in seconds, minutes, hours or days. A unit `(s)` in the label follows.
    pub spans: bool,
    /// Origin of values in days, in seconds since 1970; the values are written as dates.
    pub start: Option<i64>,
}

impl Axis {
    /// Returns a linear axis that chooses its own ticks.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Returns the unit in the label, with a leading space as it stands behind a number: ` s`, ` % of its mean`; empty if there is none.
    fn unit(&self) -> String {
        let is_unit = |text: &&str| {
            text.len() <= 16 && text.chars().all(|c| c.is_alphabetic() || matches!(c, '%' | '/' | '·' | '-' | ' '))
        };
        let mut brackets = self.label.split('(').skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        brackets.find(is_unit).map_or_else(String::new, |unit| format!(" {unit}"))
    }

    /// Returns an axis of spans in seconds, written in the unit that suits their range.
    pub fn of_spans(label: impl Into<String>) -> Self {
        Self { spans: true, ..Self::new(label) }
    }

    /// Returns the same axis with exactly these ticks.
    pub fn with_ticks(self, ticks: Vec<(f64, String)>) -> Self {
        Self { ticks: Some(ticks), ..self }
    }

    /// Returns the label of the tick at `x`.
    pub fn tick(&self, x: f64) -> Option<&str> {
        let own = self.ticks.iter().flatten().find(|(at, _)| (at - x).abs() <= 1e-9 * x.abs());
        own.map(|(_, label)| label.as_str())
    }
}

/// One line of a [`Chart`].
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Full name, shown when the pointer is over a short one.
    pub about: Option<String>,
    /// Way in which points are joined.
    pub style: LineStyle,
    /// Points in the order in which they are joined. Those with a coordinate that is not finite are skipped.
    pub points: Vec<Point>,
    /// Colour and mark; `None` is the position of the series in its chart. A policy in one slot has one colour in all figures of a paper.
    pub slot: Option<usize>,
    /// True if the series is in the data files alone, because another series shows the same.
    pub is_hidden: bool,
}

impl Series {
    /// Returns a series of marks joined by lines.
    pub fn lines(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { name: name.into(), points, ..Self::default() }
    }

    /// Returns a series whose level holds from each point to the next.
    pub fn steps(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { style: LineStyle::Steps, ..Self::lines(name, points) }
    }

    /// Returns a series of marks without lines.
    pub fn marks(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { style: LineStyle::MarksOnly, ..Self::lines(name, points) }
    }

    /// Returns the frequencies of several values as bars, at x one apart. Meant for a chart of one series.
    pub fn bars(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self { style: LineStyle::Bars, ..Self::lines(name, points) }
    }

    /// Returns the same series in the colour and mark of `slot`.
    pub fn in_slot(self, slot: usize) -> Self {
        Self { slot: Some(slot), ..self }
    }
}

/// Way in which the points of a [`Series`] are joined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// Marks joined by straight lines.
    #[default]
    Lines,
    /// A level that holds until the next point; no marks.
    Steps,
    /// Marks alone.
    MarksOnly,
    /// A bar from the bottom axis for each point.
    Bars,
}

/// One measured value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Point {
    /// Position on the horizontal axis.
    pub x: f64,
    /// The value, usually a mean.
    pub y: f64,
    /// Low and high end of its confidence interval.
    pub interval: Option<(f64, f64)>,
    /// Number of replications behind the value.
    pub reps: Option<u32>,
}

impl Point {
    /// Returns a value without an interval.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None, reps: None }
    }

    /// Returns an estimate with its interval and its number of replications.
    pub fn of(x: f64, estimate: &ConfidenceInterval) -> Self {
        let reps = Some(u32::try_from(estimate.replications).unwrap_or(u32::MAX));
        Self { x, y: estimate.mean, interval: estimate.low.zip(estimate.high), reps }
    }

    fn finite_interval(&self) -> Option<(f64, f64)> {
        self.interval.filter(|(low, high)| low.is_finite() && high.is_finite())
    }
}

macro_rules! pictures {
    ($($(#[doc = $doc:literal])* $Kind:ident($word:literal)),+) => {
        /// Any of the kinds of picture.
        #[derive(Debug, Clone)]
        pub enum Picture {
            $($(#[doc = $doc])* $Kind($Kind)),+
        }

        impl Picture {
            /// Returns the short name, as in file names and links.
            pub fn id(&self) -> &str {
                match self { $(Self::$Kind(it) => &it.id),+ }
            }

            pub(crate) fn title(&self) -> &str {
                match self { $(Self::$Kind(it) => &it.title),+ }
            }

            pub(crate) fn about(&self) -> String {
                match self { $(Self::$Kind(it) => it.about()),+ }
            }

            /// Returns the name of the kind in the style sheet.
            pub(crate) fn kind(&self) -> &'static str {
                match self { $(Self::$Kind(_) => $word),+ }
            }
        }

        $(impl From<$Kind> for Picture {
            fn from(it: $Kind) -> Self {
                Self::$Kind(it)
            }
        })+
    };
}

pictures! {
    /// Series over x.
    Chart("chart"),
    /// Differences with their intervals.
    Forest("forest"),
    /// Jobs over time and processors.
    Gantt("schedule"),
    /// Boxes, lines and words.
    Sketch("sketch")
}

pub(crate) fn note(chart: &Chart) -> String {
    Plot::of(chart).note()
}

/// Returns the picture as one SVG document with real text, 720 CSS pixels wide (a sketch may have another size).
pub fn svg(picture: &Picture) -> String {
    draw_on(picture, WIDTH, true)
}

/// Returns the picture for a column of a page, which shows its title itself.
pub(crate) fn inline(picture: &Picture, width: f64) -> String {
    draw_on(picture, width, false)
}

fn draw_on(picture: &Picture, width: f64, titled: bool) -> String {
    let sheet = |height: f64| Sheet { width, height, titled };
    let usual = if titled { HEIGHT } else { (0.2 * width + 220.0).round() };
    match picture {
        Picture::Chart(chart) => draw::svg(chart, sheet(usual)),
        Picture::Forest(forest) => forest::svg(forest, sheet(0.0)),
        Picture::Gantt(gantt) => gantt::svg(gantt, sheet(usual.max(HEIGHT))),
        Picture::Sketch(sketch) => sketch::svg(sketch, titled),
    }
}

/// Rasterises an SVG made by [`svg`] at two device pixels per CSS pixel; fails if it is not well-formed.
#[cfg(feature = "png")]
pub(crate) fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    use anyhow::Context;
    use resvg::{tiny_skia, usvg};
    use std::sync::{Arc, LazyLock};

    static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        Arc::new(fonts)
    });
    let options =
        usvg::Options { fontdb: FONTS.clone(), font_family: canvas::FONT.to_owned(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).context("the picture is not well-formed SVG")?;
    let size = tree.size().to_int_size().scale_by(2.0).context("the picture has no size")?;
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).context("no memory for the picture's pixels")?;
    let scale = tiny_skia::Transform::from_scale(2.0, 2.0);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.width(), size.height());
    encoder.set_color(png::ColorType::Rgba);
    // Half the instructions of tiny-skia's own encoder, for twice the bytes.
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&pixels.take_demultiplied())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
