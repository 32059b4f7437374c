//! Posting requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};
use hyper::body::Incoming;
use tokio_rustls::TlsConnector;
use windlass_runtime::ports::Clock;

use super::body::Chunks;
use super::connect::connect;
use super::connection::Connection;
use super::pool::Pool;
use super::proxies::Proxies;
use super::target::{Origin, Security, Target};
use super::tls;
use crate::fault::Fault;
use crate::race::{First, first_of, first_or};
use crate::secret::Secret;

/// How long the end of a body is waited for once everything in it was read. A server that never
/// ends it costs a new connection, not the reply.
const END_OF_BODY_MS: u64 = 100;

/// An HTTP client. One serves every model of a process.
pub struct Client {
    pool: Mutex<Pool>,
    tls: OnceLock<Result<TlsConnector, Fault>>,
    extra_roots: Vec<Vec<u8>>,
    proxies: Proxies,
    clock: Arc<dyn Clock>,
    opened: AtomicU64,
    reused: AtomicU64,
}

/// What became of connections, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// Made so far.
    pub opened: u64,
    /// Requests that found one waiting.
    pub reused: u64,
    /// Waiting now.
    pub idle: usize,
}

/// A request to be posted.
pub(crate) struct Post<'a> {
    pub(crate) target: &'a Target,
    pub(crate) path: &'a Uri,
    /// All of them, the host's included.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Chunks,
    pub(crate) connect_ms: u64,
}

impl Client {
    /// A client that trusts the machine's certificates and goes straight to every server.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            pool: Mutex::default(),
            tls: OnceLock::new(),
            extra_roots: Vec::new(),
            proxies: Proxies::default(),
            clock,
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
        }
    }

    /// The same client, trusting these certificates, too, given as DER.
    #[must_use]
    pub fn trusting(self, extra_roots: Vec<Vec<u8>>) -> Self {
        Self { extra_roots, ..self }
    }

    /// The same client, going through these proxies.
    #[must_use]
    pub fn through(self, proxies: Proxies) -> Self {
        Self { proxies, ..self }
    }

    /// What must not be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.proxies.secrets()
    }

    /// What became of connections.
    #[must_use]
    pub fn connections(&self) -> Connections {
        Connections {
            opened: self.opened.load(Ordering::Relaxed),
            reused: self.reused.load(Ordering::Relaxed),
            idle: self.pool.lock().unwrap_or_else(PoisonError::into_inner).count(),
        }
    }

    /// Posts, and waits for the beginning of the answer.
    pub(crate) async fn post(&self, post: Post<'_>) -> Result<Answer<'_>, Fault> {
        let origin = &post.target.origin;
        if let Some(mut connection) = self.waiting(origin) {
            self.reused.fetch_add(1, Ordering::Relaxed);
            // A connection may die while it waits, unnoticed: then another is made. Before any
            // answer came, that is the same call, not a second one.
            if let Ok(response) = connection.send(request(&post)).await {
                return Ok(self.answer(origin.clone(), connection, response));
            }
        }
        let mut connection = self.connected(origin, post.connect_ms).await?;
        let response = connection.send(request(&post)).await.map_err(|error| {
            Fault::Unreachable(format!(
                "{}:{} gave no answer: {}",
                origin.host,
                origin.port,
                words(&error)
            ))
        })?;
        Ok(self.answer(origin.clone(), connection, response))
    }

    fn waiting(&self, origin: &Origin) -> Option<Connection> {
        let now = self.clock.monotonic_ms();
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).take(origin, now)
    }

    async fn connected(&self, origin: &Origin, connect_ms: u64) -> Result<Connection, Fault> {
        let tls = match origin.security {
            Security::Plain => None,
            Security::Tls => Some(self.tls()?),
        };
        self.opened.fetch_add(1, Ordering::Relaxed);
        match first_of(connect(origin, tls, self.proxies.of(origin)), self.clock.sleep(connect_ms))
            .await
        {
            First::Left(connected) => connected,
            First::Right(()) => Err(Fault::SlowConnect(connect_ms)),
        }
    }

    fn tls(&self) -> Result<&TlsConnector, Fault> {
        self.tls.get_or_init(|| tls::connector(&self.extra_roots)).as_ref().map_err(Clone::clone)
    }

    fn answer(
        &self,
        origin: Origin,
        connection: Connection,
        response: Response<Incoming>,
    ) -> Answer<'_> {
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status.as_u16(), parts.headers);
        Answer { client: self, origin, connection, body, status, headers }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.connections().fmt(f)
    }
}

/// An answer whose body is still coming. Dropping it closes the connection.
pub(crate) struct Answer<'a> {
    client: &'a Client,
    origin: Origin,
    connection: Connection,
    body: Incoming,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
}

impl Answer<'_> {
    /// The next piece of the body; nothing at its end.
    pub(crate) async fn piece(&mut self) -> Option<Result<Bytes, Fault>> {
        let piece = self.connection.piece(&mut self.body).await?;
        Some(piece.map_err(|error| Fault::Cut(words(&error))))
    }

    /// Everything that matters was read: gives the connection back if the body ends here.
    pub(crate) async fn finish(mut self) {
        let clock = Arc::clone(&self.client.clock);
        let ended = async {
            while let Some(piece) = self.connection.piece(&mut self.body).await {
                if piece.is_err() {
                    return false;
                }
            }
            self.connection.is_free().await
        };
        if let First::Left(true) = first_or(ended, || clock.sleep(END_OF_BODY_MS)).await {
            let now = clock.monotonic_ms();
            let mut pool = self.client.pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.put(&self.origin, self.connection, now);
        }
    }
}

fn request(post: &Post<'_>) -> Request<Chunks> {
    let mut request = Request::new(post.body.clone());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = post.path.clone();
    *request.headers_mut() = post.headers.clone();
    request
}

/// The whole story of an error: what hyper says alone is short.
fn words(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
