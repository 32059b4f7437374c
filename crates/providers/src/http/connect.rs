//! Making a connection.

use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::connection::Connection;
use super::proxies::Proxy;
use super::target::Origin;
use super::tunnel;
use crate::fault::Fault;

/// Bytes both ways.
pub(super) trait Line: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Line for T {}

/// Connects; with `tls`, encrypted; with a proxy, through it.
pub(super) async fn connect(
    origin: &Origin,
    tls: Option<&TlsConnector>,
    proxy: Option<&Proxy>,
) -> Result<Connection, Fault> {
    let stream = match proxy {
        None => reach(&origin.host, origin.port).await?,
        Some(proxy) => tunnel::through(proxy, origin).await?,
    };
    let line: Box<dyn Line> = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let name = ServerName::try_from(origin.host.to_string()).map_err(|_| {
                Fault::Misconfigured(format!("`{}` is no name of a server", origin.host))
            })?;
            Box::new(tls.connect(name, stream).await.map_err(|error| insecure(origin, &error))?)
        }
    };
    Connection::open(line).await.map_err(|error| {
        Fault::Unreachable(format!(
            "{}:{} closed the connection: {error}",
            origin.host, origin.port
        ))
    })
}

/// A line to a port.
pub(super) async fn reach(host: &str, port: u16) -> Result<TcpStream, Fault> {
    let stream =
        TcpStream::connect((host, port)).await.map_err(|error| unreachable(host, port, &error))?;
    // A request is written at once: waiting for more would only delay it.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

fn unreachable(host: &str, port: u16, error: &io::Error) -> Fault {
    if error.kind() == io::ErrorKind::ConnectionRefused && is_this_machine(host) {
        return Fault::Absent(format!(
            "nothing is listening on {host}:{port}; start the server there, or correct its address"
        ));
    }
    let advice = match error.kind() {
        io::ErrorKind::ConnectionRefused => "; is the server running, and is this its port?",
        io::ErrorKind::TimedOut
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::HostUnreachable => "; check the network",
        _ => "; check the address and the network",
    };
    Fault::Unreachable(format!("cannot connect to {host}:{port}: {error}{advice}"))
}

/// A name or an address that never leads anywhere else.
fn is_this_machine(host: &str) -> bool {
    let is_loopback = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
}

/// What the other side sent makes a failure lasting; a line that broke may work next time.
fn insecure(origin: &Origin, error: &io::Error) -> Fault {
    let text = format!("no secure connection to {}:{}: {error}", origin.host, origin.port);
    match error.kind() {
        io::ErrorKind::InvalidData => Fault::Insecure(format!(
            "{text}; check that the address should begin with https, the machine's clock, and that the \
             server's certificate is trusted (SSL_CERT_FILE adds roots)"
        )),
        _ => Fault::Unreachable(text),
    }
}
