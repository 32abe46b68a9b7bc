//! From a file to a design: the rules that concern more than one value. An error names file, line, key and fix.

use super::design::{Against, Claim, Design, Value};
use super::file::{Bound, ClaimTable, File, Log, Method, Replicate, Source, Vary, WarmUp};
use super::measure::{Metric, Window, is_defined_by_week};
use crate::options::stem;
use crate::simulate::Added;
use crate::simulate::policy::Policy;
use anyhow::{Result, bail};
use lab::metric::Metric as _;
use lab::scenario::did_you_mean;
use sim_core::Span;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use workload::Deadlines;
use workload::model::{self, models};

impl Design {
    /// Reads and checks the whole file; `added` are policies and metrics of the program's own.
    pub(super) fn read(source: &Source, added: &Added) -> Result<Self> {
        let mut file = source.parse()?;
        let check = SourceCheck { source, added };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let name = file.name.get_ref();
        let is_name = !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain);
        let words =
            format!("name: {name:?} names a folder of results; use letters, digits, hyphens, dots and underscores");
        check.refuse([(!is_name, file.name.span(), words)])?;
        let policies = check.policies(&file.policies)?;
        let baseline = check.policy(file.baseline.get_ref(), &file.baseline.span(), "baseline", &policies)?;
        check.replicate(&file.replicate)?;
        let Replicate { method, count, shift, weeks, warm_up, cool_down, precision } = file.replicate.get_ref();
        let metrics = check.metrics(&file.metrics, *method)?;
        file.log.iter_mut().try_for_each(|log| check.log(log, *method))?;
        check.names_of_logs(&file)?;
        check.deadlines(&file)?;
        let warm_up = warm_up.as_ref().map_or(WarmUp::Span(Span::ZERO), |text| text.get_ref().0);
        let mut design = Self {
            name: name.clone(),
            policies,
            baseline,
            metrics,
            own_metrics: added.metrics.clone(),
            seed: file.seed,
            logs: file.log.iter().map(|log| log.get_ref().clone()).collect(),
            vary: check.vary(&file)?,
            method: *method,
            count: count.as_ref().map_or(1, |count| count.get_ref().0),
            weeks: weeks.as_ref().map(|weeks| weeks.get_ref().0.into()),
            shift: shift.as_ref().map_or(Span::from_secs(60), |shift| shift.get_ref().0.0),
            window: Window { warm_up, cool_down: cool_down.0.0 },
            precision: precision.as_ref().map(|share| share.get_ref().0),
            claims: Vec::new(),
        };
        for table in &file.claim {
            let claim = check.claim(table, &design)?;
            let is_taken = design.claims.iter().any(|known| known.id == claim.id);
            let words = format!("id: two claims are called {:?}; rename one", claim.id);
            check.refuse([(is_taken, table.span(), words)])?;
            design.claims.push(claim);
        }
        Ok(design)
    }
}

/// Rule: true if it is broken, its span, and the fix.
type Rule = (bool, Range<usize>, String);

/// Checks with the source at hand, for messages.
struct SourceCheck<'a> {
    source: &'a Source,
    added: &'a Added,
}

fn rule(is_broken: bool, span: Range<usize>, words: impl Into<String>) -> Rule {
    (is_broken, span, words.into())
}

/// Refuses a key that is given although `is_wrong`.
fn given<T>(key: Option<&Spanned<T>>, is_wrong: bool, words: impl Into<String>) -> Rule {
    (is_wrong && key.is_some(), key.map_or(0..0, Spanned::span), words.into())
}

