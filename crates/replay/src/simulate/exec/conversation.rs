//! A running program, and the lines that go to it and come back.

use super::answers::{Answers, NoLine};
use anyhow::{Result, anyhow, bail};
use serde::{Serialize, de::DeserializeOwned};
use std::io::Write;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Duration;

/// So much of a line is shown in a message, in characters.
const SHOWN: usize = 400;

/// How long a program may take to go once its input is closed.
const FAREWELL: Duration = Duration::from_secs(1);

/// A running program and the lines that go to and fro. It ends with this value, if need be by force.
pub(super) struct Conversation {
    /// As the command line has it.
    name: String,
    child: Child,
    /// `None` once nothing more will be said.
    to: Option<ChildStdin>,
    from: Answers,
    patience: Duration,
    /// The last line that was sent, and the last that came: kept for messages, and for the next ones to be written in.
    sent: Vec<u8>,
    got: Vec<u8>,
}

impl Conversation {
    /// Starts the program. What it writes to standard error appears on ours.
    pub(super) fn start(words: &[String], patience: Duration) -> Result<Self> {
        let name = words.join(" ");
        let (program, arguments) = words.split_first().expect("a command has at least one word");
        let child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| {
            anyhow!("the policy {name} cannot be started: {error}; is it there, and may it be executed?")
        })?;
        let to = Some(child.stdin.take().expect("its input is a pipe"));
        let from = Answers::new(child.stdout.take().expect("its output is a pipe"));
        Ok(Self { name, child, to, from, patience, sent: Vec::new(), got: Vec::new() })
    }

    /// The program, as the command line has it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sends one line, in one piece.
    pub(super) fn tell(&mut self, message: &impl Serialize) -> Result<()> {
        self.sent.clear();
        self.got.clear();
        serde_json::to_writer(&mut self.sent, message).expect("a message is plain data");
        self.sent.push(b'\n');
        let to = self.to.as_mut().expect("it has not been told goodbye");
        let sent = to.write_all(&self.sent);
        sent.map_err(|_| self.gone())
    }

    /// The line that answers it, of the form that `expected` shows.
    pub(super) fn answer<T: DeserializeOwned>(&mut self, expected: &str) -> Result<T> {
        match self.from.next(&mut self.got, self.patience) {
            Ok(()) => {}
            Err(NoLine::Failure(error)) => bail!(self.wrong(&format!("its answer cannot be read: {error}"))),
            Err(NoLine::End) => bail!(self.gone()),
            Err(NoLine::Silence) => {
                let seconds = self.patience.as_secs_f64();
                bail!(self.wrong(&format!("no answer within {seconds} s (--policy-timeout gives it more)")))
            }
        }
        if self.got.last() != Some(&b'\n') {
            bail!(self.wrong("its answer is no whole line, or one of more than 16 MiB"));
        }
        let read = serde_json::from_slice(&self.got);
        read.map_err(|error| self.wrong(&format!("{error}; expected a line such as {expected}")))
    }

    /// That something is wrong, with the exchange.
    pub(super) fn wrong(&self, what: &str) -> anyhow::Error {
        let (sent, got) = (shown(&self.sent), shown(&self.got));
        anyhow!("the policy {}: {what}\n  it was told: {sent}\n  it answered: {got}", self.name)
    }

    /// That the program has ended where an answer was due.
    fn gone(&mut self) -> anyhow::Error {
        let how = match self.await_end() {
            Some(status) => format!("ended ({status})"),
            None => "closed its output".to_owned(),
        };
        self.wrong(&format!("the program {how} before the log did"))
    }

    /// Waits a little for the program to end.
    fn await_end(&mut self) -> Option<ExitStatus> {
        // Most end at once; an experiment says goodbye a thousand times.
        let (mut step, mut waited) = (Duration::from_micros(100), Duration::ZERO);
        while waited < FAREWELL {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(step);
            waited += step;
            step = (2 * step).min(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // The end of its input tells the program that nobody will ask it anything more.
        self.to = None;
        if self.await_end().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A line as it may stand in a message: no control characters, and not the whole of a long one.
fn shown(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    let plain = |text: &str| -> String { text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect() };
    match line.char_indices().nth(SHOWN) {
        _ if line.is_empty() => "nothing".to_owned(),
        Some((end, _)) => format!("{} … ({} bytes in all)", plain(&line[..end]), line.len()),
        None => plain(line),
    }
}
