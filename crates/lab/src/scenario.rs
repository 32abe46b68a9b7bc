//! Scenario files: every parameter of a paper, with its source, in `workloads/SLUG.toml`; and `--set key=value`.

#[doc(hidden)]
pub mod toml_text;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sim_core::Reading;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_edit::{DocumentMut, Item, Value};
pub use toml_text::did_you_mean;

/// A scenario as read, with `--set` applied.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the file in messages: `workloads/multi-site.toml`.
    pub(crate) name: String,
    document: DocumentMut,
    parameters: Vec<Parameter>,
}

/// One line of a scenario file: `key = value # source`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Dotted name, as `--set` accepts it.
    pub key: String,
    /// Value as written.
    pub value: String,
    /// Source of the value, from the comment behind it.
    pub source: String,
    /// True if `--set` changed the value.
    pub changed: bool,
}

/// Amount of work.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All replications.
    Full,
    /// A tenth or less, for a quick look and for CI.
    Quick,
}

/// Keys of the table `run` of every scenario, which [`Scenario::typed`](crate::scenario::Scenario::typed) leaves out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Runs {
    /// Replications of each cell without `--reps`.
    pub(crate) replications: u32,
    /// Replications with `--quick`, if different.
    pub(crate) quick_replications: Option<u32>,
    /// Seed without `--seed`.
    pub(crate) seed: u64,
}

const KEYS: [&str; 3] = ["replications", "quick_replications", "seed"];

static WORKSPACE: OnceLock<PathBuf> = OnceLock::new();

/// Sets the folder of the checkout: messages name files of it, and chores run in it.
pub fn set_workspace(folder: &Path) {
    if folder.is_dir() {
        // The first call wins: a program has one workspace.
        let _ = WORKSPACE.set(folder.to_owned());
    }
}

/// Returns the folder of the checkout, or the current folder if there is none. Results always go below the current folder.
pub fn workspace() -> PathBuf {
    WORKSPACE.get().cloned().unwrap_or_else(|| PathBuf::from("."))
}

impl Scenario {
    /// Reads `text` as the scenario of the paper `slug`; fails if it is not TOML.
    pub fn of_paper(slug: &str, text: &str) -> Result<Self> {
        let name = format!("workloads/{slug}.toml");
        Self::parse(&name, text).with_context(|| name)
    }

    fn parse(name: &str, text: &str) -> Result<Self> {
        let document: DocumentMut = text.parse()?;
        let parameter = |(key, value): (String, &Value)| {
            let source = value.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or("");
            let source = source.trim().trim_start_matches('#').trim().to_owned();
            Parameter { key, value: value.clone().decorated("", "").to_string(), source, changed: false }
        };
        let parameters = toml_text::values(document.as_table()).into_iter().map(parameter).collect();
        Ok(Self { name: name.to_owned(), document, parameters })
    }

