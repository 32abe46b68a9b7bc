//! Inputs: a sound file with a few changes, drawn from the stream of a case.

use rand::RngExt;
use sim_core::Stream;
use std::ops::Range;

/// Values that people, programs and accidents put in place of a number or a name, separated by spaces; one is empty.
const ODD: &str = "-1 0 1 -0 -2 +5 007 0.5 .5 5. 1.999999999 0.9999999999 -1.0 -1.5 1e3 1e400 -1e3 1.5e-9 1E9 4294967295 \
    4294967296 4294967295.999999999 2147483648 9223372036854775807 9223372036854775808 18446744073709551615 \
    18446744073709551616 99999999999999999999999999999999999999 nan inf -inf NaN 0x10 1,5 12:30 1_000 --1 -  １ é \
    \u{1b}[2J \0 \"1\" true [[]] 1979-05-27 \"4294967295-4294967295\"";

/// Bytes between words.
const BLANKS: &[u8] = b" \t\r\n|,:=+[]{}\"";

fn pick<'a, T>(from: &'a [T], draws: &mut Stream) -> &'a T {
    &from[draws.random_range(0..from.len())]
}

/// Returns one of the samples, after a few changes.
pub(crate) fn varied(samples: &[&[u8]], draws: &mut Stream) -> Vec<u8> {
    let mut out = pick(samples, draws).to_vec();
    for _ in 0..draws.random_range(0..6) {
        match draws.random_range(0..20) {
            // Rarely, because most damaged bytes stop the parser early.
            0 => damage(&mut out, draws),
            1 | 2 => change(&mut out, b"\n", draws),
            _ => change(&mut out, BLANKS, draws),
        }
    }
    out
}

/// Replaces a word or a line, a run of bytes between `separators`.
fn change(out: &mut Vec<u8>, separators: &[u8], draws: &mut Stream) {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for word in out.split(|byte| separators.contains(byte)) {
        words.extend((!word.is_empty()).then_some(from..from + word.len()));
        from += word.len() + 1;
    }
    if words.is_empty() {
        return;
    }
    let other = out[pick(&words, draws).clone()].to_vec();
    let value = match draws.random_range(0..9) {
        0..3 => draws.random_range(0..100_u32).to_string().into_bytes(),
        3 => draws.random::<u32>().to_string().into_bytes(),
        4 | 5 => other,
        6 => [&other[..], b"\n", &other].concat(),
        // Deep nesting, for recursive parsers.
        7 if draws.random_range(0..20) == 0 => vec![b'['; draws.random_range(0..4_000)],
        _ => pick(&ODD.split(' ').collect::<Vec<_>>(), draws).as_bytes().to_vec(),
    };
    out.splice(pick(&words, draws).clone(), value);
}

/// Damages the bytes in the way of a disk, a transfer or an editor.
fn damage(out: &mut Vec<u8>, draws: &mut Stream) {
    const STRANGE: [&[u8]; 6] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\r", b"\n\n", b"\t"];
    let at = draws.random_range(0..=out.len());
    let span = at..(at + draws.random_range(0..24)).min(out.len());
    match draws.random_range(0..5) {
        0 => out.truncate(at),
        1 => drop(out.drain(span)),
        2 if at < out.len() => out[at] ^= 1 << draws.random_range(0..8_u32),
        3 => drop(out.splice(0..0, pick(&STRANGE, draws).iter().copied())),
        _ => drop(out.splice(at..at, pick(&STRANGE, draws).iter().copied())),
    }
}
