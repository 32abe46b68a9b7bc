//! Boxes, lines and words at given places: trees, matrices.

use super::canvas::{AXIS, Anchor, Canvas, INK, SOFT, SeriesLook, Sheet, Type, rectangle};
use super::{HEIGHT, WIDTH};

/// A drawing. Places are in CSS pixels, from the upper left corner of a picture.
#[derive(Debug, Clone, Default)]
pub struct Sketch {
    /// Short name, as in file names and links.
    pub id: String,
    /// Title in a few words.
    pub title: String,
    /// A description for screen readers.
    pub about: String,
    /// Pieces, each with its colour, as that of the series of a chart; `None` is grey. Boxes are drawn over lines, words over both.
    pub pieces: Vec<(Piece, Option<usize>)>,
    /// Width and height; `None` for those of other pictures.
    pub size: Option<(f64, f64)>,
}

/// A part of a [`Sketch`].
#[derive(Debug, Clone)]
pub enum Piece {
    /// A line.
    Line {
        /// Its corners, from one end to the other.
        points: Vec<(f64, f64)>,
        /// Width in CSS pixels.
        width: f64,
        /// True for a dashed line.
        dashed: bool,
    },
    /// A rectangle with lines of text in it.
    Box {
        /// Its middle, in CSS pixels.
        centre: (f64, f64),
        /// Width and height in CSS pixels.
        size: (f64, f64),
        /// Text in the box, line by line.
        lines: Vec<String>,
    },
    /// A line of text.
    Words {
        /// Start of the text, in CSS pixels.
        at: (f64, f64),
        /// Text to draw.
        text: String,
        /// Type size, in CSS pixels.
        size: f64,
    },
}

impl Sketch {
    pub(super) fn about(&self) -> String {
        self.about.clone()
    }
}

/// Height of the title, in CSS pixels.
const TITLE: f64 = 34.0;

/// Type size of text in a box, in CSS pixels.
const BOXED: f64 = 11.0;

pub(super) fn svg(sketch: &Sketch, titled: bool) -> String {
    let (width, height) = sketch.size.unwrap_or((WIDTH, HEIGHT));
    let mut canvas = Canvas::new(Sheet { width, height, titled });
    canvas.above = if titled { 0.0 } else { TITLE };
    let title = if titled { Type::TITLE.wrap(&sketch.title, width - 40.0, 2) } else { Vec::new() };
    for (row, line) in title.iter().zip(0_u32..) {
        canvas.text(row, 20.0, 27.0 + 19.0 * f64::from(line), Type::TITLE, Anchor::Start);
    }
    let mut pieces: Vec<_> = sketch.pieces.iter().collect();
    pieces.sort_by_key(|(shape, _)| match shape {
        Piece::Line { .. } => 0,
        Piece::Box { .. } => 1,
        Piece::Words { .. } => 2,
    });
    for (shape, slot) in pieces {
        draw(&mut canvas, shape, slot.map(|slot| SeriesLook(slot).colour()));
    }
    canvas.finish(&sketch.title, &sketch.about, "")
}

fn draw(canvas: &mut Canvas, shape: &Piece, colour: Option<&'static str>) {
    let border = colour.unwrap_or(AXIS);
    match shape {
        Piece::Line { points, width, dashed } => canvas.line(points, border, *width, *dashed),
        Piece::Box { centre: (x, y), size: (width, height), lines } => {
            let corners = rectangle(x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0);
            canvas.fill(&corners, border, 0.12);
            canvas.outline(&corners, border, 1.0);
            let leading = BOXED + 3.0;
            let first = y - leading * (super::frame::count(lines.len()) - 1.0) / 2.0 + 0.36 * BOXED;
            for (line, row) in lines.iter().zip(0_u32..) {
                let look = Type { size: BOXED, bold: row == 0, colour: INK };
                canvas.text(&look.cut(line, width - 4.0), *x, first + leading * f64::from(row), look, Anchor::Middle);
            }
        }
        Piece::Words { at: (x, y), text, size } => {
            let look = Type { size: *size, bold: false, colour: colour.unwrap_or(SOFT) };
            canvas.text(&look.cut(text, canvas.sheet.width - x), *x, *y, look, Anchor::Start);
        }
    }
}
