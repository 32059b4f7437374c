//! What a server sends by itself: notifications, and requests to the client.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use windlass_runtime::ports::BoxFuture;

use crate::client::CallFollower;
use crate::elicitation::{AskingCalls, parse_request};
use crate::ongoing_call::CurrentHeartbeat;
use crate::plain_text::plain_text;

/// JSON-RPC: there is no such method.
const METHOD_NOT_FOUND: i64 = -32601;

/// Number of log messages of a server that are kept.
const MAX_LOG_LINES: usize = 50;

/// Length of one log message, in characters.
const MAX_LOG_CHARS: usize = 500;

/// Number of calls whose progress is followed at once.
const MAX_PROGRESS_TOKENS: usize = 1_000;

/// Receives what one server sends by itself. Everything in it is bounded.
#[derive(Default)]
pub struct ServerInbox {
    /// The name that the configuration gives the server.
    server: String,
    /// The folders that the server may know of.
    roots: Vec<String>,
    tools_changed: Notify,
    /// How often the server said that its tools have changed.
    announced_changes: AtomicU64,
    prompts_changed: Notify,
    progress: Mutex<HashMap<u64, CurrentHeartbeat>>,
    asking: AskingCalls,
    log: Mutex<Vec<String>>,
}

impl ServerInbox {
    /// Creates an inbox for a server that may know of these folders.
    #[must_use]
    pub fn new(server: &str, roots: &[&Path]) -> Self {
        let uri = |path: &&Path| format!("file://{}", encode_path(path));
        let roots = roots.iter().map(uri).collect();
        Self { server: server.to_owned(), roots, ..Self::default() }
    }

    /// What the client can do, for the handshake.
    pub(crate) fn capabilities(&self) -> Value {
        let mut offered = json!({"elicitation": {"form": {}, "url": {}}});
        if let (false, Some(offered)) = (self.roots.is_empty(), offered.as_object_mut()) {
            offered.insert("roots".to_owned(), json!({}));
        }
        offered
    }

    /// Returns the name that the configuration gives the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Handles a notification.
    pub fn on_notification(&self, method: &str, params: &Value) {
        match method {
            "notifications/tools/list_changed" => {
                self.announced_changes.fetch_add(1, Ordering::SeqCst);
                self.tools_changed.notify_one();
            }
            "notifications/prompts/list_changed" => self.prompts_changed.notify_one(),
            "notifications/progress" => self.on_progress(params),
            "notifications/message" => self.on_log_message(params),
            _ => {}
        }
    }

    /// Answers a request of the server: its result, or the code and message of an error.
    ///
    /// # Errors
    ///
    /// Returns the error of the protocol for a method that the client does not offer.
    pub fn on_request(&self, method: &str) -> Result<Value, (i64, String)> {
        match method {
            "ping" => Ok(json!({})),
            "roots/list" if !self.roots.is_empty() => {
                let root = |uri: &String| json!({"uri": uri});
                Ok(json!({"roots": self.roots.iter().map(root).collect::<Vec<_>>()}))
            }
            "sampling/createMessage" => {
                Err((METHOD_NOT_FOUND, "sampling is off in this client".to_owned()))
            }
            _ => Err((METHOD_NOT_FOUND, "this client does not offer the method".to_owned())),
        }
    }

    /// Answers a request, as a JSON-RPC message. `stream_of` is the request of the client on whose
    /// stream it came, where the transport knows that.
    pub(crate) fn respond(
        &self,
        message: &Value,
        (id, method): (&Value, &str),
        stream_of: Option<u64>,
    ) -> ServerAnswer {
        let to_message = |id: &Value, answer: Result<Value, (i64, String)>| match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        };
        if method != "elicitation/create" {
            return ServerAnswer::Now(to_message(id, self.on_request(method)));
        }
        match parse_request(&self.server, message.get("params").unwrap_or(&Value::Null)) {
            Err(refused) => ServerAnswer::Now(to_message(id, Err(refused))),
            Ok(request) => {
                let (asked, id) = (self.asking.ask(request, stream_of), id.clone());
                ServerAnswer::Later(Box::pin(async move { to_message(&id, Ok(asked.await)) }))
            }
        }
    }

    /// Follows the call whose request has this id.
    pub(crate) fn follow_call(&self, id: u64, follower: CallFollower) {
        let mut followed = self.progress.lock();
        if followed.len() < MAX_PROGRESS_TOKENS {
            followed.insert(id, follower.heartbeat);
            self.asking.add(id, follower.requests);
        }
    }

    /// The request with this id has ended.
    pub(crate) fn forget_call(&self, id: u64) {
        self.progress.lock().remove(&id);
        self.asking.remove(id);
    }

    fn on_progress(&self, params: &Value) {
        let id = params.get("progressToken").and_then(Value::as_u64);
        if let Some(heartbeat) = id.and_then(|id| self.progress.lock().get(&id).cloned()) {
            heartbeat.beat();
        }
    }

    fn on_log_message(&self, params: &Value) {
        let level = params.get("level").and_then(Value::as_str).unwrap_or("info");
        let text = match params.get("data") {
            Some(Value::String(text)) => text.clone(),
            Some(data) => data.to_string(),
            None => String::new(),
        };
        self.add_log_line(&format!("{level}: {text}"));
    }

    /// Keeps a line that the server wrote. The oldest ones are dropped.
    pub(crate) fn add_log_line(&self, line: &str) {
        let mut log = self.log.lock();
        if log.len() >= MAX_LOG_LINES {
            log.remove(0);
        }
        log.push(plain_text(line, MAX_LOG_CHARS));
    }

    /// The last lines that the server wrote.
    #[must_use]
    pub fn log_lines(&self) -> Vec<String> {
        self.log.lock().clone()
    }

    /// Returns how often the server said that its tools have changed.
    pub(crate) fn announced_changes(&self) -> u64 {
        self.announced_changes.load(Ordering::SeqCst)
    }

    /// Waits until the server says that its prompts have changed.
    pub(crate) async fn wait_for_changed_prompts(&self) {
        self.prompts_changed.notified().await;
    }

    /// Waits until the server says that its tools have changed.
    pub(crate) async fn wait_for_changed_tools(&self) {
        self.tools_changed.notified().await;
    }
}

/// The answer to a request of a server.
pub(crate) enum ServerAnswer {
    /// It is known at once.
    Now(Value),
    /// It takes a while, such as when the user is asked.
    Later(BoxFuture<'static, Value>),
}

/// The path as part of a URI.
fn encode_path(path: &Path) -> String {
    use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
    const RESERVED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#').add(b'"');
    utf8_percent_encode(&path.to_string_lossy(), RESERVED).to_string()
}
