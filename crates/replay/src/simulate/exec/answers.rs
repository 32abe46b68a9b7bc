//! The lines that a program writes, one by one, each waited for so long and no longer.

use std::io;
use std::process::ChildStdout;
use std::time::Duration;

#[cfg(unix)]
pub(super) use polled::Answers;
#[cfg(not(unix))]
pub(super) use threaded::Answers;

/// A longer line is cut: a program gone wild must not fill the memory.
const LONGEST: usize = 16 << 20;

/// Why there is no line.
#[derive(Debug)]
pub(super) enum NoLine {
    /// Nothing, or nothing whole, came in time.
    Silence,
    /// The program has closed its output.
    End,
    /// It cannot be read.
    Failure(io::Error),
}

/// Reads in the thread that asks: a line costs no change of threads, which takes longer than all else of an exchange.
#[cfg(any(unix, test))]
mod polled {
    use super::{ChildStdout, Duration, LONGEST, NoLine, io};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use std::io::Read;
    use std::time::Instant;

    const CHUNK: usize = 1 << 13;

    pub(in super::super) struct Answers {
        from: ChildStdout,
        chunk: Box<[u8; CHUNK]>,
        /// What has been read and not been asked for.
        ahead: Vec<u8>,
    }

    impl Answers {
        pub(in super::super) fn new(from: ChildStdout) -> Self {
            Self { from, chunk: Box::new([0; CHUNK]), ahead: Vec::new() }
        }

        /// The next line, with its end where it has one, in place of what is in `line`.
        pub(in super::super) fn next(&mut self, line: &mut Vec<u8>, patience: Duration) -> Result<(), NoLine> {
            line.clear();
            let begin = now();
            let mut searched = 0;
            loop {
                let end = self.ahead[searched..].iter().position(|byte| *byte == b'\n').map(|at| searched + at + 1);
                if let Some(end) = end.or((self.ahead.len() >= LONGEST).then_some(LONGEST)) {
                    line.extend_from_slice(&self.ahead[..end]);
                    self.ahead.drain(..end);
                    return Ok(());
                }
                searched = self.ahead.len();
                self.wait(patience.saturating_sub(begin.elapsed()))?;
                match self.from.read(&mut self.chunk[..]) {
                    Ok(0) if searched == 0 => return Err(NoLine::End),
                    Ok(0) => {
                        line.append(&mut self.ahead);
                        return Ok(());
                    }
                    Ok(length) => self.ahead.extend_from_slice(&self.chunk[..length]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(NoLine::Failure(error)),
                }
            }
        }

        /// Until there is something to read, be it the end.
        fn wait(&self, patience: Duration) -> Result<(), NoLine> {
            // The system's own instants end earlier than ours: thirty years are enough.
            let patience =
                Timespec::try_from(patience.min(Duration::from_secs(1 << 30))).map_err(|_| NoLine::Silence)?;
            loop {
                match poll(&mut [PollFd::new(&self.from, PollFlags::IN)], Some(&patience)) {
                    Ok(0) => return Err(NoLine::Silence),
                    Ok(_) => return Ok(()),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(NoLine::Failure(error.into())),
                }
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how long an answer takes decides whether there is a result, not which"
    )]
    fn now() -> Instant {
        Instant::now()
    }
}

/// Reads in a thread of its own, where a pipe cannot be waited for.
#[cfg(any(not(unix), test))]
mod threaded {
    use super::{ChildStdout, Duration, LONGEST, NoLine, io};
    use std::io::{BufRead, BufReader, Read};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

    pub(in super::super) struct Answers(Receiver<io::Result<Vec<u8>>>);

    impl Answers {
        pub(in super::super) fn new(from: ChildStdout) -> Self {
            let (give, lines) = sync_channel(1);
            // It ends when the program does.
            std::thread::spawn(move || pass_on(from, &give));
            Self(lines)
        }

        /// The next line, with its end where it has one, in place of what is in `line`.
        pub(in super::super) fn next(&mut self, line: &mut Vec<u8>, patience: Duration) -> Result<(), NoLine> {
            *line = match self.0.recv_timeout(patience) {
                Ok(read) => read.map_err(NoLine::Failure)?,
                Err(RecvTimeoutError::Disconnected) => return Err(NoLine::End),
                Err(RecvTimeoutError::Timeout) => return Err(NoLine::Silence),
            };
            Ok(())
        }
    }

    /// Reads line after line, and gives each to whoever waits for it.
    fn pass_on(from: ChildStdout, give: &SyncSender<io::Result<Vec<u8>>>) {
        let mut from = BufReader::new(from);
        loop {
            let mut line = Vec::new();
            let read = (&mut from).take(LONGEST as u64).read_until(b'\n', &mut line);
            let (answer, goes_on) = match read {
                Ok(0) => return,
                Ok(_) => (Ok(line), true),
                Err(error) => (Err(error), false),
            };
            if give.send(answer).is_err() || !goes_on {
                return;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A shell that runs `script`, and its output.
    fn shell(script: &str) -> (Child, ChildStdout) {
        let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().expect("a shell");
        let out = child.stdout.take().expect("a pipe");
        (child, out)
    }

    /// What comes of asking so often, by both readers: a line, or why there is none.
    fn check(script: &str, patience: Duration, expected: &[&str]) {
        let asked = |next: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), NoLine>| {
            let mut line = b"what was there before".to_vec();
            let one = |_: &&str| match next(&mut line) {
                Ok(()) => String::from_utf8_lossy(&line).into_owned(),
                Err(reason) => format!("{reason:?}"),
            };
            expected.iter().map(one).collect::<Vec<String>>()
        };
        let end = |mut child: Child| {
            let _ = child.kill();
            child.wait().expect("it was ours");
        };
        let (child, out) = shell(script);
        let mut polled = polled::Answers::new(out);
        assert!(asked(&mut |line| polled.next(line, patience)) == expected, "polled: {script}");
        end(child);
        let (child, out) = shell(script);
        let mut threaded = threaded::Answers::new(out);
        assert!(asked(&mut |line| threaded.next(line, patience)) == expected, "threaded: {script}");
        end(child);
    }

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(200);

    #[test]
    fn lines_come_one_by_one_however_they_are_written() {
        check("printf 'one\\ntwo\\n'; printf half", LONG, &["one\n", "two\n", "half", "End", "End"]);
        check("printf on; sleep 0.05; printf 'e\\n'", LONG, &["one\n", "End"]);
        check("printf '\\n\\n'", LONG, &["\n", "\n", "End"]);
    }

    #[test]
    fn silence_is_told_from_an_end_and_a_drip_from_a_line() {
        check("exec sleep 30", SHORT, &["Silence"]);
        check("exec >&-; exec sleep 30", LONG, &["End"]);
        check("while printf x; do sleep 0.02; done", SHORT, &["Silence"]);
        check("printf 'one\\n'; exec sleep 30", SHORT, &["one\n", "Silence", "Silence"]);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let (whole, rest) = ("x".repeat(LONGEST), "x".repeat(1_000));
        check(&format!("head -c {} /dev/zero | tr '\\0' x", LONGEST + 1_000), LONG, &[&whole, &rest, "End"]);
    }
}
