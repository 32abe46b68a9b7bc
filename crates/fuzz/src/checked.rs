//! `check`: schedules of our own, of others, and of nobody, against a log.
//!
//! An input is a command line and its files, in sections:
//!
//! ```text
//! --policy easy+predict=tsafrir --procs 8
//! == log
//! 1 0 -1 60 4 …
//! == machines        a machine file; the machine of --procs, if left out
//! == spoil           what happens to the policy's own schedule: drop 2, double 0, early 3
//! == schedule        somebody else's, in place of the policy's own
//! ```

use super::Target;
use super::dice::Dice;
use super::scratch;
use super::text::{end_line, mutate, number, push_number};
use clap::Parser;
use gap_schedule::Order;
use replay::check::{Check, findings};
use replay::simulate::{Simulate, schedules};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

pub(crate) fn targets() -> Vec<Target> {
    vec![Target {
        name: "check",
        about: "schedules against a log: a policy's own is its own, a spoiled one is not, and any other is read",
        extension: "checked",
        make,
        check,
    }]
}

/// A name, of those that `simulate` takes.
fn policy(dice: &mut Dice<'_>) -> String {
    const PLAIN: [&str; 8] =
        ["best-gap", "bgt", "sg", "eg-edf", "eg-edf-tabu", "flex", "flex+reserve=3", "cons+compress=reserved"];
    if dice.one_in(4) {
        return dice.pick(&PLAIN).to_owned();
    }
    let mut name = dice.pick(&["fcfs", "easy", "cons", "easy"]).to_owned();
    if dice.one_in(3) {
        let _ = write!(name, "+order={}", dice.pick(&Order::ALL).name());
    }
    if name.starts_with("easy") {
        name += dice.pick(&["", "", "+backfill=spf", "+reserve=0", "+reserve=3", "+reserve=all"]);
    }
    if dice.one_in(6) {
        name += "+threshold=100";
    }
    if dice.one_in(2) {
        name += dice.pick(&[
            "+predict=tsafrir",
            "+predict=mean-of-user=3",
            "+predict=clairvoyant",
            "+predict=double-requested",
        ]);
        name += dice.pick(&["", "+correct=tsafrir", "+correct=doubling", "+correct=none"]);
    }
    name
}

fn make(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut text = format!("--policy {}", policy(dice));
    let machines = if dice.one_in(3) { 1 + dice.below(3) } else { 0 };
    if machines > 0 {
        text += dice.pick(&["", " --inside machine", " --inside pool"]);
    } else {
        let _ = write!(text, " --procs {}", 1 + dice.below(16));
    }
    text += dice.pick(&["", "", " --passes per-event", " --passes pyss"]);
    text += dice.pick(&["", "", " --estimates exact", " --estimates factor:2", " --estimates mean-of-user:2"]);
    text += dice.pick(&["", "", "", " --outages mtbf:1d,mttr:1h", " --deadlines factor:2"]);
    text += "\n== log\n";
    let mut out = text.into_bytes();
    log(dice, &mut out);
    if machines > 0 {
        out.extend_from_slice(b"== machines\n");
        for machine in 0..machines {
            let speed = dice.pick(&["1.0", "1.0", "1.5", "0.3"]);
            let line = format!("{machine}\tm{machine}\t{}\t{}\t{speed}\t1\n", 1 + dice.below(3), 1 + dice.below(8));
            out.extend_from_slice(line.as_bytes());
        }
    }
    match dice.below(4) {
        0 | 1 => {}
        2 => {
            let line = format!("== spoil\n{} {}\n", dice.pick(&["drop", "double", "early"]), dice.below(12));
            out.extend_from_slice(line.as_bytes());
        }
        _ => schedule(dice, &mut out),
    }
    if dice.one_in(8) {
        mutate(dice, &mut out);
    }
    out
}

/// Few instants make ties; users, limits below and above the run time; now and then something odd.
fn log(dice: &mut Dice<'_>, out: &mut Vec<u8>) {
    let (gap, length) = (dice.pick(&[2, 20, 500]), dice.pick(&[4, 40, 3_000, 20_000]));
    let mut submit = dice.pick(&[0, 1_000]);
    for job in 0..1 + dice.below(24) {
        submit += dice.below(gap);
        let run = dice.below(length);
        let above = dice.below(length);
        let asked = dice.pick(&[run + 1, run + above, 1 + run / 2, 2 * length]);
        push_number(out, job as u64 + 1);
        for column in 1..18 {
            out.push(b' ');
            match column {
                _ if dice.one_in(400) => number(dice, out),
                1 => push_number(out, submit as u64),
                3 => push_number(out, run as u64),
                4 | 7 => push_number(out, 1 + (job * 7 + run) as u64 % 12),
                8 => push_number(out, asked as u64),
                11 => push_number(out, 1 + dice.below(3) as u64),
                _ => out.extend_from_slice(b"-1"),
            }
        }
        end_line(dice, out);
    }
}

