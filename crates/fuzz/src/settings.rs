//! Settings: scenarios and `--set`, clusters, trees, names of policies, transcripts, and what a policy that is a program answers.

use super::Target;
use super::dice::Dice;
use super::scratch;
use super::text::{mutate, number, odd};
use gridproof::Lab;
use lab::registry::Entry;
use lab::reproduce::Request;
use replay::simulate::read;
use sim_core::{Fact, Job, JobId, Span, Time};
use std::collections::BTreeSet;
use std::sync::OnceLock;

fn target(
    name: &'static str,
    about: &'static str,
    extension: &'static str,
    make: fn(&mut Dice<'_>) -> Vec<u8>,
    check: super::Check,
) -> Target {
    Target { name, about, extension, make, check }
}

pub(crate) fn targets() -> Vec<Target> {
    vec![
        target("set", "scenarios of all papers under --set KEY=VALUE", "txt", set, check_set),
        target("clusters", "clusters files", "toml", |dice| toml(dice, CLUSTERS), check_clusters),
        target("tree", "tree files", "toml", |dice| toml(dice, TREE), check_tree),
        target("experiment", "files of experiments", "toml", |dice| toml(dice, EXPERIMENT), check_experiment),
        target("names", "names of policies with their settings", "txt", name, check_name),
        target("transcript", "transcripts of messages", "jsonl", |dice| toml(dice, MESSAGES), check_transcript),
        target("protocol", "what a policy answers that is a program of its own", "jsonl", answers, check_answers),
    ]
}

const CLUSTERS: &str = "mpl = 3\ntask_overhead = 0.1\n[local_users]\ncpu = 0.2\n[jobs]\ncpu = 0.5\nmemory = 100\n\
    [readings]\nmpl_beside_users = 1\n[[cluster]]\nname = \"a\"\nnodes = 4\n[[cluster]]\nname = \"b\"\nnodes = 2\n\
    speed = 2.0\nmemory = 4096\nlocal_users = true\n";

const TREE: &str = "tree = [[\"a\", \"b\"], [\"c\"]]\nbackbones = 1\nnets = 3\nsystems = [\"linux\", \"mac\"]\nlocal_load = 0.2\n\
    [jobs]\ntime = \"work\"\ninput = 100\noutput = 500.0\n[[site]]\nname = \"a\"\nstations = 2\n[[site.servers]]\ncpus = 4\n\
    count = 2\n[[site]]\nname = \"b\"\n[[site.servers]]\ncpus = 1\nsystems = [\"linux\"]\n[[site]]\nname = \"c\"\n";

const EXPERIMENT: &str = include_str!("../../../crates/replay/src/experiment/init.toml");

const MESSAGES: &str = include_str!("messages.jsonl");

/// A sound text in which values are exchanged, lines are lost, doubled or moved, and the usual accidents happen.
fn toml(dice: &mut Dice<'_>, sound: &str) -> Vec<u8> {
    let mut lines: Vec<String> = sound.lines().map(str::to_owned).collect();
    for _ in 0..dice.below(4) {
        let at = dice.below(lines.len());
        match dice.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(dice.below(lines.len()), lines[at].clone()),
            2 => {
                let other = dice.below(lines.len());
                lines.swap(at, other);
            }
            _ => {
                if let Some((key, _)) = lines[at].split_once('=') {
                    let value = value(dice);
                    lines[at] = format!("{key}= {value}");
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    let mut out = lines.join("\n").into_bytes();
    out.push(b'\n');
    mutate(dice, &mut out);
    out
}

/// Any value of TOML, and some that are none.
fn value(dice: &mut Dice<'_>) -> String {
    match dice.below(8) {
        0 => format!("\"{}\"", odd(dice).escape_default()),
        1 => odd(dice).to_owned(),
        2 => dice
            .pick(&["true", "[]", "[[]]", "{}", "\"4-2-5\"", "\"4294967295-4294967295\"", "[\"a\"]", "1979-05-27"])
            .to_owned(),
        3 => format!("[{}, {}]", dice.below(100), dice.below(100)),
        4 => "[".repeat(dice.below(3_000)),
        _ => {
            let mut out = Vec::new();
            number(dice, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}

fn text_of(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

/// A refusal is a sentence, and no wall of text.
fn refused(error: &anyhow::Error) -> Result<bool, String> {
    let message = format!("{error:#}");
    if message.is_empty() || message.len() > 20_000 {
        return Err(format!("a message of {} bytes: {}", message.len(), message.chars().take(400).collect::<String>()));
    }
    Ok(false)
}

fn papers() -> &'static [Entry] {
    static PAPERS: OnceLock<Vec<Entry>> = OnceLock::new();
    PAPERS.get_or_init(|| Lab::standard().papers().to_vec())
}

/// Every key of every scenario.
fn keys() -> &'static [(usize, String)] {
    static KEYS: OnceLock<Vec<(usize, String)>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let of = |(number, paper): (usize, &Entry)| {
            let keys = paper.keys().unwrap_or_else(|error| panic!("a built-in scenario: {error:#}"));
            keys.into_iter().map(move |key| (number, key)).collect::<Vec<_>>()
        };
        papers().iter().enumerate().flat_map(of).collect()
    })
}

/// `SLUG KEY=VALUE`, one or two.
fn set(dice: &mut Dice<'_>) -> Vec<u8> {
    let (paper, key) = &keys()[dice.below(keys().len())];
    let mut out = format!("{}\n{key}={}\n", papers()[*paper].about.slug, value(dice)).into_bytes();
    if dice.one_in(3) {
        let others: Vec<&(usize, String)> = keys().iter().filter(|(number, _)| number == paper).collect();
        let (_, other) = others[dice.below(others.len())];
        out.extend(format!("{other}={}\n", value(dice)).bytes());
    }
    if dice.one_in(8) {
        mutate(dice, &mut out);
    }
    out
}

fn check_set(input: &[u8]) -> Result<bool, String> {
    let Some(text) = text_of(input) else { return Ok(false) };
    let mut lines = text.lines();
    let Some(paper) = papers().iter().find(|paper| Some(paper.about.slug) == lines.clone().next()) else {
        return Ok(false);
    };
    lines.next();
    match paper.check(&Request { set: lines.map(str::to_owned).collect(), ..Request::default() }) {
        Ok(()) => Ok(true),
        Err(error) => refused(&error),
    }
}

fn check_clusters(input: &[u8]) -> Result<bool, String> {
    let Some(text) = text_of(input) else { return Ok(false) };
    read::clusters(text).map_or_else(|error| refused(&error), |()| Ok(true))
}

fn check_tree(input: &[u8]) -> Result<bool, String> {
    let Some(text) = text_of(input) else { return Ok(false) };
    read::tree(text).map_or_else(|error| refused(&error), |()| Ok(true))
}

fn check_experiment(input: &[u8]) -> Result<bool, String> {
    let Some(text) = text_of(input) else { return Ok(false) };
    replay::experiment::check_text(text).map_or_else(|error| refused(&error), |()| Ok(true))
}

fn name(dice: &mut Dice<'_>) -> Vec<u8> {
    const BASES: [&str; 12] =
        ["fcfs", "easy", "cons", "best-gap", "bgt", "sg", "flex", "eg-edf", "eg-edf-tabu", "easy:8", "eazy", ""];
    const SETTINGS: [&str; 14] = [
        "reserve=",
        "reserve=all",
        "compress=reserved",
        "order=wfp3",
        "order=",
        "backfill=spf",
        "predict=tsafrir",
        "predict=mean-of-user=",
        "correct=doubling",
        "threshold=",
        "w=",
        "=",
        "reserve",
        "+",
    ];
    let mut out = dice.pick(&BASES).as_bytes().to_vec();
    for _ in 0..dice.below(4) {
        out.push(b'+');
        out.extend_from_slice(dice.pick(&SETTINGS).as_bytes());
        if dice.one_in(2) {
            number(dice, &mut out);
        }
    }
    if dice.one_in(4) {
        mutate(dice, &mut out);
    }
    out
}

/// A name that is understood is a folder's, and its normal form is its own.
fn check_name(input: &[u8]) -> Result<bool, String> {
    let Some(text) = text_of(input) else { return Ok(false) };
    let Ok(name) = read::policy(text) else { return Ok(false) };
    let is_folder = |letter: char| letter.is_ascii_alphanumeric() || "._-+=".contains(letter);
    if name.chars().all(is_folder) && read::policy(&name).as_ref() == Ok(&name) {
        return Ok(true);
    }
    Err(format!("{text:?} is {name:?}, and that is {:?}", read::policy(&name)))
}

fn check_transcript(input: &[u8]) -> Result<bool, String> {
    let path = scratch::put("transcript.jsonl", input)?;
    read::transcript(&path).map_or_else(|error| refused(&error), |_| Ok(true))
}

/// The lines that a program prints, whatever it is told: often those that start all four jobs.
fn answers(dice: &mut Dice<'_>) -> Vec<u8> {
    const ANSWERS: [&str; 14] = [
        "{\"start\":[]}",
        "{\"start\":[0]}",
        "{\"start\":[1]}",
        "{\"start\":[2,3]}",
        "{\"start\":[{\"job\":1,\"machine\":1}]}",
        "{\"start\":[],\"wake\":30}",
        "{\"start\":[],\"wake\":-1}",
        "{\"start\":[0,0]}",
        "{\"start\":[{\"job\":0,\"machine\":9}]}",
        "{\"start\":[],\"wake\":1e300}",
        "{}",
        "[]",
        "{\"start\":[18446744073709551616]}",
        "{\"start\":[],\"wake\":1e-9}",
    ];
    const READY: [&str; 3] = ["1", "2", "2,\"every\":\"event\""];
    let mut out = format!("{{\"type\":\"ready\",\"protocol\":{}}}\n", dice.pick(&READY));
    if dice.one_in(3) {
        for _ in 0..dice.below(8) {
            out += dice.pick(&ANSWERS);
            out.push('\n');
        }
    } else {
        out += "{\"start\":[0,1]}\n{\"start\":[]}\n{\"start\":[2]}\n{\"start\":[3]}\n";
    }
    let mut out = out.into_bytes();
    if dice.one_in(2) {
        mutate(dice, &mut out);
    }
    out
}

/// Whatever it answers, nothing wrong is done: no job starts twice or too early, and no processor is given twice.
fn check_answers(input: &[u8]) -> Result<bool, String> {
    let path = scratch::put("answers.jsonl", input)?;
    let job = |(id, submit, processors)| Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(10));
    let jobs = [(0, 0, 2), (1, 0, 1), (2, 5, 2), (3, 12, 1)].map(job).to_vec();
    // It prints its answers at once, and then listens. Whoever asks for more gets nonsense: silence would be waited for, and a program
    // that has gone away is another matter.
    let script = "cat \"$0\"; echo no more; exec cat > /dev/null";
    let words = ["sh", "-c", script, path.to_str().ok_or("a temporary folder with an odd name")?].map(str::to_owned);
    let told = match read::program(&words, &[2, 1], jobs) {
        Err(error) => return refused(&error),
        Ok(told) => told,
    };
    let (mut free, mut started) = ([2_u32, 1], BTreeSet::new());
    let mut place = std::collections::BTreeMap::new();
    for (now, fact) in &told {
        match *fact {
            Fact::Started { job, site, processors } => {
                let rest = free[site.index()].checked_sub(processors);
                free[site.index()] = rest.ok_or_else(|| format!("processors twice at {now:?}: {fact:?}"))?;
                if !started.insert(job) {
                    return Err(format!("twice: {fact:?}"));
                }
                place.insert(job, (site.index(), processors));
            }
            Fact::Finished { job } => {
                let (site, processors) = place[&job];
                free[site] += processors;
            }
            _ => {}
        }
    }
    Ok(started.len() == 4)
}
