//! What an experiment is, once its file has been read and everything in it makes sense.

use super::file::{Bound, ClaimTable, File, LogTable, Replicate, Source, Test};
use super::measure::{Window, is_defined_by_week, metric_names};
use crate::cli::Inside;
use crate::simulate::Own;
use crate::simulate::held::HeldPolicy;
use crate::workload::generated::ModelName;
use anyhow::{Result, bail};
use clap::ValueEnum;
use lab::scenario::did_you_mean;
use sim_core::Span;
use std::collections::BTreeSet;
use std::path::PathBuf;
use toml::Spanned;
use workload::Estimates;

/// An experiment.
#[derive(Clone, Debug)]
pub(super) struct Design {
    pub(super) name: String,
    pub(super) policies: Vec<Policy>,
    /// Position of the policy that differences are taken from.
    pub(super) baseline: usize,
    pub(super) metrics: Vec<String>,
    pub(super) seed: u64,
    pub(super) logs: Vec<Log>,
    /// What is varied, in the order of the columns.
    pub(super) vary: Vec<Dimension>,
    pub(super) method: Method,
    pub(super) count: u32,
    pub(super) window: Window,
    pub(super) precision: Option<f64>,
    pub(super) claims: Vec<Claim>,
}

/// A policy, and what tables call it.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) held: HeldPolicy,
}

/// One log, or a model in its place.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// As in the column `log`.
    pub(super) name: String,
    pub(super) from: From,
    pub(super) procs: Option<u32>,
    pub(super) machines: Option<(PathBuf, Inside)>,
    /// What policies are told, unless that is varied.
    pub(super) estimates: Estimates,
    /// Whether a log that needs repairs is refused.
    pub(super) refuses_repairs: bool,
    /// Jobs of a model; records of a log, at most.
    pub(super) count: Option<u32>,
    /// The offered load that it is scaled to.
    pub(super) load: Option<f64>,
    /// Where the file names it.
    pub(super) line: usize,
}

/// Where jobs come from.
#[derive(Clone, Debug)]
pub(super) enum From {
    /// A file, as it is written.
    File(String),
    /// A model, and its parameters, if they are in a file.
    Model(ModelName, Option<String>),
}

/// One thing that is varied, and its values.
#[derive(Clone, Debug)]
pub(super) struct Dimension {
    pub(super) key: Key,
    pub(super) values: Vec<Value>,
}

/// What can be varied.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Load,
    Estimates,
    Users,
    Procs,
}

impl Key {
    const ALL: [Self; 4] = [Self::Load, Self::Estimates, Self::Users, Self::Procs];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Estimates => "estimates",
            Self::Users => "users",
            Self::Procs => "procs",
        }
    }
}

/// One value of a dimension.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Estimates(Estimates),
    Procs(u32),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Estimates(estimates) => estimates.fmt(f),
            Self::Procs(procs) => procs.fmt(f),
        }
    }
}

/// One combination of values: by dimension, its value's position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting(pub(super) Vec<usize>);

/// What stands for replications.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Users { weeks: Option<u64> },
    Shake { most: Span },
    Weeks,
    Seeds,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Users { .. } => "users",
            Self::Shake { .. } => "shake",
            Self::Weeks => "weeks",
            Self::Seeds => "seeds",
        }
    }
}

/// A sentence, and its test.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) says: String,
    pub(super) metric: String,
    pub(super) policy: usize,
    pub(super) is_below: bool,
    pub(super) bound: Against,
    /// Whether each log is judged for itself.
    pub(super) every_log: bool,
    /// Dimensions whose values are judged one by one; over the others the mean is taken.
    pub(super) every: Vec<Key>,
    /// `mine.toml:12`.
    pub(super) source: String,
}

/// What a claim compares with.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Against {
    Policy(usize),
    Number(f64),
}

