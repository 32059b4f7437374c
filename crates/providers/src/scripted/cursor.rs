//! Reading a script's text piece by piece: words, texts, JSON values, comments.
//!
//! Not here: what the pieces mean.

use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::block::Block;
use super::error::{Error, Problem};
use super::limits::{MAX_FOUND_CHARS, MAX_TEXT_BYTES};

/// A place in a script. Nothing but a text block or a JSON value crosses the end of a line.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 }
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Puts this place's line to a problem.
    pub(super) fn here(&self, problem: Problem) -> Error {
        Error::At { line: self.line, problem }
    }

    /// Moves past blank lines and comments to the next line that says something.
    pub(super) fn next_statement(&mut self) -> bool {
        while self.at_line_end() {
            self.take_line();
            if self.rest.is_empty() {
                return false;
            }
        }
        true
    }

    /// Whether only a comment may be left on this line.
    pub(super) fn at_line_end(&mut self) -> bool {
        self.skip_spaces();
        self.rest.is_empty() || self.rest.starts_with(['\n', '#'])
    }

    /// Ends a statement: nothing but a comment may follow on its line.
    pub(super) fn end_line(&mut self, wanted: &'static str) -> Result<(), Problem> {
        if !self.at_line_end() {
            return Err(self.expected(wanted));
        }
        Ok(())
    }

    /// The word here, or an empty one if something else stands here.
    pub(super) fn peek(&mut self) -> &'a str {
        self.skip_spaces();
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        self.rest.get(..end).unwrap_or_default()
    }

    /// Takes the word here.
    pub(super) fn word(&mut self) -> &'a str {
        let word = self.peek();
        self.take(word.len())
    }

    /// Takes the word here if it is this one.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        if found {
            self.take(word.len());
        }
        found
    }

    /// A name: a word, or a quoted text for the odd ones.
    pub(super) fn name(&mut self, wanted: &'static str) -> Result<String, Problem> {
        match self.peek() {
            "" => self.text(wanted),
            word => Ok(self.take(word.len()).to_owned()),
        }
    }

    /// A text in quotes or in a block.
    pub(super) fn text(&mut self, wanted: &'static str) -> Result<String, Problem> {
        self.skip_spaces();
        let text = match self.rest {
            rest if rest.starts_with("\"\"\"") => self.block()?,
            rest if rest.starts_with('"') => self.quoted()?,
            _ => return Err(self.expected(wanted)),
        };
        fits("this text has too many bytes", text)
    }

    /// One JSON value as it is written, which may go on over several lines.
    pub(super) fn json(&mut self, wanted: &'static str) -> Result<&'a str, Problem> {
        if self.at_line_end() {
            return Err(self.expected(wanted));
        }
        let mut values = Deserializer::from_str(self.rest).into_iter::<&'a RawValue>();
        let value = values.next();
        let end = values.byte_offset();
        match value {
            Some(Ok(value)) => {
                self.take(end);
                fits("this JSON has too many bytes", value.get())
            }
            Some(Err(error)) => Err(self.bad_json(&error)),
            None => Err(self.expected(wanted)),
        }
    }

    /// The line to its end, comment signs included.
    pub(super) fn verbatim(&mut self) -> Result<&'a str, Problem> {
        self.skip_spaces();
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        fits("this text has too many bytes", self.take(end).trim_end())
    }

    /// The complaint that something else was needed here.
    pub(super) fn expected(&self, wanted: &'static str) -> Problem {
        Problem::Expected { wanted, found: self.found() }
    }

    /// What stands here, for a complaint.
    fn found(&self) -> String {
        match self.excerpt() {
            excerpt if excerpt.is_empty() || excerpt.starts_with('#') => {
                "the end of the line".to_owned()
            }
            excerpt => format!("`{excerpt}`"),
        }
    }

    /// The beginning of what is left of the line.
    pub(super) fn excerpt(&self) -> String {
        let line = self.rest.lines().next().unwrap_or_default().trim();
        line.chars().take(MAX_FOUND_CHARS).collect()
    }

    fn quoted(&mut self) -> Result<String, Problem> {
        // Only this line: a text without its closing quote must not run on into the next.
        let line = self.rest.lines().next().unwrap_or_default();
        let mut values = Deserializer::from_str(line).into_iter::<String>();
        let value = values.next();
        let end = values.byte_offset();
        match value {
            Some(Ok(text)) => {
                self.take(end);
                Ok(text)
            }
            Some(Err(error)) => Err(Problem::BadText { detail: detail(&error) }),
            None => Err(Problem::BadText { detail: "nothing there".to_owned() }),
        }
    }

    fn block(&mut self) -> Result<String, Problem> {
        let block = Block::find(self.rest)?;
        let text = block.text().map_err(|(offset, problem)| {
            self.line = self.line.saturating_add(offset);
            problem
        })?;
        self.take(block.len());
        Ok(text)
    }

    fn bad_json(&mut self, error: &serde_json::Error) -> Problem {
        // An end of file says nothing about where: the value's beginning does.
        if !error.is_eof() {
            self.line = self.line.saturating_add(error.line().saturating_sub(1));
        }
        Problem::BadJson { detail: detail(error) }
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

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || "_-+.:/".contains(c)
}

fn fits<T: AsRef<str>>(what: &'static str, text: T) -> Result<T, Problem> {
    if text.as_ref().len() > MAX_TEXT_BYTES {
        return Err(Problem::TooLarge { what, limit: MAX_TEXT_BYTES });
    }
    Ok(text)
}

/// The JSON reader's words without its position, which counts from the value's beginning.
fn detail(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or_default().to_owned()
}
