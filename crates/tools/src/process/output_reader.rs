//! Reads the output of a command while it runs.

use std::convert::Infallible;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use windlass_runtime::ports::{Clock, ProgressReporter};

use super::capture::HeadTailCapture;
use super::spill_file::SpillFile;
use super::{BackgroundSwitch, OutputFile, SpillTarget};
use crate::limits::OUTPUT_DRAIN_MS;

const BUFFER_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct OutputReader {
    pipe: ChildStdout,
    buffer: Vec<u8>,
    capture: HeadTailCapture,
    spill: SpillFile,
    live_output: ProgressReporter,
    /// Whether the command moves to the background; `None` once it has.
    background: Option<BackgroundSwitch>,
}

impl OutputReader {
    pub(super) fn new(
        pipe: ChildStdout,
        spill: SpillTarget,
        live_output: ProgressReporter,
        background: BackgroundSwitch,
    ) -> Self {
        Self {
            pipe,
            buffer: vec![0; BUFFER_BYTES],
            capture: HeadTailCapture::default(),
            spill: SpillFile::new(spill),
            live_output,
            background: Some(background),
        }
    }

    /// Returns head and tail, and the file with all of the output.
    pub(super) fn finish(self) -> (String, Option<OutputFile>) {
        (self.capture.to_text(), self.spill.finish())
    }

    /// Reads until dropped, so that the writer never blocks.
    pub(super) async fn read_forever(&mut self) -> Infallible {
        self.read_to_end().await;
        std::future::pending().await
    }

    /// Reads the rest of the output for a short time: a daemon may keep the pipe open for ever.
    pub(super) async fn drain(&mut self, clock: &dyn Clock) {
        tokio::select! {
            () = self.read_to_end() => {}
            () = clock.sleep(OUTPUT_DRAIN_MS) => {}
        }
    }

    async fn read_to_end(&mut self) {
        // A pipe that cannot be read counts as closed.
        loop {
            let moved = async {
                match &mut self.background {
                    Some(background) => background.moved().await,
                    None => std::future::pending().await,
                }
            };
            let read = tokio::select! {
                biased;
                () = moved => {
                    // Later calls read the output from its file.
                    self.background = None;
                    self.spill.open_now();
                    continue;
                }
                read = self.pipe.read(&mut self.buffer) => read,
            };
            let Ok(read @ 1..) = read else { return };
            let bytes = self.buffer.get(..read).unwrap_or_default();
            self.spill.push(bytes);
            self.capture.push(bytes);
            self.live_output.report_output(bytes);
        }
    }
}
