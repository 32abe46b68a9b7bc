//! What was published, and what was claimed.

use super::combination::Combination;
use super::logs::Log;
use super::published::{METRICS, row};
use super::{Cell, Metric, PredictionsPaper};
use lab::claim::{Check, Claim, Rule};
use lab::quantity::{DesignPoint, Quantity};
use std::sync::LazyLock;

/// Nine digits: half a unit of the ninth, of the smallest number that begins with 1.
const NINE_DIGITS: f64 = 5e-10;

/// For a log that is not the published one to the job.
const NEARLY: f64 = 0.03;

/// `G1.KTH-SP2.EASY-SJBF.tsafrir.tsafrir`, by log and combination.
static IDS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let ids = |log: &Log| {
        let id = |one: Combination| {
            let Combination { order, predictor, corrector } = one;
            format!("G1.{}.{}.{}.{}", log.name(), order.name(), predictor.name(), corrector.name())
        };
        Combination::ALL.map(id).to_vec()
    };
    Log::PUBLISHED.iter().map(ids).collect()
});

fn check(label: String, quantity: Quantity<Cell>, rule: Rule) -> Check<Cell> {
    Check { label, quantity, rule }
}

pub(super) fn claims(paper: &PredictionsPaper) -> Vec<Claim<Cell>> {
    let logs = paper.logs_at_hand();
    let mut claims = Vec::new();
    for &log in &logs {
        claims.extend((0..Combination::ALL.len()).filter_map(|number| published(paper, log, number)));
    }
    claims.push(easy_plus_plus(&logs));
    claims.push(accuracy(&logs));
    claims.push(best_of_all(&logs));
    claims.extend(logs.contains(&Log::SdscSp2).then(worse_on_sdsc));
    claims
}

/// G1, of one row.
fn published(paper: &PredictionsPaper, log: Log, number: usize) -> Option<Claim<Cell>> {
    let combination = Combination::ALL[number];
    let values = row(log, combination)?;
    let is_published = paper.is_published(log);
    let rule = |value: f64| {
        if is_published {
            Rule::Exact { low: value * (1.0 - NINE_DIGITS), high: value * (1.0 + NINE_DIGITS) }
        } else {
            Rule::Within { low: value * (1.0 - NEARLY), high: value * (1.0 + NEARLY) }
        }
    };
    let cell = Cell::as_logged(log, combination);
    let checks = METRICS.into_iter().zip(values).filter(|(_, value)| value.is_finite());
    let test = if is_published { "exact: equal to nine digits" } else { "within 3 %: some jobs are missing here" };
    Some(Claim {
        id: &IDS[log as usize][number],
        source: "published results, 2015",
        statement: format!("{} on {}: the nine metrics of the published row", combination.name(), log.name()),
        test: test.to_owned(),
        figures: &["combinations"],
        checks: checks.map(|(metric, value)| check(metric.to_string(), cell.get(metric), rule(value))).collect(),
    })
}

/// How much lower the metric is than EASY's, in its own unit: what G2 and G4 are judged by (A6).
fn gain(of: impl Fn(Combination) -> Cell, combination: Combination, metric: Metric) -> Quantity<Cell> {
    of(Combination::EASY).get(metric) - of(combination).get(metric)
}

/// The same in percent of EASY's, as the figure shows it: workloads differ a hundredfold in their slowdowns, and so each of them
/// counts the same.
pub(super) fn gain_percent(
    of: impl Fn(Combination) -> Cell,
    combination: Combination,
    metric: Metric,
) -> Quantity<Cell> {
    let easy = of(Combination::EASY).get(metric);
    gain(of, combination, metric) / easy * 100.0
}

fn easy_plus_plus(logs: &[Log]) -> Claim<Cell> {
    let checks = logs.iter().flat_map(|&log| {
        [Metric::avgbsld, Metric::avgft].map(|metric| {
            let label = format!("{}, {metric}: EASY − EASY++", log.name());
            let gain = gain(|one| Cell::resampled(log, one), Combination::EASY_PLUS_PLUS, metric);
            check(label, gain, Rule::POSITIVE)
        })
    });
    Claim {
        id: "G2",
        source: "TPDS 2007, abstract",
        statement: "EASY++ \u{201c}achieves significant improvements in performance\u{201d} over EASY".to_owned(),
        test: "paired, over resampled workloads: avgbsld and avgft lower, on each log".to_owned(),
        figures: &["gains"],
        checks: checks.collect(),
    }
}

fn accuracy(logs: &[Log]) -> Claim<Cell> {
    let checks = logs.iter().map(|&log| {
        let cell = Cell::as_logged(log, Combination::EASY_PLUS_PLUS);
        let label = format!("{}: accuracy of tsafrir − of the request", log.name());
        check(label, cell.get(Metric::accuracy) - cell.get(Metric::request_accuracy), Rule::POSITIVE)
    });
    Claim {
        id: "G3",
        source: "TPDS 2007, abstract",
        statement: "The mean of the last two run times of a user predicts better than the user's request".to_owned(),
        test:
            "mean of min(p, r) / max(p, r), p the prediction and r the run time, higher than the request's, on each log"
                .to_owned(),
        figures: &["accuracy"],
        checks: checks.collect(),
    }
}

/// The largest gain of those who predict, in each workload.
fn best(gain: impl Fn(Combination) -> Quantity<Cell>) -> Quantity<Cell> {
    Combination::predicting().map(gain).reduce(Quantity::or_larger).expect("there are some")
}

/// The same in percent of EASY's.
pub(super) fn best_gain_percent(of: impl Fn(Combination) -> Cell, metric: Metric) -> Quantity<Cell> {
    best(|one| gain_percent(&of, one, metric))
}

fn best_of_all(logs: &[Log]) -> Claim<Cell> {
    let checks = logs.iter().map(|&log| {
        let label = format!("{}: EASY − the best of each workload", log.name());
        check(label, best(|one| gain(|other| Cell::resampled(log, other), one, Metric::avgbsld)), Rule::POSITIVE)
    });
    Claim {
        id: "G4",
        source: "SC'15, title",
        statement: "Predictions improve backfilling: the best without clairvoyance beats EASY in avgbsld".to_owned(),
        test: "paired, over resampled workloads, on each log".to_owned(),
        figures: &["gains"],
        checks: checks.collect(),
    }
}

/// What the published rows already say.
fn worse_on_sdsc() -> Claim<Cell> {
    let cell = |combination| Cell::as_logged(Log::SdscSp2, combination);
    let gain = |combination, metric: Metric| cell(Combination::EASY).get(metric) - cell(combination).get(metric);
    let below = Rule::NEGATIVE;
    let checks = vec![
        check("avgft: EASY − EASY++".to_owned(), gain(Combination::EASY_PLUS_PLUS, Metric::avgft), below),
        check("avgft: EASY − plain corrector".to_owned(), gain(Combination::PLAIN, Metric::avgft), Rule::POSITIVE),
        check("avgbsld: EASY − plain corrector".to_owned(), gain(Combination::PLAIN, Metric::avgbsld), Rule::POSITIVE),
    ];
    Claim {
        id: "G6",
        source: "published results, seen by us",
        statement: "On SDSC-SP2, EASY++ with its own corrector is worse than EASY in mean response, while EASY++ with the plain \
                    one, which corrects to the request, is better than EASY in both means"
            .to_owned(),
        test: "exact, on the log".to_owned(),
        figures: &["combinations"],
        checks,
    }
}
