//! `windlass serve`, as programs and attackers see it: the real binary, real sockets, both stores.
#![cfg(feature = "server")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod event_stream;
mod http_client;
mod server_process;

mod attacks;
mod later;
mod lifecycle;
mod mcp;
mod metrics;
mod openapi;
mod prompts;
mod questions;
mod reports;
mod streams;
mod tenants;
mod webhooks;
