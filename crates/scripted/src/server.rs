//! The scripted model on a socket: an HTTP server on loopback that speaks three wire formats.
//!
//! | path | format |
//! |---|---|
//! | `POST /v1/messages`, `POST /v1/messages/count_tokens` | Anthropic Messages |
//! | `POST /v1/chat/completions` | OpenAI Chat Completions |
//! | `POST /v1/responses` | OpenAI Responses |
//! | `GET /v1/models`, `GET /v1/models/ID` | Anthropic's list with an `anthropic-version` header, OpenAI's without |
//!
//! Streaming and not. Any model name and any key are accepted, none is needed. A request that the
//! real service would refuse for its shape (an unanswered call, a wrong role) is refused in the
//! same words, so that a client's mistakes show before they cost anything.
//!
//! One folder for each wire format: it reads a request into what a script sees, and writes an
//! answer as events or as one JSON document. Both are pure; waiting, cutting and failing are the
//! same for all formats and live beside the folders.
//!
//! What the formats of OpenAI cannot say: a `raw` block is Anthropic's and is left out there; and
//! a tool result carries no error flag, so a result counts as an error when its text begins with
//! `error:` or is a JSON object with an `error` member that is neither `null` nor `false`.
//!
//! Not here: state. Every request brings its whole conversation; `previous_response_id` is refused.

mod answer_block;
mod answer_start;
mod anthropic;
mod chat;
mod client_connection;
mod content;
mod event_encoder;
pub mod limits;
mod listener;
mod model_list;
mod parsed_request;
pub(crate) mod pieces;
mod rejection;
mod reply_events;
mod request_body;
mod request_handler;
mod request_observer;
mod respond;
mod response_body;
mod response_head;
mod responses;
mod routing;
mod server_error;
mod server_state;
mod sse;
mod stream_response;
mod unused_connections;
mod whole_response;

pub use listener::ScriptedServer;
pub(crate) use reply_events::ReplyEvents;
pub use request_observer::{RequestObserver, ServedOutcome, ServedRequest};
pub use server_error::ServerError;
