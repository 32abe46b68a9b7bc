//! Files of a Slurm cluster: slurm.conf, the dump of sacctmgr, the log of slurmctld.

use super::Target;
use super::logs::{NAME, sane};
use slurm_sched::accounts::Accounts;
use slurm_sched::conf::Conf;
use slurm_sched::error::Faults;
use slurm_sched::workload::{Request, SubmittedJob};
use slurm_sched::{Ended, Events, Phases, Report, Site, Terms, Version, follow, simulate, version_of};
use std::sync::OnceLock;

const CONF: &str = include_str!("../samples/slurm.conf");
const ACCOUNTS: &str = include_str!("../samples/cluster.cfg");
const LOG: &[u8] = include_bytes!("../samples/slurmctld.log");

pub(crate) const TARGETS: [Target; 3] = [
    Target::of(
        "slurm-conf",
        "slurm.conf: read; some jobs run under it, and no node is held twice",
        || vec![CONF.into()],
        check_conf,
    ),
    Target::of(
        "slurm-accounts",
        "dumps of sacctmgr: read; accounts stand above their users, whose jobs run",
        || vec![ACCOUNTS.into()],
        check_accounts,
    ),
    Target::of(
        "slurm-log",
        "slurmctld.log: read and followed, with every decision compared",
        || vec![LOG.to_vec()],
        check_log,
    ),
];

/// The value, or nothing if it is refused in words that lead to each fault.
fn accepted<T>(read: Result<T, Faults>) -> Result<Option<T>, String> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(faults) => faults.0.iter().try_for_each(sane).map(|()| None),
    }
}

/// The site of a text and of a sample, under the rules of either version.
fn site(conf: &str, accounts: &str) -> Result<Option<Site>, String> {
    let version = Version::ALL[(conf.len() + accounts.len()) % 2];
    let (conf, accounts) = (Conf::read(NAME, conf, version, &[]), Accounts::read(NAME, accounts));
    let (conf, accounts) = (accepted(conf)?, accepted(accounts)?);
    Ok(conf.zip(accounts).map(|(conf, accounts)| Site { conf, accounts: Some(accounts), version }))
}

/// Eight jobs of the users, in turn, sent to the partitions in turn.
fn jobs(site: &Site) -> Vec<SubmittedJob> {
    let partitions: Vec<&str> = site.conf.partitions.iter().map(|partition| partition.name.as_str()).collect();
    let accounts = site.accounts.iter().flat_map(|accounts| &accounts.associations);
    let users: Vec<(&str, &str)> =
        accounts.filter_map(|own| Some((own.user.as_deref()?, own.account.as_str()))).collect();
    let job = |id: u32| {
        let at = id as usize;
        let (user, account) = users.get(at % users.len().max(1)).copied().unwrap_or(("root", "root"));
        let request = Request {
            user: Some(user.to_owned()),
            account: Some(account.to_owned()),
            partitions: partitions
                .get(at % partitions.len().max(1))
                .map(|name| vec![(*name).to_owned()])
                .unwrap_or_default(),
            nodes: Some(1 + id * 5 % 4),
            exclusive: true,
            ..Request::default()
        };
        let (submit, run) = (40 * i64::from(id), i64::from(700 - 80 * id));
        SubmittedJob {
            id,
            line: at,
            submit,
            run,
            limit: (!id.is_multiple_of(3)).then_some(60 * i64::from(id)),
            request,
            ..SubmittedJob::default()
        }
    };
    (1..9).map(job).collect()
}

/// Fails if two jobs have a node at the same time, or a job ends before it starts. One input in sixteen is run: a run takes as long as
/// many readings.
fn sound_run(site: &Site, input: &[u8]) -> Result<(), String> {
    let jobs = jobs(site);
    if !input.len().is_multiple_of(16) || site.conf.nodes.len() > 1_000 || site.check(NAME, &jobs).is_err() {
        return Ok(());
    }
    let mut ends: Vec<Ended> = Vec::new();
    let terms = Terms { start: 1_700_000_000, zero: 1_700_000_200, phases: Phases::default() };
    simulate(site, &jobs, terms, |report| {
        if let Report::Ended(ended) = report {
            ends.push(ended)
        }
    });
    for (at, one) in ends.iter().enumerate() {
        let meets = |other: &&Ended| other.start < one.end && one.start < other.end;
        let shares = |other: &Ended| other.nodes.iter().any(|node| one.nodes.contains(node));
        if one.end < one.start || ends[at + 1..].iter().filter(meets).any(shares) {
            return Err(format!("a node is held twice, or a job ends too early: {ends:?}"));
        }
    }
    Ok(())
}

fn check_conf(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let Some(site) = site(text, ACCOUNTS)? else { return Ok(false) };
    let mut nodes = site.conf.partitions.iter().flat_map(|partition| &partition.nodes);
    if nodes.any(|node| *node >= site.conf.nodes.len()) {
        return Err(format!("a partition has nodes that are not there: {:?}", site.conf.partitions));
    }
    sound_run(&site, input).map(|()| true)
}

fn check_accounts(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let Some(site) = site(CONF, text)? else { return Ok(false) };
    let all = &site.accounts.as_ref().expect("it was read").associations;
    let is_below =
        |(at, parent): (usize, Option<usize>)| parent.is_none_or(|parent| parent < at && all[parent].user.is_none());
    if !all.iter().map(|own| own.parent).enumerate().all(is_below) {
        return Err(format!("an association stands above its account: {all:?}"));
    }
    sound_run(&site, input).map(|()| true)
}

fn check_log(input: &[u8]) -> Result<bool, String> {
    static SAMPLES: OnceLock<Site> = OnceLock::new();
    let samples = || site(CONF, ACCOUNTS).expect("they are sound").expect("they are sound");
    let site = SAMPLES.get_or_init(samples);
    if let Err(error) = version_of(Events::new(input)) {
        sane(format!("{NAME}: {error}"))?;
    }
    match follow(site, &jobs(site), Events::new(input)) {
        Err(error) => sane(format!("{NAME}: {error}")).map(|()| false),
        Ok(found) if found.is_equal() == found.first_difference.is_some() => {
            Err(format!("it contradicts itself: {found:?}"))
        }
        Ok(_) => Ok(true),
    }
}
