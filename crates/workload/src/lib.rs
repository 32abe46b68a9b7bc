//! Jobs from logs and from distributions.
//!
//! This crate contains everything that turns a file or a random stream into [`sim_core::Job`]s, so that a policy crate
//! never sees a parser. Entry points:
//!
//! - [`swf`] reads logs in the Standard Workload Format of the Parallel Workloads Archive, plain or gzip, one record at
//!   a time; [`Intake`] turns its records into jobs under named rules, and counts every repair. It also takes the
//!   choice of [`Estimates`] and [`Deadlines`].
//! - [`inspect`] summarizes a log, and [`validate`] lists its anomalies, line by line.
//! - [`sacct`] reads the output of Slurm's accounting, and [`convert`](mod@convert) converts one format into the other.
//! - [`HeldLog`] holds a log that is replayed many times, and [`resample`] makes more logs like it: shaken, or with
//!   weeks or users drawn at random.
//! - [`Machines`] reads the machine files that go with some logs: clusters, nodes, processors per node.
//! - [`alea31`] reads a log of MetaCentrum as the simulator Alea 3.1 did, for comparison with its output.
//! - [`deadline_mix`] draws machines of different speed and jobs with deadlines, as in Klusáček et al., "Comparison of
//!   Multi-Criteria Scheduling Techniques" (2008), §4.
//! - [`model`] draws from the published model of Lublin & Feitelson, gives jobs the
//!   estimates of Tsafrir, Etsion & Feitelson, and measures in a log the parameters of a stand-in for it.
//!
//! Memory follows the longest line, not the length of the log. Bad input is an error that names the file, the line, the
//! field and the fix; it is never a panic.
//!
//! ```
//! use sim_core::{Span, Time};
//! use workload::{Estimates, Intake, Options, Rule, SwfReader};
//!
//! let log = "\
//! ; MaxProcs: 128
//! 1 100  5 60 4 -1 -1 4 50 -1 1 7 1 -1 -1 -1 -1 -1
//! 2 130 -1 -1 8 -1 -1 8 90 -1 5 7 1 -1 -1 -1 -1 -1
//! 3 160  0 30 1 -1 -1 1 -1 -1 1 9 1 -1 -1 -1 -1 -1
//! ";
//! let reader = SwfReader::from_read("three.swf", log.as_bytes())?;
//! assert_eq!(reader.header().max_procs, Some(128));
//!
//! let mut intake = Intake::new(reader, Options { estimates: Estimates::User, ..Options::default() });
//! let jobs = intake.by_ref().collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(jobs.len(), 2); // job 2 never ran
//! assert_eq!(jobs[0].job.runtime, Span::from_secs(50)); // its limit, which a machine would have enforced
//! assert_eq!(jobs[1].job.submit, Time::from_secs(60)); // since the first job
//!
//! let repairs: Vec<_> = intake.repairs().iter().map(|repair| (repair.rule.name(), repair.count)).collect();
//! assert_eq!(repairs, [("no-runtime", 1), ("estimate-from-runtime", 1), ("cut-at-estimate", 1)]);
//! assert_eq!(intake.repairs().count(Rule::NoProcessors), 0);
//! # Ok::<(), workload::InputError>(())
//! ```

pub mod deadline_mix;
mod draw;
mod error;
mod format;
pub mod inspect;
mod intake;
pub mod model;
pub mod resample;

pub use deadline_mix::DeadlineMix;
pub use error::{InputError, ParameterError, TextError};
pub use format::convert::{ConvertError, Converted, Layout};
pub use format::machines::{Machine, Machines};
pub use format::repair::{Repairs, Rule};
pub use format::sacct::{SacctJob, SacctReader};
pub use format::swf::decimal::span;
pub use format::swf::{SwfReader, SwfRecord, SwfWriter};
pub use format::{convert, file, repair, sacct, swf};
pub use inspect::Inspection;
pub use intake::alea31::Alea31Intake;
pub use intake::deadlines::Deadlines;
pub use intake::estimates::Estimates;
pub use intake::held::{HeldJob, HeldLog};
pub use intake::validate::Validation;
pub use intake::{Intake, LogJob, Options, alea31, capacity, validate};
