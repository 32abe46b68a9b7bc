//! A resampled log is like the one that it was made of, within bounds that are stated here and in docs/experiments.md.

use sim_core::{Span, Streams};
use workload::model::Lublin;
use workload::resample::{Fidelity, Users, UsersError, shaken};
use workload::{HeldJob, HeldLog, Options, SwfReader};

/// What a resampled log keeps, in the mean over twenty logs: name, and from where to where.
const BOUNDS: [(&str, f64, f64); 10] = [
    ("jobs", 0.85, 1.15),
    ("work", 0.85, 1.15),
    ("median_runtime", 0.75, 1.35),
    ("runtimes", 0.0, 0.10),
    ("processors", 0.0, 0.10),
    ("limits", 0.0, 0.12),
    ("areas", 0.0, 0.10),
    ("day", 0.0, 0.10),
    ("week", 0.0, 0.10),
    // Users who are drawn independently do not hold back when others fill the machine, as they did in the log.
    ("burstiness", 0.5, 2.2),
];

fn mean(log: &HeldLog, resampled: impl Fn(&Streams) -> HeldLog) -> [f64; 10] {
    let mut mean = [0.0; 10];
    for replication in 0..20 {
        let values = Fidelity::of(&resampled(&Streams::new(1, replication)), log).values();
        mean.iter_mut().zip(values).for_each(|(mean, value)| *mean += value / 20.0);
    }
    mean
}

fn check(name: &str, found: [f64; 10]) {
    let row: Vec<String> = found.iter().map(|value| format!("{value:.3}")).collect();
    eprintln!("{name} | {}", row.join(" | "));
    for ((measure, low, high), value) in BOUNDS.iter().zip(found) {
        assert!((*low..=*high).contains(&value), "{name}: {measure} is {value}, not within {low} to {high}");
    }
}

/// The log of a machine where `GRID_TRACES` names the folder; none, and why, otherwise.
fn real(name: &str) -> Option<HeldLog> {
    let path = test_data::trace(&format!("{name}.swf.gz"))?;
    Some(HeldLog::read(SwfReader::open(&path).expect("a log"), Options::default()).expect("a sound log").0)
}

#[test]
fn users_drawn_anew_keep_the_marginals_and_the_cycles_of_real_logs() {
    let mut found = Vec::new();
    for name in ["KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln", "CTC-SP2-1996-3.1-cln"] {
        let Some(log) = real(name) else { return };
        let users = Users::of(&log).expect("users are known");
        found.push((name, mean(&log, |streams| users.redrawn(streams))));
        eprintln!("{name}: {:?} users, {:?}", users.counts(), found.last());
    }
    found.into_iter().for_each(|(name, found)| check(name, found));
}

#[test]
fn a_shaken_log_is_the_log_but_for_seconds() {
    let log = a_log();
    let found = mean(&log, |streams| shaken(&log, Span::from_secs(60), streams));
    check("shaken", found);
    let shaken = shaken(&log, Span::from_secs(60), &Streams::new(1, 0));
    let numbers = |log: &HeldLog| {
        let mut numbers: Vec<u64> = log.jobs().iter().map(|job| job.number).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&shaken), numbers(&log), "nobody is lost, nobody comes twice");
    for job in shaken.jobs() {
        let was = log.jobs().iter().find(|was| was.number == job.number).expect("it was there");
        let moved = job.submit.as_secs_f64() - was.submit.as_secs_f64();
        assert!((-1.0..=120.0).contains(&moved), "job {} moved by {moved} s", job.number);
        assert_eq!((job.runtime, job.processors, job.limit), (was.runtime, was.processors, was.limit));
    }
}

/// Twenty users of one kind and twenty of the other on a model's jobs: 26 weeks.
fn a_log() -> HeldLog {
    let week = Span::from_secs(7 * 86_400);
    let jobs = Lublin::default()
        .jobs(&Streams::new(3, 0))
        .take_while(|job| job.job.submit.since(sim_core::Time::ZERO) < week * 26);
    let held = HeldLog::of_model(jobs);
    let user = |job: &HeldJob| {
        let week_of =
            u32::try_from(job.submit.since(sim_core::Time::ZERO).as_nanos() / week.as_nanos()).expect("26 weeks");
        let die = u32::try_from(job.number.wrapping_mul(2_654_435_761) >> 8 & 0xff).expect("a byte");
        if die < 128 { die % 20 } else { 1_000 + 20 * (week_of / 3) + die % 20 }
    };
    HeldLog::of(held.jobs().iter().map(|job| HeldJob { user: Some(user(job)), ..*job }).collect())
}

#[test]
fn users_drawn_anew_keep_the_load_and_more_of_them_bring_more() {
    let log = a_log();
    let users = Users::of(&log).expect("users are known");
    let (temporary, long_term) = users.counts();
    assert!(temporary > 100 && long_term == 20, "{temporary} temporary, {long_term} long-term");
    check("as many users", mean(&log, |streams| users.redrawn(streams)));
    let more = users.clone().with_users(1.5).with_weeks(13);
    let found = mean(&log, |streams| more.redrawn(streams));
    assert!((1.3..1.7).contains(&found[0]) && (1.25..1.75).contains(&found[1]), "{found:?}");
    let weeks = more.redrawn(&Streams::new(1, 0)).span().as_secs_f64() / 604_800.0;
    assert!((12.0..=13.0).contains(&weeks), "{weeks} weeks");
}

#[test]
fn what_a_user_does_within_a_week_stays_together() {
    let log = a_log();
    let redrawn = Users::of(&log).expect("users are known").redrawn(&Streams::new(5, 0));
    let second = |job: &HeldJob| job.submit.since(sim_core::Time::ZERO).as_nanos() / 1_000_000_000 % 604_800;
    for job in redrawn.jobs().iter().step_by(97) {
        let was = log.jobs().iter().find(|was| was.number == job.number).expect("it is one of the log's");
        assert_eq!(second(job), second(was), "job {} has moved by something else than weeks", job.number);
    }
}

#[test]
fn one_seed_gives_one_log_and_another_gives_another() {
    let log = a_log();
    let users = Users::of(&log).expect("users are known");
    assert_eq!(users.redrawn(&Streams::new(5, 2)), users.redrawn(&Streams::new(5, 2)));
    assert_ne!(users.redrawn(&Streams::new(5, 2)), users.redrawn(&Streams::new(5, 3)));
    let shake = |replication| shaken(&log, Span::from_secs(9), &Streams::new(5, replication));
    assert_eq!(shake(2), shake(2));
    assert_ne!(shake(2), shake(3));
}

#[test]
fn a_log_of_nobody_or_of_a_fortnight_is_refused() {
    let log = a_log();
    let nobody = HeldLog::of(log.jobs().iter().map(|job| HeldJob { user: None, ..*job }).collect());
    assert_eq!(Users::of(&nobody).err(), Some(UsersError::Unknown { percent: 0 }));
    let short = log.truncated(300);
    assert!(matches!(Users::of(&short), Err(UsersError::TooShort { days: 0..28 })), "{:?}", short.span());
}
