//! Questions that papers leave open about backfilling on several machines.

use crate::view::Machine;
use serde::{Deserialize, Serialize};

/// Readings of backfilling on several machines, which the paper leaves open. The default is the first value of each.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BackfillReadings {
    /// R5: choice among the machines with room.
    pub placement: Placement,
    /// R6: condition for a job that overtakes the head.
    pub rule: BackfillRule,
}

sim_core::answers! {
    /// R5: choice among several machines. §3.1: "each job is scheduled on the first most powerful available machine".
    pub enum Placement {
        /// The fastest; of equally fast ones, that of lowest index.
        Fastest,
        /// The machine of lowest index.
        FirstFit,
    }
}

sim_core::answers! {
    /// R6: condition for a start before the head of the queue, which holds a reservation on one machine.
    pub enum BackfillRule {
        /// On another machine, without condition; on the reserved one, if it ends by the reservation or fits into the
        /// processors that the head will leave over.
        MachineAware,
        /// On every machine, only if it ends by the reservation.
        Strict,
    }
}

/// Order in which conservative backfilling compresses its plan: the order in which waiting jobs are taken out of it and
/// moved to the earliest possible start. The sources describe both orders, under one name.
///
/// With exact estimates the order makes no difference. With users' estimates it does: on a log of two years (SDSC-SP2),
/// the mean wait is 11 % shorter in order of arrival.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompressOrder {
    /// Order of arrival, at every end of a job as long as a move is possible. A job that moves ahead may leave room for
    /// one that arrived before it, which has its turn only at the next end.
    ///
    /// D. G. Feitelson and A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling", IPPS/SPDP
    /// 1998; A. W. Mu'alem and D. G. Feitelson, IEEE TPDS 12(6), 2001; the simulator pyss.
    #[default]
    Arrival,
    /// Order of reserved starts, when a job has ended earlier than expected: an orderly left shift of the plan. On one
    /// machine it leaves no job a start that is earlier than the reserved one.
    ///
    /// Used by simulators that keep their plan as a list in order of starts, such as Alea.
    Reserved,
}

impl Placement {
    /// Returns the machines' indices, the preferred one first.
    pub(super) fn order(self, machines: &[Machine]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..machines.len()).collect();
        if self == Self::Fastest {
            order.sort_by(|one, other| machines[*other].speed.total_cmp(&machines[*one].speed));
        }
        order
    }
}
