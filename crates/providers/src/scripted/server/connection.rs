//! One connection: requests one after the other, until either side has had enough.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::handler;
use super::limits::{HEAD_MS, MAX_HEAD_BYTES};
use super::newcomers::Newcomer;
use super::state::State;

/// Serves a connection to its end. A connection that breaks is nobody's error: scripts break them,
/// and clients leave.
pub(super) async fn serve(
    stream: TcpStream,
    state: Arc<State>,
    stopped: watch::Receiver<bool>,
    newcomer: Newcomer,
) {
    drop(stream.set_nodelay(true));
    let service = service_fn(|request| {
        newcomer.has_asked();
        handler::handle(state.clone(), request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(HEAD_MS))
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = newcomer.told_to_leave() => return,
        () = stopping(stopped) => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}

async fn stopping(mut stopped: watch::Receiver<bool>) {
    drop(stopped.wait_for(|stopped| *stopped).await);
}
