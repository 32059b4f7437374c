//! Requests of any method to any URL, for clients of services that are not models.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use tokio::sync::{mpsc, oneshot};

use super::api_target::ApiTarget;
use super::body::SharedBody;
use super::client::HttpClient;
use crate::error::call_error::CallError;

/// Number of chunks of a body that wait for their reader.
const QUEUED_CHUNKS: usize = 16;

/// A request to any URL.
#[derive(Debug, Clone)]
pub struct PlainRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers, without that of the host.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The response to a [`PlainRequest`]. Dropping it closes the connection.
#[derive(Debug)]
pub struct PlainResponse {
    /// The status code.
    pub status: u16,
    /// The headers; those that are not text are left out.
    pub headers: Vec<(String, String)>,
    /// The body as it arrives.
    pub body: mpsc::Receiver<Result<Bytes, String>>,
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PlainRequestError {
    /// What is wrong and what to do.
    pub message: String,
    /// Whether the server cannot have received the request.
    pub is_unsent: bool,
}

impl HttpClient {
    /// Sends a request on a connection of its own and returns the response when its head has
    /// arrived. The request is sent once: nothing is repeated or redirected.
    ///
    /// # Errors
    ///
    /// Returns a [`PlainRequestError`] if there is no response.
    pub async fn send_plain(
        self: &Arc<Self>,
        request: PlainRequest,
        connect_ms: u64,
    ) -> Result<PlainResponse, PlainRequestError> {
        let unsent =
            |error: CallError| PlainRequestError { message: error.to_string(), is_unsent: true };
        let (target, request) = encode(request).map_err(unsent)?;
        let client = Arc::clone(self);
        let (head_sender, head) = oneshot::channel();
        // A task of its own: the reader may wait for anything while the body arrives.
        tokio::spawn(async move {
            let (chunks, body) = mpsc::channel(QUEUED_CHUNKS);
            let connection = match client.open_connection(&target.origin, connect_ms).await {
                Ok(connection) => connection,
                Err(error) => return drop(head_sender.send(Err(unsent(error)))),
            };
            exchange(connection, request, (head_sender, body), chunks).await;
        });
        let gone =
            PlainRequestError { message: "the request was dropped".to_owned(), is_unsent: false };
        head.await.unwrap_or(Err(gone))
    }
}

type HeadSender = oneshot::Sender<Result<PlainResponse, PlainRequestError>>;

/// Sends the request, then the chunks of its response as long as someone reads them.
async fn exchange(
    mut connection: super::http_connection::HttpConnection,
    request: Request<SharedBody>,
    (mut head, body): (HeadSender, mpsc::Receiver<Result<Bytes, String>>),
    chunks: mpsc::Sender<Result<Bytes, String>>,
) {
    let sent = tokio::select! {
        sent = connection.send(request) => sent,
        () = head.closed() => return,
    };
    let response = match sent {
        Ok(response) => response,
        Err(error) => {
            let message =
                format!("the server did not respond: {}", super::client::error_with_causes(&error));
            return drop(head.send(Err(PlainRequestError { message, is_unsent: false })));
        }
    };
    let (parts, mut incoming) = response.into_parts();
    let headers = readable_headers(&parts.headers);
    let answer = PlainResponse { status: parts.status.as_u16(), headers, body };
    if head.send(Ok(answer)).is_err() {
        return;
    }
    loop {
        let chunk = tokio::select! {
            chunk = connection.next_chunk(&mut incoming) => chunk,
            () = chunks.closed() => return,
        };
        let Some(chunk) = chunk else { return };
        let chunk = chunk.map_err(|error| super::client::error_with_causes(&error));
        let is_last = chunk.is_err();
        if chunks.send(chunk).await.is_err() || is_last {
            return;
        }
    }
}

fn readable_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    headers.iter().filter_map(text).collect()
}

fn encode(request: PlainRequest) -> Result<(ApiTarget, Request<SharedBody>), CallError> {
    let target = ApiTarget::parse(&request.url)?;
    let uri: Uri = request.url.trim().parse().map_err(|_| invalid("URL"))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let name = HeaderName::try_from(name.as_str()).map_err(|_| invalid("header name"))?;
        headers.append(name, HeaderValue::from_str(value).map_err(|_| invalid("header value"))?);
    }
    headers.insert(HOST, target.host_header.clone());
    if !request.body.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(request.body.len()));
    }
    let mut encoded = Request::new(SharedBody::new(vec![Bytes::from(request.body)]));
    *encoded.method_mut() =
        Method::from_bytes(request.method.as_bytes()).map_err(|_| invalid("method"))?;
    *encoded.uri_mut() = path.parse().map_err(|_| invalid("path"))?;
    *encoded.headers_mut() = headers;
    Ok((target, encoded))
}

fn invalid(what: &str) -> CallError {
    CallError::Misconfigured(format!("the request has an invalid {what}"))
}
