//! A sheet of paper in CSS pixels, written as SVG: lines, filled shapes and text.

use super::marks::{Colour, INK, SOFT, WHITE};
use std::fmt::Write;
use std::sync::LazyLock;
use ttf_parser::Face;

/// Font used to measure text and to draw PNGs.
#[cfg(feature = "png")]
pub(super) const FONT: &str = "DejaVu Sans";

/// Font families in the SVG: the same font, fonts of nearly the same widths, then any sans-serif font.
const FAMILIES: &str = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) colour: Colour,
}

impl Type {
    pub(super) const TITLE: Type = Type { size: 15.0, bold: true, colour: INK };
    pub(super) const LABEL: Type = Type { size: 12.0, bold: false, colour: SOFT };
    pub(super) const TICK: Type = Type { size: 11.5, bold: false, colour: SOFT };
    pub(super) const NAME: Type = Type { size: 12.0, bold: false, colour: INK };
    pub(super) const NOTE: Type = Type { size: 10.0, bold: false, colour: SOFT };

    pub(super) fn width(self, text: &str) -> f64 {
        static FACES: LazyLock<[Face<'_>; 2]> = LazyLock::new(|| {
            [dejavu::sans::regular(), dejavu::sans::bold()].map(|font| Face::parse(font, 0).expect("an embedded font"))
        });
        let face = &FACES[usize::from(self.bold)];
        let advance = |letter| face.glyph_hor_advance(face.glyph_index(letter).unwrap_or_default()).unwrap_or(0);
        text.chars().map(|letter| f64::from(advance(letter))).sum::<f64>() * self.size / f64::from(face.units_per_em())
    }

    /// Returns `text`, cut with an ellipsis if it is wider than `room`.
    pub(super) fn cut(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_owned();
        }
        let ends = text.char_indices().rev().map(|(end, _)| format!("{}…", text[..end].trim_end()));
        ends.into_iter().find(|shown| self.width(shown) <= room).unwrap_or_default()
    }

    /// Breaks `text` into at most `lines` lines of width `room`; the last one is cut with an ellipsis.
    pub(super) fn wrap(self, text: &str, room: f64, lines: usize) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let is_last = out.len() == lines;
            match out.last_mut() {
                Some(line) if is_last || self.width(&format!("{line} {word}")) <= room => *line += &format!(" {word}"),
                _ => out.push(word.to_owned()),
            }
        }
        out.into_iter().map(|line| self.cut(&line, room)).collect()
    }
}

/// Size of a picture in CSS pixels, and a flag for drawing its title.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sheet {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) titled: bool,
}

impl Sheet {
    /// Returns the margin: a page has its own.
    pub(super) const fn margin(self) -> f64 {
        if self.titled { 20.0 } else { 2.0 }
    }
}

pub(super) struct Canvas {
    pub(super) sheet: Sheet,
    /// Height of the empty strip that is cut off at the top.
    pub(super) above: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(sheet: Sheet) -> Self {
        let Sheet { width, height, .. } = sheet;
        let mut canvas = Self { sheet, above: 0.0, body: String::new() };
        canvas.fill(&rectangle(0.0, 0.0, width, height), WHITE, 1.0);
        canvas
    }

    /// Returns the finished document, with `title` and `about` for screen readers. On a page the enclosing figure has both, and a `title`
    /// would be a tooltip over the whole picture.
    pub(super) fn finish(self, title: &str, about: &str, attributes: &str) -> String {
        let Self { sheet: Sheet { width, height, titled }, above, body } = self;
        let height = height - above;
        let (title, about) = (escape(title), escape(about));
        let (role, words) = if titled {
            (format!("role=\"img\" aria-label=\"{title}\""), format!("<title>{title}</title>\n<desc>{about}</desc>\n"))
        } else {
            (attributes.to_owned(), String::new())
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 {above} {width} {height}\" {role} stroke-linejoin=\"round\" \
             font-family=\"{FAMILIES}\">\n{words}{body}</svg>\n"
        )
    }

    /// Draws a group; `facts` are the lines of its tooltip.
    pub(super) fn group(&mut self, attributes: &str, facts: &[String], draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.body, "<g {attributes}>");
        if !facts.is_empty() {
            let facts: Vec<String> = facts.iter().map(|line| escape(line)).collect();
            let _ = write!(self.body, "<title>{}</title>", facts.join("\n"));
        }
        draw(self);
        self.body += "</g>\n";
    }

    /// Draws a group that the pointer finds by its number: the name of a series.
    pub(super) fn key(&mut self, group: usize, facts: &[String], draw: impl FnOnce(&mut Self)) {
        self.group(&format!("class=\"key\" data-group=\"{group}\""), facts, draw);
    }

    /// Draws a level that holds from each place to the next.
    pub(super) fn steps(&mut self, places: &[(f64, f64)], colour: Colour, width: f64) {
        let Some(((x, y), rest)) = places.split_first() else { return };
        let mut path = format!("M{},{}", tenth(*x), tenth(*y));
        for (x, y) in rest {
            let _ = write!(path, "H{}V{}", tenth(*x), tenth(*y));
        }
        let _ = writeln!(self.body, "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" d=\"{path}\"/>");
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], colour: Colour, width: f64, dashed: bool) {
        let dashes = if dashed { " stroke-dasharray=\"7 4\"" } else { "" };
        self.shape("polyline", points, &format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}"));
    }

    pub(super) fn fill(&mut self, corners: &[(f64, f64)], colour: Colour, alpha: f64) {
        let alpha = if alpha < 1.0 { format!(" fill-opacity=\"{alpha}\"") } else { String::new() };
        self.shape("polygon", corners, &format!("fill=\"{colour}\"{alpha}"));
    }

    pub(super) fn outline(&mut self, corners: &[(f64, f64)], colour: Colour, width: f64) {
        self.shape("polygon", corners, &format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\""));
    }

    fn shape(&mut self, tag: &str, points: &[(f64, f64)], paint: &str) {
        let places: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", tenth(*x), tenth(*y))).collect();
        let _ = writeln!(self.body, "<{tag} {paint} points=\"{}\"/>", places.join(" "));
    }

    pub(super) fn text(&mut self, text: &str, x: f64, baseline: f64, look: Type, anchor: Anchor) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
        let (x, y, size, colour, text) = (tenth(x), tenth(baseline), tenth(look.size), look.colour, escape(text));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{bold} fill=\"{colour}\"{anchor}>{text}</text>"
        );
    }
}

pub(super) const fn rectangle(left: f64, top: f64, right: f64, bottom: f64) -> [(f64, f64); 4] {
    [(left, top), (right, top), (right, bottom), (left, bottom)]
}

/// Rounds to a tenth of a pixel, the resolution of a picture.
fn tenth(css: f64) -> f64 {
    (css * 10.0).round() / 10.0
}

/// Returns `text` as XML character data. Characters that XML does not allow become spaces.
pub(super) fn escape(text: &str) -> String {
    let is_allowed = |c: char| !c.is_control() && !matches!(c, '\u{FFFE}' | '\u{FFFF}');
    let text: String = text.chars().map(|c| if is_allowed(c) { c } else { ' ' }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
