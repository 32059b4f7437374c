//! OpenAI Chat Completions, which most other servers support, too.
//!
//! Thinking is sent as `reasoning_content`, the field that DeepSeek, vLLM and llama.cpp use: the
//! format itself has none.

mod completion;
mod conversation_check;
mod error_body;
mod event_stream;
mod request_parser;
mod script_view;
mod usage;

pub(super) use completion::encode_completion;
pub(super) use error_body::{encode_error_body, error_code, rejection_for_invalid_json};
pub(super) use event_stream::ChatEventEncoder;
pub(super) use request_parser::{ChatSpec, parse_request};
