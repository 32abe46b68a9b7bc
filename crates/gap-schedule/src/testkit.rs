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

pub use feasible::assert_feasible;
pub use judge::{Judge, assert_reasons};
pub use proptest;
pub use scene::{Run, Scene, Transcript, conformance_scenes, scenes};
pub use scene::{choosy, due, hurried, machines, misjudged, readings, with_deadlines};

use crate::forward_events;
use crate::multi_cluster::Passes;
use crate::policy::{Policy, forward_answers};
use crate::view::{Starts, View};

/// Asserts that a policy and its reference return the same starts at every pass of a run.
///
/// # Panics
///
/// If the starts differ, with the view of the first difference.
pub fn assert_same_starts(policy: impl Policy, reference: impl Policy, scene: &Scene, passes: Passes) {
    scene.transcript(Both(policy, reference), passes);
}

/// Asserts that a [pure](Policy::is_pure) policy decides like one that has been built for this pass alone.
///
/// # Panics
///
/// If the starts differ, or the policy does not claim to be pure.
pub fn assert_pure<P: Policy + Clone>(policy: P, scene: &Scene, passes: Passes) {
    assert!(policy.is_pure(), "the policy claims to be pure");
    assert_same_starts(policy.clone(), BuiltForEachPass(policy), scene, passes);
}

/// Policy without memory.
struct BuiltForEachPass<P>(P);

impl<P: Policy + Clone> Policy for BuiltForEachPass<P> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let mut policy = self.0.clone();
        policy.begin(view);
        policy.schedule(view, starts);
    }
}

/// Two policies that are called at every pass of one run. Starts and wakeups are those of the first; the pass panics if
/// the starts of the second differ.
#[derive(Clone, Debug)]
pub struct Both<Fast, Slow>(pub Fast, pub Slow);

impl<Fast: Policy, Slow: Policy> Policy for Both<Fast, Slow> {
    forward_events!(|this| this.0, this.1);
    forward_answers!(|this| this.0);

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.schedule(view, starts);
        let mut reference = Vec::new();
        self.1.schedule(view, &mut reference);
        assert_eq!(*starts, reference, "at {view:?}");
    }
}
