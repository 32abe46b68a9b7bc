//! The pictures of an experiment, each with its data.

use super::design::{Design, Key, Setting, Value};
use super::measure::{OF_CLASSES, WAITS, is_better_high, waits};
use super::plan::Plan;
use super::results::{At, Results};
use anyhow::Result;
use lab::chart::{Axis, Chart, Picture, Point, Series, Sketch, SketchBox, Words, fixed};
use metrics::{ConfidenceInterval, JobClass};

/// A picture, what to see in it, and its data in the tidy form.
pub(super) struct DrawnFigure {
    pub(super) picture: Picture,
    pub(super) caption: String,
    pub(super) data: Vec<u8>,
}

/// Columns of a heatmap, at most: more cannot be read.
const WIDEST: usize = 24;

/// Every picture, in the order of the page.
pub(super) fn figures(results: &Results<'_>, plan: &Plan) -> Result<Vec<DrawnFigure>> {
    let design = results.design;
    let mut all = Vec::new();
    for metric in &design.metrics {
        all.push(heatmap(results, metric)?);
    }
    all.push(ranks(results)?);
    if let Some(key) = numeric(design) {
        for metric in &design.metrics {
            for log in 0..design.logs.len() {
                all.extend(over(results, key, metric, log)?);
            }
        }
    }
    for log in 0..design.logs.len() {
        all.extend(distribution(results, log)?);
        all.extend(classes(results, log)?);
    }
    if design.window.cuts() {
        for log in 0..design.logs.len() {
            all.push(warm_up(results, plan, log)?);
        }
    }
    Ok(all)
}

/// Rows of a picture's data.
struct Data(csv::Writer<Vec<u8>>);

impl Data {
    fn new() -> Result<Self> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"])?;
        Ok(Self(table))
    }

    fn add(&mut self, figure: &str, series: &str, x: &str, metric: &str, estimate: &ConfidenceInterval) -> Result<()> {
        let number =
            |value: Option<f64>| value.filter(|value| value.is_finite()).map_or_else(String::new, |v| v.to_string());
        let mean = number(Some(estimate.mean));
        let (low, high) = (number(estimate.low), number(estimate.high));
        let series = lab::terminal::csv_name(series);
        let x = lab::terminal::csv_name(x);
        let reps = estimate.replications.to_string();
        Ok(self.0.write_record([figure, &series, &x, metric, &mean, &low, &high, &reps])?)
    }

    fn finish(self) -> Result<Vec<u8>> {
        Ok(self.0.into_inner()?)
    }
}

/// What the paired interval says of a policy: better than the baseline, worse, or neither.
pub(super) fn better(metric: &str, difference: &ConfidenceInterval) -> Option<bool> {
    let is_high = is_better_high(metric);
    if difference.lies_above(0.0) {
        Some(is_high)
    } else if difference.lies_below(0.0) {
        Some(!is_high)
    } else {
        None
    }
}

/// Where the cells of a heatmap begin, and how high they are, in CSS pixels.
const LEFT: f64 = 170.0;
const TOP: f64 = 112.0;
const ROW: f64 = 40.0;

fn heatmap(results: &Results<'_>, metric: &str) -> Result<DrawnFigure> {
    let design = results.design;
    let id = format!("heatmap-{metric}");
    let mut data = Data::new()?;
    let places: Vec<At> = results.places().collect();
    let shown = places.len().min(WIDEST);
    let column = (990.0 / count(shown)).clamp(74.0, 130.0);
    let rows: Vec<usize> = (0..design.policies.len()).filter(|policy| *policy != design.baseline).collect();
    let base = &design.policies[design.baseline].name;
    let mut sketch = Sketch {
        id: id.clone(),
        title: format!("{metric}: difference to {base}, in percent of it"),
        about: format!("policies by logs and settings: {metric} relative to {base}, with the paired 95 % interval"),
        size: Some((LEFT + column * count(shown) + 20.0, TOP + ROW * count(rows.len()) + 24.0)),
        ..Sketch::default()
    };
    for (row, policy) in rows.iter().enumerate() {
        let text = design.policies[*policy].name.clone();
        sketch.words.push(Words { at: (14.0, TOP + ROW * (count(row) + 0.5) + 4.0), text, size: 11.0, slot: None });
    }
    for (position, at) in places.iter().enumerate() {
        let x = LEFT + column * (count(position) + 0.5);
        let mut heads = vec![design.logs[at.log].name.clone()];
        heads.extend(design.texts(&results.settings[at.setting]));
        if position < shown {
            sketch.words.extend(head_of_column(design, &heads, x - column / 2.0 + 3.0, column));
        }
        for (row, policy) in rows.iter().enumerate() {
            let Some(percent) = results.percent(*at, *policy, design.baseline, metric) else { continue };
            data.add(&id, &design.policies[*policy].name, &heads.join(" / "), metric, &percent)?;
            if position < shown {
                let centre = (x, TOP + ROW * (count(row) + 0.5));
                sketch.boxes.push(cell(metric, &percent, centre, column - 3.0));
            }
        }
    }
    let more = if places.len() > shown {
        format!(" The first {shown} of {} columns; the data hold all.", places.len())
    } else {
        String::new()
    };
    Ok(DrawnFigure {
        picture: sketch.into(),
        caption: format!(
            "Paired differences to {base}, replication by replication, with 95 % intervals. Blue: better; orange: worse; grey: the \
             interval covers zero, so nothing can be said.{more}"
        ),
        data: data.finish()?,
    })
}

