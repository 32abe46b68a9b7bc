#![cfg(unix)]

use super::Exec;
use gap_schedule::{Machine, MultiCluster};
use sim_core::{Job, JobId, Sim, Span, Time};
use std::time::Duration;

/// Three jobs, of which the first ends while no job waits, and the third waits for the second. Returns the lines that a program with
/// these answers receives.
fn received(answers: &[&str]) -> Result<String, String> {
    let heard = tempfile::NamedTempFile::new().expect("a file");
    let script = r#"for answer; do read -r line; echo "$line" >>"$0"; echo "$answer"; done; cat >>"$0""#;
    let words = [&["sh", "-c", script, heard.path().to_str().expect("UTF-8")], answers].concat();
    let command: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let machines = vec![Machine::new(4)];
    let policy = Exec::start(&command, &machines, Box::new(|_| None), Duration::from_secs(60));
    let policy = policy.map_err(|error| error.to_string())?;
    let job = |(id, submit, processors, runs)| {
        Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runs))
    };
    let jobs = [(1, 0, 2, 10), (2, 0, 2, 50), (3, 40, 4, 5)].map(job);
    let world = MultiCluster::new(machines, policy, jobs.into_iter());
    let (world, ()) = Sim::new(world, ()).run();
    assert!(world.error().is_none(), "{:?}", world.error());
    drop(world);
    Ok(std::fs::read_to_string(heard.path()).expect("UTF-8"))
}

/// With the times of events, and with passes while no job waits.
const EVERY: &str = r#"{"type":"hello","protocol":1,"machines":[{"machine":0,"processors":4,"speed":1.0}]}
{"type":"pass","now":0.0,"submitted":[{"job":1,"submit":0.0,"processors":2,"requested":10.0,"user":null},TWO],"finished":[],"free":[4]}
{"type":"pass","now":10.0,"submitted":[],"finished":[{"job":1,"machine":0,"time":10.0}],"free":[2]}
{"type":"pass","now":12.5,"submitted":[],"finished":[],"free":[2]}
{"type":"pass","now":40.0,"submitted":[{"job":3,"submit":40.0,"processors":4,"requested":5.0,"user":null}],"finished":[],"free":[2]}
{"type":"pass","now":50.0,"submitted":[],"finished":[{"job":2,"machine":0,"time":50.0}],"free":[4]}
{"type":"pass","now":55.0,"submitted":[],"finished":[{"job":3,"machine":0,"time":55.0}],"free":[4]}
{"type":"end"}
"#;

#[test]
fn events_have_their_times_and_come_at_once_if_the_program_requests_it() {
    const TWO: &str = r#"{"job":2,"submit":0.0,"processors":2,"requested":50.0,"user":null}"#;
    let [none, three] = [r#"{"start":[]}"#, r#"{"start":[3]}"#];
    // A wake-up after the last end does not extend the run.
    let [both, wake, last] = [r#"{"start":[1,2]}"#, r#"{"start":[],"wake":12.5}"#, r#"{"start":[],"wake":99.0}"#];
    let plain = [r#"{"type":"ready","protocol":1}"#, both, none, three];
    let plain = received(&plain).expect("a known protocol");
    assert!(plain.contains(r#""finished":[{"job":1,"machine":0}]"#), "{plain}");
    assert!(plain.lines().count() == 5 && !plain.contains("time"), "{plain}");
    let every = r#"{"type":"ready","protocol":2,"every":"event"}"#;
    let every = [every, both, wake, none, none, three, last];
    assert_eq!(received(&every), Ok(EVERY.replace("TWO", TWO)));
    for ready in [r#"{"type":"ready","protocol":1,"every":"event"}"#, r#"{"type":"ready","protocol":3}"#] {
        let words = received(&[ready]).expect_err(ready);
        assert!(words.contains(r#""protocol":2,"every":"event""#), "{words}");
    }
}
