//! Why the server cannot start.

use std::io;
use std::net::SocketAddr;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Other machines could reach the address.
    #[error("{address} is reachable from other machines; use 127.0.0.1 or ::1")]
    NotLoopback {
        /// The address that was requested.
        address: SocketAddr,
    },
    /// The system does not provide the address.
    #[error("cannot listen on {address}; use port 0 for any free one")]
    Bind {
        /// The address that was requested.
        address: SocketAddr,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}
