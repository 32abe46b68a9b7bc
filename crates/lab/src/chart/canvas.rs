//! A sheet of paper in CSS pixels, written as SVG: lines, filled shapes, marks and text in their colours.

use std::fmt::Write;
use std::sync::LazyLock;
use ttf_parser::Face;

/// Font used to measure text and to draw PNGs.
#[cfg(feature = "png")]
pub(super) const FONT: &str = "DejaVu Sans";

/// Font families in the SVG: the same font, fonts of nearly the same widths, then any sans-serif font.
const FAMILIES: &str = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif";

pub(super) type Colour = &'static str;

pub(super) const WHITE: Colour = "#FFFFFF";
pub(super) const INK: Colour = "#22262B";
pub(super) const SOFT: Colour = "#5B636C";
pub(super) const AXIS: Colour = "#9AA1A9";
pub(super) const GRID: Colour = "#E6E9EC";

/// Okabe & Ito's colours, safe for colour-blind readers: on white; with 72 % of the light, as small text on white; on a dark page.
const COLOURS: [[Colour; 3]; 8] = [
    ["#0072B2", "#005280", "#58B0E8"],
    ["#D55E00", "#994400", "#FF8A3D"],
    ["#009E73", "#007253", "#2FC79A"],
    ["#B4589A", "#823F6F", "#E39CCB"],
    ["#C98500", "#916000", "#F0B83C"],
    ["#3A9BDC", "#2A709E", "#9AD4FA"],
    ["#4A4A4A", "#353535", "#C9C9C9"],
    ["#9A8F00", "#6F6700", "#F0E442"],
];

const SHAPES: usize = 9;

/// A slot: a colour and the shape of a mark, which carry the same information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeriesLook(pub(super) usize);

impl SeriesLook {
    pub(super) fn colour(self) -> Colour {
        COLOURS[self.0 % COLOURS.len()][0]
    }

    /// Returns the same hue, dark enough to be readable as small text on white.
    pub(super) fn of_text(self) -> Colour {
        COLOURS[self.0 % COLOURS.len()][1]
    }

    /// Returns true past the last colour, where lines are dashed as well.
    pub(super) fn is_dashed(self) -> bool {
        self.0 / COLOURS.len() % 2 == 1
    }

    /// Returns the corners of the mark around the origin, for a mark about as large as a circle of radius `r`.
    pub(super) fn corners(self, r: f64) -> Vec<(f64, f64)> {
        let lower = |corners: Vec<(f64, f64)>, dy: f64| corners.into_iter().map(|(x, y)| (x, y + dy)).collect();
        match self.0 % SHAPES {
            0 => polygon(24, r, 0.0),
            1 => polygon(4, r * 1.27, 45.0),
            2 => lower(polygon(3, r * 1.4, 0.0), r * 0.2),
            3 => polygon(4, r * 1.35, 0.0),
            4 => lower(polygon(3, r * 1.4, 180.0), -r * 0.2),
            5 => polygon(5, r * 1.2, 0.0),
            6 => plus(r * 1.2, r * 0.45),
            7 => {
                let (outer, inner) = (polygon(5, r * 1.5, 0.0), polygon(5, r * 0.68, 36.0));
                outer.into_iter().zip(inner).flat_map(|(out, dent)| [out, dent]).collect()
            }
            _ => {
                let turn =
                    |(x, y)| ((x - y) * std::f64::consts::FRAC_1_SQRT_2, (x + y) * std::f64::consts::FRAC_1_SQRT_2);
                plus(r * 1.25, r * 0.45).into_iter().map(turn).collect()
            }
        }
    }
}

/// Returns a regular polygon with its first corner `turn` degrees clockwise from the top.
fn polygon(corners: u32, radius: f64, turn: f64) -> Vec<(f64, f64)> {
    (0..corners)
        .map(|k| (turn + 360.0 * f64::from(k) / f64::from(corners)).to_radians())
        .map(|angle| (radius * libm::sin(angle), -radius * libm::cos(angle)))
        .collect()
}

/// Returns a plus sign with arms of length `a` and half width `w`.
fn plus(a: f64, w: f64) -> Vec<(f64, f64)> {
    vec![(-w, -a), (w, -a), (w, -w), (a, -w), (a, w), (w, w), (w, a), (-w, a), (-w, w), (-a, w), (-a, -w), (-w, -w)]
}

/// Returns rules that give the colours of embedded pictures to a dark page; other colours are variables of the page.
pub(crate) fn dark_css() -> String {
    let series = COLOURS.into_iter().flat_map(|[light, text, dark]| [(light, dark), (text, dark)]);
    let others =
        [(WHITE, "var(--paper)"), (INK, "var(--ink)"), (SOFT, "var(--soft)"), (AXIS, "#6b747d"), (GRID, "var(--hair)")];
    let rule =
        |(light, dark)| format!(".plot [fill=\"{light}\"]{{fill:{dark}}}.plot [stroke=\"{light}\"]{{stroke:{dark}}}\n");
    series.chain(others).map(rule).collect()
}

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
        let anchor = ["", " text-anchor=\"middle\"", " text-anchor=\"end\""][anchor as usize];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_seventy_two_slots_look_different() {
        let looks: Vec<_> = (0..72).map(SeriesLook).map(|look| (look.colour(), look.corners(9.0))).collect();
        for (k, look) in looks.iter().enumerate() {
            assert!(!looks[..k].contains(look), "slot {k} repeats {look:?}");
        }
    }
}
