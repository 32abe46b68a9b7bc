//! `cargo xtask bench`: the criterion benchmarks, and their ratios in one run.

use anyhow::{Context, Result, bail};
use clap::Args;
use lab::cli::{Common, Ending, print};
use lab::scenario::workspace;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Run only benchmarks whose name contains this.
    #[arg(value_name = "FILTER")]
    filter: Option<String>,
    /// Measure for a second each: a first impression.
    #[arg(long)]
    quick: bool,
}

/// Two benchmarks of the same work, and the ratio of their rates that the first should reach. Both are measured in one run, so the ratio is
/// meaningful on any machine.
type Ratio = (&'static str, &'static str, &'static str, f64);

const RATIOS: [Ratio; 4] = [
    ("EASY, jobs per second: a log of 100 000 against one of 10 000", "100 000 jobs/EASY", "10 000 jobs/EASY", 0.8),
    (
        "profile against a walk along its steps, 10 000 steps",
        "plan and cancel/blocks/10000",
        "plan and cancel/walk/10000",
        5.0,
    ),
    ("SWF reader against split and parse", "swf/plain", "swf/naive", 2.0),
    ("quantile sketch against one with logarithms", "sketch/bitwise", "sketch/logarithmic", 1.0),
];

/// Runs `cargo bench`, which prints every benchmark, then prints the ratios.
pub(crate) fn bench(options: &Bench, common: &Common) -> Result<Ending> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "--workspace", "--benches", "--"]).args(&options.filter).current_dir(workspace());
    if options.quick {
        command.args(["--warm-up-time", "0.3", "--measurement-time", "1", "--sample-size", "10"]);
    }
    if common.json || common.quiet {
        command.stdout(Stdio::null());
    }
    if !command.status().context("cannot run cargo bench")?.success() {
        bail!("cargo bench failed; its messages are above");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    let folder = target.join("criterion");
    let was_run = |name: &str| options.filter.as_ref().is_none_or(|filter| name.contains(filter));
    let mut found = Vec::new();
    for ratio @ (_, ours, other, _) in RATIOS.iter().filter(|(_, ours, other, _)| was_run(ours) && was_run(other)) {
        found.push((ratio, per_second(&folder, ours)? / per_second(&folder, other)?));
    }
    print(&if common.json {
        let ratio = |((what, ours, other, wanted), ratio): &(&Ratio, f64)| serde_json::json!({ "what": what, "ours": ours, "other": other, "ratio": ratio, "wanted": wanted });
        format!("{:#}\n", serde_json::json!({ "ratios": found.iter().map(ratio).collect::<Vec<_>>() }))
    } else {
        let line =
            |((what, _, _, wanted), ratio): &(&Ratio, f64)| format!("{ratio:>8.2} ×  {what} (wanted: {wanted})\n");
        format!("\nratios in this run; above 1, ours is faster\n{}", found.iter().map(line).collect::<String>())
    });
    Ok(Ending::Done)
}

/// Returns the rate of a benchmark by its median, as criterion stored it.
fn per_second(folder: &Path, name: &str) -> Result<f64> {
    let read = |file: &str| -> Result<serde_json::Value> {
        let path = folder.join(name).join("new").join(file);
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| path.display().to_string())
    };
    let elements = read("benchmark.json")?["throughput"]["Elements"].as_f64().unwrap_or(1.0);
    let nanoseconds = read("estimates.json")?["median"]["point_estimate"].as_f64();
    Ok(1e9 * elements / nanoseconds.context("criterion estimates a median")?)
}
