//! Logs that a paper runs on: find, unpack, verify by hash, read and hold.
//!
//! [`logs!`](crate::logs!) declares them. Before a run, the laboratory searches for each in the folder that `--traces` or the environment
//! variable [`VARIABLE`] names ([`Paper::with_traces`](crate::paper::Paper::with_traces)). If one is missing, `reproduce` and
//! `doubt` skip the paper and name it ([`Missing`]).

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use rand::Rng as _;
use sha2::{Digest, Sha256};
use sim_core::{Job, Purpose, Streams};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workload::{Estimates, HeldLog, InputError, Options, SwfReader};

/// The environment variable that names the folder of logs.
pub const VARIABLE: &str = "GRID_TRACES";

/// Declares the logs of a paper, within its `impl Paper`: file, and SHA-256 of the unpacked text. The paper has a field `logs` of the type
/// [`Logs`](crate::paper::logs::Logs), which receives them. docs/extending.md ("A paper over logs") shows it.
#[macro_export]
macro_rules! logs {
    ($($file:literal = $sha256:literal),+ $(,)?) => {
        const LOGS: &'static [(&'static str, &'static str)] = &[$(($file, $sha256)),+];

        fn with_traces(self, traces: ::core::option::Option<&::std::path::Path>) -> $crate::paper::Result<Self> {
            Ok(Self { logs: $crate::paper::logs::Logs::read(Self::LOGS, traces)?, ..self })
        }
    };
}

/// Error: a log that is not available.
#[derive(Debug, thiserror::Error)]
#[error(
    "{file} was not found; download it from the Parallel Workloads Archive, \
     https://www.cs.huji.ac.il/labs/parallel/workload/, and name its folder with --traces DIR or {VARIABLE}"
)]
pub struct Missing {
    file: &'static str,
}

/// A log that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// Number of processors of its machine in the header: MaxProcs, or else MaxNodes.
    pub processors: u32,
    /// Its jobs, repaired under the rules of [`workload::Intake`].
    pub held: HeldLog,
    text: Arc<[u8]>,
}

/// The logs of a paper.
#[derive(Clone, Debug, Default)]
pub struct Logs(Vec<(&'static str, Log)>);

impl Logs {
    /// Reads the declared logs; fails with [`Missing`] if one is not found, and if its hash is another.
    pub fn read(declared: &[(&'static str, &'static str)], traces: Option<&Path>) -> Result<Self> {
        let read = |&(file, sha256): &(&'static str, &'static str)| {
            let path = find(file, traces).ok_or(Missing { file })?;
            Ok((file, Log::read(&path, sha256)?))
        };
        Ok(Self(crate::run::parallel::in_parallel(declared, read)?))
    }

    /// Returns the log whose file name begins with `name`: `KTH-SP2`.
    ///
    /// # Panics
    ///
    /// If the paper declares no such log.
    pub fn of(&self, name: &str) -> &Log {
        let found = self.0.iter().find(|(file, _)| file.starts_with(name));
        &found.unwrap_or_else(|| panic!("logs! declares no {name}")).1
    }
}

impl Log {
    fn read(path: &Path, expected: &str) -> Result<Self> {
        let (text, sha256) = unpacked(path)?;
        let name = path.display().to_string();
        ensure!(
            sha256 == expected,
            "{name}: this is another log: its SHA-256, unpacked, is {sha256}, and not {expected}"
        );
        let text: Arc<[u8]> = text.into();
        let records = SwfReader::from_read(&name, Cursor::new(Arc::clone(&text)))?;
        let header = records.header();
        let processors = header.max_procs.or(header.max_nodes);
        let processors = processors.with_context(|| format!("{name}: its header has neither MaxProcs nor MaxNodes"))?;
        let (held, _) = HeldLog::read(records, Options::default())?;
        Ok(Self { processors, held, text })
    }

    /// Returns its records, unrepaired.
    pub fn records(&self) -> SwfReader {
        SwfReader::from_read("a log", Cursor::new(Arc::clone(&self.text))).expect("it was read before")
    }

    /// Returns the jobs for a simulation. Drawn estimates differ between replications.
    pub fn jobs(&self, estimates: Estimates, streams: &Streams) -> impl Iterator<Item = Job> + use<> {
        let seed = streams.stream(Purpose("estimates of a log"), 0).next_u64();
        self.held.with_estimates(estimates, seed).into_iter()
    }
}

/// Returns the path of a log, plain or packed, in the folder `traces` or else in the folder that the environment names.
pub fn find(file: &str, traces: Option<&Path>) -> Option<PathBuf> {
    let folder = traces.map(Path::to_owned).or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from))?;
    let plain = file.strip_suffix(".gz").unwrap_or(file);
    [plain.to_owned(), format!("{plain}.gz")].map(|file| folder.join(file)).into_iter().find(|path| path.is_file())
}

/// Returns the text of a log, unpacked if it is packed, and its SHA-256; fails if the file cannot be read.
pub fn unpacked(path: &Path) -> Result<(Vec<u8>, String), InputError> {
    let failed = |source| InputError::reading(path, source);
    let mut text = std::fs::read(path).map_err(failed)?;
    if text.starts_with(&[0x1f, 0x8b]) {
        let packed = std::mem::take(&mut text);
        MultiGzDecoder::new(&packed[..]).read_to_end(&mut text).map_err(failed)?;
    }
    let sha256 = hex::encode(Sha256::digest(&text));
    Ok((text, sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 1 -1 -1 -1 -1 -1\n";
    const HASH: &str = "9aae7312c205960b2458eba3ee406b5f7a474eb5230d473a7b709edc9abadc16";

    fn read(sha256: &'static str) -> Result<Logs> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("KTH.swf"), TEXT)?;
        Logs::read(&[("KTH.swf.gz", sha256)], Some(folder.path()))
    }

    #[test]
    fn a_log_is_found_by_its_name_plain_or_packed_and_verified_by_its_hash_or_reported() {
        let logs = read(HASH).expect("it is there");
        assert_eq!((logs.of("KTH").processors, logs.of("KTH").held.jobs().len()), (8, 1));
        let refusal = read("0").expect_err("another hash").to_string();
        assert!(refusal.contains("this is another log") && refusal.contains(HASH), "{refusal}");
        let error = Logs::read(&[("no.swf.gz", "0")], Some(Path::new("no folder"))).expect_err("there is none");
        assert!(error.is::<Missing>() && error.to_string().starts_with("no.swf.gz was not found"), "{error}");
    }
}
