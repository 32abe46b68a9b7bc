//! What `simulate` reads beside a log, read and nothing more: for whoever writes such files, and for those who try to break it.

use super::clusters::Clusters;
use super::grid_tree::GridTree;
use super::policy::Policy;
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

/// Reads the name of a policy that is no program, and gives it as the folder of its results is called.
///
/// # Errors
///
/// What is wrong with it.
pub fn policy(text: &str) -> Result<String, String> {
    if text.starts_with("exec+") {
        return Err("a program".to_owned());
    }
    text.parse::<Policy>().map(|policy| policy.name().to_owned())
}
