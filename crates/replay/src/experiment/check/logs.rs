//! `[[log]]`: where jobs come from, and on which machine they run.

use super::Check;
use crate::asked::Inside;
use crate::experiment::design::{From, Log, Method};
use crate::experiment::file::{File, LogTable};
use anyhow::{Result, bail};
use clap::ValueEnum;
use lab::scenario::did_you_mean;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;
use workload::model::{self, models};
use workload::{Deadlines, Estimates};

impl Check<'_> {
    pub(super) fn logs(&self, file: &File, method: Method) -> Result<Vec<Log>> {
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
                "file: a log has no seeds, so method = \"seeds\" cannot replicate it; take blocks, shake or weeks"
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
    pub(super) fn ensure_deadlines(&self, metrics: &Spanned<Vec<Spanned<String>>>, logs: &[Log]) -> Result<()> {
        let Some(log) = logs.iter().find(|log| log.deadlines == Deadlines::None) else { return Ok(()) };
        match metrics.get_ref().iter().find(|metric| metrics::Metric::named(metric.get_ref()).is_some_and(metrics::Metric::needs_deadlines)) {
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
}
