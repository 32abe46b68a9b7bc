//! Output for people: standard output and standard error.
//!
//! Neither may end the program by a panic, as `println!` and `eprintln!` do if the reader is gone or the disk is full, and a name from a
//! file must not control the terminal.

use crate::run::control::Control;
use std::borrow::Cow;
use std::io::Write;

/// Writes to standard output. A closed reader is not an error; a full disk is. Control characters are escaped, except line ends and tabs.
pub fn print(text: &str) {
    print_styled(&harmless(text));
}

/// Writes text with the program's own colours, without names from files.
pub fn print_styled(text: &str) {
    if Control::kept(|kept| kept.0.push_str(text)) {
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

/// Writes a line to standard error, control characters escaped. If that is closed or full, the line is lost.
pub fn tell(line: &str) {
    if Control::kept(|kept| kept.1.push(harmless(line).into_owned())) {
        return;
    }
    // In one piece, so that lines of several threads do not mix.
    let line = format!("{}\n", harmless(line));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Returns the width of text for the terminal, from 40 to 100 columns; 100 if standard output is none.
pub fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| usize::from(width.0).clamp(40, 100))
}

/// Returns `text` without terminal control: control characters except line feeds and tabs become `\u{1b}` and the like.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(obeyed) {
        return text.into();
    }
    let escaped = |letter: char| if obeyed(letter) { letter.escape_default().to_string() } else { letter.to_string() };
    text.chars().map(escaped).collect::<String>().into()
}

/// Returns a name as a field of a CSV file. A name that a spreadsheet would read as a formula (`=`, `+`, `-` or `@` first) gets a leading
/// apostrophe, which spreadsheets read as "this is text".
///
/// ```
/// let names = ["=cmd|' /C calc'!A0", "-1", "@a", "+b", "zewura-1"].map(lab::terminal::csv_name);
/// assert_eq!(names, ["'=cmd|' /C calc'!A0", "'-1", "'@a", "'+b", "zewura-1"]);
/// ```
pub fn csv_name(name: &str) -> Cow<'_, str> {
    if name.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{name}").into() } else { name.into() }
}
