//! Order, predictor and corrector: the key of a row of the published results.

use gap_schedule::{Backfilling, Corrector, Easy, Order, OrderedBackfill, Passes, Policy, Predictions};
use serde::Serialize;

/// Predictor and corrector of the rows of one order in the published results of a log, as in the columns of rows.csv.
const PREDICTIONS: [[&str; 2]; 6] = [
    ["requested", "none"],
    ["clairvoyant", "none"],
    ["double-requested", "none"],
    ["tsafrir", "requested"],
    ["tsafrir", "doubling"],
    ["tsafrir", "tsafrir"],
];

/// A row, by its position: those of EASY, then those of EASY-SJBF.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Combination(pub(super) usize);

impl Combination {
    pub(super) const EASY: Self = Self(0);
    /// EASY++ with the simplest corrector.
    pub(super) const PLAIN: Self = Self(9);
    pub(super) const EASY_PLUS_PLUS: Self = Self(11);

    /// Labels of all rows on the axis of a figure.
    pub(super) const SHORT: [&str; 12] = [
        "EASY", "clair", "double", "t/req", "t/dbl", "t/tsa", "SJBF", "S clair", "S dbl", "S t/req", "S t/dbl",
        "S t/tsa",
    ];

    /// Returns the twelve of a log, in the order of rows.csv.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..2 * PREDICTIONS.len()).map(Self)
    }

    /// Returns order, predictor and corrector, as in the columns of rows.csv.
    pub(super) const fn words(self) -> [&'static str; 3] {
        let [predictor, corrector] = PREDICTIONS[self.0 % PREDICTIONS.len()];
        [if self.0 < PREDICTIONS.len() { "EASY" } else { "EASY-SJBF" }, predictor, corrector]
    }

    /// Returns the combinations that predict anything other than the request, without clairvoyance.
    pub(super) fn predicting() -> impl Iterator<Item = Self> {
        Self::all().filter(|one| ["double-requested", "tsafrir"].contains(&one.words()[1]))
    }

    pub(super) fn name(self) -> String {
        self.words().join(" ")
    }

    pub(super) fn policy(self, passes: Passes) -> Box<dyn Policy> {
        match (self.words()[0], passes) {
            ("EASY", Passes::Pyss) => Box::new(Easy::default().if_newcomer_fits()),
            ("EASY", _) => Box::new(Easy::default()),
            _ => Box::new(OrderedBackfill::new(Backfilling { backfill: Order::Spf, ..Backfilling::default() })),
        }
    }

    pub(super) fn predictions(self) -> Predictions {
        let [_, predictor, corrector] = self.words();
        let predictions = Predictions::named(predictor).expect("each row names a predictor");
        predictions.corrected_by(Corrector::named(corrector))
    }
}
