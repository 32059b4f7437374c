//! Text for a terminal: width and colors. Text of models and tools is sanitized first, so that it
//! cannot send control sequences.

use std::io::IsTerminal;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::sanitize_text;

/// Line width if the terminal does not report one.
const DEFAULT_WIDTH: usize = 100;

/// The width and colors of an output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputStyle {
    color_use: ColorUse,
    width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColorUse {
    Enabled,
    Disabled,
}

/// The color or weight of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    /// For headings.
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

impl OutputStyle {
    /// The style of standard output: colors on a terminal that supports them, plain otherwise.
    pub(crate) fn stdout() -> Self {
        let out = std::io::stdout();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let colour = out.is_terminal() && !set("NO_COLOR") && !is_dumb;
        let columns = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
        // The reader of a pipe may have set COLUMNS.
        let told = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let columns = columns.or_else(told);
        Self {
            color_use: if colour { ColorUse::Enabled } else { ColorUse::Disabled },
            width: columns.filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH).clamp(20, 160),
        }
    }

    /// The style without colors.
    pub(crate) fn plain() -> Self {
        Self { color_use: ColorUse::Disabled, width: DEFAULT_WIDTH }
    }

    /// The style without colors, with this width.
    #[cfg(test)]
    pub(crate) fn with_width(width: usize) -> Self {
        Self { color_use: ColorUse::Disabled, width }
    }

    /// The characters of a line.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The text in a color.
    pub(crate) fn paint(self, ink: Color, text: &str) -> String {
        match self.color_use {
            ColorUse::Enabled if !text.is_empty() => {
                format!("\x1b[{}m{text}\x1b[0m", ink.ansi_code())
            }
            ColorUse::Enabled | ColorUse::Disabled => text.to_owned(),
        }
    }

    /// The text wrapped into lines that fit, each indented by `indent` spaces.
    pub(crate) fn wrap(self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        let lines = text.lines().flat_map(|line| wrap_line(line, room));
        let lines: Vec<String> = lines.map(|line| format!("{:indent$}{line}", "")).collect();
        lines.join("\n")
    }
}

/// Breaks a line between words, and inside of words that are too long themselves.
fn wrap_line(line: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last = String::new();
    for word in line.split_inclusive(' ') {
        let fits = last.width() + word.trim_end().width() <= room;
        if !fits && !last.trim().is_empty() {
            lines.push(std::mem::take(&mut last).trim_end().to_owned());
        }
        for piece in word.chars() {
            if last.width() + piece.width().unwrap_or(0) > room && piece != ' ' {
                lines.push(std::mem::take(&mut last));
            }
            last.push(piece);
        }
    }
    lines.push(last.trim_end().to_owned());
    lines
}

/// The text without characters that a terminal would interpret; tabs become spaces.
pub(crate) fn sanitize_line(text: &str) -> String {
    sanitize_text(text).replace('\t', " ")
}

/// The text on one line, cut after this many characters.
pub(crate) fn to_one_line(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    truncate(&sanitize_line(&words.join(" ")), chars)
}

/// The beginning of the text, with a mark if there is more.
pub(crate) fn truncate(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => {
            let head: String = text.chars().take(chars.saturating_sub(1)).collect();
            format!("{head}…")
        }
    }
}

#[cfg(test)]
#[path = "paper_tests.rs"]
mod paper_tests;
