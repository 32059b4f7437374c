//! Markdown on a terminal, rendered as it streams: headings, lists, quotes, rules, tables and code,
//! with lines that break between words.
//!
//! Pieces may end anywhere. Text that could still become a mark is held back until that is known,
//! at most to the end of its line; a table is held back until it is complete. A style never lasts
//! beyond its word, so unbalanced marks do no harm.

mod code_highlight;
mod inline_marks;
mod line_wrap;
mod table_layout;
mod text_style;

use code_highlight::CodeHighlighter;
use inline_marks::InlineParser;
use line_wrap::{LineWrapper, style_text};
use text_style::{StyledChar, TextStyle, paint};

/// Maximum length of a heading mark.
const MAX_HASHES: usize = 6;

/// Minimum width for which lines are wrapped.
const MIN_WIDTH: usize = 20;

/// Maximum width of a horizontal rule.
const RULE_COLUMNS: usize = 60;

/// Maximum characters of a table line that are held back.
const MAX_ROW_CHARS: usize = 20_000;

/// Renders streamed Markdown.
#[derive(Debug)]
pub(crate) struct MarkdownRenderer {
    width: usize,
    line: LineState,
    fence: Option<char>,
    /// Colors the block of code that is open.
    code: Option<CodeHighlighter>,
    /// The beginning of the line, as long as it may be a mark.
    held_prefix: String,
    quotes: usize,
    /// Whether a quote mark was the last character: a space after it belongs to it.
    after_quote: bool,
    inline: InlineParser,
    wrap: LineWrapper,
    table: Vec<String>,
}

/// The state within the current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// Only characters that may be a mark were read.
    Beginning,
    /// Within the text of the line.
    Text,
    /// Within a line of code.
    Code,
    /// Within the line of a code fence.
    Fence,
    /// Within a line of a table.
    Row,
}

/// The block mark at the start of a line.
enum LineMark {
    /// Not known yet.
    Undecided,
    Fence(char),
    Heading,
    Quote,
    /// A list item, with the text of its mark.
    Item(String),
    Row,
    Nothing,
}

impl MarkdownRenderer {
    pub(crate) fn new(width: usize) -> Self {
        let width = width.max(MIN_WIDTH);
        Self {
            width,
            line: LineState::Beginning,
            fence: None,
            code: None,
            held_prefix: String::new(),
            quotes: 0,
            after_quote: false,
            inline: InlineParser::default(),
            wrap: LineWrapper::new(width),
            table: Vec::new(),
        }
    }

    /// Renders the next piece, with its styles.
    pub(crate) fn push(&mut self, chunk: &str) -> String {
        let mut out = String::new();
        for c in chunk.chars() {
            self.push_char(c, &mut out);
        }
        out
    }

    /// Renders held-back text, and ends an open line.
    pub(crate) fn end(&mut self) -> String {
        let mut out = String::new();
        if !self.is_at_beginning() {
            self.end_line(&mut out);
        }
        self.end_table(&mut out);
        *self = Self::new(self.width);
        out
    }

    fn is_at_beginning(&self) -> bool {
        self.line == LineState::Beginning
            && self.held_prefix.is_empty()
            && self.quotes == 0
            && self.wrap.is_empty()
    }

    fn push_char(&mut self, c: char, out: &mut String) {
        match self.line {
            _ if c == '\n' => self.end_line(out),
            LineState::Beginning => self.begin_line(c, out),
            LineState::Text => self.push_text(c, out),
            LineState::Code => self.push_code(c, out),
            LineState::Fence | LineState::Row if self.held_prefix.len() < MAX_ROW_CHARS => {
                self.held_prefix.push(c);
            }
            LineState::Fence | LineState::Row => {}
        }
    }

    fn begin_line(&mut self, c: char, out: &mut String) {
        if std::mem::take(&mut self.after_quote) && c == ' ' {
            return;
        }
        self.held_prefix.push(c);
        match self.detect_mark() {
            LineMark::Undecided => {}
            LineMark::Fence(mark) => self.toggle_fence(mark, out),
            LineMark::Heading => self.begin_text("", TextStyle::default().with_bold(), out),
            LineMark::Quote => {
                self.held_prefix.clear();
                self.quotes = self.quotes.saturating_add(1);
                self.after_quote = true;
            }
            LineMark::Item(first) => self.begin_text(&first, TextStyle::default(), out),
            LineMark::Row => self.line = LineState::Row,
            LineMark::Nothing => self.begin_plain(out),
        }
        if self.line != LineState::Row && self.line != LineState::Beginning {
            self.end_table(out);
        }
    }

    fn detect_mark(&self) -> LineMark {
        let mark = self.held_prefix.trim_start();
        let indent = self.held_prefix.len().saturating_sub(mark.len());
        if let Some(fence) = self.fence {
            let closes = mark.chars().all(|c| c == fence);
            return match mark.len() {
                3 if closes => LineMark::Fence(fence),
                0..3 if closes => LineMark::Undecided,
                _ => LineMark::Nothing,
            };
        }
        let all = |c: char| mark.chars().all(|other| other == c);
        match mark {
            "" if indent < 40 => LineMark::Undecided,
            "```" => LineMark::Fence('`'),
            "~~~" => LineMark::Fence('~'),
            ">" => LineMark::Quote,
            "|" => LineMark::Row,
            "- " | "* " | "+ " => LineMark::Item(format!("{:indent$}• ", "")),
            "+" => LineMark::Undecided,
            _ if all('`') || all('~') => LineMark::Undecided,
            // A rule, unless something else follows.
            _ if all('-') || all('*') || all('_') => LineMark::Undecided,
            _ if is_heading(mark) => match mark.ends_with(' ') {
                true => LineMark::Heading,
                false => LineMark::Undecided,
            },
            _ => match parse_list_number(mark) {
                Some(true) => LineMark::Item(format!("{:indent$}{mark}", "")),
                Some(false) => LineMark::Undecided,
                None => LineMark::Nothing,
            },
        }
    }

