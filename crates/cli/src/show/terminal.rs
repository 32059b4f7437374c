//! Colours where a terminal has them, plain text where it has not.

use std::io::IsTerminal;

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

fn turns_writing(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
