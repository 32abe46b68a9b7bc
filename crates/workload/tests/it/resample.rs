//! A resampled log is similar to the original, within bounds that are stated here and in docs/statistics.md.

use sim_core::{Span, Streams, Time};
use workload::model::{Lublin, WorkloadModel};
use workload::resample::{Blocks, Fidelity, Users, shaken};
use workload::{HeldJob, HeldLog, Options, SwfReader};

/// Bounds of a measure: of `users` in the mean over twenty logs, and of `blocks` in every single log, as `[from, to]`.
const BOUNDS: [(&str, [[f64; 2]; 2]); 11] = [
    ("jobs", [[0.85, 1.15], [0.85, 1.15]]),
    ("work", [[0.85, 1.15], [0.9, 1.1]]),
    // Half of the jobs of some logs run for a minute or two, and their number per week varies most.
    ("median_runtime", [[0.75, 1.35], [0.4, 2.5]]),
    ("runtimes", [[0.0, 0.10], [0.0, 0.10]]),
    ("processors", [[0.0, 0.10], [0.0, 0.10]]),
    ("limits", [[0.0, 0.12], [0.0, 0.12]]),
    ("areas", [[0.0, 0.10], [0.0, 0.10]]),
    ("day", [[0.0, 0.10], [0.0, 0.10]]),
    ("week", [[0.0, 0.10], [0.0, 0.10]]),
    // Users that are drawn independently do not hold back when others fill the machine, as they did in the log.
    ("burstiness", [[0.5, 2.2], [0.8, 1.25]]),
    ("lag_one", [[-0.6, 0.6], [-0.15, 0.15]]),
];
const OF_USERS: usize = 0;
const OF_BLOCKS: usize = 1;

const TWENTY: u32 = 20;

/// Returns the fidelity of twenty logs.
fn twenty(log: &HeldLog, resampled: impl Fn(&Streams) -> HeldLog) -> Vec<[f64; 11]> {
    (0..TWENTY)
        .map(|replication| Fidelity::of(&resampled(&Streams::new(1, replication)), log).numbers.map(|(_, value)| value))
        .collect()
}

fn mean(twenty: &[[f64; 11]]) -> [f64; 11] {
    std::array::from_fn(|at| twenty.iter().map(|values| values[at]).sum::<f64>() / f64::from(TWENTY))
}

/// Prints a row of the table in docs/statistics.md: the mean, and the range over single logs.
fn print(name: &str, twenty: &[[f64; 11]]) {
    let means = mean(twenty);
    let row = BOUNDS.iter().enumerate().map(|(at, (measure, ..))| {
        let values = || twenty.iter().map(|values| values[at]);
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        format!("{measure} {:.3} ({low:.2} to {high:.2})", means[at])
    });
    eprintln!("{name} | {}", row.collect::<Vec<_>>().join(" | "));
}

fn check(name: &str, found: [f64; 11], of: usize) {
    for ((measure, bounds), value) in BOUNDS.iter().zip(found) {
        let [low, high] = bounds[of];
        assert!((low..=high).contains(&value), "{name}: {measure} is {value}, not within {low} to {high}");
    }
}

/// Returns variance and lag-1 correlation of weekly work, as computed by another program: run times as they are, weeks
/// from the first submission, with and without the last one.
fn weekly(log: &HeldLog) -> [(f64, f64); 2] {
    let first = log.jobs()[0].submit;
    let mut weekly = vec![0.0; 600];
    let mut weeks = 0;
    for job in log.jobs() {
        let week = usize::try_from(job.submit.since(first).as_nanos() / WEEK.as_nanos()).expect("few weeks");
        weekly[week] += f64::from(job.processors) * job.runtime.as_secs_f64();
        weeks = week + 1;
    }
    [weeks, weeks - 1].map(|weeks| {
        let weekly = &weekly[..weeks];
        let mean = weekly.iter().sum::<f64>() / weeks as f64;
        let squares: f64 = weekly.iter().map(|work| (work - mean).powi(2)).sum();
        let products: f64 = weekly.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        (squares / weeks as f64, products / squares)
    })
}

const WEEK: Span = Span::from_secs(604_800);

