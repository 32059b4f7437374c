//! The HTTP API of Windlass: `windlass serve`.
//!
//! A front end like the command line: it sends prompts and answers through the facade and reads
//! conversations through the message projection. It interprets no record of a log by itself, and
//! has no state of its own, so that any number of servers can serve one store.
//!
//! `docs/api.md` describes the API, `docs/server.md` how to run it.

mod access;
mod actions;
mod body;
mod change_stream;
mod config;
mod connection;
mod conversations;
mod dashboard;
mod health;
mod json;
mod lookup;
mod openapi;
mod presenter;
mod problem;
mod prompts;
mod questions;
mod reports;
mod response_headers;
mod router;
mod run_options;
mod run_record;
mod runs;
mod server;
mod sse;
mod stream;
mod tls;
mod token;
mod views;
mod write_timeout;

pub use config::{RemoteTransport, ServerConfig, TlsFiles};
pub use presenter::{EventFilter, Presenter, RunReport, StatsFilter, StoreReport};
pub use run_options::RunOptions;
pub use server::{Server, ServerError, StopHandle};
pub use token::{AccessToken, TokenError};
