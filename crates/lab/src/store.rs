//! Finished replications on disk, so that nothing is computed twice and nothing is lost.
//!
//! One small JSON file per replication, `cells/ab/ab12….json`, named by the SHA-256 of all that determines it: the
//! paper, the sources of the models, the scenario, the cell, the seed, the replication. No file is ever changed.

use crate::output::{Durability, write_whole};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Finished replications below one folder.
pub struct Store {
    folder: PathBuf,
}

/// All that determines one replication.
#[derive(Serialize)]
pub struct Identity<'a> {
    /// Its name.
    pub paper: &'a str,
    /// Hash of the sources that determine a result.
    pub models: &'a str,
    /// All that tells this cell from others.
    pub cell: &'a serde_json::Value,
    /// The seed.
    pub seed: u64,
    /// The number of the replication.
    pub replication: u32,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    /// `null` where a metric is not defined.
    metrics: BTreeMap<String, Option<f64>>,
}

impl Store {
    /// Those below `folder`, which need not be there.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, identity: &Identity<'_>) -> PathBuf {
        let identity = serde_json::to_vec(identity).expect("an identity is plain data");
        let name = hex::encode(Sha256::digest(identity));
        self.folder.join(&name[..2]).join(format!("{name}.json"))
    }

    /// The metrics of a finished replication, in the order of `names`. A file that is missing, damaged or lacks a metric
    /// counts as not finished: the replication is computed again.
    pub fn load(&self, identity: &Identity<'_>, names: &[String]) -> Option<Vec<f64>> {
        let text = std::fs::read(self.path(identity)).ok()?;
        let stored: Stored = serde_json::from_slice(&text).ok()?;
        names.iter().map(|name| stored.metrics.get(name).map(|value| value.unwrap_or(f64::NAN))).collect()
    }

    /// Keeps a finished replication.
    pub fn save(&self, identity: &Identity<'_>, names: &[String], metrics: &[f64]) -> Result<()> {
        let metrics = names.iter().cloned().zip(metrics.iter().map(|value| value.is_finite().then_some(*value)));
        let text = serde_json::to_vec(&Stored { metrics: metrics.collect() }).expect("metrics are plain data");
        write_whole(&self.path(identity), &text, Durability::Cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(cell: &serde_json::Value, replication: u32) -> Identity<'_> {
        Identity { paper: "p", models: "m", cell, seed: 1, replication }
    }

    #[test]
    fn what_was_saved_is_loaded_to_the_last_bit_and_nothing_else_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path().to_owned());
        let (cell, names) = (serde_json::json!({"load": 1}), ["a".to_owned(), "b".to_owned()]);
        store.save(&identity(&cell, 0), &names, &[0.1 + 0.2, f64::NAN]).expect("it is written");
        let loaded = store.load(&identity(&cell, 0), &names).expect("it is there");
        assert_eq!(loaded[0].to_bits(), (0.1_f64 + 0.2).to_bits());
        assert!(loaded[1].is_nan());
        assert!(store.load(&identity(&cell, 1), &names).is_none());
        assert!(store.load(&identity(&cell, 0), &["c".to_owned()]).is_none());
    }

    #[test]
    fn a_damaged_file_is_computed_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path().to_owned());
        let (cell, names) = (serde_json::json!(1), ["a".to_owned()]);
        store.save(&identity(&cell, 0), &names, &[1.5]).expect("it is written");
        let path = store.path(&identity(&cell, 0));
        let text = std::fs::read(&path).expect("it is there");
        std::fs::write(&path, &text[..text.len() / 2]).expect("it can be damaged");
        assert!(store.load(&identity(&cell, 0), &names).is_none());
    }
}