/// Checks every single log, as read back.
fn check_every(name: &str, log: &HeldLog, blocks: &Blocks) {
    let own = weekly(log);
    let (mut refused, mut found) = (0, Vec::new());
    for replication in 0..TWENTY {
        let drawn = blocks.redrawn(&Streams::new(1, replication)).expect("a draw within bounds");
        refused += drawn.refused;
        for ((variance, lag), (own_variance, own_lag)) in weekly(&drawn.log).into_iter().zip(own) {
            let ratio = variance / own_variance;
            assert!((0.8..=1.25).contains(&ratio), "{name}, {replication}: variance of weekly work {ratio}");
            assert!(
                (lag - own_lag).abs() <= 0.15,
                "{name}, {replication}: lag-1 correlation {lag}, in the log {own_lag}"
            );
        }
        found.push(Fidelity::of(&drawn.log, log).numbers.map(|(_, value)| value));
    }
    print(&format!("{name}, blocks of {}, {refused} draws refused", blocks.length), &found);
    found.into_iter().for_each(|values| check(name, values, OF_BLOCKS));
}

/// Real logs, and the processors of their machines.
const LOGS: [(&str, u32); 3] =
    [("KTH-SP2-1996-2.1-cln", 100), ("SDSC-SP2-1998-4.2-cln", 128), ("CTC-SP2-1996-3.1-cln", 338)];

/// Reads the log of a machine if `GRID_TRACES` names the folder; otherwise prints the reason.
fn real(name: &str) -> Option<HeldLog> {
    let path = test_data::trace(&format!("{name}.swf.gz"))?;
    Some(HeldLog::read(SwfReader::open(&path).expect("a log"), Options::default()).expect("a sound log").0)
}

#[test]
fn every_log_of_blocks_keeps_weekly_work_marginals_and_cycles_of_real_logs() {
    for (name, processors) in LOGS {
        let Some(log) = real(name) else { return };
        let blocks = Blocks::of(log.clone(), processors, 1.0).expect("weeks");
        check_every(name, &log, &blocks);
    }
}

#[test]
fn every_log_of_blocks_keeps_weekly_work_of_a_model() {
    let log = a_log();
    let blocks = Blocks::of(log.clone(), 128, 1.0).expect("weeks");
    check_every("model", &log, &blocks);
    let longer = blocks.with_weeks(52).redrawn(&Streams::new(1, 0)).expect("a draw within bounds");
    let weeks = longer.log.span().as_secs_f64() / WEEK.as_secs_f64();
    assert!((51.5..=52.0).contains(&weeks), "{weeks} weeks");
    check("52 weeks", Fidelity::of(&longer.log, &log).numbers.map(|(_, value)| value), OF_BLOCKS);
}

#[test]
fn users_drawn_independently_keep_the_marginals_and_the_cycles_of_real_logs() {
    let mut found = Vec::new();
    for (name, _) in LOGS {
        let Some(log) = real(name) else { return };
        let users = Users::of(&log).expect("users are known");
        let twenty = twenty(&log, |streams| users.redrawn(streams));
        print(&format!("{name}, users"), &twenty);
        found.push((name, mean(&twenty)));
    }
    found.into_iter().for_each(|(name, found)| check(name, found, OF_USERS));
}

#[test]
fn a_shaken_log_is_the_log_but_for_seconds() {
    let log = a_log();
    let found = mean(&twenty(&log, |streams| shaken(&log, Span::from_secs(60), streams)));
    check("shaken", found, OF_USERS);
    let shaken = shaken(&log, Span::from_secs(60), &Streams::new(1, 0));
    let numbers = |log: &HeldLog| {
        let mut numbers: Vec<u64> = log.jobs().iter().map(|job| job.number).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&shaken), numbers(&log), "each job is there once");
    for job in shaken.jobs() {
        let was = log.jobs().iter().find(|was| was.number == job.number).expect("it was there");
        let moved = job.submit.as_secs_f64() - was.submit.as_secs_f64();
        assert!((-1.0..=120.0).contains(&moved), "job {} moved by {moved} s", job.number);
        assert_eq!((job.runtime, job.processors, job.limit), (was.runtime, was.processors, was.limit));
    }
}

/// Returns twenty users of one kind and twenty of the other on a model's jobs: 26 weeks.
fn a_log() -> HeldLog {
    let jobs = Lublin::default().jobs(&Streams::new(3, 0));
    let held = HeldLog::of_model(jobs.take_while(|job| job.job.submit.since(Time::ZERO) < WEEK * 26));
    let user = |job: &HeldJob| {
        let week = u32::try_from(job.submit.since(Time::ZERO).as_nanos() / WEEK.as_nanos()).expect("26 weeks");
        let die = u32::try_from(job.number.wrapping_mul(2_654_435_761) >> 8 & 0xff).expect("a byte");
        if die < 128 { die % 20 } else { 1_000 + 20 * (week / 3) + die % 20 }
    };
    HeldLog::of(held.jobs().iter().map(|job| HeldJob { user: Some(user(job)), ..*job }).collect())
}

