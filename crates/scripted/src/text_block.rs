//! Long texts: everything between two lines of `"""`, less the indentation of the closing one.

use super::script_error::ScriptProblem;

const QUOTES: &str = "\"\"\"";

/// A `"""` block found at the beginning of a text.
#[derive(Debug)]
pub(super) struct QuotedTextBlock<'a> {
    lines: Vec<&'a str>,
    indent: &'a str,
    len: usize,
}

impl<'a> QuotedTextBlock<'a> {
    /// Finds the block that `text` begins with.
    pub(super) fn find(text: &'a str) -> Result<Self, ScriptProblem> {
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        check_opening_line(first)?;
        let mut len = first.len().saturating_add(1);
        let mut lines = Vec::new();
        for line in body.split_inclusive('\n') {
            if let Some(indent) = closing_indent(line) {
                len = len.saturating_add(indent.len()).saturating_add(QUOTES.len());
                return Ok(Self { lines, indent, len });
            }
            len = len.saturating_add(line.len());
            lines.push(line.trim_end_matches(['\n', '\r']));
        }
        Err(ScriptProblem::UnclosedText)
    }

    /// The number of bytes of the block, quotes included.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The text of the block; an error names the line, counted from the opening quotes.
    pub(super) fn text(&self) -> Result<String, (usize, ScriptProblem)> {
        let lines: Result<Vec<&str>, _> = self
            .lines
            .iter()
            .zip(1..)
            .map(|(line, offset)| self.dedent(line).ok_or((offset, ScriptProblem::Outdented)))
            .collect();
        Ok(lines?.join("\n"))
    }

    fn dedent(&self, line: &'a str) -> Option<&'a str> {
        match line.strip_prefix(self.indent) {
            None if line.trim().is_empty() => Some(""),
            dedented => dedented,
        }
    }
}

fn check_opening_line(line: &str) -> Result<(), ScriptProblem> {
    let rest = line.strip_prefix(QUOTES).unwrap_or(line).trim();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(());
    }
    Err(ScriptProblem::Expected {
        wanted: "a new line after `\"\"\"`, with the text below it",
        found: format!(
            "`{}`",
            rest.chars().take(super::limits::MAX_FOUND_CHARS).collect::<String>()
        ),
    })
}

/// The indentation of a closing line.
fn closing_indent(line: &str) -> Option<&str> {
    let start = line.trim_start();
    if !start.starts_with(QUOTES) {
        return None;
    }
    line.get(..line.len().saturating_sub(start.len()))
}
