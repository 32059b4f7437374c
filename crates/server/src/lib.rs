//! The HTTP API of Windlass: `windlass serve`.
//!
//! A front end like the command line: it sends prompts and answers through the facade and reads
//! conversations through the message projection. It interprets no record of a log by itself, and
//! has no state of its own, so that any number of servers can serve one store.
//!
//! `docs/api.md` describes the API, `docs/server.md` how to run it.

mod access;
mod actions;
mod authenticator;
mod background_work;
mod body;
mod caller;
mod change_stream;
mod config;
mod connection;
mod conversations;
mod cron;
mod dashboard;
mod deferred_prompts;
mod documents;
mod files;
mod health;
mod json;
mod lookup;
mod mcp;
mod metrics;
mod openapi;
mod outbound;
mod presenter;
mod problem;
mod prompts;
mod questions;
mod reports;
mod response_headers;
mod router;
mod run_feedback;
mod run_labels;
mod run_options;
mod run_record;
mod runs;
mod schedules;
mod server;
mod sse;
mod stream;
mod tenants;
mod time;
mod tls;
mod token;
mod token_registry;
mod tokens;
mod views;
mod webhook_deliveries;
mod webhooks;
mod write_timeout;

pub use caller::Scope;
pub use config::{RemoteTransport, ServerConfig, TlsFiles};
pub use outbound::Outbound;
pub use presenter::{EventFilter, Presenter, RunReport, StatsFilter, StoreReport};
pub use run_options::RunOptions;
pub use server::{Server, ServerError, StopHandle};
pub use token::{AccessToken, TokenError};
pub use token_registry::{
    NewToken, TokenCreationError, TokenInfo, create_token, is_tenant_name, list_tokens,
    revoke_token,
};
