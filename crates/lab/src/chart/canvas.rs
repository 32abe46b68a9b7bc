//! A sheet of paper in CSS pixels: lines, filled shapes and text, drawn by plotters.
//!
//! plotters' SVG backend knows whole pixels only, so the sheet is ten times finer inside, and the root element
//! then says how large it really is.

use super::marks::Rgb;
use super::{HEIGHT, WIDTH};
use anyhow::{Context, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::cell::RefCell;
use std::fmt::{Display, Write};
use std::sync::OnceLock;

/// The font that text is measured with and that PNGs are drawn with.
#[cfg(feature = "png")]
pub(super) const FONT: &str = "DejaVu Sans";

/// What the SVG asks for: that font, or one with nearly the same widths, or whatever the viewer has.
const FAMILIES: &str = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif";

/// Plotters' units per CSS pixel.
const FINE: f64 = 10.0;

/// Where text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Size, weight and colour of text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    /// Em size in CSS pixels.
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: Rgb,
}

impl Type {
    pub(super) const TITLE: Type = Type { size: 15.0, bold: true, colour: Rgb::INK };
    pub(super) const LABEL: Type = Type { size: 12.0, bold: false, colour: Rgb::SOFT };
    pub(super) const TICK: Type = Type { size: 11.5, bold: false, colour: Rgb::SOFT };
    pub(super) const NAME: Type = Type { size: 12.0, bold: false, colour: Rgb::INK };
    pub(super) const NOTE: Type = Type { size: 10.0, bold: false, colour: Rgb::SOFT };

    /// Plotters writes sizes that are 1.24 times smaller than it was asked for.
    fn font(self) -> FontDesc<'static> {
        self.font_of(self.size * FINE * 1.24)
    }

    fn font_of(self, size: f64) -> FontDesc<'static> {
        fonts_are_readable();
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        FontDesc::new(FontFamily::Name(FAMILIES), size, style)
    }

    /// Width of `text` in CSS pixels.
    pub(super) fn width(self, text: &str) -> f64 {
        // ab_glyph scales by the font's height, which for DejaVu is 1.164 em.
        let font = self.font_of(self.size * FINE * 1.164);
        font.layout_box(&clean(text)).map_or(0.0, |((left, _), (right, _))| f64::from(right - left) / FINE)
    }

    /// `text`, cut with an ellipsis if it is wider than `room`.
    pub(super) fn cut(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let mut short: Vec<char> = text.chars().collect();
        while let Some(_dropped) = short.pop() {
            let shown = format!("{}…", short.iter().collect::<String>().trim_end());
            if self.width(&shown) <= room {
                return shown;
            }
        }
        String::new()
    }

    /// `text` in lines of at most `room`, at most `lines` of them.
    pub(super) fn wrap(self, text: &str, room: f64, lines: usize) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            if let Some(line) = out.last_mut() {
                let longer = format!("{line} {word}");
                if self.width(&longer) <= room || out.len() == lines {
                    *out.last_mut().expect("there is one") = longer;
                    continue;
                }
            }
            out.push(word.to_owned());
        }
        out.into_iter().map(|line| self.cut(&line, room)).collect()
    }
}

/// Hands the embedded fonts to plotters, once.
fn fonts_are_readable() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        register_font(FAMILIES, FontStyle::Normal, dejavu::sans::regular()).is_ok()
            && register_font(FAMILIES, FontStyle::Bold, dejavu::sans::bold()).is_ok()
    })
}

/// Characters that XML does not allow become spaces.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') { ' ' } else { c }).collect()
}

/// The sheet being drawn on.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// Shapes that nobody sees, with what is told where they are pointed at.
    hints: RefCell<String>,
}

