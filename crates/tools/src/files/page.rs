//! A page of a file, its lines numbered as `cat -n` does.

use std::io::{self, BufRead};
use std::path::Path;

use windlass_core::outcome::ToolError;

use super::lines::{Line, Lines};
use super::open::refused;
use crate::limits::{MAX_PAGE_BYTES, MAX_SCAN_BYTES};

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The first, counted from 1.
    pub(super) first: u64,
    /// How many at most.
    pub(super) count: u64,
}

/// Reads a page of a text; `path` is only for words.
pub(super) fn read(text: impl BufRead, path: &Path, wanted: Wanted) -> Result<String, ToolError> {
    let failed = |error: io::Error| failed(path, &error);
    let mut lines = Lines::new(text);
    let passed = pass(&mut lines, wanted.first.saturating_sub(1)).map_err(failed)?;
    let page = Page::read(&mut lines, wanted).map_err(failed)?;
    match (passed, page.lines) {
        (0, 0) if wanted.first == 1 => Ok("[the file is empty]".to_owned()),
        (lines, 0) => Err(past_the_end(path, wanted.first, lines)),
        _ => Ok(page.finish()),
    }
}

/// Passes over lines and says how many there were.
fn pass<R: BufRead>(lines: &mut Lines<R>, count: u64) -> io::Result<u64> {
    for passed in 0..count {
        if lines.skip()?.is_none() {
            return Ok(passed);
        }
    }
    Ok(count)
}

struct Page {
    text: String,
    lines: u64,
    next: Option<u64>,
    ending: Ending,
}

/// How the lines of a page end. An edit must match what is there, so the odd kind is told.
#[derive(PartialEq, Eq)]
enum Ending {
    Plain,
    CarriageReturn,
}

impl Page {
    fn read<R: BufRead>(lines: &mut Lines<R>, wanted: Wanted) -> io::Result<Self> {
        let mut page = Self { text: String::new(), lines: 0, next: None, ending: Ending::Plain };
        while let Some(line) = lines.next()? {
            let number = wanted.first.saturating_add(page.lines);
            let is_full = page.lines >= wanted.count || page.text.len() >= MAX_PAGE_BYTES;
            if is_full || !page.push(number, line) {
                page.next = Some(number);
                return Ok(page);
            }
        }
        Ok(page)
    }

    /// Adds a line if there is room for it.
    fn push(&mut self, number: u64, line: &mut Line) -> bool {
        let ending = ending(line);
        let before = self.text.len();
        write_numbered(&mut self.text, number, line);
        if self.lines > 0 && self.text.len() > MAX_PAGE_BYTES {
            self.text.truncate(before);
            return false;
        }
        self.lines = self.lines.saturating_add(1);
        if ending == Ending::CarriageReturn {
            self.ending = ending;
        }
        true
    }

    fn finish(mut self) -> String {
        if self.ending == Ending::CarriageReturn {
            self.text.push_str("[lines end in CR LF]\n");
        }
        if let Some(next) = self.next {
            self.text.push_str(&format!("[the file goes on: read it with offset {next}]\n"));
        }
        self.text
    }
}

pub(super) fn numbered(number: u64, line: &Line) -> String {
    let mut text = String::new();
    write_numbered(&mut text, number, line);
    text
}

/// Writes in place: a page has many lines.
fn write_numbered(page: &mut String, number: u64, line: &Line) {
    write_number(page, number);
    page.push('\t');
    page.push_str(&String::from_utf8_lossy(&line.kept));
    if line.omitted > 0 {
        page.push_str(&format!("[… {} more bytes in this line]", line.omitted));
    }
    page.push('\n');
}

/// To the right in six columns, by hand: the general way is a good part of what reading a file costs.
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

/// Takes a carriage return off the line's end.
fn ending(line: &mut Line) -> Ending {
    if line.omitted == 0 && line.kept.last() == Some(&b'\r') {
        line.kept.pop();
        return Ending::CarriageReturn;
    }
    Ending::Plain
}

fn failed(path: &Path, error: &io::Error) -> ToolError {
    if error.kind() != io::ErrorKind::FileTooLarge {
        return refused(path, error);
    }
    let mib = MAX_SCAN_BYTES >> 20;
    ToolError::new(
        "file_too_large",
        &format!("{}: these lines are not within its first {mib} MiB", path.display()),
        "use Bash with tail, sed or grep to look at such a file",
    )
}

fn past_the_end(path: &Path, first: u64, lines: u64) -> ToolError {
    ToolError::new(
        "offset_past_end",
        &format!("{} has {lines} lines; line {first} is past its end", path.display()),
        "use a smaller offset",
    )
}
