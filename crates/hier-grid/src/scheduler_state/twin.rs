//! The same decisions, looked for without sums: each question is asked of every child again.

use super::*;
use proptest::prelude::*;

/// Children of a scheduler, and classes of jobs.
const CHILDREN: usize = 4;
const CLASSES: u8 = 3;

fn kinds(bag: Bag) -> impl Iterator<Item = ClassAndHome> {
    (0..=CHILDREN).flat_map(move |home| bag.classes().map(move |class| ClassAndHome { class, home }))
}

/// What could be taken back for a child: siblings, kinds and their queues.
fn queues(state: &SchedulerState, bag: Bag, slot: usize) -> impl Iterator<Item = (usize, ClassAndHome, &Queue)> {
    let siblings = state.delegated.siblings(slot);
    siblings.flat_map(move |(sibling, held)| kinds(bag).map(move |kind| (sibling, kind, held.queue(kind))))
}

fn branch(state: &SchedulerState, rules: &SelectionRules) -> Option<(usize, usize)> {
    let all = (0..state.channels.len()).flat_map(|c| (0..CHILDREN).map(move |slot| (c, slot)));
    let served = all.filter(|&(c, slot)| {
        let branch = &state.channels[c].branches[slot];
        let taken = |(_, kind, queue): (usize, ClassAndHome, &Queue)| {
            let algorithms = rules.algorithms;
            !queue.is_empty() && (algorithms.load_balance || algorithms.butterfly && kind.home == slot)
        };
        let at_hand = kinds(branch.wants).any(|kind| !state.unassigned.queue(kind).is_empty());
        branch.waits() && (at_hand || queues(state, branch.wants, slot).any(taken))
    });
    served.min_by_key(|&(c, slot)| {
        let branch = &state.channels[c].branches[slot];
        let own = kinds(branch.wants).any(|kind| kind.home == slot && !state.unassigned.queue(kind).is_empty());
        match rules.branches {
            BranchOrder::NearestThenOldest => (!own, branch.marked),
            BranchOrder::OldestRfc => (false, branch.marked),
            BranchOrder::Index => (false, slot as u64),
        }
    })
}

fn collected(state: &mut SchedulerState, (c, slot): (usize, usize), rules: &SelectionRules) -> Collected {
    let bag = state.channels[c].branches[slot].wants;
    let share = state.share_of(c, slot, rules.share);
    let mut found = Collected::default();
    for _ in 0..share {
        // Butterfly.
        let nearer = queues(state, bag, slot).filter(|(_, kind, _)| kind.home == slot && rules.algorithms.butterfly);
        let oldest = nearer.filter_map(|(sibling, kind, queue)| Some((queue.oldest()?, sibling, kind)));
        if let Some((job, sibling, kind)) = oldest.min_by_key(|(job, ..)| *job) {
            state.delegated.remove(sibling, kind, job);
            found.cancel(sibling, Reason::Butterfly, job);
            continue;
        }
        // Unassigned jobs.
        let all = kinds(bag).flat_map(|kind| state.unassigned.queue(kind).iter().map(move |job| (job, kind)));
        let chosen = all.min_by_key(|(job, kind)| match rules.unassigned {
            UnassignedOrder::OwnFirst => (kind.home != slot, 0, *job),
            UnassignedOrder::OldestFirst => (false, 0, *job),
            UnassignedOrder::GradedDistance => (false, distance(*job), *job),
        });
        if let Some((job, kind)) = chosen {
            state.unassigned.remove(kind, job);
            found.at_hand.push(job);
            continue;
        }
        // Load-balance.
        let mut most: Option<((u64, u64), usize)> = None;
        for (sibling, _) in state.delegated.siblings(slot) {
            let held = kinds(bag).map(|kind| state.delegated.queue(sibling, kind).len() as u64);
            let shared = state.channels.iter().filter(|channel| !channel.bag.and(bag).is_empty());
            let load = (held.sum::<u64>(), shared.map(|channel| channel.branches[sibling].power).sum::<u64>());
            if load.0 > 0 && most.is_none_or(|(most, _)| load.0 * most.1 > most.0 * load.1) {
                most = Some((load, sibling));
            }
        }
        let Some((_, sibling)) = most.filter(|_| rules.algorithms.load_balance) else { break };
        let all = kinds(bag).flat_map(|kind| state.delegated.queue(sibling, kind).iter().map(move |job| (job, kind)));
        let chosen = match rules.takes {
            LoadBalanceTakes::Oldest => all.min_by_key(|(job, _)| *job),
            LoadBalanceTakes::Newest => all.max_by_key(|(job, _)| *job),
        };
        let (job, kind) = chosen.expect("it has some");
        state.delegated.remove(sibling, kind, job);
        found.cancel(sibling, Reason::LoadBalance, job);
    }
    found
}

