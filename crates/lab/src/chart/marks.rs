//! Colours and marker shapes. A slot is a colour and a shape, which carry the same information.

/// A colour, as CSS writes it.
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
