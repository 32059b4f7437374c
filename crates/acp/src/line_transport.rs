//! Standard input and output as lines. A thread of its own reads, another one writes, so that a
//! blocked read does not keep the process from ending and a slow editor blocks no other work.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use agent_client_protocol::Lines;
use futures_util::{Sink, Stream, sink, stream};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Maximum size of one line in bytes: images and embedded files are part of a prompt.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Maximum size of a line that is repeated in the error about it.
const MAX_REPEATED_BYTES: usize = 4 << 10;

/// Number of lines that are read ahead, and that wait to be written.
const QUEUED_LINES: usize = 16;

/// Number of updates that may wait for a slow editor before the session waits for it.
const QUEUED_UPDATES: usize = 256;

/// Bounds the updates that wait to be written.
#[derive(Debug, Clone)]
pub(crate) struct UpdateBudget {
    free: Arc<Semaphore>,
}

impl UpdateBudget {
    fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(QUEUED_UPDATES)) }
    }

    /// Waits until another update may be sent.
    pub(crate) async fn reserve(&self) {
        if let Ok(permit) = self.free.acquire().await {
            permit.forget();
        }
    }

    fn note_written(&self, line: &str) {
        let begins = line.len().min(80);
        if line.as_bytes().get(..begins).is_some_and(|start| contains(start, b"\"session/update\""))
        {
            self.free.add_permits(1);
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Both directions, and what tells when everything is written.
pub(crate) struct LineTransport<S, R> {
    /// The transport for the connection.
    pub(crate) lines: Lines<S, R>,
    /// Bounds the updates.
    pub(crate) budget: UpdateBudget,
    /// Resolves when the writer has ended.
    pub(crate) written: oneshot::Receiver<()>,
}

/// Opens standard input and output.
pub(crate) fn open_stdio() -> LineTransport<
    impl Sink<String, Error = io::Error> + Send + 'static,
    impl Stream<Item = io::Result<String>> + Send + 'static,
> {
    open(|| io::BufReader::with_capacity(64 << 10, io::stdin()), io::stdout())
}

fn open<I: BufRead>(
    input: impl FnOnce() -> I + Send + 'static,
    output: impl Write + Send + 'static,
) -> LineTransport<
    impl Sink<String, Error = io::Error> + Send + 'static,
    impl Stream<Item = io::Result<String>> + Send + 'static,
> {
    let budget = UpdateBudget::new();
    let (read, incoming) = mpsc::channel(QUEUED_LINES);
    std::thread::spawn(move || read_lines(&mut input(), &read));
    let (outgoing, to_write) = mpsc::channel(QUEUED_LINES);
    let (done, written) = oneshot::channel();
    let writer_budget = budget.clone();
    std::thread::spawn(move || {
        let output = io::BufWriter::with_capacity(64 << 10, output);
        if let Err(error) = write_lines(to_write, output, &writer_budget) {
            tracing::debug!(%error, "the editor reads no more");
        }
        let _ = done.send(());
    });
    let lines = Lines::new(sink_of(outgoing), Box::pin(stream_of(incoming)));
    LineTransport { lines, budget, written }
}

fn stream_of(lines: mpsc::Receiver<io::Result<String>>) -> impl Stream<Item = io::Result<String>> {
    stream::unfold(lines, |mut lines| async move { Some((lines.recv().await?, lines)) })
}

fn sink_of(lines: mpsc::Sender<String>) -> impl Sink<String, Error = io::Error> {
    Box::pin(sink::unfold(lines, |lines, line: String| async move {
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the editor reads no more");
        lines.send(line).await.map_err(|_| gone())?;
        Ok(lines)
    }))
}

/// Reads until the end of the input, an error, or until no one wants to know.
fn read_lines(input: &mut impl BufRead, lines: &mpsc::Sender<io::Result<String>>) {
    loop {
        let line = match read_line(input) {
            Ok(None) => return,
            Ok(Some(line)) => Ok(line),
            Err(error) => Err(error),
        };
        if line.as_ref().is_ok_and(|line| line.trim().is_empty()) {
            continue;
        }
        let is_error = line.is_err();
        if lines.blocking_send(line).is_err() || is_error {
            return;
        }
    }
}

/// Reads one line without its end. A line that is too long, and a long one that is not JSON, is
/// replaced by a short text, which is answered with an error.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = input.take(limit).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > MAX_LINE_BYTES {
        skip_line(input)?;
        let problem = format!(
            "a message is longer than {MAX_LINE_BYTES} bytes; send large content as a resource link"
        );
        return Ok(Some(Value::String(problem).to_string()));
    }
    let is_long = line.len() > MAX_REPEATED_BYTES;
    if is_long && serde_json::from_slice::<IgnoredAny>(&line).is_err() {
        line.truncate(MAX_REPEATED_BYTES / 8);
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

/// Reads the rest of a line without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (taken, is_end) = match input.fill_buf()? {
            [] => return Ok(()),
            part => match part.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (part.len(), false),
            },
        };
        input.consume(taken);
        if is_end {
            return Ok(());
        }
    }
}

/// Writes lines until the connection is closed. The output is flushed whenever no line waits.
fn write_lines(
    mut lines: mpsc::Receiver<String>,
    mut output: impl Write,
    budget: &UpdateBudget,
) -> io::Result<()> {
    while let Some(first) = lines.blocking_recv() {
        let mut next = Some(first);
        while let Some(line) = next {
            output.write_all(line.as_bytes())?;
            output.write_all(b"\n")?;
            budget.note_written(&line);
            next = lines.try_recv().ok();
        }
        output.flush()?;
    }
    Ok(())
}
