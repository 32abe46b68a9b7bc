//! Sessions, measured in a log and drawn from a table.

use super::{check_counts, check_distribution, check_refused, jobs};
use crate::data::check_mean;
use sim_core::{Span, Streams};
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;
use std::io::Cursor;
use workload::model::{EstimateShares, ModelJob, Quantiles, RuntimeParts, SessionModel, SizeShare, WorkloadModel, fit};
use workload::{SwfReader, SwfWriter};

/// Returns sessions of one job each, so that jobs are independent.
fn independent() -> SessionModel {
    SessionModel { session_jobs: Quantiles([1.0; 17]), ..SessionModel::wagap_like() }
}

/// Returns a model of many users, so that sessions of one user hardly ever overlap, and of one estimate.
fn plain() -> SessionModel {
    SessionModel {
        users: vec![1.0; 20_000],
        session_gap: Quantiles(Quantiles::AT.map(|at| 100.0 + 900.0 * at)),
        estimates: vec![EstimateShares { up_to: u32::MAX, values: vec![(1_000_000, 1.0)] }],
        runtimes: vec![RuntimeParts { up_to: u32::MAX, parts: Quantiles(Quantiles::AT.map(|at| 0.01 + 0.9 * at)) }],
        ..SessionModel::wagap_like()
    }
}

/// Returns the share of the distribution that lies below `value`.
fn below(distribution: &Quantiles, value: f64) -> f64 {
    let Quantiles(quantiles) = distribution;
    let above = quantiles.partition_point(|quantile| *quantile <= value);
    if above == 0 || above == 17 {
        return f64::from(u8::from(above == 17));
    }
    let (low, high) = (quantiles[above - 1], quantiles[above]);
    let part = if low > 0.0 { libm::log(value / low) / libm::log(high / low) } else { (value - low) / (high - low) };
    Quantiles::AT[above - 1] + part * (Quantiles::AT[above] - Quantiles::AT[above - 1])
}

/// The first draws are part of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let shown = |ModelJob { job, further, .. }: &ModelJob| {
        format!("{} {:?} {} {}", job.submit, job.user, job.runtime, further.as_deref().unwrap_or(""))
    };
    let first: Vec<_> = jobs(&SessionModel::wagap_like(), 4).iter().map(shown).collect();
    let expected = [
        "739 Some(23) 1054 -1 1:ppn=1",
        "28949 Some(4) 2 -1 1:ppn=1",
        "28953 Some(4) 1 -1 1:ppn=1",
        "28954 Some(4) 1 -1 1:ppn=1",
    ];
    assert_eq!(first, expected);
}

#[test]
fn sessions_begin_by_the_hours_of_the_week() {
    let model = SessionModel { sessions_per_day: 500.0, start_hour: 30, ..independent() };
    let weeks = 7.0 * 86_400.0 * 10.0;
    let mut counts = vec![0; 168];
    for job in model.jobs(&Streams::new(42, 0)).take_while(|job| job.job.submit.as_secs_f64() < weeks) {
        let hour = usize::try_from(job.job.submit.as_nanos() / 1_000_000_000 / 3_600).expect("small");
        counts[(hour + 30) % 168] += 1;
    }
    let (hours, days): (f64, f64) = (model.by_hour.iter().sum(), model.by_weekday.iter().sum());
    let probabilities: Vec<f64> =
        (0..168).map(|hour| model.by_weekday[hour / 24] / days * model.by_hour[hour % 24] / hours).collect();
    check_counts("hours", &counts, &probabilities);
    // A Poisson number with mean 500 a day.
    let total = f64::from(counts.iter().sum::<u32>());
    assert!((total - 35_000.0).abs() < 4.0 * 35_000_f64.sqrt(), "{total}");
}

