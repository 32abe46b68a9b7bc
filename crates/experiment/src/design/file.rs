//! The file of an experiment as it is written. Single values are checked during reading, so that each error has its line.

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use lab::scenario::toml_text;
use replay::Inside;
use replay::simulate::Added;
use serde::Deserialize;
use sim_core::Span;
use std::path::PathBuf;
use std::str::FromStr;
use workload::{Deadlines, Estimates};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) policies: Vec<String>,
    pub(crate) baseline: String,
    pub(crate) metrics: Vec<String>,
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default)]
    pub(crate) log: Vec<Log>,
    #[serde(default)]
    pub(crate) vary: Vary,
    pub(crate) replicate: Replicate,
    #[serde(default)]
    pub(crate) claim: Vec<ClaimTable>,
}

/// `[[log]]`: one log, or a model in its place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) file: Option<String>,
    pub(crate) model: Option<String>,
    /// Name, as in the column `log`; of the file or the model if not given.
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) procs: Option<WholeNumber<1, { u32::MAX }>>,
    pub(crate) machines: Option<PathBuf>,
    pub(crate) inside: Option<Inside>,
    /// Estimates that policies see, unless they are varied; of the users if not given.
    pub(crate) estimates: Option<ValueText<Estimates>>,
    #[serde(default)]
    pub(crate) deadlines: ValueText<Deadlines>,
    #[serde(default)]
    pub(crate) repairs: RepairRule,
    /// Number of jobs of a model; largest number of records of a log.
    pub(crate) count: Option<WholeNumber<1, 100_000_000>>,
    /// Offered load that it is scaled to.
    pub(crate) load: Option<Factor>,
    pub(crate) preset: Option<String>,
    #[serde(skip)]
    pub(crate) line: usize,
}

/// Reaction to records that need a repair.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RepairRule {
    /// Repairs under the named rules, and counts.
    #[default]
    Count,
    Refuse,
}

/// `[vary]`: a list of values for each key.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vary {
    pub(crate) load: Option<Vec<Factor>>,
    pub(crate) estimates: Option<Vec<ValueText<Estimates>>>,
    pub(crate) users: Option<Vec<Factor>>,
    pub(crate) procs: Option<Vec<WholeNumber<1, { u32::MAX }>>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replicate {
    #[serde(default)]
    pub(crate) method: Method,
    pub(crate) count: Option<WholeNumber<2, 100_000>>,
    /// Largest shift of a submission by `shake`.
    pub(crate) shift: Option<ValueText<Length>>,
    /// Length of a replication by `blocks` or `users`; that of the log if not given.
    pub(crate) weeks: Option<WholeNumber<1, 5_200>>,
    /// The beginning of a run that does not count, by the submission of jobs.
    #[serde(default)]
    pub(crate) warm_up: ValueText<WarmUp>,
    /// Length of the end that does not count.
    #[serde(default)]
    pub(crate) cool_down: ValueText<Length>,
    pub(crate) precision: Option<f64>,
}

impl Replicate {
    pub(crate) fn count(&self) -> u32 {
        self.count.map_or(1, |count| count.0)
    }

    pub(crate) fn weeks(&self) -> Option<u64> {
        self.weeks.map(|weeks| weeks.0.into())
    }

    pub(crate) fn shift(&self) -> Span {
        self.shift.map_or(Span::from_secs(60), |ValueText(Length(shift))| shift)
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    #[default]
    Blocks,
    Users,
    Shake,
    Seeds,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimTable {
    pub(crate) id: String,
    pub(crate) says: String,
    pub(crate) test: Test,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    pub(crate) metric: String,
    pub(crate) policy: String,
    pub(crate) below: Option<Bound>,
    pub(crate) above: Option<Bound>,
    /// `"10%"`: the least difference, relative to the other policy.
    pub(crate) by: Option<ValueText<MarginText>>,
    #[serde(default)]
    pub(crate) every: Vec<String>,
}

/// The other side of a comparison: another policy, or a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bound {
    Number(f64),
    Policy(String),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "i64")]
pub(crate) struct WholeNumber<const LOW: u32, const HIGH: u32>(pub(super) u32);

impl<const LOW: u32, const HIGH: u32> TryFrom<i64> for WholeNumber<LOW, HIGH> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        let inside = u32::try_from(number).ok().filter(|number| (LOW..=HIGH).contains(number));
        inside.map(Self).ok_or_else(|| format!("{number} is out of range; give {LOW} to {HIGH}"))
    }
}

#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Factor(pub(super) f64);

impl TryFrom<f64> for Factor {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        let is_inside = (0.01..=100.0).contains(&number);
        is_inside.then_some(Self(number)).ok_or_else(|| format!("{number} is out of range; give 0.01 to 100"))
    }
}

#[derive(Copy, Clone, Debug, Default, Deserialize)]
#[serde(try_from = "String", bound = "T: FromStr<Err: ToString>")]
pub(crate) struct ValueText<T: FromStr<Err: ToString>>(pub(super) T);

impl<T: FromStr<Err: ToString>> TryFrom<String> for ValueText<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: T::Err| error.to_string())
    }
}

/// `90s`, `15m`, `4h`, `7d`; at most ten years.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Length(pub(super) Span);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let span = workload::span(text).filter(|span| *span <= Span::from_secs(315_360_000));
        span.map(Self).ok_or_else(|| format!("{text:?} is no span; write 30s, 4h or 7d"))
    }
}

/// Beginning of a run that does not count: a span, or cut by MSER-5 on the waits under the baseline.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum WarmUp {
    Mser,
    Span(Span),
}

impl Default for WarmUp {
    fn default() -> Self {
        Self::Span(Span::ZERO)
    }
}

impl FromStr for WarmUp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<Length>()) {
            ("mser-5", _) => Ok(Self::Mser),
            (_, Ok(Length(span))) => Ok(Self::Span(span)),
            _ => Err(format!("{text:?} is no span; write \"mser-5\", 4h or 7d")),
        }
    }
}

/// `10%`, as a share.
#[derive(Copy, Clone, Debug)]
pub(crate) struct MarginText(pub(super) f64);

impl FromStr for MarginText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let inside = percent.filter(|percent| *percent > 0.0 && *percent <= 10_000.0);
        inside
            .map(|percent| Self(percent / 100.0))
            .ok_or_else(|| format!("{text:?} is no margin; write \"10%\", above 0 and at most 10000%"))
    }
}

/// A text with its path, to find the line of an error, and the policies and metrics that it may name beside those of the catalogue.
pub(crate) struct Source<'a> {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) added: &'a Added,
}

impl Source<'_> {
    /// Reads the text; an error names line and key.
    pub(crate) fn parse(&self) -> Result<File> {
        toml_text::read(&self.text).map_err(|wrong| anyhow!("{}:{}: {}", self.path.display(), wrong.line, wrong.words))
    }

    /// The line, counted from 1, of a value by its path, such as `log.1.file`.
    pub(crate) fn line(&self, value: &str) -> usize {
        1 + self.text[..toml_text::position_of(&self.text, value)].matches('\n').count()
    }

    /// Error about a value. `words` begin with the key and end with the fix.
    pub(crate) fn wrong(&self, value: &str, words: impl std::fmt::Display) -> anyhow::Error {
        anyhow!("{}:{}: {words}", self.path.display(), self.line(value))
    }
}
