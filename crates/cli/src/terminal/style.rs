//! The style of a text stream: whether it has colors, and how wide its lines are.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use super::text::wrap_line;

/// Line width of a page if the terminal does not report one.
const DEFAULT_WIDTH: usize = 100;

/// Columns of a terminal that does not report its size.
const DEFAULT_COLUMNS: usize = 80;

/// The color or weight of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    /// For headings and important text.
    Bold,
    /// For less important text.
    Dim,
    /// For success.
    Green,
    /// For warnings.
    Yellow,
    /// For errors.
    Red,
}

impl Color {
    fn ansi_code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Red => "31",
        }
    }
}

/// Whether a stream supports colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColorSupport {
    /// A terminal with colors.
    Enabled,
    /// Disabled: a file, a pipe, a terminal without escape sequences, or `NO_COLOR`.
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

    /// The text in a color.
    pub(crate) fn paint(self, color: Color, text: &str) -> String {
        match self {
            Self::Enabled if !text.is_empty() => {
                format!("\x1b[{}m{text}\x1b[0m", color.ansi_code())
            }
            Self::Enabled | Self::Disabled => text.to_owned(),
        }
    }
}

/// The width and colors of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputStyle {
    colors: ColorSupport,
    width: usize,
}

impl OutputStyle {
    /// The style of standard output: colors on a terminal that supports them, plain otherwise.
    pub(crate) fn stdout() -> Self {
        // The reader of a pipe may have set COLUMNS.
        let told = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let columns = reported_columns(std::io::stdout()).or_else(told);
        Self {
            colors: ColorSupport::of_stdout(),
            width: columns.filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH).clamp(20, 160),
        }
    }

    /// The style without colors.
    pub(crate) fn plain() -> Self {
        Self { colors: ColorSupport::Disabled, width: DEFAULT_WIDTH }
    }

    /// The style without colors, with this width.
    pub(crate) fn with_width(width: usize) -> Self {
        Self { colors: ColorSupport::Disabled, width }
    }

    /// The characters of a line.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The text in a color.
    pub(crate) fn paint(self, color: Color, text: &str) -> String {
        self.colors.paint(color, text)
    }

    /// The text wrapped into lines that fit, each indented by `indent` spaces.
    pub(crate) fn wrap(self, text: &str, indent: usize) -> String {
        let columns = self.width.saturating_sub(indent).max(20);
        let lines = text.lines().flat_map(|line| wrap_line(line, columns));
        let lines: Vec<String> = lines.map(|line| format!("{:indent$}{line}", "")).collect();
        lines.join("\n")
    }
}

/// The columns of the terminal behind a stream.
pub(crate) fn terminal_width(stream: impl AsFd) -> usize {
    reported_columns(stream).filter(|columns| *columns > 0).unwrap_or(DEFAULT_COLUMNS)
}

fn reported_columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok();
    size.map(|size| usize::from(size.ws_col))
}

#[cfg(test)]
#[path = "style_tests.rs"]
mod style_tests;
