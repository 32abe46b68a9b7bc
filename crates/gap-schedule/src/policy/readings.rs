use crate::grid::Machine;
use serde::{Deserialize, Serialize};

/// What the paper leaves open about backfilling on several machines. The default is the first value of each.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BackfillReadings {
    /// R5: which of the machines with room a job goes to.
    pub placement: Placement,
    /// R6: what a job that passes the head must keep to.
    pub rule: BackfillRule,
}

/// R5: which of several machines a job goes to. §3.1: "each job is scheduled on the first most powerful available
/// machine".
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The fastest; of equally fast ones, the one of lowest index.
    #[default]
    Fastest,
    /// The one of lowest index.
    FirstFit,
}

/// R6: when a job may start before the head of the queue, which holds a reservation on one machine.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackfillRule {
    /// On another machine, freely; on the reserved one, if it ends by the reservation or fits into the processors that the
    /// head will leave over.
    #[default]
    MachineAware,
    /// On every machine, only if it ends by the reservation.
    Strict,
}

impl Placement {
    /// The machines' indices, the preferred one first.
    pub(super) fn order(self, machines: &[Machine]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..machines.len()).collect();
        if self == Self::Fastest {
            order.sort_by(|one, other| machines[*other].speed.total_cmp(&machines[*one].speed));
        }
        order
    }
}
