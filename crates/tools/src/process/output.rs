//! Reading what a command prints, for as long as it prints.

use std::convert::Infallible;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use windlass_runtime::ports::Clock;

use super::capture::Capture;
use super::spill::SpillFile;
use super::{Kept, Spill};
use crate::limits::DRAIN_MS;

const BUFFER_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Output {
    pipe: ChildStdout,
    buffer: Vec<u8>,
    captured: Capture,
    spill: SpillFile,
}

impl Output {
    pub(super) fn of(pipe: ChildStdout, spill: Spill) -> Self {
        Self {
            pipe,
            buffer: vec![0; BUFFER_BYTES],
            captured: Capture::default(),
            spill: SpillFile::new(spill),
        }
    }

    /// Head and tail, and the file with all of it.
    pub(super) fn finish(self) -> (String, Option<Kept>) {
        (self.captured.text(), self.spill.finish())
    }

    /// Reads for as long as somebody lets it, so that no writer ever blocks.
    pub(super) async fn read_on(&mut self) -> Infallible {
        self.read_to_end().await;
        std::future::pending().await
    }

    /// Reads what is still on its way. A daemon may keep the pipe open for ever, so not for long.
    pub(super) async fn drain(&mut self, clock: &dyn Clock) {
        tokio::select! {
            () = self.read_to_end() => {}
            () = clock.sleep(DRAIN_MS) => {}
        }
    }

    async fn read_to_end(&mut self) {
        // A pipe that cannot be read has nothing more to say.
        while let Ok(read @ 1..) = self.pipe.read(&mut self.buffer).await {
            let bytes = self.buffer.get(..read).unwrap_or_default();
            self.spill.push(bytes);
            self.captured.push(bytes);
        }
    }
}
