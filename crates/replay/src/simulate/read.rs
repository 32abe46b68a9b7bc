//! What `simulate` reads beside a log, read and nothing more: for whoever writes such files, and for those who try to break it.

use super::clusters::Clusters;
use super::exec::{Command, Exec};
use super::grid_tree::GridTree;
use super::policy::Policy;
use super::transcript;
use super::watch::Known;
use anyhow::Result;
use gap_schedule::{Machine, MultiCluster};
use sim_core::{Fact, Job, Sim, Time};
use std::path::Path;
use std::time::Duration;

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
    text.parse::<Policy>().map(Policy::name)
}

/// Reads a transcript of messages, as `--replay` takes it, and counts them.
///
/// # Errors
///
/// It cannot be read, or a line is no message.
pub fn transcript(path: &Path) -> Result<u64> {
    transcript::count(path)
}

/// Runs jobs on machines of so many processors under a program that decides, which has a second for each answer.
///
/// # Errors
///
/// The program cannot be started, or an answer is not what the protocol says.
pub fn program(words: &[String], processors: &[u32], jobs: Vec<Job>) -> Result<Vec<(Time, Fact)>> {
    let machines: Vec<Machine> = processors.iter().map(|processors| Machine::new(*processors)).collect();
    let (exec, failure) = Exec::start(&Command(words.to_owned()), &machines, Known::default(), Duration::from_secs(1))?;
    let (world, told) = Sim::new(MultiCluster::new(machines, exec, jobs.into_iter()), Vec::new()).run();
    drop(world);
    match failure.take() {
        Some(error) => Err(error),
        None => Ok(told),
    }
}
