//! Boxes, lines and words at given places: trees, sequences of messages.

use super::canvas::{Anchor, Canvas, Sheet, Type, rectangle};
use super::marks::{AXIS, Colour, INK, SOFT, SeriesLook};
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
    /// Lines and arrows.
    pub strokes: Vec<Stroke>,
    /// Boxes, drawn over the strokes.
    pub boxes: Vec<SketchBox>,
    /// Words outside boxes.
    pub words: Vec<Words>,
    /// Width and height; `None` for those of other pictures.
    pub size: Option<(f64, f64)>,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Stroke {
    /// Its corners, from one end to the other.
    pub points: Vec<(f64, f64)>,
    /// Colour; `None` is grey.
    pub slot: Option<usize>,
    /// Width in CSS pixels.
    pub width: f64,
    /// True for a dashed line.
    pub dashed: bool,
}

/// A rectangle around its centre, with lines of text in it.
#[derive(Debug, Clone)]
pub struct SketchBox {
    /// Its middle, in CSS pixels.
    pub centre: (f64, f64),
    /// Width and height in CSS pixels.
    pub size: (f64, f64),
    /// Text in the box, line by line.
    pub lines: Vec<String>,
    /// Colour, as that of the series of a chart; `None` is grey.
    pub slot: Option<usize>,
}

/// A line of text that begins at its place.
#[derive(Debug, Clone)]
pub struct Words {
    /// Start of the text, in CSS pixels.
    pub at: (f64, f64),
    /// Text to draw.
    pub text: String,
    /// Type size, in CSS pixels.
    pub size: f64,
    /// Colour, as that of the series of a chart; `None` is grey.
    pub slot: Option<usize>,
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
    for Stroke { points, slot, width, dashed } in &sketch.strokes {
        let colour = colour(*slot, AXIS);
        canvas.line(points, colour, *width, *dashed);
    }
    for frame in &sketch.boxes {
        draw_box(&mut canvas, frame);
    }
    for words in &sketch.words {
        let look = Type { size: words.size, bold: false, colour: colour(words.slot, SOFT) };
        let (x, y) = words.at;
        canvas.text(&look.cut(&words.text, width - x), x, y, look, Anchor::Start);
    }
    canvas.finish(&sketch.title, &sketch.about, "")
}

fn colour(slot: Option<usize>, otherwise: Colour) -> Colour {
    slot.map_or(otherwise, |slot| SeriesLook(slot).colour())
}

fn draw_box(canvas: &mut Canvas, frame: &SketchBox) {
    let SketchBox { centre: (x, y), size: (width, height), lines, slot } = frame;
    let corners = rectangle(x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0);
    let border = colour(*slot, AXIS);
    canvas.fill(&corners, border, 0.12);
    canvas.outline(&corners, border, 1.0);
    let look = Type { size: BOXED, bold: false, colour: INK };
    let leading = BOXED + 3.0;
    let first = y - leading * (super::arrange::count(lines.len()) - 1.0) / 2.0 + 0.36 * BOXED;
    for (line, row) in lines.iter().zip(0_u32..) {
        let look = Type { bold: row == 0, ..look };
        canvas.text(&look.cut(line, width - 4.0), *x, first + leading * f64::from(row), look, Anchor::Middle);
    }
}
