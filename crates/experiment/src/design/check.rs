//! From a file to a design: the rules that concern more than one value. An error names file, line, key and fix.

use crate::design::file::{
    Bound, ClaimTable, Factor, File, Log, Method, Replicate, Source, Test, ValueText, Vary, WholeNumber,
};
use crate::design::measure::metrics_with;
use crate::design::{Claim, Design, Metric, Value};
use anyhow::{Result, bail};
use lab::scenario::did_you_mean;
use lab::scenario::toml_text::position_of;
use replay::simulate::policy::Policy;
use replay::{name_of, stem};
use std::path::Path;
use workload::Deadlines;
use workload::model::{self, models};

impl Design {
    pub(crate) fn read(check: &Source<'_>) -> Result<Self> {
        let file = check.parse()?;
        let File { name, mut log, replicate, .. } = file;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            let rest = "names a folder of results; use letters, digits, hyphens, dots and underscores";
            bail!(check.wrong("name", format!("name: {name:?} {rest}")));
        }
        let policies = check.policies(&file.policies)?;
        let baseline = check.policy(&file.baseline, "baseline", &policies)?;
        check.replicate(&replicate)?;
        let method = replicate.method;
        let metrics = check.metrics(&file.metrics)?;
        check.logs(&mut log, method)?;
        check.deadlines(&file.metrics, &log)?;
        let mut design = Self {
            name,
            policies,
            baseline,
            metrics,
            own_metrics: check.added.metrics.clone(),
            seed: file.seed,
            vary: check.vary(&file.vary, &log, method)?,
            logs: log,
            replicate,
            claims: Vec::new(),
        };
        for (place, table) in file.claim.into_iter().enumerate() {
            let claim = check.claim(&format!("claim.{place}"), table, &design)?;
            design.claims.push(claim);
        }
        Ok(design)
    }
}

