//! The output file for output that is longer than shown.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{OutputFile, SpillTarget};
use crate::limits::{MAX_OUTPUT_BYTES, MAX_OUTPUT_FILES, MAX_OUTPUT_TOTAL_BYTES};
use crate::tool_context::tool_state::evict_oldest_files;

/// Output that is spilled to a file once there is too much of it.
#[derive(Debug)]
pub(super) struct SpillFile {
    target: SpillTarget,
    state: SpillState,
    printed_bytes: u64,
    written_bytes: u64,
}

#[derive(Debug)]
enum SpillState {
    /// The output so far is below the threshold.
    Buffering(Vec<u8>),
    /// The file is open and receives the output.
    Open(File),
    /// The file could not be created, or is full. Only head and tail are kept.
    Closed,
}

impl SpillFile {
    pub(super) fn new(target: SpillTarget) -> Self {
        let state = if target.path.is_some() {
            SpillState::Buffering(Vec::new())
        } else {
            SpillState::Closed
        };
        let mut file = Self { target, state, printed_bytes: 0, written_bytes: 0 };
        // With a threshold of zero the file exists before the first byte.
        file.push(&[]);
        file
    }

    /// Adds output. A write to a file goes to the kernel's memory, so it is done synchronously; its
    /// amount is bounded.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.printed_bytes = self.printed_bytes.saturating_add(bytes.len() as u64);
        match &mut self.state {
            SpillState::Closed => {}
            SpillState::Open(_) => self.write(bytes),
            SpillState::Buffering(held) => {
                held.extend_from_slice(bytes);
                if held.len() >= self.target.threshold_bytes {
                    self.open_file();
                }
            }
        }
    }

    /// Writes what was held and what comes, however little it is.
    pub(super) fn open_now(&mut self) {
        self.open_file();
    }

    fn open_file(&mut self) {
        let SpillState::Buffering(held) = std::mem::replace(&mut self.state, SpillState::Closed)
        else {
            return;
        };
        let opened = self.target.path.as_deref().map(create_output_file);
        if let Some(Ok(file)) = opened {
            self.state = SpillState::Open(file);
            self.write(&held);
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let SpillState::Open(file) = &mut self.state else { return };
        let remaining =
            usize::try_from(MAX_OUTPUT_BYTES - self.written_bytes).unwrap_or(usize::MAX);
        let taken = bytes.get(..remaining).unwrap_or(bytes);
        match file.write_all(taken) {
            Ok(()) => self.written_bytes = self.written_bytes.saturating_add(taken.len() as u64),
            Err(_) => self.state = SpillState::Closed,
        }
    }

    pub(super) fn finish(self) -> Option<OutputFile> {
        let is_made = self.written_bytes > 0 || matches!(self.state, SpillState::Open(_));
        let path = self.target.path.filter(|_| is_made)?;
        Some(OutputFile { path, printed_bytes: self.printed_bytes, kept_bytes: self.written_bytes })
    }
}

fn create_output_file(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        let remaining = MAX_OUTPUT_TOTAL_BYTES - MAX_OUTPUT_BYTES;
        evict_oldest_files(folder, MAX_OUTPUT_FILES, remaining);
    }
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
