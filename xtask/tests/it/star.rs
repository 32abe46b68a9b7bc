//! The crates form tiers, and the lowest is a star: policies do not depend on parsers, nor parsers on policies. Dependencies point down.

use crate::program::texts;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// Permitted dependencies of each crate on crates of this workspace, dev- and build-dependencies included. From bottom to top.
///
/// sim-core may depend on itself, so that its tests can use its testkit.
const TIERS: [(&str, &[&str]); 16] = [
    (TEST_DATA, &[]),
    ("sim-core", &["sim-core"]),
    ("workload", STAR),
    ("metrics", STAR),
    ("gang-grid", STAR),
    // Its tests enable its test kit.
    ("gap-schedule", &["sim-core", "gap-schedule"]),
    ("alea31", STAR),
    ("metasched", STAR),
    ("hier-grid", STAR),
    ("slurm-sched", STAR),
    // Beside the tiers: it counts the instructions of the crates below, and no crate depends on it.
    ("lab", &["sim-core", "workload", "metrics"]),
    ("papers", ABOVE_LAB),
    ("replay", ABOVE_LAB),
    ("experiment", &["sim-core", "workload", "metrics", "gap-schedule", "lab", "replay"]),
    ("gridproof", &["gap-schedule", "workload", "lab", "papers", "replay", "experiment"]),
    // Its tests read the program's output with the crates below, feed damaged files to readers, and measure the coverage of intervals.
    (
        "xtask",
        &["sim-core", "workload", "metrics", "gap-schedule", "slurm-sched", "lab", "replay", "experiment", "gridproof"],
    ),
];

const STAR: &[&str] = &["sim-core"];

/// May only be a dev-dependency, of any crate.
const TEST_DATA: &str = "test-data";

const ABOVE_LAB: &[&str] = &[
    "sim-core",
    "workload",
    "metrics",
    "gang-grid",
    "gap-schedule",
    "alea31",
    "metasched",
    "hier-grid",
    "slurm-sched",
    "lab",
];

pub(crate) fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo metadata runs")
}

/// Returns the dependencies between two crates of the workspace that [`TIERS`] does not allow.
fn forbidden_edges(metadata: &Metadata) -> Vec<(String, String)> {
    let members = metadata.workspace_packages();
    let is_member = |name: &str| members.iter().any(|package| package.name == name);
    let in_tiers = |from: &str, to: &str| TIERS.iter().any(|(name, below)| *name == from && below.contains(&to));
    let is_allowed = |from: &str, to: &str, kind: DependencyKind| {
        in_tiers(from, to) || (to == TEST_DATA && kind == DependencyKind::Development)
    };
    let edges = members.iter().flat_map(|package| {
        package.dependencies.iter().map(|edge| (package.name.to_string(), edge.name.clone(), edge.kind))
    });
    let forbidden = edges.filter(|(from, to, kind)| is_member(to) && !is_allowed(from, to, *kind));
    forbidden.map(|(from, to, _)| (from, to)).collect()
}

#[test]
fn arrows_between_crates_go_down_only() {
    assert_eq!(forbidden_edges(&metadata()), []);
}

#[test]
fn every_crate_stands_in_a_tier() {
    let metadata = metadata();
    let mut members: Vec<&str> = metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let mut tiers = TIERS.map(|(name, _)| name);
    members.sort_unstable();
    tiers.sort_unstable();
    assert_eq!(members, tiers);
}

/// Each forbidden dependency that is added to a crate is found.
#[test]
fn an_arrow_that_goes_up_or_lets_a_program_want_test_data_is_found() {
    for (from, to, kind) in [
        ("gang-grid", "metrics", DependencyKind::Development),
        ("sim-core", "workload", DependencyKind::Development),
        ("lab", "papers", DependencyKind::Development),
        ("gridproof", "xtask", DependencyKind::Development),
        ("workload", TEST_DATA, DependencyKind::Normal),
    ] {
        let mut metadata = metadata();
        let package = metadata.packages.iter_mut().find(|package| package.name == from).expect("a crate");
        let mut edge = package.dependencies[0].clone();
        to.clone_into(&mut edge.name);
        edge.kind = kind;
        package.dependencies.push(edge);
        assert_eq!(forbidden_edges(&metadata), [(from.to_owned(), to.to_owned())]);
    }
}

/// Files that a crate includes are in its folder, so that its package has them; links lead to scenarios and pages.
#[test]
fn no_crate_includes_a_file_from_outside_of_its_folder() {
    for package in metadata().workspace_packages().iter().filter(|package| package.name != "xtask") {
        let folder = package.manifest_path.parent().expect("a folder");
        let mut targets = package.targets.iter().map(|target| &target.src_path);
        assert!(targets.all(|path| path.starts_with(folder)), "{}: a target lies outside", package.name);
        for (path, text) in texts(folder.as_std_path(), ".rs") {
            for part in text.split("include_").skip(1).filter(|part| part.starts_with(['s', 'b'])) {
                let name = part.split('"').nth(1).unwrap_or_default();
                assert!(name.matches("../").count() <= path.matches('/').count(), "{path} includes {name}");
            }
        }
    }
}

/// `rust-version` is the version that CI uses.
#[test]
fn the_oldest_rust_is_the_one_that_is_tested() {
    let metadata = metadata();
    let toolchain = std::fs::read_to_string(metadata.workspace_root.join("rust-toolchain.toml")).expect("a file");
    for package in metadata.workspace_packages() {
        let version = package.rust_version.as_ref().expect("a version").to_string();
        assert!(toolchain.contains(&format!("channel = \"{version}\"")), "{}: {version}", package.name);
    }
}
