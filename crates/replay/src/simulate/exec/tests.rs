use super::{Command, Exec};
use gap_schedule::{Machine, MultiCluster};
use sim_core::{Job, JobId, Outage, Sim, SiteId, Span, Time};
use std::time::Duration;

/// Three jobs on a machine that fails: one ends while no job waits, one is lost and starts again, and the third waits for it.
#[cfg(unix)]
fn told(answers: &[&str]) -> (Vec<String>, Result<(), String>) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("answers"), answers.join("\n") + "\n").expect("a file");
    let script = "exec 3<\"$0/answers\"; while read -r line; do echo \"$line\" >>\"$0/heard\"; read -r answer <&3; echo \"$answer\"; done";
    let words = ["sh", "-c", script, folder.path().to_str().expect("UTF-8")].map(str::to_owned);
    let job = |(id, submit, processors, runs)| {
        Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runs))
    };
    let jobs = [(1, 0, 2, 10), (2, 0, 2, 20), (3, 40, 4, 5)].map(job);
    let outage = Outage { site: SiteId(0), down: Time::from_secs(15), up: Time::from_secs(30) };
    let machines = vec![Machine::new(4)];
    let started = Exec::start(&Command(words.to_vec()), &machines, Box::new(|_| None), Duration::from_secs(60));
    let outcome = started.map_err(|error| error.to_string()).map(|policy| {
        let world = MultiCluster::new(machines, policy, jobs.into_iter()).with_outages([outage]);
        let (world, ()) = Sim::new(world, ()).run();
        assert!(world.error().is_none(), "{:?}", world.error());
    });
    let told = std::fs::read_to_string(folder.path().join("heard")).expect("the policy received lines");
    (told.lines().map(str::to_owned).collect(), outcome)
}

#[cfg(unix)]
#[test]
fn what_happens_is_told_without_its_time_with_it_and_at_once_as_the_program_asks() {
    const HELLO: &str = r#"{"type":"hello","protocol":1,"machines":[{"machine":0,"processors":4,"speed":1.0}]}"#;
    const TWO: &str = r#"{"job":2,"submit":0.0,"processors":2,"requested":20.0,"user":null}"#;
    let at_0 = r#"{"type":"pass","now":0.0,"submitted":[{"job":1,"submit":0.0,"processors":2,"requested":10.0,"user":null},TWO],"finished":[],"free":[4]}"#.replace("TWO", TWO);
    let at_10 =
        r#"{"type":"pass","now":10.0,"submitted":[],"finished":[{"job":1,"machine":0,"time":10.0}],"free":[2]}"#;
    let at_12 = r#"{"type":"pass","now":12.5,"submitted":[],"finished":[],"free":[2]}"#;
    let at_15 = r#"{"type":"pass","now":15.0,"submitted":[TWO],"finished":[ONE],"failed":[{"machine":0,"lost":[2],"time":15.0}],"free":[0]}"#.replace("TWO", TWO);
    let later = [
        r#"{"type":"pass","now":30.0,"submitted":[],"finished":[],"repaired":[{"machine":0,"time":30.0}],"free":[4]}"#,
        r#"{"type":"pass","now":40.0,"submitted":[{"job":3,"submit":40.0,"processors":4,"requested":5.0,"user":null}],"finished":[],"free":[2]}"#,
        r#"{"type":"pass","now":50.0,"submitted":[],"finished":[{"job":2,"machine":0,"time":50.0}],"free":[4]}"#,
        r#"{"type":"pass","now":55.0,"submitted":[],"finished":[{"job":3,"machine":0,"time":55.0}],"free":[4]}"#,
        r#"{"type":"end"}"#,
    ];
    let [at_30, at_40, at_50, at_55, end] = later;
    let check = |ready: &str, further: &[&str], expected: &[&str]| {
        const NONE: &str = r#"{"start":[]}"#;
        // A wake-up after the last end does not extend the run.
        let rest = [NONE, r#"{"start":[2]}"#, NONE, r#"{"start":[3]}"#, r#"{"start":[],"wake":99.0}"#];
        let (found, outcome) = told(&[&[ready, r#"{"start":[1,2]}"#], further, &rest].concat());
        assert!(found == expected && outcome.is_ok(), "{ready}: {outcome:?}: {found:#?}");
    };
    let with_one = at_15.replace("ONE", r#"{"job":1,"machine":0,"time":10.0}"#);
    let timed = [HELLO, &at_0, &with_one, at_30, at_40, at_50, end];
    check(r#"{"type":"ready","protocol":2}"#, &[], &timed);
    let times = [10, 15, 30, 50].map(|time| format!(r#","time":{time}.0"#));
    let without = |line: &str| times.iter().fold(line.to_owned(), |line, time| line.replace(time, ""));
    let untimed = timed.map(without);
    check(r#"{"type":"ready","protocol":1}"#, &[], &untimed.each_ref().map(String::as_str));
    let every = [HELLO, &at_0, at_10, at_12, &at_15.replace("ONE", ""), at_30, at_40, at_50, at_55, end];
    let further = [r#"{"start":[],"wake":12.5}"#, r#"{"start":[]}"#];
    check(r#"{"type":"ready","protocol":2,"every":"event"}"#, &further, &every);

    for ready in [r#"{"type":"ready","protocol":1,"every":"event"}"#, r#"{"type":"ready","protocol":3}"#] {
        let (_, outcome) = told(&[ready]);
        let words = outcome.expect_err(ready);
        assert!(words.contains(r#""protocol":2,"every":"event""#), "{words}");
    }
}
