//! Policies by queue, with the settings that their names give: `easy+order=wfp3+backfill=spf+threshold=2d+reserve=8`.

use super::name::PolicyName;
use super::predicting::Predicting;
use gap_schedule::{
    Backfilling, CompressOrder, Conservative, Depth, Easy, Fcfs, Order, OrderedBackfill, Placement, Policy, Priority,
};
use lab::scenario::did_you_mean;
use sim_core::Span;

/// What a queue does when its head cannot start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// It waits.
    Fcfs,
    /// Some jobs are given reservations at each pass; others may pass them.
    Easy,
    /// Every job has been given one on arrival, and keeps it or an earlier one.
    Cons,
}

/// A policy of the family, with at least one setting.
///
/// `predict` and `correct` say what is expected of a job instead of what its user requested: orders and reservations go by what
/// is expected.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Queueing {
    /// As the user wrote it, but for what was once written with a colon. Policies are named once in the life of a process, on
    /// its command line, and the name is leaked there, so that a policy stays a plain value.
    name: &'static str,
    base: Base,
    order: Option<Order>,
    backfill: Option<Order>,
    reserve: Option<Depth>,
    threshold: Option<Span>,
    compress: Option<CompressOrder>,
    predicting: Option<Predicting>,
}

/// What a span is, for messages.
const SPAN: &str = "a span above 0 such as 2d, 12h, 30m or 3600 (seconds)";

impl Queueing {
    /// Takes the settings of the family out of a name.
    pub(super) fn take(base: Base, name: &mut PolicyName) -> Result<Self, String> {
        let given: &'static str = Box::leak(name.to_string().into_boxed_str());
        let order = take_order("order", name)?;
        let mut policy = Self {
            name: given,
            base,
            order,
            backfill: None,
            reserve: None,
            threshold: None,
            compress: None,
            predicting: None,
        };
        match base {
            Base::Fcfs => {}
            Base::Easy => {
                policy.backfill = take_order("backfill", name)?;
                policy.reserve = name.take("reserve", "a number of reservations from 0 on, or all", depth)?;
            }
            Base::Cons => policy.compress = name.take("compress", "arrival or reserved", compress_order)?,
        }
        policy.threshold = name.take("threshold", SPAN, span)?;
        policy.predicting = Predicting::take(name)?;
        if policy.backfill.is_some() && policy.reserve == Some(Depth::All) {
            return Err(format!(
                "{given:?}: backfill orders those who hold no reservation, and with reserve=all everybody holds one; leave \
                 one of the two out"
            ));
        }
        if policy.compress == Some(CompressOrder::Reserved) && (order.is_some() || policy.threshold.is_some()) {
            return Err(format!(
                "{given:?}: compress=reserved goes by reserved starts, and order and threshold are about other orders; \
                 leave compress out, or those"
            ));
        }
        Ok(policy)
    }

    /// As on the command line, and as the folder of its results is called.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// How its plan is compressed, where that is the only setting it has.
    pub(super) fn compresses_alone(&self) -> Option<CompressOrder> {
        self.compress.filter(|_| self.order.is_none() && self.threshold.is_none() && self.predicting.is_none())
    }

    /// Who predicts run times, where somebody does.
    pub(super) const fn predicting(&self) -> Option<Predicting> {
        self.predicting
    }

    /// Whether it is EASY with its one reservation, in order of arrival throughout.
    pub(super) fn is_plain_easy(&self) -> bool {
        let by_arrival = |order: Option<Order>| order.is_none_or(|order| order == Order::Fcfs);
        self.base == Base::Easy
            && by_arrival(self.order)
            && by_arrival(self.backfill)
            && self.reserve.is_none_or(|reserve| reserve == Depth::Jobs(1))
    }

    /// The policy at work, to which nothing has happened yet.
    pub(super) fn at_work(&self) -> Box<dyn Policy> {
        let (order, threshold, placement) = (self.order.unwrap_or_default(), self.threshold, Placement::Fastest);
        let priority = Priority { order, threshold };
        match self.base {
            Base::Fcfs => Box::new(Fcfs::in_order(priority)),
            Base::Cons => Box::new(
                Conservative::new(placement)
                    .with_compress_order(self.compress.unwrap_or_default())
                    .with_order(priority),
            ),
            Base::Easy => {
                let reserve = self.reserve.unwrap_or(Depth::Jobs(1));
                // Those behind are looked at in the order of the queue, unless they are given another.
                let backfill = self.backfill.unwrap_or(order);
                let rule = Backfilling { order, backfill, reserve, threshold, placement };
                if rule == Backfilling::default() {
                    // The same schedule, without a queue of its own.
                    Box::new(Easy::default())
                } else {
                    Box::new(OrderedBackfill::new(rule))
                }
            }
        }
    }
}

fn take_order(key: &'static str, name: &mut PolicyName) -> Result<Option<Order>, String> {
    let names = Order::ALL.map(Order::name);
    let wrong = name.value(key).filter(|value| Order::named(value).is_none());
    let hint = wrong.map_or_else(String::new, |wrong| did_you_mean(wrong, names.into_iter()));
    let expected = format!("{}{hint}", names.join(", "));
    name.take(key, &expected, Order::named)
}

fn compress_order(text: &str) -> Option<CompressOrder> {
    match text {
        "arrival" => Some(CompressOrder::Arrival),
        "reserved" => Some(CompressOrder::Reserved),
        _ => None,
    }
}

pub(super) fn depth(text: &str) -> Option<Depth> {
    if text == "all" { Some(Depth::All) } else { text.parse().ok().map(Depth::Jobs) }
}

fn span(text: &str) -> Option<Span> {
    workload::outages::span(text).or_else(|| workload::outages::span(&format!("{text}s")))
}
