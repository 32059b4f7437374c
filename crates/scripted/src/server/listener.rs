//! Listens on a loopback address and accepts connections.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use windlass_runtime::ports::Clock;

use super::client_connection;
use super::limits::{ACCEPT_RETRY_MS, MAX_CONNECTIONS, STOP_MS};
use super::request_observer::RequestObserver;
use super::server_error::ServerError;
use super::server_state::ServerState;
use super::unused_connections::UnusedConnections;
use crate::script::Script;

/// A server that listens, and serves once [`ScriptedServer::serve`] is called.
#[derive(Debug)]
pub struct ScriptedServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl ScriptedServer {
    /// Listens on a loopback address; port 0 means any free one.
    ///
    /// # Errors
    ///
    /// Returns a [`ServerError`] if other machines could reach the address, or if the system does
    /// not provide it.
    pub async fn bind(address: SocketAddr) -> Result<Self, ServerError> {
        if !address.ip().is_loopback() {
            return Err(ServerError::NotLoopback { address });
        }
        let refused = |source| ServerError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address })
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from `script` until `stop` completes. Answers in progress then get a moment to
    /// finish.
    ///
    /// `once` and `times` count over all connections. `clock` provides the pauses of the script.
    pub async fn serve(
        self,
        script: Script,
        clock: Arc<dyn Clock>,
        watch: Arc<dyn RequestObserver>,
        stop: impl Future<Output = ()> + Send,
    ) {
        let state = Arc::new(ServerState::new(script, clock, watch));
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        tokio::select! {
            () = self.accept_all(&state, &stopped, &mut connections) => {}
            () = stop => {}
        }
        stopping.send_replace(true);
        tokio::select! {
            () = join_all_connections(&mut connections) => {}
            () = state.clock.sleep(STOP_MS) => {}
        }
        connections.shutdown().await;
    }

    /// Accepts connections for ever.
    async fn accept_all(
        &self,
        state: &Arc<ServerState>,
        stopped: &watch::Receiver<bool>,
        connections: &mut JoinSet<()>,
    ) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let newcomers = Arc::new(UnusedConnections::default());
        loop {
            let stream = self.accept_connection(state).await;
            if places.available_permits() == 0 {
                newcomers.evict_oldest();
            }
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let newcomer = newcomers.register();
            while connections.try_join_next().is_some() {}
            let (state, stopped) = (state.clone(), stopped.clone());
            connections.spawn(async move {
                client_connection::serve_connection(stream, state, stopped, newcomer).await;
                drop(place);
            });
        }
    }

    /// Accepts the next connection. When the system is out of files, it tries again a little later.
    async fn accept_connection(&self, state: &ServerState) -> TcpStream {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return stream,
                Err(_) => state.clock.sleep(ACCEPT_RETRY_MS).await,
            }
        }
    }
}

async fn join_all_connections(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}
