//! The stdio transport: a program whose standard input and output carry one JSON message a line.

mod line_reader;
mod pending_requests;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use windlass_runtime::ports::BoxFuture;

use crate::connection::{McpConnection, McpConnector, McpError};
use crate::server_inbox::{ServerAnswer, ServerInbox};
use line_reader::{LineReader, ReadLine};
use pending_requests::PendingRequests;

/// Number of messages that wait until the server reads them.
const QUEUED_MESSAGES: usize = 64;

/// Length of a message of a server, in bytes.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Length of a line on the error output of a server, in bytes.
const MAX_STDERR_LINE_BYTES: usize = 4 << 10;

/// Number of lines on standard output that are no messages: some servers write a banner.
const MAX_GARBAGE_LINES: usize = 100;

/// How to start a server that talks over standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioCommand {
    /// The program: a path, or a name that is searched for in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder that it works in.
    pub folder: PathBuf,
    /// Variables beside those that every command gets.
    pub variables: Vec<(String, String)>,
}

/// A server process that was started.
pub struct ServerProcess {
    /// What it reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it writes.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// Its messages for people.
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    /// Ends it, once its input is closed, and everything that it started.
    pub end: BoxFuture<'static, ()>,
}

/// Starts server processes: the only place where the crate's processes come from.
pub trait ServerLauncher: Send + Sync + 'static {
    /// Starts a process that ends with this one.
    ///
    /// # Errors
    ///
    /// Returns a text that says why the process cannot be started.
    fn launch(&self, command: StdioCommand) -> BoxFuture<'_, Result<ServerProcess, String>>;
}

/// Starts a server for every connection.
pub struct StdioConnector {
    command: StdioCommand,
    launcher: Arc<dyn ServerLauncher>,
}

impl StdioConnector {
    /// Creates a connector for a program.
    #[must_use]
    pub fn new(command: StdioCommand, launcher: Arc<dyn ServerLauncher>) -> Self {
        Self { command, launcher }
    }
}

impl McpConnector for StdioConnector {
    fn connect(
        &self,
        inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>> {
        Box::pin(async move {
            let started = self.launcher.launch(self.command.clone()).await;
            let process = started.map_err(McpError::Misconfigured)?;
            Ok(Arc::new(StdioConnection::start(process, inbox)) as Arc<dyn McpConnection>)
        })
    }
}

/// A connection to a process. Dropping it ends the process.
struct StdioConnection {
    messages: mpsc::Sender<Value>,
    pending: Arc<PendingRequests>,
    lost: watch::Receiver<Option<McpError>>,
    stop: watch::Sender<bool>,
}

impl StdioConnection {
    fn start(process: ServerProcess, inbox: Arc<ServerInbox>) -> Self {
        let ServerProcess { input, output, errors, end } = process;
        let (messages, queue) = mpsc::channel(QUEUED_MESSAGES);
        let (stop, stopped) = watch::channel(false);
        let (lost_sender, lost) = watch::channel(None);
        let pending = Arc::new(PendingRequests::default());
        let reader = MessageReader {
            inbox: Arc::clone(&inbox),
            pending: Arc::clone(&pending),
            answers: messages.downgrade(),
        };
        tokio::spawn(read_errors(errors, inbox));
        tokio::spawn(async move {
            let why = run_connection((input, output), queue, reader, stopped).await;
            lost_sender.send_replace(Some(why));
            end.await;
        });
        Self { messages, pending, lost, stop }
    }

    async fn send_request(&self, id: u64, message: Value) -> Result<Value, McpError> {
        let is_handshake = message.get("method") == Some(&json!("initialize"));
        let answer = self.pending.expect(id);
        if self.messages.send(message).await.is_err() {
            return Err(self.reason_for_loss());
        }
        let withdrawal = Withdrawal { id, messages: &self.messages, is_armed: !is_handshake };
        let mut lost = self.lost.clone();
        let answer = tokio::select! {
            biased;
            answer = answer => answer.map_err(|_| self.reason_for_loss()),
            _ = lost.wait_for(Option::is_some) => Err(self.reason_for_loss()),
        };
        withdrawal.disarm();
        answer
    }

    fn reason_for_loss(&self) -> McpError {
        let ended = || McpError::ConnectionLost("the server has ended".to_owned());
        self.lost.borrow().clone().unwrap_or_else(ended)
    }
}

impl McpConnection for StdioConnection {
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Value, McpError>> {
        Box::pin(async move {
            match message.get("id").and_then(Value::as_u64) {
                Some(id) => self.send_request(id, message).await,
                None => match self.messages.send(message).await {
                    Ok(()) => Ok(Value::Null),
                    Err(_) => Err(self.reason_for_loss()),
                },
            }
        })
    }

