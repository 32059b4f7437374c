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