    fn toggle_fence(&mut self, mark: char, out: &mut String) {
        self.fence = match self.fence {
            None => Some(mark),
            Some(_) => None,
        };
        self.line = LineState::Fence;
        self.write_quote_prefix(out);
    }

    /// Starts a line of text with `first`; the style lasts to its end.
    fn begin_text(&mut self, first: &str, style: TextStyle, out: &mut String) {
        self.held_prefix.clear();
        self.line = LineState::Text;
        self.inline = InlineParser::new(self.base_style(style));
        let quotes = self.quote_prefix();
        let mut begin = quotes.clone();
        begin.extend(style_text(first, self.base_style(style)));
        // Wrapped lines are indented to the text, not to the mark, if the width allows.
        let hanging = first.chars().count();
        let hanging = if hanging < self.width / 2 { hanging } else { 0 };
        let mut indent = quotes;
        indent.extend(std::iter::repeat_n((' ', TextStyle::default()), hanging));
        self.end_table(out);
        self.wrap.begin(&begin, indent, out);
    }

    /// The line starts without a mark: held-back characters are read again as text.
    fn begin_plain(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held_prefix);
        if self.fence.is_some() {
            self.line = LineState::Code;
            self.write_quote_prefix(out);
            held.chars().for_each(|c| self.push_code(c, out));
            return;
        }
        let text = held.trim_start_matches(' ');
        let indent = " ".repeat(held.len().saturating_sub(text.len()));
        let text = text.to_owned();
        self.begin_text(&indent, TextStyle::default(), out);
        for c in text.chars() {
            self.push_text(c, out);
        }
    }

    fn base_style(&self, style: TextStyle) -> TextStyle {
        TextStyle { italic: style.italic || self.quotes > 0, ..style }
    }

    fn quote_prefix(&self) -> Vec<StyledChar> {
        style_text(&"│ ".repeat(self.quotes), TextStyle::default().with_dim())
    }

    fn write_quote_prefix(&mut self, out: &mut String) {
        self.end_table(out);
        out.push_str(&paint(&self.quote_prefix()));
    }

    fn push_code(&mut self, c: char, out: &mut String) {
        match &mut self.code {
            Some(code) => code.push(c, out),
            None => out.push(c),
        }
    }

    fn push_text(&mut self, c: char, out: &mut String) {
        let mut found = Vec::new();
        self.inline.push(c, &mut found);
        found.into_iter().for_each(|found| self.wrap.push(found, out));
    }

    fn end_line(&mut self, out: &mut String) {
        if self.line == LineState::Beginning {
            self.end_undecided_line(out);
        }
        match self.line {
            LineState::Row => {
                self.table.push(std::mem::take(&mut self.held_prefix));
                if self.table.len() >= table_layout::MAX_ROWS {
                    self.end_table(out);
                }
            }
            LineState::Text => {
                let mut found = Vec::new();
                self.inline.end(&mut found);
                found.into_iter().for_each(|found| self.wrap.push(found, out));
                self.wrap.end(out);
                out.push('\n');
            }
            LineState::Fence => {
                let fence = style_text(&self.held_prefix, TextStyle::default().with_dim());
                out.push_str(&paint(&fence));
                out.push('\n');
                let info = self.held_prefix.trim_start_matches([' ', '`', '~']);
                let language = info.split([' ', ',', '{']).next().unwrap_or_default();
                self.code = self.fence.and_then(|_| CodeHighlighter::new(language));
            }
            LineState::Beginning | LineState::Code => {
                if let Some(code) = &mut self.code {
                    code.end_line(out);
                }
                out.push('\n');
            }
        }
        (self.line, self.quotes, self.after_quote) = (LineState::Beginning, 0, false);
        self.held_prefix.clear();
    }

    /// Ends a line whose kind was not known yet: a rule, nothing, or text after all.
    fn end_undecided_line(&mut self, out: &mut String) {
        self.end_table(out);
        let mark = self.held_prefix.trim();
        let rule = ['-', '*', '_'].iter().any(|c| mark.chars().all(|other| other == *c));
        if self.fence.is_none() && mark.len() >= 3 && rule {
            let columns = self.width.min(RULE_COLUMNS);
            let rule = style_text(&"─".repeat(columns), TextStyle::default().with_dim());
            out.push_str(&paint(&rule));
            self.held_prefix.clear();
        } else if !mark.is_empty() {
            self.begin_plain(out);
        } else {
            self.write_quote_prefix(out);
        }
    }

    fn end_table(&mut self, out: &mut String) {
        if !self.table.is_empty() {
            let lines = std::mem::take(&mut self.table);
            out.push_str(&table_layout::draw_table(&lines, self.width));
        }
    }
}

/// Returns whether the text is `#`, `##` … up to six, and the space after them.
fn is_heading(text: &str) -> bool {
    let hashes = text.strip_suffix(' ').unwrap_or(text);
    (1..=MAX_HASHES).contains(&hashes.len()) && hashes.chars().all(|c| c == '#')
}

/// Returns whether the text is the number of a list item, as `12. `; `None` if it may become one.
fn parse_list_number(text: &str) -> Option<bool> {
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
