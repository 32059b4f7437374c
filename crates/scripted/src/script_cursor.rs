//! Reads a script's text token by token: words, texts, JSON values, comments.
//!
//! Not here: what the tokens mean.

use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::limits::{MAX_FOUND_CHARS, MAX_TEXT_BYTES};
use super::script_error::{ScriptError, ScriptProblem};
use super::text_block::QuotedTextBlock;

/// A position in a script. Only a text block or a JSON value may extend over the end of a line.
#[derive(Debug, Clone)]
pub(super) struct ScriptCursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> ScriptCursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 }
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Adds the line of this position to a problem.
    pub(super) fn error_here(&self, problem: ScriptProblem) -> ScriptError {
        ScriptError::AtLine { line: self.line, problem }
    }

    /// Moves past blank lines and comments to the next statement.
    pub(super) fn skip_to_statement(&mut self) -> bool {
        while self.is_at_line_end() {
            self.take_line();
            if self.rest.is_empty() {
                return false;
            }
        }
        true
    }

    /// Returns whether nothing but a comment is left on this line.
    pub(super) fn is_at_line_end(&mut self) -> bool {
        self.skip_spaces();
        self.rest.is_empty() || self.rest.starts_with(['\n', '#'])
    }

    /// Ends a statement: nothing but a comment may follow on its line.
    pub(super) fn expect_line_end(&mut self, wanted: &'static str) -> Result<(), ScriptProblem> {
        if !self.is_at_line_end() {
            return Err(self.expected_error(wanted));
        }
        Ok(())
    }

    /// Returns the word here, or an empty one if something else is here.
    pub(super) fn peek_word(&mut self) -> &'a str {
        self.skip_spaces();
        let end = self.rest.find(|c| !is_word_char(c)).unwrap_or(self.rest.len());
        self.rest.get(..end).unwrap_or_default()
    }

    /// Takes the word here.
    pub(super) fn take_word(&mut self) -> &'a str {
        let word = self.peek_word();
        self.take(word.len())
    }

    /// Takes the word here if it is this one.
    pub(super) fn take_word_if(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.take(word.len());
        }
        found
    }

    /// Takes a name: a word, or a quoted text for unusual names.
    pub(super) fn take_name(&mut self, wanted: &'static str) -> Result<String, ScriptProblem> {
        match self.peek_word() {
            "" => self.take_text(wanted),
            word => Ok(self.take(word.len()).to_owned()),
        }
    }

    /// Takes a text in quotes or in a block.
    pub(super) fn take_text(&mut self, wanted: &'static str) -> Result<String, ScriptProblem> {
        self.skip_spaces();
        let text = match self.rest {
            rest if rest.starts_with("\"\"\"") => self.take_block()?,
            rest if rest.starts_with('"') => self.take_quoted()?,
            _ => return Err(self.expected_error(wanted)),
        };
        check_text_size("this text has too many bytes", text)
    }

    /// Takes one JSON value as it is written, which may extend over several lines.
    pub(super) fn take_json(&mut self, wanted: &'static str) -> Result<&'a str, ScriptProblem> {
        if self.is_at_line_end() {
            return Err(self.expected_error(wanted));
        }
        let mut values = Deserializer::from_str(self.rest).into_iter::<&'a RawValue>();
        let value = values.next();
        let end = values.byte_offset();
        match value {
            Some(Ok(value)) => {
                self.take(end);
                check_text_size("this JSON has too many bytes", value.get())
            }
            Some(Err(error)) => Err(self.bad_json_error(&error)),
            None => Err(self.expected_error(wanted)),
        }
    }

    /// Takes the rest of the line, comment signs included.
    pub(super) fn take_rest_of_line(&mut self) -> Result<&'a str, ScriptProblem> {
        self.skip_spaces();
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        check_text_size("this text has too many bytes", self.take(end).trim_end())
    }

    /// The problem that something else was expected here.
    pub(super) fn expected_error(&self, wanted: &'static str) -> ScriptProblem {
        ScriptProblem::Expected { wanted, found: self.describe_here() }
    }

    /// Describes what is here, for an error.
    fn describe_here(&self) -> String {
        match self.excerpt() {
            excerpt if excerpt.is_empty() || excerpt.starts_with('#') => {
                "the end of the line".to_owned()
            }
            excerpt => format!("`{excerpt}`"),
        }
    }

    /// The beginning of the rest of the line.
    pub(super) fn excerpt(&self) -> String {
        let line = self.rest.lines().next().unwrap_or_default().trim();
        line.chars().take(MAX_FOUND_CHARS).collect()
    }

    fn take_quoted(&mut self) -> Result<String, ScriptProblem> {
        // Only this line: a text without its closing quote must not extend into the next.
        let line = self.rest.lines().next().unwrap_or_default();
        let mut values = Deserializer::from_str(line).into_iter::<String>();
        let value = values.next();
        let end = values.byte_offset();
        match value {
            Some(Ok(text)) => {
                self.take(end);
                Ok(text)
            }
            Some(Err(error)) => {
                Err(ScriptProblem::BadText { detail: error_without_position(&error) })
            }
            None => Err(ScriptProblem::BadText { detail: "nothing there".to_owned() }),
        }
    }

    fn take_block(&mut self) -> Result<String, ScriptProblem> {
        let block = QuotedTextBlock::find(self.rest)?;
        let text = block.text().map_err(|(offset, problem)| {
            self.line = self.line.saturating_add(offset);
            problem
        })?;
        self.take(block.len());
        Ok(text)
    }

    fn bad_json_error(&mut self, error: &serde_json::Error) -> ScriptProblem {
        // The end of the file says nothing about the position; the beginning of the value does.
        if !error.is_eof() {
            self.line = self.line.saturating_add(error.line().saturating_sub(1));
        }
        ScriptProblem::BadJson { detail: error_without_position(error) }
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    }

    fn take_line(&mut self) {
        let end = self.rest.find('\n').map_or(self.rest.len(), |at| at.saturating_add(1));
        self.take(end);
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line = self.line.saturating_add(taken.matches('\n').count());
        self.rest = rest;
        taken
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || "_-+.:/".contains(c)
}

fn check_text_size<T: AsRef<str>>(what: &'static str, text: T) -> Result<T, ScriptProblem> {
    if text.as_ref().len() > MAX_TEXT_BYTES {
        return Err(ScriptProblem::TooLarge { what, limit: MAX_TEXT_BYTES });
    }
    Ok(text)
}

/// The message of the JSON parser without its position, which counts from the value's beginning.
fn error_without_position(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or_default().to_owned()
}
