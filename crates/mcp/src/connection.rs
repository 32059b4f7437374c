//! The transport of an MCP server, as the client sees it.

use std::sync::Arc;

use serde_json::Value;
use windlass_core::call::input_request::InputRequest;
use windlass_runtime::ports::BoxFuture;

use crate::server_inbox::ServerInbox;

/// Carries JSON-RPC messages to one MCP server.
pub trait McpConnection: Send + Sync + 'static {
    /// Sends a message. Returns the response to a request; the value for a notification, which has
    /// no response, is ignored. Dropping the future withdraws the request.
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Value, McpError>>;

    /// The handshake is complete: the server speaks this version of the protocol.
    fn on_initialized(&self, _protocol_version: &str) {}

    /// Resolves when the connection is lost, with the reason.
    fn wait_until_lost(&self) -> BoxFuture<'_, McpError> {
        Box::pin(std::future::pending())
    }

    /// Ends the connection.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Opens connections to one MCP server: the first one, and further ones after it was lost.
pub trait McpConnector: Send + Sync + 'static {
    /// Opens a connection. What the server sends by itself goes to the inbox.
    fn connect(
        &self,
        inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>>;
}

/// Why an MCP server did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The configuration cannot work: trying again is no use.
    #[error("{0}")]
    Misconfigured(String),
    /// The server cannot be reached: it did not get the request.
    #[error("the server does not answer: {0}")]
    Unreachable(String),
    /// The connection ended before the answer: whether the request had an effect is not known.
    #[error("the connection was lost: {0}")]
    ConnectionLost(String),
    /// The server has forgotten the session, and did not look at the request.
    #[error("the session with the server has expired")]
    SessionExpired,
    /// The server requires a login.
    #[error("the server requires a login: {0}")]
    NeedsLogin(String),
    /// The tool is not described any more as it was when it was offered.
    #[error("the tool has changed, and is not offered as it was")]
    ToolChanged,
    /// The server answered with an error.
    #[error("{message}")]
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// What the server says.
        message: String,
    },
    /// The call is refused until the user has opened these pages.
    #[error("the server requires a page to be opened first")]
    PagesRequired(Vec<InputRequest>),
    /// The answer does not follow the protocol.
    #[error("the server sent an invalid answer: {0}")]
    Invalid(String),
}
