//! The calendar against a vector searched from end to end.

use proptest::prelude::*;
use sim_core::{Calendar, EventPriority, Time};

/// Plain twin of the calendar: a vector of numbered events, searched from end to end.
#[derive(Default)]
struct SortedCalendar(Vec<(Time, EventPriority, usize)>);

impl SortedCalendar {
    fn cancel(&mut self, number: usize) -> Option<usize> {
        let position = self.0.iter().position(|event| event.2 == number)?;
        Some(self.0.remove(position).2)
    }

    fn pop(&mut self) -> Option<(Time, usize)> {
        let next = (0..self.0.len()).min_by_key(|&at| self.0[at])?;
        let (at, _, number) = self.0.remove(next);
        Some((at, number))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Post(u64, u8),
    Pop,
    Cancel(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..20_u64, 0..16_u8).prop_map(|(at, rank)| Step::Post(at, rank)),
        2 => Just(Step::Pop),
        2 => any::<prop::sample::Index>().prop_map(Step::Cancel),
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    #[test]
    fn any_mix_of_posting_popping_and_cancelling_equals_the_plain_twin(steps in steps()) {
        let (mut calendar, mut twin) = (Calendar::default(), SortedCalendar::default());
        let mut keys = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Post(at, rank) => {
                    let (at, rank) = (Time::from_secs(at), EventPriority::new(rank));
                    keys.push((calendar.post(at, rank, number), number));
                    twin.0.push((at, rank, number));
                }
                Step::Pop => prop_assert_eq!(calendar.pop(), twin.pop()),
                Step::Cancel(which) if !keys.is_empty() => {
                    let (key, twin_key) = keys[which.index(keys.len())];
                    prop_assert_eq!(calendar.cancel(key), twin.cancel(twin_key));
                }
                Step::Cancel(_) => {}
            }
        }
        while let Some(event) = twin.pop() {
            prop_assert_eq!(calendar.next_time(), Some(event.0));
            prop_assert_eq!(calendar.pop(), Some(event));
        }
        prop_assert_eq!(calendar.pop(), None);
    }
}