impl SourceCheck<'_> {
    /// Fails at the first rule that is broken.
    fn refuse(&self, rules: impl IntoIterator<Item = Rule>) -> Result<()> {
        match rules.into_iter().find(|(is_broken, ..)| *is_broken) {
            Some((_, span, words)) => bail!(self.source.wrong(&span, words)),
            None => Ok(()),
        }
    }

    fn policies(&self, given: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<Policy>> {
        let mut policies: Vec<Policy> = Vec::new();
        for text in given.get_ref() {
            let policy = Policy::find(text.get_ref(), &self.added.policies)
                .map_err(|words| self.source.wrong(&text.span(), format!("policies: {words}")))?;
            let is_there = policies.iter().any(|known| known.name() == policy.name());
            let words = format!("policies: {} is there twice; leave one out", policy.name());
            self.refuse([(is_there, text.span(), words)])?;
            policies.push(policy);
        }
        let words = "policies: an experiment compares; give two or more, as in [\"easy\", \"cons\"]";
        self.refuse([rule(policies.len() < 2, given.span(), words)])?;
        Ok(policies)
    }

    /// Position of the policy with this name, in any spelling.
    fn policy(&self, text: &str, span: &Range<usize>, key: &str, policies: &[Policy]) -> Result<usize> {
        let found = Policy::find(text, &self.added.policies);
        let name = found.as_ref().map_or(text, Policy::name);
        let names = || policies.iter().map(|policy| policy.name());
        names().position(|known| known == name).ok_or_else(|| {
            let (hint, listed) = (did_you_mean(text, names()), names().collect::<Vec<_>>().join(", "));
            let words = format!("{key}: {text:?} is none of the policies{hint}; take one of {listed}, or add it");
            self.source.wrong(span, words)
        })
    }

    fn metrics(&self, given: &Spanned<Vec<Spanned<String>>>, method: Method) -> Result<Vec<Metric>> {
        let all: Vec<Metric> =
            Metric::list().into_iter().chain(self.added.metrics.iter().map(|own| own.metric)).collect();
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in given.get_ref() {
            let name = metric.get_ref();
            let known = all.iter().find(|known| known.name() == name);
            let hint = did_you_mean(name, all.iter().map(|known| known.name()));
            self.refuse([
                rule(known.is_none(), metric.span(), format!("metrics: no metric is called {name:?}{hint}; there are the columns of summary.csv of `simulate`")),
                rule(method == Method::Weeks && known.is_some_and(|known| !is_defined_by_week(known)), metric.span(), format!("metrics: {name} has no estimate over blocks of one replay; take a mean, or another method of replication")),
            ])?;
            metrics.extend(known.filter(|known| !metrics.contains(known)));
        }
        let words = "metrics: there are none; give some, as in [\"wait_mean\"]";
        self.refuse([rule(metrics.is_empty(), given.span(), words)])?;
        Ok(metrics)
    }

    /// Checks a log, and enters its name and line.
    fn log(&self, table: &mut Spanned<Log>, method: Method) -> Result<()> {
        let span = table.span();
        let log = table.get_mut();
        let Log { file, model, procs, machines, inside, deadlines, count, preset, .. } = &*log;
        let is_column = matches!(log.deadlines(), Deadlines::Column(_));
        let name = model.as_ref().map_or("", |model| model.get_ref());
        let (hint, names) = (
            did_you_mean(name, models().iter().map(|model| model.name)),
            models().iter().map(|model| model.name).collect::<Vec<_>>().join(", "),
        );
        self.refuse([
            rule(
                file.is_none() && model.is_none(),
                span.clone(),
                "log: needs file = \"FILE.swf.gz\" or model = \"lublin\"",
            ),
            given(model.as_ref(), file.is_some(), "model: this log has a file, too; leave one of them out"),
            given(
                file.as_ref(),
                method == Method::Seeds,
                "file: a log has no seeds, so method = \"seeds\" cannot replicate it; take blocks, shake or weeks",
            ),
            given(
                preset.as_ref(),
                file.is_some(),
                "preset: holds the parameters of a model, and this is a file; leave it out",
            ),
            given(
                machines.as_ref(),
                procs.is_some(),
                "machines: procs says how large the machine is; leave one of them out",
            ),
            given(inside.as_ref(), machines.is_none(), "inside: goes with machines = \"FILE\"; leave it out"),
            given(
                deadlines.as_ref(),
                model.is_some() && is_column,
                "deadlines: a model has no columns; write \"factor:2\"",
            ),
            given(
                model.as_ref(),
                model::named(name).is_none(),
                format!("model: there is no {name:?}{hint}; there are {names}"),
            ),
            rule(
                model.is_some() && count.is_none(),
                span.clone(),
                "count: is missing; a model draws without end, so say count = 10000",
            ),
        ])?;
        if log.name.is_empty() {
            log.name = stem(Path::new(file.as_ref().or(model.as_ref()).map_or("", |from| from.get_ref())));
        }
        log.line = self.source.line(&span);
        Ok(())
    }

    fn names_of_logs(&self, file: &File) -> Result<()> {
        let none = "log: there is none; add [[log]] with file = \"FILE.swf.gz\" or model = \"lublin\"";
        self.refuse([rule(file.log.is_empty(), file.name.span(), none)])?;
        let mut names = BTreeSet::new();
        self.refuse(file.log.iter().map(|log| {
            let name = &log.get_ref().name;
            let words = format!("log: two are called {name:?}; give one another name = \"…\"");
            (!names.insert(name), log.span(), words)
        }))
    }

    /// Refuses metrics of tardiness if a log has no deadlines.
    fn deadlines(&self, file: &File) -> Result<()> {
        let mut logs = file.log.iter().map(Spanned::get_ref);
        let Some(log) = logs.find(|log| log.deadlines() == Deadlines::None) else { return Ok(()) };
        self.refuse(file.metrics.get_ref().iter().map(|metric| {
            let needs = metrics::Metric::named(metric.get_ref()).is_some_and(metrics::Metric::needs_deadlines);
            let words = format!(
                "metrics: {} is about deadlines, and no job of {} has one; add deadlines = \"factor:2\" to its [[log]] (twice the \
                 requested time), or column:N",
                metric.get_ref(),
                log.name
            );
            (needs, metric.span(), words)
        }))
    }

    /// Dimensions in the order of the file.
    fn vary(&self, file: &File) -> Result<Vec<Vec<Value>>> {
        fn list<T: Copy>(
            values: Option<&Spanned<Vec<T>>>,
            value: impl Fn(T) -> Value,
        ) -> Option<(Range<usize>, Vec<Value>)> {
            values.map(|values| (values.span(), values.get_ref().iter().map(|one| value(*one)).collect()))
        }
        let Vary { load, estimates, users, procs } = &file.vary;
        let machines = file.log.iter().any(|log| log.get_ref().machines.is_some());
        let method = file.replicate.get_ref().method;
        self.refuse([
            given(
                users.as_ref(),
                method != Method::Users,
                format!(
                    "users: more or fewer users are drawn by method = \"users\" alone; here it is {}",
                    method.name()
                ),
            ),
            given(
                procs.as_ref(),
                machines,
                "procs: a log has machines = \"FILE\", whose size is fixed; leave one of them out",
            ),
        ])?;
        let mut all = [
            ("load", list(load.as_ref(), |factor| Value::Load(factor.0))),
            ("estimates", list(estimates.as_ref(), |text| Value::Estimates(text.0))),
            ("users", list(users.as_ref(), |factor| Value::Users(factor.0))),
            ("procs", list(procs.as_ref(), |procs| Value::Procs(procs.0))),
        ];
        all.sort_by_key(|(_, values)| values.as_ref().map(|(span, _)| span.start));
        let mut dimensions = Vec::new();
        for (name, (span, values)) in all.into_iter().filter_map(|(name, values)| Some((name, values?))) {
            self.refuse([(values.is_empty(), span.clone(), format!("{name}: is empty; give one value at least"))])?;
            self.refuse(values.iter().enumerate().map(|(at, value)| {
                let words = format!("{name}: {value} is there twice; leave one out");
                (values[..at].contains(value), span.clone(), words)
            }))?;
            dimensions.push(values);
        }
        Ok(dimensions)
    }

    fn replicate(&self, table: &Spanned<Replicate>) -> Result<()> {
        let Replicate { method, count, shift, weeks, warm_up, precision, .. } = table.get_ref();
        let (name, is_one) = (method.name(), *method == Method::Weeks);
        self.refuse([
            given(
                shift.as_ref(),
                *method != Method::Shake,
                format!("shift: goes with method = \"shake\", and not with {name}; leave it out"),
            ),
            given(
                weeks.as_ref(),
                !matches!(method, Method::Blocks | Method::Users),
                format!("weeks: goes with method = \"blocks\" or \"users\", and not with {name}; leave it out"),
            ),
            given(count.as_ref(), is_one, "count: weeks are as many as the log has; leave it out"),
            given(precision.as_ref(), is_one, "precision: a log has no more weeks than it has; leave it out"),
            rule(count.is_none() && !is_one, table.span(), "count: is missing; write count = 30 below [replicate]"),
            given(
                warm_up.as_ref(),
                is_one && warm_up.as_ref().is_some_and(|text| text.get_ref().0 == WarmUp::Mser),
                "warm_up: mser-5 cuts each replication elsewhere, and weeks are of one; give a span such as \"7d\"",
            ),
        ])
    }

    fn claim(&self, table: &Spanned<ClaimTable>, design: &Design) -> Result<Claim> {
        let ClaimTable { id, says, test: all } = table.get_ref();
        let test = all.get_ref();
        let names = || design.metrics.iter().map(|known| known.name());
        let Some(metric) = design.metrics.iter().find(|known| known.name() == test.metric.get_ref()) else {
            let (name, span) = (test.metric.get_ref(), test.metric.span());
            let hint = did_you_mean(name, names());
            bail!(
                self.source.wrong(&span, format!("metric: {name:?} is none of the metrics{hint}; add it to metrics"))
            );
        };
        let (is_below, key, bound) = match (&test.below, &test.above) {
            (Some(below), None) => (true, "below", below),
            (None, Some(above)) => (false, "above", above),
            _ => bail!(self.source.wrong(&all.span(), "test: needs either below or above, a policy or a number")),
        };
        let policy = self.policy(test.policy.get_ref(), &test.policy.span(), "policy", &design.policies)?;
        let bound = match bound.get_ref() {
            Bound::Number(number) => Against::Number(*number),
            Bound::Policy(name) => Against::Policy(self.policy(name, &bound.span(), key, &design.policies)?),
        };
        let known: Vec<&str> = std::iter::once("log").chain(design.varied()).collect();
        let every: Vec<&str> = test.every.iter().map(|name| name.get_ref().as_str()).collect();
        self.refuse(test.every.iter().map(|one| {
            let name = one.get_ref();
            let words = format!("every: {name:?} is not varied here; there are {}", known.join(", "));
            (!known.contains(&name.as_str()), one.span(), words)
        }))?;
        let is_number = matches!(bound, Against::Number(_));
        let by = test.by.as_ref().map_or(0.0, |by| by.get_ref().0.0);
        let every_log = every.contains(&"log");
        self.refuse([
            rule(id.get_ref().is_empty(), id.span(), "id: is empty; write id = \"X1\""),
            rule(
                bound == Against::Policy(policy),
                all.span(),
                format!("{key}: a policy is not {key} itself; name another one"),
            ),
            given(
                test.by.as_ref(),
                is_number,
                "by: is a share of another policy's value, and this bound is a number; leave it out",
            ),
            // No metric is below zero, so no value is lower by more than all of another one.
            given(test.by.as_ref(), is_below && by > 0.99, "by: no value is lower by so much; give at most \"99%\""),
            rule(
                !every_log && design.method == Method::Weeks,
                all.span(),
                "every: weeks of different logs cannot be paired; add \"log\" to every",
            ),
            rule(
                !every_log && is_number,
                all.span(),
                "every: a number is not the same in different logs; add \"log\" to every",
            ),
        ])?;
        let columns = every.iter().filter_map(|name| design.varied().position(|known| known == *name));
        let file = self.source.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Claim {
            id: id.get_ref().clone(),
            says: says.clone(),
            metric,
            policy,
            is_below,
            bound,
            by,
            every_log,
            every: columns.collect(),
            source: format!("{file}:{}", self.source.line(&table.span())),
        })
    }
}
