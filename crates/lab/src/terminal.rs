//! What a person reads: standard output and standard error.
//!
//! Neither may end the program by a panic, which `println!` and `eprintln!` do where the reader is gone or the disk is full, and
//! no name out of a file may command the terminal.

use std::borrow::Cow;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Text for standard output and lines for standard error, while a caller of [`captured`] takes them instead.
static CAPTURED: Mutex<Option<(String, Vec<String>)>> = Mutex::new(None);

/// Runs `run` and returns its result, what it would have printed on standard output, and its lines for standard error. One call at a
/// time, since both belong to the process: a second one waits for no other and takes what is printed from then on.
pub fn captured<T>(run: impl FnOnce() -> T) -> (T, String, Vec<String>) {
    let kept = || CAPTURED.lock().unwrap_or_else(PoisonError::into_inner);
    *kept() = Some(<_>::default());
    let result = run();
    let (text, lines) = kept().take().unwrap_or_default();
    (result, text, lines)
}

/// Gives `keep` what [`captured`] collects; false if the process prints.
fn is_kept(keep: impl FnOnce(&mut String, &mut Vec<String>)) -> bool {
    let mut captured = CAPTURED.lock().unwrap_or_else(PoisonError::into_inner);
    captured.as_mut().map(|(text, lines)| keep(text, lines)).is_some()
}

/// Writes to standard output. A reader that has gone away is not an error; a full disk is. Control characters are escaped,
/// but for the ends of lines and tabs.
pub fn print(text: &str) {
    print_styled(&harmless(text));
}

/// The same for text that holds colours of our own, and no foreign name.
pub fn print_styled(text: &str) {
    if is_kept(|kept, _| kept.push_str(text)) {
        return;
    }
    let mut out = std::io::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        tell(&format!("error: cannot write to standard output: {error}"));
        std::process::exit(3);
    }
}

/// Writes a line to standard error, control characters escaped. Where that is closed or full the line is lost.
pub fn tell(line: &str) {
    if is_kept(|_, lines| lines.push(harmless(line).into_owned())) {
        return;
    }
    // In one piece: lines of several threads do not mix.
    let line = format!("{}\n", harmless(line));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// `text` without what a terminal would obey: control characters but line feeds and tabs become `\u{1b}` and the like.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(obeyed) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if obeyed(letter) {
            escaped.extend(letter.escape_default());
        } else {
            escaped.push(letter);
        }
    }
    escaped.into()
}

/// A name as a field of a CSV file: one that a spreadsheet would take for a formula (`=`, `+`, `-` or `@` at its
/// beginning) has an apostrophe before it, which spreadsheets read as "this is text".
pub fn csv_name(name: &str) -> Cow<'_, str> {
    if name.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{name}").into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_would_obey_is_left() {
        assert_eq!(harmless("two\nlines\tand ümlauts"), "two\nlines\tand ümlauts");
        assert_eq!(harmless("\u{1b}[2Jgone\r\u{7}\u{9b}31m"), "\\u{1b}[2Jgone\\r\\u{7}\\u{9b}31m");
    }

    #[test]
    fn a_name_is_no_formula() {
        assert_eq!(csv_name("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!((csv_name("-1"), csv_name("@a"), csv_name("+b")), ("'-1".into(), "'@a".into(), "'+b".into()));
        assert_eq!(csv_name("zewura-1"), "zewura-1");
    }
}
