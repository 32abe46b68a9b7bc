//! Numbers as people, programs and accidents write them, and what may happen to a file on its way.

use super::dice::Dice;

/// What stands where a number should, on bad days.
const ODD: [&str; 44] = [
    "-1",
    "0",
    "1",
    "-0",
    "-2",
    "+5",
    "007",
    "0.5",
    ".5",
    "5.",
    "1.999999999",
    "0.9999999999",
    "-1.0",
    "-1.5",
    "1e3",
    "1e400",
    "-1e3",
    "1.5e-9",
    "1E9",
    "4294967295",
    "4294967296",
    "4294967295.999999999",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "nan",
    "inf",
    "-inf",
    "NaN",
    "0x10",
    "1,5",
    "12:30",
    "1_000",
    "--1",
    "-",
    "",
    "１",
    "é",
    "\u{1b}[2J",
    "\0",
    "\"1\"",
];

/// A number that may stand there: mostly small, now and then one on which programs trip.
pub(crate) fn number(dice: &mut Dice<'_>, out: &mut Vec<u8>) {
    match dice.below(16) {
        0..=9 => push_number(out, dice.below(64) as u64),
        10..=12 => push_number(out, dice.below(100_000) as u64),
        13 | 14 => out.extend_from_slice(b"-1"),
        _ if dice.one_in(4) => out.extend_from_slice(dice.pick(&ODD).as_bytes()),
        _ => push_number(out, dice.below(u32::MAX as usize) as u64),
    }
}

/// One of the odd ones.
pub(crate) fn odd(dice: &mut Dice<'_>) -> &'static str {
    dice.pick(&ODD)
}

/// Digits, without the way round through a formatter: inputs are made faster than they are read.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let from = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[from..].reverse();
}

/// What may stand between the lines.
pub(crate) fn end_line(dice: &mut Dice<'_>, out: &mut Vec<u8>) {
    if dice.one_in(24) {
        out.extend_from_slice(dice.pick(&[&b"\r\n"[..], b"\n\n", b" \n", b"\t\n", b"\r", b""]));
    } else {
        out.push(b'\n');
    }
}

/// In a third of all cases, something happens to the bytes: lost, doubled, changed, cut off.
pub(crate) fn mutate(dice: &mut Dice<'_>, out: &mut Vec<u8>) {
    if dice.below(3) != 2 {
        return;
    }
    for _ in 0..=dice.below(4) {
        let at = dice.below(out.len() + 1);
        let span = dice.below(24).min(out.len() - at);
        match dice.below(9) {
            0 => out.truncate(at),
            1 => drop(out.drain(at..at + span)),
            2 => {
                let piece = out[at..at + span].to_vec();
                out.splice(at..at, piece);
            }
            3 | 4 if at < out.len() => out[at] ^= 1 << dice.below(8),
            5 if at < out.len() => out[at] = dice.byte(),
            6 => drop(out.splice(at..at, odd(dice).bytes())),
            7 => drop(out.splice(0..0, dice.pick(&[&b"\xef\xbb\xbf"[..], b"\n", b"\0", b"\xff\xfe"]).iter().copied())),
            _ => out.insert(at, dice.pick(b" \t\n\r;#,:=+-.\"'[]{}\\/\0\x1b\xff\xc3\x80")),
        }
    }
}
