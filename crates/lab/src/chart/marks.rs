//! Colours and marker shapes. A slot is a colour and a shape, which carry the same information.

use std::fmt;

/// Okabe & Ito's colours, safe for colour-blind readers: on white, and lightened for a dark page.
const COLOURS: [(Rgb, &str); 8] = [
    (Rgb(0x00, 0x72, 0xB2), "#58B0E8"),
    (Rgb(0xD5, 0x5E, 0x00), "#FF8A3D"),
    (Rgb(0x00, 0x9E, 0x73), "#2FC79A"),
    (Rgb(0xB4, 0x58, 0x9A), "#E39CCB"),
    (Rgb(0xC9, 0x85, 0x00), "#F0B83C"),
    (Rgb(0x3A, 0x9B, 0xDC), "#9AD4FA"),
    (Rgb(0x4A, 0x4A, 0x4A), "#C9C9C9"),
    (Rgb(0x9A, 0x8F, 0x00), "#F0E442"),
];

const SHAPES: usize = 9;

/// Colour and shape of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeriesLook(pub(super) usize);

impl SeriesLook {
    /// Returns the colour on white.
    pub(super) fn colour(self) -> Rgb {
        COLOURS[self.0 % COLOURS.len()].0
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl Rgb {
    pub(super) const WHITE: Rgb = Rgb(255, 255, 255);
    pub(super) const INK: Rgb = Rgb(0x22, 0x26, 0x2B);
    pub(super) const SOFT: Rgb = Rgb(0x5B, 0x63, 0x6C);
    pub(super) const AXIS: Rgb = Rgb(0x9A, 0xA1, 0xA9);
    pub(super) const GRID: Rgb = Rgb(0xE6, 0xE9, 0xEC);

    /// Returns the same hue, dark enough to be readable as small text on white.
    pub(super) fn as_text(self) -> Rgb {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than a u8, rounded")]
        let darker = |part: u8| (0.72 * f64::from(part)).round() as u8;
        Rgb(darker(self.0), darker(self.1), darker(self.2))
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(red, green, blue) = self;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}

/// Returns rules that give the colours of embedded pictures to a dark page; other colours are variables of the page.
pub(crate) fn dark_css() -> String {
    let series = COLOURS.iter().flat_map(|(light, dark)| [(*light, *dark), (light.as_text(), *dark)]);
    let others = [
        (Rgb::WHITE, "var(--paper)"),
        (Rgb::INK, "var(--ink)"),
        (Rgb::SOFT, "var(--soft)"),
        (Rgb::AXIS, "#6b747d"),
        (Rgb::GRID, "var(--hair)"),
    ];
    let rule = |(light, dark): (Rgb, &str)| {
        format!(".plot [fill=\"{light}\"]{{fill:{dark}}}.plot [stroke=\"{light}\"]{{stroke:{dark}}}\n")
    };
    series.chain(others).map(rule).collect()
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
