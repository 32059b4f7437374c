//! The listening server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;

use crate::access::AccessRules;
use crate::authenticator::Authenticator;
use crate::change_stream::ChangeWatch;
use crate::config::{MAX_CONNECTIONS, MAX_STREAMS};
use crate::metrics::Metrics;
use crate::outbound::Outbound;
use crate::presenter::Presenter;
use crate::router::{ApiState, build_router};
use crate::{ServerConfig, background_work, connection, tls};

/// The pause after a connection could not be accepted, for instance because no file descriptor is
/// free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server that listens and does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: axum::Router,
    state: ApiState,
    stop: CancellationToken,
}

/// Stops a server.
#[derive(Debug, Clone)]
pub struct StopHandle(CancellationToken);

impl StopHandle {
    /// Tells the server to stop: streams are closed, requests in progress are answered.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address} ({source}); choose another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What went wrong.
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use {} ({reason}); give a certificate chain and its key in PEM", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

impl Server {
    /// Listens on the address of `config`.
    ///
    /// # Errors
    ///
    /// Returns a [`ServerError`] if the address or the certificate cannot be used.
    pub async fn bind(
        config: &ServerConfig,
        windlass: Windlass,
        presenter: Arc<dyn Presenter>,
        outbound: Arc<dyn Outbound>,
    ) -> Result<Self, ServerError> {
        let stop = CancellationToken::new();
        let tls = config.tls.as_ref().map(tls::open_acceptor).transpose()?;
        let failed = |source| ServerError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let access = Arc::new(AccessRules::new(config, address));
        let changes = ChangeWatch::start(windlass.clone(), stop.clone());
        let authenticator = Authenticator::new(config.token.clone(), config.requests_per_second);
        let state = ApiState {
            windlass,
            access,
            authenticator: Arc::new(authenticator),
            presenter,
            outbound,
            metrics: Arc::new(Metrics::new()),
            connections: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            changes,
            stop: stop.clone(),
        };
        let router = build_router(state.clone());
        Ok(Self { listener, address, tls, router, state, stop })
    }

    /// Returns the address of the server: `http://HOST:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns a handle that stops the server.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Serves requests until the server is told to stop and all connections have ended.
    pub async fn serve(self) {
        let Self { listener, address: _, tls, router, state, stop } = self;
        let permits = Arc::clone(&state.connections);
        let background = tokio::spawn(background_work::run(state));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = connections.join_next() => continue,
                accepted = accept(&listener, &permits) => accepted,
            };
            let Some((stream, permit)) = accepted else { continue };
            let (tls, router, stop) = (tls.clone(), router.clone(), stop.clone());
            connections.spawn(async move {
                connection::serve_connection(stream, tls, router, stop).await;
                drop(permit);
            });
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
        let _ = background.await;
    }
}

/// Accepts a connection as soon as there is room for one more.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, permit)),
        Err(error) => {
            tracing::warn!(target: "windlass::server", error = %error, "accept_failed");
            tokio::time::sleep_until(Instant::now() + ACCEPT_PAUSE).await;
            None
        }
    }
}
