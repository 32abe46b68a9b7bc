//! Priorities, compared with the formulas; recordings.rs compares them with slurmctld's.

use crate::Version;
use crate::cluster::limits::Demand;
use crate::cluster::queue::Entry;
use crate::cluster::select::Need;
use crate::controller::priority::{Priorities, Running};
use proptest::prelude::*;
use std::sync::Arc;

const CONF: &str = "PriorityType=priority/multifactor\nAccountingStorageType=accounting_storage/slurmdbd\nNodeName=n[1-8] CPUs=4 RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES\n";

/// Returns the plugin at `start` for these lines of slurm.conf and these accounts.
fn state(lines: &str, accounts: &str, start: i64) -> Priorities {
    Priorities::new(Arc::new(super::site(&format!("{CONF}{lines}"), Some(accounts), Version::V22_05)), start)
}

/// Runs one round of the decay thread.
fn decay_round<const N: usize>(state: &mut Priorities, now: i64, running: [Running; N]) {
    state.begin_tick(now);
    running.iter().for_each(|job| state.charge(job, now));
    state.end_tick(now);
}

proptest! {
    #[test]
    fn decay_has_its_closed_form((hours, ticks, period, idle) in (1_i64..300, 1_i64..40, 1_i64..600, 0_i64..9000), first in 0_i64..600) {
        let lines = format!("PriorityDecayHalfLife=0-{hours}\nPriorityCalcPeriod=1\n");
        let d: f64 = 1.0 - 0.693 / (3600 * hours) as f64;
        let power = |seconds: i64| d.powi(i32::try_from(seconds).expect("small"));
        let mut state = state(&lines, "Parent - 'root'\nAccount - 'a'\nParent - 'a'\nUser - 'u'\n", 0);
        // The first slice is a part of a period; each is decayed as if used at its beginning.
        let part = 1 + first % period;
        let job = Running { association: Some(2), qos: None, start: period - part, billing: 8.0 };
        (1..=ticks).for_each(|tick| decay_round(&mut state, tick * period, [job]));
        let slice = |run: i64| run as f64 * power(run) * 8.0;
        let whole: f64 = (0..ticks - 1).map(|tick| slice(period) * power(tick * period)).sum();
        let used = slice(part) * power((ticks - 1) * period) + whole;
        // Then idle for a time, in one tick and in sixty.
        let mut once = state.clone();
        decay_round(&mut once, ticks * period + 60 * idle, []);
        (1..=60).for_each(|tick| decay_round(&mut state, ticks * period + idle * tick, []));
        for state in [&state, &once] {
            for association in 0..3 {
                let left = state.tree.nodes[association].usage;
                prop_assert!((left / (used * power(60 * idle)) - 1.0).abs() < 1e-9, "{left}");
            }
        }
        // The half life is not quite one: the recordings print this factor for 60 s.
        prop_assert!(hours > 1 || (state.decay(60) - 0.988_515_346_128_172).abs() < 1e-15);
    }

    #[test]
    fn a_priority_is_the_sum_of_its_weighted_factors(
        weights in prop::array::uniform6(0_u32..100_000),
        (nodes, cpus, age, nice) in (1_u32..9, 1_u32..33, 0_i64..200_000, -500_i64..500),
        (favors_small, partition, qos) in (any::<bool>(), 0..2_usize, 0..3_usize),
    ) {
        let lines = ["Age", "JobSize", "Partition", "QOS", "Assoc"].iter().zip(&weights);
        let lines: String = lines.map(|(name, weight)| format!("PriorityWeight{name}={weight}\n")).collect();
        let state = state(
            &format!("{lines}PriorityWeightTRES=Node={}\nPriorityMaxAge=1-0\nPriorityFavorSmall={favors_small}\nPartitionName=b Nodes=ALL PriorityJobFactor=4\n", weights[5]),
            "Parent - 'root'\nUser - 'u':Priority=30\nUser - 'v':Priority=40\nQOS - 'high':Priority=50\nQOS - 'top':Priority=200\n",
            0,
        );
        let job = Entry {
            partition,
            cpus: u64::from(cpus),
            ages_from: Some(1000),
            nice,
            need: Need { nodes: nodes as usize, cpus: 0 },
            demand: Demand { association: Some(1), qos: Some(qos), ..Demand::default() },
            ..Entry::default()
        };
        let part = |of: f64| if favors_small { 1.0 - of } else { of };
        let factors = [
            (age as f64 / 86_400.0).min(1.0),
            (part(f64::from(nodes) / 8.0) + part(f64::from(cpus) / 32.0)) / 2.0,
            [0.25, 1.0][partition],
            [0.0, 0.25, 1.0][qos],
            0.75,
            f64::from(nodes) / 8.0,
        ];
        let sum: f64 = weights.iter().zip(factors).map(|(weight, factor)| f64::from(*weight) * factor).sum();
        let cut = f64::from(state.priority(&job, 1000 + age)) - (sum - nice as f64).max(1.0);
        prop_assert!((-1.0 - 1e-6..=1e-6).contains(&cut), "{cut}");
    }
}

