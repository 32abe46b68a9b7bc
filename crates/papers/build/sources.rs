//! What a result depends on: what the compiler sees of a source file, and the packages that a crate is built of.

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The tokens of a source file, without comments, documentation and what is built for tests alone.
///
/// # Errors
///
/// The text is no Rust.
pub(crate) fn code(text: &str) -> Result<String, LexError> {
    Ok(kept(text.parse()?).to_string())
}

fn kept(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut kept_tokens, mut rest) = (Vec::new(), &tokens[..]);
    while let Some((first, behind)) = rest.split_first() {
        rest = match attribute(rest) {
            Some((attribute, behind)) if attribute.starts_with("doc") => behind,
            Some((attribute, behind)) if attribute == "cfg(test)" => {
                // The item behind it ends with its braces or a semicolon.
                behind.iter().position(ends_item).map_or(&[], |end| &behind[end + 1..])
            }
            _ => {
                kept_tokens.push(match first {
                    TokenTree::Group(group) => Group::new(group.delimiter(), kept(group.stream())).into(),
                    other => other.clone(),
                });
                behind
            }
        };
    }
    kept_tokens.into_iter().collect()
}

/// The attribute that `tokens` begin with, without blanks, and what is behind it.
fn attribute(tokens: &[TokenTree]) -> Option<(String, &[TokenTree])> {
    let is = |token: &TokenTree, wanted: char| matches!(token, TokenTree::Punct(found) if found.as_char() == wanted);
    let (_, mut behind) = tokens.split_first().filter(|(first, _)| is(first, '#'))?;
    if let Some((mark, after)) = behind.split_first().filter(|(first, _)| is(first, '!')) {
        let _ = mark;
        behind = after;
    }
    match behind.split_first()? {
        (TokenTree::Group(group), behind) if group.delimiter() == Delimiter::Bracket => {
            Some((group.stream().to_string().replace(' ', ""), behind))
        }
        _ => None,
    }
}

fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    }
}

/// `Cargo.lock`.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Clone, Deserialize)]
struct Package {
    name: String,
    version: String,
    /// None of a crate of the workspace.
    source: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// `name version` of every package that those called `wanted` are built of, of these as well, crates of the workspace left
/// out: what they are built of is found in their manifests, without what their tests need.
///
/// # Errors
///
/// The text is no `Cargo.lock`.
pub(crate) fn packages(lock: &str, wanted: impl IntoIterator<Item = String>) -> Result<Vec<String>, toml::de::Error> {
    let Lock { package } = toml::from_str(lock)?;
    let mut open: Vec<String> = wanted.into_iter().collect();
    let mut found = BTreeMap::new();
    while let Some(dependency) = open.pop() {
        // `name`, or `name version` where there are several.
        let mut words = dependency.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        let is_meant = |one: &&Package| one.name == name && version.is_none_or(|version| one.version == version);
        for package in package.iter().filter(is_meant).filter(|package| package.source.is_some()) {
            if found.insert(format!("{} {}", package.name, package.version), ()).is_none() {
                open.extend(package.dependencies.iter().cloned());
            }
        }
    }
    Ok(found.into_keys().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! Module.\n/// Adds one.\nfn next(a: u32) -> u32 { a + 1 /* one */ }\n";

    #[test]
    fn comments_documentation_layout_and_tests_change_nothing() {
        let plain = code("fn next(a: u32) -> u32 {\n    a + 1\n}").expect("Rust");
        assert_eq!(code(FILE).expect("Rust"), plain);
        let tested = format!("{FILE}#[cfg(test)]\nmod tests {{ fn f() {{}} }}\n");
        assert_eq!(code(&tested).expect("Rust"), plain);
    }

    #[test]
    fn a_number_an_attribute_and_a_text_change_it() {
        let before = code(FILE).expect("Rust");
        for other in
            [FILE.replace("+ 1", "+ 2"), FILE.replace("fn", "#[inline] fn"), format!("{FILE}const S: &str = \"// 1\";")]
        {
            assert_ne!(code(&other).expect("Rust"), before, "{other}");
        }
    }

    #[test]
    fn packages_are_those_that_a_crate_is_built_of_and_no_others() {
        let lock = r#"
            [[package]]
            name = "ours"
            version = "0.1.0"
            dependencies = ["a", "for-tests"]
            [[package]]
            name = "a"
            version = "1.0.0"
            source = "registry"
            dependencies = ["b 2.0.0"]
            [[package]]
            name = "b"
            version = "1.0.0"
            source = "registry"
            [[package]]
            name = "b"
            version = "2.0.0"
            source = "registry"
            [[package]]
            name = "for-tests"
            version = "1.0.0"
            source = "registry"
        "#;
        let found = packages(lock, ["a".to_owned(), "ours".to_owned()]).expect("a lock file");
        assert_eq!(found, ["a 1.0.0", "b 2.0.0"]);
    }
}
