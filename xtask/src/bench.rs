//! `cargo xtask bench`: the criterion benchmarks, and their ratios in one run.

use anyhow::{Context, Result, bail};
use clap::Args;
use lab::chart::significant;
use lab::cli::{Common, Ending, print};
use lab::scenario::workspace;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Only benchmarks whose name contains this.
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Shorter measurements: a first impression.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// What is worth comparing. Both sides are measured in one run, so the ratio holds where absolute times do not.
const RATIOS: &[Ratio] = &[
    Ratio {
        what: "calendar against BinaryHeap, 1 000 pending events",
        ours: "hold/calendar/1000",
        other: "hold/binary-heap/1000",
        wanted: 0.8,
    },
    Ratio {
        what: "calendar against BinaryHeap, 1 000 000 pending events",
        ours: "hold/calendar/1000000",
        other: "hold/binary-heap/1000000",
        wanted: 1.5,
    },
    Ratio {
        what: "EASY, jobs per second: a log of 100 000 against one of 10 000",
        ours: "100 000 jobs/EASY",
        other: "10 000 jobs/EASY",
        wanted: 0.8,
    },
    Ratio {
        what: "profile against a walk along its steps, 10 000 steps",
        ours: "plan and cancel/blocks/10000",
        other: "plan and cancel/walk/10000",
        wanted: 5.0,
    },
    Ratio { what: "SWF reader against split and parse", ours: "swf/plain", other: "swf/naive", wanted: 2.0 },
    Ratio {
        what: "quantile sketch against one with logarithms",
        ours: "sketch/bitwise",
        other: "sketch/logarithmic",
        wanted: 1.0,
    },
];

/// Two benchmarks of the same work.
struct Ratio {
    what: &'static str,
    ours: &'static str,
    other: &'static str,
    /// What the rate of ours over that of the other should reach.
    wanted: f64,
}

/// What criterion found of one benchmark.
struct Measured {
    nanoseconds: f64,
    /// How many things one iteration deals with: jobs, lines, records.
    elements: f64,
}

impl Measured {
    fn per_second(&self) -> f64 {
        1e9 * self.elements / self.nanoseconds
    }
}

/// Runs `cargo bench`, then prints each benchmark's median and the ratios.
pub(crate) fn bench(options: &Bench, common: &Common) -> Result<Ending> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "--workspace", "--benches", "--"]).current_dir(workspace());
    command.args(&options.filter);
    if options.quick {
        command.args(["--warm-up-time", "0.3", "--measurement-time", "1", "--sample-size", "10"]);
    }
    if common.json || common.quiet {
        command.stdout(std::process::Stdio::null());
    }
    if !command.status().context("cannot run cargo bench")?.success() {
        bail!("cargo bench failed; its messages are above");
    }
    let mut found = BTreeMap::new();
    collect(&criterion_folder(), &mut found)?;
    if let Some(filter) = &options.filter {
        found.retain(|name, _| name.contains(filter));
    }
    print(&if common.json { as_json(&found) } else { as_text(&found) });
    Ok(Ending::Done)
}

/// Where criterion keeps what it measured.
fn criterion_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from).join("criterion")
}

fn ratios(found: &BTreeMap<String, Measured>) -> impl Iterator<Item = (&'static Ratio, f64)> {
    RATIOS
        .iter()
        .filter_map(|ratio| Some((ratio, found.get(ratio.ours)?.per_second() / found.get(ratio.other)?.per_second())))
}

fn as_json(found: &BTreeMap<String, Measured>) -> String {
    let benchmarks = found.iter().map(|(name, measured)| {
        let value = serde_json::json!({
            "median_nanoseconds": measured.nanoseconds,
            "elements": measured.elements,
            "per_second": measured.per_second(),
        });
        (name.clone(), value)
    });
    let ratios = ratios(found).map(|(ratio, value)| {
        serde_json::json!({
            "what": ratio.what, "ours": ratio.ours, "other": ratio.other, "ratio": value, "wanted": ratio.wanted,
        })
    });
    let benchmarks = serde_json::Value::Object(benchmarks.collect());
    format!("{:#}\n", serde_json::json!({ "benchmarks": benchmarks, "ratios": ratios.collect::<Vec<_>>() }))
}

fn as_text(found: &BTreeMap<String, Measured>) -> String {
    let mut text = format!("\n{:>16}  {:>16}  benchmark\n", "median, µs", "per second");
    for (name, measured) in found {
        let (median, rate) = (significant(measured.nanoseconds / 1000.0), significant(measured.per_second()));
        let _ = writeln!(text, "{median:>16}  {rate:>16}  {name}");
    }
    text += "\nratios in this run; above 1, ours is faster\n";
    for (ratio, value) in ratios(found) {
        let _ = writeln!(text, "{value:>8.2} ×  {} (wanted: {})", ratio.what, ratio.wanted);
    }
    text
}

/// Finds `…/new/estimates.json` below `folder`.
fn collect(folder: &Path, found: &mut BTreeMap<String, Measured>) -> Result<()> {
    let read = |path: &Path| -> Result<serde_json::Value> {
        let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| path.display().to_string())
    };
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.join("new/estimates.json").is_file() {
            let about = read(&path.join("new/benchmark.json"))?;
            let estimates = read(&path.join("new/estimates.json"))?;
            let name = about["full_id"].as_str().context("criterion names every benchmark")?;
            let nanoseconds = estimates["median"]["point_estimate"].as_f64().context("criterion estimates a median")?;
            let elements = about["throughput"]["Elements"].as_f64().unwrap_or(1.0);
            found.insert(name.to_owned(), Measured { nanoseconds, elements });
        } else if path.is_dir() {
            collect(&path, found)?;
        }
    }
    Ok(())
}
