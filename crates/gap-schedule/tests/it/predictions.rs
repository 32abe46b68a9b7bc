//! Predicted run times in the world: invariants, and the fast path against the obvious program.

use crate::backfill::{self, reserving};
use crate::conservative;
use crate::grid_common::{self, WIDEST, machines};
use crate::ordered::rules;
use crate::predicted::{Behind, Predicted, predicted_easy};
use gap_schedule::testkit::{Scene, Transcript, scenes};
use gap_schedule::{
    Backfilling, CompressOrder, Conservative, Corrector, Depth, Easy, EgEdf, Fcfs, FlexibleBackfill, GapFilling,
    Machine, MeanOfUser, MultiCluster, Order, OrderedBackfill, Passes, Placement, Planner, Policy, Predictions,
    Predictor, Priority, QueuedJob, RunningJob, Starts, TimesRequested, View,
};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, Request, Sim, SiteId, SiteSet, Span, Time};

/// Assigns users to the jobs, so that there is a past to predict from.
fn jobs() -> impl Strategy<Value = Vec<Job>> {
    (workload(WIDEST), prop::collection::vec(0..4_u32, 60)).prop_map(|(mut jobs, users)| {
        for (job, user) in jobs.iter_mut().zip(users) {
            job.request.user = (user > 0).then_some(user);
        }
        jobs
    })
}

/// Predicts arbitrary run times between one second and the request.
#[derive(Clone, Debug)]
struct Wild(u64);

impl Predictor for Wild {
    fn predict(&mut self, request: &Request) -> Option<Span> {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let asked = request.estimate?.as_nanos() / 1_000_000_000;
        Some(Span::from_secs(1 + (self.0 >> 33) % asked.max(1)))
    }
}

/// Strategy for predictions of every kind, with corrections of every kind.
fn predictions() -> impl Strategy<Value = Predictions> {
    let predictions = prop_oneof![
        1 => Just(Predictions::by(TimesRequested(1))),
        1 => Just(Predictions::clairvoyant()),
        1 => Just(Predictions::by(TimesRequested(2))),
        3 => Just(Predictions::by(MeanOfUser::tsafrir())),
        2 => (1..4_u32).prop_map(|window| Predictions::by(MeanOfUser::new(window))),
        3 => any::<u64>().prop_map(|seed| Predictions::by(Wild(seed))),
    ];
    // The jobs of these tests take seconds.
    let increments = Corrector::Increments([1, 2, 4].map(Span::from_secs).to_vec());
    let correctors = prop::sample::select(vec![Corrector::ToRequested, Corrector::Doubling, increments]);
    (predictions, correctors).prop_map(|(predictions, corrector)| predictions.corrected_by(corrector))
}

/// Runs a policy with predictions on a scene.
fn transcript(scene: &Scene, policy: impl Policy, passes: Passes, predictions: Predictions) -> Transcript {
    Sim::new(scene.grid(policy, passes).with_predictions(predictions), Transcript::new()).run().1
}

/// Strategy for scenes with jobs that outlive their requests. Every job has a request, which planners need.
fn requested() -> impl Strategy<Value = Scene> {
    scenes(WIDEST).prop_map(|mut scene| {
        for job in &mut scene.jobs {
            job.request.user = Some(job.id.0 % 3);
            job.request.estimate.get_or_insert(Span::from_secs(5));
        }
        scene
    })
}

/// Policies that use expiries, or need none.
fn policies() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Fcfs::default()),
        Box::new(Easy::default()),
        Box::new(reserving(Depth::Jobs(3), Placement::Fastest)),
        Box::new(OrderedBackfill::new(Backfilling {
            order: Order::Wfp3,
            backfill: Order::Spf,
            reserve: Depth::Jobs(3),
            ..Backfilling::default()
        })),
        Box::new(reserving(Depth::All, Placement::Fastest)),
        Box::new(Conservative::default()),
        Box::new(FlexibleBackfill::default()),
        Box::new(OrderedBackfill::new(Backfilling { backfill: Order::Spf, ..Backfilling::default() })),
        Box::new(GapFilling::best_gap(Placement::Fastest)),
        Box::new(Planner::new(EgEdf::default(), None)),
    ]
}

const PASSES: [Passes; 3] = [Passes::PerInstant, Passes::PerEvent, Passes::Pyss];

/// Policy that records the starts, first predictions and corrections of jobs that are numbered from 0 on.
struct Noted(Box<dyn Policy>, Vec<Predicted>);

impl Policy for Noted {
    fn begin(&mut self, view: &View<'_>) {
        self.0.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        let first_prediction = job.request.estimate.expect("every job is predicted");
        assert_eq!(self.1.len(), job.job.index());
        self.1.push(Predicted { start: Time::MAX, first_prediction, corrections: 0 });
        self.0.on_submit(job, view);
    }