impl Canvas<'_> {
    /// Draws by `paint` and returns the finished document, with `title` and `about` for screen readers.
    pub(super) fn draw(
        title: &str,
        about: &str,
        paint: impl FnOnce(&Canvas<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<String> {
        Self::draw_sized(title, about, (WIDTH, HEIGHT), paint)
    }

    /// The same on a sheet of this width and height.
    pub(super) fn draw_sized(
        title: &str,
        about: &str,
        (width, height): (f64, f64),
        paint: impl FnOnce(&Canvas<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<String> {
        anyhow::ensure!(fonts_are_readable(), "the embedded font cannot be read");

        let mut text = String::new();
        let size = (fine(width).unsigned_abs(), fine(height).unsigned_abs());
        let hints = {
            let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
            let canvas = Canvas { area, hints: RefCell::default() };
            canvas.fill(&[(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)], Rgb::WHITE, 1.0)?;
            paint(&canvas)?;
            canvas.area.present().map_err(|error| anyhow!("cannot draw: {error}"))?;
            canvas.hints.take()
        };
        if !hints.is_empty() {
            let end = text.rfind("</svg>").context("plotters did not close the root element")?;
            text.insert_str(end, &format!("<g fill-opacity=\"0\">\n{hints}</g>\n"));
        }
        let (_, body) = text.split_once('>').context("plotters wrote no root element")?;
        let (title, about) = (escape(&clean(title)), escape(&clean(about)));
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{title}\" stroke-linejoin=\"round\">\n\
             <title>{title}</title>\n<desc>{about}</desc>{}",
            size.0,
            size.1,
            // Nothing is drawn half transparent except where it says so.
            body.replace(" opacity=\"1\"", "").replace(" \"/>", "\"/>"),
        ))
    }

    /// A line through `points`.
    pub(super) fn line(&self, points: &[(f64, f64)], colour: Rgb, width: f64, alpha: f64) -> anyhow::Result<()> {
        let style = ShapeStyle { color: ink(colour, alpha), filled: false, stroke_width: fine(width).unsigned_abs() };
        let path = PathElement::new(points.iter().copied().map(place).collect::<Vec<_>>(), style);
        self.area.draw(&path).map_err(|error| anyhow!("cannot draw a line: {error}"))
    }

    /// A dashed line through `points`.
    pub(super) fn dashed(&self, points: &[(f64, f64)], colour: Rgb, width: f64) -> anyhow::Result<()> {
        const DASH: f64 = 7.0;
        const GAP: f64 = 4.0;
        let (mut drawing, mut left) = (true, DASH);
        for pair in points.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let length = libm::hypot(x1 - x0, y1 - y0);
            let at = |s: f64| (x0 + (x1 - x0) * s / length, y0 + (y1 - y0) * s / length);
            let mut from = 0.0;
            while from < length {
                let to = length.min(from + left);
                if drawing {
                    self.line(&[at(from), at(to)], colour, width, 1.0)?;
                }
                left -= to - from;
                if left <= 1e-9 {
                    drawing = !drawing;
                    left = if drawing { DASH } else { GAP };
                }
                from = to;
            }
        }
        Ok(())
    }

    /// A filled shape.
    pub(super) fn fill(&self, corners: &[(f64, f64)], colour: Rgb, alpha: f64) -> anyhow::Result<()> {
        let corners: Vec<_> = corners.iter().copied().map(place).collect();
        let shape = Polygon::new(corners, ink(colour, alpha).filled());
        self.area.draw(&shape).map_err(|error| anyhow!("cannot draw a shape: {error}"))
    }

    /// A closed outline.
    pub(super) fn outline(&self, corners: &[(f64, f64)], colour: Rgb, width: f64) -> anyhow::Result<()> {
        let closed: Vec<_> = corners.iter().chain(corners.iter().take(2)).copied().collect();
        self.line(&closed, colour, width, 1.0)
    }

    /// What is told, without any script, where one of these rectangles (left, top, right, bottom) is pointed at.
    pub(super) fn hint(&self, rectangles: &[[f64; 4]], lines: &[String]) {
        if rectangles.is_empty() {
            return;
        }
        let mut path = String::new();
        for [left, top, right, bottom] in rectangles.iter().map(|corners| corners.map(fine)) {
            let _ = write!(path, "M{left} {top}H{right}V{bottom}H{left}z");
        }
        let lines: Vec<String> = lines.iter().map(|line| escape(&clean(line))).collect();
        let _ = writeln!(self.hints.borrow_mut(), "<path d=\"{path}\"><title>{}</title></path>", lines.join("\n"));
    }

    /// Text on a baseline.
    pub(super) fn text(&self, text: &str, x: f64, baseline: f64, look: Type, anchor: Anchor) -> anyhow::Result<()> {
        let h_pos = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        // Of plotters' vertical positions only the top is exact in every viewer: 0.76 em above the baseline.
        let colour = ink(look.colour, 1.0);
        let style = TextStyle::from(look.font()).color(&colour).pos(Pos::new(h_pos, VPos::Top));
        // Drawn straight on the backend: plotters' own text element would first move it by a measured width.
        let at = place((x, baseline - 0.76 * look.size));
        self.area.draw_text(&clean(text), &style, at).map_err(|error| anyhow!("cannot draw {text:?}: {error}"))
    }
}

fn ink(colour: Rgb, alpha: f64) -> RGBAColor {
    RGBAColor(colour.0, colour.1, colour.2, alpha)
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (fine(x), fine(y))
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, and nothing is drawn that far outside")]
fn fine(css: f64) -> i32 {
    (css * FINE).round() as i32
}

/// `text` as XML character data.
fn escape(text: &(impl Display + ?Sized)) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
