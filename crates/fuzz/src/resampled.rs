//! More logs like one log: shaken, drawn anew user by user, made denser.
//!
//! An input is a line of settings, then a log: `users 8 1.2 7` (weeks, users relative to the log's, seed), `shake 30 7` (seconds, seed)
//! or `denser 1.2 0`.

use super::Target;
use super::dice::Dice;
use super::text::{end_line, mutate, number, push_number};
use sim_core::{Span, Streams, Time};
use std::collections::BTreeMap;
use std::io::Cursor;
use workload::resample::{Fidelity, Users, shaken};
use workload::{Estimates, HeldJob, HeldLog, Options, SwfReader};

pub(crate) fn targets() -> Vec<Target> {
    vec![Target {
        name: "resample",
        about: "logs shaken, drawn anew user by user, made denser: every job is one of the log's, in order, and again the same",
        extension: "log",
        make,
        check,
    }]
}

const DAY: usize = 86_400;

fn make(dice: &mut Dice<'_>) -> Vec<u8> {
    let seed = dice.below(9);
    let mut out = match dice.below(4) {
        0 => format!("shake {} {seed}\n", dice.pick(&["0", "1", "30", "600", "86400", "0.25"])),
        1 => format!("denser {} {seed}\n", dice.pick(&["0.01", "0.5", "1", "1.2", "3", "1000"])),
        _ => format!("users {} {} {seed}\n", 1 + dice.below(60), dice.pick(&["1", "1", "0.1", "1.2", "5"])),
    }
    .into_bytes();
    // Who stays for more than twelve weeks is another kind of user than who comes and goes.
    let gap = dice.pick(&[1, 600, DAY, 10 * DAY, 40 * DAY]);
    let mut submit = 0;
    for job in 0..1 + dice.below(40) as u64 {
        push_number(&mut out, job + 1);
        submit += dice.below(gap) as u64;
        for column in 1..18 {
            out.push(b' ');
            match column {
                _ if dice.one_in(200) => number(dice, &mut out),
                1 => push_number(&mut out, submit),
                3 | 8 => push_number(&mut out, dice.below(5_000) as u64),
                4 | 7 => push_number(&mut out, 1 + dice.below(64) as u64),
                11 => out.extend_from_slice(dice.pick(&[&b"1"[..], b"2", b"3", b"4", b"-1"])),
                _ => out.extend_from_slice(b"-1"),
            }
        }
        end_line(dice, &mut out);
    }
    mutate(dice, &mut out);
    out
}

/// What is to be made of the log.
#[derive(Copy, Clone)]
enum Method {
    Shake(Span),
    Denser(f64),
    /// Weeks, and users relative to the log's.
    Users(u64, f64),
}

/// As an experiment's file may ask for it.
fn method(line: &str) -> Option<(Method, u64)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let positive = |word: &str, most: f64| word.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= most);
    Some(match *words.as_slice() {
        ["shake", most, seed] => {
            let most: f64 = most.parse().ok().filter(|most| (0.0..=1e6).contains(most))?;
            (Method::Shake(Span::from_secs_f64(most)), seed.parse().ok()?)
        }
        ["denser", load, seed] => {
            (Method::Denser(positive(load, 1e3).filter(|load| *load >= 0.01)?), seed.parse().ok()?)
        }
        ["users", weeks, users, seed] => {
            let weeks = weeks.parse().ok().filter(|weeks| (1..=100).contains(weeks))?;
            (Method::Users(weeks, positive(users, 10.0)?), seed.parse().ok()?)
        }
        _ => return None,
    })
}

fn check(input: &[u8]) -> Result<bool, String> {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return Ok(false) };
    let Some((method, seed)) = std::str::from_utf8(&input[..end]).ok().and_then(method) else { return Ok(false) };
    let log = SwfReader::from_read("fuzz.log", Cursor::new(input[end + 1..].to_vec()));
    let Ok((log, _)) = log.and_then(|log| HeldLog::read(log, Options::default())) else { return Ok(false) };
    // What is shaken or stretched beyond the clock of a simulation is refused there, not here.
    if log.span() > Span::from_secs(2 * DAY as u64 * 366) {
        return Ok(false);
    }
    let streams = Streams::new(seed, 0);
    let made = match method {
        Method::Shake(most) => shaken(&log, most, &streams),
        Method::Denser(load) => log.denser(load),
        Method::Users(weeks, users) => {
            let of = |log: &HeldLog| Users::of(log).map(|of| of.with_weeks(weeks).with_users(users).redrawn(&streams));
            match of(&log) {
                Err(error) => return if error.to_string().is_empty() { Err("no words".to_owned()) } else { Ok(false) },
                Ok(made) if Ok(&made) != of(&log).as_ref() => return Err("drawn twice, and not the same".to_owned()),
                Ok(made) => made,
            }
        }
    };
    of_the_log(&log, &made, method)?;
    if made.jobs().is_empty() {
        return Ok(false); // nobody came: there is nothing to compare
    }
    let _ = Fidelity::of(&made, &log);
    for estimates in [Estimates::User, Estimates::MeanOfUser(2)] {
        let told = made.told(estimates, seed);
        let in_order = told.iter().zip(made.jobs()).enumerate();
        if told.len() != made.jobs().len() || { in_order }
            .any(|(at, (job, held))| job.id.index() != at || job.submit != held.submit)
        {
            return Err(format!("told are {told:?}\nof {made:?}"));
        }
    }
    Ok(true)
}

/// Every job is one of the log's, but for when it comes and, where users are drawn, who sends it; and they are in order.
fn of_the_log(log: &HeldLog, made: &HeldLog, method: Method) -> Result<(), String> {
    if !made.jobs().is_sorted_by_key(|job| job.submit) {
        return Err(format!("not in order: {made:?}"));
    }
    let is_drawn = matches!(method, Method::Users(..));
    let what = |job: &HeldJob| HeldJob { submit: Time::ZERO, user: job.user.filter(|_| !is_drawn), ..*job };
    let counts = |log: &HeldLog| {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        log.jobs().iter().for_each(|job| *counts.entry(format!("{:?}", what(job))).or_default() += 1);
        counts
    };
    let (of_log, of_made) = (counts(log), counts(made));
    if !is_drawn && of_log != of_made {
        return Err(format!("others than in the log: {made:?}"));
    }
    match of_made.keys().find(|job| !of_log.contains_key(*job)) {
        None => Ok(()),
        Some(job) => Err(format!("no job of the log: {job}")),
    }
}
