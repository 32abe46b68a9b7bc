//! Records in order of submission, as far as a window of bounded size can bring them there.

use crate::gwf::GwfRecord;
use sim_core::Span;
use std::collections::BTreeMap;

/// Delivers what it is given by submit time, those of one instant in the order in which they came. It holds a fixed number of records at
/// most: `sacct` lists jobs by number, which is nearly the order of submission, but for the tasks of arrays.
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
    /// A window of `size` records, at least one.
    pub fn holding(largest: usize) -> Self {
        Self { held: BTreeMap::new(), came: 0, largest: largest.max(1) }
    }

    /// Takes one record, with its line, and gives the earliest, if it holds more than it may.
    pub fn push(&mut self, record: GwfRecord, line: u64) -> Option<(GwfRecord, u64)> {
        self.held.insert((record.job.submit.unwrap_or_default(), self.came), (record, line));
        self.came += 1;
        if self.held.len() > self.largest { self.pop() } else { None }
    }

    /// The earliest of those that are held.
    pub fn pop(&mut self) -> Option<(GwfRecord, u64)> {
        self.held.pop_first().map(|(_, held)| held)
    }
}