#[test]
fn users_drawn_independently_keep_the_load_and_more_of_them_bring_more() {
    let log = a_log();
    let users = Users::of(&log).expect("users are known");
    let (temporary, long_term) = users.counts();
    assert!(temporary > 100 && long_term == 20, "{temporary} temporary, {long_term} long-term");
    check("as many users", mean(&twenty(&log, |streams| users.redrawn(streams))), OF_USERS);
    let more = users.clone().with_users(1.5).with_weeks(13);
    let found = mean(&twenty(&log, |streams| more.redrawn(streams)));
    assert!((1.3..1.7).contains(&found[0]) && (1.25..1.75).contains(&found[1]), "{found:?}");
    let weeks = more.redrawn(&Streams::new(1, 0)).span().as_secs_f64() / 604_800.0;
    assert!((12.0..=13.0).contains(&weeks), "{weeks} weeks");
}

/// Returns the mean work ahead of a job on a machine that completes `rate` processor-seconds a second.
fn backlog(log: &HeldLog, rate: f64) -> f64 {
    let (mut ahead, mut sum, mut last) = (0.0_f64, 0.0, Time::ZERO);
    for job in log.jobs() {
        ahead = (ahead - rate * job.submit.since(last).as_secs_f64()).max(0.0);
        sum += ahead / rate;
        ahead += job.area();
        last = job.submit;
    }
    sum / log.jobs().len() as f64
}

#[test]
fn every_log_of_users_within_bounds_keeps_the_backlog_at_its_load() {
    let log = a_log();
    for relative in [0.9, 1.0, 1.1] {
        let users = Users::of(&log).expect("users are known").with_users(relative);
        let mut refused = 0;
        for replication in 0..3 {
            let streams = Streams::new(1, replication);
            let drawn = users.redrawn_within(&log, (128, 1.0), &streams).expect("a draw within bounds");
            let ratio = backlog(&drawn.log, 128.0) / backlog(&log, 128.0 / relative);
            assert!((0.666..=1.501).contains(&ratio), "{relative}, {replication}: backlog {ratio}");
            assert_eq!(drawn.log == users.redrawn(&streams), drawn.refused == 0, "{relative}, {replication}");
            refused += drawn.refused;
        }
        assert!(refused > 0, "some draws of {relative} times the users are outside");
    }
    // Each user has the whole machine for two hours at one time of the week: none overlap in the log, some in each draw.
    let four_hours = |fourth: u64| HeldJob {
        submit: Time::from_secs(14_400 * fourth),
        processors: 128,
        runtime: Span::from_secs(7_200),
        user: u32::try_from(fourth % 42).ok(),
        ..log.jobs()[0]
    };
    let even = HeldLog::of((0..42 * 5).map(four_hours).collect());
    let error = Users::of(&even).expect("users are known").redrawn_within(&even, (128, 1.0), &Streams::new(1, 0));
    assert_eq!(
        error.expect_err("users who keep out of each other's way").to_string(),
        "none of 5000 draws of 1 times the log's users kept the bounds of a resampled log (backlog 0.667 to 1.5); draw blocks of weeks \
         instead, or another number of users"
    );
}

#[test]
fn jobs_move_by_whole_weeks_and_keep_all_else() {
    let log = a_log();
    let second = |job: &HeldJob| job.submit.since(Time::ZERO).as_nanos() / 1_000_000_000 % 604_800;
    let users = Users::of(&log).expect("users are known").redrawn(&Streams::new(5, 0));
    let blocks = Blocks::of(log.clone(), 128, 1.0).expect("weeks").redrawn(&Streams::new(5, 0)).expect("a draw").log;
    for (redrawn, keeps_user) in [(users, false), (blocks, true)] {
        assert!(redrawn.jobs().is_sorted_by_key(|job| job.submit));
        for job in redrawn.jobs().iter().step_by(97) {
            let was = log.jobs().iter().find(|was| was.number == job.number).expect("it is one of the log's");
            assert_eq!(second(job), second(was), "job {} has moved by something else than weeks", job.number);
            let user = if keeps_user { job.user } else { was.user };
            assert_eq!(HeldJob { submit: was.submit, user, ..*job }, *was);
        }
    }
}

