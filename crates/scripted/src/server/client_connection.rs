//! One connection: requests one after the other, until either side closes it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::limits::{HEAD_MS, MAX_HEAD_BYTES};
use super::request_handler;
use super::server_state::ServerState;
use super::unused_connections::UnusedConnection;

/// Serves a connection to its end. A connection that breaks is not an error: scripts break
/// connections, and clients leave.
pub(super) async fn serve_connection(
    stream: TcpStream,
    state: Arc<ServerState>,
    stopped: watch::Receiver<bool>,
    newcomer: UnusedConnection,
) {
    drop(stream.set_nodelay(true));
    let service = service_fn(|request| {
        newcomer.mark_used();
        request_handler::handle_request(state.clone(), request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(HEAD_MS))
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = newcomer.wait_for_eviction() => return,
        () = wait_for_stop(stopped) => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}

async fn wait_for_stop(mut stopped: watch::Receiver<bool>) {
    drop(stopped.wait_for(|stopped| *stopped).await);
}
