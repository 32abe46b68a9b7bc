//! Where each policy is better or worse than the baseline, log by log and setting by setting: [`heatmap`].

use super::measure::{BETTER, Metric, WORSE, better};
use super::results::{At, Results};
use lab::chart::{Sketch, SketchBox, Words, fixed};
use lab::shown::{DataRow, Shown};
use lab::terminal::csv_name;
use metrics::ConfidenceInterval;

/// Rows at most: more are not looked at, and the data hold them.
const MOST_ROWS: usize = 60;

/// What a row tells of its setting takes so much of the width, in CSS pixels.
const LEFT: f64 = 210.0;

/// Above the first row: the title and the names of policies.
const TOP: f64 = 96.0;

/// From one row to the next.
const ROW: f64 = 26.0;

/// A row for each place, which is a log under a setting, and a column for each policy but the baseline: the paired difference of
/// `metric` in percent of the baseline's, with the colour of what its interval says.
pub(super) fn heatmap(results: &Results<'_>, metric: Metric) -> Shown {
    let design = results.design;
    let base = design.policies[design.baseline].name();
    let policies: Vec<usize> = (0..design.policies.len()).filter(|policy| *policy != design.baseline).collect();
    let column = (540.0 / count(policies.len())).clamp(104.0, 150.0);
    let centre = |position: usize| LEFT + column * (count(position) + 0.5);
    let mut rows: Vec<DataRow> = Vec::new();
    let mut sketch = Sketch {
        id: format!("heatmap-{metric}"),
        title: format!("{metric}: difference to {base}, in percent of it"),
        about: format!("logs and settings by policies: {metric} relative to {base}, with the paired 95 % interval"),
        ..Sketch::default()
    };
    for (position, policy) in policies.iter().enumerate() {
        let lines = folded(design.policies[*policy].name(), letters(column));
        let first = TOP - 12.0 - 13.0 * count(lines.len() - 1);
        sketch.words.extend((0..).zip(lines).map(|(line, text)| {
            let y = first + 13.0 * f64::from(line);
            Words { at: (centre(position) - column / 2.0 + 4.0, y), text, size: 11.0, slot: None }
        }));
    }
    let mut y = TOP;
    let places: Vec<At> = results.places().collect();
    for (row, at) in places.iter().enumerate() {
        let is_drawn = row < MOST_ROWS;
        let log = &design.logs[at.log].name;
        let setting = design.in_words(&results.settings[at.setting]);
        if is_drawn && !setting.is_empty() && (row == 0 || places[row - 1].log != at.log) {
            sketch.words.push(Words { at: (14.0, y + 18.0), text: log.clone(), size: 12.0, slot: None });
            y += ROW;
        }
        if is_drawn {
            let (x, text) = if setting.is_empty() { (14.0, log.clone()) } else { (26.0, setting) };
            sketch.words.push(Words { at: (x, y + ROW / 2.0 + 4.0), text, size: 11.0, slot: None });
        }
        let mut heads = vec![log.clone()];
        heads.extend(design.texts(&results.settings[at.setting]));
        for (position, policy) in policies.iter().enumerate() {
            let Some(percent) = results.percent(*at, *policy, design.baseline, metric) else { continue };
            // The name of a log is its user's.
            let x = csv_name(&heads.join(" / ")).into_owned();
            rows.push((design.policies[*policy].name().to_owned(), x, metric.to_string(), percent));
            if is_drawn {
                sketch.boxes.push(cell(metric, &percent, (centre(position), y + ROW / 2.0), column - 3.0));
            }
        }
        if is_drawn {
            y += ROW;
        }
    }
    sketch.size = Some((LEFT + column * count(policies.len()) + 14.0, y + 14.0));
    let more = if places.len() > MOST_ROWS {
        format!(" The first {MOST_ROWS} of {} rows; the data hold all.", places.len())
    } else {
        String::new()
    };
    let caption = format!(
        "Paired differences to {base}, replication by replication, with 95 % intervals. Blue: better; orange: worse; grey: the interval \
         covers zero, so nothing can be said.{more}"
    );
    Shown::picture(sketch, caption, rows)
}

/// One cell: by how much, give or take, and the colour of what that says.
fn cell(metric: Metric, percent: &ConfidenceInterval, centre: (f64, f64), width: f64) -> SketchBox {
    let slot = better(metric, percent).map(|is_better| if is_better { BETTER } else { WORSE });
    let mean = signed(percent.mean);
    let line = match percent.half_width() {
        Some(half) => format!("{mean} ± {} %", short(half)),
        None => format!("{mean} %, one run"),
    };
    SketchBox { centre, size: (width, ROW - 3.0), lines: vec![line], slot }
}

/// A percentage of at most four characters.
fn short(value: f64) -> String {
    if value.abs() >= 9.95 { fixed(value, 0) } else { fixed(value, 1) }
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", short(value)) } else { short(value) }
}

/// The name of a policy in at most three lines, broken before a `+`.
fn folded(name: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive('+') {
        let line = lines.last_mut().expect("there is one at least");
        if !line.is_empty() && line.chars().count() + part.chars().count() > letters {
            lines.push(part.to_owned());
        } else {
            line.push_str(part);
        }
    }
    if lines.len() > 3 {
        lines.truncate(3);
        lines[2].push('…');
    }
    lines
}

/// How many letters of a head stand beside each other in a column.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "letters in a column")]
fn letters(column: f64) -> usize {
    (column / 6.2) as usize
}

#[expect(clippy::cast_precision_loss, reason = "numbers of things")]
const fn count(things: usize) -> f64 {
    things as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_policy_is_broken_where_it_is_put_together() {
        assert_eq!(folded("easy+backfill=spf", 17), ["easy+backfill=spf"]);
        assert_eq!(folded("easy+order=wfp3+backfill=spf", 17), ["easy+order=wfp3+", "backfill=spf"]);
        assert_eq!(folded("a+b+c+d", 2), ["a+", "b+", "c+…"]);
    }

    #[test]
    fn percentages_are_short_and_signed() {
        assert_eq!([signed(0.04), signed(-6.24), signed(39.6), signed(-100.4)], ["+0.0", "−6.2", "+40", "−100"]);
    }
}
