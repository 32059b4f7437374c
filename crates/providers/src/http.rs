//! One HTTP client for all models.
//!
//! A call has a connection to itself for as long as it lasts and gives it back, so a conversation
//! keeps its connection from turn to turn and a thousand of them never wait for each other. The
//! connection is driven by the task that waits for it: no task of its own, no hand-over between
//! threads, and dropping the call ends everything.
//!
//! An encrypted server may lie behind a proxy: then the line goes through a tunnel it makes.
//!
//! Not here: HTTP/2 (see decisions/0007), redirects, cookies, compression, retries.

mod body;
mod client;
mod connect;
mod connection;
mod pool;
mod proxies;
mod target;
mod tls;
mod tunnel;

#[cfg(test)]
mod proxies_tests;
#[cfg(test)]
mod target_tests;

pub(crate) use body::Chunks;
pub(crate) use client::{Answer, Post};
pub use client::{Client, Connections};
pub use proxies::{BadProxy, Proxies};
pub(crate) use target::Target;
