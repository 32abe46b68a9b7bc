//! The search for Swift Gap: combinations of its readings on the log of Wagap, the nearest to table 3 of the paper first.
//!
//! ```sh
//! cargo run --release -p papers --example swift_gap_nearest -- logs          # the folder of the log
//! cargo run --release -p papers --example swift_gap_nearest -- logs 10 out   # 10 replications of each, into the folder out
//! ```
//!
//! Which verdicts change under which reading is what `doubt swift-gap` tells; this asks the other way round which readings
//! print the paper's numbers. Finished runs are kept below OUT/cells: a search that was stopped goes on where it was.

use anyhow::{Context, Result};
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let traces = arguments.next().map(PathBuf::from);
    let replications = match arguments.next() {
        Some(number) => {
            let number = number.to_string_lossy().into_owned();
            number.parse().with_context(|| format!("{number:?} is no number of replications; give 1 or more"))?
        }
        None => 1,
    };
    let out = arguments.next().map(PathBuf::from);
    lab::interrupt::listen();
    lab::cli::print(&papers::search_swift_gap(traces.as_deref(), out, replications, false)?);
    Ok(())
}
