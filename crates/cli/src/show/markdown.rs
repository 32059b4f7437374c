//! Markdown on a terminal, as it comes: headings, lists, quotes, rules, tables and code, with lines
//! that break between words.
//!
//! Pieces may end anywhere. What could still become a mark is held back until that is known, at most
//! to the end of its line; a table is held back until it is whole. A style never lasts beyond its
//! word, so that what is not balanced does no harm.

mod inline;
mod style;
mod table;
mod wrap;

use inline::Inline;
use style::{Styled, TextStyle, painted};
use wrap::{Wrap, styled};

/// The longest heading mark.
const MOST_HASHES: usize = 6;

/// The narrowest terminal that lines are broken for.
const MIN_WIDTH: usize = 20;

/// The widest rule.
const RULE_COLUMNS: usize = 60;

/// Characters of a line of a table that are held back.
const MOST_ROW_CHARS: usize = 20_000;

/// Text being rendered.
#[derive(Debug)]
pub(super) struct Markdown {
    width: usize,
    line: Line,
    fence: Option<char>,
    /// The beginning of the line, as long as it may be a mark.
    held: String,
    quotes: usize,
    /// The mark of a quote was the last character: a blank behind it belongs to it.
    after_quote: bool,
    inline: Inline,
    wrap: Wrap,
    table: Vec<String>,
}

/// Where in a line we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing but what may be a mark has come.
    Beginning,
    /// In the middle of its text.
    Text,
    /// In a line of code.
    Code,
    /// In the line of a fence.
    Fence,
    /// In a line of a table.
    Row,
}

/// What the beginning of a line is.
enum Mark {
    /// It may become one.
    Perhaps,
    Fence(char),
    Heading,
    Quote,
    /// An item: what stands before its text.
    Item(String),
    Row,
    Nothing,
}

impl Markdown {
    pub(super) fn new(width: usize) -> Self {
        let width = width.max(MIN_WIDTH);
        Self {
            width,
            line: Line::Beginning,
            fence: None,
            held: String::new(),
            quotes: 0,
            after_quote: false,
            inline: Inline::default(),
            wrap: Wrap::new(width),
            table: Vec::new(),
        }
    }