/// The log of a column and its values, a line each, as far as there is room.
fn head_of_column(design: &Design, heads: &[String], x: f64, width: f64) -> Vec<Words> {
    let named = design.vary.iter().map(|dimension| format!("{} ", dimension.key.name()));
    let lines = std::iter::once(String::new()).chain(named).zip(heads).enumerate().take(4);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "letters in a column")]
    let letters = (width / 5.4) as usize;
    lines
        .map(|(line, (name, head))| {
            let text: String = format!("{name}{head}").chars().take(letters).collect();
            Words { at: (x, 62.0 + 14.0 * count(line)), text, size: 10.0, slot: None }
        })
        .collect()
}

/// One cell: by how much, give or take, and the colour of what that says.
fn cell(metric: &str, percent: &ConfidenceInterval, centre: (f64, f64), width: f64) -> SketchBox {
    let slot = better(metric, percent).map(|is_better| if is_better { BETTER } else { WORSE });
    let half = percent.half_width().map_or_else(|| "one run".to_owned(), |half| format!("± {}", short(half)));
    SketchBox { centre, size: (width, ROW - 3.0), lines: vec![format!("{} %", signed(percent.mean)), half], slot }
}

/// Colours of the charts: blue and vermilion, told apart by those who see no red.
const BETTER: usize = 0;
const WORSE: usize = 1;

/// A percentage of at most four characters.
fn short(value: f64) -> String {
    if value.abs() >= 9.95 { fixed(value, 0) } else { fixed(value, 1) }
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", short(value)) } else { short(value) }
}

fn ranks(results: &Results<'_>) -> Result<DrawnFigure> {
    let design = results.design;
    let mut data = Data::new()?;
    let mut series: Vec<Series> = Vec::new();
    let policies = count(design.policies.len());
    for (policy, named) in design.policies.iter().enumerate() {
        let mut points = Vec::new();
        for (position, metric) in design.metrics.iter().enumerate() {
            let Some(ranks) = results.overall_ranks(metric) else { continue };
            let rank = &ranks[policy];
            data.add("ranks", &named.name, metric, "rank", rank)?;
            // Side by side, so that intervals can be told apart.
            let x = count(position) + 0.5 * ((count(policy) + 0.5) / policies - 0.5);
            points.push(point(x, rank));
        }
        series.push(Series::marks(&named.name, points));
    }
    let ticks = design.metrics.iter().enumerate().map(|(position, metric)| (count(position), metric.clone()));
    let chart = Chart {
        id: "ranks".to_owned(),
        title: "Mean rank over all logs and settings, 1 is best".to_owned(),
        x: Axis::new("metric").with_ticks(ticks.collect()),
        y: Axis::new("mean rank"),
        series,
        ..Chart::default()
    };
    Ok(DrawnFigure {
        picture: chart.into(),
        caption: "Policies are ranked in each replication on common jobs; equal ones share the mean of their ranks. Ranks do not \
                  say by how much."
            .to_owned(),
        data: data.finish()?,
    })
}

/// The dimension that a picture can have on its x axis.
fn numeric(design: &Design) -> Option<Key> {
    let long = |key: &Key| design.vary.iter().any(|dimension| dimension.key == *key && dimension.values.len() > 1);
    [Key::Load, Key::Users, Key::Procs].into_iter().find(long)
}

