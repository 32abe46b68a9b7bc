//! The pictures of an experiment, each with its data.

use super::design::{Design, Key, Setting, Value};
use super::drawn_figure::{BETTER, Data, DrawnFigure, WORSE, better};
use super::heatmap::heatmap;
use super::measure::{Metric, OF_CLASSES, WAITS, waits};
use super::plan::Plan;
use super::results::{At, Results};
use anyhow::Result;
use lab::chart::{Axis, Chart, Point, Series};
use metrics::{ConfidenceInterval, JobClass};

/// Every picture, in the order of the page.
pub(super) fn figures(results: &Results<'_>, plan: &Plan) -> Result<Vec<DrawnFigure>> {
    let design = results.design;
    let mut all = Vec::new();
    for metric in &design.metrics {
        all.push(heatmap(results, *metric)?);
    }
    all.push(ranks(results)?);
    if let Some(key) = numeric(design) {
        for metric in &design.metrics {
            for log in 0..design.logs.len() {
                all.extend(over(results, key, *metric, log)?);
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

fn ranks(results: &Results<'_>) -> Result<DrawnFigure> {
    let design = results.design;
    let mut data = Data::new()?;
    let mut series: Vec<Series> = Vec::new();
    let policies = count(design.policies.len());
    for (policy, named) in design.policies.iter().enumerate() {
        let mut points = Vec::new();
        for (position, metric) in design.metrics.iter().enumerate() {
            let Some(rank) = &results.overall_rank(policy, *metric) else { continue };
            data.add("ranks", &named.name, metric.name(), "rank", rank)?;
            // Side by side, so that intervals can be told apart.
            let x = count(position) + 0.5 * ((count(policy) + 0.5) / policies - 0.5);
            points.push(point(x, rank));
        }
        series.push(Series::marks(&named.name, points));
    }
    let ticks = design.metrics.iter().enumerate().map(|(position, metric)| (count(position), metric.to_string()));
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
fn over(results: &Results<'_>, key: Key, metric: Metric, log: usize) -> Result<Vec<DrawnFigure>> {
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
                data.add(&id, &named.name, &x.to_string(), metric.name(), &mean)?;
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
            y: Axis::new(metric.name()),
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
            let difference = results.difference(at, *policy, design.baseline, *metric);
            difference.is_some_and(|difference| better(*metric, &difference).is_some())
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
            let Some(mean) = results.mean(at, *policy, Metric::of(metric)) else { continue };
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
            let Some(percent) = results.percent(at, *policy, design.baseline, Metric::of(slowdown)) else { continue };
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
    let percent = results
        .mean(At { log, setting: 0 }, design.baseline, Metric::of("left_out_percent"))
        .map_or(0.0, |mean| mean.mean);
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
