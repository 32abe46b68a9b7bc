//! The rows as a picture, gains over EASY, and accuracies.

use super::claims::{best_gain_percent, gain_percent};
use super::combination::Combination;
use super::logs::{Log, Workload};
use super::{Cell, PredictionsPaper};
use lab::paper::{Figure, Panel, Series};
use lab::quantity::Quantity;

pub(super) fn figures(paper: &PredictionsPaper) -> Vec<Figure<Cell>> {
    let logs = paper.logs_at_hand();
    vec![rows(&logs), gains(&logs), accuracy(&logs)]
}

fn panel(
    suffix: &'static str,
    metric: &'static str,
    y_label: &'static str,
    log_y: bool,
    series: Vec<Series<Cell>>,
) -> Panel<Cell> {
    Panel { suffix, metric, y_label, log_y, series, printed: Vec::new() }
}

#[expect(clippy::cast_precision_loss, reason = "a few positions")]
fn rows(logs: &[Log]) -> Figure<Cell> {
    let series = |metric: &'static str| {
        let of_log = |&log: &Log| Series {
            name: log.name().to_owned(),
            points: Combination::ALL
                .into_iter()
                .enumerate()
                .map(|(number, one)| (number as f64, Cell::as_logged(log, one).get(metric)))
                .collect(),
        };
        logs.iter().map(of_log).collect()
    };
    Figure {
        id: "combinations",
        title: "The rows without learning".to_owned(),
        caption: "Mean bounded slowdown and mean response over all jobs of each log, by order, predictor and corrector. S: the \
                  shortest prediction first behind the head (EASY-SJBF). t: tsafrir, the mean of the user's last two run times; \
                  behind the stroke, how it is corrected: requested, doubling, tsafrir. data/rows.csv has all metrics in full."
            .to_owned(),
        x_label: "order, predictor and corrector",
        log_x: false,
        panels: vec![
            panel("avgbsld", "avgbsld", "mean bounded slowdown", true, series("avgbsld")),
            panel("avgft", "avgft", "mean response (s)", true, series("avgft")),
        ],
        as_table: true,
    }
}

fn gains(logs: &[Log]) -> Figure<Cell> {
    let x = |log: &Log| f64::from(*log as u8);
    let series = |metric: &'static str| {
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
    Figure {
        id: "gains",
        title: "What predictions gain over EASY".to_owned(),
        caption: "How much lower than EASY's, in percent of it, paired over resampled workloads (A4, R3); below zero, predictions \
                  make it worse. Best of each workload: of all orders, predictors and correctors that predict something else \
                  than the request and are not clairvoyant."
            .to_owned(),
        x_label: "log",
        log_x: false,
        panels: vec![
            panel("avgbsld", "avgbsld_gain_percent", "lower mean bounded slowdown (%)", false, series("avgbsld")),
            panel("avgft", "avgft_gain_percent", "lower mean response (%)", false, series("avgft")),
        ],
        as_table: true,
    }
}

fn accuracy(logs: &[Log]) -> Figure<Cell> {
    let series = |name: &str, metric: &'static str| Series {
        name: name.to_owned(),
        points: logs
            .iter()
            .map(|log| (f64::from(*log as u8), Cell::as_logged(*log, Combination::EASY_PLUS_PLUS).get(metric)))
            .collect(),
    };
    Figure {
        id: "accuracy",
        title: "How right predictions are".to_owned(),
        caption: "Mean of min(p, r) / max(p, r) over all jobs of the log, p what is expected at the submission and r the run \
                  time; and how many predictions of EASY++ expire."
            .to_owned(),
        x_label: "log",
        log_x: false,
        panels: vec![
            panel(
                "accuracy",
                "accuracy",
                "accuracy (1: exact)",
                false,
                vec![series("tsafrir", "accuracy"), series("requested", "request_accuracy")],
            ),
            panel(
                "expired",
                "expired_percent",
                "jobs that outlive their prediction (%)",
                false,
                vec![series("tsafrir", "expired_percent")],
            ),
        ],
        as_table: true,
    }
}
