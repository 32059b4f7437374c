//! Names to addresses.

use std::io;
use std::net::SocketAddr;

use windlass_runtime::ports::BoxFuture;

/// Finds the addresses of a host.
pub(crate) trait Resolver: Send + Sync {
    /// Returns all addresses of a host.
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the system.
#[derive(Debug)]
pub(crate) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
