//! JSON-RPC requests to one server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::connection::{McpConnection, McpError};

/// Sends requests to a server and reads its answers.
pub(crate) struct McpClient {
    connection: Arc<dyn McpConnection>,
    next_id: AtomicU64,
}

impl McpClient {
    pub(crate) fn new(connection: Arc<dyn McpConnection>) -> Self {
        Self { connection, next_id: AtomicU64::new(0) }
    }

    /// Sends a request and returns its result.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, McpError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut answer = self.connection.exchange(request).await?;
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let message = error.get("message").and_then(Value::as_str).unwrap_or("unknown error");
            return Err(McpError::Refused { code, message: message.to_owned() });
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
