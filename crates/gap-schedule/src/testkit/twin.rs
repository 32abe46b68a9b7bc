//! Comparison of a policy with its reference, pass by pass.

use super::scene::Scene;
use crate::multi_cluster::Passes;
use crate::policy::{Policy, forward_answers, forward_events};
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
