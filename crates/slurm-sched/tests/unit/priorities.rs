//! Priorities, compared with the formulas; recordings.rs compares them with slurmctld's.

use crate::Version;
use crate::accounts::Accounts;
use crate::conf::Conf;
use crate::priority::{JobFactors, Priorities, Running};
use proptest::prelude::*;

const CONF: &str = "PriorityType=priority/multifactor\nAccountingStorageType=accounting_storage/slurmdbd\nNodeName=n[1-8] CPUs=4 RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES\n";

fn conf(lines: &str) -> Conf {
    Conf::read("slurm.conf", &format!("{CONF}{lines}"), Version::V22_05, &[]).expect("valid")
}

fn accounts(text: &str) -> Accounts {
    Accounts::read("cluster.cfg", text).expect("valid")
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
        let accounts = accounts("Parent - 'root'\nAccount - 'a'\nParent - 'a'\nUser - 'u'\n");
        let conf = conf(&format!("PriorityDecayHalfLife=0-{hours}\nPriorityCalcPeriod=1\n"));
        let d: f64 = 1.0 - 0.693 / (3600 * hours) as f64;
        let power = |seconds: i64| d.powi(i32::try_from(seconds).expect("small"));
        let mut state = Priorities::new(&conf, Some(&accounts), 0);
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
        let state = Priorities::new(
            &conf(&format!("{lines}PriorityWeightTRES=Node={}\nPriorityMaxAge=1-0\nPriorityFavorSmall={favors_small}\nPartitionName=b Nodes=ALL PriorityJobFactor=4\n", weights[5])),
            Some(&accounts("Parent - 'root'\nUser - 'u':Priority=30\nUser - 'v':Priority=40\nQOS - 'high':Priority=50\nQOS - 'top':Priority=200\n")),
            0,
        );
        let (association, eligible) = (Some(1), Some(1000));
        let job = JobFactors { association, qos: Some(qos), partition, min_nodes: nodes, cpus, eligible, nice, ..JobFactors::default() };
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
    let accounts = accounts("Parent - 'root'\nUser - 'u'\n");
    let job = Running { association: Some(1), qos: Some(0), start: 0, billing: 2.0 };
    for (enforce, used) in
        [("associations", 200.0), ("associations,limits", 290.0), ("qos", 290.0), ("safe", 290.0), ("none", 200.0)]
    {
        let conf = conf(&format!("PriorityDecayHalfLife=0\nAccountingStorageEnforce={enforce}\n"));
        let mut state = Priorities::new(&conf, Some(&accounts), 0);
        decay_round(&mut state, 100, [job]);
        state.job_ended(&job, 145);
        assert_eq!(state.tree.nodes[1].usage.to_bits(), f64::to_bits(used), "{enforce}");
    }
}

