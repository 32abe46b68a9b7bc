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

mod columns;
mod job;
mod reader;
mod rule;
mod time;
mod window;

pub use reader::SacctReader;
pub use rule::{SacctRepairs, SacctRule};
pub use time::Zone;
pub use window::BySubmit;
