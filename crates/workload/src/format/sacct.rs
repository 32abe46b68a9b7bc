//! Jobs of a cluster from Slurm's accounting: `sacct --parsable2`.
//!
//! The first line names the columns, in any order, separated by `|`; every other line is a job, a task of a job array,
//! or a step of one. Steps and unfinished jobs are skipped. Times are local to the cluster, without a zone, which must
//! be given, unless `sacct` was called for seconds since 1970 ([`Zone`]). Every repair of a line has a name and is
//! counted ([`SacctRule`]). This command prints all columns that are read:
//!
//! ```sh
//! SLURM_TIME_FORMAT=%s sacct --allusers --allocations --parsable2 --starttime 2026-01-01 --endtime 2026-07-01 \
//!   --format JobIDRaw,JobID,User,Group,Account,QOS,Partition,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocCPUS,ReqCPUS,NNodes,AllocTRES,ReqMem,TotalCPU,State
//! ```

mod job;
mod reader;
mod time;

pub(crate) use reader::WITH_GPUS;
pub use reader::{SacctJob, SacctReader};
pub use time::Zone;

crate::format::repair::rules! {
    /// Repairs of lines of `sacct` that do not describe a finished job completely. There are no others.
    enum SacctRule {
        Step = "step": "a step (123.batch, 123.0): left out, its job holds the processors",
        Unfinished = "unfinished": "had not ended when sacct ran: left out",
        Revoked = "revoked": "another cluster of the federation ran it: left out",
        NoSubmit = "no-submit": "Submit unknown: left out",
        CancelledBeforeStart = "cancelled-before-start":
            "cancelled while it waited: kept without wait, run time and allocated processors",
        NeverStarted = "never-started":
            "ended without having run: kept without wait, run time and allocated processors",
        StartBeforeSubmit = "start-before-submit": "Start before Submit: the wait taken as zero",
        EndBeforeStart = "end-before-start": "End before Start, and no Elapsed: the run time taken as unknown",
        ElapsedDiffers = "elapsed-differs":
            "Elapsed is not End - Start (suspended, or clocks set): Elapsed is the run time",
        NoLimit = "no-limit": "no limit (UNLIMITED, or none given): the requested time taken as unknown",
        PartitionLimit = "partition-limit":
            "the limit is that of the partition, which sacct does not tell: taken as unknown",
        UnknownState = "unknown-state": "a State that has no place in the format: taken as unknown",
        AmbiguousTime = "ambiguous-time":
            "a local time that clocks showed twice or never (summer time): the first, or as if they had gone on",
        Gpus = "gpus": "requests GPUs, which no log format here has a column for: kept with its processors alone",
        HetComponent = "het-component":
            "a component of a heterogeneous job (123+0): kept as a job of its own, free to start apart from the others",
        ArrayRange = "array-range": "several tasks of an array that never ran, on one line (123_[4-9]): kept as one job",
        OutOfOrder = "out-of-order": "submitted before jobs that were written long before it: placed behind them",
    }
}
