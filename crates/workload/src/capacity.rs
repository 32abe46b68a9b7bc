//! The size of a log's machine where no option gives it.

use crate::error::InputError;
use crate::repair::Rule;
use crate::swf::{Header, SwfReader};
use std::path::Path;

/// Processors of the machine that wrote the log at `path`: `MaxProcs` of its header, or else `MaxNodes`, under the rule
/// that goes with it. The standard tells them apart only where nodes have several processors, so the log is read once to
/// see that no job is wider than its nodes.
///
/// # Errors
///
/// If the log does not tell. The width of its widest job tells nothing: the machine may be many times as large, and every
/// wait would be wrong. If the log has to be read and cannot be.
pub fn capacity(header: &Header, path: &Path) -> Result<(u32, Option<Rule>), InputError> {
    if let Some(processors) = header.max_procs {
        return Ok((processors, None));
    }
    let widest = widest_job(SwfReader::open(path)?)?;
    match header.max_nodes {
        Some(nodes) if widest <= Some(nodes) => Ok((nodes, Some(Rule::CapacityFromNodes))),
        nodes => Err(InputError::NoCapacity { path: path.to_owned(), nodes, widest }),
    }
}

/// The most processors that any record held.
fn widest_job(records: SwfReader) -> Result<Option<u32>, InputError> {
    let mut widest = None;
    for record in records {
        widest = widest.max(record?.processors());
    }
    Ok(widest)
}
