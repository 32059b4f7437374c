//! OpenAI Chat Completions, also what most other servers speak.
//!
//! Thinking goes out as `reasoning_content`, the field that DeepSeek, vLLM and llama.cpp use: the
//! format itself has none.

mod check;
mod completion;
mod error;
mod events;
mod request;
mod usage;
mod view;

pub(super) use completion::whole;
pub(super) use error::{code, error, parse_error};
pub(super) use events::Events;
pub(super) use request::{Order, read};
