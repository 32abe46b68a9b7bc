//! Names of policies: `BASE+KEY=VALUE+…`, as on the command line, in tables, and of the folder of a policy's results.
//!
//! Such a name needs no quotes in a shell and is a legal file name on every system. A parser takes the settings out of a
//! [`PolicyName`] one by one; [`PolicyName::finish`] refuses the rest.

use lab::scenario::did_you_mean;
use std::fmt;

/// Keys that `BASE:VALUE` set, before settings had names.
const COLON: [(&str, &str); 5] =
    [("easy", "reserve"), ("flex", "reserve"), ("ptt", "w"), ("ptt-occ", "w"), ("hybrid", "trees")];

/// The name of a policy: its base, and settings that no parser has taken yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolicyName {
    base: String,
    settings: Vec<(String, String)>,
    /// Keys that a parser tried, for messages.
    known: Vec<&'static str>,
    /// The name as the user wrote it.
    given: String,
}

impl PolicyName {
    /// The base of a name, also if the rest has rules of its own, such as the path of `exec+./mine.py`.
    pub(crate) fn base_of(text: &str) -> &str {
        let base = text.split_once('+').map_or(text, |(base, _)| base);
        base.split_once(':').map_or(base, |(base, _)| base)
    }

    /// Parses `easy+reserve=8`, and the old form `easy:8`. A value may contain `=`, as in `predict=mean-of-user=5`, but no `+`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split('+');
        let head = parts.next().unwrap_or_default();
        let mut name = Self { base: head.to_owned(), settings: Vec::new(), known: Vec::new(), given: text.to_owned() };
        if let Some((base, value)) = head.split_once(':') {
            // Without an old key it is no policy's name; the policies report that.
            if let Some((_, key)) = COLON.into_iter().find(|(known, _)| *known == base) {
                base.clone_into(&mut name.base);
                name.settings.push((key.to_owned(), value.to_owned()));
            }
        }
        for part in parts {
            let setting = part.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
            let (key, value) = setting.ok_or_else(|| {
                format!("{text:?}: {part:?} is no setting; write KEY=VALUE behind each +, as in easy+reserve=8")
            })?;
            if name.settings.iter().any(|(known, _)| known == key) {
                return Err(format!("{text:?}: {key} is set twice; leave one out"));
            }
            name.settings.push((key.to_owned(), value.to_owned()));
        }
        Ok(name)
    }

    /// The name as that of a folder: of the path of a file its last part.
    pub(crate) fn folder(&self) -> String {
        let settings = self.settings.iter().map(|(key, value)| format!("+{key}={}", legal(value)));
        self.base.clone() + &settings.collect::<String>()
    }

    /// Takes all settings that are left, as `KEY=VALUE`.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.settings.drain(..).map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// Takes a setting; `None` if the name has none with this key. `expected` describes valid values, for the message.
    pub(crate) fn take<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, String> {
        self.known.push(key);
        let Some(found) = self.settings.iter().position(|(known, _)| known == key) else { return Ok(None) };
        let (_, value) = self.settings.remove(found);
        let wrong = || {
            let hint = did_you_mean(&value, expected.split(", ").filter(|name| !name.contains(' ')));
            format!("{:?}: {key} is {value:?}; expected {expected}{hint}", self.given)
        };
        parse(&value).map(Some).ok_or_else(wrong)
    }

    /// Refuses settings that were not taken.
    pub(crate) fn finish(self) -> Result<(), String> {
        let Some((key, _)) = self.settings.first() else { return Ok(()) };
        let (given, base, known) = (&self.given, &self.base, &self.known);
        if known.is_empty() {
            return Err(format!("{given:?}: {base} has no settings; leave {key} out"));
        }
        let hint = did_you_mean(key, known.iter().copied());
        Err(format!("{given:?}: {base} has no setting {key:?}{hint}; it has {}", known.join(", ")))
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        self.settings.iter().try_for_each(|(key, value)| write!(f, "+{key}={value}"))
    }
}

/// The last part of a path, in characters that are legal in the name of a folder on every system.
pub(crate) fn legal(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().map(|c| if c.is_ascii_alphanumeric() || "._-+=".contains(c) { c } else { '_' }).collect()
}

/// Policies of a world that have at most one setting, a number, which must be given.
pub(crate) struct Registry<B: 'static> {
    /// Form in the help (`rr`, `ptt+w=W`), description, and builder from the number; the number is zero if the form has none.
    pub(crate) policies: &'static [(&'static str, &'static str, B)],
    pub(crate) key: &'static str,
    /// The number in messages.
    pub(crate) expected: &'static str,
    pub(crate) suits: fn(&f64) -> bool,
}

/// Policy of a registry. `Display` is its name, as on the command line and of the folder of its results.
pub(crate) struct Chosen<B> {
    name: String,
    pub(crate) build: B,
    pub(crate) number: f64,
}

impl<B: Copy> Registry<B> {
    pub(crate) fn forms(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.policies.iter().map(|(form, about, _)| (*form, *about))
    }

    pub(crate) fn names(&self) -> String {
        self.forms().map(|(form, _)| form).collect::<Vec<_>>().join(", ")
    }

    /// The policy called `text`; `None` if the registry has none with this base.
    pub(crate) fn find(&self, text: &str) -> Option<Result<Chosen<B>, String>> {
        let base = PolicyName::base_of(text);
        let (form, _, build) = self.policies.iter().find(|(form, ..)| PolicyName::base_of(form) == base)?;
        let Self { key, expected, suits, .. } = self;
        let chosen = |mut name: PolicyName| {
            let (mut normal, mut number) = (name.base.clone(), 0.0);
            if *form != base {
                // Minus zero becomes zero.
                let valid = |text: &str| text.parse().ok().filter(suits).map(f64::abs);
                number = name.take(key, expected, valid)?.ok_or_else(|| format!("{}: needs {expected}", name.base))?;
                normal += &format!("+{key}={number}");
            }
            name.finish().map(|()| Chosen { name: normal, build: *build, number })
        };
        Some(PolicyName::parse(text).and_then(chosen))
    }
}

impl<B> fmt::Display for Chosen<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
