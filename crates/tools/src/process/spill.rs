//! The whole of what a command prints, in a file, once it is more than is shown.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{Kept, Spill};
use crate::desk::make_room;
use crate::limits::{MAX_OUTPUT_BYTES, MAX_OUTPUT_FILES, MAX_OUTPUT_TOTAL_BYTES};

/// Output on its way to a file.
#[derive(Debug)]
pub(super) struct SpillFile {
    to: Spill,
    state: State,
    printed: u64,
    written: u64,
}

#[derive(Debug)]
enum State {
    /// There is little so far.
    Waiting(Vec<u8>),
    /// The file takes it.
    Open(File),
    /// No file could be made, or it takes no more. Head and tail must do.
    Closed,
}

impl SpillFile {
    pub(super) fn new(to: Spill) -> Self {
        let state = if to.path.is_some() { State::Waiting(Vec::new()) } else { State::Closed };
        let mut file = Self { to, state, printed: 0, written: 0 };
        // Who wants it from the first byte wants it before there is one.
        file.push(&[]);
        file
    }

    /// A write to a file goes to the kernel's memory, so it is done here and now; there is a bound
    /// on how much of it there is.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.printed = self.printed.saturating_add(bytes.len() as u64);
        match &mut self.state {
            State::Closed => {}
            State::Open(_) => self.write(bytes),
            State::Waiting(held) => {
                held.extend_from_slice(bytes);
                if held.len() >= self.to.from {
                    self.open();
                }
            }
        }
    }

    fn open(&mut self) {
        let State::Waiting(held) = std::mem::replace(&mut self.state, State::Closed) else {
            return;
        };
        let opened = self.to.path.as_deref().map(create);
        if let Some(Ok(file)) = opened {
            self.state = State::Open(file);
            self.write(&held);
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let State::Open(file) = &mut self.state else { return };
        let room = usize::try_from(MAX_OUTPUT_BYTES - self.written).unwrap_or(usize::MAX);
        let taken = bytes.get(..room).unwrap_or(bytes);
        match file.write_all(taken) {
            Ok(()) => self.written = self.written.saturating_add(taken.len() as u64),
            Err(_) => self.state = State::Closed,
        }
    }

    pub(super) fn finish(self) -> Option<Kept> {
        let is_made = self.written > 0 || matches!(self.state, State::Open(_));
        let path = self.to.path.filter(|_| is_made)?;
        Some(Kept { path, printed: self.printed, bytes: self.written })
    }
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        let room = MAX_OUTPUT_TOTAL_BYTES - MAX_OUTPUT_BYTES;
        make_room(folder, MAX_OUTPUT_FILES, room);
    }
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
