//! The stdio transport: one JSON message a line, each way.

use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::json_rpc::{INVALID_REQUEST, PARSE_ERROR, RpcError, response};
use crate::service::{McpService, Notifications};

/// Maximum size of a message in bytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Number of messages that are read ahead, and that wait to be written.
const QUEUED: usize = 64;

/// How long requests may take after the end of the input.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Number of requests at once.
const MAX_REQUESTS: usize = 64;

/// Answers the lines of a reader until its end, and writes the answers to a writer. Reading and
/// writing have threads of their own, so that a client that reads or writes nothing keeps the
/// process from nothing.
pub async fn serve_lines(
    service: McpService,
    input: impl FnOnce() -> Box<dyn BufRead> + Send + 'static,
    output: impl Write + Send + 'static,
) {
    let (incoming, mut lines) = mpsc::channel(QUEUED);
    std::thread::spawn(move || read_lines(&mut *input(), &incoming));
    let (outgoing, to_write) = mpsc::channel(QUEUED);
    let (done, written) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        write_lines(to_write, output);
        let _ = done.send(());
    });
    let mut requests = Requests::default();
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => take_line(&service, line, &outgoing, &mut requests).await,
                None => break,
            },
            Some(ended) = requests.tasks.join_next() => {
                requests.running.retain(|_, task| !task.is_finished());
                drop(ended);
            }
        }
    }
    // What was asked before the end of the input is still answered, unless it waits for a run.
    let answered = async { while requests.tasks.join_next().await.is_some() {} };
    drop(tokio::time::timeout(LAST_ANSWERS, answered).await);
    requests.tasks.shutdown().await;
    drop(outgoing);
    let _ = written.await;
}

/// The requests that are being answered.
#[derive(Default)]
struct Requests {
    tasks: JoinSet<()>,
    /// Those that a client can cancel, by their ids as JSON.
    running: HashMap<String, tokio::task::AbortHandle>,
}

async fn take_line(
    service: &McpService,
    line: Result<Value, RpcError>,
    outgoing: &mpsc::Sender<Value>,
    requests: &mut Requests,
) {
    let message = match line {
        Ok(Value::Array(_)) => {
            let problem =
                RpcError::new(INVALID_REQUEST, "batches are not supported; send one message");
            let _ = outgoing.send(response(&Value::Null, Err(problem))).await;
            return;
        }
        Ok(message) => message,
        Err(problem) => {
            let _ = outgoing.send(response(&Value::Null, Err(problem))).await;
            return;
        }
    };
    if message.get("method") == Some(&json!("notifications/cancelled")) {
        let id = message.pointer("/params/requestId").cloned().unwrap_or_default();
        if let Some(task) = requests.running.remove(&id.to_string()) {
            task.abort();
        }
        return;
    }
    while requests.tasks.len() >= MAX_REQUESTS {
        requests.tasks.join_next().await;
    }
    let id = message.get("id").filter(|id| !id.is_null()).map(Value::to_string);
    let (service, outgoing) = (service.clone(), outgoing.clone());
    let task = requests.tasks.spawn(async move {
        let notifications = Notifications::new(outgoing.clone());
        if let Some(answer) = service.answer(message, &notifications).await {
            let _ = outgoing.send(answer).await;
        }
    });
    if let Some(id) = id {
        requests.running.insert(id, task);
    }
}

/// Reads until the end of the input, an error, or until no one wants to know.
fn read_lines(input: &mut dyn BufRead, lines: &mpsc::Sender<Result<Value, RpcError>>) {
    while let Ok(Some(line)) = read_line(input) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let too_long = u64::try_from(line.len()).is_ok_and(|length| length > MAX_LINE_BYTES);
        let message = match serde_json::from_slice(&line) {
            Ok(message) if !too_long => Ok(message),
            Ok(_) | Err(_) if too_long => {
                Err(RpcError::new(INVALID_REQUEST, "a message is longer than 16 MiB"))
            }
            Ok(_) | Err(_) => Err(RpcError::new(PARSE_ERROR, "a line is not JSON")),
        };
        if lines.blocking_send(message).is_err() {
            return;
        }
    }
}

/// Reads one line. Of one that is too long only the beginning is kept.
fn read_line(input: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let mut is_whole = line.last() == Some(&b'\n');
    while !is_whole {
        let mut rest = Vec::new();
        let read = input.take(MAX_LINE_BYTES).read_until(b'\n', &mut rest)?;
        is_whole = read == 0 || rest.last() == Some(&b'\n');
    }
    Ok(Some(line))
}

fn write_lines(mut lines: mpsc::Receiver<Value>, mut output: impl Write) {
    while let Some(message) = lines.blocking_recv() {
        if writeln!(output, "{message}").and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
