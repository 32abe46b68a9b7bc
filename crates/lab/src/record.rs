//! The record in `docs/papers/SLUG.md`: the table of verdicts under "## Verdicts", and under "## Doubt" the verdicts under other
//! readings.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

type Cells<'a> = Vec<&'a str>;

/// Entry in the table for a kind of run that was never completed: there is nothing to compare with.
pub(crate) const NOT_RUN: &str = "not run";

/// Heading above the table of verdicts.
pub(crate) const VERDICTS: &str = "## Verdicts";
/// Heading above the table of verdicts under other readings.
pub(crate) const DOUBT: &str = "## Doubt";

/// Recorded verdicts or other entries, by claim.
#[derive(Debug)]
pub(crate) struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// Reads the verdicts in the page of a paper, which has them unless it is empty. `words` are those of [`column`](Self::column).
    pub(crate) fn verdicts(page: &str, words: &[&str]) -> Result<Self> {
        if page.is_empty() {
            return Ok(Self(BTreeMap::new()));
        }
        let found = Self::column(page, VERDICTS, words)?;
        found.with_context(|| format!("the table under {VERDICTS:?} has no column {:?}", words.join(" ")))
    }

    /// Reads the column for one kind of run of the table under `heading`, if there is one. `words` are the kind of record, if a paper has
    /// several (`stand-in`), and the options that choose it (`--quick`); empty ones do not count. Fails if a row and the header have
    /// different numbers of cells.
    pub(crate) fn column(page: &str, heading: &str, words: &[&str]) -> Result<Option<Self>> {
        let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
        let column = if words.is_empty() { "verdict".to_owned() } else { words.join(" ") };
        let Some((header, rows)) = Self::rows(page, heading) else { return Ok(None) };
        let Some(position) = header.iter().position(|name| *name == column) else { return Ok(None) };
        let mut verdicts = BTreeMap::new();
        for row in rows {
            let (cells, columns) = (row.len(), header.len());
            ensure!(cells == columns, "the row of claim {} has {cells} cells, not {columns}", row[0]);
            verdicts.insert(row[0].to_owned(), row[position].to_owned());
        }
        Ok(Some(Self(verdicts)))
    }

    /// Returns the header of the table and the rows below it.
    fn rows<'a>(text: &'a str, heading: &str) -> Option<(Cells<'a>, Vec<Cells<'a>>)> {
        let mut rows = text
            .lines()
            .skip_while(|line| *line != heading)
            .skip(1)
            .take_while(|line| !line.starts_with("## "))
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .map(|line| {
                line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect::<Cells<'a>>()
            });
        let header = rows.next()?;
        Some((header, rows.skip(1).collect()))
    }

    /// Returns the verdict of a claim in words; [`NOT_RUN`] if that kind of run was never completed.
    pub(crate) fn verdict(&self, claim: &str) -> Option<&str> {
        self.0.get(claim).map(String::as_str)
    }
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
            let record = Recorded::column(TEXT, VERDICTS, &words).expect("a good table");
            assert_eq!(record.as_ref().and_then(|record| record.verdict("P1")), recorded, "{words:?}");
            assert!(record.is_none_or(|record| record.verdict("P2").is_none()));
        }
        let error = Recorded::verdicts(TEXT, &["--quick"]).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
