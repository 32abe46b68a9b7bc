//! Intake rules of the profile `alea31`: a log of MetaCentrum as the simulator Alea 3.1 of January 2016 reads it.
//!
//! These rules exist to reproduce the output of that simulator; [`Intake`] has better ones. They read
//! the requested nodes from column 21 (`1:ppn=12:cl_zegox#excl`):
//!
//! - A record is skipped if its submit time, its run time or its processors are −1. It still counts towards the number of
//!   records.
//! - Another negative run time becomes 1 s. (Two jobs of wagap-2013 ended before they had begun, in 1970.)
//! - Processors are those allocated (field 5), at most those of the largest cluster. `ppn` is that of the last part `ppn=`
//!   before any with a `+`; without one, it is all of them. Processors are at least `ppn`, and then a multiple of it.
//! - The limit is the requested time (field 9), or else the run time; both are at least 1 s.
//! - A job that was submitted before its predecessor counts as submitted with it.
//! - The due date is the submission + 2 × the run time.
//! - `cl_X` demands cluster X, `^cl_X` forbids it, compared by five letters; and `ppn` must fit into a node.
//! - A record without column 21, as in other archives, demands nothing, and its processors may lie on any nodes.

use crate::error::InputError;
use crate::format::machines::{Machine, Machines};
use crate::format::repair::{Repairs, Rule};
use crate::format::swf::{SwfReader, SwfRecord};
use crate::intake::{Intake, LogJob, Options};
use sim_core::{Job, Request, SiteId, SiteSet, Span};

/// Reads a log as the jobs of the profile, numbered 0, 1, 2 … as they are delivered, submitted from [`Time::ZERO`](sim_core::Time::ZERO) on.
///
/// The run time of a job is that of the log, at least 1 s. Its estimate and its requested time are the limit by which it is planned and at
/// which it is cut. Its deadline is the due date. Its sites are the clusters that it may use, by their places in
/// [`clusters`](Self::clusters), including clusters that are too small for it.
#[derive(Debug)]
pub struct Alea31Intake {
    /// Reader and counts; its options but for the number of records have no effect.
    intake: Intake,
    /// Clusters, the largest first; among equals, in the order of their file.
    pub clusters: Vec<Machine>,
}

impl Alea31Intake {
    /// Reads jobs from `records`, at most `max_records` of them if a number is given, for `machines`.
    pub fn new(records: SwfReader, machines: &Machines, max_records: Option<u64>) -> Self {
        let mut clusters = machines.clusters().to_vec();
        clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.processors()));
        let intake = Intake::new(records, Options { max_jobs: max_records, ..Options::default() });
        Self { intake, clusters }
    }

    /// Repairs so far.
    pub const fn repairs(&self) -> &Repairs {
        self.intake.repairs()
    }

    /// Returns the job, or the rule under which it is skipped.
    fn job_of(&mut self, record: SwfRecord) -> Result<LogJob, Rule> {
        let submit = record.submit.ok_or(Rule::NoSubmit)?;
        let run = run_time(self.intake.records.lines.columns().nth(3)).ok_or(Rule::NoRuntime)?;
        let allocated = record.allocated_processors.ok_or(Rule::NoProcessors)?;
        let spec = record.node_spec();
        let allocated = allocated.clamp(1, self.clusters.first().map_or(u32::MAX, Machine::processors));
        // Without column 21 the simulator knows no nodes (−1 of them, with −1 processors each), and tests only the
        // total processors of a cluster (`SWFLoader.readGridlet`, `ResourceInfo.canExecuteEver`).
        let per_node = spec.map(|spec| processors_per_node(spec).unwrap_or(allocated));
        let processors = per_node.map_or(allocated, |per_node| allocated.max(per_node) / per_node * per_node);

        let second = Span::from_secs(1);
        let runtime = Span::from_secs(u64::try_from(run).unwrap_or(1)).max(second);
        if record.requested_time.is_none() {
            self.intake.note_here(Rule::EstimateFromRuntime);
        }
        let limit = record.requested_time.unwrap_or(runtime).max(second);
        if limit < runtime {
            self.intake.note_here(Rule::CutAtEstimate);
        }
        let (id, submit) = self.intake.admit(submit);
        // The simulator doubles in 32 bits: a job that ended in 1970 is due in decades.
        let due = submit + Span::from_secs(u64::try_from(run.wrapping_mul(2)).unwrap_or(0));

        let suits = |cluster: &Machine| {
            spec.is_none_or(|spec| demands(spec, &cluster.name))
                && per_node.is_none_or(|per_node| per_node <= cluster.cpus_per_node)
        };
        let clusters = (0..).map(SiteId).zip(&self.clusters);
        let sites: SiteSet = clusters.filter(|(_, cluster)| suits(cluster)).map(|(site, _)| site).collect();
        self.intake.repairs.note_unread(&record, true);
        let request = Request { processors, estimate: Some(limit), deadline: Some(due), sites, user: record.user };
        let job = Job { id, submit, origin: None, request, runtime };
        let record = SwfRecord {
            requested_time: Some(limit),
            requested_memory: None,
            group: None,
            executable: None,
            queue: None,
            partition: None,
            further: None,
            ..record
        };
        Ok(self.intake.delivered(job, runtime, record))
    }
}

impl Iterator for Alea31Intake {
    type Item = Result<LogJob, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.intake.read()?.map(|record| self.job_of(record)) {
                Ok(Ok(job)) => return Some(Ok(job)),
                Ok(Err(rule)) => self.intake.note_here(rule),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Parses field 4 in whole seconds; `None` for −1. A record keeps no other negative run times.
fn run_time(column: Option<&[u8]>) -> Option<i32> {
    let text = std::str::from_utf8(column?).ok()?;
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    whole.parse().ok().filter(|run| *run != -1)
}

/// Returns the number of the last part `ppn=` before any with a `+`, if there is one.
fn processors_per_node(spec: &str) -> Option<u32> {
    let parts = spec.split(':').filter(|part| part.contains("ppn="));
    let last = parts.take_while(|part| !part.contains('+')).last()?;
    let (_, number) = last.split_once("ppn=")?;
    let digits = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    number[..digits].parse().ok().filter(|per_node| *per_node > 0)
}

/// Returns true if the parts `cl_…` and `^cl_…` allow the cluster of this name.
fn demands(spec: &str, name: &str) -> bool {
    let letters: String = name.chars().take(5).collect();
    spec.split(':').filter(|part| part.contains("cl_")).all(|part| part.contains('^') != part.contains(&letters))
}
