//! `slurm.conf` in the form used by sites.
//!
//! [`Conf::read`] takes the file's text and overlays of the form `KEY=VALUE`. A setting that is not modelled and would change
//! decisions is rejected with file, line, key and fix; other settings that are not modelled are listed in [`Conf::not_modelled`].

mod cluster;
mod keys;
mod lines;
mod priority;
mod scheduling;

pub(crate) use cluster::usable;
pub use cluster::{Node, Partition};
pub use priority::PrioritySettings;
pub use scheduling::Scheduling;

use crate::error::{Collector, Fault, Faults};
use crate::site::hostlist::fold;
use crate::site::text;
use crate::site::version::Version;
use keys::Treatment;
use lines::{SettingLine, SettingLines};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Seconds of a year, which stands for an infinite time limit.
pub const YEAR: i64 = 365 * 86_400;

/// Settings of a cluster. Times are whole seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Conf {
    /// Nodes in configuration order.
    pub nodes: Vec<Node>,
    /// Partitions in configuration order.
    pub partitions: Vec<Partition>,
    /// `SchedulerParameters` and the timing of the loops.
    pub scheduling: Scheduling,
    /// `Priority*`.
    pub priority: PrioritySettings,
    /// True if `AccountingStorageEnforce` has `limits`, or a value that implies it: limits of associations and QOS
    /// apply, and usage is charged up to the end of a job.
    pub(crate) enforces_limits: bool,
    pub(crate) kill_wait: i64,
    /// True for `SelectType=select/linear`: each job takes whole nodes.
    pub(crate) select_linear: bool,
    /// True if `SelectTypeParameters` counts memory as a resource.
    pub(crate) memory_counts: bool,
    /// Settings that are read and not modelled, as `slurm.conf:12: Licenses`.
    pub not_modelled: Vec<String>,
    /// Files that `Include` lines name.
    pub included: Vec<PathBuf>,
}

impl Conf {
    /// Reads `text` of the file named `file`; each of `overlays` replaces settings.
    ///
    /// An overlay is `KEY=VALUE` with a key of slurm.conf or a parameter of SchedulerParameters, or a line such as
    /// `PartitionName=main PriorityTier=5`, which replaces these keys of that partition only. SchedulerParameters of an
    /// overlay are merged one by one. Lines `Include` are faults here; see [`Conf::load`].
    ///
    /// # Errors
    ///
    /// Returns all faults of the file and of the overlays.
    pub fn read(file: &str, text: &str, version: Version, overlays: &[&str]) -> Result<Self, Faults> {
        let mut no_files = |_: &str| Err("included files are not read here; insert the file's lines".to_owned());
        Self::build(file, text, version, overlays, &mut no_files)
    }

    /// Reads the file at `path` and the files that it includes, like [`Conf::read`].
    ///
    /// # Errors
    ///
    /// Returns all faults of the files and of the overlays.
    pub fn load(path: &Path, version: Version, overlays: &[&str]) -> Result<Self, Faults> {
        let name = path.display().to_string();
        let open = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"));
        let fault = |problem| Fault { file: name.clone(), line: 0, key: "file".to_owned(), problem };
        let text = open(path).map_err(|problem| Faults(vec![fault(problem)]))?;
        let mut included = Vec::new();
        let mut include = |other: &str| {
            included.push(path.parent().unwrap_or(path).join(other));
            open(&included[included.len() - 1])
        };
        let conf = Self::build(&name, &text, version, overlays, &mut include)?;
        Ok(Self { included, ..conf })
    }

