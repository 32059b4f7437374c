//! Anthropic Messages: the shape of our own transcript, so blocks are sent and received byte for
//! byte.

mod block_writer;
mod decode;
mod delta;
mod encode;
mod errors;
mod fast_events;
mod fast_message_events;
mod field_change;
mod flat_object;
mod open_block;
mod request_body;
mod stream_event;
mod usage;
mod whole_reply;

#[cfg(test)]
mod fast_events_tests;

pub(crate) use decode::MessagesDecoder;
pub(crate) use encode::MessagesEncoder;
pub(crate) use request_body::{cache_marker, encode_head, encode_tail};
pub(crate) use whole_reply::decode_whole_reply;
