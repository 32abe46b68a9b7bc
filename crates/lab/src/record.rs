//! The record in `docs/papers/SLUG.md`: the table of verdicts under "## Verdicts", and under "## Doubt" the verdicts under other
//! readings.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// Entry in the table for a kind of run that was never completed: there is nothing to compare with.
pub(crate) const NOT_RUN: &str = "not run";

pub(crate) const VERDICTS: &str = "## Verdicts";
pub(crate) const DOUBT: &str = "## Doubt";

/// Recorded verdicts or other entries, by claim.
pub(crate) type Recorded = BTreeMap<String, String>;

/// Reads the verdicts in the page of a paper, which has them unless it is empty. `words` are those of [`column`].
pub(crate) fn verdicts(page: &str, words: &[&str]) -> Result<Recorded> {
    if page.is_empty() {
        return Ok(Recorded::new());
    }
    let found = column(page, VERDICTS, words)?;
    found.with_context(|| format!("the table under {VERDICTS:?} has no column {:?}", words.join(" ")))
}

/// Reads the column for one kind of run of the table under `heading`, if there is one. `words` are the kind of record, if a paper has
/// several (`stand-in`), and the options that choose it (`--quick`); empty ones do not count. Fails if a row and the header have
/// different numbers of cells.
pub(crate) fn column(page: &str, heading: &str, words: &[&str]) -> Result<Option<Recorded>> {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    let column = if words.is_empty() { "verdict".to_owned() } else { words.join(" ") };
    let below = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    let table = below.skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let mut rows = table.map(cells);
    let header = rows.next().unwrap_or_default();
    let Some(position) = header.iter().position(|name| *name == column) else { return Ok(None) };
    let entry = |row: Vec<String>| {
        let (cells, columns) = (row.len(), header.len());
        ensure!(cells == columns, "the row of claim {} has {cells} cells, not {columns}", row[0]);
        Ok((row[0].clone(), row[position].clone()))
    };
    // The line below the header separates it from the rows.
    rows.skip(1).map(entry).collect::<Result<_>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# P\n\n## Verdicts\n\nSome words.\n\n\
        | claim | verdict | `--decide` | `--seeds 10` | `--quick --seeds 10` | `stand-in` |\n|---|---|---|---|---|---|\n\
        | P1 | inconclusive | reproduced at 40 replications | 9 of 10 | 8 of 10 | contradicted |\n\nAfter.\n";

    #[test]
    fn each_kind_of_run_has_its_column() {
        for (words, recorded) in [
            (["", "", ""], Some("inconclusive")),
            (["", "--decide", ""], Some("reproduced at 40 replications")),
            (["", "", "--seeds 10"], Some("9 of 10")),
            (["", "--quick", "--seeds 10"], Some("8 of 10")),
            (["stand-in", "", ""], Some("contradicted")),
            (["stand-in", "--quick", ""], None),
        ] {
            let record = column(TEXT, VERDICTS, &words).expect("a good table");
            assert_eq!(record.as_ref().and_then(|record| record.get("P1")).map(String::as_str), recorded, "{words:?}");
            assert!(record.is_none_or(|record| !record.contains_key("P2")));
        }
        let error = verdicts(TEXT, &["--quick"]).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
