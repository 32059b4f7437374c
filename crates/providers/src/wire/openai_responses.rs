//! OpenAI Responses: a list of items in, a list of items out.

mod decode;
mod encode;
mod item_events;
mod output_item;
mod request_body;
mod stream_event;

pub(crate) use decode::ResponsesDecoder;
pub(crate) use encode::InputItemsEncoder;
pub(crate) use request_body::{encode_head, encode_tail};
