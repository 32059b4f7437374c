//! Opens connections: TCP, TLS, through a proxy.

use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::api_target::{Origin, is_loopback_host};
use super::http_connection::HttpConnection;
use super::proxy_rules::ProxyServer;
use super::proxy_tunnel;
use crate::error::call_error::CallError;

/// A stream of bytes in both directions.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Opens a connection; with `tls`, encrypted; with a proxy, through it.
pub(super) async fn connect(
    origin: &Origin,
    tls: Option<&TlsConnector>,
    proxy: Option<&ProxyServer>,
) -> Result<HttpConnection, CallError> {
    let stream = match proxy {
        None => connect_tcp(&origin.host, origin.port).await?,
        Some(proxy) => proxy_tunnel::open_tunnel(proxy, origin).await?,
    };
    let line: Box<dyn ByteStream> = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let name = ServerName::try_from(origin.host.to_string()).map_err(|_| {
                CallError::Misconfigured(format!("`{}` is not a valid server name", origin.host))
            })?;
            Box::new(tls.connect(name, stream).await.map_err(|error| tls_error(origin, &error))?)
        }
    };
    HttpConnection::open(line).await.map_err(|error| {
        CallError::Unreachable(format!(
            "{}:{} closed the connection: {error}",
            origin.host, origin.port
        ))
    })
}

/// Opens a TCP connection.
pub(super) async fn connect_tcp(host: &str, port: u16) -> Result<TcpStream, CallError> {
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(|error| connect_error(host, port, &error))?;
    // A request is written at once: waiting for more data would only delay it.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

fn connect_error(host: &str, port: u16, error: &io::Error) -> CallError {
    if error.kind() == io::ErrorKind::ConnectionRefused && is_own_host(host) {
        return CallError::ServerNotRunning(format!(
            "nothing is listening on {host}:{port}; start the server, or correct the base URL"
        ));
    }
    let advice = match error.kind() {
        io::ErrorKind::ConnectionRefused => "; is the server running, and is this its port?",
        io::ErrorKind::TimedOut
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::HostUnreachable => "; check the network",
        _ => "; check the base URL and the network",
    };
    CallError::Unreachable(format!("cannot connect to {host}:{port}: {error}{advice}"))
}

/// Returns whether connections to a host always reach this machine: those to `0.0.0.0` do, too.
fn is_own_host(host: &str) -> bool {
    is_loopback_host(host) || host.parse().is_ok_and(|address: IpAddr| address.is_unspecified())
}

/// An invalid TLS message of the server is a permanent error; a broken connection may work next
/// time.
fn tls_error(origin: &Origin, error: &io::Error) -> CallError {
    let text = format!("TLS connection to {}:{} failed: {error}", origin.host, origin.port);
    match error.kind() {
        io::ErrorKind::InvalidData => CallError::TlsFailed(format!(
            "{text}; check that the base URL should use https, that the system clock is right, and that \
             the server's certificate is trusted (SSL_CERT_FILE adds root certificates)"
        )),
        _ => CallError::Unreachable(text),
    }
}
