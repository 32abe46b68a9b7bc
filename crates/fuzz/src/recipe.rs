//! Inputs: a sound file with a few changes, drawn from the stream of a case.

use rand::RngExt;
use sim_core::Stream;
use std::ops::Range;

/// Values that people, programs and accidents put in place of a number or a name, separated by spaces; one is empty.
const ODD: &str = "-1 0 1 -0 -2 +5 007 0.5 .5 5. 1.999999999 0.9999999999 -1.0 -1.5 1e3 1e400 -1e3 1.5e-9 1E9 4294967295 \
    4294967296 4294967295.999999999 2147483648 9223372036854775807 9223372036854775808 18446744073709551615 \
    18446744073709551616 99999999999999999999999999999999999999 nan inf -inf NaN 0x10 1,5 12:30 1_000 --1 -  １ é \
    \u{1b}[2J \0 \"1\" true [[]] 1979-05-27 \"4294967295-4294967295\"";
const ENDS: [&[u8]; 6] = [b"\r\n", b"\n\n", b" \n", b"\t\n", b"\r", b""];
const PREFIXES: [&[u8]; 4] = [b"\xef\xbb\xbf", b"\n", b"\0", b"\xff\xfe"];

fn pick<'a, T>(from: &'a [T], draws: &mut Stream) -> &'a T {
    &from[draws.random_range(0..from.len())]
}

/// Returns one of the samples, after a few changes to its words, its lines and its bytes.
pub(crate) fn varied(samples: &[Vec<u8>], draws: &mut Stream) -> Vec<u8> {
    let mut out = pick(samples, draws).clone();
    for _ in 0..draws.random_range(0..5) {
        change_word(&mut out, draws);
    }
    if draws.random_range(0..3) == 0 {
        change_line(&mut out, draws);
    }
    // Rarely, because most damaged bytes stop the parser early.
    if draws.random_range(0..4) == 0 {
        damage(&mut out, draws);
    }
    out
}

/// Returns the words of a text: runs of bytes between separators.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut from = None;
    for (at, byte) in text.iter().chain(b"\n").enumerate() {
        if b" \t\r\n|,:=+[]{}\"".contains(byte) {
            words.extend(from.take().map(|from| from..at));
        } else {
            from.get_or_insert(at);
        }
    }
    words
}

/// Replaces one word by another.
fn change_word(out: &mut Vec<u8>, draws: &mut Stream) {
    let words = words(out);
    if words.is_empty() {
        return;
    }
    let value = match draws.random_range(0..8) {
        0..3 => draws.random_range(0..100_u32).to_string().into_bytes(),
        3 => draws.random::<u32>().to_string().into_bytes(),
        4 | 5 => out[pick(&words, draws).clone()].to_vec(),
        // Deep nesting, for recursive parsers.
        6 if draws.random_range(0..20) == 0 => vec![b'['; draws.random_range(0..4_000)],
        _ => pick(&ODD.split(' ').collect::<Vec<_>>(), draws).as_bytes().to_vec(),
    };
    out.splice(pick(&words, draws).clone(), value);
}

/// Removes, duplicates or moves a line, or changes its end.
fn change_line(out: &mut Vec<u8>, draws: &mut Stream) {
    let mut lines: Vec<&[u8]> = out.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let [one, two] = [0; 2].map(|_: u8| draws.random_range(0..lines.len()));
    match draws.random_range(0..4) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(one, lines[two]),
        2 => lines.swap(one, two),
        _ => {
            lines[one] = lines[one].strip_suffix(b"\n").unwrap_or(lines[one]);
            lines.insert(one + 1, *pick(&ENDS, draws));
        }
    }
    *out = lines.concat();
}

/// Damages the bytes in the way of a disk, a transfer or an editor.
pub(crate) fn damage(out: &mut Vec<u8>, draws: &mut Stream) {
    let at = draws.random_range(0..=out.len());
    let span = at..(at + draws.random_range(0..24)).min(out.len());
    match draws.random_range(0..6) {
        0 => out.truncate(at),
        1 => drop(out.drain(span)),
        2 => {
            let piece = out[span].to_vec();
            out.splice(at..at, piece);
        }
        3 => drop(out.splice(0..0, pick(&PREFIXES, draws).iter().copied())),
        4 if at < out.len() => out[at] ^= 1 << draws.random_range(0..8_u32),
        _ => out.insert(at, draws.random()),
    }
}
