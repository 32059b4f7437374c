//! Standard output: one JSON object a line, written by one thread in the order in which frames are
//! sent. A reader that is slow slows the sender down; nothing is dropped and nothing but frames is
//! written.

use std::io::{self, Write};
use std::thread::JoinHandle;

use serde::Serialize;
use tokio::sync::mpsc;

#[cfg(test)]
#[path = "frame_writer_tests.rs"]
mod frame_writer_tests;
#[cfg(test)]
pub(super) use frame_writer_tests::test_output;

/// Number of frames that wait for a slow reader before the sender does.
const QUEUED_FRAMES: usize = 64;

/// The reader of standard output is gone, or writing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot write to standard output; the reader is gone")]
pub(crate) struct OutputClosed;

/// Sends frames. Clones write to the same output.
#[derive(Debug, Clone)]
pub(crate) struct FrameWriter {
    queue: mpsc::Sender<QueuedFrame>,
}

#[derive(Debug)]
enum QueuedFrame {
    Line(Vec<u8>),
    End,
}

/// The thread that writes.
pub(super) struct WriterThread {
    writer: FrameWriter,
    thread: JoinHandle<()>,
}

impl FrameWriter {
    /// Starts to write to standard output.
    pub(super) fn start() -> WriterThread {
        Self::start_with(io::stdout())
    }

    fn start_with(output: impl Write + Send + 'static) -> WriterThread {
        let (queue, frames) = mpsc::channel(QUEUED_FRAMES);
        let thread = std::thread::spawn(move || {
            // The error is reported by the next frame, which cannot be queued.
            let _ = write_frames(frames, io::BufWriter::with_capacity(64 << 10, output));
        });
        WriterThread { writer: Self { queue }, thread }
    }

    /// Sends a frame. Waits while too many of them are unread.
    pub(crate) async fn send(&self, frame: &impl Serialize) -> Result<(), OutputClosed> {
        let line = to_line(frame)?;
        self.queue.send(QueuedFrame::Line(line)).await.map_err(|_| OutputClosed)
    }

    /// Sends a frame later, in the background; for frames whose place does not matter.
    pub(super) fn send_soon(&self, frame: &impl Serialize) {
        let Ok(line) = to_line(frame) else { return };
        let queue = self.queue.clone();
        if let Err(mpsc::error::TrySendError::Full(line)) = queue.try_send(QueuedFrame::Line(line))
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { queue.send(line).await });
        }
    }
}

impl WriterThread {
    /// Returns a handle that sends frames.
    pub(super) fn writer(&self) -> FrameWriter {
        self.writer.clone()
    }

    /// Waits until everything that was sent is written.
    pub(super) async fn finish(self) {
        let Self { writer, thread } = self;
        let _ = writer.queue.send(QueuedFrame::End).await;
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}

fn to_line(frame: &impl Serialize) -> Result<Vec<u8>, OutputClosed> {
    let mut line = serde_json::to_vec(frame).map_err(|_| OutputClosed)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes frames until the end. The output is flushed whenever no frame waits: a frame is never
/// held back.
fn write_frames(mut frames: mpsc::Receiver<QueuedFrame>, mut output: impl Write) -> io::Result<()> {
    while let Some(first) = frames.blocking_recv() {
        let mut next = Some(first);
        while let Some(frame) = next {
            match frame {
                QueuedFrame::Line(line) => output.write_all(&line)?,
                QueuedFrame::End => return output.flush(),
            }
            next = frames.try_recv().ok();
        }
        output.flush()?;
    }
    Ok(())
}
