//! Files of settings, and tables beside a log.

use super::Target;
use super::logs::{NAME, sane};
use gridproof::Lab;
use lab::registry::Entry;
use lab::reproduce::Request;
use replay::simulate::read;
use std::io::Cursor;
use std::sync::OnceLock;
use workload::Machines;
use workload::outages::OutageTrace;

macro_rules! sample {
    ($file:literal) => {
        || vec![include_bytes!(concat!("../samples/", $file)).to_vec()]
    };
}

pub(crate) const TARGETS: [Target; 6] = [
    Target::of("clusters", "clusters files", sample!("clusters.toml"), |input| parsed(input, read::clusters)),
    Target::of("tree", "tree files", sample!("tree.toml"), |input| parsed(input, read::tree)),
    Target::of("experiment", "files of experiments", sample!("experiment.toml"), |input| {
        parsed(input, replay::experiment::check_text)
    }),
    Target::of("machines", "machine files, as the simulator Alea writes them", sample!("machines"), check_machines),
    Target::of("outages", "traces of outages", sample!("outages.csv"), check_outages),
    Target::of("set", "scenarios of all papers under --set KEY=VALUE", sets, check_set),
];

/// Returns true if a value is accepted. The message of a refusal must have a reasonable length.
fn accepted<T>(result: anyhow::Result<T>) -> Result<bool, String> {
    let Err(error) = result else { return Ok(true) };
    let message = format!("{error:#}");
    if message.is_empty() || message.len() > 20_000 {
        return Err(format!("a message of {} bytes: {}", message.len(), message.chars().take(400).collect::<String>()));
    }
    Ok(false)
}

fn parsed(input: &[u8], parse: impl Fn(&str) -> anyhow::Result<()>) -> Result<bool, String> {
    std::str::from_utf8(input).map_or(Ok(false), |text| accepted(parse(text)))
}

fn check_machines(input: &[u8]) -> Result<bool, String> {
    let machines = match Machines::from_read(NAME, Cursor::new(input.to_vec())) {
        Err(error) => return sane(error).map(|()| false),
        Ok(machines) => machines,
    };
    let sum: u64 = machines.clusters().iter().map(|cluster| u64::from(cluster.processors())).sum();
    if sum == 0 || sum != u64::from(machines.total_processors()) {
        return Err(format!("{} processors in {machines:?}", machines.total_processors()));
    }
    let names: std::collections::BTreeSet<&str> =
        machines.clusters().iter().map(|machine| machine.name.as_str()).collect();
    let are_own = names.len() == machines.clusters().len();
    are_own.then_some(true).ok_or_else(|| format!("a name that is not its own: {machines:?}"))
}

/// Checks that outages are of an existing machine, in order, and that each ends after it began.
fn check_outages(input: &[u8]) -> Result<bool, String> {
    let trace = match OutageTrace::from_read(NAME, Cursor::new(input.to_vec()), &["zewura", "zegox"]) {
        Err(error) => return sane(error).map(|()| false),
        Ok(trace) => trace,
    };
    let (mut is_sound, mut last) = (true, sim_core::Time::ZERO);
    for outage in trace {
        match outage {
            Err(error) => {
                sane(error)?;
                is_sound = false;
            }
            Ok(outage) if outage.site.index() > 1 || outage.down < last || outage.up < outage.down => {
                return Err(format!("after {last:?}: {outage:?}"));
            }
            Ok(outage) => last = outage.down,
        }
    }
    Ok(is_sound)
}

fn papers() -> &'static [Entry] {
    static PAPERS: OnceLock<Vec<Entry>> = OnceLock::new();
    PAPERS.get_or_init(|| Lab::standard().papers().to_vec())
}

/// Returns a sample for every key of every scenario: `SLUG`, then two lines `KEY=VALUE`.
fn sets() -> Vec<Vec<u8>> {
    let of = |paper: &Entry| {
        let keys = (paper.keys)().unwrap_or_else(|error| panic!("a built-in scenario: {error:#}"));
        let pairs = keys.iter().zip(keys.iter().cycle().skip(1));
        pairs.map(|(one, two)| format!("{}\n{one}=1\n{two}=2\n", paper.about.slug).into_bytes()).collect::<Vec<_>>()
    };
    papers().iter().flat_map(of).collect()
}

fn check_set(input: &[u8]) -> Result<bool, String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(false) };
    let mut lines = text.lines();
    let slug = lines.next();
    let Some(paper) = papers().iter().find(|paper| Some(paper.about.slug) == slug) else { return Ok(false) };
    accepted((paper.check)(&Request { set: lines.map(str::to_owned).collect(), ..Request::default() }))
}
