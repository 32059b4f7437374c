//! Anthropic Messages.

mod conversation_check;
mod count_tokens;
mod error_body;
mod event_stream;
mod request_parser;
mod script_view;
mod tool_names;
mod tool_references;
mod usage;
mod whole_message;

pub(super) use count_tokens::count_tokens;
pub(super) use error_body::encode_error_body;
pub(super) use event_stream::MessagesEventEncoder;
pub(super) use request_parser::{MessagesSpec, parse_request};
pub(super) use whole_message::encode_message;