fn distance(job: JobId) -> u32 {
    job.0 % 3
}

/// Jobs are numbered in this order, each with a class, a home, and where it is: unassigned, or with a child.
fn state() -> impl Strategy<Value = SchedulerState> {
    let jobs = prop::collection::vec((0..CLASSES, 0..=CHILDREN, prop::option::of(0..CHILDREN)), 0..24);
    let bags = prop::sample::subsequence((1..8_u32).map(Bag).collect::<Vec<_>>(), 1..4);
    let powers = prop::collection::vec(0..5_u64, CHILDREN * 3);
    let marked_branches = prop::collection::vec((0..3_usize, 0..CHILDREN, 1..8_u32), 0..12);
    let fresh = prop::collection::vec(any::<bool>(), CHILDREN);
    (jobs, bags, powers, marked_branches, fresh).prop_map(|(jobs, bags, powers, marked_branches, fresh)| {
        let mut state = SchedulerState::new(CHILDREN, CLASSES.into());
        for (bag, powers) in bags.into_iter().zip(powers.chunks(CHILDREN)) {
            let branches = powers.iter().map(|power| Branch { power: *power, ..Branch::default() }).collect();
            let power = powers.iter().sum();
            state.channels.push(Channel { bag, power, uplink: Uplink::default(), branches });
        }
        for (ticket, (c, slot, wants)) in (1..).zip(marked_branches) {
            let bag = state.channels[c % state.channels.len()].bag;
            let wants = Bag(wants).and(bag);
            if !wants.is_empty() {
                state.mark(bag, wants, slot, ticket);
            }
        }
        for (job, (class, home, child)) in (0..).map(JobId).zip(jobs) {
            let kind = ClassAndHome { class, home };
            let new = match child {
                Some(child) => state.delegated.insert(child, kind, job),
                None => state.unassigned.insert(kind, job),
            };
            assert!(new);
        }
        for (slot, fresh) in fresh.into_iter().enumerate() {
            state.delegated.set_fresh(slot, fresh);
        }
        state
    })
}

fn rules() -> impl Strategy<Value = SelectionRules> {
    let algorithms = (any::<bool>(), any::<bool>()).prop_map(|(butterfly, load_balance)| Algorithms {
        butterfly,
        fallback: true,
        load_balance,
    });
    let share = prop_oneof![Just(Share::AllChannels), Just(Share::OwnChannel)];
    let unassigned = prop_oneof![
        Just(UnassignedOrder::OwnFirst),
        Just(UnassignedOrder::OldestFirst),
        Just(UnassignedOrder::GradedDistance)
    ];
    let branches =
        prop_oneof![Just(BranchOrder::NearestThenOldest), Just(BranchOrder::OldestRfc), Just(BranchOrder::Index)];
    let takes = prop_oneof![Just(LoadBalanceTakes::Oldest), Just(LoadBalanceTakes::Newest)];
    (algorithms, share, unassigned, branches, takes).prop_map(|(algorithms, share, unassigned, branches, takes)| {
        SelectionRules { algorithms, share, unassigned, branches, takes }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// Branch after branch is served until there is nothing for any.
    #[test]
    fn decisions_are_those_that_every_child_was_asked_for(mut state in state(), rules in rules()) {
        let mut obvious = state.clone();
        loop {
            let next = state.next_branch(&rules);
            prop_assert_eq!(next, branch(&obvious, &rules));
            let Some((c, slot)) = next else { break };
            let found = state.collect(c, slot, &rules, distance);
            prop_assert_eq!(&found, &collected(&mut obvious, (c, slot), &rules));
            prop_assert_eq!(state.unstarted(), obvious.unstarted());
            for state in [&mut state, &mut obvious] {
                state.channels[c].branches[slot].marked = 0;
                state.marked_branches -= 1;
            }
        }
    }
}