impl Design {
    /// Reads and checks the whole file; `own` are policies that the program adds.
    pub(super) fn read(source: &Source, own: &[&'static Own]) -> Result<Self> {
        let file = source.parse()?;
        let check = Check { source, own };
        let name = check.name(&file.name)?;
        let policies = check.policies(&file.policies)?;
        let baseline = check.policy(&file.baseline, "baseline", &policies)?;
        let (method, count, window) = check.replicate(&file.replicate)?;
        let metrics = check.metrics(&file.metrics, method)?;
        let logs = check.logs(&file, method)?;
        let vary = check.vary(&file, method)?;
        let claims = file
            .claim
            .iter()
            .map(|claim| check.claim(claim, &policies, &metrics, &vary, method))
            .collect::<Result<Vec<_>>>()?;
        let mut ids = BTreeSet::new();
        for (claim, table) in claims.iter().zip(&file.claim) {
            if !ids.insert(&claim.id) {
                bail!(source.wrong(&table.span(), format!("id: two claims are called {:?}; rename one", claim.id)));
            }
        }
        let precision = file.replicate.get_ref().precision.as_ref().map(|wanted| check.share(wanted)).transpose()?;
        Ok(Self {
            name,
            policies,
            baseline,
            metrics,
            seed: file.seed,
            logs,
            vary,
            method,
            count,
            window,
            precision,
            claims,
        })
    }

    /// A tenth of the work or less.
    pub(super) fn quick(mut self) -> Self {
        const JOBS: u32 = 2_000;
        self.count = (self.count / 10).max(3).min(self.count);
        // Users are drawn week by week: of a log with so few jobs there may be no four weeks. Its first jobs are drawn from
        // then all the same, so the number of weeks is cut instead.
        match &mut self.method {
            Method::Users { weeks } => *weeks = Some(weeks.unwrap_or(8).min(8)),
            Method::Shake { .. } | Method::Weeks | Method::Seeds => {
                for log in self.logs.iter_mut().filter(|log| matches!(log.from, From::File(_))) {
                    log.count = Some(log.count.unwrap_or(JOBS).min(JOBS));
                }
            }
        }
        for log in self.logs.iter_mut().filter(|log| matches!(log.from, From::Model(..))) {
            log.count = Some(log.count.unwrap_or(JOBS).min(JOBS));
        }
        self.vary.iter_mut().for_each(|dimension| dimension.values.truncate(2));
        self
    }

    /// Every combination, the last dimension fastest.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut all = vec![Setting(Vec::new())];
        for dimension in &self.vary {
            all = all
                .iter()
                .flat_map(|setting| {
                    (0..dimension.values.len()).map(|value| {
                        let mut longer = setting.clone();
                        longer.0.push(value);
                        longer
                    })
                })
                .collect();
        }
        all
    }

    /// The value that a setting has, if that is varied.
    pub(super) fn value(&self, setting: &Setting, key: Key) -> Option<Value> {
        let at = self.vary.iter().position(|dimension| dimension.key == key)?;
        Some(self.vary[at].values[setting.0[at]])
    }

    /// The values of a setting, as in the columns of tables.
    pub(super) fn texts(&self, setting: &Setting) -> Vec<String> {
        self.vary.iter().zip(&setting.0).map(|(dimension, value)| dimension.values[*value].to_string()).collect()
    }

    /// A setting in words, `load 0.8, estimates user`; empty if nothing is varied.
    pub(super) fn in_words(&self, setting: &Setting) -> String {
        let parts = self.vary.iter().zip(self.texts(setting));
        parts.map(|(dimension, value)| format!("{} {value}", dimension.key.name())).collect::<Vec<_>>().join(", ")
    }
}

/// Checks with the source at hand, for messages.
struct Check<'a> {
    source: &'a Source,
    own: &'a [&'static Own],
}

