//! Anthropic's Messages: our own shape, so blocks travel byte for byte in both directions.

mod block;
mod decode;
mod encode;
mod event;
mod faults;
mod head;
mod usage;
mod whole;

pub(crate) use decode::Decoder;
pub(crate) use encode::Messages;
pub(crate) use head::{head, marker, tail};
pub(crate) use whole::reply;
