//! Order, predictor and corrector: what tells one row of the published results from another.

use gap_schedule::{
    Backfilling, Doubling, Easy, IfNewcomerFits, Increments, MeanOfUser, Order as QueueOrder, OrderedBackfill, Passes,
    Policy, Predictions, Requested, TimesRequested, ToRequested,
};
use serde::Serialize;

/// In which order those behind the head of the queue are looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Order {
    /// By arrival.
    Easy,
    /// The shortest prediction first.
    Sjbf,
}

/// Who predicts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Predictor {
    Requested,
    Clairvoyant,
    DoubleRequested,
    Tsafrir,
}

/// Who corrects what has expired.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Corrector {
    None,
    Requested,
    Doubling,
    Tsafrir,
}

/// One row of the published results of a log.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Combination {
    pub(super) order: Order,
    pub(super) predictor: Predictor,
    pub(super) corrector: Corrector,
}

lab::answers! {
    /// R1: in which order things of one instant happen, and when the scheduler is asked.
    pub(super) enum TieRule {
        /// As in the authors' simulator, habits included.
        Pyss,
        /// Ends, then submissions; a pass after each.
        PerEvent,
        /// One pass after all that happens at an instant.
        PerInstant,
    }
}

impl Order {
    /// As in the column `order` of rows.csv.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Easy => "EASY",
            Self::Sjbf => "EASY-SJBF",
        }
    }

    /// The policy at work.
    pub(super) fn policy(self, ties: TieRule) -> Box<dyn Policy> {
        match (self, ties) {
            (Self::Easy, TieRule::Pyss) => Box::new(IfNewcomerFits::new(Easy::default())),
            (Self::Easy, _) => Box::new(Easy::default()),
            (Self::Sjbf, _) => {
                let rule = Backfilling { backfill: QueueOrder::Spf, ..Backfilling::default() };
                Box::new(OrderedBackfill::new(rule))
            }
        }
    }
}

impl Predictor {
    /// As in the column `predictor` of rows.csv.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Clairvoyant => "clairvoyant",
            Self::DoubleRequested => "double-requested",
            Self::Tsafrir => "tsafrir",
        }
    }
}

impl Corrector {
    /// As in the column `corrector` of rows.csv.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Requested => "requested",
            Self::Doubling => "doubling",
            Self::Tsafrir => "tsafrir",
        }
    }
}

const fn of(order: Order, predictor: Predictor, corrector: Corrector) -> Combination {
    Combination { order, predictor, corrector }
}

impl Combination {
    /// The twelve of a log, in the order of rows.csv.
    pub(super) const ALL: [Self; 12] = [
        Self::EASY,
        of(Order::Easy, Predictor::Clairvoyant, Corrector::None),
        of(Order::Easy, Predictor::DoubleRequested, Corrector::None),
        of(Order::Easy, Predictor::Tsafrir, Corrector::Requested),
        of(Order::Easy, Predictor::Tsafrir, Corrector::Doubling),
        of(Order::Easy, Predictor::Tsafrir, Corrector::Tsafrir),
        of(Order::Sjbf, Predictor::Requested, Corrector::None),
        of(Order::Sjbf, Predictor::Clairvoyant, Corrector::None),
        of(Order::Sjbf, Predictor::DoubleRequested, Corrector::None),
        Self::PLAIN,
        of(Order::Sjbf, Predictor::Tsafrir, Corrector::Doubling),
        Self::EASY_PLUS_PLUS,
    ];

    /// What [`ALL`](Self::ALL) are called on the axis of a figure.
    pub(super) const SHORT: [&'static str; 12] = [
        "EASY", "clair", "double", "t/req", "t/dbl", "t/tsa", "SJBF", "S clair", "S dbl", "S t/req", "S t/dbl",
        "S t/tsa",
    ];

    /// EASY as everybody knows it.
    pub(super) const EASY: Self = of(Order::Easy, Predictor::Requested, Corrector::None);
    /// EASY++.
    pub(super) const EASY_PLUS_PLUS: Self = of(Order::Sjbf, Predictor::Tsafrir, Corrector::Tsafrir);
    /// EASY++ with the plainest corrector.
    pub(super) const PLAIN: Self = of(Order::Sjbf, Predictor::Tsafrir, Corrector::Requested);

    /// Those that predict something else than what was requested, and do not know the future.
    pub(super) fn predicting() -> impl Iterator<Item = Self> {
        let is = |one: &Self| matches!(one.predictor, Predictor::DoubleRequested | Predictor::Tsafrir);
        Self::ALL.into_iter().filter(is)
    }

    pub(super) fn name(self) -> String {
        let Self { order, predictor, corrector } = self;
        format!("{} {} {}", order.name(), predictor.name(), corrector.name())
    }

    pub(super) fn predictions(self) -> Predictions {
        let predictions = match self.predictor {
            Predictor::Requested => Predictions::by(Requested),
            Predictor::Clairvoyant => Predictions::clairvoyant(),
            Predictor::DoubleRequested => Predictions::by(TimesRequested::double()),
            Predictor::Tsafrir => Predictions::by(MeanOfUser::tsafrir()),
        };
        match self.corrector {
            Corrector::None => predictions,
            Corrector::Requested => predictions.corrected_by(ToRequested),
            Corrector::Doubling => predictions.corrected_by(Doubling),
            Corrector::Tsafrir => predictions.corrected_by(Increments::tsafrir()),
        }
    }
}

impl TieRule {
    pub(super) const fn passes(self) -> Passes {
        match self {
            Self::Pyss => Passes::Pyss,
            Self::PerEvent => Passes::PerEvent,
            Self::PerInstant => Passes::PerInstant,
        }
    }
}
