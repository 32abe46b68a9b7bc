//! A cluster by its files: [`Site`].

pub mod accounts;
pub mod conf;
pub(crate) mod hostlist;
pub(crate) mod limit_kinds;
pub(crate) mod sbatch;
pub(crate) mod text;
pub(crate) mod version;
pub mod workload;

use crate::error::{Collector, Faults};
use crate::site::accounts::Accounts;
use crate::site::conf::Conf;
use crate::site::version::Version;
use crate::site::workload::SubmittedJob;

/// Cluster as described by its files, under one version of Slurm.
#[derive(Clone, Debug)]
pub struct Site {
    /// `slurm.conf`.
    pub conf: Conf,
    /// Dump of accounts; empty if there is none.
    pub accounts: Accounts,
    /// Version whose rules apply.
    pub version: Version,
}

impl Site {
    /// Checks that all jobs can be modelled.
    ///
    /// # Errors
    ///
    /// Returns the list of jobs that cannot be modelled.
    pub fn check(&self, file: &str, jobs: &[SubmittedJob]) -> Result<(), Faults> {
        let mut faults = Collector::new(file);
        for job in jobs {
            let request = &job.request;
            for name in request.partitions.iter().filter(|name| self.conf.partition(name).is_none()) {
                faults.push(job.line, "-p", format_args!("there is no partition {name:?} in slurm.conf"));
            }
            for partition in self.partitions(job) {
                let nodes = job.whole_nodes(&self.conf, &self.conf.partitions[partition]);
                faults.take(job.line, &format!("job {}", job.id), nodes);
            }
            for (option, names) in [("-w", &request.required), ("-x", &request.excluded)] {
                for name in names.iter().filter(|name| self.node(name).is_none()) {
                    faults.push(job.line, option, format_args!("there is no node {name:?} in slurm.conf"));
                }
            }
        }
        faults.finish(())
    }

    pub(crate) fn partitions(&self, job: &SubmittedJob) -> Vec<usize> {
        if job.request.partitions.is_empty() {
            return self.conf.default_partition().into_iter().collect();
        }
        job.request.partitions.iter().filter_map(|name| self.conf.partition(name)).collect()
    }

    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.conf.nodes.iter().position(|node| node.name == name)
    }
}