    /// The next piece, with its styles.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            self.next(c, &mut out);
        }
        out
    }

    /// What was held back, and the end of a line that was begun.
    pub(super) fn end(&mut self) -> String {
        let mut out = String::new();
        if !self.is_at_beginning() {
            self.end_line(&mut out);
        }
        self.end_table(&mut out);
        *self = Self::new(self.width);
        out
    }

    fn is_at_beginning(&self) -> bool {
        self.line == Line::Beginning
            && self.held.is_empty()
            && self.quotes == 0
            && self.wrap.is_empty()
    }

    fn next(&mut self, c: char, out: &mut String) {
        match self.line {
            _ if c == '\n' => self.end_line(out),
            Line::Beginning => self.begin(c, out),
            Line::Text => self.text(c, out),
            Line::Code => out.push(c),
            Line::Fence | Line::Row if self.held.len() < MOST_ROW_CHARS => self.held.push(c),
            Line::Fence | Line::Row => {}
        }
    }

    fn begin(&mut self, c: char, out: &mut String) {
        if std::mem::take(&mut self.after_quote) && c == ' ' {
            return;
        }
        self.held.push(c);
        match self.mark() {
            Mark::Perhaps => {}
            Mark::Fence(mark) => self.turn_fence(mark, out),
            Mark::Heading => self.begin_text("", TextStyle::default().strong(), out),
            Mark::Quote => {
                self.held.clear();
                self.quotes = self.quotes.saturating_add(1);
                self.after_quote = true;
            }
            Mark::Item(first) => self.begin_text(&first, TextStyle::default(), out),
            Mark::Row => self.line = Line::Row,
            Mark::Nothing => self.begin_plain(out),
        }
        if self.line != Line::Row && self.line != Line::Beginning {
            self.end_table(out);
        }
    }

    fn mark(&self) -> Mark {
        let mark = self.held.trim_start();
        let indent = self.held.len().saturating_sub(mark.len());
        if let Some(fence) = self.fence {
            let closes = mark.chars().all(|c| c == fence);
            return match mark.len() {
                3 if closes => Mark::Fence(fence),
                0..3 if closes => Mark::Perhaps,
                _ => Mark::Nothing,
            };
        }
        let all = |c: char| mark.chars().all(|other| other == c);
        match mark {
            "" if indent < 40 => Mark::Perhaps,
            "```" => Mark::Fence('`'),
            "~~~" => Mark::Fence('~'),
            ">" => Mark::Quote,
            "|" => Mark::Row,
            "- " | "* " | "+ " => Mark::Item(format!("{:indent$}• ", "")),
            "+" => Mark::Perhaps,
            _ if all('`') || all('~') => Mark::Perhaps,
            // A rule, unless something else follows.
            _ if all('-') || all('*') || all('_') => Mark::Perhaps,
            _ if is_heading(mark) => match mark.ends_with(' ') {
                true => Mark::Heading,
                false => Mark::Perhaps,
            },
            _ => match numbered(mark) {
                Some(true) => Mark::Item(format!("{:indent$}{mark}", "")),
                Some(false) => Mark::Perhaps,
                None => Mark::Nothing,
            },
        }
    }

    fn turn_fence(&mut self, mark: char, out: &mut String) {
        self.fence = match self.fence {
            None => Some(mark),
            Some(_) => None,
        };
        self.line = Line::Fence;
        self.begin_quotes(out);
    }

    /// A line of text that begins with `first`; the style holds to its end.
    fn begin_text(&mut self, first: &str, style: TextStyle, out: &mut String) {
        self.held.clear();
        self.line = Line::Text;
        self.inline = Inline::new(self.base(style));
        let quotes = self.quote();
        let mut begin = quotes.clone();
        begin.extend(styled(first, self.base(style)));
        // What wraps stands below the text, not below the mark, if there is room for that.
        let hanging = first.chars().count();
        let hanging = if hanging < self.width / 2 { hanging } else { 0 };
        let mut indent = quotes;
        indent.extend(std::iter::repeat_n((' ', TextStyle::default()), hanging));
        self.end_table(out);
        self.wrap.begin(&begin, indent, out);
    }

    /// The line begins with no mark: what was held is read again as text.
    fn begin_plain(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        if self.fence.is_some() {
            self.line = Line::Code;
            self.begin_quotes(out);
            out.push_str(&held);
            return;
        }
        let text = held.trim_start_matches(' ');
        let indent = " ".repeat(held.len().saturating_sub(text.len()));
        let text = text.to_owned();
        self.begin_text(&indent, TextStyle::default(), out);
        for c in text.chars() {
            self.text(c, out);
        }
    }

    fn base(&self, style: TextStyle) -> TextStyle {
        TextStyle { italic: style.italic || self.quotes > 0, ..style }
    }

    fn quote(&self) -> Vec<Styled> {
        styled(&"│ ".repeat(self.quotes), TextStyle::default().dimmed())
    }

    fn begin_quotes(&mut self, out: &mut String) {
        self.end_table(out);
        out.push_str(&painted(&self.quote()));
    }

    fn text(&mut self, c: char, out: &mut String) {
        let mut found = Vec::new();
        self.inline.push(c, &mut found);
        found.into_iter().for_each(|found| self.wrap.push(found, out));
    }

    fn end_line(&mut self, out: &mut String) {
        if self.line == Line::Beginning {
            self.end_beginning(out);
        }
        match self.line {
            Line::Row => {
                self.table.push(std::mem::take(&mut self.held));
                if self.table.len() >= table::MOST_ROWS {
                    self.end_table(out);
                }
            }
            Line::Text => {
                let mut found = Vec::new();
                self.inline.end(&mut found);
                found.into_iter().for_each(|found| self.wrap.push(found, out));
                self.wrap.end(out);
                out.push('\n');
            }
            Line::Fence => {
                let fence = styled(&self.held, TextStyle::default().dimmed());
                out.push_str(&painted(&fence));
                out.push('\n');
            }
            Line::Beginning | Line::Code => out.push('\n'),
        }
        (self.line, self.quotes, self.after_quote) = (Line::Beginning, 0, false);
        self.held.clear();
    }

    /// The line ends before it was known what it is: a rule, nothing, or text after all.
    fn end_beginning(&mut self, out: &mut String) {
        self.end_table(out);
        let mark = self.held.trim();
        let rule = ['-', '*', '_'].iter().any(|c| mark.chars().all(|other| other == *c));
        if self.fence.is_none() && mark.len() >= 3 && rule {
            let columns = self.width.min(RULE_COLUMNS);
            let rule = styled(&"─".repeat(columns), TextStyle::default().dimmed());
            out.push_str(&painted(&rule));
            self.held.clear();
        } else if !mark.is_empty() {
            self.begin_plain(out);
        } else {
            self.begin_quotes(out);
        }
    }

    fn end_table(&mut self, out: &mut String) {
        if !self.table.is_empty() {
            let lines = std::mem::take(&mut self.table);
            out.push_str(&table::drawn(&lines, self.width));
        }
    }
}

/// `#`, `##` … up to six, and the blank after them.
fn is_heading(text: &str) -> bool {
    let hashes = text.strip_suffix(' ').unwrap_or(text);
    (1..=MOST_HASHES).contains(&hashes.len()) && hashes.chars().all(|c| c == '#')
}

/// Whether the text is the number of an item, as `12. `; not yet, if it may become one.
fn numbered(text: &str) -> Option<bool> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = text.len().saturating_sub(digits.len());
    let is_number = (1..=4).contains(&count);
    match digits {
        "" | "." | ")" if is_number => Some(false),
        ". " | ") " if is_number => Some(true),
        _ => None,
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod markdown_tests;
