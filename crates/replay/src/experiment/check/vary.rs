//! `[vary]`: what is varied, and its values.

use super::Check;
use crate::experiment::design::{Dimension, Key, Method, Value};
use crate::experiment::file::File;
use anyhow::{Result, bail};
use lab::scenario::did_you_mean;
use std::ops::Range;

impl Check<'_> {
    pub(super) fn vary(&self, file: &File, method: Method) -> Result<Vec<Dimension>> {
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
}

const fn example(key: Key) -> &'static str {
    match key {
        Key::Load | Key::Users => "0.8, 1.0, 1.2",
        Key::Estimates => "\"user\", \"exact\"",
        Key::Procs => "64, 128",
    }
}
