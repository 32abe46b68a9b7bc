//! Records sorted by submission within a window of bounded size.

use crate::gwf::GwfRecord;
use sim_core::Span;
use std::collections::BTreeMap;

/// Delivers records by submit time, at one instant in the order of arrival. It holds at most a fixed number of records,
/// because `sacct` lists jobs by number, which is nearly the order of submission except for the tasks of arrays.
#[derive(Debug)]
pub struct BySubmit {
    held: BTreeMap<(Span, u64), (GwfRecord, u64)>,
    came: u64,
    largest: usize,
}

impl Default for BySubmit {
    fn default() -> Self {
        Self::holding(1 << 16)
    }
}

impl BySubmit {
    /// Returns a window of `largest` records, at least one.
    pub fn holding(largest: usize) -> Self {
        Self { held: BTreeMap::new(), came: 0, largest: largest.max(1) }
    }

    /// Adds a record, with its line, and returns the earliest if the window is full.
    pub fn push(&mut self, record: GwfRecord, line: u64) -> Option<(GwfRecord, u64)> {
        self.held.insert((record.job.submit.unwrap_or_default(), self.came), (record, line));
        self.came += 1;
        if self.held.len() > self.largest { self.pop() } else { None }
    }

    /// Removes and returns the earliest record.
    pub fn pop(&mut self) -> Option<(GwfRecord, u64)> {
        self.held.pop_first().map(|(_, held)| held)
    }
}