#[test]
fn the_rest_of_a_job_is_charged_under_limits_alone() {
    let job = Running { association: Some(1), qos: Some(0), start: 0, billing: 2.0 };
    for (enforce, used) in
        [("associations", 200.0), ("associations,limits", 290.0), ("qos", 290.0), ("safe", 290.0), ("none", 200.0)]
    {
        let lines = format!("PriorityDecayHalfLife=0\nAccountingStorageEnforce={enforce}\n");
        let mut state = state(&lines, "Parent - 'root'\nUser - 'u'\n", 0);
        decay_round(&mut state, 100, [job]);
        state.job_ended(&job, 145);
        assert_eq!(state.tree.nodes[1].usage.to_bits(), f64::to_bits(used), "{enforce}");
    }
}

#[test]
fn usage_is_weighted_by_qos_and_by_billing_weights_and_reset_by_the_calendar() {
    let accounts = "Parent - 'root'\nUser - 'u'\nQOS - 'twice':UsageFactor=2\n";
    let lines = "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=MONTHLY\n\
        PartitionName=gold Nodes=n[1-2] TRESBillingWeights=CPU=2.0,Mem=1G,Node=3\n";
    let summed = state(lines, accounts, 0);
    assert_eq!([0, 1].map(|at| summed.billing(at, [8, 2048, 2]).to_bits()), [8.0, 24.0].map(f64::to_bits));
    let most = state(&format!("{lines}PriorityFlags=MAX_TRES\n"), accounts, 0);
    assert_eq!(most.billing(1, [8, 2048, 2]).to_bits(), 16.0_f64.to_bits());
    // 2026-01-31 to 2026-02-02.
    let day = |n: i64| 1_769_817_600 + n * 86_400;
    let without_reset = ["NONE", "NOW", "QUARTERLY", "YEARLY"].map(|period| (period, 3.0_f64));
    for (period, left) in without_reset.into_iter().chain([("DAILY", 0.0), ("WEEKLY", 1.0), ("MONTHLY", 1.0)]) {
        let mut state = state(&lines.replace("MONTHLY", period), accounts, day(0));
        let charge = |state: &mut Priorities, now, billing| {
            let job = Running { association: Some(1), qos: Some(1), start: now - 1, billing };
            decay_round(state, now, [job]);
        };
        charge(&mut state, day(0) + 60, 1.0);
        charge(&mut state, day(1) + 60, 0.5);
        decay_round(&mut state, day(2) + 60, []);
        let before = state.tree.nodes[1].usage;
        assert_eq!(before.to_bits(), left.to_bits(), "{period}");
    }
}