#[test]
fn sizes_users_and_estimates_have_their_shares() {
    let model = independent();
    let jobs = jobs(&model, 40_000);
    let count = |keys: Vec<u32>, weights: Vec<f64>, key: &dyn Fn(&ModelJob) -> Option<u32>, what: &str| {
        let mut counts: BTreeMap<u32, u32> = keys.iter().map(|key| (*key, 0)).collect();
        for key in jobs.iter().filter_map(key) {
            *counts.get_mut(&key).unwrap_or_else(|| panic!("{what} {key} is in no table")) += 1;
        }
        let sum: f64 = weights.iter().sum();
        let by_key: BTreeMap<u32, f64> = keys.into_iter().zip(weights.iter().map(|weight| weight / sum)).collect();
        check_counts(what, &counts.into_values().collect::<Vec<_>>(), &by_key.into_values().collect::<Vec<_>>());
    };
    let (keys, weights) = model.sizes.iter().map(|size| (size.processors, size.weight)).unzip();
    count(keys, weights, &|job| Some(job.job.processors), "size");
    count((0..).take(model.users.len()).collect(), model.users.clone(), &|job| job.job.user, "user");
    let mut least = 1;
    for entry in &model.estimates {
        let (keys, weights) = entry.values.iter().copied().unzip();
        let of_size = |job: &ModelJob| {
            let is_mine = (least..=entry.up_to).contains(&job.job.processors);
            let seconds = job.job.limit?.as_nanos() / 1_000_000_000;
            is_mine.then(|| u32::try_from(seconds).expect("short"))
        };
        count(keys, weights, &of_size, "estimate");
        least = entry.up_to.saturating_add(1);
    }
}

#[test]
fn nodes_fit_the_size_and_clusters_are_demanded_as_often_as_in_the_table() {
    let model = independent();
    let jobs = jobs(&model, 40_000);
    let mut demands = Vec::new();
    for job in &jobs {
        let spec = job.further.as_deref().expect("every job has nodes").strip_prefix("-1 ").expect("no queue");
        let (nodes, rest) = spec.split_once(":ppn=").expect("nodes");
        let (ppn, cluster) = rest.split_once(":cl_").map_or((rest, None), |(ppn, cluster)| (ppn, Some(cluster)));
        let number = |text: &str| text.parse::<u32>().expect("a number");
        assert_eq!(number(nodes) * number(ppn), job.job.processors);
        demands.push(f64::from(u8::from(cluster == Some("zewura"))));
    }
    let total: f64 = model.sizes.iter().map(|size| size.weight).sum();
    let expected: f64 = model
        .sizes
        .iter()
        .map(|size| {
            let all: f64 = size.shapes.iter().map(|shape| shape.weight).sum();
            let zewura = size.shapes.iter().filter(|shape| shape.cluster.as_deref() == Some("zewura"));
            size.weight / total * zewura.map(|shape| shape.weight).sum::<f64>() / all
        })
        .sum();
    check_mean("demands of zewura", &demands, expected);
}

#[test]
fn run_times_are_the_parts_of_their_estimates() {
    let model = independent();
    let jobs = jobs(&model, 60_000);
    for (estimate, entry) in [(7_200, 0), (14_400, 1), (86_400, 2), (172_800, 3), (604_800, 5)] {
        let runtimes: Vec<f64> = jobs
            .iter()
            .filter(|job| job.job.limit == Some(Span::from_secs(estimate)))
            .map(|job| job.job.runtime.as_secs_f64())
            .collect();
        assert!(runtimes.len() > 1_000, "{estimate}: {}", runtimes.len());
        let parts = model.runtimes[entry].parts;
        let estimate = Span::from_secs(estimate).as_secs_f64();
        // Rounded to the nearest second.
        check_distribution("run times", runtimes, |runtime| below(&parts, (runtime + 0.5) / estimate));
    }
}