    /// Applies one `--set key=value`. The value is TOML; a bare word is taken as text.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let (key, text) = assignment
            .split_once('=')
            .ok_or_else(|| anyhow!("--set {assignment}: expected KEY=VALUE, for example --set run.jobs=10000"))?;
        let (key, text) = (key.trim(), text.trim());
        let Some(parameter) = self.parameters.iter_mut().find(|parameter| parameter.key == key) else {
            let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.key.as_str()).collect();
            let hint = did_you_mean(key, names.iter().copied());
            // Only a checkout has the file.
            let list = match WORKSPACE.get() {
                Some(_) => format!("{} lists them", self.name),
                None => format!("there are {}", names.join(", ")),
            };
            bail!("--set {assignment}: no parameter is called {key:?}{hint}; {list}");
        };
        let is_text = parameter.value.starts_with('"');
        // `true` is a word if text is expected.
        let plain = text.parse().ok().filter(|value: &Value| !(is_text && value.is_bool()));
        let value: Value = plain.map_or_else(|| format!("{text:?}").parse(), Ok).map_err(|error| {
            anyhow!(
                "--set {assignment}: {text:?} is no value; write a number, a word or a list such as [1, 2] ({error})"
            )
        })?;
        let item = key
            .split('.')
            .try_fold(self.document.as_item_mut(), |item, part| item.get_mut(part))
            .expect("every listed parameter is in the document");
        parameter.changed |= item.to_string().trim() != value.to_string().trim();
        parameter.value = value.to_string().trim().to_owned();
        *item = Item::Value(value);
        Ok(())
    }

    /// Returns its answer to a reading, without quotation marks.
    pub(crate) fn answer(&self, reading: &Reading) -> &str {
        let key = reading.key();
        let parameter = self.parameters.iter().find(|parameter| parameter.key == key);
        parameter.map_or("", |parameter| parameter.value.trim_matches('"'))
    }

    /// Returns the scenario as a typed value, except for the keys of replications and seed, which the laboratory reads itself. Fails for a
    /// missing or unknown key and for a value of the wrong type, with its line and key.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<T> {
        /// Table `run` of a paper that reads none of its keys.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct NoKeys {}
        #[derive(Deserialize)]
        struct Left {
            #[serde(rename = "run")]
            _run: NoKeys,
        }
        let text = self.document.to_string();
        toml_text::read_without(&text, without_runs).map_err(|error| {
            match toml_text::read_without::<Left>(&text, without_runs) {
                // The error is the key, not its table.
                Err(key) if error.words.contains("unknown field `run`") => key.into(),
                _ => error.into(),
            }
        })
    }

    /// Returns the number of replications and the seed; fails for a missing key, a value of the wrong type, or zero replications.
    pub(crate) fn runs(&self) -> Result<Runs> {
        #[derive(Deserialize)]
        struct Whole {
            run: Runs,
        }
        let Whole { run } = toml_text::read(&self.document.to_string())?;
        for (key, value) in [("replications", Some(run.replications)), ("quick_replications", run.quick_replications)] {
            ensure!(value != Some(0), "run.{key} is 0; at least 1 is needed");
        }
        Ok(run)
    }

    /// Returns the SHA-256 of every key and value, independent of comments.
    pub(crate) fn hash(&self) -> String {
        let lines = self.parameters.iter().map(|Parameter { key, value, .. }| format!("{key}={value}\n"));
        hex::encode(Sha256::digest(lines.collect::<String>()))
    }

    /// Returns every parameter with its source, in the order of the file.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

/// Takes the keys of [`Runs`] out of a scenario, and their table if it has no other keys.
fn without_runs(scenario: &mut DeTable<'_>) {
    if let Some(DeValue::Table(run)) = scenario.get_mut("run").map(Spanned::get_mut) {
        KEYS.iter().for_each(|key| drop(run.remove(*key)));
        if run.is_empty() {
            scenario.remove("run");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[run]\njobs = 40000 # §4.2\nreplications = 20\nseed = 7\nquick_replications = 4\n\n\
        [readings]\nrelease = \"task-end\" # R2\n";

    /// The scenario without the readings and the keys of [`Runs`].
    #[derive(Debug, Deserialize)]
    struct Typed {
        run: Run,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Run {
        jobs: u32,
    }

    fn parsed(text: &str) -> Scenario {
        Scenario::parse("p.toml", text).expect("good TOML")
    }

    #[test]
    fn parameters_come_with_the_comment_behind_them_and_a_set_value_is_marked() {
        let mut scenario = parsed(TEXT);
        let jobs = &scenario.parameters()[0];
        assert_eq!((jobs.key.as_str(), jobs.value.as_str(), jobs.source.as_str()), ("run.jobs", "40000", "§4.2"));
        let runs = Runs { replications: 20, quick_replications: Some(4), seed: 7 };
        assert_eq!(scenario.runs().expect("good"), runs);
        scenario.set("run.jobs=10").expect("a known key");
        scenario.set("readings.release=gang-end").expect("a bare word is text");
        assert_eq!(scenario.typed::<Typed>().expect("still good").run.jobs, 10);
        assert!(scenario.parameters()[4].changed && scenario.parameters()[4].value == "\"gang-end\"");
        // No name is similar, and a library's tests have no checkout.
        let error = scenario.set("zzz=3").expect_err("an unknown key").to_string();
        assert!(error.contains("no parameter is called \"zzz\"; there are run.jobs, run.replications"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line_its_key_and_the_name_that_was_meant() {
        for (good, bad, words) in [
            (
                "40000",
                "-1",
                "line 2: run.jobs: invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
            ),
            ("jobs", "job", "line 2: unknown field `job`, expected `jobs`; did you mean \"jobs\"?"),
            ("= 4\n", "= 0\n", "run.quick_replications is 0; at least 1 is needed"),
            ("= 7\n", "= \"no\"\n", "line 4: run.seed: invalid type"),
            ("replications = 20\n", "", "missing field `replications`"),
        ] {
            let scenario = parsed(&TEXT.replacen(good, bad, 1));
            let error = scenario.typed::<Typed>().and_then(|_| scenario.runs()).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
