//! The HTTP/1.1 client: posts requests and returns streaming responses.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio_rustls::TlsConnector;
use windlass_runtime::ports::Clock;

use super::api_target::{ApiTarget, HttpScheme, Origin};
use super::body::SharedBody;
use super::connection_pool::ConnectionPool;
use super::dial::connect;
use super::http_connection::HttpConnection;
use super::proxy_rules::ProxyRules;
use super::tls;
use crate::error::call_error::CallError;
use crate::secret::Secret;

/// How long the end of a body is waited for once its content was read, in milliseconds. A server
/// that never ends it costs a new connection, not the reply.
const END_OF_BODY_MS: u64 = 100;

/// An HTTP client. One client serves every model of a process.
pub struct HttpClient {
    pool: Mutex<ConnectionPool>,
    tls: OnceLock<Result<TlsConnector, CallError>>,
    extra_roots: Vec<Vec<u8>>,
    proxies: ProxyRules,
    clock: Arc<dyn Clock>,
    opened: AtomicU64,
    reused: AtomicU64,
}

/// Connection statistics, for monitoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionStats {
    /// The number of connections opened so far.
    pub opened: u64,
    /// The number of requests that reused an idle connection.
    pub reused: u64,
    /// The number of idle connections.
    pub idle: usize,
}

/// A request to be posted.
pub(crate) struct PostRequest<'a> {
    pub(crate) target: &'a ApiTarget,
    pub(crate) path: &'a Uri,
    /// All headers, that of the host included.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: SharedBody,
    pub(crate) connect_ms: u64,
}

impl HttpClient {
    /// Creates a client that trusts the system's root certificates and uses no proxy.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            pool: Mutex::default(),
            tls: OnceLock::new(),
            extra_roots: Vec::new(),
            proxies: ProxyRules::default(),
            clock,
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
        }
    }

    /// Adds root certificates, given as DER.
    #[must_use]
    pub fn with_extra_roots(self, extra_roots: Vec<Vec<u8>>) -> Self {
        Self { extra_roots, ..self }
    }

    /// Sets the proxy rules.
    #[must_use]
    pub fn with_proxy_rules(self, proxies: ProxyRules) -> Self {
        Self { proxies, ..self }
    }

    /// The secrets of the proxies, which must be redacted.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.proxies.secrets()
    }

    /// Returns the connection statistics.
    #[must_use]
    pub fn connection_stats(&self) -> ConnectionStats {
        ConnectionStats {
            opened: self.opened.load(Ordering::Relaxed),
            reused: self.reused.load(Ordering::Relaxed),
            idle: self.pool.lock().idle_count(),
        }
    }

    /// Posts a request and waits for the head of the response.
    pub(crate) async fn post(&self, post: PostRequest<'_>) -> Result<HttpResponse<'_>, CallError> {
        let origin = &post.target.origin;
        if let Some(mut connection) = self.take_idle(origin) {
            self.reused.fetch_add(1, Ordering::Relaxed);
            // A pooled connection may have been closed unnoticed: then another one is opened.
            // Before any response arrived this is the same call, not a second one.
            if let Ok(response) = connection.send(build_request(&post)).await {
                return Ok(self.build_response(origin.clone(), connection, response));
            }
        }
        let mut connection = self.open_connection(origin, post.connect_ms).await?;
        let response = connection.send(build_request(&post)).await.map_err(|error| {
            CallError::Unreachable(format!(
                "{}:{} did not respond: {}",
                origin.host,
                origin.port,
                error_with_causes(&error)
            ))
        })?;
        Ok(self.build_response(origin.clone(), connection, response))
    }

    fn take_idle(&self, origin: &Origin) -> Option<HttpConnection> {
        let now = self.clock.monotonic_ms();
        self.pool.lock().take(origin, now)
    }

    pub(super) async fn open_connection(
        &self,
        origin: &Origin,
        connect_ms: u64,
    ) -> Result<HttpConnection, CallError> {
        let tls = match origin.scheme {
            HttpScheme::Http => None,
            HttpScheme::Https => Some(self.tls_connector()?),
        };
        self.opened.fetch_add(1, Ordering::Relaxed);
        tokio::select! {
            biased;
            connected = connect(origin, tls, self.proxies.proxy_for(origin)) => connected,
            () = self.clock.sleep(connect_ms) => Err(CallError::ConnectTimeout(connect_ms)),
        }
    }

    fn tls_connector(&self) -> Result<&TlsConnector, CallError> {
        self.tls
            .get_or_init(|| tls::build_tls_connector(&self.extra_roots))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn build_response(
        &self,
        origin: Origin,
        connection: HttpConnection,
        response: Response<Incoming>,
    ) -> HttpResponse<'_> {
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status.as_u16(), parts.headers);
        HttpResponse { client: self, origin, connection, body, status, headers }
    }
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.connection_stats().fmt(f)
    }
}

/// A response whose body is still arriving. Dropping it closes the connection.
pub(crate) struct HttpResponse<'a> {
    client: &'a HttpClient,
    origin: Origin,
    connection: HttpConnection,
    body: Incoming,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
}

impl HttpResponse<'_> {
    /// Returns the next chunk of the body; `None` at its end.
    pub(crate) async fn next_chunk(&mut self) -> Option<Result<Bytes, CallError>> {
        let piece = self.connection.next_chunk(&mut self.body).await?;
        Some(piece.map_err(|error| CallError::StreamCut(error_with_causes(&error))))
    }

    /// The content was read: returns the connection to the pool if the body ends here.
    pub(crate) async fn finish(mut self) {
        let clock = Arc::clone(&self.client.clock);
        let ended = async {
            while let Some(piece) = self.connection.next_chunk(&mut self.body).await {
                if piece.is_err() {
                    return false;
                }
            }
            self.connection.wait_until_reusable().await
        };
        // The block makes the timer lazy: a body that has ended already needs none.
        let is_reusable = tokio::select! {
            biased;
            is_reusable = ended => is_reusable,
            () = async { clock.sleep(END_OF_BODY_MS).await } => false,
        };
        if is_reusable {
            let now = clock.monotonic_ms();
            let mut pool = self.client.pool.lock();
            pool.put(&self.origin, self.connection, now);
        }
    }
}

fn build_request(post: &PostRequest<'_>) -> Request<SharedBody> {
    let mut request = Request::new(post.body.clone());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = post.path.clone();
    *request.headers_mut() = post.headers.clone();
    request
}

/// The error with its causes: hyper's own message is short.
pub(super) fn error_with_causes(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