/// What another program might have written.
fn schedule(dice: &mut Dice<'_>, out: &mut Vec<u8>) {
    const COLUMNS: [&str; 9] =
        ["job", "start", "submit", "finish", "processors", "site", "allocated", "state", "job_id"];
    out.extend_from_slice(b"== schedule\n");
    if dice.one_in(4) {
        return log(dice, out);
    }
    let columns: Vec<&str> = COLUMNS.into_iter().filter(|_| !dice.one_in(6)).collect();
    out.extend_from_slice(columns.join(",").as_bytes());
    end_line(dice, out);
    for _ in 0..dice.below(20) {
        for (position, column) in columns.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            match *column {
                _ if dice.one_in(40) => number(dice, out),
                "site" => out.extend_from_slice(dice.pick(&[&b"m0"[..], b"m1", b"", b"m9"])),
                "state" => out.extend_from_slice(dice.pick(&[&b"done"[..], b"rejected", b"cut"])),
                "allocated" => out.extend_from_slice(dice.pick(&[
                    &b"\"0-3,7\""[..],
                    b"0",
                    b"",
                    b"0-4294967295",
                    b"3-1",
                    b"\"0,0\"",
                ])),
                "job" | "job_id" => push_number(out, 1 + dice.below(24) as u64),
                _ => push_number(out, dice.below(3_000) as u64),
            }
        }
        end_line(dice, out);
    }
}

/// The options that are handed on: none of them reads or writes a file.
const OPTIONS: [&str; 8] =
    ["--policy", "--procs", "--inside", "--passes", "--estimates", "--outages", "--deadlines", "--seed"];

#[derive(Parser)]
struct CheckLine {
    #[command(flatten)]
    options: Check,
}

#[derive(Parser)]
struct SimulateLine {
    #[command(flatten)]
    options: Simulate,
}

/// An input, taken apart.
struct Case<'a> {
    words: Vec<&'a str>,
    sections: BTreeMap<&'a str, &'a [u8]>,
}

fn parse(input: &[u8]) -> Option<Case<'_>> {
    let line_at = |at: usize| {
        let end = input[at..].iter().position(|byte| *byte == b'\n').map_or(input.len(), |end| at + end + 1);
        (&input[at..end], end)
    };
    let (first, mut at) = line_at(0);
    let words: Vec<&str> = std::str::from_utf8(first).ok()?.split_ascii_whitespace().collect();
    let is_known = |pair: &[&str]| OPTIONS.contains(&pair[0]) && pair.len() == 2 && is_harmless(pair[0], pair[1]);
    if !words.chunks(2).all(is_known) {
        return None;
    }
    let (mut sections, mut open) = (BTreeMap::new(), None);
    while at < input.len() {
        let (line, next) = line_at(at);
        if let Some(name) = line.strip_prefix(b"== ") {
            if let Some((name, from)) = open {
                sections.insert(name, &input[from..at]);
            }
            open = Some((std::str::from_utf8(name.trim_ascii_end()).ok()?, next));
        }
        at = next;
    }
    if let Some((name, from)) = open {
        sections.insert(name, &input[from..]);
    }
    Some(Case { words, sections })
}

/// No program, no file, and no failures by the second: a century of these takes longer than a case may.
fn is_harmless(option: &str, value: &str) -> bool {
    match option {
        "--policy" => !value.contains("exec") && !value.contains(','),
        "--outages" => value == "mtbf:1d,mttr:1h",
        _ => true,
    }
}

fn check(input: &[u8]) -> Result<bool, String> {
    let Some(Case { words, sections }) = parse(input) else { return Ok(false) };
    let Some(log) = sections.get("log") else { return Ok(false) };
    let folder = scratch::folder()?;
    let log_path = scratch::put("log.swf", log)?;
    let mut line = words;
    let machines = sections.get("machines").map(|text| scratch::put("log.machines", text)).transpose()?;
    if let Some(path) = &machines {
        line.extend(["--machines", path.to_str().ok_or("a folder of an odd name")?]);
    }
    line.extend(["--trace", log_path.to_str().ok_or("a folder of an odd name")?]);
    let checked = |schedule: &Path| {
        let words = ["check", "--schedule"].into_iter().chain(schedule.to_str()).chain(line.iter().copied());
        CheckLine::try_parse_from(words).map(|line| findings(&line.options, &[]))
    };
    if let Some(theirs) = sections.get("schedule") {
        // Whatever it says, it can be said what of it is wrong.
        return match checked(&scratch::put("theirs.csv", theirs)?) {
            Ok(Ok(_)) => Ok(true),
            Ok(Err(error)) => refused(&error),
            Err(_) => Ok(false),
        };
    }
    let Ok(simulate) = SimulateLine::try_parse_from(std::iter::once("simulate").chain(line.iter().copied())) else {
        return Ok(false);
    };
    let Some(name) = line.windows(2).find(|pair| pair[0] == "--policy").map(|pair| pair[1]) else { return Ok(false) };
    if let Err(error) = schedules(&simulate.options, &[], &folder) {
        return refused(&error);
    }
    let own = folder.join(format!("{name}.csv"));
    let found = |schedule: &Path| match checked(schedule) {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(format!("simulate takes it and check does not: {error:#}")),
        Err(error) => Err(format!("simulate takes it and check does not: {error}")),
    };
    // The other format has whole seconds, and no places.
    let _ = checked(&folder.join(format!("{name}.swf")));
    let told = found(&own)?;
    let has_namesakes = has_namesakes(log);
    if !told.is_empty() && !has_namesakes {
        return Err(format!("a schedule of {name} is not its own: {}", told.join("\n")));
    }
    let text = std::fs::read_to_string(&own).map_err(|error| error.to_string())?;
    if let Some(spoiled) = sections.get("spoil").and_then(|how| spoiled(&text, how)).filter(|_| !has_namesakes) {
        let told = found(&scratch::put("spoiled.csv", spoiled.as_bytes())?)?;
        if told.is_empty() {
            return Err(format!("nothing is found wrong with\n{spoiled}made of\n{text}"));
        }
    }
    Ok(true)
}

