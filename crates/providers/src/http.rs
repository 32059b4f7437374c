//! The HTTP client for all models.
//!
//! A call has a connection to itself for as long as it lasts and then returns it to the pool, so a
//! conversation keeps its connection from turn to turn and a thousand of them never wait for each
//! other. The connection is polled by the task that waits for it: no task of its own, no hand-over
//! between threads, and dropping the call ends everything.
//!
//! A server with TLS may be behind a proxy: then the connection goes through a `CONNECT` tunnel.
//!
//! Not here: HTTP/2 (see decisions/0007-http-client.md), redirects, cookies, compression, retries.

mod api_target;
mod body;
mod client;
mod connection_pool;
mod dial;
mod http_connection;
mod plain_request;
mod proxy_rules;
mod proxy_tunnel;
mod tls;

#[cfg(test)]
mod api_target_tests;
#[cfg(test)]
mod proxy_rules_tests;

pub(crate) use api_target::ApiTarget;
pub use api_target::is_loopback_host;
pub(crate) use body::SharedBody;
pub use client::{ConnectionStats, HttpClient};
pub(crate) use client::{HttpResponse, PostRequest};
pub use plain_request::{PlainRequest, PlainRequestError, PlainResponse};
pub use proxy_rules::{InvalidProxy, ProxyRules};
