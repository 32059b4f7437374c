//! JSON-RPC requests to one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::connection::{McpConnection, McpError};
use crate::elicitation::{UserRequests, required_pages};
use crate::ongoing_call::{CurrentHeartbeat, PAGES_REQUIRED};
use crate::plain_text::plain_text;
use crate::server_inbox::ServerInbox;

/// Length of an error message of a server, in characters.
const MAX_ERROR_CHARS: usize = 2_000;

/// Who follows a call: what keeps it alive, and who answers what the server asks the user.
#[derive(Clone)]
pub(crate) struct CallFollower {
    pub(crate) heartbeat: CurrentHeartbeat,
    pub(crate) requests: UserRequests,
}

/// Sends requests to a server and reads its answers.
pub(crate) struct McpClient {
    connection: Arc<dyn McpConnection>,
    inbox: Arc<ServerInbox>,
    next_id: AtomicU64,
}

impl McpClient {
    pub(crate) fn new(connection: Arc<dyn McpConnection>, inbox: Arc<ServerInbox>) -> Self {
        Self { connection, inbox, next_id: AtomicU64::new(0) }
    }

    pub(crate) fn connection(&self) -> &Arc<dyn McpConnection> {
        &self.connection
    }

    pub(crate) fn inbox(&self) -> &Arc<ServerInbox> {
        &self.inbox
    }

    /// Sends a request and returns its result.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, McpError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.send_request(id, method, params).await
    }

    /// Calls a tool. Progress keeps the call alive, and what the server asks the user reaches the
    /// follower.
    pub(crate) async fn call_tool(
        &self,
        mut params: Value,
        follower: CallFollower,
    ) -> Result<Value, McpError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        if let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.insert("progressToken".to_owned(), json!(id));
        }
        self.inbox.follow_call(id, follower);
        let _followed = FollowedRequest { inbox: &self.inbox, id };
        self.send_request(id, "tools/call", params).await
    }

    async fn send_request(&self, id: u64, method: &str, params: Value) -> Result<Value, McpError> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut answer = self.connection.exchange(request).await?;
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            if code == PAGES_REQUIRED {
                let pages = required_pages(self.inbox.server(), error);
                if !pages.is_empty() {
                    return Err(McpError::PagesRequired(pages));
                }
            }
            let message = error.get("message").and_then(Value::as_str).unwrap_or("unknown error");
            return Err(McpError::Refused { code, message: plain_text(message, MAX_ERROR_CHARS) });
        }
        match answer.get_mut("result").map(Value::take) {
            Some(result @ Value::Object(_)) => Ok(result),
            _ => Err(McpError::Invalid(format!("{method} has no result"))),
        }
    }

    /// Sends a notification.
    pub(crate) async fn notify(&self, method: &str) -> Result<(), McpError> {
        self.connection.exchange(json!({"jsonrpc": "2.0", "method": method})).await.map(drop)
    }
}

/// A request whose progress is followed until this is dropped.
struct FollowedRequest<'a> {
    inbox: &'a ServerInbox,
    id: u64,
}

impl Drop for FollowedRequest<'_> {
    fn drop(&mut self) {
        self.inbox.forget_call(self.id);
    }
}
