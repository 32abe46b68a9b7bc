//! What `simulate` reads beside a log, read and nothing more: for whoever writes such files, and for those who try to break it.

use super::clusters::Clusters;
use super::grid_tree::GridTree;
use anyhow::Result;

/// Reads the text of a clusters file, as `--clusters` takes it.
///
/// # Errors
///
/// What is wrong with it.
pub fn clusters(text: &str) -> Result<()> {
    Ok(Clusters::parse(text)?.config.validate()?)
}

/// Reads the text of a tree file, as `--tree` takes it.
///
/// # Errors
///
/// What is wrong with it.
pub fn tree(text: &str) -> Result<()> {
    GridTree::parse(text).map(drop)
}
