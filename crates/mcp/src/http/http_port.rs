//! The HTTP client, as the transport needs it.

use bytes::Bytes;
use tokio::sync::mpsc;
use windlass_runtime::ports::BoxFuture;

/// Sends HTTP requests. A request is sent once: nothing is repeated or redirected.
pub trait HttpTransport: Send + Sync + 'static {
    /// Sends a request and returns the response when its head has arrived.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, HttpError>>;
}

/// A request.
#[derive(Debug, Clone, Default)]
pub struct HttpRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers, without that of the host.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response whose body may still arrive. Dropping it closes the connection.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The chunks of the body.
    pub body: HttpBody,
}

/// The chunks of a body as they arrive; an error is the last one.
pub type HttpBody = mpsc::Receiver<Result<Bytes, String>>;

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    /// What is wrong and what to do.
    pub message: String,
    /// Whether the server cannot have received the request.
    pub is_unsent: bool,
}

impl HttpResponse {
    /// Returns the first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Reads the body to its end.
    ///
    /// # Errors
    ///
    /// Returns a text if the body breaks off or exceeds the limit.
    pub async fn read_body(&mut self, max_bytes: usize) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        while let Some(chunk) = self.body.recv().await {
            body.extend_from_slice(&chunk?);
            if body.len() > max_bytes {
                return Err(format!("the answer exceeds {max_bytes} bytes"));
            }
        }
        Ok(body)
    }
}
