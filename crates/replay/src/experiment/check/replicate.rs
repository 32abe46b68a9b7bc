//! `[replicate]`: what stands for replications, and which part of a run counts.

use super::Check;
use crate::experiment::design::Method;
use crate::experiment::file::Replicate;
use crate::experiment::measure::Window;
use anyhow::{Result, bail};
use lab::scenario::did_you_mean;
use sim_core::Span;
use std::ops::Range;
use toml::Spanned;

impl Check<'_> {
    pub(super) fn replicate(&self, given: &Spanned<Replicate>) -> Result<(Method, u32, Window)> {
        let Replicate { method, count, shift, weeks, precision, .. } = given.get_ref();
        let wrong = |span: Range<usize>, words: String| self.source.wrong(&span, words);
        let name = method.as_ref().map_or("blocks", |method| method.get_ref());
        let weeks_of = weeks.as_ref().map(|weeks| self.number(weeks, "weeks", 1..=5_200)).transpose()?;
        let found = match name {
            "blocks" => Method::Blocks { weeks: weeks_of.map(u64::from) },
            "users" => Method::Users { weeks: weeks_of.map(u64::from) },
            "shake" => {
                let most = shift.as_ref().map(|text| self.span(text, "shift", "30s or 5m")).transpose()?;
                Method::Shake { most: most.unwrap_or(Span::from_secs(60)) }
            }
            "weeks" => Method::Weeks,
            "seeds" => Method::Seeds,
            _ => {
                let hint = did_you_mean(name, ["blocks", "users", "shake", "weeks", "seeds"].into_iter());
                bail!(wrong(
                    method.as_ref().map_or_else(|| given.span(), Spanned::span),
                    format!("method: there is no {name:?}{hint}; there are blocks, users, shake, weeks and seeds")
                ));
            }
        };
        if let Some(shift) = shift.as_ref().filter(|_| !matches!(found, Method::Shake { .. })) {
            bail!(wrong(
                shift.span(),
                format!("shift: goes with method = \"shake\", and not with {name}; leave it out")
            ));
        }
        if let Some(weeks) = weeks.as_ref().filter(|_| !matches!(found, Method::Blocks { .. } | Method::Users { .. })) {
            bail!(wrong(
                weeks.span(),
                format!("weeks: goes with method = \"blocks\" or \"users\", and not with {name}; leave it out")
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

    pub(super) fn share(&self, given: &Spanned<f64>) -> Result<f64> {
        let share = *given.get_ref();
        if share > 0.0 && share < 1.0 {
            return Ok(share);
        }
        bail!(
            self.source.wrong(&given.span(), format!("precision: {share} is out of range; give a share such as 0.02"))
        )
    }
}

/// `90s`, `15m`, `4h`, `7d`; at most ten years.
fn span(text: &str) -> Option<Span> {
    workload::outages::span(text).filter(|span| *span <= Span::from_secs(315_360_000))
}