/// Means over the values of `key`, one picture for each combination of the others.
fn over(results: &Results<'_>, key: Key, metric: &str, log: usize) -> Result<Vec<DrawnFigure>> {
    let design = results.design;
    let column = design.vary.iter().position(|dimension| dimension.key == key).expect("it is varied");
    let is_first = |setting: &&Setting| setting.0[column] == 0;
    let mut all = Vec::new();
    for first in results.settings.iter().filter(is_first) {
        let others = design.vary.iter().zip(design.texts(first)).enumerate().filter(|(at, _)| *at != column);
        let others: Vec<String> =
            others.map(|(_, (dimension, text))| format!("{} {text}", dimension.key.name())).collect();
        let id = legal(&format!("{metric}-{}-{}", design.logs[log].name, others.join("-")));
        let mut data = Data::new()?;
        let mut series = Vec::new();
        for (policy, named) in design.policies.iter().enumerate() {
            let mut points = Vec::new();
            for (setting, other) in results.settings.iter().enumerate() {
                let differs = |at: usize| at != column && other.0[at] != first.0[at];
                if (0..other.0.len()).any(differs) {
                    continue;
                }
                let Some(mean) = results.mean(At { log, setting }, policy, metric) else { continue };
                let x = match design.value(other, key) {
                    Some(Value::Number(number)) => number,
                    Some(Value::Procs(procs)) => f64::from(procs),
                    _ => continue,
                };
                data.add(&id, &named.name, &x.to_string(), metric, &mean)?;
                points.push(point(x, &mean));
            }
            series.push(Series::lines(&named.name, points));
        }
        let label = match key {
            Key::Load => "load, relative to the log's own",
            Key::Users => "users, relative to the log's own",
            Key::Procs | Key::Estimates => "processors",
        };
        let under = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        let chart = Chart {
            id,
            title: format!("{metric} on {}{under}", design.logs[log].name),
            x: Axis::new(label),
            y: Axis::new(metric),
            series,
            ..Chart::default()
        };
        all.push(DrawnFigure {
            picture: chart.into(),
            caption: "Means over replications, with 95 % intervals. Policies are compared by paired differences, not by whether \
                      these intervals touch."
                .to_owned(),
            data: data.finish()?,
        });
    }
    Ok(all)
}

/// Policies whose first metric differs from the baseline's under the first setting, and the baseline.
fn pairs_that_differ(results: &Results<'_>, at: At) -> Vec<usize> {
    let design = results.design;
    let differs = |policy: &usize| {
        design.metrics.iter().any(|metric| {
            let difference = results.difference(at, *policy, design.baseline, metric);
            difference.is_some_and(|difference| better(metric, &difference).is_some())
        })
    };
    (0..design.policies.len()).filter(|policy| *policy == design.baseline || differs(policy)).collect()
}

fn distribution(results: &Results<'_>, log: usize) -> Result<Option<DrawnFigure>> {
    let design = results.design;
    let at = At { log, setting: 0 };
    let shown = pairs_that_differ(results, at);
    let id = legal(&format!("waits-{}", design.logs[log].name));
    let mut data = Data::new()?;
    let mut series = Vec::new();
    for policy in &shown {
        let mut points = Vec::new();
        for (metric, share) in WAITS {
            let Some(mean) = results.mean(at, *policy, metric) else { continue };
            data.add(&id, &design.policies[*policy].name, &share.to_string(), metric, &mean)?;
            points.push(point(share, &mean));
        }
        series.push(Series::lines(&design.policies[*policy].name, points).in_slot(*policy));
    }
    if shown.len() < 2 || series.iter().all(|one| one.points.is_empty()) {
        return Ok(None);
    }
    let chart = Chart {
        id,
        title: format!("Waits on {}{}", design.logs[log].name, under(results, 0)),
        x: Axis::new("share of the jobs (%)"),
        y: Axis::new("wait below (s)"),
        series,
        ..Chart::default()
    };
    Ok(Some(DrawnFigure {
        picture: chart.into(),
        caption: "The distribution of waits, as quantiles averaged over replications: so many percent of the jobs wait less. Shown \
                  are the baseline and the policies that differ from it under some metric."
            .to_owned(),
        data: data.finish()?,
    }))
}

