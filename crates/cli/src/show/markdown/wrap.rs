//! Lines that break between words, and inside a word only where it is longer than a line.

use unicode_width::UnicodeWidthChar;

use super::style::{Styled, TextStyle, painted};

/// Columns that a character takes.
pub(super) fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Columns that a text takes.
pub(super) fn width_of(text: &[Styled]) -> usize {
    text.iter().map(|(c, _)| columns(*c)).sum()
}

/// A line being written.
#[derive(Debug)]
pub(super) struct Wrap {
    width: usize,
    column: usize,
    /// What begins a line that goes on.
    indent: Vec<Styled>,
    word: Vec<Styled>,
    /// Blanks before the word.
    blanks: Vec<Styled>,
}

impl Wrap {
    pub(super) fn new(width: usize) -> Self {
        Self { width, column: 0, indent: Vec::new(), word: Vec::new(), blanks: Vec::new() }
    }

    /// Begins a line with `first`; if it wraps, it goes on after `indent`.
    pub(super) fn begin(&mut self, first: &[Styled], indent: Vec<Styled>, out: &mut String) {
        out.push_str(&painted(first));
        self.column = self.column.saturating_add(width_of(first));
        self.indent = indent;
    }

    pub(super) fn push(&mut self, (c, style): Styled, out: &mut String) {
        match c {
            ' ' | '\t' => {
                self.end_word(out);
                // A blank looks the same in every style.
                self.blanks.push((' ', TextStyle::default()));
            }
            _ => {
                self.word.push((c, style));
                // A word that fills a line by itself need not be waited for.
                if width_of(&self.word) >= self.width {
                    self.end_word(out);
                }
            }
        }
    }

    /// Writes the word that is held, on the next line if it does not fit.
    pub(super) fn end_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let (word, blanks) = (std::mem::take(&mut self.word), std::mem::take(&mut self.blanks));
        let (wide, before) = (width_of(&word), width_of(&blanks));
        let at_begin = self.column <= width_of(&self.indent);
        if self.column + before + wide <= self.width || (at_begin && before == 0) {
            out.push_str(&painted(&blanks));
            self.column += before;
        } else {
            self.break_line(out);
        }
        let mut piece = Vec::new();
        for (c, style) in word {
            if self.column + columns(c) > self.width && self.column > width_of(&self.indent) {
                out.push_str(&painted(&std::mem::take(&mut piece)));
                self.break_line(out);
            }
            self.column += columns(c);
            piece.push((c, style));
        }
        out.push_str(&painted(&piece));
    }

    fn break_line(&mut self, out: &mut String) {
        out.push('\n');
        out.push_str(&painted(&self.indent));
        self.column = width_of(&self.indent);
    }

    /// Ends the line; blanks at its end are nobody's loss.
    pub(super) fn end(&mut self, out: &mut String) {
        self.end_word(out);
        self.blanks.clear();
        self.indent.clear();
        self.column = 0;
    }

    /// Whether nothing stands in the line.
    pub(super) fn is_empty(&self) -> bool {
        self.column == 0 && self.word.is_empty()
    }
}

/// A text in lines of at most so many columns.
pub(super) fn wrapped(text: &[Styled], width: usize) -> Vec<Vec<Styled>> {
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    for word in text.split_inclusive(|(c, _)| *c == ' ') {
        let bare = word.iter().rposition(|(c, _)| *c != ' ').map_or(0, |last| last + 1);
        let bare_width = width_of(word.get(..bare).unwrap_or_default());
        if column > 0 && column + bare_width > width {
            lines.push(Vec::new());
            column = 0;
        }
        for (c, style) in word {
            if column + columns(*c) > width && column > 0 {
                if *c == ' ' {
                    continue;
                }
                lines.push(Vec::new());
                column = 0;
            }
            column += columns(*c);
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

/// Plain text with styles of its own.
pub(super) fn styled(text: &str, style: TextStyle) -> Vec<Styled> {
    text.chars().map(|c| (c, style)).collect()
}
