//! Anthropic Messages.

mod check;
mod count;
mod error;
mod events;
mod message;
mod request;
mod tools;
mod usage;
mod view;

pub(super) use count::count_tokens;
pub(super) use error::error;
pub(super) use events::Events;
pub(super) use message::whole;
pub(super) use request::{Order, read};
