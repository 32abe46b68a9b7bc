//! From a file to a design: everything in it checked, and what makes no sense told with file, line, key and the fix.

mod claims;
mod logs;
mod replicate;
mod vary;

use super::design::{Design, Method, Policy};
use super::file::Source;
use super::measure::{Metric, is_defined_by_week};
use crate::simulate::Added;
use crate::simulate::policy;
use anyhow::{Result, bail};
use lab::metric::Metric as _;
use lab::scenario::did_you_mean;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use workload::Estimates;

impl Design {
    /// Reads and checks the whole file; `added` are policies and metrics of the program's own.
    pub(super) fn read(source: &Source, added: &Added) -> Result<Self> {
        let file = source.parse()?;
        let check = Check { source, added };
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
            own_metrics: added.metrics.clone(),
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
    added: &'a Added,
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
            let held = policy::Policy::find(text.get_ref(), &self.added.policies)
                .map_err(|words| self.source.wrong(&text.span(), format!("policies: {words}")))?;
            let name = held.name().to_owned();
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
        let name = policy::Policy::find(text, &self.added.policies);
        let name = name.as_ref().map_or(text.as_str(), |policy| policy.name());
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

    fn measured(&self) -> impl Iterator<Item = Metric> {
        Metric::list().into_iter().chain(self.added.metrics.iter().copied())
    }

    fn metrics(&self, given: &Spanned<Vec<Spanned<String>>>, method: Method) -> Result<Vec<Metric>> {
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in given.get_ref() {
            let name = metric.get_ref();
            let Some(known) = self.measured().find(|known| known.name() == name) else {
                let hint = did_you_mean(name, self.measured().map(|known| known.name()));
                bail!(self.source.wrong(
                    &metric.span(),
                    format!("metrics: no metric is called {name:?}{hint}; there are the columns of summary.csv of `simulate`")
                ));
            };
            if method == Method::Weeks && !is_defined_by_week(known) {
                bail!(self.source.wrong(
                    &metric.span(),
                    format!("metrics: {name} has no estimate over blocks of one replay; take a mean, or another method of replication")
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

    fn number(&self, given: &Spanned<i64>, key: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32> {
        let number = u32::try_from(*given.get_ref()).ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            self.source
                .wrong(&given.span(), format!("{key}: {} is out of range; give {low} to {high}", given.get_ref()))
        })
    }

    fn factor(&self, span: &Range<usize>, key: &str, number: f64) -> Result<f64> {
        if (0.01..=100.0).contains(&number) {
            return Ok(number);
        }
        bail!(self.source.wrong(span, format!("{key}: {number} is out of range; give 0.01 to 100")))
    }

    fn estimates(&self, text: &str, at: &Range<usize>) -> Result<Estimates> {
        text.parse().map_err(|error| self.source.wrong(at, error))
    }
}
