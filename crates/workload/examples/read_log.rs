//! Contents of a log, and the repairs that it needs.
//!
//! A colleague sends a log. Before a policy runs on it, check the number of jobs, the share of the machine that they
//! request, and the repairs.
//!
//! Shows:
//! - opening a log, plain or gzip, and reading its header
//! - taking it in as jobs, with users' estimates as limits, one job at a time
//! - reporting every repair by name, with the line of its first occurrence
//!
//! ```text
//! cargo run -p workload --example read_log            # a log of five jobs
//! cargo run -p workload --example read_log -- FILE    # any log
//! ```

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use workload::{Estimates, InputError, Intake, Options, SwfReader};

/// Five jobs on a machine of 8 processors.
pub(crate) const FIVE: &str = "\
; Computer: a small cluster
; MaxProcs: 8
1   0  0 100 4 -1 -1 4 120 -1 1 1 1 -1 -1 -1 -1 -1
2  10  0 500 4 -1 -1 4 400 -1 0 2 1 -1 -1 -1 -1 -1
3  20 90  60 8 -1 -1 8  -1 -1 1 1 1 -1 -1 -1 -1 -1
4  30 -1  -1 2 -1 -1 2 300 -1 5 3 1 -1 -1 -1 -1 -1
5 400  0 200 8 -1 -1 8 300 -1 1 2 1 -1 -1 -1 -1 -1
";

fn main() -> ExitCode {
    let log = match std::env::args_os().nth(1) {
        Some(path) => SwfReader::open(Path::new(&path)),
        None => SwfReader::from_read("five.swf", FIVE.as_bytes()),
    };
    match log.and_then(report) {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(if error.is_io() { 3 } else { 2 })
        }
    }
}

pub(crate) fn report(log: SwfReader) -> Result<String, InputError> {
    let machine = log.header().max_procs;
    let mut intake = Intake::new(log, Options { estimates: Estimates::User, capacity: machine, ..Options::default() });

    let (mut jobs, mut work, mut last_submit) = (0, 0.0, 0.0_f64);
    for job in intake.by_ref() {
        let job = job?.job;
        jobs += 1;
        work += job.runtime.as_secs_f64() * f64::from(job.request.processors);
        last_submit = job.submit.as_secs_f64();
    }

    let mut report = String::new();
    let _ = writeln!(report, "{jobs} jobs over {last_submit} s");
    if let Some(processors) = machine {
        let load = work / (last_submit * f64::from(processors));
        let _ = writeln!(report, "offered load {load:.2} on {processors} processors");
    }
    for repair in intake.repairs().iter() {
        let place = repair.first_line.map(|line| format!(", first in line {line}")).unwrap_or_default();
        let _ = writeln!(report, "{} × {}{place}: {}", repair.count, repair.rule, repair.rule.description());
    }
    Ok(report)
}
