//! `cargo xtask bench`: the criterion benchmarks, and their ratios in one run.

use crate::cli::{self, Common};
use crate::scenario::workspace;
use crate::{Ending, print};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Ratios worth knowing: what is compared, the group, the benchmark, its baseline. Above 1 the first is faster.
///
/// Each pair does the same work and is measured minutes apart at most, so the ratio holds where absolute times do not.
const RATIOS: &[Ratio] = &[
    Ratio {
        what: "calendar against BinaryHeap, 1 000 pending",
        fast: "hold/calendar/1000",
        slow: "hold/binary-heap/1000",
        target: 0.8,
    },
    Ratio {
        what: "calendar against BinaryHeap, 1 000 000 pending",
        fast: "hold/calendar/1000000",
        slow: "hold/binary-heap/1000000",
        target: 1.5,
    },
];

struct Ratio {
    what: &'static str,
    fast: &'static str,
    slow: &'static str,
    /// What the ratio should reach.
    target: f64,
}

/// Runs `cargo bench`, then prints each benchmark's median and the ratios.
pub(crate) fn bench(options: &cli::Bench, common: &Common) -> Result<Ending> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "--workspace", "--benches", "--quiet", "--"]).current_dir(workspace());
    command.args(&options.filter);
    if options.quick {
        command.args(["--warm-up-time", "0.3", "--measurement-time", "1", "--sample-size", "10"]);
    }
    if common.json || common.quiet {
        command.stdout(std::process::Stdio::null());
    }
    if !command.status().context("cannot run cargo bench")?.success() {
        bail!("cargo bench failed");
    }
    let mut medians = BTreeMap::new();
    collect(&workspace().join("target/criterion"), &mut medians)?;
    if let Some(filter) = &options.filter {
        medians.retain(|name, _| name.contains(filter));
    }
    if common.json {
        print(&format!("{:#}\n", serde_json::json!({ "median_nanoseconds": medians, "ratios": ratios(&medians) })));
    } else {
        print(&table(&medians));
    }
    Ok(Ending::Done)
}

fn ratios(medians: &BTreeMap<String, f64>) -> BTreeMap<&'static str, f64> {
    let ratio = |ratio: &Ratio| Some((ratio.what, medians.get(ratio.slow)? / medians.get(ratio.fast)?));
    RATIOS.iter().filter_map(ratio).collect()
}

fn table(medians: &BTreeMap<String, f64>) -> String {
    let mut text = String::from("median of each benchmark\n");
    for (name, nanoseconds) in medians {
        let _ = writeln!(text, "  {nanoseconds:>16.1} ns  {name}");
    }
    let ratios = ratios(medians);
    text += "ratios in this run (above 1: faster than what it is compared with)\n";
    for ratio in RATIOS {
        if let Some(value) = ratios.get(ratio.what) {
            let _ = writeln!(text, "  {value:>6.2} ×  {} (wanted: {} ×)", ratio.what, ratio.target);
        }
    }
    text
}

/// Finds `…/new/estimates.json` below `folder`, and names each benchmark by its path.
fn collect(folder: &Path, medians: &mut BTreeMap<String, f64>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let estimates = path.join("new/estimates.json");
        if estimates.is_file() {
            let text = std::fs::read(path.join("new/benchmark.json"))?;
            let about: serde_json::Value = serde_json::from_slice(&text)?;
            let text = std::fs::read(&estimates)?;
            let estimates: serde_json::Value = serde_json::from_slice(&text)?;
            let name = about["full_id"].as_str().context("criterion names every benchmark")?;
            let median = estimates["median"]["point_estimate"].as_f64().context("criterion estimates a median")?;
            medians.insert(name.to_owned(), median);
        } else if path.is_dir() {
            collect(&path, medians)?;
        }
    }
    Ok(())
}
