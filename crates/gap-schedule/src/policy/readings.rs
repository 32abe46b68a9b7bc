//! What papers leave open about backfilling on several machines.

use crate::machine::Machine;
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

sim_core::answers! {
    /// R5: which of several machines a job goes to. §3.1: "each job is scheduled on the first most powerful available
    /// machine".
    pub enum Placement {
        /// The fastest; of equally fast ones, the one of lowest index.
        Fastest,
        /// The one of lowest index.
        FirstFit,
    }
}

sim_core::answers! {
    /// R6: when a job may start before the head of the queue, which holds a reservation on one machine.
    pub enum BackfillRule {
        /// On another machine, freely; on the reserved one, if it ends by the reservation or fits into the processors that the
        /// head will leave over.
        MachineAware,
        /// On every machine, only if it ends by the reservation.
        Strict,
    }
}

/// In which order conservative backfilling compresses its plan: which of the jobs that wait is the first to be taken out of
/// it and given the earliest start there is now. The sources describe both, under one name.
///
/// While estimates are exact the order makes no difference. With users' estimates it does: on a log of two years (SDSC-SP2), the
/// mean wait is 11 % shorter in order of arrival.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompressOrder {
    /// The job that has waited longest comes first, at every end of a job as long as there is anything to gain: a job that
    /// moves ahead may leave room for one that arrived before it, and has its turn only at the next end.
    ///
    /// D. G. Feitelson and A. M. Weil, "Utilization and predictability in scheduling the IBM SP2 with backfilling", IPPS/SPDP
    /// 1998; A. W. Mu'alem and D. G. Feitelson, IEEE TPDS 12(6), 2001; the simulator pyss.
    #[default]
    Arrival,
    /// The job with the earliest reserved start comes first, when a job has ended earlier than expected: an orderly left shift
    /// of the plan. On one machine it leaves no job a start that is earlier than the reserved one.
    ///
    /// So do simulators that keep their plan as a list in order of starts, such as Alea.
    Reserved,
}

impl Placement {
    /// The machines' indices, the preferred one first, and the place of each machine in that order.
    pub(super) fn order(self, machines: &[Machine]) -> (Vec<usize>, Vec<usize>) {
        let mut order: Vec<usize> = (0..machines.len()).collect();
        if self == Self::Fastest {
            order.sort_by(|one, other| machines[*other].speed.total_cmp(&machines[*one].speed));
        }
        let mut ranks = vec![0; order.len()];
        for (rank, machine) in order.iter().enumerate() {
            ranks[*machine] = rank;
        }
        (order, ranks)
    }
}
