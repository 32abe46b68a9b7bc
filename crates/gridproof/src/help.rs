//! The text at the end of `--help`, wrapped to a width as its author would have wrapped it.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The width of a terminal that does not tell, and the widest that is used: clap's own.
const WIDEST: usize = 100;

/// A line of prose as long as this was broken by its author for want of room, and goes on in the next.
const FULL: usize = 90;

/// Columns to which `--help` is wrapped: those of the terminal, or of `COLUMNS` where there is none.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).unwrap_or(WIDEST).clamp(40, WIDEST)
}

/// `text` in lines of at most `width` columns. What follows on a line of a list (`term  what it is`) hangs below what it is; a
/// comment in a sample of TOML goes on as a comment; a command (of `program`, or behind an assignment, as `LANG=C ls`) that is broken
/// ends in `\`, so that it can be pasted.
pub(crate) fn wrapped(text: &str, width: usize, program: &str) -> String {
    let mut wrapped = Vec::new();
    for line in unbroken(text, program) {
        let kind = Kind::of(&line, program);
        let hang = kind.hang(&line, width);
        let is_command = matches!(kind, Kind::Command);
        let rest = match kind {
            Kind::Sample { .. } => format!("{}# ", " ".repeat(hang)),
            _ => " ".repeat(hang),
        };
        let options = Options::new(if is_command { width - 2 } else { width })
            .subsequent_indent(&rest)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        // What stands between quotes is one word of the shell's.
        let whole = if is_command { with_quoted_spaces_held(&line) } else { line };
        let lines = textwrap::wrap(&whole, options);
        wrapped.push(if is_command {
            let lines: Vec<String> = lines.iter().map(|line| list_broken(line, width)).collect();
            lines.join(" \\\n").replace(HELD, " ")
        } else {
            lines.join("\n")
        });
    }
    wrapped.join("\n")
}

/// What a line is, and so how it goes on.
enum Kind {
    /// A command to be typed.
    Command,
    /// A term, and from `column` on what it is.
    Entry {
        column: usize,
    },
    /// TOML, and from `column` on a comment.
    Sample {
        column: usize,
    },
    Prose,
}

impl Kind {
    fn of(line: &str, program: &str) -> Self {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let is_of_program = body.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '));
        let assigned = body.split_once('=').map_or("", |(name, _)| name);
        let is_assignment = !assigned.is_empty() && assigned.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        if indent > 0 && (is_of_program || is_assignment) {
            return Self::Command;
        }
        let Some(gap) = body.find("  ").filter(|_| indent > 0) else { return Self::Prose };
        let follows = body[gap..].trim_start();
        let column = columns(line) - columns(follows);
        if follows.starts_with('#') { Self::Sample { column } } else { Self::Entry { column } }
    }

    /// The column in which a line goes on that begins like `line`.
    fn hang(&self, line: &str, width: usize) -> usize {
        let indent = line.len() - line.trim_start().len();
        match *self {
            Self::Command => indent + 4,
            Self::Entry { column } | Self::Sample { column } if column <= width / 2 => column,
            Self::Entry { .. } | Self::Sample { .. } => indent + 2,
            Self::Prose => indent,
        }
    }
}

/// The lines as they would be if there were room for each.
fn unbroken(text: &str, program: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // Where the line before goes on, and whether it was full.
    let (mut goes_on, mut is_full) = (None, false);
    for line in text.lines() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        // As a shell reads it: what follows at the margin belongs to the same word.
        if let Some(last) = lines.last_mut().filter(|last| last.ends_with('\\')) {
            last.pop();
            last.truncate(last.trim_end().len());
            last.push_str(if indent > 0 { " " } else { "" });
            last.push_str(body);
            continue;
        }
        let kind = Kind::of(line, program);
        let follows = match goes_on {
            Some(_) if body.is_empty() => false,
            Some((column, is_entry)) => column == indent && (is_entry || is_full) && matches!(kind, Kind::Prose),
            None => false,
        };
        is_full = columns(line) >= FULL;
        if let Some(last) = lines.last_mut().filter(|_| follows) {
            last.push(' ');
            last.push_str(body);
            continue;
        }
        goes_on = match kind {
            Kind::Entry { column } => Some((column, true)),
            Kind::Prose if !body.is_empty() => Some((indent, false)),
            _ => None,
        };
        lines.push(line.to_owned());
    }
    lines
}

