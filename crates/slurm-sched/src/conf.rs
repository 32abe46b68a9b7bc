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
use crate::text;
use crate::version::Version;
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
        let mut globals = Globals { settings: BTreeMap::new(), faults };
        let mut not_modelled = Vec::new();
        for setting in &lines.globals {
            globals.classify(setting, &mut not_modelled);
        }
        let scheduling = scheduling::read(&mut globals, &lines.parameters, &mut not_modelled);
        let priority = priority::read(&mut globals, version, &mut not_modelled);
        let (nodes, partitions) = cluster::read(&lines, &mut globals, &mut not_modelled);
        let parameters = globals.words("SelectTypeParameters");
        let conf = Self {
            nodes,
            partitions,
            scheduling,
            priority,
            enforces_limits: globals.enforces_limits(),
            kill_wait: globals.seconds("KillWait", 30),
            select_linear: globals.text("SelectType").is_some_and(|value| value.eq_ignore_ascii_case("select/linear")),
            memory_counts: parameters.iter().any(|word| word.ends_with("memory")),
            not_modelled,
            included: Vec::new(),
        };
        globals.faults.finish(conf)
    }

    /// Index of the partition for jobs that name none.
    #[must_use]
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.default)
    }

    /// Index of the partition called `name`.
    #[must_use]
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.name == name)
    }
}

/// Settings outside of node and partition lines, by key in lower case; the last one counts.
struct Globals<'a> {
    settings: BTreeMap<String, &'a SettingLine>,
    faults: Collector,
}

impl<'a> Globals<'a> {
    /// Keeps `setting`, lists it or rejects it.
    fn classify(&mut self, setting: &'a SettingLine, not_modelled: &mut Vec<String>) {
        match keys::treatment(&setting.key) {
            Treatment::Used => {
                self.settings.insert(setting.key.to_ascii_lowercase(), setting);
            }
            Treatment::Harmless => {}
            Treatment::Listed => not_modelled.push(format!("{}: {}", setting.place(), setting.key)),
            Treatment::Only(values, fix) => {
                if !text::list(&setting.value).all(|word| text::is_among(values, word)) {
                    let problem = format_args!("{:?} is not modelled and changes decisions; {fix}", setting.value);
                    setting.fault(&mut self.faults, problem);
                }
                self.settings.insert(setting.key.to_ascii_lowercase(), setting);
            }
            Treatment::Unknown(Some(near)) => {
                setting.fault(&mut self.faults, format_args!("unknown key; did you mean {near}?"));
            }
            Treatment::Unknown(None) => {
                not_modelled.push(format!("{}: {} (unknown key)", setting.place(), setting.key))
            }
        }
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

    fn switch(&mut self, key: &str, default: bool) -> bool {
        self.parsed(key, default, text::switch)
    }

    /// Parses a plain number of seconds.
    fn seconds(&mut self, key: &str, default: i64) -> i64 {
        self.parsed(key, default, |text| text::whole(text).ok_or("expected a number of seconds"))
    }

    /// Parses a span in minutes or with `-` and `:`; [`YEAR`] if unlimited.
    fn limit(&mut self, key: &str, default: i64) -> i64 {
        self.parsed(key, default, |text| Ok::<_, &str>(text::limit(text)?.unwrap_or(YEAR)))
    }

    /// Returns the elements of a list, in lower case.
    fn words(&self, key: &str) -> Vec<String> {
        self.text(key).map(|value| text::list(value).map(str::to_ascii_lowercase).collect()).unwrap_or_default()
    }

    fn enforces_limits(&mut self) -> bool {
        const OTHER: &str = "associations wckeys none 0 no nojobs nosteps";
        // SPEC 2.4: `qos` and `safe` imply `limits`.
        const LIMITS: &str = "limits qos safe all";
        self.parsed("AccountingStorageEnforce", false, |value| {
            let unknown = text::list(value).find(|word| ![OTHER, LIMITS].iter().any(|list| text::is_among(list, word)));
            match unknown {
                Some(_) => Err("expected some of associations, limits, qos, safe, wckeys, all"),
                None => Ok(text::list(value).any(|word| text::is_among(LIMITS, word))),
            }
        })
    }

    /// Parses TRES in lower case with weights, such as `CPU=1.0,Mem=0.25G`; the suffix, where it is allowed, is the
    /// unit of memory to which the weight applies.
    fn tres_weights(value: &str, has_units: bool) -> Result<Vec<(String, f64)>, &'static str> {
        let one = |part: &str| {
            let (name, weight) = part.split_once('=')?;
            let digits = weight.trim_end_matches(|c: char| has_units && c.is_ascii_alphabetic());
            let per = match weight[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
                "" | "M" => 1.0,
                "K" => 1.0 / 1024.0,
                "G" => 1024.0,
                "T" => 1024.0 * 1024.0,
                "P" => 1024.0 * 1024.0 * 1024.0,
                _ => return None,
            };
            let weight =
                digits.parse().ok().filter(|weight: &f64| weight.is_finite() && (*weight >= 0.0 || !has_units))?;
            Some((name.trim().to_ascii_lowercase(), weight / per))
        };
        text::list(value).map(|part| one(part).ok_or("expected weights such as CPU=1000,Mem=0.25")).collect()
    }
}
