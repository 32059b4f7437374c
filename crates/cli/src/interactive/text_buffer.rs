//! The text that is being edited: cursor, words, lines, kill ring and undo. It knows no screen.

use unicode_width::UnicodeWidthChar;

/// Maximum number of changes that can be undone.
const MAX_UNDO: usize = 200;

/// Maximum bytes of the text.
const MAX_BYTES: usize = 16 << 20;

/// A text with a cursor, which is a byte position between two visible characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextBuffer {
    text: String,
    cursor: usize,
    killed: String,
    undo: Vec<(String, usize)>,
    /// Whether the last change was a typed character: they are undone together.
    is_typing: bool,
}

impl TextBuffer {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// The text after the cursor.
    pub(super) fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Replaces the text; the cursor is at its end.
    pub(super) fn set(&mut self, text: &str) {
        self.remember(false);
        text.clone_into(&mut self.text);
        self.cursor = self.text.len();
    }

    /// Takes the text and leaves nothing.
    pub(super) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        (self.cursor, self.is_typing) = (0, false);
        self.undo.clear();
        text
    }

    pub(super) fn insert(&mut self, text: &str) {
        if self.text.len().saturating_add(text.len()) > MAX_BYTES {
            return;
        }
        let is_typing = text.chars().count() == 1 && text != "\n";
        if !(is_typing && self.is_typing) {
            self.remember(is_typing);
        }
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces the bytes from `from` up to the cursor.
    pub(super) fn replace_before(&mut self, from: usize, text: &str) {
        self.remember(false);
        let from = from.min(self.cursor);
        self.text.replace_range(from..self.cursor, text);
        self.cursor = from + text.len();
    }

    fn remember(&mut self, is_typing: bool) {
        self.is_typing = is_typing;
        if self.undo.len() >= MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }

    pub(super) fn undo(&mut self) {
        self.is_typing = false;
        if let Some((text, cursor)) = self.undo.pop() {
            (self.text, self.cursor) = (text, cursor);
        }
    }

    fn delete(&mut self, from: usize, to: usize) -> String {
        if from >= to {
            return String::new();
        }
        self.remember(false);
        let removed: String = self.text.drain(from..to).collect();
        self.cursor = from;
        removed
    }

    pub(super) fn backspace(&mut self) {
        self.delete(self.left_of(self.cursor), self.cursor);
    }

    pub(super) fn delete_next(&mut self) {
        self.delete(self.cursor, self.right_of(self.cursor));
    }

    /// Deletes and keeps for [`TextBuffer::yank`].
    fn kill(&mut self, from: usize, to: usize) {
        let killed = self.delete(from, to);
        if !killed.is_empty() {
            self.killed = killed;
        }
    }

    pub(super) fn kill_word_before(&mut self) {
        self.kill(self.word_start(), self.cursor);
    }

    /// Kills up to the last blank, as Ctrl-W does in a shell.
    pub(super) fn kill_blank_word_before(&mut self) {
        let trimmed = self.before().trim_end();
        let from = trimmed.rfind(char::is_whitespace).map_or(0, |at| {
            at + trimmed.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        self.kill(from, self.cursor);
    }

    pub(super) fn kill_word_after(&mut self) {
        self.kill(self.cursor, self.word_end());
    }

    /// Kills to the end of the line, or the line break at it.
    pub(super) fn kill_to_line_end(&mut self) {
        let end = self.line_end();
        let end = if end == self.cursor { self.right_of(end) } else { end };
        self.kill(self.cursor, end);
    }

    pub(super) fn kill_to_line_start(&mut self) {
        self.kill(self.line_start(), self.cursor);
    }

    /// Kills to the end of the line, but not the line break.
    pub(super) fn kill_rest_of_line(&mut self) {
        self.kill(self.cursor, self.line_end());
    }

    /// Kills the line with its line break.
    pub(super) fn kill_line(&mut self) {
        let end = self.line_end();
        let (mut start, after) = (self.line_start(), (end + 1).min(self.text.len()));
        if after == end {
            // The last line takes the break before it.
            start = start.saturating_sub(1);
        }
        self.kill(start, after);
        self.cursor = self.line_start();
    }

    /// Keeps the line for [`TextBuffer::yank`].
    pub(super) fn copy_line(&mut self) {
        let line = self.text.get(self.line_start()..self.line_end()).unwrap_or_default();
        line.clone_into(&mut self.killed);
    }

    /// Kills or keeps what is between `from` and the cursor.
    pub(super) fn kill_from(&mut self, from: usize, is_deleted: bool) {
        let (start, end) = (from.min(self.cursor), from.max(self.cursor));
        if is_deleted {
            return self.kill(start, end);
        }
        if let Some(text) = self.text.get(start..end) {
            text.clone_into(&mut self.killed);
        }
        self.cursor = start;
    }

    /// Deletes the character at the cursor, but not a line break.
    pub(super) fn delete_in_line(&mut self) {
        if self.cursor < self.line_end() {
            self.delete_next();
        } else if self.cursor > self.line_start() {
            // At the end of a line vi deletes what is before.
            self.backspace();
        }
    }

    pub(super) fn yank(&mut self) {
        let killed = self.killed.clone();
        if !killed.is_empty() {
            self.remember(false);
            self.text.insert_str(self.cursor, &killed);
            self.cursor += killed.len();
        }
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.left_of(self.cursor);
    }

    pub(super) fn right(&mut self) {
        self.cursor = self.right_of(self.cursor);
    }

    pub(super) fn word_left(&mut self) {
        self.cursor = self.word_start();
    }

    pub(super) fn word_right(&mut self) {
        self.cursor = self.word_end();
    }

    /// Moves to the beginning of the next word.
    pub(super) fn next_word_start(&mut self) {
        let after = self.after();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let skipped = after.trim_start_matches(is_word).trim_start_matches(|c| !is_word(c));
        self.cursor += after.len() - skipped.len();
    }

    pub(super) fn move_to_line_start(&mut self) {
        self.cursor = self.line_start();
    }

    pub(super) fn move_to_line_end(&mut self) {
        self.cursor = self.line_end();
    }

    pub(super) fn move_to_start(&mut self) {
        self.cursor = 0;
    }

    pub(super) fn move_to_end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Moves one line up; returns `false` on the first line.
    pub(super) fn up(&mut self) -> bool {
        let start = self.line_start();
        let Some(above_end) = start.checked_sub(1) else { return false };
        let column = self.column();
        let above = self.text.get(..above_end).unwrap_or_default();
        let above_start = above.rfind('\n').map_or(0, |at| at + 1);
        self.cursor = self.at_column(above_start, above_end, column);
        true
    }

    /// Moves one line down; returns `false` on the last line.
    pub(super) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end >= self.text.len() {
            return false;
        }
        let column = self.column();
        let below_start = end + 1;
        let below = self.text.get(below_start..).unwrap_or_default();
        let below_end = below.find('\n').map_or(self.text.len(), |at| below_start + at);
        self.cursor = self.at_column(below_start, below_end, column);
        true
    }

    fn column(&self) -> usize {
        self.text.get(self.line_start()..self.cursor).unwrap_or_default().chars().count()
    }

    fn at_column(&self, start: usize, end: usize, column: usize) -> usize {
        let line = self.text.get(start..end).unwrap_or_default();
        line.char_indices().nth(column).map_or(end, |(at, _)| start + at)
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.after().find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_start(&self) -> usize {
        let before = self.before();
        let trimmed = before.trim_end_matches(|c: char| !c.is_alphanumeric());
        trimmed.rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| {
            at + trimmed.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        })
    }

    fn word_end(&self) -> usize {
        let after = self.after();
        let word = after.trim_start_matches(|c: char| !c.is_alphanumeric());
        let skipped = after.len() - word.len();
        let length = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        self.cursor + skipped + length
    }

    /// The position before the visible character that ends at `at`.
    fn left_of(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        let mut chars = before.char_indices().rev().peekable();
        while let Some((start, c)) = chars.next() {
            let is_joined = chars.peek().is_some_and(|(_, before)| *before == '\u{200d}');
            if !is_attached(c) && !is_joined {
                return start;
            }
        }
        0
    }

    /// The position after the visible character that starts at `at`.
    fn right_of(&self, at: usize) -> usize {
        let after = self.text.get(at..).unwrap_or_default();
        let mut joined = false;
        for (offset, c) in after.char_indices().skip(1) {
            if !is_attached(c) && !joined {
                return at + offset;
            }
            joined = c == '\u{200d}';
        }
        self.text.len()
    }
}

/// Whether the character belongs to the one before it: a combining mark, a joiner, a skin tone.
fn is_attached(c: char) -> bool {
    let is_skin_tone = ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    (c.width() == Some(0) && c != '\n' && !c.is_control()) || is_skin_tone
}

#[cfg(test)]
#[path = "text_buffer_tests.rs"]
mod text_buffer_tests;
