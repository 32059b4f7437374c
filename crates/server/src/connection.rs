//! One connection: HTTP/1.1 with bounds on time and size.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::config::{
    DRAIN_TIMEOUT, HANDSHAKE_TIMEOUT, HEAD_TIMEOUT, MAX_HEAD_BYTES, WRITE_TIMEOUT,
};
use crate::write_timeout::WriteTimeout;

/// Serves a connection until it ends, or the server stops.
pub(crate) async fn serve_connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    stop: CancellationToken,
) {
    // Small messages of a stream go out at once.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return serve_http(stream, router, stop).await };
    let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream));
    if let Ok(Ok(stream)) = handshake.await {
        serve_http(stream, router, stop).await;
    }
}

async fn serve_http<S>(stream: S, router: Router, stop: CancellationToken)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let io = TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that breaks the protocol or goes away ends its own connection only.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, connection).await;
}
