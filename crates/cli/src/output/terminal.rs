//! Colors and widths of terminals, and text that is safe to print on them.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::present::is_bidi_control;

/// Columns of a terminal that does not report its size.
const DEFAULT_COLUMNS: usize = 80;

/// The style of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalStyle {
    /// For less important text.
    Dim,
    /// For important text.
    Bold,
    /// For success.
    Green,
    /// For errors.
    Red,
}

impl TerminalStyle {
    fn ansi_code(self) -> &'static str {
        match self {
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Green => "32",
            Self::Red => "31",
        }
    }
}

/// Whether a stream supports colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColorSupport {
    /// A terminal with colors.
    Enabled,
    /// Disabled: a file, a pipe, or NO_COLOR.
    Disabled,
}

fn detect_color_support(is_terminal: bool) -> ColorSupport {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_terminal && !unwanted && !dumb { ColorSupport::Enabled } else { ColorSupport::Disabled }
}

impl ColorSupport {
    /// Color support of standard error.
    pub(crate) fn of_stderr() -> Self {
        detect_color_support(std::io::stderr().is_terminal())
    }

    /// Color support of standard output.
    pub(crate) fn of_stdout() -> Self {
        detect_color_support(std::io::stdout().is_terminal())
    }

    /// The text in a style.
    pub(crate) fn paint(self, style: TerminalStyle, text: &str) -> String {
        match self {
            Self::Enabled => format!("\u{1b}[{}m{text}\u{1b}[0m", style.ansi_code()),
            Self::Disabled => text.to_owned(),
        }
    }
}

/// The text without control sequences and direction changes: output of a model or a tool must not
/// overwrite ours. Programs that want every byte read JSON.
pub(crate) fn sanitize_text(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => Some(c),
        '\r' => None,
        c if c.is_control() || is_bidi_control(c) => Some('\u{fffd}'),
        c => Some(c),
    };
    text.chars().filter_map(shown).collect()
}

/// The columns of the terminal behind a stream.
pub(crate) fn terminal_width(stream: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.unwrap_or(DEFAULT_COLUMNS)
}

/// Wraps text between words. Continued lines start with `indent` spaces. A word that is longer than
/// a line is left to the terminal.
pub(crate) fn wrap_words(text: &str, columns: usize, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        let is_begun = !line.trim().is_empty();
        if is_begun && line.width() + word.trim_end().width() > columns {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
        }
        line.push_str(word);
    }
    lines.push(line.trim_end().to_owned());
    lines.join("\n")
}

/// Choices on one line, two spaces apart, if they fit; else one per line.
pub(crate) fn wrap_choices(choices: &str, columns: usize) -> String {
    // The answer is typed after them.
    if choices.width() + 1 < columns {
        return choices.to_owned();
    }
    let lines = choices.split("  ").map(|choice| wrap_words(choice, columns, 4));
    lines.collect::<Vec<_>>().join("\n")
}

/// The beginning of a text that fits into this many columns, with a mark if there is more.
pub(crate) fn fit_columns(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let rest = left.checked_sub(c.width().unwrap_or(0));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let mut head: String = text.chars().take_while(fits).collect();
    head.push('…');
    head
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod terminal_tests;