fn classes(results: &Results<'_>, log: usize) -> Result<Option<DrawnFigure>> {
    let design = results.design;
    let at = At { log, setting: 0 };
    let shown: Vec<usize> =
        pairs_that_differ(results, at).into_iter().filter(|policy| *policy != design.baseline).collect();
    let id = legal(&format!("classes-{}", design.logs[log].name));
    let mut data = Data::new()?;
    let mut series = Vec::new();
    for (place, policy) in shown.iter().enumerate() {
        let mut points = Vec::new();
        for (position, (class, [_, slowdown])) in JobClass::ALL.into_iter().zip(OF_CLASSES).enumerate() {
            let Some(percent) = results.percent(at, *policy, design.baseline, slowdown) else { continue };
            data.add(&id, &design.policies[*policy].name, class.name(), slowdown, &percent)?;
            let x = count(position) + 0.5 * ((count(place) + 0.5) / count(shown.len()) - 0.5);
            points.push(point(x, &percent));
        }
        series.push(Series::marks(&design.policies[*policy].name, points).in_slot(*policy));
    }
    if series.iter().all(|one| one.points.is_empty()) {
        return Ok(None);
    }
    let ticks = JobClass::ALL.map(|class| (count(class as usize), class.name().to_owned()));
    let base = &design.policies[design.baseline].name;
    let chart = Chart {
        id,
        title: format!("Who gains and who loses on {}{}", design.logs[log].name, under(results, 0)),
        x: Axis::new("jobs").with_ticks(ticks.to_vec()),
        y: Axis { signed: true, ..Axis::new(format!("bounded slowdown, difference to {base} (% of it)")) },
        series,
        ..Chart::default()
    };
    Ok(Some(DrawnFigure {
        picture: chart.into(),
        caption:
            "Short jobs run for an hour at most, narrow ones on eight processors at most (Srinivasan et al. 2002)."
                .to_owned(),
        data: data.finish()?,
    }))
}

/// Waits under the baseline in the first replication, in order of submission, and where the count begins.
fn warm_up(results: &Results<'_>, plan: &Plan, log: usize) -> Result<DrawnFigure> {
    const POINTS: usize = 120;
    let design = results.design;
    let held = &plan.held[log];
    let base = held.replication(design, 1.0, 0);
    let told = held.told(&base, &design.logs[log], design, &results.settings[0], 0);
    let policy = design.policies[design.baseline].held;
    let placements = policy.replay(&told.machines, &told.jobs, &told.numbers, told.estimates, design.seed)?;
    let (from, to) = design.window.of(&told.jobs, &placements);
    let waits = waits(&told.jobs, &placements);
    let batch = waits.len().div_ceil(POINTS).max(1);
    let id = legal(&format!("warm-up-{}", design.logs[log].name));
    let mut data = Data::new()?;
    let mut parts: [Vec<Point>; 2] = [Vec::new(), Vec::new()];
    for (position, chunk) in waits.chunks(batch).enumerate() {
        let mean = chunk.iter().sum::<f64>() / count(chunk.len());
        let submit = told.jobs[(position * batch).min(told.jobs.len() - 1)].submit;
        let days = submit.as_secs_f64() / 86_400.0;
        let counts = submit >= from && submit <= to;
        let name = ["left out", "counted"][usize::from(counts)];
        data.add(&id, name, &days.to_string(), "wait", &ConfidenceInterval::of(&[mean]))?;
        parts[usize::from(counts)].push(Point::new(days, mean));
    }
    let [left_out, counted] = parts;
    let chart = Chart {
        id,
        title: format!("What is left out of {}", design.logs[log].name),
        x: Axis::new("submission (days)"),
        y: Axis::new("mean wait of successive jobs (s)"),
        series: vec![
            Series::marks("left out", left_out).in_slot(WORSE),
            Series::marks("counted", counted).in_slot(BETTER),
        ],
        ..Chart::default()
    };
    let percent =
        results.mean(At { log, setting: 0 }, design.baseline, "left_out_percent").map_or(0.0, |mean| mean.mean);
    let name = &design.policies[design.baseline].name;
    Ok(DrawnFigure {
        picture: chart.into(),
        caption: format!(
            "The first replication under {name}. Over all replications {percent:.1} % of the jobs are left out; the same ones for \
             every policy."
        ),
        data: data.finish()?,
    })
}

fn under(results: &Results<'_>, setting: usize) -> String {
    let words = results.design.in_words(&results.settings[setting]);
    if words.is_empty() { words } else { format!(" ({words})") }
}

fn point(x: f64, estimate: &ConfidenceInterval) -> Point {
    let reps = u32::try_from(estimate.replications).unwrap_or(u32::MAX);
    let point = Point::new(x, estimate.mean).over(reps);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => point.within(low, high),
        _ => point,
    }
}

/// The name of a file on every system.
fn legal(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-_.=+".contains(letter) { letter } else { '-' };
    text.trim_end_matches('-').chars().map(plain).collect()
}

#[expect(clippy::cast_precision_loss, reason = "places in a picture")]
const fn count(things: usize) -> f64 {
    things as f64
}
