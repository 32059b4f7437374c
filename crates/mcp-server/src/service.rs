//! Answers the messages of clients.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use windlass::Windlass;

use crate::json_rpc::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError, response};
use crate::presenter::RunPresenter;
use crate::tool_list;

/// The versions of the protocol that the service speaks, the newest first.
pub const PROTOCOL_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a client is told about the service.
const INSTRUCTIONS: &str = "Runs are durable: start_run returns as soon as the run is stored, and \
follow_run waits for its answer. A run that waits for a human lists its questions; answer_question \
answers one.";

/// Takes notifications about one request. A client that reads none of them slows nothing down:
/// what has no room is left out.
#[derive(Clone, Debug)]
pub struct Notifications(mpsc::Sender<Value>);

impl Notifications {
    /// Creates notifications that go to a queue.
    #[must_use]
    pub fn new(queue: mpsc::Sender<Value>) -> Self {
        Self(queue)
    }

    fn send(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        // A full queue already has newer progress than the client has read.
        drop(self.0.try_send(message));
    }
}

/// Answers the messages of clients. It keeps nothing between requests, so that any process can
/// answer the next one.
#[derive(Clone)]
pub struct McpService {
    pub(crate) windlass: Windlass,
    pub(crate) presenter: Arc<dyn RunPresenter>,
}

impl McpService {
    /// Creates a service for the runs of a process.
    #[must_use]
    pub fn new(windlass: Windlass, presenter: Arc<dyn RunPresenter>) -> Self {
        Self { windlass, presenter }
    }

    /// Returns the answer to a message; `None` for one that has no answer, such as a notification.
    /// Dropping the future withdraws the request: what it started goes on.
    pub async fn answer(&self, message: Value, notifications: &Notifications) -> Option<Value> {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // Nothing is asked of clients, so an answer of theirs means nothing.
            let is_answer = message.get("result").or_else(|| message.get("error")).is_some();
            let problem = RpcError::new(INVALID_REQUEST, "the message has no `method`");
            return (!is_answer).then(|| response(&id_of(&message), Err(problem)));
        };
        let id = message.get("id").filter(|id| !id.is_null()).cloned()?;
        let params = message.get("params").cloned().unwrap_or_default();
        let outcome = match method {
            "initialize" => Ok(initialize(&params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": tool_list::list()})),
            "tools/call" => Box::pin(self.call_tool(&params, notifications)).await,
            other => {
                let other: String = other.chars().take(100).collect();
                Err(RpcError::new(METHOD_NOT_FOUND, format!("there is no method `{other}`")))
            }
        };
        Some(response(&id, outcome))
    }

    async fn call_tool(
        &self,
        params: &Value,
        notifications: &Notifications,
    ) -> Result<Value, RpcError> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => {
                return Err(RpcError::new(INVALID_PARAMS, "`arguments` is not a JSON object"));
            }
        };
        let meta = params.get("_meta");
        let progress = Progress::new(meta, notifications);
        let outcome = match name {
            "start_run" => self.start_run(arguments, meta).await,
            "follow_run" => self.follow_run(arguments, progress).await,
            "answer_question" => self.answer_question(arguments).await,
            "cancel_run" => self.cancel_run(arguments).await,
            "explain_run" => self.explain_run(arguments).await,
            other => {
                let other: String = other.chars().take(100).collect();
                return Err(RpcError::new(INVALID_PARAMS, format!("there is no tool `{other}`")));
            }
        };
        Ok(match outcome {
            Ok(result) => json!({
                "content": [{"type": "text", "text": result.to_string()}],
                "structuredContent": result,
            }),
            Err(problem) => json!({
                "content": [{"type": "text", "text": problem}],
                "isError": true,
            }),
        })
    }
}

fn id_of(message: &Value) -> Value {
    message.get("id").cloned().unwrap_or_default()
}

fn initialize(params: &Value) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let [newest, ..] = PROTOCOL_VERSIONS;
    let version = PROTOCOL_VERSIONS.into_iter().find(|known| *known == wanted).unwrap_or(newest);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "windlass", "title": "Windlass", "version": env!("CARGO_PKG_VERSION")},
        "instructions": INSTRUCTIONS,
    })
}

/// Reports the progress of one request, if its client wants to know.
pub(crate) struct Progress<'a> {
    token: Option<Value>,
    count: u64,
    notifications: &'a Notifications,
}

impl<'a> Progress<'a> {
    fn new(meta: Option<&Value>, notifications: &'a Notifications) -> Self {
        let token = meta.and_then(|meta| meta.get("progressToken")).cloned();
        Self { token, count: 0, notifications }
    }

    /// Reports a step. The steps that are to come are not known.
    pub(crate) fn report(&mut self, message: &str) {
        let Some(token) = &self.token else { return };
        self.count += 1;
        let params = json!({"progressToken": token, "progress": self.count, "message": message});
        self.notifications.send("notifications/progress", &params);
    }
}
