//! A page of a text file, its lines numbered as by `cat -n`.

use std::io::{self, BufRead};
use std::path::Path;

use windlass_core::call::outcome::ToolError;

use super::bounded_lines::{BoundedLine, BoundedLines};
use crate::files::file_errors::file_error;
use crate::limits::{MAX_PAGE_BYTES, MAX_SCAN_BYTES};

/// The range of lines that a call asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineRange {
    /// The first line, counted from 1.
    pub(crate) first: u64,
    /// The maximum number of lines.
    pub(crate) count: u64,
}

/// Reads a page of a text; `path` is used only for messages.
pub(crate) fn read_page(
    text: impl BufRead,
    path: &Path,
    wanted: LineRange,
) -> Result<String, ToolError> {
    let failed = |error: io::Error| page_error(path, &error);
    let mut lines = BoundedLines::new(text);
    let passed = skip_lines(&mut lines, wanted.first.saturating_sub(1)).map_err(failed)?;
    let page = TextPage::collect(&mut lines, wanted).map_err(failed)?;
    match (passed, page.lines) {
        (0, 0) if wanted.first == 1 => Ok("[the file is empty]".to_owned()),
        (lines, 0) => Err(past_end_error(path, wanted.first, lines)),
        _ => Ok(page.finish()),
    }
}

/// Skips lines and returns how many there were.
fn skip_lines<R: BufRead>(lines: &mut BoundedLines<R>, count: u64) -> io::Result<u64> {
    for passed in 0..count {
        if lines.skip_line()?.is_none() {
            return Ok(passed);
        }
    }
    Ok(count)
}

struct TextPage {
    text: String,
    lines: u64,
    next: Option<u64>,
    /// Whether a line ends in CR LF. An edit must match the file, so this is reported.
    has_crlf: bool,
}

impl TextPage {
    fn collect<R: BufRead>(lines: &mut BoundedLines<R>, wanted: LineRange) -> io::Result<Self> {
        let mut page = Self { text: String::new(), lines: 0, next: None, has_crlf: false };
        while let Some(line) = lines.next()? {
            let number = wanted.first.saturating_add(page.lines);
            let is_full = page.lines >= wanted.count || page.text.len() >= MAX_PAGE_BYTES;
            if is_full || !page.push_line(number, line) {
                page.next = Some(number);
                return Ok(page);
            }
        }
        Ok(page)
    }

    /// Adds a line if it fits; returns whether it did.
    fn push_line(&mut self, number: u64, line: &mut BoundedLine) -> bool {
        let has_crlf = strip_carriage_return(line);
        let before = self.text.len();
        write_numbered(&mut self.text, number, line);
        if self.lines > 0 && self.text.len() > MAX_PAGE_BYTES {
            self.text.truncate(before);
            return false;
        }
        self.lines = self.lines.saturating_add(1);
        self.has_crlf |= has_crlf;
        true
    }

    fn finish(mut self) -> String {
        if self.has_crlf {
            self.text.push_str("[lines end in CR LF]\n");
        }
        if let Some(next) = self.next {
            self.text.push_str(&format!("[more lines: continue with offset {next}]\n"));
        }
        self.text
    }
}

pub(crate) fn numbered_line(number: u64, line: &BoundedLine) -> String {
    let mut text = String::new();
    write_numbered(&mut text, number, line);
    text
}

/// Writes a numbered line in place: a page has many lines.
fn write_numbered(page: &mut String, number: u64, line: &BoundedLine) {
    write_number(page, number);
    page.push('\t');
    page.push_str(&String::from_utf8_lossy(&line.bytes));
    if line.omitted > 0 {
        page.push_str(&format!("[… {} more bytes in this line]", line.omitted));
    }
    page.push('\n');
}

/// Writes a number right-aligned in six columns, by hand: the general formatting is a good part of
/// the cost of reading a file.
fn write_number(page: &mut String, number: u64) {
    let mut columns = [b' '; 6];
    let mut rest = number;
    for column in columns.iter_mut().rev() {
        *column = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    match std::str::from_utf8(&columns) {
        Ok(columns) if rest == 0 => page.push_str(columns),
        _ => page.push_str(&number.to_string()),
    }
}

/// Removes a carriage return from the end of the line; returns whether there was one.
fn strip_carriage_return(line: &mut BoundedLine) -> bool {
    if line.omitted == 0 && line.bytes.last() == Some(&b'\r') {
        line.bytes.pop();
        return true;
    }
    false
}

fn page_error(path: &Path, error: &io::Error) -> ToolError {
    if error.kind() != io::ErrorKind::FileTooLarge {
        return file_error(path, error);
    }
    let mib = MAX_SCAN_BYTES >> 20;
    ToolError::new(
        "file_too_large",
        &format!("{}: these lines are beyond the first {mib} MiB", path.display()),
        "use Bash with tail, sed or grep to look at such a file",
    )
}

fn past_end_error(path: &Path, first: u64, lines: u64) -> ToolError {
    ToolError::new(
        "offset_past_end",
        &format!("{} has {lines} lines; line {first} is past its end", path.display()),
        "use a smaller offset",
    )
}
