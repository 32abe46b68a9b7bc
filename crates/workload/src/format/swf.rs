//! Standard Workload Format: one job per line, 18 columns, comments after `;`.
//!
//! Defined by the Parallel Workloads Archive (Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel
//! Job Schedulers", 1999; version 2.2). The reader accepts the variations of real logs: header lines may have blanks
//! before their key and remarks after their value; comments may also occur between records; columns may be fractions
//! (`142.00`); further columns may follow the eighteen, as in the logs of MetaCentrum.

pub(crate) mod decimal;
mod header;
mod reader;
mod record;
mod writer;

pub use header::Header;
pub use reader::SwfReader;
pub use record::{Status, SwfRecord};
pub use writer::SwfWriter;

/// Joins words by underscores, since blanks separate columns.
pub(crate) fn one_word(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join("_")
}
