//! Anthropic's Messages: our own shape, so blocks travel byte for byte in both directions.

mod block;
mod change;
mod decode;
mod delta;
mod encode;
mod ends;
mod event;
mod faults;
mod flat;
mod head;
mod quick;
mod usage;
mod whole;
mod written;

#[cfg(test)]
mod quick_tests;

pub(crate) use decode::Decoder;
pub(crate) use encode::Messages;
pub(crate) use head::{head, marker, tail};
pub(crate) use whole::reply;
