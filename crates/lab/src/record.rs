//! The record in `docs/papers/SLUG.md`: the table of verdicts under "## Verdicts", and under "## Doubt" the verdicts under other
//! readings.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// Returns the name of the table's column for one kind of run. `kind` distinguishes records of one paper (`stand-in`); `mode` is empty,
/// `--decide` or `--quick`.
fn column(kind: Option<&str>, mode: &str, seeds: &str) -> String {
    let words: Vec<&str> = [kind.unwrap_or(""), mode, seeds].into_iter().filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "verdict".to_owned() } else { words.join(" ") }
}

/// Cells of a row.
type Cells<'a> = Vec<&'a str>;

/// Entry in the table for a kind of run that was never completed: there is nothing to compare with.
pub(crate) const NOT_RUN: &str = "not run";

/// Heading above the table of verdicts.
const VERDICTS: &str = "## Verdicts";
/// Heading above the table of verdicts under other readings.
const DOUBT: &str = "## Doubt";

/// Recorded verdicts or other entries, by claim.
#[derive(Debug)]
pub(crate) struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// Reads the record in the page of a paper; `kind` selects one if the paper has several.
    ///
    /// # Errors
    ///
    /// If there is no such column, or a row and the header have different numbers of cells.
    pub(crate) fn read(page: &str, mode: &str, kind: Option<&str>) -> Result<Self> {
        if page.is_empty() {
            return Ok(Self(BTreeMap::new()));
        }
        Self::parse(page, VERDICTS, &column(kind, mode, ""))
    }

    /// Reads the recorded effect of other readings on each verdict; `None` if there is no such record.
    pub(crate) fn doubt(page: &str, mode: &str, kind: Option<&str>) -> Result<Option<Self>> {
        Self::optional(page, DOUBT, &column(kind, mode, ""))
    }

    /// Reads the recorded number of seeds, of `seeds`, under which each verdict is unchanged; `None` if there is no such record.
    pub(crate) fn seeds(page: &str, seeds: usize, mode: &str, kind: Option<&str>) -> Result<Option<Self>> {
        Self::optional(page, VERDICTS, &column(kind, mode, &format!("--seeds {seeds}")))
    }

    fn optional(page: &str, heading: &str, column: &str) -> Result<Option<Self>> {
        let is_there = Self::rows(page, heading).is_ok_and(|(header, _)| header.contains(&column));
        is_there.then(|| Self::parse(page, heading, column)).transpose()
    }

    fn parse(text: &str, heading: &str, column: &str) -> Result<Self> {
        let (header, rows) = Self::rows(text, heading)?;
        let position = header.iter().position(|name| *name == column);
        let position = position.with_context(|| format!("the table under {heading:?} has no column {column:?}"))?;
        let mut verdicts = BTreeMap::new();
        for row in rows {
            ensure!(
                row.len() == header.len(),
                "the row of claim {} has {} cells, not {}",
                row[0],
                row.len(),
                header.len()
            );
            verdicts.insert(row[0].to_owned(), row[position].to_owned());
        }
        Ok(Self(verdicts))
    }

    /// Returns the header of the table and the rows below it.
    fn rows<'a>(text: &'a str, heading: &str) -> Result<(Cells<'a>, Vec<Cells<'a>>)> {
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
        let header = rows.next().with_context(|| format!("no table under {heading:?}"))?;
        Ok((header, rows.skip(1).collect()))
    }

    /// Returns the verdict of a claim in words; [`NOT_RUN`] if that kind of run was never completed.
    pub(crate) fn verdict(&self, claim: &str) -> Option<&str> {
        self.0.get(claim).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# P\n\n## Verdicts\n\nSome words.\n\n| claim | verdict | `--decide` | `--seeds 10` |\n|---|---|---|---|\n\
        | P1 | inconclusive | reproduced at 40 replications | 9 of 10 |\n\nAfter.\n";

    #[test]
    fn each_kind_of_run_has_its_column() {
        for (kind, mode, seeds, name, recorded) in [
            (None, "", "", "verdict", Some("inconclusive")),
            (None, "--decide", "", "--decide", Some("reproduced at 40 replications")),
            (None, "", "--seeds 10", "--seeds 10", Some("9 of 10")),
            (None, "--quick", "--seeds 10", "--quick --seeds 10", None),
            (Some("stand-in"), "", "", "stand-in", None),
            (Some("stand-in"), "--quick", "", "stand-in --quick", None),
            (Some("stand-in"), "", "--seeds 10", "stand-in --seeds 10", None),
        ] {
            assert_eq!(column(kind, mode, seeds), name);
            let record = Recorded::optional(TEXT, VERDICTS, name).expect("a good table");
            assert_eq!(record.as_ref().and_then(|record| record.verdict("P1")), recorded, "{name}");
            assert!(record.is_none_or(|record| record.verdict("P2").is_none()));
        }
        let error = Recorded::read(TEXT, "--quick", None).expect_err("there is none").to_string();
        assert!(error.contains("\"--quick\""), "{error}");
    }
}
