//! Damaged files: every reader accepts or refuses them, with a message about the file, and never panics.
//!
//! The inputs of a reader are valid samples with a few edits. proptest draws the edits, and removes from a failing input
//! those that it does not need. Inputs that once were a fault are in `damaged/corpus/READER/`.

mod readers;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_oneof};
use proptest::sample::{Index, select};
use proptest::test_runner::{TestCaseError, TestRunner};
use readers::{ACCOUNTS, CONF, NAME, faultless, parsed};
use replay::simulate::read;
use slurm_sched::accounts::Accounts;
use slurm_sched::read_csv;
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::{fmt, fs};

/// Limit of the processor time of a case, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;

/// Limit of the memory that the cases of a reader add to the peak of the program, in KiB.
const LARGEST: u64 = 1 << 20;

/// Values put in place of a number or a name, separated by spaces; one is empty.
const ODD: &str = "-1 0 1 -0 -2 +5 007 0.5 .5 5. 1.999999999 0.9999999999 -1.0 -1.5 1e3 1e400 -1e3 1.5e-9 1E9 4294967295 \
    4294967296 4294967295.999999999 2147483648 9223372036854775807 9223372036854775808 18446744073709551615 \
    18446744073709551616 99999999999999999999999999999999999999 nan inf -inf NaN 0x10 1,5 12:30 1_000 --1 -  １ é \
    \u{1b}[2J \0 \"1\" true [[]] 1979-05-27 \"4294967295-4294967295\"";

/// Bytes that a transfer or an editor adds.
const STRANGE: [&[u8]; 6] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\r", b"\n\n", b"\t"];

/// Bytes between words.
const BLANKS: &[u8] = b" \t\r\n|,:=+[]{}\"";

/// Kind of change, its place and a second one as shares of the file, and new content.
type Edit = (u8, Index, Index, Vec<u8>);

fn edit() -> impl Strategy<Value = Edit> {
    let content = prop_oneof![
        60 => (0..100_u32).prop_map(|number| number.to_string().into()),
        20 => any::<u32>().prop_map(|number| number.to_string().into()),
        60 => select(ODD.split(' ').collect::<Vec<_>>()).prop_map(Into::into),
        // Deep nesting, for recursive parsers.
        1 => (0..4_000_usize).prop_map(|depth| vec![b'['; depth]),
    ];
    (0..100_u8, any::<Index>(), any::<Index>(), content)
}

fn apply(out: &mut Vec<u8>, (kind, at, other, content): &Edit) {
    let place = at.index(out.len() + 1);
    match kind {
        // Rarely, because most damaged bytes stop the parser early.
        0 => out.truncate(place),
        1 => drop(out.drain(place..(place + other.index(24)).min(out.len()))),
        2 => out.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1 << other.index(8)),
        3 | 4 => {
            let place = if *kind == 3 { 0 } else { place };
            drop(out.splice(place..place, STRANGE[other.index(STRANGE.len())].iter().copied()));
        }
        // A word or a line, a run of bytes between separators, is replaced.
        _ => {
            let separators = if *kind < 15 { b"\n" } else { BLANKS };
            let mut words: Vec<Range<usize>> = Vec::new();
            let mut from = 0;
            for word in out.split(|byte| separators.contains(byte)) {
                words.extend((!word.is_empty()).then_some(from..from + word.len()));
                from += word.len() + 1;
            }
            if words.is_empty() {
                return;
            }
            let other = &out[other.get(&words).clone()];
            let value = match kind % 10 {
                0 | 1 => other.to_vec(),
                2 => [other, b"\n", other].concat(),
                _ => content.clone(),
            };
            drop(out.splice(at.get(&words).clone(), value));
        }
    }
}

/// Content of a file, shown as text.
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

/// Returns the first number behind `name` in a file of this process or thread; `None` on other systems than Linux, which have no limits.
fn of_linux(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.split_once(name)?.1.split_whitespace().next()?.parse().ok()
}

/// Feeds samples, corpus and damaged samples to a reader, which returns true if it accepts one, and a broken promise as an error.
fn check(name: &str, samples: &[&'static [u8]], read: fn(&[u8]) -> Result<bool, String>) {
    let time = || of_linux("/proc/thread-self/schedstat", "").unwrap_or(0);
    let memory = || of_linux("/proc/self/status", "VmHWM:").unwrap_or(0);
    let before = memory();
    samples.iter().for_each(|sample| assert_eq!(read(sample), Ok(true), "{name}"));
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/damaged/corpus").join(name);
    for entry in fs::read_dir(corpus).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        // The output of a test is shown if it fails.
        println!("{}", path.display());
        assert_eq!(read(&fs::read(&path).expect("a file")).err(), None);
    }
    let accepted = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let input = (select(samples.to_vec()), vec(edit(), 0..6)).prop_map(|(sample, edits)| {
        let mut input = sample.to_vec();
        edits.iter().for_each(|edit| apply(&mut input, edit));
        Input(input)
    });
    let judged = runner.run(&input, |Input(input)| {
        let begin = time();
        accepted.set(accepted.get() + u32::from(read(&input).map_err(TestCaseError::fail)?));
        prop_assert!(time() - begin < LONGEST, "it takes {} ns", time() - begin);
        Ok(())
    });
    judged.unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert!(memory() < before + LARGEST, "{name}: it takes {} KiB", memory() - before);
    // Inputs with the same verdict would test little.
    let (cases, accepted) = (runner.config().cases, accepted.get());
    let few = cases / 50;
    assert!(cases < 200 || (few..=cases - few).contains(&accepted), "{name}: {accepted} of {cases} accepted");
}

macro_rules! tests {
    ($($name:ident: $read:expr, $($sample:expr),+;)+) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), &[$(&$sample[..]),+], $read);
        })+
    };
}

tests! {
    swf: readers::swf, include_bytes!("damaged/samples/log.swf"), include_bytes!("damaged/samples/log21.swf");
    packed: readers::packed, include_bytes!("damaged/samples/log.swf.gz");
    sacct: readers::sacct, include_bytes!("damaged/samples/jobs.sacct");
    clusters: |input| parsed(input, read::clusters), include_bytes!("damaged/samples/clusters.toml");
    tree: |input| parsed(input, read::tree), include_bytes!("damaged/samples/tree.toml");
    experiment: |input| parsed(input, experiment::check_text), include_bytes!("damaged/samples/experiment.toml");
    machines: readers::machines, include_bytes!("damaged/samples/machines");
    slurm_conf: readers::slurm_conf, CONF.as_bytes();
    slurm_accounts: |input| faultless(input, |text| Accounts::read(NAME, text).map(drop)), ACCOUNTS.as_bytes();
    slurm_jobs: |input| faultless(input, |text| read_csv(NAME, text).map(drop)), include_bytes!("damaged/samples/jobs.csv");
    slurm_log: readers::slurm_log, include_bytes!("damaged/samples/slurmctld.log");
}
