use super::{Command, Exec};
use crate::simulate::held::Placement;
use crate::simulate::own::Own;
use crate::simulate::policy;
use gap_schedule::{Machine, MultiCluster, Policy, QueuedJob, RunningJob, Starts, View};
use sim_core::{Job, JobId, Outage, Sim, SiteId, Span, Time};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use test_data::Need;
use workload::{Estimates, HeldLog, Options, SwfReader};

#[test]
fn the_name_of_a_program_is_legal_as_the_name_of_a_folder() {
    let check = |text: &str, expected: &str| assert_eq!(Command::parse(text).unwrap().name(), expected);
    check("./mine.py", "exec+mine.py");
    check("/home/me/mine.py", "exec+mine.py");
    check("python3 policies/mine.py --aging=0.5", "exec+python3_mine.py_--aging=0.5");
    check("mine.py a:b", "exec+mine.py_a_b");
    assert!(Command::parse(" ").is_err());
}

/// Three jobs on a machine that fails: the first ends while no job waits, the second is lost and starts again, the third waits
/// for it.
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
    const JOBS: [&str; 3] = [
        r#"{"job":1,"submit":0.0,"processors":2,"requested":10.0,"user":null}"#,
        r#"{"job":2,"submit":0.0,"processors":2,"requested":20.0,"user":null}"#,
        r#"{"job":3,"submit":40.0,"processors":4,"requested":5.0,"user":null}"#,
    ];
    let [one, two, three] = JOBS;
    let first = format!(r#"{{"type":"pass","now":0.0,"submitted":[{one},{two}],"finished":[],"free":[4]}}"#);
    let repeated = format!(r#"{{"type":"pass","now":40.0,"submitted":[{three}],"finished":[],"free":[2]}}"#);
    let lines = |at_10: Option<&str>, finished: &str, timed: [&str; 4], at_55: Option<&str>| -> Vec<String> {
        let [ended, failed, repaired, second] = timed;
        let mut lines = vec![HELLO.to_owned(), first.clone()];
        lines.extend(at_10.map(str::to_owned));
        let finished = format!("{finished}{ended}");
        lines.push(format!(
            r#"{{"type":"pass","now":15.0,"submitted":[{two}],"finished":[{finished}],"failed":[{{"machine":0,"lost":[2]{failed}}}],"free":[0]}}"#
        ));
        lines.push(format!(
            r#"{{"type":"pass","now":30.0,"submitted":[],"finished":[],"repaired":[{{"machine":0{repaired}}}],"free":[4]}}"#
        ));
        lines.push(repeated.clone());
        lines.push(format!(
            r#"{{"type":"pass","now":50.0,"submitted":[],"finished":[{{"job":2,"machine":0{second}}}],"free":[4]}}"#
        ));
        lines.extend(at_55.map(str::to_owned));
        lines.push(r#"{"type":"end"}"#.to_owned());
        lines
    };
    let check = |ready: &str, further: &[&str], expected: &[String]| {
        const NONE: &str = r#"{"start":[]}"#;
        // A wake-up after the last end does not extend the run.
        let rest = [NONE, r#"{"start":[2]}"#, NONE, r#"{"start":[3]}"#, r#"{"start":[],"wake":99.0}"#];
        let (found, outcome) = told(&[&[ready, r#"{"start":[1,2]}"#], further, &rest].concat());
        assert_eq!((found.as_slice(), outcome), (expected, Ok(())), "{ready}");
    };
    let untimed = r#"{"job":1,"machine":0}"#;
    check(r#"{"type":"ready","protocol":1}"#, &[], &lines(None, untimed, [""; 4], None));
    let timed = [r#","time":10.0}"#, r#","time":15.0"#, r#","time":30.0"#, r#","time":50.0"#];
    let open = r#"{"job":1,"machine":0"#;
    check(r#"{"type":"ready","protocol":2}"#, &[], &lines(None, open, timed, None));
    let at_10 =
        r#"{"type":"pass","now":10.0,"submitted":[],"finished":[{"job":1,"machine":0,"time":10.0}],"free":[2]}"#;
    let at_55 =
        r#"{"type":"pass","now":55.0,"submitted":[],"finished":[{"job":3,"machine":0,"time":55.0}],"free":[4]}"#;
    let mut every = lines(Some(at_10), "", ["", timed[1], timed[2], timed[3]], Some(at_55));
    every.insert(3, r#"{"type":"pass","now":12.5,"submitted":[],"finished":[],"free":[2]}"#.to_owned());
    let further = [r#"{"start":[],"wake":12.5}"#, r#"{"start":[]}"#];
    check(r#"{"type":"ready","protocol":2,"every":"event"}"#, &further, &every);

    for ready in [r#"{"type":"ready","protocol":1,"every":"event"}"#, r#"{"type":"ready","protocol":3}"#] {
        let (_, outcome) = told(&[ready]);
        let words = outcome.expect_err(ready);
        assert!(words.contains(r#""protocol":2,"every":"event""#), "{words}");
    }
}

/// Twin of examples/policies/fair_share.py: waiting jobs start, if they fit, in order of the usage of their users.
#[derive(Default)]
struct FairShareTwin {
    /// Processor seconds of each user, and the time since which they have decayed.
    used: BTreeMap<Option<u32>, (f64, f64)>,
    /// Start and user of jobs that run.
    running: BTreeMap<JobId, (f64, Option<u32>)>,
}

impl FairShareTwin {
    const HALF_LIFE: f64 = 86_400.0;

    /// Usage halves every day, along straight lines in between: arithmetic that is the same in every language.
    fn decayed(&self, user: Option<u32>, now: f64) -> f64 {
        let (used, since) = self.used.get(&user).copied().unwrap_or_default();
        let half_lives = (now - since) / Self::HALF_LIFE;
        let whole = half_lives.floor();
        #[expect(clippy::cast_possible_truncation, reason = "days")]
        let halvings = 0.5_f64.powi(whole as i32);
        used * halvings * (1.0 - (half_lives - whole) / 2.0)
    }
}

impl Policy for FairShareTwin {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let (now, mut free) = (view.now.as_secs_f64(), view.free[0]);
        let mut queue: Vec<(f64, &QueuedJob)> =
            view.queue.iter().map(|job| (self.decayed(job.request.user, now), job)).collect();
        queue.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, job) in queue.into_iter() {
            if job.request.processors <= free {
                free -= job.request.processors;
                self.running.insert(job.job, (now, job.request.user));
                starts.push((job.job, SiteId(0)));
            }
        }
    }

    fn on_completion(&mut self, job: &RunningJob, _: SiteId, view: &View<'_>) {
        let now = view.now.as_secs_f64();
        let (start, user) = self.running.remove(&job.job).expect("it was started");
        let used = self.decayed(user, now) + f64::from(job.processors) * (now - start);
        self.used.insert(user, (used, now));
    }
}

#[test]
fn a_decayed_fair_share_in_python_starts_each_job_when_ours_does() {
    let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    if test_data::program(Need::Python, &["python3"]).is_none() {
        return;
    }
    let (held, _) = HeldLog::read(SwfReader::open(&log).expect("a log"), Options::default()).expect("a log");
    let jobs = held.with_estimates(Estimates::User, 0);
    let numbers: Vec<u64> = held.jobs().iter().map(|job| job.number).collect();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies/fair_share.py");
    let ours = Arc::new(Own::new("fair-share", "decayed fair share", || Box::new(FairShareTwin::default())));
    let placed = |name: &str| -> Vec<Placement> {
        let policy = policy::Policy::find(name, &[Arc::clone(&ours)]).expect("a policy");
        policy.replay(&[Machine::new(100)], &jobs, &numbers, Estimates::User, 0).expect("a schedule").0
    };
    let (ours, theirs) = (placed("fair-share"), placed(&format!("exec+python3 {}", program.display())));
    assert_eq!(ours.len(), 28_467);
    let differing = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count();
    assert_eq!(differing, 0, "of {} starts", ours.len());
    let waited =
        jobs.iter().zip(&ours).filter(|(job, placed)| placed.is_some_and(|(start, _)| start > job.submit)).count();
    assert!(waited > 5_000, "only {waited} jobs waited, so their order means little");
}
