use std::sync::{Arc, Condvar, Mutex};

use serde_json::json;

use super::*;

/// An output that takes nothing until it is opened.
#[derive(Clone, Default)]
struct GatedOutput {
    written: Arc<Mutex<Vec<u8>>>,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl GatedOutput {
    fn open(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }
}

impl Write for GatedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let open = self.gate.1.wait_while(self.gate.0.lock().unwrap(), |open| !*open);
        drop(open.unwrap());
        self.written.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_slow_reader_slows_the_sender_and_loses_nothing() {
    let output = GatedOutput::default();
    let thread = FrameWriter::start_with(output.clone());
    let writer = thread.writer();
    let frames = QUEUED_FRAMES * 10;
    let sending = tokio::spawn(async move {
        for n in 0..frames {
            writer.send(&json!({"n": n, "more": "x".repeat(10_000)})).await.unwrap();
        }
    });
    tokio::task::yield_now().await;
    assert!(!sending.is_finished());
    output.open();
    sending.await.unwrap();
    thread.finish().await;
    let written = String::from_utf8(output.written.lock().unwrap().clone()).unwrap();
    let numbers: Vec<u64> = written
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..frames as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_frame_is_one_line_whatever_is_in_it() {
    let output = GatedOutput::default();
    output.open();
    let thread = FrameWriter::start_with(output.clone());
    thread.writer().send(&json!({"text": "a\nb\u{2028}c"})).await.unwrap();
    thread.finish().await;
    let written = String::from_utf8(output.written.lock().unwrap().clone()).unwrap();
    assert_eq!(written.matches('\n').count(), 1, "{written}");
}

/// An output whose reader is gone.
struct BrokenOutput;

impl Write for BrokenOutput {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[tokio::test]
async fn a_reader_that_is_gone_is_reported_to_the_sender() {
    let thread = FrameWriter::start_with(BrokenOutput);
    let writer = thread.writer();
    while writer.send(&json!({})).await.is_ok() {}
    thread.finish().await;
    assert_eq!(writer.send(&json!({})).await, Err(OutputClosed));
}

/// The frames that a test's writer sends.
pub(crate) struct SentFrames {
    frames: mpsc::Receiver<QueuedFrame>,
}

/// A writer whose frames the test reads.
pub(crate) fn test_output() -> (FrameWriter, SentFrames) {
    let (queue, frames) = mpsc::channel(QUEUED_FRAMES);
    (FrameWriter { queue }, SentFrames { frames })
}

impl SentFrames {
    /// Waits for the next frame.
    pub(crate) async fn next(&mut self) -> serde_json::Value {
        match self.frames.recv().await.unwrap() {
            QueuedFrame::Line(line) => serde_json::from_slice(&line).unwrap(),
            QueuedFrame::End => panic!("the output ended"),
        }
    }
}
