//! Test kit for policies: arbitrary scenes of machines and jobs, and assertions about a policy on them.
//!
//! Behind the feature `testkit`, for tests of this crate and of programs that add a policy:
//! `gap-schedule = { …, features = ["testkit"] }` among the dev-dependencies.
//!
//! ```
//! use gap_schedule::testkit::proptest::prelude::*;
//! use gap_schedule::testkit::{Judge, assert_feasible, assert_reasons, assert_same_starts, scenes};
//! use gap_schedule::{Easy, Passes, reference};
//!
//! proptest! {
//!     # #![proptest_config(ProptestConfig::with_cases(20))]
//!     /// On one to five machines of at most eight processors, with estimates of every kind.
//!     # fn hidden(scene in scenes(8)) {
//!     #     check(&scene);
//!     # }
//! }
//! # hidden();
//!
//! fn check(scene: &gap_schedule::testkit::Scene) {
//!     assert_feasible(Easy::default(), scene, Passes::PerInstant);
//!     assert_same_starts(Easy::default(), reference::OrderedBackfill::default(), scene, Passes::PerInstant);
//!     assert_reasons(Easy::default(), &Judge::default(), scene, Passes::PerInstant);
//! }
//! ```

mod feasible;
mod judge;
mod scene;
mod twin;

pub use feasible::assert_feasible;
pub use judge::{Judge, assert_reasons};
pub use proptest;
pub use scene::{Run, Scene, Transcript, conformance_scenes, scenes};
pub use scene::{choosy, due, hurried, is_admitted, machines, misjudged, readings, with_deadlines};
pub use twin::{Both, assert_pure, assert_same_starts};