/// Returns the sessions of a log of many users, each as a list of jobs.
fn sessions(jobs: &[ModelJob]) -> Vec<Vec<&ModelJob>> {
    let mut by_user: BTreeMap<Option<u32>, Vec<Vec<&ModelJob>>> = BTreeMap::new();
    for job in jobs {
        let of_user = by_user.entry(job.job.user).or_default();
        match of_user.last_mut().filter(|last| {
            let before = last.last().expect("a session has a job");
            job.job.submit.since(before.job.submit) <= Span::from_secs(1_001)
        }) {
            Some(session) => session.push(job),
            None => of_user.push(vec![job]),
        }
    }
    // The last days are left out: their sessions may not have ended.
    let end = jobs[jobs.len() - 1].job.submit.saturating_since(sim_core::Time::from_secs(20 * 86_400));
    by_user.into_values().flatten().filter(|session| session[0].job.submit.as_nanos() < end.as_nanos()).collect()
}

#[test]
fn sessions_have_the_lengths_the_gaps_and_the_likeness_of_the_table() {
    let model = plain();
    let jobs = jobs(&model, 60_000);
    let sessions = sessions(&jobs);
    let lengths = sessions.iter().map(|session| f64::from(u32::try_from(session.len()).expect("few"))).collect();
    check_distribution("lengths", lengths, |length| below(&model.session_jobs, length + 0.5));

    let pairs: Vec<_> = sessions.iter().flat_map(|session| session.windows(2)).collect();
    let gaps = pairs.iter().map(|pair| pair[1].job.submit.since(pair[0].job.submit).as_secs_f64()).collect();
    // Between whole seconds: at most a second off, of nine hundred.
    check_distribution("gaps", gaps, |gap| below(&model.session_gap, gap));

    let total: f64 = model.sizes.iter().map(|size| size.weight).sum();
    let alike: f64 = model.sizes.iter().map(|size| (size.weight / total).powi(2)).sum();
    let repeats: Vec<f64> =
        pairs.iter().map(|pair| f64::from(u8::from(pair[0].job.processors == pair[1].job.processors))).collect();
    check_mean("repeats", &repeats, model.repeat + (1.0 - model.repeat) * alike);

    let normal = Normal::new(0.0, 1.0).expect("a variance");
    let score = |job: &ModelJob| {
        let share = below(&model.runtimes[0].parts, job.job.runtime.as_secs_f64() / 1e6);
        normal.inverse_cdf(share.clamp(1e-6, 1.0 - 1e-6))
    };
    // The residual of a score has no correlation with the previous score, and the rest of the variance.
    let scores = pairs.iter().map(|pair| (score(pair[0]), score(pair[1])));
    let residuals = scores.map(|(last, next)| (last, next - model.persistence * last));
    let (products, squares): (Vec<f64>, Vec<f64>) = residuals.map(|(last, rest)| (last * rest, rest * rest)).unzip();
    check_mean("correlation", &products, 0.0);
    check_mean("variance", &squares, 1.0 - model.persistence.powi(2));
}

#[test]
fn estimates_are_requested_times_and_the_stand_in_for_zewura_demands_no_cluster() {
    for job in jobs(&SessionModel::zewura_like(), 20_000) {
        assert!(job.job.limit.is_some());
        assert!(job.job.runtime >= Span::from_secs(1));
        assert!(!job.further.as_deref().expect("nodes").contains("cl_"));
        let record = job.record();
        assert_eq!((record.number, record.user, record.wait), (job.job.number, job.job.user, None));
        assert_eq!(record.node_spec(), job.further.as_deref().and_then(|further| further.strip_prefix("-1 ")));
    }
}