fn refused(error: &anyhow::Error) -> Result<bool, String> {
    let message = format!("{error:#}");
    if message.is_empty() || message.len() > 2_000 {
        return Err(format!("a message of {} bytes: {message:?}", message.len()));
    }
    Ok(false)
}

/// Whether the log calls two jobs the same: which row is about which is then a guess where they are alike.
fn has_namesakes(log: &[u8]) -> bool {
    let number = |line: &[u8]| {
        let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
        let value = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
        Some(value.map_or_else(|| word.to_vec(), |value| value.to_string().into_bytes()))
    };
    let mut numbers = BTreeSet::new();
    !log.split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(number).all(|number| numbers.insert(number))
}

/// The schedule with a row too few, one twice, or one too early; `None` if that is no such row.
fn spoiled(schedule: &str, how: &[u8]) -> Option<String> {
    let (what, row) = std::str::from_utf8(how).ok()?.trim().split_once(' ')?;
    let mut rows: Vec<String> = schedule.lines().map(str::to_owned).collect();
    let at = 1 + row.parse::<usize>().ok().filter(|row| *row < 1_000)?;
    let cells: Vec<&str> = rows.get(at)?.splitn(4, ',').collect();
    let &[job, submit, start, rest] = cells.as_slice() else { return None };
    if start.is_empty() {
        return None; // rejected
    }
    match what {
        "drop" => drop(rows.remove(at)),
        "double" => rows.push(rows[at].clone()),
        "early" => {
            let earlier: u64 = submit.split('.').next()?.parse::<u64>().ok()?.checked_sub(1)?;
            rows[at] = format!("{job},{submit},{earlier},{rest}");
        }
        _ => return None,
    }
    Some(rows.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "--policy easy+predict=tsafrir --procs 4\n== log\n\
        1 0 -1 60 4 -1 -1 4 90 -1 -1 1 -1 -1 -1 -1 -1 -1\n2 10 -1 60 2 -1 -1 2 90 -1 -1 1 -1 -1 -1 -1 -1 -1\n";

    #[test]
    fn a_scene_is_simulated_and_its_schedule_is_the_policy_s_own() {
        assert_eq!(check(SCENE.as_bytes()), Ok(true));
        for spoil in ["drop 1", "double 0", "early 1"] {
            assert_eq!(check(format!("{SCENE}== spoil\n{spoil}\n").as_bytes()), Ok(true), "{spoil}");
        }
    }

    #[test]
    fn a_schedule_is_spoiled_where_that_makes_a_difference() {
        let schedule = "job,submit,start,finish\n1,0,0,60\n2,10,60,120\n3,10,,\n";
        let spoiled = |how: &str| spoiled(schedule, how.as_bytes());
        assert_eq!(spoiled("drop 0").as_deref(), Some("job,submit,start,finish\n2,10,60,120\n3,10,,\n"));
        assert_eq!(spoiled("early 1").as_deref(), Some("job,submit,start,finish\n1,0,0,60\n2,10,9,120\n3,10,,\n"));
        assert!(spoiled("double 1").expect("a row").ends_with("3,10,,\n2,10,60,120\n"));
        assert_eq!(
            [spoiled("early 0"), spoiled("drop 2"), spoiled("drop 7"), spoiled("eat 0")],
            [None, None, None, None]
        );
    }

    #[test]
    fn namesakes_are_found_however_their_number_is_written() {
        assert!(!has_namesakes(b"; 1\n1 0\n2 1\n\n12 1\n"));
        assert!(has_namesakes(b"7 0\n 007 1\n") && has_namesakes(b"7 0\r7.0 1"));
    }

    #[test]
    fn no_option_that_names_a_file_or_a_program_is_handed_on() {
        for line in ["--transcript x", "--policy exec+sh", "--outages /etc/passwd", "--policy easy,cons", "--procs"] {
            assert!(parse(format!("{line}\n").as_bytes()).is_none(), "{line}");
        }
    }
}
