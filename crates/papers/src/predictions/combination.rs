//! Order, predictor and corrector: the key of a row of the published results.

use gap_schedule::{Backfilling, Corrector, Easy, Order, OrderedBackfill, Passes, Policy, Predictions};
use serde::Serialize;

/// Order, predictor and corrector of each row of the published results of a log, as in the columns of rows.csv.
const ROWS: [[&str; 3]; 12] = [
    ["EASY", "requested", "none"],
    ["EASY", "clairvoyant", "none"],
    ["EASY", "double-requested", "none"],
    ["EASY", "tsafrir", "requested"],
    ["EASY", "tsafrir", "doubling"],
    ["EASY", "tsafrir", "tsafrir"],
    ["EASY-SJBF", "requested", "none"],
    ["EASY-SJBF", "clairvoyant", "none"],
    ["EASY-SJBF", "double-requested", "none"],
    ["EASY-SJBF", "tsafrir", "requested"],
    ["EASY-SJBF", "tsafrir", "doubling"],
    ["EASY-SJBF", "tsafrir", "tsafrir"],
];

/// One of these rows, by its position.
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
        (0..ROWS.len()).map(Self)
    }

    /// Returns order, predictor and corrector, as in the columns of rows.csv.
    pub(super) const fn words(self) -> [&'static str; 3] {
        ROWS[self.0]
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
