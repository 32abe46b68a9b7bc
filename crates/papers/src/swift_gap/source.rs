//! Source of the jobs: the log of Wagap if it is available, and stand-ins for it and for the log of Zewura.

use super::SwiftGapPaper;
use anyhow::{Result, bail, ensure};
use lab::paper::logs;
use sim_core::{Job, Streams};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use workload::model::{SessionModel, WorkloadModel};
use workload::{Alea31Intake, Machines, SwfReader, SwfWriter};

pub(super) const PUBLIC_PLACE: &str = "repository aleasimulator/alea, Alea/data-set/wagap-2013.swf";

named! {
    pub(super) enum Workload {
        Zewura = "Zewura",
        Wagap = "Wagap",
    }
}

impl Workload {
    pub(super) const ALL: [Self; 2] = [Self::Zewura, Self::Wagap];
}

tables! {
    /// The scenario's table `clusters`: nodes, and processors of each.
    pub(super) struct ClusterSizes {
        zewura: [u32; 2],
        zegox: [u32; 2],
    }

    /// The scenario's table `log`.
    pub(super) struct LogEntry {
        pub(super) name: String,
        pub(super) sha256: String,
    }
}

impl ClusterSizes {
    /// Returns names, nodes and processors of the clusters of a workload.
    pub(super) fn of(&self, workload: Workload) -> Vec<(&'static str, [u32; 2])> {
        let mut clusters = vec![("zewura", self.zewura)];
        if workload != Workload::Zewura {
            clusters.push(("zegox", self.zegox));
        }
        clusters
    }

    /// Returns the processors of each cluster, the largest first.
    pub(super) fn processors(&self, workload: Workload) -> Vec<u32> {
        let of_each = self.of(workload).into_iter().map(|(_, [nodes, processors])| nodes * processors);
        let mut processors: Vec<u32> = of_each.collect();
        processors.sort_unstable_by_key(|processors| std::cmp::Reverse(*processors));
        processors
    }

    fn machines(&self, workload: Workload) -> Machines {
        let line = |(id, (name, [nodes, processors])): (usize, (&str, [u32; 2]))| {
            format!("{id}\t{name}\t{nodes}\t{processors}\t1\t0\n")
        };
        let text: String = self.of(workload).into_iter().enumerate().map(line).collect();
        Machines::from_read("[clusters]", Cursor::new(text)).expect("the scenario was validated")
    }
}

pub(super) enum Wagap {
    /// The log, before the search.
    Unread,
    /// The jobs of the log among the first records, by number of records.
    Log(BTreeMap<u32, Arc<[Job]>>),
    StandIn,
}

impl SwiftGapPaper {
    /// Searches for the log in `traces`, or else in the folder that the environment names.
    ///
    /// # Errors
    ///
    /// If `traces` is given and the log is not there; if it is another log, cannot be read or is faulty; if the machine file beside it
    /// describes other clusters.
    pub(super) fn find_wagap(&self, traces: Option<&Path>) -> Result<Wagap> {
        let name = &self.file.log.name;
        match (logs::find(&format!("{name}.swf"), traces), traces) {
            (Some(path), _) => Ok(Wagap::Log(self.read(&path)?)),
            (None, Some(folder)) => bail!(
                "--traces {}: neither {name}.swf nor {name}.swf.gz is there; the log is public ({PUBLIC_PLACE}), and \
                 without --traces a stand-in runs",
                folder.display()
            ),
            (None, None) => Ok(Wagap::StandIn),
        }
    }

    fn read(&self, path: &Path) -> Result<BTreeMap<u32, Arc<[Job]>>> {
        let (text, sha256) = logs::unpacked(path)?;
        let wanted = &self.file.log.sha256;
        ensure!(
            sha256 == *wanted,
            "{}: this is another log: its SHA-256, unpacked, is {sha256}, and not {wanted}; the log is public ({PUBLIC_PLACE}), \
             and --set log.sha256={sha256} takes this one",
            path.display()
        );
        let machines = self.file.clusters.machines(Workload::Wagap);
        let text: Arc<[u8]> = text.into();
        let name = path.display().to_string();
        let read = |records: &u32| {
            let log = SwfReader::from_read(&name, Cursor::new(Arc::clone(&text)))?;
            Ok((*records, jobs_of(Alea31Intake::new(log, &machines, Some(u64::from(*records))))?))
        };
        self.records.union(&self.file.workload.records).map(read).collect()
    }

    /// Returns true if the log of Wagap is available, or was not yet searched for.
    pub(super) const fn is_log(&self) -> bool {
        !matches!(self.wagap, Wagap::StandIn)
    }

    pub(super) fn jobs(&self, workload: Workload, records: u32, streams: &Streams) -> Arc<[Job]> {
        if let (Workload::Wagap, Wagap::Log(jobs)) = (workload, &self.wagap) {
            return Arc::clone(&jobs[&records]);
        }
        // The first jobs of a stand-in, written as a log and read like one.
        let mut log = SwfWriter::new(Vec::new());
        for job in model(workload).jobs(streams).take(records as usize) {
            log.record(&job.record()).expect("memory takes everything");
        }
        let log = SwfReader::from_read("stand-in", Cursor::new(log.into_inner())).expect("there are records");
        jobs_of(Alea31Intake::new(log, &self.file.clusters.machines(workload), None))
            .expect("what was written can be read")
    }

    /// Returns the name of a workload in `runs.csv`.
    pub(super) fn short_name(&self, workload: Workload) -> String {
        workload.name().to_lowercase() + if self.is_redrawn(workload) { "-like" } else { "" }
    }

    /// Returns the name of a workload in figures.
    pub(super) fn place(&self, workload: Workload) -> String {
        workload.name().to_owned() + if self.is_redrawn(workload) { " stand-in" } else { "" }
    }

    /// Returns all that determines the jobs, except the seed.
    pub(super) fn identity(&self, workload: Workload) -> serde_json::Value {
        match (workload, &self.wagap) {
            (Workload::Wagap, Wagap::Log(_)) => serde_json::json!({ "log": self.file.log.sha256 }),
            _ => serde_json::json!({ "model": model(workload) }),
        }
    }
}

fn model(workload: Workload) -> SessionModel {
    match workload {
        Workload::Zewura => SessionModel::zewura_like(),
        Workload::Wagap => SessionModel::wagap_like(),
    }
}

fn jobs_of(intake: Alea31Intake) -> Result<Arc<[Job]>> {
    intake.map(|job| Ok(job?.job)).collect()
}
