//! How large a log's machine is, if nobody says so.

use crate::repair::Rule;
use crate::swf::{Header, SwfError, SwfReader};
use std::path::Path;

/// Processors of the machine that wrote the log at `path`: `MaxProcs` of its header, or else `MaxNodes`, or else the
/// width of its widest job, for which the log is read once. The last two are named by the rule that goes with them.
///
/// # Errors
///
/// If the log has to be read and cannot be, or tells nothing.
pub fn capacity(header: &Header, path: &Path) -> Result<(u32, Option<Rule>), SwfError> {
    if let Some(processors) = header.max_procs {
        return Ok((processors, None));
    }
    if let Some(nodes) = header.max_nodes {
        return Ok((nodes, Some(Rule::CapacityFromNodes)));
    }
    match widest_job(SwfReader::open(path)?)? {
        Some(processors) => Ok((processors, Some(Rule::CapacityFromWidestJob))),
        None => Err(SwfError::NoCapacity { path: path.to_owned() }),
    }
}

/// The most processors that any record held.
fn widest_job(records: SwfReader) -> Result<Option<u32>, SwfError> {
    let mut widest = None;
    for record in records {
        widest = widest.max(record?.processors());
    }
    Ok(widest)
}
