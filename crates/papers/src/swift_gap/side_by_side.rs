//! The text and the nearest reading side by side: what becomes of the claims about Swift Gap.

use super::claims::claims;
use super::{Cell, Policy, SwiftGapPaper, Version};
use lab::claim::{Claim, Judged};
use lab::extra::{Extra, Made};
use lab::page;
use std::collections::BTreeSet;

/// A table of the verdicts under both. Those of the nearest reading are not counted anywhere: it was chosen for coming near.
pub(super) fn verdicts(paper: &SwiftGapPaper) -> Extra<'_, Cell> {
    let [text, nearest] = [Version::Text, Version::Nearest].map(|version| claims(paper, version));
    let both: Vec<_> = text.into_iter().zip(nearest).filter(|(text, _)| is_about_swift_gap(text)).collect();
    let needs = both.iter().flat_map(|(text, nearest)| text.checks.iter().chain(&nearest.checks));
    Extra {
        id: "fig4",
        needs: needs.map(|check| check.quantity.clone()).collect(),
        make: Box::new(move |estimate, _| {
            let row = |(text, nearest): &(Claim<Cell>, Claim<Cell>)| {
                let judged = [text, nearest].map(|claim| Judged::new(claim, |quantity| estimate(quantity, u32::MAX)));
                let [text_found, nearest_found] =
                    judged.map(|judged| [judged.verdict.to_string(), judged.deciding_cell().observed()]);
                [vec![text.id.to_owned()], text_found.into(), nearest_found.into(), vec![text.statement.clone()]]
                    .concat()
            };
            let columns = ["claim", "text", "observed", "nearest", "observed", "the paper says"];
            Made {
                tables: vec![page::Table {
                    id: "text-and-nearest".to_owned(),
                    title: "Swift Gap as the text has it, and as it comes nearest to table 3".to_owned(),
                    caption: "Verdict, and the estimate of the cell that decides. The text's verdicts are the ones that count; \
                              the nearest reading (scenario, table nearest) was chosen by its outcome."
                        .to_owned(),
                    columns: columns.map(str::to_owned).into(),
                    rows: both.iter().map(row).collect(),
                }],
                ..Made::default()
            }
        }),
    }
}

fn is_about_swift_gap(claim: &Claim<Cell>) -> bool {
    let mut cells = BTreeSet::new();
    claim.checks.iter().for_each(|check| check.quantity.collect_cells(&mut cells));
    cells.iter().any(|cell| matches!(cell.policy, Policy::SwiftGap(_)))
}
