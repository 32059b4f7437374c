//! Markdown on a terminal, as it comes: headings and `**strong**` are bold, code has a colour, items
//! get a dot. Everything else is left as it is written.
//!
//! Pieces may end anywhere. What could still become a mark is held back, at most a few characters,
//! and a style never lasts beyond its line, so that what is not balanced does no harm.

const BOLD: &str = "\u{1b}[1m";
const CODE: &str = "\u{1b}[36m";
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// The longest heading mark.
const MOST_HASHES: usize = 6;

/// Text being rendered.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    line: Line,
    fence: Fence,
    held: String,
}

/// Where in a line we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Line {
    /// Nothing but what may be a mark has come.
    #[default]
    Beginning,
    /// In the middle of it.
    Inside { strong: bool, code: bool },
    /// In the line of a fence.
    Fence,
}

/// Whether the lines are code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Fence {
    #[default]
    Closed,
    Open,
}

const TEXT: Line = Line::Inside { strong: false, code: false };

impl Markdown {
    /// The next piece, with its styles.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            self.next(c, &mut out);
        }
        out
    }

    /// What was held back, and no style left on.
    pub(super) fn end(&mut self) -> String {
        let mut out = String::new();
        self.let_go(&mut out);
        self.close(&mut out);
        *self = Self::default();
        out
    }

    fn next(&mut self, c: char, out: &mut String) {
        match self.line {
            _ if c == '\n' => self.end_line(out),
            Line::Beginning => self.begin(c, out),
            Line::Inside { .. } => self.inside(c, out),
            Line::Fence => out.push(c),
        }
    }

    fn end_line(&mut self, out: &mut String) {
        self.let_go(out);
        self.close(out);
        out.push('\n');
        self.line = Line::Beginning;
    }

    /// What was held back is no mark.
    fn let_go(&mut self, out: &mut String) {
        out.push_str(&std::mem::take(&mut self.held));
    }

    fn close(&self, out: &mut String) {
        if self.line != TEXT && self.line != Line::Beginning {
            out.push_str(PLAIN);
        }
    }

    fn begin(&mut self, c: char, out: &mut String) {
        self.held.push(c);
        let (mark, fenced) = (self.held.trim_start().to_owned(), self.fence == Fence::Open);
        match mark.as_str() {
            "```" => self.turn_fence(out),
            "" | "`" | "``" => {}
            "-" | "*" if !fenced => {}
            "- " | "* " if !fenced => self.item(out),
            hashes if !fenced && is_heading(hashes) => self.heading(c, out),
            _ => self.plain_line(out),
        }
    }

    fn turn_fence(&mut self, out: &mut String) {
        self.fence = match self.fence {
            Fence::Closed => Fence::Open,
            Fence::Open => Fence::Closed,
        };
        self.line = Line::Fence;
        out.push_str(DIM);
        self.let_go(out);
    }

    fn item(&mut self, out: &mut String) {
        let indent = self.held.len() - self.held.trim_start().len();
        self.held.clear();
        out.push_str(&format!("{:indent$}• ", ""));
        self.line = TEXT;
    }

    fn heading(&mut self, c: char, out: &mut String) {
        if c == ' ' {
            self.held.clear();
            out.push_str(BOLD);
            self.line = Line::Inside { strong: true, code: false };
        }
    }

    /// The line begins with no mark: what was held is read again as text.
    fn plain_line(&mut self, out: &mut String) {
        self.line = TEXT;
        for c in std::mem::take(&mut self.held).chars() {
            self.inside(c, out);
        }
    }

    fn inside(&mut self, c: char, out: &mut String) {
        let Line::Inside { strong, code } = self.line else { return };
        match (c, self.held.as_str()) {
            _ if self.fence == Fence::Open => out.push(c),
            ('`', _) => {
                self.let_go(out);
                self.set(strong, !code, out);
            }
            ('*', "*") => {
                self.held.clear();
                self.set(!strong, code, out);
            }
            ('*', _) if !code => self.held.push('*'),
            _ => {
                self.let_go(out);
                out.push(c);
            }
        }
    }

    fn set(&mut self, strong: bool, code: bool, out: &mut String) {
        self.line = Line::Inside { strong, code };
        out.push_str(PLAIN);
        out.push_str(if strong { BOLD } else { "" });
        out.push_str(if code { CODE } else { "" });
    }
}

/// `#`, `##` … up to six, and the blank after them.
fn is_heading(text: &str) -> bool {
    let hashes = text.trim_end_matches(' ');
    (1..=MOST_HASHES).contains(&hashes.len()) && hashes.chars().all(|c| c == '#')
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod markdown_tests;
