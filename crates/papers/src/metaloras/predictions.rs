//! Predicted against actual, job by job.

use super::{Cell, MetaLorasPaper, Policy, Variant};
use lab::chart::{Axis, Chart, Point, Series};
use lab::extra::{Extra, Shown, seen};
use metasched::Outcome;

const QUEUED: &str = "RR, waited in a LoRaS queue";
const STARTED: &str = "RR, started at once";

/// Draws the jobs of one replication under TAT, where all start at once, and under RR, where some wait in LoRaS queues.
pub(super) fn scatter(paper: &MetaLorasPaper) -> Extra<'_, Cell> {
    Extra {
        id: "prediction",
        needs: Vec::new(),
        make: Box::new(move |_, streams| {
            let middle = paper.levels().count() / 2;
            let run = |policy| paper.play(&Cell { variant: Variant::Default, level: middle, policy }, streams).0;
            let points = |outcomes: &[Outcome], wanted: fn(&Outcome) -> bool| -> Vec<Point> {
                let point = |outcome: &Outcome| {
                    let predicted = outcome.predicted?.as_secs_f64();
                    Some(Point::new(predicted, outcome.since_dispatch().as_secs_f64()))
                };
                outcomes.iter().filter(|outcome| wanted(outcome)).filter_map(point).collect()
            };
            let (tat, rr) = (run(Policy::Tat), run(Policy::Rr));
            let series = vec![
                Series::marks("TAT", points(&tat, |_| true)),
                Series::marks(STARTED, points(&rr, |outcome| !outcome.was_queued())),
                Series::marks(QUEUED, points(&rr, |outcome| outcome.was_queued())),
            ];
            let largest =
                series.iter().flat_map(|series| &series.points).map(|point| point.x.min(point.y)).fold(0.0, f64::max);
            let row = |series: &Series, point: &Point| {
                (series.name.clone(), point.x.to_string(), "actual_seconds".to_owned(), seen(point.y))
            };
            let rows =
                series.iter().flat_map(|series| series.points.iter().map(move |point| row(series, point))).collect();
            // With this many points the line is drawn without marks.
            let exact = (0..=100).map(|percent| f64::from(percent) / 100.0 * largest).map(|at| Point::new(at, at));
            let exact = Series::lines("exact", exact.collect());
            let chart = Chart {
                id: "prediction-jobs".to_owned(),
                title: format!("Predicted and actual time to the end, {} % local activity", paper.percent(middle)),
                x: Axis::new("predicted (s)"),
                y: Axis::new("actual (s)"),
                series: series.into_iter().chain([exact]).collect(),
                ..Chart::default()
            };
            let caption = "Each job of the first replication, from dispatch to end; on the line prediction is exact. Above it lie \
                           jobs that later arrivals have slowed down, which no prediction at dispatch can know of."
                .to_owned();
            Shown { pictures: vec![(chart.into(), caption)], rows, ..Shown::default() }
        }),
    }
}