    fn on_start(&mut self, job: &RunningJob, _: SiteId, view: &View<'_>) {
        self.1[job.job.index()].start = view.now;
    }

    fn on_expiry(&mut self, job: &RunningJob, _: &RunningJob, _: SiteId, _: &View<'_>) {
        self.1[job.job.index()].corrections += 1;
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.schedule(view, starts);
    }
}

/// Runs the fast path on one machine. Returns starts, first predictions and corrections of jobs numbered from 0 on.
pub(crate) fn fast(jobs: &[Job], processors: u32, behind: Behind, predictions: Predictions) -> Vec<Predicted> {
    let shortest = Backfilling { backfill: Order::Spf, ..Backfilling::default() };
    let policy: Box<dyn Policy> = match behind {
        Behind::Arrival => Box::new(Easy::default().if_newcomer_fits()),
        Behind::Shortest => Box::new(OrderedBackfill::new(shortest)),
    };
    let mut noted = Noted(policy, Vec::new());
    let world = MultiCluster::new(vec![Machine::new(processors)], &mut noted, jobs.iter().copied());
    Sim::new(world.with_passes(Passes::Pyss).with_predictions(predictions), ()).run();
    noted.1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Compares starts, first predictions and numbers of corrections.
    #[test]
    fn the_fast_path_and_the_obvious_program_agree(jobs in jobs(), predictions in predictions()) {
        for behind in [Behind::Arrival, Behind::Shortest] {
            let obvious = predicted_easy(&jobs, WIDEST, behind, predictions.clone());
            prop_assert_eq!(fast(&jobs, WIDEST, behind, predictions.clone()), obvious);
        }
    }

    /// Also where a job outlives its request, since there is no later correction.
    #[test]
    fn what_is_predicted_as_requested_changes_nothing(scene in requested()) {
        let requested = Predictions::by(TimesRequested(1)).corrected_by(Corrector::ToRequested);
        for passes in PASSES {
            for (one, other) in policies().into_iter().zip(policies()) {
                let predicted = transcript(&scene, one, passes, requested.clone());
                prop_assert_eq!(predicted, scene.transcript(other, passes));
            }
        }
    }

    #[test]
    fn a_clairvoyant_prediction_never_expires(scene in requested(), passes in prop::sample::select(PASSES.to_vec())) {
        for policy in policies() {
            let predictions = Predictions::clairvoyant().corrected_by(Corrector::Doubling);
            let (world, ()) = Sim::new(scene.grid(policy, passes).with_predictions(predictions), ()).run();
            let counts = world.predictions().expect("they were given").counts;
            prop_assert_eq!((counts.expired, counts.corrections), (0, 0));
            prop_assert!(counts.accuracy().is_none_or(|accuracy| (accuracy - 1.0).abs() < 1e-12));
        }
    }

    /// In particular, each job runs for its run time: none is killed by a prediction.
    #[test]
    fn every_schedule_is_sound_whatever_is_predicted(scene in requested(), predictions in predictions()) {
        for passes in PASSES {
            for policy in policies() {
                scene.runs(&transcript(&scene, policy, passes, predictions.clone()));
            }
        }
    }

    #[test]
    fn those_who_keep_a_plan_equal_their_twins(
        machines in machines(WIDEST), jobs in jobs(), predictions in predictions(), depth in 0..4_u32, rule in rules(),
    ) {
        let scene = Scene::new(&machines, &jobs);
        let in_order = |reserve| Backfilling { reserve, ..Backfilling::default() };
        for passes in grid_common::PASSES {
            for rule in [rule, in_order(Depth::Jobs(depth)), in_order(Depth::All)] {
                transcript(&scene, backfill::both(rule), passes, predictions.clone());
            }
            for order in [CompressOrder::Arrival, CompressOrder::Reserved] {
                transcript(&scene, conservative::both(order, Priority::default()), passes, predictions.clone());
            }
        }
    }
}

fn request_of(user: Option<u32>, asked: Option<u64>) -> Request {
    Request { processors: 1, estimate: asked.map(Span::from_secs), deadline: None, sites: SiteSet::ALL, user }
}

#[test]
fn a_mean_of_many_begins_with_those_there_are_and_is_never_nothing() {
    let job = request_of(Some(1), Some(1_000));
    for (count, ended) in [(3, &[(10, 10), (20, 15), (60, 30), (40, 40)][..]), (1, &[(0, 1)])] {
        let mut mean = MeanOfUser::new(count);
        for &(ran, expected) in ended {
            mean.on_completion(&job, Span::from_secs(ran));
            assert_eq!(mean.predict(&job), Some(Span::from_secs(expected)), "after {ran} s");
        }
        assert_eq!(mean.predict(&request_of(Some(1), None)), mean.predict(&job), "there is no request to cut it at");
        assert_eq!(mean.predict(&request_of(None, None)), None, "an unknown user has no past");
    }
}
