//! Numbers for readers: durations, shares, bar charts of characters.

use lab::chart::fixed;
use lab::units::{count, float};

/// `1 job`, `28,476 jobs`.
pub(super) fn counted(things: u64, what: &str) -> String {
    format!("{} {what}{}", count(things), if things == 1 { "" } else { "s" })
}

/// Whole seconds in the largest unit that needs no rounding: `36 h`, `119 min`, `7,141 s`.
pub(super) fn exact(seconds: u64) -> String {
    const UNITS: [(u64, u64, &str); 3] = [(86_400, 172_800, "days"), (3_600, 3_600, "h"), (60, 60, "min")];
    let is_told = |(length, least, _): &&(u64, u64, &str)| seconds >= *least && (10 * seconds).is_multiple_of(*length);
    let Some((length, _, unit)) = UNITS.iter().find(is_told) else { return format!("{} s", count(seconds)) };
    let (whole, tenth) = (seconds / length, 10 * seconds / length % 10);
    if tenth == 0 { format!("{} {unit}", count(whole)) } else { format!("{}.{tenth} {unit}", count(whole)) }
}

/// A share as a percentage: `12.3 %`, `< 0.1 %`.
pub(super) fn percent(share: f64) -> String {
    let tenths = (1_000.0 * share).round() / 10.0;
    if share > 0.0 && tenths < 0.1 {
        return "< 0.1 %".to_owned();
    }
    format!("{} %", fixed(tenths, if tenths.fract() == 0.0 { 0 } else { 1 }))
}

/// Share of a part in a whole; 0 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

/// Counts as a bar chart: `▁▂▅█`. Zero is a dot on the baseline.
pub(super) fn columns(counts: &[u64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let column = |count: u64| match count {
        0 => '·',
        // The largest count has the full height, the others are in proportion.
        count => HEIGHTS[usize::try_from((8 * u128::from(count)).div_ceil(u128::from(most)) - 1).expect("below eight")],
    };
    counts.iter().copied().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_duration_loses_nothing_and_a_small_share_is_not_zero() {
        let found = [7_140, 7_141, 129_600, 172_800].map(exact);
        assert_eq!(found, ["119 min", "7,141 s", "36 h", "2 days"]);
        assert_eq!([0.0, 0.0001, 0.4999].map(percent), ["0 %", "< 0.1 %", "50 %"]);
    }
}
