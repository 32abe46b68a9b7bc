//! Invariants of every world: "Checks for any correct implementation".

use crate::common::{Transcript, histories, small};
use hier_grid::{Grid, Kind};
use proptest::prelude::*;
use sim_core::{ProcId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Checks every scheduler's channels against its branches, and the shares of all branches.
fn check_channels<W: hier_grid::MessageObserver>(grid: &Grid<W>, all_channels: bool) {
    for scheduler in grid.schedulers() {
        let branches = || scheduler.channels.iter().flat_map(|channel| &channel.branches);
        if scheduler.channels.is_empty() || branches().next().is_none() {
            continue;
        }
        for channel in &scheduler.channels {
            let power: u64 = channel.branches.iter().map(|branch| branch.power).sum();
            assert_eq!(power, channel.power, "power of a channel of {scheduler:?}");
        }
        if all_channels {
            // Branch rates of all channels sum to 1, so that N ≤ Σ shares ≤ N + branches.
            let shares: u64 = branches().map(|branch| branch.share).sum();
            let jobs = u64::from(scheduler.unstarted);
            assert!((jobs..=jobs + branches().count() as u64).contains(&shares), "shares of {scheduler:?}");
        }
    }
}

/// Checks that no server runs two jobs at once.
fn check_servers(transcript: &Transcript) {
    let mut runs: BTreeMap<ProcId, Vec<(Time, Time)>> = BTreeMap::new();
    for (job, history) in histories(transcript) {
        let (server, from) = history.seized.unwrap_or_else(|| panic!("job {job} had no server"));
        let to = history.released.unwrap_or_else(|| panic!("job {job} kept its server"));
        runs.entry(server).or_default().push((from, to));
    }
    for (server, mut runs) in runs {
        runs.sort_unstable();
        for pair in runs.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "server {server} runs two jobs at once");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_job_ends_exactly_once_and_nothing_is_left(small in small()) {
        let (grid, told) = small.finish((), Transcript::new());
        prop_assert_eq!(grid.is_at_rest(), Ok(()));
        let histories = histories(&told);
        prop_assert_eq!(histories.len(), small.config.jobs.count as usize);
        for (job, history) in &histories {
            let times = [history.submitted, history.started, history.released.or(history.finished), history.finished];
            prop_assert!(times.is_sorted() && times[0].is_some(), "job {}: {:?}", job, history);
        }
        check_servers(&told);
    }

    #[test]
    fn on_the_way_shares_add_up(small in small()) {
        let all_channels = small.config.readings.share == hier_grid::config::Share::AllChannels;
        let mut sim = small.start((), ());
        let mut steps = 0_u32;
        while sim.step() {
            steps += 1;
            if steps.is_multiple_of(7) {
                check_channels(sim.model(), all_channels);
            }
            prop_assert!(steps < 3_000_000, "no end");
        }
    }

    #[test]
    fn messages_are_conserved(small in small()) {
        let (grid, _) = small.finish(Vec::new(), ());
        let counts = grid.counts();
        let messages = grid.observer();
        for kind in Kind::ALL {
            let seen = messages.iter().filter(|message| message.payload.kind() == *kind).count();
            prop_assert_eq!(counts.messages(*kind), seen as u64, "{:?}", kind);
        }
        // Every cancel is answered; the number of jobs that come back equals the number moved.
        prop_assert_eq!(counts.cancelled, counts.butterfly + counts.load_balance);
        prop_assert_eq!(counts.pushed, counts.received);
        // Every job is offered at least once, answered once.
        prop_assert_eq!(counts.messages(Kind::Answer), u64::from(small.config.jobs.count));
        prop_assert_eq!(counts.messages(Kind::Offer), counts.messages(Kind::Answer) + counts.unanswered);
    }

    #[test]
    fn a_branch_has_at_most_one_request_out(small in small()) {
        let (grid, _) = small.finish(Vec::new(), ());
        // Tickets that a child has used through a channel, each with true if the last one has been answered.
        let mut out: BTreeMap<_, (u32, bool)> = BTreeMap::new();
        let mut blocks = BTreeSet::new();
        let mut messages = grid.observer().clone();
        messages.sort_by_key(|message| message.sent);
        for message in &messages {
            match &message.payload {
                hier_grid::Payload::Rfc { bag, ticket, .. } => {
                    let known = out.entry((message.from, *bag)).or_insert((0, true));
                    // The same request again, for more kinds of jobs; or a new one. An old one never comes back.
                    prop_assert!(*ticket >= known.0);
                    *known = (*ticket, false);
                }
                hier_grid::Payload::Block { bag, ticket, .. } => {
                    prop_assert!(blocks.insert((message.to, *bag, *ticket, message.sent)), "one block twice");
                }
                _ => {}
            }
        }
        if small.config.experiment.changes.is_none() {
            // Without changes each request is answered by at most one block.
            let answered: BTreeSet<_> = blocks.iter().map(|(to, bag, ticket, _)| (*to, *bag, *ticket)).collect();
            prop_assert_eq!(answered.len(), blocks.len());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run_and_an_observer_or_probe_changes_nothing(small in small()) {
        let (first, told) = small.finish((), Transcript::new());
        let (second, told_again) = small.finish(Vec::new(), (Transcript::new(), ()));
        prop_assert_eq!(told, told_again.0);
        prop_assert_eq!(first.counts(), second.counts());
    }

    #[test]
    fn a_fork_continues_like_its_original(small in small(), at in 0..400_u32) {
        let mut sim = small.start(Vec::new(), ());
        for _ in 0..at {
            sim.step();
        }
        let (forked, _) = sim.fork(()).run();
        let (original, _) = sim.run();
        prop_assert_eq!(original.counts(), forked.counts());
        prop_assert_eq!(original.observer(), forked.observer());
    }
}
