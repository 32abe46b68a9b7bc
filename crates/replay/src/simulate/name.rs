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

    /// Parses `easy`, `easy+reserve=8`, and the old form `easy:8`. A value may contain `=`, as in
    /// `easy+predict=mean-of-user=5`, but no `+`.
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
            let Some((key, value)) = setting else {
                return Err(format!(
                    "{text:?}: {part:?} is no setting; write KEY=VALUE behind each +, as in easy+reserve=8"
                ));
            };
            if name.settings.iter().any(|(known, _)| known == key) {
                return Err(format!("{text:?}: {key} is set twice; leave one out"));
            }
            name.settings.push((key.to_owned(), value.to_owned()));
        }
        Ok(name)
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
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

/// Entry of a registry of policies that have at most one setting: a number, which must be given.
pub(crate) struct Base<B: 'static> {
    /// Form in the help: `rr`, `ptt+w=W`.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) number: Option<&'static Number>,
    /// Builds the policy.
    pub(crate) build: B,
}

/// The number in the name of a policy: `w` of `ptt+w=0.5`.
pub(crate) struct Number {
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) example: &'static str,
    pub(crate) suits: fn(&f64) -> bool,
}

/// Policy of such a registry, with its number. `Display` is its name, as on the command line and of the folder of its results.
pub(crate) struct Chosen<B: 'static> {
    pub(crate) base: &'static Base<B>,
    /// Zero if it has none.
    pub(crate) number: f64,
}

impl<B> Base<B> {
    /// Names of all, for messages.
    pub(crate) fn names(all: &[Self]) -> String {
        all.iter().map(|base| base.name).collect::<Vec<_>>().join(", ")
    }

    /// The policy called `text`; `None` if the registry has none with this base.
    pub(crate) fn find(all: &'static [Self], text: &str) -> Option<Result<Chosen<B>, String>> {
        let is_it = |known: &&Self| PolicyName::base_of(known.name) == PolicyName::base_of(text);
        all.iter().find(is_it).map(|base| base.chosen(text))
    }

    fn chosen(&'static self, text: &str) -> Result<Chosen<B>, String> {
        let (mut name, mut number) = (PolicyName::parse(text)?, 0.0);
        if let Some(Number { key, about, example, suits }) = self.number {
            let expected = format!("{about}, as in {}+{key}={example}", name.base());
            // Minus zero becomes zero.
            let valid = |text: &str| text.parse().ok().filter(suits).map(f64::abs);
            let found = name.take(key, &expected, valid)?;
            number = found.ok_or_else(|| format!("{}: needs {expected}", name.base()))?;
        }
        name.finish().map(|()| Chosen { base: self, number })
    }
}

impl<B> fmt::Display for Chosen<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PolicyName::base_of(self.base.name))?;
        self.base.number.map_or(Ok(()), |number| write!(f, "+{}={}", number.key, self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<u32> {
        text.parse().ok()
    }

    #[test]
    fn settings_are_taken_by_key_in_any_order_and_what_is_left_is_refused() {
        let mut name = PolicyName::parse("easy+order=wfp3+reserve=8").expect("a name");
        assert_eq!(name.base(), "easy");
        assert_eq!(name.take("reserve", "a number", number), Ok(Some(8)));
        assert_eq!(name.take("predict", "a word", |text| Some(text.to_owned())), Ok(None));
        let left = name.clone().finish().expect_err("order was not taken");
        assert_eq!(left, r#""easy+order=wfp3+reserve=8": easy has no setting "order"; it has reserve, predict"#);
        assert_eq!(name.take("order", "a word", |text| Some(text.to_owned())), Ok(Some("wfp3".to_owned())));
        assert_eq!(name.finish(), Ok(()));
    }

    #[test]
    fn what_was_once_written_with_a_colon_means_the_same() {
        for (old, new) in [
            ("easy:8", "easy+reserve=8"),
            ("flex:all", "flex+reserve=all"),
            ("ptt:0.5", "ptt+w=0.5"),
            ("ptt-occ:0", "ptt-occ+w=0"),
            ("hybrid:2", "hybrid+trees=2"),
            ("easy:8+order=sjf", "easy+reserve=8+order=sjf"),
        ] {
            assert_eq!(PolicyName::parse(old).expect(old).to_string(), new);
            assert_eq!(PolicyName::parse(new).expect(new).to_string(), new, "a name is its own normal form");
            assert_eq!(PolicyName::base_of(old), PolicyName::base_of(new));
        }
    }

    #[test]
    fn a_malformed_name_is_refused() {
        let wrong = |text: &str| PolicyName::parse(text).expect_err(text);
        assert!(wrong("easy+").contains(r#""" is no setting"#));
        assert!(wrong("easy+8").contains("write KEY=VALUE behind each +"));
        assert!(wrong("easy+reserve=").contains(r#""reserve=" is no setting"#));
        assert!(wrong("easy:8+reserve=9").contains("reserve is set twice"));
        let mut name = PolicyName::parse("easy+reserve=x").expect("a name");
        let message = name.take("reserve", "a number from 0 on", number).expect_err("no number");
        assert_eq!(message, r#""easy+reserve=x": reserve is "x"; expected a number from 0 on"#);
        let message = PolicyName::parse("fcfs+reserve=1").expect("a name").finish().expect_err("no setting");
        assert_eq!(message, r#""fcfs+reserve=1": fcfs has no settings; leave reserve out"#);
        let mut name = PolicyName::parse("easy+reserv=1").expect("a name");
        name.take("reserve", "a number", number).expect("none");
        assert!(name.finish().expect_err("a typing error").contains("did you mean \"reserve\"?"));
    }

    #[test]
    fn a_value_may_hold_an_equals_sign() {
        let mut name = PolicyName::parse("easy+predict=mean-of-user=5").expect("a name");
        let taken = name.take("predict", "a word", |text| Some(text.to_owned()));
        assert_eq!(taken, Ok(Some("mean-of-user=5".to_owned())));
    }

    #[test]
    fn a_program_keeps_its_own_words() {
        assert_eq!(PolicyName::base_of("exec+./mine.py"), "exec");
        assert_eq!(PolicyName::base_of("easy"), "easy");
    }
}