#[test]
fn each_factor_is_as_in_the_formula() {
    let base = Entry {
        cpus: 8,
        ages_from: Some(1000),
        need: Need { nodes: 2, cpus: 8 },
        demand: Demand { association: Some(1), qos: Some(1), limit: 600, ..Demand::default() },
        ..Entry::default()
    };
    let accounts = "Parent - 'root'\nUser - 'u':Priority=30\nUser - 'v':Priority=40\n\
        QOS - 'high':Priority=50\nQOS - 'top':Priority=200\n";
    // Settings without their prefix `Priority`; change of the job; second; priority.
    type Case<'a> = (&'a str, fn(&mut Entry), i64, u32);
    let cases: &[Case<'_>] = &[
        ("", |_| {}, 1000, 1),
        ("WeightAge=1000 MaxAge=0-1", |_| {}, 1000, 1),
        ("WeightAge=1000 MaxAge=0-1", |_| {}, 1900, 250),
        ("WeightAge=1000 MaxAge=0-1", |_| {}, 99_000, 1000),
        ("WeightAge=1000 MaxAge=0-1", |job| job.ages_from = None, 1900, 1),
        ("WeightAge=1000 MaxAge=0-1 Flags=ACCRUE_ALWAYS", |job| job.ages_from = None, 1800, 500),
        ("WeightJobSize=1000", |_| {}, 0, 250),
        ("WeightJobSize=1000", |job| job.cpus = 2, 0, 156),
        ("WeightJobSize=1000 FavorSmall=YES", |_| {}, 0, 750),
        ("WeightJobSize=1000 Flags=SMALL_RELATIVE_TO_TIME", |_| {}, 0, 25),
        ("WeightQOS=1000", |_| {}, 0, 250),
        ("WeightQOS=1000 Flags=NO_NORMAL_QOS", |_| {}, 0, 50_000),
        ("WeightAssoc=1000", |_| {}, 0, 750),
        ("WeightAssoc=2 Flags=NO_NORMAL_ASSOC", |_| {}, 0, 60),
        ("WeightPartition=1000", |_| {}, 0, 250),
        ("WeightPartition=1000", |job| job.partition = 1, 0, 1000),
        ("WeightPartition=1000 Flags=NO_NORMAL_ALL", |_| {}, 0, 1000),
        ("WeightTRES=CPU=1000,Mem=500,Node=80", |job| job.demand.tres[1] = 4000, 0, 250 + 250 + 20),
        ("WeightTRES=CPU=1000 Flags=NO_NORMAL_TRES", |_| {}, 0, 8000),
        ("WeightFairshare=1000", |_| {}, 0, 1000),
        ("WeightQOS=1000", |job| job.nice = 100, 0, 150),
        ("WeightQOS=1000", |job| job.nice = 10_000, 0, 1),
        ("WeightQOS=4294967295", |job| (job.demand.qos, job.nice) = (Some(2), -100), 0, u32::MAX),
    ];
    for (words, change, now, expected) in cases {
        let lines: Vec<String> = words.split_whitespace().map(|word| format!("Priority{word}")).collect();
        let mut job = base.clone();
        change(&mut job);
        let partition = "PartitionName=b Nodes=n1 PriorityJobFactor=4";
        let state = state(&format!("{}\n{partition}\n", lines.join("\n")), accounts, 0);
        assert_eq!(state.priority(&job, *now), *expected, "{lines:?} {job:?} at {now}");
    }
}

#[test]
fn first_come_first_served_counts_down_and_stands_still() {
    let mut basic = state("PriorityType=priority/basic\n", "", 0);
    let job = Entry { priority: 7, ..Entry::default() };
    let firsts = [0, 0, 100].map(|nice| basic.first(&Entry { nice, ..job.clone() }, 0));
    assert_eq!(firsts, [4_294_901_759, 4_294_901_758, 4_294_901_657]);
    assert_eq!(basic.renewed(&job, 1_000_000), 7);
    // Multifactor under INCR_ONLY never falls, and without it does.
    for (flags, expected) in [("INCR_ONLY", 7), ("NONE", 1)] {
        assert_eq!(state(&format!("PriorityFlags={flags}\n"), "", 0).renewed(&job, 0), expected);
    }
}