impl Source<'_> {
    /// Fails at the first rule that is broken. A rule is true if it is broken, and has the words of the error, which begin with the
    /// key in `table`.
    fn refuse(&self, table: &str, rules: &[(bool, &str)]) -> Result<()> {
        let Some((_, words)) = rules.iter().find(|(is_broken, _)| *is_broken) else { return Ok(()) };
        let key = words.split(':').next().unwrap_or_default();
        bail!(self.wrong(format!("{table}.{key}").trim_start_matches('.'), words))
    }

    fn policies(&self, names: &[String]) -> Result<Vec<Policy>> {
        let mut policies: Vec<Policy> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let wrong = |words: &str| self.wrong(&format!("policies.{place}"), format!("policies: {words}"));
            let policy = Policy::find(name, &self.added.policies).map_err(|words| wrong(&words.to_string()))?;
            if policies.iter().any(|known| known.name() == policy.name()) {
                bail!(wrong(&format!("{} is listed twice; leave one out", policy.name())));
            }
            policies.push(policy);
        }
        let words = "policies: an experiment compares; give two or more, as in [\"easy\", \"cons\"]";
        self.refuse("", &[(policies.len() < 2, words)])?;
        Ok(policies)
    }

    /// Position of the policy with this name, in any spelling; the last part of `path` is its key.
    fn policy(&self, text: &str, path: &str, policies: &[Policy]) -> Result<usize> {
        let found = Policy::find(text, &self.added.policies);
        let name = found.as_ref().map_or(text, Policy::name);
        let names = || policies.iter().map(|policy| policy.name());
        names().position(|known| known == name).ok_or_else(|| {
            let (hint, listed) = (did_you_mean(text, names()), names().collect::<Vec<_>>().join(", "));
            let key = path.rsplit('.').next().unwrap_or_default();
            let words = format!("{key}: {text:?} is none of the policies{hint}; take one of {listed}, or add it");
            self.wrong(path, words)
        })
    }

    fn metrics(&self, names: &[String]) -> Result<Vec<Metric>> {
        let all = metrics_with(&self.added.metrics);
        let mut metrics: Vec<Metric> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let wrong = |words: &str| self.wrong(&format!("metrics.{place}"), format!("metrics: {words}"));
            let Some(metric) = all.iter().find(|known| known.name() == name) else {
                let hint = did_you_mean(name, all.iter().map(|known| known.name()));
                let there = "there are the columns of summary.csv of `simulate`";
                bail!(wrong(&format!("no metric is called {name:?}{hint}; {there}")));
            };
            if !metrics.contains(metric) {
                metrics.push(metric);
            }
        }
        self.refuse("", &[(metrics.is_empty(), "metrics: there are none; give some, as in [\"wait_mean\"]")])?;
        Ok(metrics)
    }

    /// Checks the logs, and enters their names and lines.
    fn logs(&self, logs: &mut [Log], method: Method) -> Result<()> {
        for (place, log) in logs.iter_mut().enumerate() {
            let table = format!("log.{place}");
            self.log(&table, log, method)?;
            if log.name.is_empty() {
                log.name = stem(Path::new(log.file.as_ref().or(log.model.as_ref()).map_or("", |from| from)));
            }
            log.line = self.line(&table);
        }
        if logs.is_empty() {
            let words = "log: there is none; add [[log]] with file = \"FILE.swf.gz\" or model = \"lublin\"";
            bail!(self.wrong("name", words));
        }
        for (place, Log { name, .. }) in logs.iter().enumerate() {
            let words = format!("log: two are called {name:?}; give one another name = \"…\"");
            let is_taken = logs[..place].iter().any(|other| other.name == *name);
            self.refuse(&format!("log.{place}"), &[(is_taken, &words)])?;
        }
        Ok(())
    }

    fn log(&self, table: &str, log: &Log, method: Method) -> Result<()> {
        let (is_file, is_model) = (log.file.is_some(), log.model.is_some());
        let is_column = matches!(log.deadlines.0, Deadlines::Column(_));
        let name = log.model.as_deref().unwrap_or_default();
        let names = || models().iter().map(|model| model.name);
        let (hint, listed) = (did_you_mean(name, names()), names().collect::<Vec<_>>().join(", "));
        let unknown = format!("model: there is no {name:?}{hint}; there are {listed}");
        let has_machines = log.machines.is_some();
        let rules: &[(bool, &str)] = &[
            (!is_file && !is_model, "log: needs file = \"FILE.swf.gz\" or model = \"lublin\""),
            (is_file && is_model, "model: this log has a file, too; leave one of them out"),
            (
                is_file && method == Method::Seeds,
                "file: a log has no seeds, so method = \"seeds\" cannot replicate it; take blocks or shake",
            ),
            (
                is_file && log.preset.is_some(),
                "preset: holds the parameters of a model, and this is a file; leave it out",
            ),
            (
                has_machines && log.procs.is_some(),
                "machines: procs says how large the machine is; leave one of them out",
            ),
            (!has_machines && log.inside.is_some(), "inside: goes with machines = \"FILE\"; leave it out"),
            (is_model && is_column, "deadlines: a model has no columns; write \"factor:2\""),
            (is_model && model::named(name).is_none(), &unknown),
            (is_model && log.count.is_none(), "count: is missing; a model draws without end, so say count = 10000"),
        ];
        self.refuse(table, rules)
    }

    /// Refuses metrics of tardiness if a log has no deadlines.
    fn deadlines(&self, metrics: &[String], logs: &[Log]) -> Result<()> {
        let Some(log) = logs.iter().find(|log| log.deadlines.0 == Deadlines::None) else { return Ok(()) };
        let needs = |name: &String| metrics::Metric::named(name).is_some_and(metrics::Metric::needs_deadlines);
        let Some(place) = metrics.iter().position(needs) else { return Ok(()) };
        let words = format!(
            "metrics: {} is about deadlines, and no job of {} has one; add deadlines = \"factor:2\" to its [[log]] (twice the \
             requested time), or column:N",
            metrics[place], log.name
        );
        bail!(self.wrong(&format!("metrics.{place}"), words))
    }

    /// Dimensions in the order of the file.
    fn vary(&self, vary: &Vary, logs: &[Log], method: Method) -> Result<Vec<Vec<Value>>> {
        let Vary { load, estimates, users, procs } = vary;
        let has_machines = logs.iter().any(|log| log.machines.is_some());
        let drawn = format!(
            "users: more or fewer users are drawn by method = \"users\" alone; here it is {}",
            name_of(&method)
        );
        let fixed = "procs: a log has machines = \"FILE\", whose size is fixed; leave one of them out";
        let is_drawn = method == Method::Users;
        self.refuse("vary", &[(users.is_some() && !is_drawn, &drawn), (procs.is_some() && has_machines, fixed)])?;
        let numbers = |name, list: &Option<Vec<Factor>>| {
            let value = |factor: &Factor| Value::Number(name, factor.0);
            list.as_ref().map(|list| (name, list.iter().map(value).collect()))
        };
        let of_procs = |procs: &WholeNumber<1, _>| Value::Number("procs", f64::from(procs.0));
        let of_estimates = |text: &ValueText<_>| Value::Estimates(text.0);
        let all: [Option<(&str, Vec<Value>)>; 4] = [
            numbers("load", load),
            numbers("users", users),
            procs.as_ref().map(|list| ("procs", list.iter().map(of_procs).collect())),
            estimates.as_ref().map(|list| ("estimates", list.iter().map(of_estimates).collect())),
        ];
        let mut all = Vec::from_iter(all.into_iter().flatten());
        all.sort_by_key(|(name, _)| position_of(&self.text, &format!("vary.{name}")));
        for (name, values) in &all {
            self.refuse("vary", &[(values.is_empty(), &format!("{name}: is empty; give one value at least"))])?;
            for (place, value) in values.iter().enumerate() {
                let words = format!("{name}: {} is listed twice; leave one out", value.text());
                self.refuse("vary", &[(values[..place].contains(value), &words)])?;
            }
        }
        Ok(all.into_iter().map(|(_, values)| values).collect())
    }

    fn replicate(&self, table: &Replicate) -> Result<()> {
        let Replicate { method, count, shift, weeks, precision, .. } = table;
        let draws_weeks = matches!(method, Method::Blocks | Method::Users);
        let not_with = |what: &str| format!("{what}, and not with {}; leave it out", name_of(method));
        let of_shake = not_with("shift: goes with method = \"shake\"");
        let of_weeks = not_with("weeks: goes with method = \"blocks\" or \"users\"");
        if let Some(share) = precision.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            let words = format!("replicate.precision: {share} is out of range; give a share such as 0.02");
            bail!(self.wrong("replicate.precision", words));
        }
        let rules: &[(bool, &str)] = &[
            (shift.is_some() && *method != Method::Shake, &of_shake),
            (weeks.is_some() && !draws_weeks, &of_weeks),
            (count.is_none(), "count: is missing; write count = 30 below [replicate]"),
        ];
        self.refuse("replicate", rules)
    }

    fn claim(&self, table: &str, ClaimTable { id, says, test }: ClaimTable, design: &Design) -> Result<Claim> {
        let Test { below, above, by, every, .. } = &test;
        let within = |key: &str| format!("{table}.test.{key}");
        let names = || design.metrics.iter().map(|known| known.name());
        let Some(metric) = names().position(|name| name == test.metric) else {
            let hint = did_you_mean(&test.metric, names());
            let words = format!("metric: {:?} is none of the metrics{hint}; add it to metrics", test.metric);
            bail!(self.wrong(&within("metric"), words));
        };
        let (is_below, key, bound) = match (below, above) {
            (Some(below), None) => (true, "below", below),
            (None, Some(above)) => (false, "above", above),
            _ => bail!(self.wrong(&within(""), "test: needs either below or above, a policy or a number")),
        };
        let policy = self.policy(&test.policy, &within("policy"), &design.policies)?;
        let (other, bound) = match bound {
            Bound::Number(number) => (None, *number),
            Bound::Policy(name) => (Some(self.policy(name, &within(key), &design.policies)?), 0.0),
        };
        let known: Vec<&str> = std::iter::once("log").chain(design.varied()).collect();
        if let Some(place) = every.iter().position(|name| !known.contains(&name.as_str())) {
            let words = format!("every: {:?} is not varied here; there are {}", every[place], known.join(", "));
            bail!(self.wrong(&within(&format!("every.{place}")), words));
        }
        let (is_number, every_log) = (other.is_none(), every.iter().any(|name| name == "log"));
        let by = by.map(|by| by.0.0);
        let itself = format!("{key}: a policy is not {key} itself; name another one");
        let no_number = format!("{key}: {bound} is no bound; give a number, or a policy");
        let rules: &[(bool, &str)] = &[
            (other == Some(policy), &itself),
            (!bound.is_finite(), &no_number),
            (
                is_number && by.is_some(),
                "by: is a share of another policy's value, and this bound is a number; leave it out",
            ),
            // No metric is below zero, so no value is lower by more than all of another one.
            (is_below && by.is_some_and(|by| by > 0.99), "by: no value is lower by so much; give at most \"99%\""),
            (!every_log && is_number, "every: a number is not the same in different logs; add \"log\" to every"),
        ];
        self.refuse(table, &[(id.is_empty(), "id: is empty; write id = \"X1\"")])?;
        self.refuse(&format!("{table}.test"), rules)?;
        let is_taken = design.claims.iter().any(|known| known.id == id);
        self.refuse(table, &[(is_taken, &format!("id: two claims are called {id:?}; rename one"))])?;
        let columns = every.iter().filter_map(|name| design.varied().position(|known| known == *name));
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Claim {
            metric: design.metrics[metric],
            policy,
            is_below,
            other,
            bound,
            share: by.map(|by| if is_below { 1.0 - by } else { 1.0 + by }),
            every_log,
            every: columns.collect(),
            source: format!("{file}:{}", self.line(table)),
            id,
            says,
        })
    }
}
