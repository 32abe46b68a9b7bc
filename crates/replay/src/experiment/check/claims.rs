//! `[[claim]]`: a sentence, and the test that it stands for.

use super::Check;
use crate::experiment::design::{Against, Claim, Dimension, Method, Policy};
use crate::experiment::file::{Bound, ClaimTable, Test};
use crate::experiment::measure::Metric;
use anyhow::{Result, bail};
use lab::scenario::did_you_mean;
use std::ops::Range;
use toml::Spanned;

impl Check<'_> {
    pub(super) fn claim(
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
