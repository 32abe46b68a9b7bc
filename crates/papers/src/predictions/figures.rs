//! The rows as a picture, gains over EASY, and accuracies.

use super::claims::{best_gain_percent, gain_percent};
use super::combination::Combination;
use super::logs::{Log, Workload};
use super::{Cell, Metric, PredictionsPaper};
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

pub(super) fn exhibits(paper: &PredictionsPaper) -> Vec<Exhibit<'_, Cell>> {
    let logs = paper.logs_at_hand();
    [rows(&logs), gains(&logs), accuracy(&logs)].map(Exhibit::Plot).into()
}

#[expect(clippy::cast_precision_loss, reason = "a few positions")]
fn rows(logs: &[Log]) -> Figure<Cell> {
    let series = |metric: Metric| {
        let of_log = |&log: &Log| Series {
            name: log.name().to_owned(),
            points: Combination::all()
                .enumerate()
                .map(|(number, one)| (number as f64, Cell::as_logged(log, one).get(metric)))
                .collect(),
        };
        logs.iter().map(of_log).collect()
    };
    let panel =
        |metric: Metric| Panel { suffix: metric.declared().field, log_y: true, ..Panel::of(metric, series(metric)) };
    Figure::new("combinations", "The rows without learning", "order, predictor and corrector", vec![
            panel(Metric::avgbsld),
            panel(Metric::avgft),
        ])
        .caption("Mean bounded slowdown and mean response over all jobs of each log, by order, predictor and corrector. S: the \
                  shortest prediction first behind the head (EASY-SJBF). t: tsafrir, the mean of the user's last two run times; \
                  behind the stroke, how it is corrected: requested, doubling, tsafrir. data/rows.csv has all metrics in full.")
        .over(&Combination::SHORT)
        .with_table()
}

fn gains(logs: &[Log]) -> Figure<Cell> {
    let x = |log: &Log| f64::from(*log as u8);
    let series = |metric: Metric| {
        let over_logs = |name: &str, point: &dyn Fn(Log) -> Quantity<Cell>| Series {
            name: name.to_owned(),
            points: logs.iter().map(|log| (x(log), point(*log))).collect(),
        };
        let cell = |log, workload| move |combination| Cell { log, workload, combination };
        vec![
            over_logs("EASY++", &|log| {
                gain_percent(cell(log, Workload::Resampled), Combination::EASY_PLUS_PLUS, metric)
            }),
            over_logs("EASY++, plain corrector", &|log| {
                gain_percent(cell(log, Workload::Resampled), Combination::PLAIN, metric)
            }),
            over_logs("best of each workload", &|log| best_gain_percent(cell(log, Workload::Resampled), metric)),
            over_logs("EASY++, on the log itself", &|log| {
                gain_percent(cell(log, Workload::AsLogged), Combination::EASY_PLUS_PLUS, metric)
            }),
        ]
    };
    let panel = |metric: Metric, name, y_label| Panel {
        suffix: metric.declared().field,
        signed: true,
        ..Panel::derived(name, y_label, series(metric))
    };
    Figure::new("gains", "Gain of predictions over EASY", "log", vec![
            panel(Metric::avgbsld, "avgbsld_gain_percent", "lower mean bounded slowdown (%)"),
            panel(Metric::avgft, "avgft_gain_percent", "lower mean response (%)"),
        ])
        .caption("How much lower than EASY's, in percent of it, paired over resampled workloads (A4, R3); below zero, predictions \
                  make it worse. Best of each workload: of all orders, predictors and correctors that predict something else \
                  than the request and are not clairvoyant; it is chosen again for each workload, so chance alone raises it.")
        .over(&Log::NAMES)
        .with_table()
}

fn accuracy(logs: &[Log]) -> Figure<Cell> {
    let series = |name: &str, metric: Metric| Series {
        name: name.to_owned(),
        points: logs
            .iter()
            .map(|log| (f64::from(*log as u8), Cell::as_logged(*log, Combination::EASY_PLUS_PLUS).get(metric)))
            .collect(),
    };
    Figure::new(
        "accuracy",
        "Accuracy of predictions",
        "log",
        vec![
            Panel {
                suffix: "accuracy",
                y_label: "accuracy (1: exact)",
                ..Panel::of(
                    Metric::accuracy,
                    vec![series("tsafrir", Metric::accuracy), series("requested", Metric::request_accuracy)],
                )
            },
            Panel {
                suffix: "expired",
                ..Panel::of(Metric::expired_percent, vec![series("tsafrir", Metric::expired_percent)])
            },
        ],
    )
    .caption(
        "Mean of min(p, r) / max(p, r) over all jobs of the log, p what is expected at the submission and r the run \
                  time; and how many predictions of EASY++ expire.",
    )
    .over(&Log::NAMES)
    .with_table()
}
