//! A run as a sequence of messages: written to a file, or compared with one.

use anyhow::{Context, Result, anyhow};
use hier_grid::observer::Divergence;
use hier_grid::{Address, Message, MessageObserver, Replay};
use lab::chart::Sketch;
use lab::chart::sequence::{self, Arrow};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Listens to every message.
pub(super) struct Ear {
    file: Recording,
    /// The first messages: all, if they are few enough to draw.
    first: Vec<Message>,
    heard: u64,
}

enum Recording {
    /// Writing a transcript. The first error is told when the run is over.
    Writes { rows: BufWriter<NamedTempFile>, path: PathBuf, failed: Option<std::io::Error> },
    /// Comparing with one.
    Compares { replay: Replay<Lines>, path: PathBuf, failed: Failed },
}

/// What is known of the messages of a run.
pub(super) struct Told {
    pub(super) messages: u64,
    /// All of them, if they are few.
    pub(super) few: Option<Vec<Message>>,
    /// The transcript, complete but for its name.
    pub(super) transcript: Option<(NamedTempFile, PathBuf)>,
    /// Where the run departs from the transcript that it was compared with.
    pub(super) differs: Option<String>,
    pub(super) compared: bool,
}

impl Told {
    /// For the terminal.
    pub(super) fn in_words(&self) -> String {
        let done = match (self.compared, &self.differs) {
            (false, _) => "recorded",
            (true, None) => "the same as in the transcript",
            (true, Some(_)) => "sent; they differ from the transcript",
        };
        format!("{} messages {done}", self.messages)
    }
}

/// All messages under a policy as a sequence diagram.
pub(super) fn messages(policy: &str, all: &[Message]) -> Option<Sketch> {
    let name = |address| match address {
        Address::Station(station) => format!("station {station}"),
        Address::Scheduler(scheduler) => format!("GS {scheduler}"),
        Address::Server(server) => format!("server {server}"),
    };
    let arrow = |message: &Message| Arrow {
        sent: message.sent,
        from: message.from,
        to: message.to,
        text: message.payload.to_string(),
        slot: message.payload.family() as usize,
    };
    let arrows: Vec<Arrow<Address>> = all.iter().map(arrow).collect();
    sequence::sequence(format!("messages-{policy}"), format!("Messages under {policy}"), &arrows, name)
}

type Failed = std::rc::Rc<std::cell::RefCell<Option<anyhow::Error>>>;

/// Far above any message; a file given by mistake is not read into memory.
const LONGEST_LINE: u64 = 1 << 20;

/// The messages of a transcript. Ends at the first line that is none, and keeps the error.
pub(super) struct Lines {
    file: BufReader<File>,
    number: u64,
    failed: Failed,
}

impl Iterator for Lines {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        self.number += 1;
        let mut line = Vec::new();
        let message = match self.file.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(length) if length as u64 > LONGEST_LINE => Err(anyhow!("longer than 1 MiB")),
            Ok(_) => serde_json::from_slice(&line).map_err(|error| anyhow!("{error}")),
            Err(error) => Err(error.into()),
        };
        let at =
            format!("line {} is no message; a transcript has one on each line, as --transcript writes", self.number);
        message.map_err(|error| self.failed.replace(Some(error.context(at)))).ok()
    }
}

/// How many messages a transcript holds, if nothing else.
pub(super) fn count(path: &Path) -> Result<u64> {
    let failed = Failed::default();
    let file = BufReader::new(workload::file::open(path)?);
    let messages = Lines { file, number: 0, failed: std::rc::Rc::clone(&failed) }.count() as u64;
    failed.take().map_or(Ok(messages), |error| Err(error.context(path.display().to_string())))
}

impl Ear {
    /// Records into the first path, or compares with the second.
    pub(super) fn begin(transcript: Option<&Path>, replay: Option<&Path>) -> Result<Self> {
        let file = match (transcript, replay) {
            (Some(path), _) => {
                let rows = BufWriter::with_capacity(1 << 16, lab::output::begin_beside(path)?);
                Recording::Writes { rows, path: path.to_owned(), failed: None }
            }
            (None, Some(path)) => {
                let file = workload::file::open(path)?;
                let failed = Failed::default();
                let lines = Lines { file: BufReader::new(file), number: 0, failed: std::rc::Rc::clone(&failed) };
                Recording::Compares { replay: Replay::new(lines), path: path.to_owned(), failed }
            }
            (None, None) => unreachable!("a run that nobody listens to needs no ear"),
        };
        Ok(Self { file, first: Vec::new(), heard: 0 })
    }

    /// What is known now that the run is over.
    pub(super) fn finish(self) -> Result<Told> {
        let Self { file, first, heard } = self;
        let few = (first.len() <= sequence::DRAWN).then_some(first);
        let told = Told { messages: heard, few, transcript: None, differs: None, compared: false };
        match file {
            Recording::Writes { rows, path, failed } => {
                let describe = || format!("cannot write {}", path.display());
                if let Some(error) = failed {
                    return Err(error).with_context(describe);
                }
                let file = rows.into_inner().map_err(std::io::IntoInnerError::into_error).with_context(describe)?;
                Ok(Told { transcript: Some((file, path)), ..told })
            }
            Recording::Compares { replay, path, failed } => {
                let finished = replay.finish();
                if let Some(error) = failed.take() {
                    return Err(error).with_context(|| path.display().to_string());
                }
                let differs = finished.err().map(|divergence| in_words(&path, &divergence));
                Ok(Told { differs, compared: true, ..told })
            }
        }
    }
}

impl MessageObserver for Ear {
    fn observe(&mut self, message: Message) {
        self.heard += 1;
        if self.first.len() <= sequence::DRAWN {
            self.first.push(message.clone());
        }
        match &mut self.file {
            Recording::Writes { rows, failed, .. } => {
                if failed.is_none() {
                    let line = serde_json::to_writer(&mut *rows, &message).map_err(std::io::Error::from);
                    *failed = line.and_then(|()| rows.write_all(b"\n")).err();
                }
            }
            Recording::Compares { replay, .. } => replay.observe(message),
        }
    }
}

/// Line, what was expected, what came.
fn in_words(path: &Path, divergence: &Divergence) -> String {
    let Divergence { number, expected, found } = divergence;
    let message = |message: &Option<Message>, none: &str| match message {
        Some(message) => serde_json::to_string(message).expect("plain data"),
        None => none.to_owned(),
    };
    format!(
        "{} line {number}: the run differs\n  expected {}\n  found    {}",
        path.display(),
        message(expected, "nothing: the transcript ends here"),
        message(found, "nothing: the run ends here")
    )
}
