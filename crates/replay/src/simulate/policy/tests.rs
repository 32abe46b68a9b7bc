use super::*;
use sim_core::{JobId, Sim, Time};

#[test]
fn a_run_under_any_name_is_forked_with_its_policy_and_goes_on_in_another_thread() {
    let predicting = ["easy+predict=tsafrir+correct=tsafrir+backfill=spf", "cons+predict=mean-of-user=2"];
    let jobs = (0..200).map(|id: u32| {
        let (draw, seconds) = (u64::from(id * id % 97), Span::from_secs);
        let mut job = Job::new(JobId(id), Time::from_secs(u64::from(id) * 9), 1 + id * 7 % 11, seconds(5 + draw));
        (job.request.estimate, job.request.user) = (Some(seconds(2 * draw + 60)), Some(id % 5));
        job.request.deadline = Some(job.submit + seconds(4 * draw));
        job
    });
    let nodes = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    std::fs::write(nodes.path(), "[[nodes]]\ncount = 12\ncpus = 1\n").expect("written");
    let slurm = format!("slurm+conf={}", nodes.path().display());
    let names = BASES.iter().map(|base| base.name).chain(predicting).chain(ALIASES.map(|(alias, _)| alias));
    for name in names.map(|name| if name == "slurm" { &*slurm } else { name }) {
        let both = vec![Machine::new(12), Machine::new(11)];
        let machines = if name == slurm { vec![Machine::new(12)] } else { both };
        let world = machines_under(name, machines, jobs.clone()).expect(name);
        let mut sim = Sim::new(world, Vec::new());
        sim.run_until(Time::from_secs(900));
        let (past, fork) = (sim.probe().len(), sim.fork(Vec::new()));
        let (_, forked) = std::thread::spawn(move || fork.run()).join().expect(name);
        let (_, whole) = sim.run();
        // Each job is submitted, starts and ends.
        assert!(past > 120 && whole.len() == 600, "{name}: {past} of {}", whole.len());
        assert_eq!(forked, whole[past..], "{name}");
    }
}
