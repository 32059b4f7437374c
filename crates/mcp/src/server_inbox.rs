//! What a server sends by itself: notifications, and requests to the client.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use windlass_runtime::ports::CallHeartbeat;

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
    /// The folders that the server may know of.
    roots: Vec<String>,
    tools_changed: Notify,
    /// How often the server said that its tools have changed.
    announced_changes: AtomicU64,
    progress: Mutex<HashMap<u64, CallHeartbeat>>,
    log: Mutex<Vec<String>>,
}

impl ServerInbox {
    /// Creates an inbox for a server that may know of these folders.
    #[must_use]
    pub fn new(roots: &[&Path]) -> Self {
        let uri = |path: &&Path| format!("file://{}", encode_path(path));
        Self { roots: roots.iter().map(uri).collect(), ..Self::default() }
    }

    /// What the client can do, for the handshake.
    pub(crate) fn capabilities(&self) -> Value {
        if self.roots.is_empty() { json!({}) } else { json!({"roots": {}}) }
    }

    /// Handles a notification.
    pub fn on_notification(&self, method: &str, params: &Value) {
        match method {
            "notifications/tools/list_changed" => {
                self.announced_changes.fetch_add(1, Ordering::SeqCst);
                self.tools_changed.notify_one();
            }
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

    /// Answers a request, as a JSON-RPC message.
    pub(crate) fn respond(&self, id: &Value, method: &str) -> Value {
        match self.on_request(method) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        }
    }

    /// The heartbeat beats when the server reports progress of the request with this id.
    pub(crate) fn follow_progress(&self, id: u64, heartbeat: CallHeartbeat) {
        let mut followed = self.progress.lock();
        if followed.len() < MAX_PROGRESS_TOKENS {
            followed.insert(id, heartbeat);
        }
    }

    /// The request with this id has ended.
    pub(crate) fn forget_progress(&self, id: u64) {
        self.progress.lock().remove(&id);
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

    /// Waits until the server says that its tools have changed.
    pub(crate) async fn wait_for_changed_tools(&self) {
        self.tools_changed.notified().await;
    }
}

/// The path as part of a URI.
fn encode_path(path: &Path) -> String {
    use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
    const RESERVED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#').add(b'"');
    utf8_percent_encode(&path.to_string_lossy(), RESERVED).to_string()
}
