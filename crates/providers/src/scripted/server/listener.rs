//! Listening on loopback and taking connections.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use windlass_runtime::ports::Clock;

use super::super::script::Script;
use super::connection;
use super::error::Error;
use super::limits::{ACCEPT_RETRY_MS, MAX_CONNECTIONS, STOP_MS};
use super::newcomers::Newcomers;
use super::state::State;
use super::watch::Watch;

/// A server that listens, and serves once it is told to.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on a loopback address; port 0 means any free one.
    ///
    /// # Errors
    ///
    /// An address that other machines could reach is refused, as is one the system does not give.
    pub async fn bind(address: SocketAddr) -> Result<Self, Error> {
        if !address.ip().is_loopback() {
            return Err(Error::NotLoopback { address });
        }
        let refused = |source| Error::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers from `script` until `stop` is done. Answers under way then get a moment to finish.
    ///
    /// `once` and `times` count over all connections. `clock` gives the pauses of the script.
    pub async fn serve(
        self,
        script: Script,
        clock: Arc<dyn Clock>,
        watch: Arc<dyn Watch>,
        stop: impl Future<Output = ()> + Send,
    ) {
        let state = Arc::new(State::new(script, clock, watch));
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        tokio::select! {
            () = self.accept_all(&state, &stopped, &mut connections) => {}
            () = stop => {}
        }
        stopping.send_replace(true);
        tokio::select! {
            () = all_done(&mut connections) => {}
            () = state.clock.sleep(STOP_MS) => {}
        }
        connections.shutdown().await;
    }

    /// Takes connections for ever.
    async fn accept_all(
        &self,
        state: &Arc<State>,
        stopped: &watch::Receiver<bool>,
        connections: &mut JoinSet<()>,
    ) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let newcomers = Arc::new(Newcomers::default());
        loop {
            let stream = self.accept(state).await;
            if places.available_permits() == 0 {
                newcomers.send_away_oldest();
            }
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let newcomer = newcomers.welcome();
            while connections.try_join_next().is_some() {}
            let (state, stopped) = (state.clone(), stopped.clone());
            connections.spawn(async move {
                connection::serve(stream, state, stopped, newcomer).await;
                drop(place);
            });
        }
    }

    /// The next connection. When the system has none to give (out of files), a little later it may.
    async fn accept(&self, state: &State) -> TcpStream {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return stream,
                Err(_) => state.clock.sleep(ACCEPT_RETRY_MS).await,
            }
        }
    }
}

async fn all_done(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}
