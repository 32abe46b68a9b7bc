//! The crate graph is a star: policies know no parsers, parsers no policies; they meet in xtask alone.

use cargo_metadata::{Metadata, MetadataCommand};
use std::collections::BTreeSet;

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("cargo metadata runs")
}

/// Dependencies from a crate below `crates/` to another of the workspace than sim-core, dev- and build-dependencies
/// included. sim-core may depend on itself: that is how its tests get at its testkit.
fn forbidden_edges(metadata: &Metadata) -> Vec<(String, String)> {
    let crates = metadata.workspace_root.join("crates");
    let members: BTreeSet<&str> = metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let edges = metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| package.manifest_path.starts_with(&crates))
        .flat_map(|package| {
            package.dependencies.iter().map(|dependency| (package.name.to_string(), dependency.name.clone()))
        });
    edges.filter(|(_, to)| members.contains(to.as_str()) && to != "sim-core").collect()
}

#[test]
fn every_crate_depends_of_this_workspace_on_sim_core_alone() {
    assert_eq!(forbidden_edges(&metadata()), []);
}

#[test]
fn an_edge_between_two_crates_would_be_found() {
    for (from, to) in [("gang-grid", "metrics"), ("sim-core", "workload"), ("metrics", "xtask")] {
        let mut metadata = metadata();
        let package = metadata.packages.iter_mut().find(|package| package.name == from).expect("a crate");
        let mut edge = package.dependencies[0].clone();
        to.clone_into(&mut edge.name);
        edge.kind = cargo_metadata::DependencyKind::Development;
        package.dependencies.push(edge);
        assert_eq!(forbidden_edges(&metadata), [(from.to_owned(), to.to_owned())]);
    }
}