/// Returns the mean over all jobs of run time cut at the estimate, by the tables.
fn mean_run(model: &SessionModel) -> f64 {
    const STEPS: u32 = 2_000;
    let total: f64 = model.sizes.iter().map(|size| size.weight).sum();
    let of_estimate = |estimate: u32| -> f64 {
        let entry = model.runtimes.iter().find(|entry| estimate <= entry.up_to).expect("the last holds all");
        let part = |step: u32| entry.parts.at((f64::from(step) + 0.5) / f64::from(STEPS)) * model.runtime_factor;
        f64::from(estimate) * (0..STEPS).map(|step| part(step).min(1.0)).sum::<f64>() / f64::from(STEPS)
    };
    let of_size = |size: &SizeShare| -> f64 {
        let entry = model.estimates.iter().find(|entry| size.processors <= entry.up_to).expect("the last holds all");
        let sum: f64 = entry.values.iter().map(|(_, weight)| weight).sum();
        entry.values.iter().map(|(estimate, weight)| weight / sum * of_estimate(*estimate)).sum()
    };
    model.sizes.iter().map(|size| size.weight / total * of_size(size)).sum()
}

#[test]
fn the_stand_in_for_zewura_runs_as_long_as_the_paper_says() {
    let mean = mean_run(&SessionModel::zewura_like());
    assert!((mean / 46_524.5 - 1.0).abs() < 1e-3, "{mean}");
}

