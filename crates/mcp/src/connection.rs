//! The transport of an MCP server, as the client sees it.

use serde_json::Value;
use windlass_runtime::ports::BoxFuture;

/// Carries JSON-RPC messages to one MCP server.
pub trait McpConnection: Send + Sync + 'static {
    /// Sends a message. Returns the response to a request; the value for a notification, which has
    /// no response, is ignored. Dropping the future withdraws the request.
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Value, McpError>>;
}

/// Why an MCP server did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The server cannot be reached, or did not answer in time.
    #[error("the server does not answer: {0}")]
    Unreachable(String),
    /// The server answered with an error.
    #[error("{message}")]
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// What the server says.
        message: String,
    },
    /// The answer does not follow the protocol.
    #[error("the server sent an invalid answer: {0}")]
    Invalid(String),
}
