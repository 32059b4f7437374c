//! OpenAI's Responses: a list of items in, a list of items out.

mod decode;
mod encode;
mod event;
mod head;
mod item;

pub(crate) use decode::Decoder;
pub(crate) use encode::Items;
pub(crate) use head::{head, tail};