impl Check<'_> {
    fn name(&self, name: &Spanned<String>) -> Result<String> {
        let text = name.get_ref();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if text.is_empty() || text.starts_with('.') || !text.chars().all(is_plain) {
            bail!(self.source.wrong(
                &name.span(),
                format!("name: {text:?} names a folder of results; use letters, digits, hyphens, dots and underscores")
            ));
        }
        Ok(text.clone())
    }

    fn policies(&self, given: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<Policy>> {
        let mut policies: Vec<Policy> = Vec::new();
        for text in given.get_ref() {
            let held = HeldPolicy::named(text.get_ref(), self.own)
                .map_err(|words| self.source.wrong(&text.span(), format!("policies: {words}")))?;
            let name = held.name();
            if policies.iter().any(|policy| policy.name == name) {
                bail!(self.source.wrong(&text.span(), format!("policies: {name} is there twice; leave one out")));
            }
            policies.push(Policy { name, held });
        }
        if policies.len() < 2 {
            bail!(self.source.wrong(
                &given.span(),
                "policies: an experiment compares; give two or more, as in [\"easy\", \"cons\"]"
            ));
        }
        Ok(policies)
    }

    /// The position of the policy that is called so, however its name is written.
    fn policy(&self, given: &Spanned<String>, key: &str, policies: &[Policy]) -> Result<usize> {
        let text = given.get_ref();
        let name = HeldPolicy::named(text, self.own).map_or_else(|_| text.clone(), HeldPolicy::name);
        let names = || policies.iter().map(|policy| policy.name.as_str());
        policies.iter().position(|policy| policy.name == name).ok_or_else(|| {
            let listed: Vec<&str> = names().collect();
            let hint = did_you_mean(text, names());
            self.source.wrong(
                &given.span(),
                format!("{key}: {text:?} is none of the policies{hint}; take one of {}, or add it", listed.join(", ")),
            )
        })
    }

    fn metrics(&self, given: &Spanned<Vec<Spanned<String>>>, method: Method) -> Result<Vec<String>> {
        let known = metric_names();
        let mut metrics: Vec<String> = Vec::new();
        for metric in given.get_ref() {
            let name = metric.get_ref();
            if !known.contains(&name.as_str()) {
                let hint = did_you_mean(name, known.iter().copied());
                bail!(self.source.wrong(
                    &metric.span(),
                    format!("metrics: no metric is called {name:?}{hint}; there are the columns of summary.csv of `simulate`")
                ));
            }
            if method == Method::Weeks && !is_defined_by_week(name) {
                bail!(self.source.wrong(
                    &metric.span(),
                    format!("metrics: {name} is not defined for a week of jobs; take a mean, or another method of replication")
                ));
            }
            if !metrics.contains(name) {
                metrics.push(name.clone());
            }
        }
        if metrics.is_empty() {
            bail!(self.source.wrong(&given.span(), "metrics: there are none; give some, as in [\"wait_mean\"]"));
        }
        Ok(metrics)
    }

    fn replicate(&self, given: &Spanned<Replicate>) -> Result<(Method, u32, Window)> {
        let Replicate { method, count, shift, weeks, warm_up, cool_down, precision } = given.get_ref();
        let wrong = |span: std::ops::Range<usize>, words: String| self.source.wrong(&span, words);
        let name = method.get_ref().as_str();
        let span_of = |text: &Spanned<String>, key: &str| {
            span(text.get_ref()).ok_or_else(|| {
                wrong(text.span(), format!("{key}: {:?} is no span; write 90s, 15m, 4h or 7d", text.get_ref()))
            })
        };
        let weeks_of = weeks.as_ref().map(|weeks| self.number(weeks, "weeks", 1..=5_200)).transpose()?;
        let found = match name {
            "users" => Method::Users { weeks: weeks_of.map(u64::from) },
            "shake" => {
                let most = shift.as_ref().map(|text| span_of(text, "shift")).transpose()?;
                Method::Shake { most: most.unwrap_or(Span::from_secs(60)) }
            }
            "weeks" => Method::Weeks,
            "seeds" => Method::Seeds,
            _ => {
                let hint = did_you_mean(name, ["users", "shake", "weeks", "seeds"].into_iter());
                bail!(wrong(
                    method.span(),
                    format!("method: there is no {name:?}{hint}; there are users, shake, weeks and seeds")
                ));
            }
        };
        if let Some(shift) = shift.as_ref().filter(|_| !matches!(found, Method::Shake { .. })) {
            bail!(wrong(
                shift.span(),
                format!("shift: goes with method = \"shake\", and not with {name}; leave it out")
            ));
        }
        if let Some(weeks) = weeks.as_ref().filter(|_| !matches!(found, Method::Users { .. })) {
            bail!(wrong(
                weeks.span(),
                format!("weeks: goes with method = \"users\", and not with {name}; leave it out")
            ));
        }
        let replications = count.as_ref().map(|count| self.number(count, "count", 2..=100_000)).transpose()?;
        if found == Method::Weeks {
            if let Some(count) = count {
                bail!(wrong(count.span(), "count: weeks are as many as the log has; leave it out".to_owned()));
            }
            if let Some(precision) = precision {
                bail!(wrong(
                    precision.span(),
                    "precision: a log has no more weeks than it has; leave it out".to_owned()
                ));
            }
        }
        let count = match (found, replications) {
            (Method::Weeks, _) => 1,
            (_, Some(count)) => count,
            (_, None) => bail!(wrong(given.span(), "count: is missing; write count = 30 below [replicate]".to_owned())),
        };
        let window = match warm_up.as_ref().map(|text| (text, text.get_ref().as_str())) {
            None => Window::default(),
            Some((_, "mser-5")) => Window { mser: true, ..Window::default() },
            Some((text, _)) => Window {
                warm_up: span_of(text, "warm_up").map_err(|error| error.context("warm_up is a span, or \"mser-5\""))?,
                ..Window::default()
            },
        };
        let cool_down = cool_down.as_ref().map(|text| span_of(text, "cool_down")).transpose()?.unwrap_or(Span::ZERO);
        if found == Method::Weeks && window.mser {
            let at = warm_up.as_ref().map_or(given.span(), Spanned::span);
            bail!(wrong(
                at,
                "warm_up: mser-5 cuts each replication elsewhere, and weeks are of one; give a span such as \"7d\""
                    .to_owned()
            ));
        }
        Ok((found, count, Window { cool_down, ..window }))
    }

    fn number(&self, given: &Spanned<i64>, key: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32> {
        let number = u32::try_from(*given.get_ref()).ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            self.source
                .wrong(&given.span(), format!("{key}: {} is out of range; give {low} to {high}", given.get_ref()))
        })
    }

    fn share(&self, given: &Spanned<f64>) -> Result<f64> {
        let share = *given.get_ref();
        if share > 0.0 && share < 1.0 {
            return Ok(share);
        }
        bail!(
            self.source.wrong(&given.span(), format!("precision: {share} is out of range; give a share such as 0.02"))
        )
    }

    fn factor(&self, span: &std::ops::Range<usize>, key: &str, number: f64) -> Result<f64> {
        if (0.01..=100.0).contains(&number) {
            return Ok(number);
        }
        bail!(self.source.wrong(span, format!("{key}: {number} is out of range; give 0.01 to 100")))
    }

    fn logs(&self, file: &File, method: Method) -> Result<Vec<Log>> {
        if file.log.is_empty() {
            let at = file.name.span();
            bail!(
                self.source
                    .wrong(&at, "log: there is none; add [[log]] with file = \"FILE.swf.gz\" or model = \"lublin\"")
            );
        }
        let mut names = BTreeSet::new();
        let mut logs = Vec::new();
        for table in &file.log {
            let log = self.log(table, method)?;
            if !names.insert(log.name.clone()) {
                bail!(self.source.wrong(
                    &table.span(),
                    format!("log: two are called {:?}; give one another name = \"…\"", log.name)
                ));
            }
            logs.push(log);
        }
        Ok(logs)
    }

    fn log(&self, table: &Spanned<LogTable>, method: Method) -> Result<Log> {
        let LogTable { file, model, name, procs, machines, inside, estimates, repairs, count, load, preset } =
            table.get_ref();
        let wrong = |span: std::ops::Range<usize>, words: String| self.source.wrong(&span, words);
        let from = match (file, model) {
            (Some(file), None) => From::File(file.get_ref().clone()),
            (None, Some(model)) => {
                let known = ModelName::from_str(model.get_ref(), false).map_err(|_| {
                    let names: Vec<String> = ModelName::value_variants()
                        .iter()
                        .filter_map(|model| Some(model.to_possible_value()?.get_name().to_owned()))
                        .collect();
                    let hint = did_you_mean(model.get_ref(), names.iter().map(String::as_str));
                    let text = model.get_ref();
                    wrong(model.span(), format!("model: there is no {text:?}{hint}; there are {}", names.join(", ")))
                })?;
                From::Model(known, preset.as_ref().map(|preset| preset.get_ref().clone()))
            }
            (Some(_), Some(model)) => {
                bail!(wrong(model.span(), "model: this log has a file, too; leave one of them out".to_owned()))
            }
            (None, None) => {
                bail!(wrong(table.span(), "log: needs file = \"FILE.swf.gz\" or model = \"lublin\"".to_owned()))
            }
        };
        let is_file = matches!(from, From::File(_));
        if let Some(file) = file.as_ref().filter(|_| method == Method::Seeds) {
            bail!(wrong(
                file.span(),
                "file: a log has no seeds, so method = \"seeds\" cannot replicate it; take users, shake or weeks"
                    .to_owned()
            ));
        }
        if let Some(preset) = preset.as_ref().filter(|_| is_file) {
            bail!(wrong(
                preset.span(),
                "preset: holds the parameters of a model, and this is a file; leave it out".to_owned()
            ));
        }
        if let (Some(_), Some(machines)) = (procs, machines) {
            bail!(wrong(
                machines.span(),
                "machines: procs says how large the machine is; leave one of them out".to_owned()
            ));
        }
        if let Some(inside) = inside.as_ref().filter(|_| machines.is_none()) {
            bail!(wrong(inside.span(), "inside: goes with machines = \"FILE\"; leave it out".to_owned()));
        }
        if !is_file && count.is_none() {
            bail!(wrong(table.span(), "count: is missing; a model draws without end, so say count = 10000".to_owned()));
        }
        let inside = match inside {
            None => Inside::Cluster,
            Some(inside) => Inside::from_str(inside.get_ref(), false).map_err(|_| {
                wrong(
                    inside.span(),
                    format!("inside: there is no {:?}; take cluster, machine or pool", inside.get_ref()),
                )
            })?,
        };
        let refuses_repairs = match repairs.as_ref().map(|repairs| (repairs, repairs.get_ref().as_str())) {
            None | Some((_, "count")) => false,
            Some((_, "refuse")) => true,
            Some((repairs, other)) => bail!(wrong(
                repairs.span(),
                format!(
                    "repairs: there is no {other:?}; count repairs under named rules and says how many, refuse takes none"
                )
            )),
        };
        let estimates = match estimates {
            None => Estimates::User,
            Some(text) => self.estimates(text.get_ref(), &text.span())?,
        };
        let shown = |path: &str| {
            let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
            last.trim_end_matches(".gz").trim_end_matches(".swf").to_owned()
        };
        let otherwise = file.as_ref().or(model.as_ref()).map_or_else(String::new, |from| shown(from.get_ref()));
        Ok(Log {
            name: name.as_ref().map_or(otherwise, |name| name.get_ref().clone()),
            from,
            procs: procs.as_ref().map(|procs| self.number(procs, "procs", 1..=u32::MAX)).transpose()?,
            machines: machines.as_ref().map(|path| (PathBuf::from(path.get_ref()), inside)),
            estimates,
            refuses_repairs,
            count: count.as_ref().map(|count| self.number(count, "count", 1..=100_000_000)).transpose()?,
            load: load.as_ref().map(|load| self.factor(&load.span(), "load", *load.get_ref())).transpose()?,
            line: self.source.line(&table.span()),
        })
    }

    fn estimates(&self, text: &str, at: &std::ops::Range<usize>) -> Result<Estimates> {
        text.parse().map_err(|error| self.source.wrong(at, error))
    }

    fn vary(&self, file: &File, method: Method) -> Result<Vec<Dimension>> {
        let mut vary: Vec<(usize, Dimension)> = Vec::new();
        for (key, values) in &file.vary {
            let name = key.get_ref();
            let wrong = |words: String| self.source.wrong(&values.span(), words);
            let Some(known) = Key::ALL.into_iter().find(|known| known.name() == name) else {
                let hint = did_you_mean(name, Key::ALL.iter().map(|key| key.name()));
                bail!(self.source.wrong(
                    &key.span(),
                    format!("vary: {name:?} cannot be varied{hint}; load, estimates, users and procs can")
                ));
            };
            if known == Key::Users && !matches!(method, Method::Users { .. }) {
                bail!(wrong(format!(
                    "users: more or fewer users are drawn by method = \"users\" alone; here it is {}",
                    method.name()
                )));
            }
            if known == Key::Procs && file.log.iter().any(|log| log.get_ref().machines.is_some()) {
                bail!(wrong(
                    "procs: a log has machines = \"FILE\", whose size is fixed; leave one of them out".to_owned()
                ));
            }
            let Some(list) = values.get_ref().as_array().filter(|list| !list.is_empty()) else {
                bail!(wrong(format!("{name}: expected a list of values, as in {name} = [{}]", example(known))));
            };
            let mut found: Vec<Value> = Vec::new();
            for value in list {
                let one = self.value(known, value, &values.span())?;
                if found.contains(&one) {
                    bail!(wrong(format!("{name}: {one} is there twice; leave one out")));
                }
                found.push(one);
            }
            vary.push((key.span().start, Dimension { key: known, values: found }));
        }
        // The order in which they are written is that of the columns.
        vary.sort_by_key(|(at, _)| *at);
        Ok(vary.into_iter().map(|(_, dimension)| dimension).collect())
    }

    fn value(&self, key: Key, value: &toml::Value, at: &std::ops::Range<usize>) -> Result<Value> {
        let name = key.name();
        #[expect(clippy::cast_precision_loss, reason = "a factor")]
        let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
        match (key, value.as_str(), number) {
            (Key::Estimates, Some(text), _) => Ok(Value::Estimates(self.estimates(text, at)?)),
            (Key::Load | Key::Users, _, Some(number)) => Ok(Value::Number(self.factor(at, name, number)?)),
            (Key::Procs, ..) => {
                let procs = value.as_integer().and_then(|whole| u32::try_from(whole).ok()).filter(|procs| *procs > 0);
                let wrong =
                    || self.source.wrong(at, format!("procs: {value} is no number of processors; give 1 or more"));
                procs.map(Value::Procs).ok_or_else(wrong)
            }
            _ => bail!(
                self.source.wrong(at, format!("{name}: {value} makes no sense; write {name} = [{}]", example(key)))
            ),
        }
    }

    fn claim(
        &self,
        claim: &Spanned<ClaimTable>,
        policies: &[Policy],
        metrics: &[String],
        vary: &[Dimension],
        method: Method,
    ) -> Result<Claim> {
        let ClaimTable { id, says, test } = claim.get_ref();
        let Test { metric, policy, below, above, every } = test.get_ref();
        let wrong = |span: std::ops::Range<usize>, words: String| self.source.wrong(&span, words);
        if id.get_ref().is_empty() {
            bail!(wrong(id.span(), "id: is empty; write id = \"X1\"".to_owned()));
        }
        if !metrics.contains(metric.get_ref()) {
            let hint = did_you_mean(metric.get_ref(), metrics.iter().map(String::as_str));
            bail!(wrong(
                metric.span(),
                format!("metric: {:?} is none of the metrics{hint}; add it to metrics", metric.get_ref())
            ));
        }
        let (is_below, bound) = match (below, above) {
            (Some(below), None) => (true, below),
            (None, Some(above)) => (false, above),
            _ => bail!(wrong(test.span(), "test: needs either below or above, a policy or a number".to_owned())),
        };
        let position = self.policy(policy, "policy", policies)?;
        let key = if is_below { "below" } else { "above" };
        let bound = match bound.get_ref() {
            Bound::Number(number) => Against::Number(*number),
            Bound::Policy(name) => {
                Against::Policy(self.policy(&Spanned::new(bound.span(), name.clone()), key, policies)?)
            }
        };
        if bound == Against::Policy(position) {
            bail!(wrong(test.span(), format!("{key}: a policy is not {key} itself; name another one")));
        }
        let (mut every_log, mut keys) = (false, Vec::new());
        for dimension in every {
            let name = dimension.get_ref().as_str();
            let varied = vary.iter().find(|varied| varied.key.name() == name);
            match (name, varied) {
                ("log", _) => every_log = true,
                (_, Some(varied)) => keys.push(varied.key),
                _ => {
                    let known: Vec<&str> =
                        std::iter::once("log").chain(vary.iter().map(|one| one.key.name())).collect();
                    bail!(wrong(
                        dimension.span(),
                        format!("every: {name:?} is not varied here; there are {}", known.join(", "))
                    ));
                }
            }
        }
        if !every_log && method == Method::Weeks {
            bail!(wrong(
                test.span(),
                "every: weeks of different logs cannot be paired; add \"log\" to every".to_owned()
            ));
        }
        if !every_log && matches!(bound, Against::Number(_)) {
            bail!(wrong(
                test.span(),
                "every: a number is not the same in different logs; add \"log\" to every".to_owned()
            ));
        }
        let file = self.source.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Claim {
            id: id.get_ref().clone(),
            says: says.clone(),
            metric: metric.get_ref().clone(),
            policy: position,
            is_below,
            bound,
            every_log,
            every: keys,
            source: format!("{file}:{}", self.source.line(&claim.span())),
        })
    }
}

const fn example(key: Key) -> &'static str {
    match key {
        Key::Load | Key::Users => "0.8, 1.0, 1.2",
        Key::Estimates => "\"user\", \"exact\"",
        Key::Procs => "64, 128",
    }
}

/// `90s`, `15m`, `4h`, `7d`; at most ten years.
fn span(text: &str) -> Option<Span> {
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let (unit, seconds) = units.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(seconds).filter(|seconds| *seconds <= 315_360_000).map(Span::from_secs)
}
