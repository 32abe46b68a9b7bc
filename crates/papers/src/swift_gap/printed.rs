//! Numbers printed in the paper: tables 2, 3 and 4.

use super::source::Workload;
use super::{Metric, Policy};

/// Numbers of jobs behind the means (§"Simulation and discussion").
pub(super) const RECORDS: [u32; 7] = [3_000, 5_000, 7_000, 9_000, 10_000, 15_000, 17_500];

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Printed {
    pub(super) text: &'static str,
    pub(super) value: f64,
    /// One unit in its last place.
    pub(super) unit: f64,
}

impl Printed {
    fn new(text: &'static str) -> Self {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let unit = (0..decimals).fold(1.0, |unit, _| unit / 10.0);
        Self { text, value: text.parse().expect("a number, as a test shows"), unit }
    }
}

/// Rows: slowdown, tardiness, waiting time, response time; columns: SG, BGT, CONS, EASY.
const TABLE_2: [[&str; 4]; 4] = [
    ["229.6", "249.0", "457.6", "657.7"],
    ["4343.6", "5492.2", "8777.4", "7066.7"],
    ["8021.7", "9587.8", "14218.7", "10965.0"],
    ["54546.2", "56112.2", "60743.2", "57489.5"],
];

const TABLE_3: [[&str; 4]; 4] = [
    ["6.8", "9.8", "15.55", "18.1"],
    ["379.8", "694.9", "864.15", "1092.4"],
    ["523.2", "819.4", "879.62", "1081.3"],
    ["60300.4", "60596.5", "60656.70", "60833.6"],
];

/// Rows as above; columns: BGT, CONS, EASY, each on Zewura and on Wagap.
const TABLE_4: [[&str; 6]; 4] = [
    ["8.123", "36.2224", "66.3679", "77.6786", "96.4962", "90.4438"],
    ["23.3552", "58.6401", "67.5818", "77.8684", "47.7301", "96.808"],
    ["17.7861", "44.1166", "55.727", "50.8058", "31.0031", "69.5625"],
    ["2.8304", "0.4899", "10.7503", "0.5892", "5.2541", "0.8804"],
];

/// Returns the paper's mean in table 2 or 3. Both versions of Swift Gap have the same column.
pub(super) fn mean(workload: Workload, metric: Metric, policy: Policy) -> Printed {
    let table = match workload {
        Workload::Zewura => &TABLE_2,
        Workload::Wagap => &TABLE_3,
    };
    let printed = if policy == Policy::Nearest { Policy::SwiftGap } else { policy };
    let column =
        Policy::ALL.iter().position(|other| *other == printed).expect("every policy but Best Gap has a column");
    Printed::new(table[metric as usize][column])
}

/// Returns the improvement of SG over `policy` in table 4, in percent; `None` for SG itself and for Best Gap.
pub(super) fn enhancement(workload: Workload, metric: Metric, policy: Policy) -> Option<Printed> {
    let column = 2 * Policy::OTHERS.iter().position(|other| *other == policy)?;
    Some(Printed::new(TABLE_4[metric as usize][column + usize::from(workload == Workload::Wagap)]))
}

/// Returns the symmetric difference in percent, the paper's formula according to its numbers.
pub(super) fn symmetric_difference(other: f64, swift_gap: f64) -> f64 {
    200.0 * (other - swift_gap) / (other + swift_gap)
}
