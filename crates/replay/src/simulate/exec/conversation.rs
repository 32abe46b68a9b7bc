//! A running program, and the lines exchanged with it.

use anyhow::{Result, anyhow, bail};
use serde::{Serialize, de::DeserializeOwned};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Number of characters of a line that a message shows.
const SHOWN: usize = 400;

/// Time in which a program must end once its input is closed.
const FAREWELL: Duration = Duration::from_secs(1);

/// Length at which a line is cut, so that a faulty program cannot fill the memory.
const LONGEST: usize = 16 << 20;

/// A running program and its pipes. Dropping it ends the program, if necessary by force.
pub(super) struct Conversation {
    pub(super) name: String,
    child: Child,
    /// `None` after the last line has been sent.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    patience: Duration,
    /// Last line sent, and last line received: for messages, and as buffers.
    sent: Vec<u8>,
    got: Vec<u8>,
}

impl Conversation {
    /// Starts the program. It inherits standard error.
    pub(super) fn start(words: &[String], patience: Duration) -> Result<Self> {
        let name = words.join(" ");
        let (program, arguments) = words.split_first().expect("a command has at least one word");
        let child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| {
            anyhow!("the policy {name} cannot be started: {error}; is it there, and may it be executed?")
        })?;
        let to = Some(child.stdin.take().expect("its input is a pipe"));
        let from = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        Ok(Self { name, child, to, from, patience, sent: Vec::new(), got: Vec::new() })
    }

    /// Sends one line, in one piece.
    pub(super) fn send(&mut self, message: &impl Serialize) -> Result<()> {
        self.sent.clear();
        self.got.clear();
        serde_json::to_writer(&mut self.sent, message).expect("a message is plain data");
        self.sent.push(b'\n');
        let sent = self.to.as_mut().expect("its input is still open").write_all(&self.sent);
        sent.map_err(|_| self.gone())
    }

    /// Returns the answer, of the form that `expected` shows.
    pub(super) fn answer<T: DeserializeOwned>(&mut self, expected: &str) -> Result<T> {
        self.read_line()?;
        if self.got.last() != Some(&b'\n') {
            bail!(self.wrong("its answer is no whole line, or one of more than 16 MiB"));
        }
        let read = serde_json::from_slice(&self.got);
        read.map_err(|error| self.wrong(&format!("{error}; expected a line such as {expected}")))
    }

    /// Reads the next line into `got`, with its line end if it has one. It reads in the thread that waits: another thread that passes
    /// lines on makes an exchange five times as long (docs/protocol.md).
    fn read_line(&mut self) -> Result<()> {
        #[expect(clippy::disallowed_methods, reason = "decides whether there is a result, not which")]
        let begin = Instant::now();
        self.got.clear();
        loop {
            if self.from.buffer().is_empty() && !self.has_output(self.patience.saturating_sub(begin.elapsed()))? {
                let seconds = self.patience.as_secs_f64();
                bail!(self.wrong(&format!("no answer within {seconds} s (--policy-timeout gives it more)")));
            }
            let missing = LONGEST - self.got.len();
            match self.from.fill_buf() {
                Ok([]) if self.got.is_empty() => bail!(self.gone()),
                Ok([]) => return Ok(()),
                Ok(ahead) => {
                    let end =
                        ahead.iter().position(|byte| *byte == b'\n').map_or(ahead.len(), |at| at + 1).min(missing);
                    self.got.extend_from_slice(&ahead[..end]);
                    self.from.consume(end);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => bail!(self.wrong(&format!("its answer cannot be read: {error}"))),
            }
            if self.got.ends_with(b"\n") || self.got.len() == LONGEST {
                return Ok(());
            }
        }
    }

    /// Waits until there is output or its end; returns `false` after the timeout.
    #[cfg(unix)]
    fn has_output(&self, patience: Duration) -> Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // The system's own instants end earlier than ours: thirty years are enough.
        let patience = Timespec::try_from(patience.min(Duration::from_secs(1 << 30)))?;
        loop {
            match poll(&mut [PollFd::new(self.from.get_ref(), PollFlags::IN)], Some(&patience)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => bail!(self.wrong(&format!("its answer cannot be read: {error}"))),
            }
        }
    }

    /// Pipes cannot be polled here: reading waits as long as the program is silent.
    #[cfg(not(unix))]
    fn has_output(&self, _: Duration) -> Result<bool> {
        Ok(true)
    }

    pub(super) fn wrong(&self, what: &str) -> anyhow::Error {
        let (sent, got) = (shown(&self.sent), shown(&self.got));
        anyhow!("the policy {}: {what}\n  sent: {sent}\n  received: {got}", self.name)
    }

    /// Error of a program that has ended before an answer.
    fn gone(&mut self) -> anyhow::Error {
        let how = self.await_end().map_or_else(|| "closed its output".to_owned(), |status| format!("ended ({status})"));
        self.wrong(&format!("the program {how} before the log did"))
    }

    /// Waits a little for the program to end.
    fn await_end(&mut self) -> Option<ExitStatus> {
        // Most programs end at once; an experiment ends a thousand.
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
        // The end of its input ends the program.
        self.to = None;
        if self.await_end().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Line for a message: without control characters, and cut if it is long.
fn shown(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end();
    let plain = |text: &str| text.replace(char::is_control, "\u{fffd}");
    match line.char_indices().nth(SHOWN) {
        _ if line.is_empty() => "nothing".to_owned(),
        Some((end, _)) => format!("{} … ({} bytes in all)", plain(&line[..end]), line.len()),
        None => plain(line),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Reads as many lines as are expected from a shell that runs `script`; an error is compared by its beginning.
    #[track_caller]
    fn check(script: &str, patience: Duration, expected: &[&str]) {
        let words = ["sh", "-c", script].map(str::to_owned);
        let mut conversation = Conversation::start(&words, patience).expect("a shell");
        conversation.name = "p".to_owned();
        for expected in expected {
            match conversation.read_line() {
                Ok(()) => assert!(conversation.got == expected.as_bytes(), "{script}"),
                Err(error) => assert!(error.to_string().starts_with(expected), "{script}: {error}"),
            }
        }
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(200);
    const END: &str = "the policy p: the program ended (exit status: 0)";
    const SILENCE: &str = "the policy p: no answer within 0.2 s";

    #[test]
    fn lines_silence_and_ends_are_distinguished() {
        check("printf 'one\\ntwo\\n'; printf half", LONG, &["one\n", "two\n", "half", END, END]);
        check("printf on; sleep 0.05; printf 'e\\n'", LONG, &["one\n", END]);
        check("printf '\\n\\n'", LONG, &["\n", "\n", END]);
        check("exec sleep 30", SHORT, &[SILENCE]);
        check("exec >&-; exec sleep 30", LONG, &["the policy p: the program closed its output"]);
        check("while printf x; do sleep 0.02; done", SHORT, &[SILENCE]);
        check("printf 'one\\n'; exec sleep 30", SHORT, &["one\n", SILENCE, SILENCE]);
        // A line without end is cut.
        let (whole, rest) = ("x".repeat(LONGEST), "x".repeat(1_000));
        check(&format!("head -c {} /dev/zero | tr '\\0' x", LONGEST + 1_000), LONG, &[&whole, &rest, END]);
    }
}
