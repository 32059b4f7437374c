//! Colours where a terminal has them, plain text where it has not.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::present::turns_writing;

/// Columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Less important.
    Dim,
    /// Important.
    Bold,
    /// Good.
    Green,
    /// Bad.
    Red,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Dim => "2",
            Self::Bold => "1",
            Self::Green => "32",
            Self::Red => "31",
        }
    }
}

/// Whether a stream shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    /// It does.
    Shown,
    /// It does not: a file, a pipe, or somebody said so.
    Plain,
}

fn wanted(is_terminal: bool) -> Colours {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_terminal && !unwanted && !dumb { Colours::Shown } else { Colours::Plain }
}

impl Colours {
    /// Of standard error.
    pub(crate) fn of_stderr() -> Self {
        wanted(std::io::stderr().is_terminal())
    }

    /// Of standard output.
    pub(crate) fn of_stdout() -> Self {
        wanted(std::io::stdout().is_terminal())
    }

    /// Text in a style.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        match self {
            Self::Shown => format!("\u{1b}[{}m{text}\u{1b}[0m", style.code()),
            Self::Plain => text.to_owned(),
        }
    }
}

/// The text without anything that a terminal would obey, and nothing that turns the direction of
/// writing: what a model or a tool says must not be able to write over what we say. Programs that
/// want every byte read JSON.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => Some(c),
        '\r' => None,
        c if c.is_control() || turns_writing(c) => Some('\u{fffd}'),
        c => Some(c),
    };
    text.chars().filter_map(shown).collect()
}

/// Columns of the terminal that a stream is.
pub(crate) fn width(stream: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.unwrap_or(COLUMNS)
}

/// The text in lines that break between words. Lines that go on begin after `indent` blanks. A word
/// that is longer than a line is left to the terminal.
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

/// Choices that stand on one line, two blanks apart, if they fit; else a line for each.
pub(crate) fn wrap_choices(choices: &str, columns: usize) -> String {
    // The answer is typed behind them.
    if choices.width() + 1 < columns {
        return choices.to_owned();
    }
    let lines = choices.split("  ").map(|choice| wrap_words(choice, columns, 4));
    lines.collect::<Vec<_>>().join("\n")
}

/// The beginning of a text that fits into so many columns, with a sign that there is more.
pub(crate) fn fit(text: &str, columns: usize) -> String {
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