#[test]
fn usage_is_weighted_by_qos_and_by_billing_weights_and_reset_by_the_calendar() {
    let accounts = accounts("Parent - 'root'\nUser - 'u'\nQOS - 'twice':UsageFactor=2\n");
    let lines = "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=MONTHLY\n\
        PartitionName=gold Nodes=n[1-2] TRESBillingWeights=CPU=2.0,Mem=1G,Node=3\n";
    let state = Priorities::new(&conf(lines), Some(&accounts), 0);
    assert_eq!([0, 1].map(|at| state.billing(at, 8, 2048, 2).to_bits()), [8.0, 24.0].map(f64::to_bits));
    let most = Priorities::new(&conf(&format!("{lines}PriorityFlags=MAX_TRES\n")), Some(&accounts), 0);
    assert_eq!(most.billing(1, 8, 2048, 2).to_bits(), 16.0_f64.to_bits());
    // 2026-01-31 to 2026-02-02.
    let day = |n: i64| 1_769_817_600 + n * 86_400;
    for (period, left) in [
        ("NONE", 3.0_f64),
        ("NOW", 3.0),
        ("DAILY", 0.0),
        ("WEEKLY", 1.0),
        ("MONTHLY", 1.0),
        ("QUARTERLY", 3.0),
        ("YEARLY", 3.0),
    ] {
        let conf = conf(&lines.replace("MONTHLY", period));
        let mut state = Priorities::new(&conf, Some(&accounts), day(0));
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
    let base = JobFactors {
        association: Some(1),
        qos: Some(1),
        min_nodes: 2,
        cpus: 8,
        requested_cpus: 8,
        eligible: Some(1000),
        limit: 600,
        ..JobFactors::default()
    };
    let accounts = accounts(
        "Parent - 'root'\nUser - 'u':Priority=30\nUser - 'v':Priority=40\n\
        QOS - 'high':Priority=50\nQOS - 'top':Priority=200\n",
    );
    let cases: &[(&str, JobFactors, i64, u32)] = &[
        ("", base, 1000, 1),
        ("PriorityWeightAge=1000\nPriorityMaxAge=0-1", base, 1000, 1),
        ("PriorityWeightAge=1000\nPriorityMaxAge=0-1", base, 1900, 250),
        ("PriorityWeightAge=1000\nPriorityMaxAge=0-1", base, 99_000, 1000),
        ("PriorityWeightAge=1000\nPriorityMaxAge=0-1", JobFactors { eligible: None, ..base }, 1900, 1),
        (
            "PriorityWeightAge=1000\nPriorityMaxAge=0-1\nPriorityFlags=ACCRUE_ALWAYS",
            JobFactors { eligible: None, ..base },
            1800,
            500,
        ),
        ("PriorityWeightJobSize=1000", base, 0, 250),
        ("PriorityWeightJobSize=1000", JobFactors { cpus: 2, ..base }, 0, 156),
        ("PriorityWeightJobSize=1000\nPriorityFavorSmall=YES", base, 0, 750),
        ("PriorityWeightJobSize=1000\nPriorityFlags=SMALL_RELATIVE_TO_TIME", base, 0, 25),
        ("PriorityWeightQOS=1000", base, 0, 250),
        ("PriorityWeightQOS=1000\nPriorityFlags=NO_NORMAL_QOS", base, 0, 50_000),
        ("PriorityWeightAssoc=1000", base, 0, 750),
        ("PriorityWeightAssoc=2\nPriorityFlags=NO_NORMAL_ASSOC", base, 0, 60),
        ("PriorityWeightPartition=1000\nPartitionName=b Nodes=n1 PriorityJobFactor=4", base, 0, 250),
        (
            "PriorityWeightPartition=1000\nPartitionName=b Nodes=n1 PriorityJobFactor=4",
            JobFactors { partition: 1, ..base },
            0,
            1000,
        ),
        (
            "PriorityWeightPartition=1000\nPriorityFlags=NO_NORMAL_ALL\nPartitionName=b Nodes=n1 PriorityJobFactor=4",
            base,
            0,
            1000,
        ),
        ("PriorityWeightTRES=CPU=1000,Mem=500,Node=80", JobFactors { memory: 4000, ..base }, 0, 250 + 250 + 20),
        ("PriorityWeightTRES=CPU=1000\nPriorityFlags=NO_NORMAL_TRES", base, 0, 8000),
        ("PriorityWeightFairshare=1000", base, 0, 1000),
        ("PriorityWeightQOS=1000", JobFactors { nice: 100, ..base }, 0, 150),
        ("PriorityWeightQOS=1000", JobFactors { nice: 10_000, ..base }, 0, 1),
        ("PriorityWeightQOS=4294967295", JobFactors { qos: Some(2), nice: -100, ..base }, 0, u32::MAX),
    ];
    for (lines, job, now, expected) in cases {
        let state = Priorities::new(&conf(&format!("{lines}\n")), Some(&accounts), 0);
        assert_eq!(state.priority(job, *now), *expected, "{lines:?} {job:?} at {now}");
    }
}

#[test]
fn first_come_first_served_counts_down_and_stands_still() {
    let conf = Conf::read("slurm.conf", &CONF.replace("multifactor", "basic"), Version::V22_05, &[]).expect("valid");
    let mut state = Priorities::new(&conf, None, 0);
    let firsts = [0, 0, 100].map(|nice| state.first(&JobFactors { nice, ..JobFactors::default() }, 0));
    assert_eq!(firsts, [4_294_901_759, 4_294_901_758, 4_294_901_657]);
    assert_eq!(state.renewed(&JobFactors::default(), 7, 1_000_000), 7);
    // Multifactor under INCR_ONLY never falls, and without it does.
    for (flags, expected) in [("INCR_ONLY", 7), ("NONE", 1)] {
        let state = Priorities::new(&self::conf(&format!("PriorityFlags={flags}\n")), None, 0);
        assert_eq!(state.renewed(&JobFactors::default(), 7, 0), expected);
    }
}
