//! What a server is started with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::AccessToken;

/// The settings of a server.
#[derive(Debug)]
pub struct ServerConfig {
    /// The address to listen on; port 0 takes any free port.
    pub listen: SocketAddr,
    /// The token that requests must present.
    pub token: AccessToken,
    /// The certificate and key, for HTTPS.
    pub tls: Option<TlsFiles>,
    /// Further names by which clients may address the server: `HOST` or `HOST:PORT`.
    pub allowed_hosts: Vec<String>,
    /// Requests per second that are answered for each token.
    pub requests_per_second: u32,
}

/// Whether clients on other machines are protected on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteTransport {
    /// The server speaks HTTPS, or only to programs of this machine.
    Protected,
    /// The server speaks plain HTTP to other machines.
    PlainText,
}

/// The files of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain, in PEM.
    pub certificate: PathBuf,
    /// The private key, in PEM.
    pub key: PathBuf,
}

impl ServerConfig {
    /// Returns how clients on other machines would be served.
    #[must_use]
    pub fn remote_transport(&self) -> RemoteTransport {
        match self.listen.ip().is_loopback() || self.tls.is_some() {
            true => RemoteTransport::Protected,
            false => RemoteTransport::PlainText,
        }
    }
}

/// The largest number of connections at once; further ones wait in the queue of the system.
pub(crate) const MAX_CONNECTIONS: usize = 4_096;

/// How long a client may take to send the head of a request, and how long a connection may idle.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a request may take from its head to the head of its response, its body included.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a TLS handshake may take.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client may accept no bytes of a response before it is disconnected.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The largest number of streams at once.
pub(crate) const MAX_STREAMS: usize = 2_048;

/// The largest head of a request, in bytes.
pub(crate) const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The largest body of a request, in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// How long requests in progress may take after the server was told to stop.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
