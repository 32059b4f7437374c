//! Where text for people goes: how wide it is and whether it has colours. What a model or a tool
//! said is cleaned first: it must not be able to write on the terminal by itself.

use std::io::IsTerminal;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::show::harmless;

/// Characters of a line where nobody says how wide it is.
const WIDTH: usize = 100;

/// What text is put on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paper {
    colour: Colour,
    width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Some,
    None,
}

/// The weight of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Headings.
    Strong,
    /// What matters less.
    Faint,
    /// It went well.
    Good,
    /// Worth a look.
    Notable,
    /// It did not go well.
    Bad,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Notable => "33",
            Self::Bad => "31",
        }
    }
}

impl Paper {
    /// Standard output: colours on a terminal that wants them, plain elsewhere.
    pub(crate) fn stdout() -> Self {
        let out = std::io::stdout();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let colour = out.is_terminal() && !set("NO_COLOR") && !is_dumb;
        let columns = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
        // Whoever reads a pipe may have said how wide it shows it.
        let told = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let columns = columns.or_else(told);
        Self {
            colour: if colour { Colour::Some } else { Colour::None },
            width: columns.filter(|columns| *columns > 0).unwrap_or(WIDTH).clamp(20, 160),
        }
    }

    /// Without colours, wherever it goes.
    pub(crate) fn plain() -> Self {
        Self { colour: Colour::None, width: WIDTH }
    }

    /// Without colours, as wide as said.
    #[cfg(test)]
    pub(crate) fn of_width(width: usize) -> Self {
        Self { colour: Colour::None, width }
    }

    /// Characters of a line.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The text in a certain ink.
    pub(crate) fn ink(self, ink: Ink, text: &str) -> String {
        match self.colour {
            Colour::Some if !text.is_empty() => format!("\x1b[{}m{text}\x1b[0m", ink.code()),
            Colour::Some | Colour::None => text.to_owned(),
        }
    }

    /// The text in lines that fit, each after `indent` blanks.
    pub(crate) fn wrap(self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        let lines = text.lines().flat_map(|line| fit(line, room));
        let lines: Vec<String> = lines.map(|line| format!("{:indent$}{line}", "")).collect();
        lines.join("\n")
    }
}

/// One line, broken between words where it is too long, and inside a word that is too long itself.
fn fit(line: &str, room: usize) -> Vec<String> {
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

/// The text without anything a terminal would obey, in columns.
pub(crate) fn clean(text: &str) -> String {
    harmless(text).replace('\t', " ")
}

/// The text on one line, cut after so many characters.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&clean(&words.join(" ")), chars)
}

/// The beginning of the text, with a sign that there is more.
pub(crate) fn cut(text: &str, chars: usize) -> String {
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
