//! The wire formats, and the code that their encoders and decoders share.

pub(crate) mod anthropic;
pub(crate) mod content;
pub(crate) mod decode_context;
pub(crate) mod foreign_blocks;
pub(crate) mod openai_chat;
pub(crate) mod openai_common;
pub(crate) mod openai_responses;
pub(crate) mod replay;
pub(crate) mod reply_builder;
pub(crate) mod reply_events;
pub(crate) mod reported_usage;
pub mod sse;
#[cfg(test)]
mod sse_tests;
pub(crate) mod stop_strings;
pub(crate) mod wire_formats;
pub(crate) mod wire_protocol;

/// The number of bytes that what follows the messages of a request usually has.
const EXPECTED_TAIL_BYTES: usize = 256;
