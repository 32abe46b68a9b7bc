//! Imports of a file, by its tokens.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// `crate`, `super`, `self` or a name, and the rest.
    pub(super) path: Vec<String>,
    /// Enclosing modules within the file, from the outermost.
    pub(super) within: Vec<String>,
    /// Line of its beginning, from 1.
    pub(super) line: usize,
    /// Name that `use` gives it.
    pub(super) name: Option<String>,
}

/// Returns all paths of more than one part, and all of `use`.
///
/// # Panics
///
/// If the text is not Rust.
pub(super) fn imports(file: &str, text: &str) -> Vec<Import> {
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut found = Vec::new();
    walk(tokens, &mut Vec::new(), &mut found);
    found
}

fn walk(tokens: TokenStream, within: &mut Vec<String>, found: &mut Vec<Import>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        place += 1;
        match token {
            TokenTree::Group(group) => walk(group.stream(), within, found),
            TokenTree::Ident(word) if word == "mod" => {
                let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group))) =
                    (tokens.get(place), tokens.get(place + 1))
                else {
                    continue;
                };
                if group.delimiter() == Delimiter::Brace {
                    within.push(name.to_string());
                    walk(group.stream(), within, found);
                    within.pop();
                    place += 2;
                }
            }
            // `use<'a>` lists the captures of a type.
            TokenTree::Ident(word) if word == "use" && !is(tokens.get(place), '<') => {
                let line = word.span().start().line;
                let length = tokens[place..].iter().position(|token| is(Some(token), ';')).unwrap_or(0);
                for (path, name) in tree(&tokens[place..place + length]) {
                    found.push(Import { path, within: within.clone(), line, name: Some(name) });
                }
                place += length;
            }
            TokenTree::Ident(word) => {
                let line = word.span().start().line;
                let mut path = vec![word.to_string()];
                while is(tokens.get(place), ':') && is(tokens.get(place + 1), ':') {
                    let Some(TokenTree::Ident(next)) = tokens.get(place + 2) else { break };
                    path.push(next.to_string());
                    place += 3;
                }
                if path.len() > 1 {
                    found.push(Import { path, within: within.clone(), line, name: None });
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn is(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == wanted)
}

/// Returns the paths of a tree `a::{b, c::d as e}`, each with the name that it gives.
fn tree(tokens: &[TokenTree]) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for branch in tokens.split(|token| is(Some(token), ',')) {
        let (mut path, mut name): (Vec<String>, Option<String>) = (Vec::new(), None);
        let mut branch = branch.iter();
        while let Some(token) = branch.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => name = branch.next().map(ToString::to_string),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(mark) if mark.as_char() == '*' => path.push("*".to_owned()),
                TokenTree::Group(group) => {
                    let below: Vec<TokenTree> = group.stream().into_iter().collect();
                    for (further, name) in tree(&below) {
                        let mut whole = [path.clone(), further].concat();
                        // `a::{self}` is `a`.
                        whole.pop_if(|last| last == "self");
                        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
                        found.push((whole, name));
                    }
                    path.clear();
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        if let Some(last) = path.last() {
            let name = name.unwrap_or_else(|| last.clone());
            found.push((path, name));
        }
    }
    found
}
