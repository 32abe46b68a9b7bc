//! Files of a crate do not import each other in a circle: each can be read after those that it depends on.
//!
//! Every path of a file that leads into another file of its crate counts, in `use` or in other code, tests included: `crate::…`,
//! `super::…`, `self::…`, or the name of a module below. A path through a re-export leads to the file that re-exports and to the one that
//! defines. The only exception is a path to a definition in a file above (`plan/tabu.rs` to `plan.rs`), since a module's children are parts
//! of it. A name that the file above only re-exports from another child leads to that child.

mod graph;
mod imports;

use crate::program::texts;
use crate::star::metadata;
use graph::Crate;

#[test]
fn no_file_imports_another_in_a_circle_and_a_crate_has_few_layers() {
    let mut found = Vec::new();
    for package in metadata().workspace_packages() {
        let folder = package.manifest_path.parent().expect("a folder").as_std_path().join("src");
        let files = texts(&folder, ".rs");
        assert!(!files.is_empty(), "{} has no source", package.name);
        let (name, this) = (&package.name, Crate::new(&files));
        found.extend(this.circle().map(|words| format!("{name}: {words}")));
        // The root lies above these.
        let layers = this.layers();
        found.extend((layers.is_none_or(|layers| layers > 7)).then(|| format!("{name} has {layers:?} layers")));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Returns a circle in a crate of these files.
fn wrong(files: &[(&str, &str)]) -> Option<String> {
    Crate::new(&files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()).circle()
}

#[test]
fn a_circle_is_reported_import_by_import() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "pub struct B;\n\nfn walk() {\n    crate::c::go();\n}"),
        ("c.rs", "use super::a::{self, A};\npub fn go() {}"),
        ("d.rs", "use crate::a::A;"),
    ];
    assert_eq!(wrong(&files).as_deref(), Some("circle: a.rs:1 imports b.rs; b.rs:4 imports c.rs; c.rs:1 imports a.rs"));
    let mut open = files;
    open[2].1 = "pub struct B; // crate::c::go() in a comment";
    assert_eq!(wrong(&open), None);
}

#[test]
fn a_file_may_use_what_one_above_defines_and_not_what_it_passes_on_in_a_circle() {
    let above = "mod gaps;\nmod tabu;\npub use gaps::Gaps;\nuse tabu::Tabu;\npub struct Plan;";
    let own = [("lib.rs", "mod plan;"), ("plan.rs", above), ("plan/gaps.rs", "use super::Plan;\npub struct Gaps;")];
    assert_eq!(
        wrong(&[&own[..], &[("plan/tabu.rs", "use crate::plan::{Gaps, Plan};\npub struct Tabu;")]].concat()),
        None
    );
    let passed_on =
        [("lib.rs", "mod plan;"), ("plan.rs", above), ("plan/gaps.rs", "use super::Tabu;\npub struct Gaps;")];
    let tabu = [("plan/tabu.rs", "use crate::plan::Gaps;\npub struct Tabu;")];
    let circle = "circle: plan/gaps.rs:1 imports plan/tabu.rs; plan/tabu.rs:1 imports plan/gaps.rs";
    assert_eq!(wrong(&[&passed_on[..], &tabu].concat()).as_deref(), Some(circle));
}

#[test]
fn an_import_from_a_folder_is_one_of_its_file_and_of_the_definition() {
    let files = [
        ("lib.rs", "mod policy;\nmod reason;"),
        ("policy.rs", "mod easy;\npub use easy::Easy;\n"),
        ("policy/easy.rs", "use crate::reason::Reason;\npub struct Easy;"),
        ("reason.rs", "use crate::policy::Easy;\npub struct Reason;"),
    ];
    let found = wrong(&files).expect("a circle");
    assert!(found.contains("policy/easy.rs:1 imports reason.rs"), "{found}");
}

#[test]
fn a_module_within_a_file_and_its_tests_are_that_file() {
    let files = [
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub struct A;\nmod inner { use super::A; use super::super::b::B; }"),
        ("b.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use super::*;\n    use crate::a::A;\n}"),
    ];
    assert_eq!(wrong(&files).as_deref(), Some("circle: a.rs:2 imports b.rs; b.rs:5 imports a.rs"));
}
