//! Published results and claims.

use super::combination::Combination;
use super::logs::Log;
use super::published::{METRICS, row};
use super::{Cell, Metric, PredictionsPaper};
use lab::claim::{Check, Claim, Rule};
use lab::quantity::{DesignPoint, Quantity};
use std::sync::LazyLock;

/// Relative tolerance of nine digits: half a unit of the ninth, for the smallest number that begins with 1.
const NINE_DIGITS: f64 = 5e-10;

/// Relative tolerance for a log that differs from the published one.
const NEARLY: f64 = 0.03;

/// Ids of G1 by log and combination: `G1.KTH-SP2.EASY-SJBF.tsafrir.tsafrir`.
static IDS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let id = |log: Log, one: Combination| format!("G1.{}.{}", log.name(), one.words().join("."));
    Log::PUBLISHED.map(|log| Combination::all().map(|one| id(log, one)).collect()).into()
});

pub(super) fn claims(paper: &PredictionsPaper) -> Vec<Claim<Cell>> {
    let logs = paper.logs_at_hand();
    let on_sdsc = logs.contains(&Log::SdscSp2);
    let of_rows = logs.iter().flat_map(|log| Combination::all().filter_map(|one| published(paper, *log, one)));
    of_rows.chain(sentences(&logs).into_iter().filter(|claim| claim.id != "G6" || on_sdsc)).collect()
}

/// Returns claim G1 for one row.
fn published(paper: &PredictionsPaper, log: Log, combination: Combination) -> Option<Claim<Cell>> {
    let values = row(log, combination)?;
    let is_published = paper.is_published(log);
    let rule = |value: f64| {
        if is_published {
            Rule::Exact(value * (1.0 - NINE_DIGITS), value * (1.0 + NINE_DIGITS))
        } else {
            Rule::Within(value * (1.0 - NEARLY), value * (1.0 + NEARLY))
        }
    };
    let cell = Cell::as_logged(log, combination);
    let checks = METRICS.into_iter().zip(values).filter(|(_, value)| value.is_finite());
    let test = if is_published { "exact: equal to nine digits" } else { "within 3 %: some jobs are missing here" };
    Some(Claim {
        id: &IDS[log as usize][combination.0],
        source: "published results, 2015",
        statement: format!("{} on {}: the nine metrics of the published row", combination.name(), log.name()),
        test: test.to_owned(),
        figures: &["combinations"],
        checks: checks.map(|(metric, value)| Check::new(metric.to_string(), cell.get(metric), rule(value))).collect(),
    })
}

/// Returns the reduction of the metric from EASY, in its own unit, by which G2 and G4 are judged (A6).
fn gain(of: impl Fn(Combination) -> Cell, combination: Combination, metric: Metric) -> Quantity<Cell> {
    of(Combination::EASY).get(metric) - of(combination).get(metric)
}

/// Returns the reduction in percent of EASY's value, as the figure shows it: the slowdowns of workloads differ a hundredfold, and each
/// workload counts the same.
pub(super) fn gain_percent(
    of: impl Fn(Combination) -> Cell,
    combination: Combination,
    metric: Metric,
) -> Quantity<Cell> {
    let easy = of(Combination::EASY).get(metric);
    gain(of, combination, metric) / easy * 100.0
}

fn sentences(logs: &[Log]) -> Vec<Claim<Cell>> {
    let easy_plus_plus = |log: Log, metric: Metric| {
        let gain = gain(|one| Cell::resampled(log, one), Combination::EASY_PLUS_PLUS, metric);
        Check::new(format!("{}, {metric}: EASY − EASY++", log.name()), gain, Rule::POSITIVE)
    };
    let accuracy = |log: Log| {
        let cell = Cell::as_logged(log, Combination::EASY_PLUS_PLUS);
        let label = format!("{}: accuracy of tsafrir − of the request", log.name());
        Check::new(label, cell.get(Metric::accuracy) - cell.get(Metric::request_accuracy), Rule::POSITIVE)
    };
    let best_of_all = |log: Log| {
        let best = best(|one| gain(|other| Cell::resampled(log, other), one, Metric::avgbsld));
        Check::new(format!("{}: EASY − the best of each workload", log.name()), best, Rule::POSITIVE)
    };
    // Statements that follow from the published rows.
    let on_sdsc = |name: &str, one: Combination, metric: Metric, rule: Rule| {
        let gain = gain(|one| Cell::as_logged(Log::SdscSp2, one), one, metric);
        Check::new(format!("{metric}: EASY − {name}"), gain, rule)
    };
    lab::claims! {
        G2 "TPDS 2007, abstract" "EASY++ \u{201c}achieves significant improvements in performance\u{201d} over EASY"
            tested "paired, over resampled workloads: avgbsld and avgft lower, on each log"
            in "gains" => logs.iter().flat_map(|log| [Metric::avgbsld, Metric::avgft].map(|its| easy_plus_plus(*log, its)));
        G3 "TPDS 2007, abstract" "The mean of the last two run times of a user predicts better than the user's request"
            tested "mean of min(p, r) / max(p, r), p the prediction and r the run time, higher than the request's, on each log"
            in "accuracy" => logs.iter().copied().map(accuracy);
        G4 "SC'15, title" "Predictions improve backfilling: the best without clairvoyance beats EASY in avgbsld"
            tested "paired, over resampled workloads, on each log"
            in "gains" => logs.iter().copied().map(best_of_all);
        G6 "published results, seen by us" "On SDSC-SP2, EASY++ with its own corrector is worse than EASY in mean response, while EASY++ with the plain one, which corrects to the request, is better than EASY in both means"
            tested "exact, on the log"
            in "combinations" => [
                on_sdsc("EASY++", Combination::EASY_PLUS_PLUS, Metric::avgft, Rule::NEGATIVE),
                on_sdsc("plain corrector", Combination::PLAIN, Metric::avgft, Rule::POSITIVE),
                on_sdsc("plain corrector", Combination::PLAIN, Metric::avgbsld, Rule::POSITIVE),
            ];
    }
}

/// Returns the largest gain of the predicting combinations, in each workload.
fn best(gain: impl Fn(Combination) -> Quantity<Cell>) -> Quantity<Cell> {
    Combination::predicting().map(gain).reduce(Quantity::or_larger).expect("there are some")
}

/// Returns the largest gain in percent of EASY's value.
pub(super) fn best_gain_percent(of: impl Fn(Combination) -> Cell, metric: Metric) -> Quantity<Cell> {
    best(|one| gain_percent(&of, one, metric))
}
