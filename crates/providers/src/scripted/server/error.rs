//! Why the server cannot start.

use std::io;
use std::net::SocketAddr;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is one that other machines could reach.
    #[error("{address} can be reached from other machines; use 127.0.0.1 or ::1")]
    NotLoopback {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The system does not give the address.
    #[error("cannot listen on {address}; use port 0 for any free one")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