    fn build(
        file: &str,
        text: &str,
        version: Version,
        overlays: &[&str],
        include: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, Faults> {
        let mut faults = Collector::new(file);
        let mut lines = SettingLines::default();
        lines.add_file(file, text, include, &mut faults);
        lines.add_overlays(overlays, &mut faults);
        let mut globals = Globals { settings: BTreeMap::new(), faults, not_modelled: Vec::new() };
        lines.globals.iter().for_each(|setting| globals.classify(setting));
        let scheduling = scheduling::read(&mut globals, &lines.parameters);
        let priority = priority::read(&mut globals, version);
        let (nodes, partitions) = cluster::read(&lines, &mut globals);
        let parameters = globals.text("SelectTypeParameters").unwrap_or_default().to_ascii_lowercase();
        let conf = Self {
            nodes,
            partitions,
            scheduling,
            priority,
            enforces_limits: globals.parsed("AccountingStorageEnforce", false, |value| {
                // SPEC 2.4: `qos` and `safe` imply `limits`.
                let is_limit = |word| text::is_among("limits qos safe all", word);
                let is_other = |word| text::is_among("associations wckeys none 0 no nojobs nosteps", word);
                let is_known = text::list(value).all(|word| is_limit(word) || is_other(word));
                let enforces = is_known.then(|| text::list(value).any(is_limit));
                enforces.ok_or("expected some of associations, limits, qos, safe, wckeys, all")
            }),
            kill_wait: globals.parsed("KillWait", 30, |text| text::whole(text).ok_or("expected a number of seconds")),
            select_linear: globals.text("SelectType").is_some_and(|value| value.eq_ignore_ascii_case("select/linear")),
            memory_counts: text::list(&parameters).any(|word| word.ends_with("memory")),
            not_modelled: globals.not_modelled,
            included: Vec::new(),
        };
        globals.faults.finish(conf)
    }

    /// Index of the partition for jobs that name none.
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.default)
    }

    /// Names of nodes, given by index, in their order as hostlists print them.
    pub fn node_list(&self, nodes: impl IntoIterator<Item = usize>) -> String {
        fold(&Vec::from_iter(nodes.into_iter().map(|node| self.nodes[node].name.as_str())))
    }

    /// Index of the partition called `name`.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.name == name)
    }
}

/// Settings outside of node and partition lines, by key in lower case; the last one counts.
struct Globals<'a> {
    settings: BTreeMap<String, &'a SettingLine>,
    faults: Collector,
    not_modelled: Vec<String>,
}

impl<'a> Globals<'a> {
    /// Keeps `setting`, lists it or rejects it.
    fn classify(&mut self, setting: &'a SettingLine) {
        let SettingLine { key, value, .. } = setting;
        match keys::treatment(key) {
            Treatment::Harmless => return,
            Treatment::Listed => return self.not_modelled.push(format!("{}: {key}", setting.place())),
            Treatment::Unknown(None) => {
                return self.not_modelled.push(format!("{}: {key} (unknown key)", setting.place()));
            }
            Treatment::Unknown(Some(near)) => {
                return setting.fault(&mut self.faults, format_args!("unknown key; did you mean {near}?"));
            }
            Treatment::Only(values, fix) if !text::list(value).all(|word| text::is_among(values, word)) => {
                setting.fault(&mut self.faults, format_args!("{value:?} is not modelled and changes decisions; {fix}"));
            }
            Treatment::Only(..) | Treatment::Used => {}
        }
        self.settings.insert(key.to_ascii_lowercase(), setting);
    }

    fn setting(&self, key: &str) -> Option<&'a SettingLine> {
        self.settings.get(&key.to_ascii_lowercase()).copied()
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.setting(key).map(|setting| setting.value.as_str())
    }

    /// Parses the value of `key`; returns `default` if it is missing or faulty.
    fn parsed<T, E: std::fmt::Display>(&mut self, key: &str, default: T, parse: impl Fn(&str) -> Result<T, E>) -> T {
        let Some(setting) = self.setting(key) else { return default };
        setting.take(&mut self.faults, parse(&setting.value)).unwrap_or(default)
    }
}

/// Parses TRES in lower case with weights, such as `CPU=1.0,Mem=0.25G`; the suffix, where it is allowed, is the unit of
/// memory to which the weight applies.
fn tres_weights(value: &str, has_units: bool) -> Result<Vec<(String, f64)>, &'static str> {
    let one = |part: &str| {
        let (name, weight) = part.split_once('=')?;
        let (digits, power) = if has_units { text::with_unit(weight)? } else { (weight, 0) };
        let weight: f64 = digits.parse().ok()?;
        let is_valid = weight.is_finite() && (weight >= 0.0 || !has_units);
        is_valid.then(|| (name.trim().to_ascii_lowercase(), weight / 1024_f64.powi(power)))
    };
    text::list(value).map(|part| one(part).ok_or("expected weights such as CPU=1000,Mem=0.25")).collect()
}
