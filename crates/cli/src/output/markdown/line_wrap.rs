//! Wraps lines between words, and inside of a word only if it is longer than a line.

use unicode_width::UnicodeWidthChar;

use super::text_style::{StyledChar, TextStyle, paint};

/// The columns of a character.
pub(super) fn char_columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The columns of a text.
pub(super) fn text_columns(text: &[StyledChar]) -> usize {
    text.iter().map(|(c, _)| char_columns(*c)).sum()
}

/// A line that is being written.
#[derive(Debug)]
pub(super) struct LineWrapper {
    width: usize,
    column: usize,
    /// The indentation of continued lines.
    indent: Vec<StyledChar>,
    word: Vec<StyledChar>,
    /// Spaces before the current word.
    blanks: Vec<StyledChar>,
}

impl LineWrapper {
    pub(super) fn new(width: usize) -> Self {
        Self { width, column: 0, indent: Vec::new(), word: Vec::new(), blanks: Vec::new() }
    }

    /// Starts a line with `first`; wrapped lines start with `indent`.
    pub(super) fn begin(
        &mut self,
        first: &[StyledChar],
        indent: Vec<StyledChar>,
        out: &mut String,
    ) {
        out.push_str(&paint(first));
        self.column = self.column.saturating_add(text_columns(first));
        self.indent = indent;
    }

    pub(super) fn push(&mut self, (c, style): StyledChar, out: &mut String) {
        match c {
            ' ' | '\t' => {
                self.end_word(out);
                // A space looks the same in every style.
                self.blanks.push((' ', TextStyle::default()));
            }
            _ => {
                self.word.push((c, style));
                // A word that fills a line by itself is written at once.
                if text_columns(&self.word) >= self.width {
                    self.end_word(out);
                }
            }
        }
    }

    /// Writes the held-back word, on the next line if it does not fit.
    pub(super) fn end_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let (word, blanks) = (std::mem::take(&mut self.word), std::mem::take(&mut self.blanks));
        let (wide, before) = (text_columns(&word), text_columns(&blanks));
        let at_begin = self.column <= text_columns(&self.indent);
        if self.column + before + wide <= self.width || (at_begin && before == 0) {
            out.push_str(&paint(&blanks));
            self.column += before;
        } else {
            self.break_line(out);
        }
        let mut piece = Vec::new();
        for (c, style) in word {
            if self.column + char_columns(c) > self.width
                && self.column > text_columns(&self.indent)
            {
                out.push_str(&paint(&std::mem::take(&mut piece)));
                self.break_line(out);
            }
            self.column += char_columns(c);
            piece.push((c, style));
        }
        out.push_str(&paint(&piece));
    }

    fn break_line(&mut self, out: &mut String) {
        out.push('\n');
        out.push_str(&paint(&self.indent));
        self.column = text_columns(&self.indent);
    }

    /// Ends the line; trailing spaces are dropped.
    pub(super) fn end(&mut self, out: &mut String) {
        self.end_word(out);
        self.blanks.clear();
        self.indent.clear();
        self.column = 0;
    }

    /// Returns whether the line is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.column == 0 && self.word.is_empty()
    }
}

/// Wraps a text into lines of at most this many columns.
pub(super) fn wrap_text(text: &[StyledChar], width: usize) -> Vec<Vec<StyledChar>> {
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    for word in text.split_inclusive(|(c, _)| *c == ' ') {
        let bare = word.iter().rposition(|(c, _)| *c != ' ').map_or(0, |last| last + 1);
        let bare_width = text_columns(word.get(..bare).unwrap_or_default());
        if column > 0 && column + bare_width > width {
            lines.push(Vec::new());
            column = 0;
        }
        for (c, style) in word {
            if column + char_columns(*c) > width && column > 0 {
                if *c == ' ' {
                    continue;
                }
                lines.push(Vec::new());
                column = 0;
            }
            column += char_columns(*c);
            if let Some(line) = lines.last_mut() {
                line.push((*c, *style));
            }
        }
    }
    for line in &mut lines {
        while line.last().is_some_and(|(c, _)| *c == ' ') {
            line.pop();
        }
    }
    lines
}

/// Plain text as characters of one style.
pub(super) fn style_text(text: &str, style: TextStyle) -> Vec<StyledChar> {
    text.chars().map(|c| (c, style)).collect()
}
