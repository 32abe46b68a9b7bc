//! Stand-in for a confidential log.
//!
//! The example measures the parameters of a log, which reveal no job, and prints them; any number of jobs can be drawn from them.
//!
//! Shows:
//! - measuring the parameters of a session model in a log
//! - printing them as a file that can be edited and read again
//! - drawing a log from them
//!
//! ```text
//! cargo run -p workload --example fit_log                 # the parameters of a made-up log
//! cargo run -p workload --example fit_log -- FILE [ZONE]  # of any log; seconds that its local time is ahead of UTC
//! ```

use sim_core::Streams;
use std::error::Error;
use std::path::Path;
use workload::model::{Lublin, WorkloadModel, fit};
use workload::{SwfReader, SwfWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let log = match arguments.next() {
        Some(path) => SwfReader::open(Path::new(&path))?,
        None => SwfReader::from_read("made-up.swf", std::io::Cursor::new(made_up()?))?,
    };
    let zone = arguments.next().map(|zone| zone.parse()).transpose()?;
    let model = fit(log, zone)?;
    print!("{}", toml::to_string(&model)?);
    let jobs = model.jobs(&Streams::new(1, 0)).take(1_000);
    let work: f64 = jobs.map(|job| job.job.runtime.as_secs_f64() * f64::from(job.job.request.processors)).sum();
    eprintln!("a thousand jobs drawn from it take {:.0} processor-hours", work / 3_600.0);
    Ok(())
}

/// Returns a log of a thousand jobs by the model of Lublin & Feitelson.
fn made_up() -> std::io::Result<Vec<u8>> {
    let mut log = SwfWriter::new(Vec::new());
    for job in Lublin::typeless(16).jobs(&Streams::new(1, 0)).take(1_000) {
        log.record(&job.record())?;
    }
    Ok(log.into_inner())
}
