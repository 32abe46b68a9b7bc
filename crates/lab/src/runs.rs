//! Number of replications and seed of a paper: the part of a scenario that the laboratory reads itself.

use anyhow::{Result, ensure};
use serde::Deserialize;
use toml_edit::{Document, Item};

/// Amount of work.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All replications.
    Full,
    /// A tenth or less, for a quick look and for CI.
    Quick,
}

/// Keys of the table `run` of every scenario. A paper does not read them: [`Scenario::typed`](crate::scenario::Scenario::typed) leaves them
/// out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Runs {
    /// Replications of each cell without `--reps`.
    replications: u32,
    /// Replications with `--quick`, if different.
    quick_replications: Option<u32>,
    /// Seed without `--seed`.
    pub(crate) seed: u64,
}

/// Keys of [`Runs`].
const KEYS: [&str; 3] = ["replications", "quick_replications", "seed"];

impl Runs {
    /// Rejects a number of replications of 0.
    pub(crate) fn validate(&self) -> Result<()> {
        for (key, value) in [("replications", Some(self.replications)), ("quick_replications", self.quick_replications)]
        {
            ensure!(value != Some(0), "run.{key} is 0; at least 1 is needed");
        }
        Ok(())
    }

    /// Returns the number of replications of each cell.
    pub(crate) fn replications(&self, effort: Effort) -> u32 {
        match effort {
            Effort::Full => self.replications,
            Effort::Quick => self.quick_replications.unwrap_or(self.replications),
        }
    }
}

/// Returns a scenario without the keys of [`Runs`], and without their table if it has no other keys. The rest keeps its line numbers.
pub(crate) fn without(text: &str) -> String {
    let mut left = text.to_owned();
    let mut blank = |from: usize, to: usize| left.replace_range(from..to, &" ".repeat(to - from));
    let Ok(document) = Document::parse(text) else { return left };
    let Some(Item::Table(run)) = document.as_table().get("run") else { return left };
    for key in KEYS {
        let Some((key, value)) = run.get_key_value(key) else { continue };
        if let Some((key, value)) = key.span().zip(value.span()) {
            blank(key.start, value.end);
        }
    }
    if run.iter().all(|(key, _)| KEYS.contains(&key))
        && let Some(head) = run.span()
    {
        blank(head.start, head.start + text[head.start..].find(']').map_or(0, |end| end + 1));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_is_left_for_the_paper_stands_on_its_lines() {
        let text =
            "[grid]\nsites = 2 # §3\n\n[run]\nreplications = 20 # §4\nseed = 7\njobs = 400\nquick_replications = 4\n";
        let left = without(text);
        assert_eq!(left.lines().map(str::trim).collect::<Vec<_>>()[3..], ["[run]", "# §4", "", "jobs = 400", ""]);
        assert_eq!(left.len(), text.len());
        let alone = without("[run]\nreplications = 20\nseed = 7\n[grid]\nsites = 2\n");
        assert_eq!(alone.lines().map(str::trim).collect::<Vec<_>>(), ["", "", "", "[grid]", "sites = 2"]);
    }
}