/// Compares jobs, days, load and mean run time of the log with those of forty stand-ins of the same length.
#[test]
fn the_stand_in_for_wagap_is_like_its_log() {
    let model = SessionModel::wagap_like();
    let (mut days, mut loads, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..40 {
        let jobs: Vec<_> = model.jobs(&Streams::new(seed, 0)).take(17_898).collect();
        let run = |job: &ModelJob| job.job.runtime.min(job.job.limit.unwrap_or_default()).as_secs_f64();
        let span = jobs[17_897].job.submit.as_secs_f64();
        let work: f64 = jobs.iter().map(|job| run(job) * f64::from(job.job.processors)).sum();
        days.push(span / 86_400.0);
        loads.push(work / span / 2_176.0);
        runs.push(jobs.iter().map(run).sum::<f64>() / 17_898.0);
    }
    // The log has 88.96 days, load 0.5767 of 2176 processors, and mean 50 117 s, with run times cut at the estimates.
    for (what, values, known) in [("days", days, 88.96), ("load", loads, 0.5767), ("run time", runs, 50_117.0)] {
        check_mean(what, &values, known);
    }
}

#[test]
fn the_preset_is_the_fit_of_the_real_log() {
    let Some(folder) = test_data::traces() else { return };
    let log = SwfReader::open(&folder.join("wagap-2013.swf.gz")).unwrap_or_else(|error| panic!("{error}"));
    let measured = fit(log, Some(3_600)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(measured, SessionModel::wagap_like());
}

#[test]
fn what_was_drawn_is_measured() {
    let model = plain();
    let mut log = SwfWriter::new(Vec::new());
    log.comment("UnixStartTime: 1356994800\nTimeZone: 3600").expect("memory does not fail"); // Tuesday midnight
    let drawn = SessionModel { start_hour: 24, ..model.clone() };
    for job in drawn.jobs(&Streams::new(5, 0)).take(60_000) {
        log.record(&job.record()).expect("memory does not fail");
    }
    let log = SwfReader::from_read("a.swf", Cursor::new(log.into_inner())).expect("a log");
    let measured = fit(log, None).expect("a model");
    assert_eq!(measured.validate(), Ok(()));
    let near = |what: &str, found: f64, expected: f64, tolerance: f64| {
        assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found}, not {expected}");
    };
    near("sessions per day", measured.sessions_per_day, model.sessions_per_day, 0.1);
    near("persistence", measured.persistence, model.persistence, 0.05);
    near("repeat", measured.repeat, model.repeat, 0.02);
    near("median gap", measured.session_gap.at(0.5), model.session_gap.at(0.5), 0.03);
    near("median part", measured.runtimes[0].parts.at(0.5), model.runtimes[0].parts.at(0.5), 0.1);
    let share = |weights: &[f64], at: usize| weights[at] / weights.iter().sum::<f64>();
    near("hour 14", share(&measured.by_hour, 14), share(&model.by_hour, 14), 0.1);
    near("Thursday", share(&measured.by_weekday, 3), share(&model.by_weekday, 3), 0.1);
    let one = |model: &SessionModel| -> f64 {
        let total: f64 = model.sizes.iter().map(|size| size.weight).sum();
        model.sizes.iter().find(|size| size.processors == 1).expect("serial jobs").weight / total
    };
    near("serial jobs", one(&measured), one(&model), 0.1);
}

#[test]
fn too_little_is_not_measured() {
    let log = |text: String| SwfReader::from_read("a.swf", Cursor::new(text.into_bytes())).expect("a log");
    let line = "1 0 0 9 1 -1 -1 1 60 -1 1 7 1 -1 2 3 -1 -1\n";
    let error = fit(log(line.repeat(99)), None).expect_err("too few");
    assert_eq!(error.to_string(), "a.swf: expected at least 100 jobs that ran, found 99");
    let error = fit(log(line.to_owned() + "2 x\n"), None).expect_err("faulty");
    assert!(error.to_string().starts_with("a.swf:2: expected 18 columns"), "{error}");
    // Jobs of one instant, one user and one length also yield a model.
    let model = fit(log(line.repeat(100)), None).expect("a model");
    assert_eq!(model.validate(), Ok(()));
    assert!(jobs(&model, 300).iter().all(|job| job.job.runtime == Span::from_secs(9)));
}

#[test]
fn quantiles_and_shares_are_inverse() {
    let table = Quantiles(Quantiles::AT.map(|at| 5.0 * at * at));
    for step in 0..=1_000_u32 {
        let share = f64::from(step) / 1_000.0;
        assert!((below(&table, table.at(share)) - share).abs() < 1e-9, "{share}");
    }
    let atoms = Quantiles([2.0; 17]);
    assert_eq!(
        [below(&atoms, 1.9), below(&atoms, 2.0), atoms.at(0.3)].map(f64::to_bits),
        [0.0, 1.0, 2.0].map(f64::to_bits)
    );
}

#[test]
fn impossible_parameters_are_named() {
    let check = |change: &dyn Fn(&mut SessionModel), message: &str| {
        let mut model = SessionModel::wagap_like();
        change(&mut model);
        check_refused(&model, message);
    };
    let weights = "weights from 0 to 1e12, one of them above 0";
    check(&|model| model.sessions_per_day = 0.0, "sessions_per_day: expected a number from 0.000001 to 1000000");
    check(&|model| model.by_hour = [0.0; 24], &format!("by_hour: expected {weights}"));
    check(&|model| model.start_hour = 168, "start_hour: expected an hour of the week, 0 to 167");
    check(
        &|model| model.session_jobs = Quantiles([0.0; 17]),
        "session_jobs: expected seventeen ascending numbers from 1 to 1000000",
    );
    check(&|model| model.repeat = f64::NAN, "repeat: expected a probability from 0 to 1");
    check(&|model| model.users.clear(), &format!("users: expected {weights}"));
    check(&|model| model.sizes[1].processors = 0, "sizes[1].processors: expected at least 1");
    check(&|model| model.sizes[0].shapes[0].ppn = 7, "sizes[0].shapes: expected ppn to divide processors");
    check(
        &|model| model.sizes[0].shapes[0].cluster = Some("a b".to_owned()),
        "sizes[0].shapes: expected clusters to be words without blanks and colons",
    );
    check(&|model| model.estimates[2].values[0].0 = 0, "estimates[2].values: expected estimates of at least a second");
    check(&|model| model.estimates.reverse(), "estimates: expected entries sorted by up_to");
    check(&|model| model.runtimes.clear(), "runtimes: expected at least one entry");
    for model in [SessionModel::wagap_like(), SessionModel::zewura_like(), plain(), independent()] {
        assert_eq!(model.validate(), Ok(()));
    }
}
