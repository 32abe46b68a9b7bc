//! Verdicts on the claims about Swift Gap under the text and under the nearest reading.

use super::claims::claims;
use super::{Cell, Policy, SgVersion, SwiftGapPaper};
use lab::claim::Claim;
use lab::extra::Extra;
use std::collections::BTreeSet;

/// Returns a table of the verdicts under both. Those of the nearest reading are not counted: it was selected to be near.
pub(super) fn verdicts(paper: &SwiftGapPaper) -> Extra<'_, Cell> {
    let [text, nearest] = [SgVersion::Text, SgVersion::Nearest].map(|version| claims(paper, version));
    let both = text.into_iter().zip(nearest).filter(|(text, _)| is_about_swift_gap(text));
    Extra::side_by_side(
        "fig4",
        ["text", "nearest"],
        both,
        [
            "text-and-nearest",
            "Swift Gap as the text has it, and as it comes nearest to table 3",
            "Verdict, and the estimate of the cell that decides. The text's verdicts are the ones that count; \
         the nearest reading (scenario, table nearest) was chosen by its outcome.",
        ],
    )
}

fn is_about_swift_gap(claim: &Claim<Cell>) -> bool {
    let mut cells = BTreeSet::new();
    claim.checks.iter().for_each(|check| check.quantity.collect_cells(&mut cells));
    cells.iter().any(|cell| matches!(cell.policy, Policy::SwiftGap(_)))
}
