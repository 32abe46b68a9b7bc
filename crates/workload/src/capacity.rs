//! Size of a log's machine if no option gives it.

use crate::error::InputError;
use crate::repair::Rule;
use crate::swf::{Header, SwfReader};
use std::path::Path;

/// Returns the number of processors of the machine that wrote the log at `path`: `MaxProcs` of its header, or else
/// `MaxNodes`, with the rule applied. The standard distinguishes them only where nodes have several processors, so the
/// log is read once to check that no job is wider than the number of nodes.
///
/// # Errors
///
/// If the log does not state it, or must be read and cannot be. The width of the widest job is no substitute: the
/// machine may be many times as large, and every wait would be wrong.
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

/// Returns the largest number of processors of any record.
fn widest_job(records: SwfReader) -> Result<Option<u32>, InputError> {
    let mut widest = None;
    for record in records {
        widest = widest.max(record?.processors());
    }
    Ok(widest)
}