    fn wait_until_lost(&self) -> BoxFuture<'_, McpError> {
        Box::pin(async move {
            let mut lost = self.lost.clone();
            drop(lost.wait_for(Option::is_some).await);
            self.reason_for_loss()
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.stop.send_replace(true);
        Box::pin(async move {
            let mut lost = self.lost.clone();
            drop(lost.wait_for(Option::is_some).await);
        })
    }
}

/// Tells the server that nobody waits for a request any more, if the wait ends early.
struct Withdrawal<'a> {
    id: u64,
    messages: &'a mpsc::Sender<Value>,
    is_armed: bool,
}

impl Withdrawal<'_> {
    fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if self.is_armed {
            let params = json!({"requestId": self.id, "reason": "cancelled"});
            let message =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            // A server that reads nothing is not told.
            drop(self.messages.try_send(message));
        }
    }
}

/// Carries messages both ways until one side ends; returns why. The input of the process is closed
/// when this returns.
async fn run_connection(
    (mut input, output): (Box<dyn AsyncWrite + Send + Unpin>, Box<dyn AsyncRead + Send + Unpin>),
    mut queue: mpsc::Receiver<Value>,
    reader: MessageReader,
    mut stopped: watch::Receiver<bool>,
) -> McpError {
    let write = async {
        while let Some(message) = queue.recv().await {
            let mut line = message.to_string();
            line.push('\n');
            if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
                // The reader says why: what the server wrote last is still read.
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        why = reader.read_all(output) => why,
        () = write => McpError::ConnectionLost("the server reads nothing".to_owned()),
        _ = stopped.wait_for(|stopped| *stopped) => {
            McpError::ConnectionLost("the connection was closed".to_owned())
        }
    }
}

/// Reads what a server writes.
struct MessageReader {
    inbox: Arc<ServerInbox>,
    pending: Arc<PendingRequests>,
    /// Where answers to requests of the server go. Weak: the connection ends with its owner.
    answers: mpsc::WeakSender<Value>,
}

impl MessageReader {
    async fn read_all(self, output: Box<dyn AsyncRead + Send + Unpin>) -> McpError {
        let mut lines = LineReader::new(output, MAX_MESSAGE_BYTES);
        let mut garbage = 0;
        loop {
            match lines.next_line().await {
                ReadLine::Line(line) if line.iter().all(u8::is_ascii_whitespace) => {}
                ReadLine::Line(line) => match serde_json::from_slice::<Value>(&line) {
                    Ok(Value::Array(batch)) => batch.into_iter().for_each(|one| self.take(one)),
                    Ok(message) => self.take(message),
                    Err(_) => {
                        self.inbox.add_log_line(&String::from_utf8_lossy(&line));
                        garbage += 1;
                    }
                },
                ReadLine::TooLong => {
                    let mib = MAX_MESSAGE_BYTES >> 20;
                    return McpError::ConnectionLost(format!("a message exceeds {mib} MiB"));
                }
                ReadLine::End => {
                    return McpError::ConnectionLost(self.end_message());
                }
            }
            if garbage > MAX_GARBAGE_LINES {
                let why = "its standard output has lines that are not JSON messages";
                return McpError::ConnectionLost(why.to_owned());
            }
        }
    }

    fn end_message(&self) -> String {
        match self.inbox.log_lines().last() {
            Some(line) => format!("the server has ended; its last line was: {line}"),
            None => "the server has ended".to_owned(),
        }
    }

    fn take(&self, message: Value) {
        let id = message.get("id").filter(|id| !id.is_null());
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                let answers = self.answers.clone();
                // A server that asks without reading the answers gets none.
                let send = move |answer| {
                    drop(answers.upgrade().map(|answers| answers.try_send(answer)));
                };
                match self.inbox.respond(&message, (id, method), None) {
                    ServerAnswer::Now(answer) => send(answer),
                    ServerAnswer::Later(answer) => {
                        tokio::spawn(async move { send(answer.await) });
                    }
                }
            }
            (Some(method), None) => {
                self.inbox.on_notification(method, message.get("params").unwrap_or(&Value::Null));
            }
            (None, Some(id)) => {
                if let Some(id) = id.as_u64() {
                    self.pending.answer(id, message);
                }
            }
            (None, None) => {}
        }
    }
}

async fn read_errors(errors: Box<dyn AsyncRead + Send + Unpin>, inbox: Arc<ServerInbox>) {
    let mut lines = LineReader::new(errors, MAX_STDERR_LINE_BYTES);
    loop {
        match lines.next_line().await {
            ReadLine::Line(line) if line.is_empty() => {}
            ReadLine::Line(line) => inbox.add_log_line(&String::from_utf8_lossy(&line)),
            ReadLine::TooLong => lines.skip_line(),
            ReadLine::End => return,
        }
    }
}