/// A line of a command whose last word is a list too long for it, broken behind commas as a shell allows: it goes on at the margin.
fn list_broken(line: &str, width: usize) -> String {
    let (mut broken, mut rest) = (String::new(), line);
    while columns(rest) > width - 2 {
        let fits = rest.char_indices().take(width - 1).filter(|(_, c)| *c == ',');
        let Some((comma, _)) = fits.last() else { break };
        broken += &rest[..=comma];
        broken += "\\\n";
        rest = &rest[comma + 1..];
    }
    broken + rest
}

/// Stands for a space at which nothing is broken. In no help, since it is a control character.
const HELD: char = '\u{1}';

fn with_quoted_spaces_held(line: &str) -> String {
    let mut quote = None;
    let hold = |c: char| match (quote, c) {
        (Some(_), ' ') => HELD,
        (Some(open), c) if c == open => {
            quote = None;
            c
        }
        (None, '\'' | '"') => {
            quote = Some(c);
            c
        }
        (_, c) => c,
    };
    line.chars().map(hold).collect()
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_hangs_below_what_its_terms_are() {
        let help = "\
Policies:
  fcfs    first come first served, which is a queue in which a job that does not fit blocks all others
  cons    every job that waits has
          a reservation";
        let expected = "\
Policies:
  fcfs    first come first served, which
          is a queue in which a job that
          does not fit blocks all others
  cons    every job that waits has a
          reservation";
        assert_eq!(wrapped(help, 40, "lab"), expected);
    }

    #[test]
    fn a_command_that_is_broken_can_be_pasted_and_its_quotes_are_whole() {
        let help = "\
Examples:
  lab simulate --trace log.swf --policy easy --procs 512 --estimates exact --max-jobs 10000 --out there
  lab reproduce multi-site --quick --run 'approach=1 lambda=10 rep=3' --check
      one replication again";
        let expected = "\
Examples:
  lab simulate --trace log.swf \\
      --policy easy --procs 512 \\
      --estimates exact --max-jobs \\
      10000 --out there
  lab reproduce multi-site --quick \\
      --run \\
      'approach=1 lambda=10 rep=3' \\
      --check
      one replication again";
        assert_eq!(wrapped(help, 40, "lab"), expected);
    }

    #[test]
    fn another_program_s_command_can_be_pasted_at_any_width() {
        let help = "\
Examples:
  TIME=%s other --allusers --parsable2 --from 2026-01-01 --until 2026-07-01 \\
    --format JobIDRaw,JobID,User,Group,Account,QOS,Partition,Submit,Start,End,ElapsedRaw,TimelimitRaw,\\
NNodes,State > jobs.txt
  lab convert jobs.txt";
        let words =
            |text: &str| -> Vec<String> { text.replace("\\\n", "").split_whitespace().map(str::to_owned).collect() };
        for width in [40, 60, 80, 100] {
            let shown = wrapped(help, width, "lab");
            assert!(shown.lines().all(|line| columns(line) <= width), "{shown}");
            assert_eq!(words(&shown), words(help), "{shown}");
            // Every line but the last of a command says that it goes on.
            let of_other = shown.lines().skip(1).take_while(|line| !line.starts_with("  lab"));
            let open: Vec<bool> = of_other.map(|line| line.ends_with('\\')).collect();
            assert!(
                open.len() > 2 && open[..open.len() - 1].iter().all(|open| *open) && !open[open.len() - 1],
                "{shown}"
            );
        }
    }

    #[test]
    fn samples_of_toml_stay_toml() {
        let help = "\
A file:
  mpl = 4            # parallel tasks on a node, at most, of all jobs that run there
  [jobs]             # what a task of the log asks of its node, in CPUs and MiB
  cpu = 1.0
  memory = 0.5";
        for width in [40, 60, 80, 100] {
            let shown = wrapped(help, width, "lab");
            assert!(shown.lines().all(|line| columns(line) <= width), "{shown}");
            let sample = shown.split_once('\n').unwrap().1;
            let table: toml::Table = sample.parse().unwrap_or_else(|error| panic!("{error}\n{sample}"));
            assert_eq!(table["mpl"].as_integer(), Some(4));
            assert_eq!(table["jobs"]["memory"].as_float(), Some(0.5));
        }
    }

    #[test]
    fn prose_that_was_broken_at_a_full_line_is_broken_anew_and_short_lines_stay() {
        let full =
            "Finished replications are kept below OUT/cells: an interrupted run goes on where it stopped, and so";
        let help = format!("{full}\ndoes one that was killed.\n\nA short line.\nAnother one.");
        let shown = wrapped(&help, 60, "lab");
        assert!(shown.ends_with("and so does one\nthat was killed.\n\nA short line.\nAnother one."), "{shown}");
    }
}
