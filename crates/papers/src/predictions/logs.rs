//! The logs, read once and held; resampled logs; and a stand-in if no log is available.

use super::{File, PredictionsPaper};
use anyhow::{Context, Result};
use lab::paper::logs;
use lab::parallel::in_parallel;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use sim_core::{Purpose, Span, Streams, Time};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use workload::model::{Lublin, ModelJob, Tsafrir, WorkloadModel};
use workload::resample::Users;
use workload::{HeldJob, HeldLog, SwfReader, SwfRecord};

const USERS: Purpose = Purpose("users of the stand-in");

/// A log of the published results, or the stand-in if none is available.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Log {
    KthSp2,
    SdscSp2,
    CtcSp2,
    SdscBlue,
    CeaCurie,
    StandIn,
}

impl Log {
    pub(super) const PUBLISHED: [Self; 5] = [Self::KthSp2, Self::SdscSp2, Self::CtcSp2, Self::SdscBlue, Self::CeaCurie];
    pub(super) const NAMES: [&'static str; 6] =
        ["KTH-SP2", "SDSC-SP2", "CTC-SP2", "SDSC-BLUE", "CEA-Curie", "stand-in"];

    /// Returns the name in the column `log` of the published results.
    pub(super) const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PerLog<T> {
    kth_sp2: T,
    sdsc_sp2: T,
    ctc_sp2: T,
    sdsc_blue: T,
    cea_curie: T,
}

impl<T> PerLog<T> {
    pub(super) fn of(&self, log: Log) -> &T {
        let published = [&self.kth_sp2, &self.sdsc_sp2, &self.ctc_sp2, &self.sdsc_blue, &self.cea_curie];
        published.get(log as usize).expect("the stand-in is no published log")
    }
}

/// The scenario's table of the same name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StandIn {
    pub(super) processors: u32,
    pub(super) jobs: u32,
    users: u32,
    repeats: f64,
    pub(super) longest: u32,
}

impl StandIn {
    /// Draws a workload of Lublin and Feitelson's model with estimates of Tsafrir's. Its users submit the same jobs repeatedly, because the
    /// model has no users and prediction needs a history.
    pub(super) fn drawn(&self, streams: &Streams) -> HeldLog {
        let mut drawn: Vec<ModelJob> =
            Lublin::typeless(self.processors).jobs(streams).take(self.jobs as usize).collect();
        let mut stream = streams.stream(USERS, 0);
        let mut last: BTreeMap<u32, (u32, Span)> = BTreeMap::new();
        for job in &mut drawn {
            let user = stream.random_range(0..self.users);
            let again = stream.random_bool(self.repeats);
            // Repeated jobs vary within a tenth of the run time.
            let scale = stream.random_range(0.9..1.1);
            let job = &mut job.job;
            job.user = Some(user);
            if let Some((processors, runtime)) = last.get(&user).filter(|_| again) {
                let seconds = Span::from_secs_f64(runtime.as_secs_f64() * scale).as_nanos() / 1_000_000_000;
                (job.processors, job.runtime) = (*processors, Span::from_secs(seconds.max(1)));
            } else {
                job.runtime = job.runtime.min(Span::from_secs(self.longest.into()));
                last.insert(user, (job.processors, job.runtime));
            }
        }
        Tsafrir(self.longest).assign(&mut drawn, streams).expect("no job is longer than the longest estimate");
        HeldLog::of_model(drawn.into_iter())
    }
}

named! {
    pub(super) enum Workload {
        /// The log itself.
        AsLogged = "log",
        /// A resampled one, different in each replication.
        Resampled = "resampled",
    }
}

pub(super) struct FoundLog {
    pub(super) sha256: String,
    pub(super) held: HeldLog,
    pub(super) users: Users,
}

/// Reads the wanted logs in `traces`, or else in the folder that the environment names. Those that are not there are left out.
pub(super) fn find(paper: &PredictionsPaper, traces: Option<&Path>) -> Result<BTreeMap<Log, FoundLog>> {
    let File { files, processors, .. } = &paper.file;
    let path = |log: &Log| Some((*log, logs::find(&format!("{}.swf", files.of(*log)), traces)?));
    let paths: Vec<(Log, PathBuf)> = paper.wanted.iter().filter_map(path).collect();
    let read = |(log, path): &(Log, PathBuf)| {
        let found = FoundLog::read(path, *processors.of(*log)).with_context(|| format!("{}", path.display()))?;
        Ok((*log, found))
    };
    Ok(in_parallel(&paths, read)?.into_iter().collect())
}

impl FoundLog {
    fn read(path: &Path, processors: u32) -> Result<Self> {
        let (text, sha256) = logs::unpacked(path)?;
        let records = SwfReader::from_read(path, Cursor::new(text))?;
        let taken = |record: Result<SwfRecord, _>| record.map(|record| taken(&record, processors)).transpose();
        let held = HeldLog::of(records.filter_map(taken).collect::<Result<_, _>>()?);
        let users = Users::of(&held).context("no workloads can be made from this log")?;
        Ok(Self { sha256, held, users })
    }
}

/// Returns the job of a record, as the simulator predictsim of SC'15 reads it for a machine of `processors` processors.
///
/// [`Intake`](workload::Intake) repairs records and uses the processors that a job held. These experiments use the information of a
/// scheduler, the *requested* values. They leave out jobs without a requested time and jobs wider than the machine (80 640 processors of
/// CEA-Curie, not the 93 312 of its header). If only one of requested and allocated processors is known, it stands for both. Run times
/// above the requested time are cut there.
fn taken(record: &SwfRecord, processors: u32) -> Option<HeldJob> {
    let some = |processors: Option<u32>| processors.filter(|processors| *processors > 0);
    let (allocated, requested) = (some(record.allocated_processors), some(record.requested_processors));
    let logged = record.runtime.filter(|runtime| !runtime.is_zero())?;
    let limit = record.requested_time.filter(|limit| !limit.is_zero())?;
    Some(HeldJob {
        submit: Time::ZERO + record.submit?,
        runtime: logged.min(limit),
        wait: None,
        limit: Some(limit),
        due: None,
        processors: requested.or(allocated).filter(|_| allocated.max(requested) <= Some(processors))?,
        user: record.user,
        number: record.number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_requested_is_taken_and_what_is_unknown_is_left_out() {
        // Run time, allocated and requested processors, requested time; processors and run time of the job.
        for ([run, allocated, requested, limit], job) in [
            ([50, 4, 0, 60], Some((4, 50))),
            ([50, -1, 8, 60], Some((8, 50))),
            ([70, 4, 8, 60], Some((8, 60))),
            ([50, 100, 100, 60], Some((100, 50))),
            ([50, 101, 8, 60], None),
            ([50, 4, 101, 60], None),
            ([50, -1, 0, 60], None),
            ([50, 4, 8, 0], None),
            ([50, 4, 8, -1], None),
        ] {
            let line = format!("7 3 -1 {run} {allocated} -1 -1 {requested} {limit} -1 1 9 1 -1 -1 -1 -1 -1\n");
            let mut records = SwfReader::from_read("one.swf", Cursor::new(line.clone())).expect("a log");
            let taken = taken(&records.next().expect("a record").expect("a good line"), 100);
            let found = taken.map(|job| (job.processors, job.runtime));
            assert_eq!(found, job.map(|(processors, run)| (processors, Span::from_secs(run))), "{line}");
        }
    }
}
