//! OpenAI Responses.

mod check;
mod events;
mod item;
mod request;
mod response;
mod stopped;
mod view;

pub(super) use events::Events;
pub(super) use request::{Order, read};
pub(super) use response::whole;
