//! Format of stored replications: one on each line, `{"identity":…,"metrics":…,"sha256":"…"}`.
//!
//! The hash is over the bytes of the line before it, so every change of the line is detected, in digits, names, white space or the hash.

use super::Identity;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// SHA-256 of an identity.
pub(super) type Key = [u8; 32];

/// A finished replication: the content of a line.
#[derive(Debug, Deserialize)]
pub struct Stored {
    /// Serialized [`Identity`].
    pub identity: Value,
    /// Its metrics by name, null if undefined, or the runs of a batch.
    pub metrics: Value,
}

const BEFORE_HASH: &str = ",\"sha256\":\"";
const BEHIND_HASH: &[u8] = b"\"}";

/// Returns the SHA-256 of an identity, the key of a replication.
pub(super) fn key_of(identity: &impl Serialize) -> Key {
    Sha256::digest(serde_json::to_vec(identity).expect("an identity is plain data")).into()
}

/// Returns the key of a replication and its line, without a line end.
pub(super) fn line(identity: &Identity<'_>, metrics: &impl Serialize) -> (Key, String) {
    #[derive(Serialize)]
    struct Content<'a, M> {
        identity: &'a Identity<'a>,
        metrics: &'a M,
    }
    let mut line = serde_json::to_string(&Content { identity, metrics }).expect("metrics are plain data");
    assert_eq!(line.pop(), Some('}'), "an object ends with a brace");
    let hash = hex::encode(Sha256::digest(&line));
    (key_of(identity), format!("{line}{BEFORE_HASH}{hash}\"}}"))
}

/// A line with the right hash: its key, its content, and its text.
pub(super) type Sound<'a> = (Key, Stored, &'a str);

/// Returns the file without an unfinished last line, which a run was writing when it was killed.
pub(super) fn whole_lines(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    &content[..end]
}

/// Returns the lines of a file, numbered from 1; `None` if a line is damaged.
pub(super) fn lines(content: &[u8]) -> impl Iterator<Item = (usize, Option<Sound<'_>>)> {
    // A last line without its end was cut off, even if the rest is complete.
    let pieces = content.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n"));
    pieces.enumerate().map(|(i, line)| (i + 1, line.and_then(sound)))
}

fn sound(line: &[u8]) -> Option<Sound<'_>> {
    let (text, hash) = line.strip_suffix(BEHIND_HASH)?.split_last_chunk::<64>()?;
    let text = text.strip_suffix(BEFORE_HASH.as_bytes())?;
    if hex::encode(Sha256::digest(text)).as_bytes() != hash {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?;
    let stored: Stored = serde_json::from_str(line).ok()?;
    Some((key_of(&stored.identity), stored, line))
}
