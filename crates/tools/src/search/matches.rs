//! Searching one file after the other and putting what was found into the shape asked for.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::SystemTime;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::DirEntry;

use super::found::{Found, shown};
use super::pattern::Manner;
use crate::limits::{MAX_FOUND_LINE_BYTES, MAX_NAMES, MAX_SEARCH_HEAP_BYTES};

/// What is brought of what matches.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// The paths of the files, the newest first.
    Files,
    /// The paths with the number of lines.
    Counts,
    /// The lines themselves.
    Lines { before: usize, after: usize, numbered: bool },
}

/// The search so far.
pub(super) struct Matches {
    matcher: RegexMatcher,
    searcher: Searcher,
    shape: Shape,
    files: Vec<(SystemTime, PathBuf)>,
    found: Found,
}

impl Matches {
    pub(super) fn new(matcher: RegexMatcher, shape: Shape, manner: Manner, found: Found) -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(true)
            .multi_line(manner.across_lines)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_SEARCH_HEAP_BYTES));
        if let Shape::Lines { before, after, .. } = shape {
            builder.before_context(before).after_context(after);
        }
        Self { matcher, searcher: builder.build(), shape, files: Vec::new(), found }
    }

    /// Searches one file.
    pub(super) fn search(&mut self, file: impl Read, entry: &DirEntry) -> io::Result<()> {
        let path = shown(entry.path());
        let mut sink = OneFile { path: &path, shape: self.shape, found: &mut self.found, lines: 0 };
        self.searcher.search_reader(&self.matcher, file, &mut sink)?;
        let lines = sink.lines;
        match self.shape {
            Shape::Files if lines > 0 => {
                let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
                let changed = changed.unwrap_or(SystemTime::UNIX_EPOCH);
                self.files.push((changed, entry.path().to_owned()));
            }
            Shape::Counts if lines > 0 => drop(self.found.push(&format!("{path}:{lines}"))),
            Shape::Files | Shape::Counts | Shape::Lines { .. } => {}
        }
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.found.is_full() || self.files.len() >= MAX_NAMES
    }

    pub(super) fn finish(mut self, note: &str) -> String {
        self.files.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
        for (_, path) in &self.files {
            if !self.found.push(&shown(path)) {
                break;
            }
        }
        self.found.finish("nothing matches", note)
    }
}

/// Takes what is found in one file.
struct OneFile<'a> {
    path: &'a str,
    shape: Shape,
    found: &'a mut Found,
    lines: u64,
}

impl OneFile<'_> {
    /// One line, `path:12:text` where it matches and `path-12-text` where it does not.
    fn line(&mut self, number: Option<u64>, text: &[u8], sign: char) -> bool {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let (kept, rest) = text.split_at_checked(MAX_FOUND_LINE_BYTES).unwrap_or((text, &[]));
        let kept = String::from_utf8_lossy(kept);
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!("[… {} more bytes]", rest.len())
        };
        let path = self.path;
        match (number, self.shape) {
            (Some(number), Shape::Lines { numbered: true, .. }) => {
                self.found.push(&format!("{path}{sign}{number}{sign}{kept}{more}"))
            }
            _ => self.found.push(&format!("{path}{sign}{kept}{more}")),
        }
    }
}

impl Sink for OneFile<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.shape {
            Shape::Files => {
                self.lines = 1;
                Ok(false)
            }
            Shape::Counts => {
                self.lines += found.lines().count() as u64;
                Ok(true)
            }
            Shape::Lines { .. } => {
                let first = found.line_number();
                for (index, line) in found.lines().enumerate() {
                    let number = first.map(|first| first.saturating_add(index as u64));
                    if !self.line(number, line, ':') {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.line(around.line_number(), around.bytes(), '-'))
    }

    /// Between two places of a file that do not touch.
    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        Ok(self.found.push("--"))
    }
}
