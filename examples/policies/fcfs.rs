//! First come, first served, as an external program: an example of the protocol of a policy, and the partner for measurements of its speed
//! (docs/protocol.md).
//!
//! ```text
//! cargo build -p gridproof --example fcfs_program
//! cargo run -p gridproof -- simulate --trace log.swf --policy fcfs,exec+target/debug/examples/fcfs_program
//! ```
//!
//! With `--count FILE` it writes the number of passes into that file at the end.

use serde::Deserialize;
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

/// Message of the laboratory; a policy may ignore the fields that it does not need.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default)]
    submitted: Vec<Job>,
    #[serde(default)]
    free: Vec<u32>,
}

/// A waiting job.
#[derive(Deserialize)]
struct Job {
    job: u64,
    processors: u32,
}

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let (mut line, mut queue, mut passes) = (String::new(), VecDeque::new(), 0_u64);
    while input.read_line(&mut line)? > 0 {
        let message: Message<'_> = serde_json::from_str(&line)?;
        match message.kind {
            "hello" => writeln!(output, r#"{{"type":"ready","protocol":1}}"#)?,
            "pass" => {
                queue.extend(message.submitted);
                writeln!(output, r#"{{"start":{:?}}}"#, started(&mut queue, message.free))?;
                passes += 1;
            }
            _ => break,
        }
        // A buffered answer would not be sent.
        output.flush()?;
        line.clear();
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != "--count").skip(1);
    arguments.next().map_or(Ok(()), |file| std::fs::write(file, format!("{passes}\n")))
}

/// Starts the jobs at the head of the queue, each on the first machine with room, up to the first that fits nowhere.
fn started(queue: &mut VecDeque<Job>, mut free: Vec<u32>) -> Vec<u64> {
    let mut started = Vec::new();
    while let Some(head) = queue.front()
        && let Some(room) = free.iter_mut().find(|free| **free >= head.processors)
    {
        *room -= head.processors;
        started.extend(queue.pop_front().map(|job| job.job));
    }
    started
}
