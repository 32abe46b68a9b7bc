//! From a file to a design: everything in it checked, and what makes no sense told with file, line, key and the fix.

use super::design::{Against, Claim, Design, Dimension, From, Key, Log, Method, Policy, Value};
use super::file::{Bound, ClaimTable, File, LogTable, Replicate, Source, Test};
use super::measure::{Metric, Window};
use crate::asked::Inside;
use crate::simulate::Own;
use crate::simulate::held::HeldPolicy;
use anyhow::{Result, bail};
use clap::ValueEnum;
use lab::metric::Metric as _;
use lab::scenario::did_you_mean;
use sim_core::Span;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;
use workload::model::{self, models};
use workload::{Deadlines, Estimates};

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
        check.ensure_deadlines(&file.metrics, &logs)?;
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

    fn metrics(&self, given: &Spanned<Vec<Spanned<String>>>, method: Method) -> Result<Vec<Metric>> {
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in given.get_ref() {
            let name = metric.get_ref();
            let Some(known) = Metric::named(name) else {
                let hint = did_you_mean(name, Metric::list().into_iter().map(Metric::name));
                bail!(self.source.wrong(
                    &metric.span(),
                    format!("metrics: no metric is called {name:?}{hint}; there are the columns of summary.csv of `simulate`")
                ));
            };
            if method == Method::Weeks && !known.is_defined_by_week() {
                bail!(self.source.wrong(
                    &metric.span(),
                    format!("metrics: {name} is not defined for a week of jobs; take a mean, or another method of replication")
                ));
            }
            if !metrics.contains(&known) {
                metrics.push(known);
            }
        }
        if metrics.is_empty() {
            bail!(self.source.wrong(&given.span(), "metrics: there are none; give some, as in [\"wait_mean\"]"));
        }
        Ok(metrics)
    }

    fn replicate(&self, given: &Spanned<Replicate>) -> Result<(Method, u32, Window)> {
        let Replicate { method, count, shift, weeks, precision, .. } = given.get_ref();
        let wrong = |span: Range<usize>, words: String| self.source.wrong(&span, words);
        let name = method.get_ref().as_str();
        let weeks_of = weeks.as_ref().map(|weeks| self.number(weeks, "weeks", 1..=5_200)).transpose()?;
        let found = match name {
            "users" => Method::Users { weeks: weeks_of.map(u64::from) },
            "shake" => {
                let most = shift.as_ref().map(|text| self.span(text, "shift", "30s or 5m")).transpose()?;
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
        Ok((found, count, self.window(given, found)?))
    }

    /// What of a run counts.
    fn window(&self, given: &Spanned<Replicate>, method: Method) -> Result<Window> {
        let Replicate { warm_up, cool_down, .. } = given.get_ref();
        let mut window = Window::default();
        if let Some(text) = warm_up {
            if text.get_ref() == "mser-5" {
                window.mser = true;
                if method == Method::Weeks {
                    let words = "warm_up: mser-5 cuts each replication elsewhere, and weeks are of one; give a span such as \"7d\"";
                    bail!(self.source.wrong(&text.span(), words));
                }
            } else {
                window.warm_up = self.span(text, "warm_up", "\"mser-5\", 4h or 7d")?;
            }
        }
        if let Some(text) = cool_down {
            window.cool_down = self.span(text, "cool_down", "4h or 7d")?;
        }
        Ok(window)
    }

    fn span(&self, text: &Spanned<String>, key: &str, expected: &str) -> Result<Span> {
        let wrong = || format!("{key}: {:?} is no span; write {expected}", text.get_ref());
        span(text.get_ref()).ok_or_else(|| self.source.wrong(&text.span(), wrong()))
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

    fn factor(&self, span: &Range<usize>, key: &str, number: f64) -> Result<f64> {
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
        let from = self.origin(table, method)?;
        self.ensure_no_contradiction(table, &from)?;
        let LogTable { file, model, name, procs, machines, estimates, count, load, .. } = table.get_ref();
        let estimates = match estimates {
            None => Estimates::User,
            Some(text) => self.estimates(text.get_ref(), &text.span())?,
        };
        let shown = |path: &str| {
            let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
            last.trim_end_matches(".gz").trim_end_matches(".swf").to_owned()
        };
        let otherwise = file.as_ref().or(model.as_ref()).map_or_else(String::new, |from| shown(from.get_ref()));
        let inside = self.inside(table)?;
        Ok(Log {
            name: name.as_ref().map_or(otherwise, |name| name.get_ref().clone()),
            procs: procs.as_ref().map(|procs| self.number(procs, "procs", 1..=u32::MAX)).transpose()?,
            machines: machines.as_ref().map(|path| (PathBuf::from(path.get_ref()), inside)),
            estimates,
            deadlines: self.deadlines(table, &from)?,
            refuses_repairs: self.refuses_repairs(table)?,
            count: count.as_ref().map(|count| self.number(count, "count", 1..=100_000_000)).transpose()?,
            load: load.as_ref().map(|load| self.factor(&load.span(), "load", *load.get_ref())).transpose()?,
            line: self.source.line(&table.span()),
            from,
        })
    }

    /// Where the jobs of a log come from.
    fn origin(&self, table: &Spanned<LogTable>, method: Method) -> Result<From> {
        let wrong = |span: Range<usize>, words: String| self.source.wrong(&span, words);
        let LogTable { file, model, preset, .. } = table.get_ref();
        match (file, model) {
            (Some(file), None) if method == Method::Seeds => bail!(wrong(
                file.span(),
                "file: a log has no seeds, so method = \"seeds\" cannot replicate it; take users, shake or weeks"
                    .to_owned()
            )),
            (Some(file), None) => Ok(From::File(file.get_ref().clone())),
            (None, Some(model)) => {
                let known = model::named(model.get_ref()).ok_or_else(|| {
                    let names: Vec<&str> = models().iter().map(|model| model.name).collect();
                    let hint = did_you_mean(model.get_ref(), names.iter().copied());
                    let text = model.get_ref();
                    wrong(model.span(), format!("model: there is no {text:?}{hint}; there are {}", names.join(", ")))
                })?;
                Ok(From::Model(known, preset.as_ref().map(|preset| preset.get_ref().clone())))
            }
            (Some(_), Some(model)) => {
                bail!(wrong(model.span(), "model: this log has a file, too; leave one of them out".to_owned()))
            }
            (None, None) => {
                bail!(wrong(table.span(), "log: needs file = \"FILE.swf.gz\" or model = \"lublin\"".to_owned()))
            }
        }
    }

    /// Keys of a log that do not go together.
    fn ensure_no_contradiction(&self, table: &Spanned<LogTable>, from: &From) -> Result<()> {
        let wrong = |span: Range<usize>, words: &str| self.source.wrong(&span, words);
        let LogTable { procs, machines, inside, count, preset, .. } = table.get_ref();
        let is_file = matches!(from, From::File(_));
        if let Some(preset) = preset.as_ref().filter(|_| is_file) {
            bail!(wrong(preset.span(), "preset: holds the parameters of a model, and this is a file; leave it out"));
        }
        if let (Some(_), Some(machines)) = (procs, machines) {
            bail!(wrong(machines.span(), "machines: procs says how large the machine is; leave one of them out"));
        }
        if let Some(inside) = inside.as_ref().filter(|_| machines.is_none()) {
            bail!(wrong(inside.span(), "inside: goes with machines = \"FILE\"; leave it out"));
        }
        if !is_file && count.is_none() {
            bail!(wrong(table.span(), "count: is missing; a model draws without end, so say count = 10000"));
        }
        Ok(())
    }

    fn inside(&self, table: &Spanned<LogTable>) -> Result<Inside> {
        let Some(inside) = &table.get_ref().inside else { return Ok(Inside::Cluster) };
        Inside::from_str(inside.get_ref(), false).map_err(|_| {
            let words = format!("inside: there is no {:?}; take cluster, machine or pool", inside.get_ref());
            self.source.wrong(&inside.span(), words)
        })
    }

    fn refuses_repairs(&self, table: &Spanned<LogTable>) -> Result<bool> {
        let Some(repairs) = &table.get_ref().repairs else { return Ok(false) };
        match repairs.get_ref().as_str() {
            "count" => Ok(false),
            "refuse" => Ok(true),
            other => bail!(self.source.wrong(
                &repairs.span(),
                format!("repairs: there is no {other:?}; count repairs under named rules and says how many, refuse takes none")
            )),
        }
    }

    fn deadlines(&self, table: &Spanned<LogTable>, from: &From) -> Result<Deadlines> {
        let Some(text) = &table.get_ref().deadlines else { return Ok(Deadlines::None) };
        let wrong = |words: String| self.source.wrong(&text.span(), words);
        let deadlines = text.get_ref().parse::<Deadlines>().map_err(|error| wrong(error.to_string()))?;
        if matches!((deadlines, from), (Deadlines::Column(_), From::Model(..))) {
            bail!(wrong("deadlines: a model has no columns; write \"factor:2\"".to_owned()));
        }
        Ok(deadlines)
    }

    /// Nothing is late where nothing is due: what counts it has no value there.
    fn ensure_deadlines(&self, metrics: &Spanned<Vec<Spanned<String>>>, logs: &[Log]) -> Result<()> {
        let Some(log) = logs.iter().find(|log| log.deadlines == Deadlines::None) else { return Ok(()) };
        match metrics.get_ref().iter().find(|metric| Metric::named(metric.get_ref()).is_some_and(Metric::needs_deadlines)) {
            None => Ok(()),
            Some(metric) => bail!(self.source.wrong(
                &metric.span(),
                format!(
                    "metrics: {} is about deadlines, and no job of {} has one; add deadlines = \"factor:2\" to its [[log]] \
                     (twice the requested time), or column:N",
                    metric.get_ref(),
                    log.name
                )
            )),
        }
    }

    fn estimates(&self, text: &str, at: &Range<usize>) -> Result<Estimates> {
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

    fn value(&self, key: Key, value: &toml::Value, at: &Range<usize>) -> Result<Value> {
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
        metrics: &[Metric],
        vary: &[Dimension],
        method: Method,
    ) -> Result<Claim> {
        let ClaimTable { id, says, test } = claim.get_ref();
        let Test { metric, policy, below, above, by, every } = test.get_ref();
        let wrong = |span: Range<usize>, words: String| self.source.wrong(&span, words);
        if id.get_ref().is_empty() {
            bail!(wrong(id.span(), "id: is empty; write id = \"X1\"".to_owned()));
        }
        let Some(measured) = metrics.iter().copied().find(|known| known.name() == metric.get_ref()) else {
            let hint = did_you_mean(metric.get_ref(), metrics.iter().map(|known| known.name()));
            bail!(wrong(
                metric.span(),
                format!("metric: {:?} is none of the metrics{hint}; add it to metrics", metric.get_ref())
            ));
        };
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
        let by = by.as_ref().map_or(Ok(0.0), |by| self.margin(by, is_below, &bound))?;
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
            metric: measured,
            policy: position,
            is_below,
            bound,
            by,
            every_log,
            every: keys,
            source: format!("{file}:{}", self.source.line(&claim.span())),
        })
    }

    /// `"10%"` of the other policy's value.
    fn margin(&self, by: &Spanned<String>, is_below: bool, bound: &Against) -> Result<f64> {
        let wrong = |words: String| self.source.wrong(&by.span(), words);
        if matches!(bound, Against::Number(_)) {
            bail!(wrong(
                "by: is a share of another policy's value, and this bound is a number; leave it out".to_owned()
            ));
        }
        let text = by.get_ref();
        let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        // Nothing that is measured is below zero, so nothing is lower by more than all of it.
        let most = if is_below { 99.0 } else { 10_000.0 };
        number
            .filter(|percent| *percent > 0.0 && *percent <= most)
            .map(|percent| percent / 100.0)
            .ok_or_else(|| wrong(format!("by: {text:?} is no margin; write \"10%\", above 0 and at most {most}%")))
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
