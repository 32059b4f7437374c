//! Model providers: adapters for the Anthropic Messages, OpenAI Chat Completions and OpenAI
//! Responses wire formats, a catalog of providers and models, and the HTTP client they share.
//!
//! An adapter encodes a `ModelRequest` in its wire format and decodes the response into a
//! `ModelReply` or a `ModelFailure`. The failure classes of HTTP errors are the same for all
//! adapters and are defined here.
//!
//! Not here: retries, delays between them, and fallback models. Those are decisions, which the core
//! makes.

mod call;
pub mod catalog;
mod error;
mod http;
mod json;
pub mod limits;
mod request_cache;
mod secret;
pub mod wire;

#[cfg(test)]
mod secret_tests;

pub use call::call_notice::{CallNotice, notices_in};
pub use call::call_options::{CallDeadlines, CallOptions, ReplyDelivery};
pub use call::endpoint::{Endpoint, SharedServices};
pub use call::rate_limiter::{RateGateSnapshot, RateLimiter};
pub use call::remote_model::RemoteModel;
pub use catalog::model_registry::{EnvLookup, ModelRegistry};
pub use error::retry_after::parse_retry_after_ms;
pub use error::retry_class::{class_once_started, classify_status};
pub use http::{
    ConnectionStats, HttpClient, InvalidProxy, PlainRequest, PlainRequestError, PlainResponse,
    ProxyRules, is_loopback_host,
};
pub use secret::{Redactor, Secret};
pub use windlass_core::settings::conversation_settings::CacheLifetime;
pub use wire::replay::{RecordedCall, replay_stream};