#[test]
fn one_seed_gives_one_log_and_another_gives_another() {
    fn check<T: PartialEq>(redrawn: impl Fn(&Streams) -> T) {
        let [one, same, other] = [2, 2, 3].map(|replication| redrawn(&Streams::new(5, replication)));
        assert!(one == same && one != other);
    }
    let log = a_log();
    let users = Users::of(&log).expect("users are known");
    let blocks = Blocks::of(log.clone(), 128, 1.0).expect("weeks");
    check(|streams| users.redrawn(streams));
    check(|streams| blocks.redrawn(streams));
    check(|streams| shaken(&log, Span::from_secs(9), streams));
}

#[test]
fn logs_without_users_or_weeks_are_refused_with_a_way_out() {
    let log = a_log();
    let unknown = HeldLog::of(log.jobs().iter().map(|job| HeldJob { user: None, ..*job }).collect());
    let refused = |log: &HeldLog| Users::of(log).expect_err("no users, or few weeks").to_string();
    assert!(refused(&unknown).starts_with("0 % of the log's jobs have a user"));
    assert!(Blocks::of(unknown, 128, 1.0).is_ok(), "blocks need no users");
    let first = |weeks: u64| {
        let jobs = log.jobs().iter().filter(|job| job.submit.since(Time::ZERO) < WEEK * weeks);
        HeldLog::of(jobs.copied().collect())
    };
    assert!(refused(&first(3)).starts_with("the log covers "));
    let error = Blocks::of(first(7), 128, 1.0).expect_err("six weeks and a part of one");
    assert_eq!(
        error.to_string(),
        "the log covers 6 whole weeks, and blocks of weeks need at least 8; shake it instead"
    );
    assert!(Blocks::of(first(9), 128, 1.0).is_ok());
    let hourly = (0..24 * 7 * 10).map(|hour| HeldJob { submit: Time::from_secs(3_600 * hour), ..log.jobs()[0] });
    let even = Blocks::of(HeldLog::of(hourly.collect()), 128, 1.0).expect("ten weeks");
    assert_eq!(even.redrawn(&Streams::new(1, 0)).map(|drawn| drawn.refused), Ok(0), "weeks are equal");
}

#[test]
fn a_log_that_no_draw_resembles_is_refused_with_the_bound() {
    // One week has all of the work, in jobs of hours that no other week has.
    let any = a_log().jobs()[0];
    let job = |at: u64, hours: u64| HeldJob {
        submit: Time::from_secs(600 * at),
        runtime: Span::from_secs(3_600 * hours),
        processors: 100,
        number: at,
        ..any
    };
    let ramp = (0..1_008 * 12).step_by(7).map(|at| job(at, if at < 1_008 * 6 { 1 } else { 1 + at / 100 }));
    let blocks = Blocks::of(HeldLog::of(ramp.collect()), 128, 1.0).expect("twelve weeks").with_weeks(2);
    let error = blocks.redrawn(&Streams::new(1, 0)).expect_err("two weeks are not like twelve").to_string();
    assert!(error.contains("none of 5000 draws kept the bounds") && error.contains("shake it instead"), "{error}");
}

#[test]
fn equal_samples_have_no_distance_and_separate_ones_all() {
    let job = a_log().jobs()[0];
    // Processors are compared, and limits, which some jobs lack.
    let log = |processors: &[u32], limit: Option<Span>| {
        HeldLog::of(processors.iter().map(|processors| HeldJob { processors: *processors, limit, ..job }).collect())
    };
    let minute = Some(Span::from_secs(60));
    for (a, b, expected) in [
        (log(&[1, 2, 2, 3], minute), log(&[1, 2, 2, 3], None), [0.0, 0.0]),
        (log(&[1, 2], minute), log(&[3, 4], minute), [1.0, 0.0]),
        (log(&[1, 2, 3, 4], minute), log(&[1, 2], Some(Span::from_secs(61))), [0.5, 1.0]),
    ] {
        let numbers = Fidelity::of(&a, &b).numbers;
        let distance = |name: &str| numbers.iter().find(|(known, _)| *known == name).expect("a number").1;
        let found = [distance("processors"), distance("limits")];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
    }
}
