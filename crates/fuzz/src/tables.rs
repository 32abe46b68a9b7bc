//! Machines, outages, and words of the command line that become numbers.

use super::Target;
use super::dice::Dice;
use super::text::{end_line, mutate, number, odd, push_number};
use std::io::Cursor;
use workload::outages::OutageTrace;
use workload::{Deadlines, Estimates, Machines, Outages};

pub(crate) fn targets() -> Vec<Target> {
    vec![
        Target {
            name: "machines",
            about: "machine files, as the simulator Alea writes them",
            extension: "machines",
            make: machines,
            check: check_machines,
        },
        Target { name: "outages", about: "traces of outages", extension: "csv", make: outages, check: check_outages },
        Target {
            name: "words",
            about: "what --estimates, --deadlines and --outages take",
            extension: "txt",
            make: words,
            check: check_words,
        },
    ]
}

/// The name that stands for the file.
const NAME: &str = "fuzz.table";

fn sane(message: &str) -> Result<(), String> {
    if !message.starts_with(NAME) || message.len() > 2_000 {
        return Err(format!("a message that leads nowhere, or is too long: {message:?}"));
    }
    Ok(())
}

fn machines(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..dice.below(6) {
        let columns = if dice.one_in(10) { dice.below(9) } else { 6 };
        for column in 0..columns {
            match column {
                1 => out.extend_from_slice(dice.pick(&[
                    &b"zewura"[..],
                    b"zegox",
                    b"a b",
                    b"",
                    b"=1+1",
                    b"\xc3\xa9",
                    b"a\x1b",
                ])),
                4 if !dice.one_in(6) => {
                    out.extend_from_slice(dice.pick(&[&b"1.0"[..], b"0.001", b"1000", b"2.5", b"0", b"1e3"]))
                }
                2 | 3 if !dice.one_in(12) => push_number(&mut out, 1 + dice.below(200) as u64),
                0 | 5 if !dice.one_in(12) => push_number(&mut out, dice.below(9) as u64),
                _ => number(dice, &mut out),
            }
            out.push(b'\t');
        }
        end_line(dice, &mut out);
    }
    mutate(dice, &mut out);
    out
}

fn check_machines(input: &[u8]) -> Result<bool, String> {
    let machines = match Machines::from_read(NAME, Cursor::new(input)) {
        Err(error) => return sane(&error.to_string()).map(|()| false),
        Ok(machines) => machines,
    };
    let sum: u64 = machines.clusters().iter().map(|cluster| u64::from(cluster.processors())).sum();
    if sum == 0 || sum != u64::from(machines.total_processors()) {
        return Err(format!("{} processors in {machines:?}", machines.total_processors()));
    }
    let same = |(site, machine): (sim_core::SiteId, &workload::Machine)| {
        machines.position(&machine.name).is_some_and(|at| at == site.index())
    };
    if machines.sites().all(same) { Ok(true) } else { Err(format!("a name that is not its own: {machines:?}")) }
}

fn outages(dice: &mut Dice<'_>) -> Vec<u8> {
    let mut out =
        dice.pick(&[&b"machine,down,up\n"[..], b"# a trace\nmachine,down,up\n", b"machine, down, up\r\n"]).to_vec();
    let mut down = 0;
    for _ in 0..dice.below(8) {
        down += dice.below(100);
        out.extend_from_slice(dice.pick(&[&b"0"[..], b"1", b"zewura", b"zegox", b"2", b" 0 "]));
        out.push(b',');
        if dice.one_in(10) {
            number(dice, &mut out);
        } else {
            out.extend_from_slice(format!("{down},{}", down + dice.below(90)).as_bytes());
        }
        if dice.one_in(12) {
            out.push(b',');
            number(dice, &mut out);
        }
        end_line(dice, &mut out);
    }
    mutate(dice, &mut out);
    out
}

/// What comes out can be simulated: of a machine that there is, in order, and each ends after it began.
fn check_outages(input: &[u8]) -> Result<bool, String> {
    let trace = match OutageTrace::from_read(NAME, Cursor::new(input.to_vec()), &["zewura", "zegox"]) {
        Err(error) => return sane(&error.to_string()).map(|()| false),
        Ok(trace) => trace,
    };
    let (mut is_sound, mut last) = (true, sim_core::Time::ZERO);
    for outage in trace {
        match outage {
            Err(error) => {
                sane(&error.to_string())?;
                is_sound = false;
            }
            Ok(outage) => {
                if outage.site.index() > 1 || outage.down < last || outage.up < outage.down {
                    return Err(format!("after {last:?}: {outage:?}"));
                }
                last = outage.down;
            }
        }
    }
    Ok(is_sound)
}

fn words(dice: &mut Dice<'_>) -> Vec<u8> {
    const STEMS: [&str; 13] = [
        "exact",
        "user",
        "factor:",
        "request-factor:",
        "f-model:",
        "mean-of-user:",
        "none",
        "column:",
        "mtbf:",
        "mtbf:30d,mttr:",
        "mttr:1h,mtbf:",
        "1.5d,mttr:2",
        "",
    ];
    let mut out = dice.pick(&STEMS).as_bytes().to_vec();
    match dice.below(3) {
        0 => number(dice, &mut out),
        1 => out.extend_from_slice(odd(dice).as_bytes()),
        _ => {}
    }
    out.extend_from_slice(dice.pick(&["", "", "s", "m", "h", "d", "x", ",mttr:1h"]).as_bytes());
    mutate(dice, &mut out);
    out
}

/// What is understood is written as it would be understood again.
fn check_words(input: &[u8]) -> Result<bool, String> {
    fn again<T: std::str::FromStr + ToString + PartialEq + std::fmt::Debug>(text: &str) -> Result<bool, String> {
        let Ok(value) = text.parse::<T>() else { return Ok(false) };
        let written = value.to_string();
        match written.parse::<T>() {
            Ok(again) if again == value => Ok(true),
            _ => Err(format!("{text:?} is {value:?}, written as {written:?}, which is another")),
        }
    }
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    Ok(again::<Estimates>(text)? | again::<Deadlines>(text)? | again::<Outages>(text)?)
}
