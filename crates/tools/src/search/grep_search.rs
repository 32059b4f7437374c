//! Searches files and formats matches.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::SystemTime;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::DirEntry;

use super::patterns::MatchOptions;
use super::result_lines::{ResultLines, display_path};
use crate::limits::{MAX_RESULT_LINE_BYTES, MAX_SEARCH_CANDIDATES, MAX_SEARCH_HEAP_BYTES};

/// What is returned of the matches.
#[derive(Debug, Clone, Copy)]
pub(super) enum GrepOutput {
    /// The paths of the files, the newest first.
    Files,
    /// The paths with the number of matching lines.
    Counts,
    /// The matching lines.
    Lines { before: usize, after: usize, numbered: bool },
}

/// The state of a search.
pub(super) struct GrepSearch {
    matcher: RegexMatcher,
    searcher: Searcher,
    shape: GrepOutput,
    files: Vec<(SystemTime, PathBuf)>,
    results: ResultLines,
}

impl GrepSearch {
    pub(super) fn new(
        matcher: RegexMatcher,
        shape: GrepOutput,
        manner: MatchOptions,
        results: ResultLines,
    ) -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(true)
            .multi_line(manner.multiline)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_SEARCH_HEAP_BYTES));
        if let GrepOutput::Lines { before, after, .. } = shape {
            builder.before_context(before).after_context(after);
        }
        Self { matcher, searcher: builder.build(), shape, files: Vec::new(), results }
    }

    /// Searches one file.
    pub(super) fn search_file(&mut self, file: impl Read, entry: &DirEntry) -> io::Result<()> {
        let path = display_path(entry.path());
        let mut sink =
            FileSink { path: &path, shape: self.shape, found: &mut self.results, lines: 0 };
        self.searcher.search_reader(&self.matcher, file, &mut sink)?;
        let lines = sink.lines;
        match self.shape {
            GrepOutput::Files if lines > 0 => {
                let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
                let changed = changed.unwrap_or(SystemTime::UNIX_EPOCH);
                self.files.push((changed, entry.path().to_owned()));
            }
            GrepOutput::Counts if lines > 0 => drop(self.results.push(&format!("{path}:{lines}"))),
            GrepOutput::Files | GrepOutput::Counts | GrepOutput::Lines { .. } => {}
        }
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.results.is_truncated() || self.files.len() >= MAX_SEARCH_CANDIDATES
    }

    pub(super) fn finish(mut self, note: &str) -> String {
        self.files.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
        for (_, path) in &self.files {
            if !self.results.push(&display_path(path)) {
                break;
            }
        }
        self.results.finish("no matches found", note)
    }
}

/// Receives the matches in one file.
struct FileSink<'a> {
    path: &'a str,
    shape: GrepOutput,
    found: &'a mut ResultLines,
    lines: u64,
}

impl FileSink<'_> {
    /// Adds one line, `path:12:text` for a match and `path-12-text` for context.
    fn push_line(&mut self, number: Option<u64>, text: &[u8], sign: char) -> bool {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let (kept, rest) = text.split_at_checked(MAX_RESULT_LINE_BYTES).unwrap_or((text, &[]));
        let kept = String::from_utf8_lossy(kept);
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!("[… {} more bytes]", rest.len())
        };
        let path = self.path;
        match (number, self.shape) {
            (Some(number), GrepOutput::Lines { numbered: true, .. }) => {
                self.found.push(&format!("{path}{sign}{number}{sign}{kept}{more}"))
            }
            _ => self.found.push(&format!("{path}{sign}{kept}{more}")),
        }
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.shape {
            GrepOutput::Files => {
                self.lines = 1;
                Ok(false)
            }
            GrepOutput::Counts => {
                self.lines += found.lines().count() as u64;
                Ok(true)
            }
            GrepOutput::Lines { .. } => {
                let first = found.line_number();
                for (index, line) in found.lines().enumerate() {
                    let number = first.map(|first| first.saturating_add(index as u64));
                    if !self.push_line(number, line, ':') {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.push_line(around.line_number(), around.bytes(), '-'))
    }

    /// Separates two groups of lines that are not adjacent.
    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        Ok(self.found.push("--"))
    }
}
