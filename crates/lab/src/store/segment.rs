//! The form of stored replications: one on each line, `{"identity":…,"metrics":…,"sha256":"…"}`.
//!
//! The hash is over the bytes of the line before it, so no change of the line goes unnoticed, be it in a digit, in a name,
//! in white space or in the hash.

use super::Identity;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// SHA-256 of an identity.
pub(super) type Key = [u8; 32];

/// By name; `null` where a metric is not defined.
pub(super) type Metrics = BTreeMap<String, Option<f64>>;

/// Content of a line.
#[derive(Deserialize)]
pub(super) struct Stored {
    identity: serde_json::Value,
    pub(super) metrics: Metrics,
}

const BEFORE_HASH: &str = ",\"sha256\":\"";
const BEHIND_HASH: &[u8] = b"\"}";

/// Appends the SHA-256 of a text: `before` it, and the end of a JSON object behind it.
pub(super) fn seal(text: &str, before: &str) -> String {
    format!("{text}{before}{}\"}}", hex::encode(Sha256::digest(text)))
}

/// The text that was sealed; `None` if any byte has changed.
pub(super) fn unsealed<'a>(content: &'a [u8], before: &str) -> Option<&'a str> {
    let (text, hash) = content.strip_suffix(BEHIND_HASH)?.split_last_chunk::<64>()?;
    let text = text.strip_suffix(before.as_bytes())?;
    let is_sound = hex::encode(Sha256::digest(text)).as_bytes() == hash;
    std::str::from_utf8(text).ok().filter(|_| is_sound)
}

/// SHA-256 of an identity, by which a replication is found.
pub(super) fn key_of(identity: &impl Serialize) -> Key {
    Sha256::digest(serde_json::to_vec(identity).expect("an identity is plain data")).into()
}

/// A replication as a line, without its end.
pub(super) fn line(identity: &Identity<'_>, metrics: Metrics) -> (Key, String) {
    #[derive(Serialize)]
    struct Content<'a> {
        identity: &'a Identity<'a>,
        metrics: Metrics,
    }
    let mut line = serde_json::to_string(&Content { identity, metrics }).expect("metrics are plain data");
    assert_eq!(line.pop(), Some('}'), "an object ends with a brace");
    (key_of(identity), seal(&line, BEFORE_HASH))
}

/// A line that is as it was written: its key, what it says, and itself.
pub(super) type Sound<'a> = (Key, Stored, &'a str);

/// The file without a last line that has no end: what was being written when its run was killed.
pub(super) fn whole_lines(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    &content[..end]
}

/// The lines of a file, numbered from 1; `None` where one is not as it was written.
pub(super) fn lines(content: &[u8]) -> impl Iterator<Item = (usize, Option<Sound<'_>>)> {
    // A last line without its end was cut off, even if all else is there.
    let pieces = content.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n"));
    pieces.enumerate().map(|(i, line)| (i + 1, line.and_then(sound)))
}

fn sound(line: &[u8]) -> Option<Sound<'_>> {
    unsealed(line, BEFORE_HASH)?;
    let line = std::str::from_utf8(line).ok()?;
    let stored: Stored = serde_json::from_str(line).ok()?;
    Some((key_of(&stored.identity), stored, line))
}
