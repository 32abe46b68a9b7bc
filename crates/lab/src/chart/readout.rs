//! The numbers of a chart for the crosshair of the page.

use super::draw::{Line, Plot};
use super::scale::{Scale, has_place};
use super::{Axis, Chart, LineStyle, Picture, Series};
use serde_json::{Value, json};

/// Returns the values of all series by x and their formats; `None` for a picture whose marks have tooltips of their own.
pub(crate) fn readout(picture: &Picture) -> Option<Value> {
    let Picture::Chart(chart) = picture else { return None };
    let plot = Plot::of(chart);
    let series = plot.lines.iter().map(|line| {
        let Line { series, look, group, is_printed, .. } = line;
        let style = format!("{:?}", if *is_printed { LineStyle::MarksOnly } else { series.style });
        let (colour, points, joined) = (look.colour(), points(chart, series), plot.is_dense && !is_printed);
        json!({ "name": line.name(), "group": group, "style": style, "colour": colour, "joined": joined, "points": points })
    });
    Some(json!({
        "x": axis(&chart.x, &plot.x),
        "y": axis(&chart.y, &plot.y),
        "levels": chart.has(LineStyle::Steps),
        "of": chart.counted(),
        "series": series.collect::<Vec<_>>(),
    }))
}

/// Returns the small print under a chart; empty for another picture.
pub(crate) fn note(picture: &Picture) -> String {
    if let Picture::Chart(chart) = picture { Plot::of(chart).note() } else { String::new() }
}

/// Returns x, y, the ends of the interval and the number of replications of each point; missing values at the end are left out.
fn points(chart: &Chart, series: &Series) -> Vec<Vec<Value>> {
    let is_level = series.style == LineStyle::Steps;
    let there = series.points.iter().filter(|point| has_place(point, chart) || (is_level && point.y.is_finite()));
    let point = there.map(|point| {
        let (low, high) = point.interval.unzip();
        let values = [Some(point.x), Some(point.y), low, high];
        let mut all: Vec<Value> = values.into_iter().map(|value| value.map_or(Value::Null, seven)).collect();
        all.push(point.reps.into());
        while all.last().is_some_and(Value::is_null) {
            all.pop();
        }
        all
    });
    point.collect()
}

/// Rounds to seven digits, more than a reader needs.
fn seven(value: f64) -> Value {
    let short: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    if short.fract().abs() <= 0.0 && short.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range")]
        return (short as i64).into();
    }
    short.into()
}

fn axis(axis: &Axis, scale: &Scale) -> Value {
    let names = if scale.exact { scale.ticks.as_slice() } else { &[] };
    json!({
        "label": axis.label,
        // As it stands behind a number, with a leading space.
        "unit": axis.unit(),
        "spans": axis.spans,
        "start": axis.start,
        "log": scale.log,
        "low": scale.low,
        "high": scale.high,
        "names": names,
    })
}
