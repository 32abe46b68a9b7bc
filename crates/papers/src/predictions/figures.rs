//! The rows as a picture, gains over EASY, and accuracies.

use super::claims::{best_gain_percent, gain_percent};
use super::combination::Combination;
use super::logs::Log;
use super::{Cell, Metric};
use lab::paper::{Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

pub(super) fn rows(logs: &[Log]) -> Figure<Cell> {
    let panel = |metric: Metric| {
        let of_log = |&log: &Log| {
            Series::at_positions(log.name(), Combination::all().map(|one| Cell::as_logged(log, one).get(metric)))
        };
        Panel::of(metric, logs.iter().map(of_log).collect()).suffix(metric.declared().field).log_y()
    };
    let panels = [Metric::avgbsld, Metric::avgft].map(panel);
    Figure::new("combinations", "The rows without learning", "order, predictor and corrector", panels)
        .caption("Mean bounded slowdown and mean response over all jobs of each log, by order, predictor and corrector. S: the \
                  shortest prediction first behind the head (EASY-SJBF). t: tsafrir, the mean of the user's last two run times; \
                  behind the stroke, how it is corrected: requested, doubling, tsafrir. data/rows.csv has all metrics in full.")
        .over(&Combination::SHORT)
        .with_table()
}

/// Returns a series over the logs, each at its position.
fn over_logs(name: &str, logs: &[Log], point: impl Fn(Log) -> Quantity<Cell>) -> Series<Cell> {
    Series::new(name, logs.iter().map(|log| (f64::from(*log as u8), point(*log))))
}

pub(super) fn gains(logs: &[Log]) -> Figure<Cell> {
    let panel = |metric: Metric, name: &str, y_label: &str| {
        let series = |name: &str, cell: fn(Log, Combination) -> Cell, one: Combination| {
            over_logs(name, logs, |log| gain_percent(|other| cell(log, other), one, metric))
        };
        let best = |log| best_gain_percent(|other| Cell::resampled(log, other), metric);
        let series = [
            series("EASY++", Cell::resampled, Combination::EASY_PLUS_PLUS),
            series("EASY++, plain corrector", Cell::resampled, Combination::PLAIN),
            over_logs("best of each workload", logs, best),
            series("EASY++, on the log itself", Cell::as_logged, Combination::EASY_PLUS_PLUS),
        ];
        Panel::derived(name, y_label, series).suffix(metric.declared().field).signed()
    };
    let panels = [
        panel(Metric::avgbsld, "avgbsld_gain_percent", "lower mean bounded slowdown (%)"),
        panel(Metric::avgft, "avgft_gain_percent", "lower mean response (%)"),
    ];
    Figure::new("gains", "Gain of predictions over EASY", "log", panels)
        .caption("How much lower than EASY's, in percent of it, paired over resampled workloads (A4, R3); below zero, predictions \
                  make it worse. Best of each workload: of all orders, predictors and correctors that predict something else \
                  than the request and are not clairvoyant; it is chosen again for each workload, so chance alone raises it.")
        .over(&Log::NAMES)
        .with_table()
}

pub(super) fn accuracy(logs: &[Log]) -> Figure<Cell> {
    let series = |name: &str, metric: Metric| {
        over_logs(name, logs, |log| Cell::as_logged(log, Combination::EASY_PLUS_PLUS).get(metric))
    };
    let both = vec![series("tsafrir", Metric::accuracy), series("requested", Metric::request_accuracy)];
    let panels = [
        Panel::of(Metric::accuracy, both).suffix("accuracy").labelled("accuracy (1: exact)"),
        Panel::of(Metric::expired_percent, vec![series("tsafrir", Metric::expired_percent)]).suffix("expired"),
    ];
    Figure::new("accuracy", "Accuracy of predictions", "log", panels)
        .caption(
            "Mean of min(p, r) / max(p, r) over all jobs of the log, p what is expected at the submission and r the run \
                  time; and how many predictions of EASY++ expire.",
        )
        .over(&Log::NAMES)
        .with_table()
}
