//! The streamable HTTP transport: every message is posted; answers come as JSON or as a stream of
//! events, which is resumed when it breaks.

mod event_decoder;
mod event_stream;
mod http_connection;
mod http_port;
mod request_headers;

#[cfg(test)]
mod event_decoder_tests;

use std::sync::Arc;

use windlass_runtime::ports::{BoxFuture, Clock};

use crate::connection::{McpConnection, McpConnector, McpError};
use crate::server_inbox::ServerInbox;
use http_connection::HttpConnection;
pub use http_port::{HttpBody, HttpError, HttpRequest, HttpResponse, HttpTransport};

/// A credential for one request, and what to do when the server rejects it.
pub trait HttpAuthorization: Send + Sync + 'static {
    /// Returns the access token for a request, if there is one.
    fn access_token(&self) -> BoxFuture<'_, Result<Option<String>, McpError>>;

    /// The server rejected a request with 401 or 403. Returns whether another token may work, so
    /// that the request is sent again.
    fn on_rejected(&self, rejection: Rejection) -> BoxFuture<'_, Result<bool, McpError>>;
}

/// A response with which a server rejects a credential.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejection {
    /// The status code: 401 or 403.
    pub status: u16,
    /// The header `WWW-Authenticate`.
    pub challenge: String,
    /// The token that was rejected.
    pub token: Option<String>,
}

/// Produces headers for the requests to a server.
pub trait HeaderSource: Send + Sync + 'static {
    /// Returns the headers for a new connection.
    fn headers(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, McpError>>;
}

/// How to reach a server over HTTP.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// The URL of the server.
    pub url: String,
    /// Where the headers of its requests come from.
    pub headers: Arc<dyn HeaderSource>,
    /// Credentials, unless the headers have them.
    pub authorization: Option<Arc<dyn HttpAuthorization>>,
}

/// Opens sessions with a server over HTTP.
pub struct HttpConnector {
    endpoint: HttpEndpoint,
    transport: Arc<dyn HttpTransport>,
    clock: Arc<dyn Clock>,
}

impl HttpConnector {
    /// Creates a connector for a server.
    #[must_use]
    pub fn new(
        endpoint: HttpEndpoint,
        transport: Arc<dyn HttpTransport>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { endpoint, transport, clock }
    }
}

impl McpConnector for HttpConnector {
    fn connect(
        &self,
        inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>> {
        Box::pin(async move {
            let headers = self.endpoint.headers.headers().await?;
            let (transport, clock) = (Arc::clone(&self.transport), Arc::clone(&self.clock));
            let connection =
                HttpConnection::new(self.endpoint.clone(), headers, (transport, clock), inbox);
            Ok(Arc::new(connection) as Arc<dyn McpConnection>)
        })
    }
}
