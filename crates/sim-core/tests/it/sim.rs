//! Runs: order, branching, nesting, and changes that must leave the result alone.

use proptest::prelude::*;
use sim_core::testkit::{Fcfs, FcfsEvent, workload};
use sim_core::{Context, EventKey, EventPriority, Fact, Job, JobId, JobLog, Model, Prioritized, Sim, Span, Time};

type Transcript = Vec<(Time, Fact)>;

fn model(jobs: Vec<Job>) -> Fcfs<std::vec::IntoIter<Job>> {
    Fcfs::new(8, jobs.into_iter())
}

proptest! {
    #[test]
    fn the_same_input_gives_the_same_transcript(jobs in workload(8)) {
        let first = Sim::new(model(jobs.clone()), Transcript::new()).run().1;
        let second = Sim::new(model(jobs), Transcript::new()).run().1;
        prop_assert_eq!(first, second);
    }

    #[test]
    fn a_fork_continues_like_its_original(jobs in workload(8), steps in 0..200_usize) {
        let mut original = Sim::new(model(jobs), Transcript::new());
        for _ in 0..steps {
            original.step();
        }
        let heard = original.probe().len();
        let branch = original.fork(Transcript::new()).run().1;
        prop_assert_eq!(&original.run().1[heard..], &branch[..]);
    }

    #[test]
    fn adding_a_probe_changes_nothing(jobs in workload(8)) {
        let alone = Sim::new(model(jobs.clone()), Transcript::new()).run().1;
        let (watched, _) = Sim::new(model(jobs), (Transcript::new(), JobLog::collecting())).run().1;
        prop_assert_eq!(alone, watched);
    }

    #[test]
    fn running_in_slices_of_time_equals_running_at_once(jobs in workload(8), slice in 1..30_u64) {
        let whole = Sim::new(model(jobs.clone()), Transcript::new()).run().1;
        let mut sliced = Sim::new(model(jobs), Transcript::new());
        for end in (1..100).map(|slices| Time::from_secs(slices * slice)) {
            sliced.run_until(end);
            prop_assert_eq!(sliced.now(), end);
            prop_assert_eq!(sliced.probe().len(), whole.partition_point(|(at, _)| *at <= end));
        }
        prop_assert_eq!(whole, sliced.run().1);
    }
}

/// Parent that holds two queues and wraps their events: the queues are the same code as alone.
struct Pair<J>([Fcfs<J>; 2]);

enum PairEvent {
    Of(usize, FcfsEvent),
}

impl Prioritized for PairEvent {
    fn priority(&self) -> EventPriority {
        let Self::Of(_, event) = self;
        event.priority()
    }
}

impl<J: Iterator<Item = Job>> Model for Pair<J> {
    type Event = PairEvent;

    fn start(&mut self, cx: &mut impl Context<PairEvent>) {
        for (i, child) in self.0.iter_mut().enumerate() {
            child.start(&mut cx.lift(|event| PairEvent::Of(i, event)));
        }
    }

    fn handle(&mut self, PairEvent::Of(i, event): PairEvent, cx: &mut impl Context<PairEvent>) {
        self.0[i].handle(event, &mut cx.lift(|event| PairEvent::Of(i, event)));
    }
}

proptest! {
    #[test]
    fn a_model_runs_inside_another_as_it_runs_alone(jobs in workload(8)) {
        let (even, odd): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| job.id.0 % 2 == 0);
        let finishes = |transcript: Transcript| -> Vec<(Time, JobId)> {
            let mut finishes: Vec<_> = transcript
                .into_iter()
                .filter_map(|(at, fact)| if let Fact::Finished { job } = fact { Some((at, job)) } else { None })
                .collect();
            finishes.sort_unstable();
            finishes
        };
        let apart = [even.clone(), odd.clone()].map(|jobs| Sim::new(model(jobs), Transcript::new()).run().1).concat();
        let together = Sim::new(Pair([model(even), model(odd)]), Transcript::new()).run().1;
        prop_assert_eq!(finishes(apart), finishes(together));
    }
}

/// Posts an alarm for 10 s, cancels it at 5 s, and posts two for 20 s. Each records [`Context::is_last_of_instant`].
#[derive(Default)]
struct Alarms {
    first: Option<EventKey>,
    rang: Vec<(Time, bool)>,
}

enum Alarm {
    TakeBack,
    Ring,
}

impl Prioritized for Alarm {
    fn priority(&self) -> EventPriority {
        EventPriority::ARRIVE
    }
}

impl Model for Alarms {
    type Event = Alarm;

    fn start(&mut self, cx: &mut impl Context<Alarm>) {
        self.first = Some(cx.post_in(Span::from_secs(10), Alarm::Ring));
        cx.post_at(Time::from_secs(5), Alarm::TakeBack);
        for _ in 0..2 {
            cx.post_at(Time::from_secs(20), Alarm::Ring);
        }
    }

    fn handle(&mut self, event: Alarm, cx: &mut impl Context<Alarm>) {
        match event {
            Alarm::TakeBack => {
                let first = self.first.expect("it was posted");
                assert!(cx.cancel(first), "it had not happened yet");
                assert!(!cx.cancel(first), "it has been taken back");
            }
            Alarm::Ring => self.rang.push((cx.now(), cx.is_last_of_instant())),
        }
    }
}

/// The same alarms, inside another model.
#[derive(Default)]
struct House(Alarms);

struct InHouse(Alarm);

impl Prioritized for InHouse {
    fn priority(&self) -> EventPriority {
        self.0.priority()
    }
}

impl Model for House {
    type Event = InHouse;

    fn start(&mut self, cx: &mut impl Context<InHouse>) {
        self.0.start(&mut cx.lift(InHouse));
    }

    fn handle(&mut self, InHouse(event): InHouse, cx: &mut impl Context<InHouse>) {
        self.0.handle(event, &mut cx.lift(InHouse));
    }
}

#[test]
fn what_is_taken_back_does_not_happen_and_the_last_of_an_instant_knows_it_where_it_can() {
    let at = Time::from_secs(20);
    assert_eq!(Sim::new(Alarms::default(), ()).run().0.rang, [(at, false), (at, true)]);
    assert_eq!(Sim::new(House::default(), ()).run().0.0.rang, [(at, false), (at, false)]);
}

#[test]
#[should_panic(expected = "an event was posted for 1 s, but it is already 2 s")]
fn posting_into_the_past_is_a_model_bug() {
    let early = Job::new(JobId(1), Time::from_secs(1), 1, Span::ZERO);
    let late = Job::new(JobId(0), Time::from_secs(2), 1, Span::ZERO);
    Sim::new(model(vec![late, early]), ()).run();
}
